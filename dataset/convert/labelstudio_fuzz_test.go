package convert

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ibid"
)

// FuzzLabelStudio imports any bytes as an export. What comes of them must be valid,
// add up, and be the same if it is done again; nobody has marked nothing and
// something.
func FuzzLabelStudio(f *testing.F) {
	data, err := os.ReadFile(filepath.Join("testdata", "label-studio", "export.json"))
	if err != nil {
		f.Fatal(err)
	}
	var short bytes.Buffer
	if err := json.Compact(&short, data); err != nil {
		f.Fatal(err)
	}
	f.Add(short.Bytes())
	f.Add([]byte(`[{"id":1,"data":{"ibid":"ibid.task/v1","documents":["d"],"document_1":"one 😀","support":[{"kind":"support","claim_id":"c"}],"yesno":[]},"annotations":[{"result":[{"type":"labels","to_name":"document_1","value":{"start":4,"end":6,"text":"😀"}},{"type":"choices","from_name":"choice_support_1","value":{"choices":["Supported"]}}]}]}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, report, err := imported(t, "label-studio", data)
		again, reportAgain, _ := imported(t, "label-studio", data)
		if diff := cmp.Diff(m.rows, again.rows, cmpopts.EquateErrors()) + cmp.Diff(report, reportAgain); diff != "" {
			t.Fatalf("-once +twice:\n%s", diff)
		}
		if err != nil {
			return
		}
		checkReport(t, &report)
		for i := range m.rows {
			checkRow(t, &m.rows[i])
			checkPeople(t, &m.rows[i])
		}
	})
}

// checkPeople looks for what nobody can have said.
func checkPeople(t *testing.T, r *ibid.Answer) {
	t.Helper()
	if r.HasTruth != (len(r.Truth) > 0) || r.HasLabels != (len(r.Labels) > 0) {
		t.Errorf("a list without anybody: %+v", r)
	}
	for i, m := range r.Truth {
		same := func(o ibid.Mark) bool { return o.Annotator == m.Annotator }
		switch {
		case m.DocNull:
			if slices.ContainsFunc(r.Truth[:i], same) || slices.ContainsFunc(r.Truth[i+1:], same) {
				t.Errorf("%q marked nothing and something: %+v", m.Annotator, r.Truth)
			}
		case documentOf(r, m.Doc) == nil:
			t.Errorf("truth in no document: %+v", m)
		}
	}
	for i, l := range r.Labels {
		if !l.Value.Known() || l.Value.Value < 0 || l.Value.Value > 1 || l.Kind == "" {
			t.Errorf("label %+v", l)
		}
		for _, o := range r.Labels[:i] {
			if o.Value = l.Value; o == l {
				t.Errorf("two labels for one question: %+v", r.Labels)
			}
		}
	}
}
