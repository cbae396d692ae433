package acts

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"ibid"
)

// TestOpinions: those of all files of annotators in a folder, and neither what an adjudicator
// decided nor journals and files that are left out by name.
func TestOpinions(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a[1]") // a name that is a pattern, too
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"ada.jsonl":      `{"id":"x","truth":[{"doc":"d","start":0,"end":9}],"labels":[{"kind":"support","claim_id":"c","value":1},{"kind":"support","claim_id":"e","value":null}]}`,
		"ben.jsonl":      `{"id":"x","truth":[{"doc":"d","start":3,"end":12},{"doc":"e","start":0,"end":3}],"labels":[]}` + "\n\n" + `{"id":"y","truth":[],"labels":[]}`,
		"lead.jsonl":     `{"id":"x","truth":[],"labels":[],"how":"new"}`,
		"template.jsonl": `{"id":"x","truth":null,"labels":[{"kind":"support","claim_id":"c","value":0}]}`,
		"ada.acts.jsonl": `{}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Opinions(dir, "template")
	if err != nil {
		t.Fatal(err)
	}
	marks := got[Question{"x", Truth}]
	if len(got) != 3 || len(marks) != 2 || marks[0].Annotator != "ada" || marks[1].Annotator != "ben" {
		t.Fatalf("%+v", got)
	}
	if labels := got[Question{"x", Labels}]; len(labels) != 1 || len(labels[0].Labels) != 1 || *labels[0].Labels[0].Value != 1 {
		t.Errorf("labels %+v", labels)
	}
	if none := got[Question{"y", Truth}]; len(none) != 1 || len(none[0].Marks) != 0 {
		t.Errorf("nothing to mark: %+v", none)
	}
	if got, want := Combine(ibid.PolicyUnion, marks), []Mark{{Doc: "d", Start: 0, End: 12}, {Doc: "e", Start: 0, End: 3}}; !reflect.DeepEqual(got, want) {
		t.Errorf("union %+v", got)
	}
	if got, want := Combine(ibid.PolicyIntersection, marks), []Mark{{Doc: "d", Start: 3, End: 9}}; !reflect.DeepEqual(got, want) {
		t.Errorf("intersection %+v", got)
	}
	if got := Agreement(marks); got != 6.0/15 {
		t.Errorf("agreement %g, want 0.4", got)
	}
	if got := Agreement([]Opinion{{}, {}}); got != 1 {
		t.Errorf("of those who marked nothing %g", got)
	}

	bad := filepath.Join(dir, "cora.jsonl")
	if err := os.WriteFile(bad, []byte(`{"id":"x","truth":[{"doc":"d"}]}`), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Opinions(dir, "template"); err == nil {
		t.Error("a mark without offsets was read")
	}
}
