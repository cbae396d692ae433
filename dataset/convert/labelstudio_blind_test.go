package convert

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ibid"
	"ibid/metrics/token"
)

// blindTasks are two items: one with two documents and three questions, and one with
// less of everything.
func blindTasks() []BlindTask {
	return []BlindTask{
		{
			ID: "item-0001", Question: "Where?", Answer: "On a mat.",
			Documents: []BlindText{{"a.txt", mixed}, {"b<&>\".txt", "A second text 🍐.\r\nWith two lines."}},
			Questions: []BlindQuestion{
				{Kind: "support", ClaimID: "c1", Text: "Supported?"},
				{Kind: "relevant", CitationID: "s1", Text: "Relevant?"},
				{Kind: "support", ClaimID: "c2", CitationID: "s1", Text: "And this?"},
			},
		},
		{ID: "item-0002", Documents: []BlindText{{"a.txt", "Another text of that name."}}},
	}
}

// TestBlindConfig: every name in the configuration is there once, every object and
// field that it speaks of exists in every task, and it says nothing of the tasks.
func TestBlindConfig(t *testing.T) {
	var config, tasks bytes.Buffer
	if err := WriteBlindConfig(&config, blindTasks()); err != nil {
		t.Fatal(err)
	}
	if err := WriteBlindTasks(&tasks, blindTasks()); err != nil {
		t.Fatal(err)
	}
	var all []struct{ Data map[string]any }
	if err := json.Unmarshal(tasks.Bytes(), &all); err != nil {
		t.Fatal(err)
	}
	names, about := map[string]int{}, []string{}
	options := 0
	for d := xml.NewDecoder(&config); ; {
		at, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		tag, ok := at.(xml.StartElement)
		if !ok {
			continue
		}
		for _, a := range tag.Attr {
			switch {
			case a.Name.Local == "name":
				names[a.Value]++
			case a.Name.Local == "toName":
				about = append(about, a.Value)
			case a.Name.Local == "value" && strings.HasPrefix(a.Value, "$"):
				for i := range all {
					if _, ok := all[i].Data[a.Value[1:]].(string); !ok {
						t.Errorf("task %d has no text %s", i, a.Value)
					}
				}
			case tag.Name.Local == "Choice":
				options++
				m, _ := importText(t, "label-studio", studioExport(`{"claim":"It is so."}`, studioChoiceOf("support", a.Value)), Options{})
				if len(m.rows[0].Labels) == 0 && !strings.Contains("All places are marked Nothing to mark I did not look for places", a.Value) {
					t.Errorf("option %q means nothing", a.Value)
				}
			}
		}
	}
	for name, n := range names {
		if n != 1 {
			t.Errorf("%d tags are called %s", n, name)
		}
	}
	for _, name := range about {
		if names[name] == 0 {
			t.Errorf("no tag is called %s", name)
		}
	}
	if len(about) != 6 || options != 3+2*4+2 {
		t.Errorf("%d controls with %d options", len(about), options)
	}
	for _, s := range []string{"item-", "Where?", "On a mat", "a.txt", "c1", "s1"} {
		if strings.Contains(config.String(), s) {
			t.Errorf("the configuration speaks of %q", s)
		}
	}
}

// annotateBlind makes an export of the tasks: every person's results of every task.
func annotateBlind(t *testing.T, tasks []BlindTask, results ...map[string][]string) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteBlindTasks(&b, tasks); err != nil {
		t.Fatal(err)
	}
	var all []map[string]any
	if err := json.Unmarshal(b.Bytes(), &all); err != nil {
		t.Fatal(err)
	}
	for i := range all {
		all[i]["id"] = 100 + i
		texts := []json.RawMessage{}
		for person, items := range results {
			if list, ok := items[tasks[i].ID]; ok {
				texts = append(texts, json.RawMessage(fmt.Sprintf(`{"completed_by":{"id":%d},"result":[%s]}`, person, strings.Join(list, ","))))
			}
		}
		all[i]["annotations"] = texts
	}
	export, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(export)
}

func studioChoiceOf(control, option string) string {
	return fmt.Sprintf(`{"type":"choices","from_name":"%s","to_name":"t","value":{"choices":["%s"]}}`, control, option)
}

// TestBlindTasks takes back what people say of the tasks: under the names of the
// dataset, with the offsets of its texts, whatever Label Studio counts.
func TestBlindTasks(t *testing.T) {
	tasks := blindTasks()
	for _, unit := range []token.Unit{token.CodePoint, token.UTF16} {
		r := Reading{Unit: unit}
		export := annotateBlind(t, tasks, map[string][]string{
			"item-0001": {
				region(t, tasks[0].Documents[0].Text, "ein 🍐, 漢字", "document_1", r),
				region(t, tasks[0].Documents[1].Text, "🍐.\r\nWith", "document_2", r),
				region(t, tasks[0].Documents[1].Text, "two lines", "document_2", r),
				studioChoiceOf("places", placesMarked), studioChoiceOf("choice_support_1", "Partially supported"), studioChoiceOf("choice_support_2", "Not supported"), studioChoiceOf("choice_yesno_1", "Yes"),
			},
			"item-0002": {studioChoiceOf("places", placesNone), studioChoiceOf("choice_support_1", "Supported")},
		}, map[string][]string{
			"item-0001": {studioChoiceOf("places", placesUnknown), studioChoiceOf("choice_support_1", "Mostly supported")},
		})
		m, report := importText(t, "label-studio", export, Options{Docs: true})
		if len(m.rows) != 2 || report.Failed != 0 || report.Warned != 0 || report.Readings[r.String()] == 0 {
			t.Fatalf("%d rows; report: %+v", len(m.rows), report)
		}
		one, two := m.rows[0], m.rows[1]
		texts := func(doc string) string {
			for _, d := range tasks[0].Documents {
				if d.Doc == doc {
					return d.Text
				}
			}
			return ""
		}
		if diff := cmp.Diff(map[string][]string{"0": {"ein 🍐, 漢字", "🍐.\r\nWith", "two lines"}}, passages(t, &one, texts)); diff != "" {
			t.Errorf("%s: marked, and who did not look is not there (-want +got):\n%s", unit, diff)
		}
		if diff := cmp.Diff([]ibid.Mark{{Annotator: "0", DocNull: true}}, two.Truth); diff != "" {
			t.Errorf("nothing to mark (-want +got):\n%s", diff)
		}
		label := func(who, kind, claim, citation string, value float64) ibid.Label {
			return ibid.Label{Annotator: who, Kind: kind, ClaimID: claim, CitationID: citation, Value: ibid.Some(value)}
		}
		want := []ibid.Label{
			label("0", "support", "c1", "", 0.5), label("0", "support", "c2", "s1", 0), label("0", "relevant", "", "s1", 1), label("1", "support", "c1", "", 0.8),
		}
		if diff := cmp.Diff(want, one.Labels); diff != "" {
			t.Errorf("labels (-want +got):\n%s", diff)
		}
		if one.ID != "item-0001" || one.Query != "Where?" || one.Answer != "On a mat." || two.Query != "" || two.Answer != "" || two.HasLabels || one.HasClaims {
			t.Errorf("rows %+v", m.rows)
		}
		if report.Ignored["choices of choice_support_1"] != 1 {
			t.Errorf("the answer to no question: %v", report.Ignored)
		}
		// The second a.txt is another text: it belongs to its row.
		if len(m.documents) != 2 || len(one.Documents) != 0 || len(two.Documents) != 1 || two.Documents[0].Doc != "a.txt" || two.Documents[0].Text != tasks[1].Documents[0].Text {
			t.Errorf("documents %+v, of the rows %+v and %+v", m.documents, one.Documents, two.Documents)
		}
	}
}

// TestBlindPlaces: what people say of their looking must go with what they marked,
// else nobody knows what they saw.
func TestBlindPlaces(t *testing.T) {
	tasks := blindTasks()[1:]
	mark := region(t, tasks[0].Documents[0].Text, "text", "document_1", Reading{})
	tests := []struct {
		name    string
		results []string
		want    string // of the truth: null, [] or a span
		warned  int64
	}{
		{"all marked", []string{mark, studioChoiceOf("places", placesMarked)}, "a.txt", 0},
		{"nothing", []string{studioChoiceOf("places", placesNone)}, "[]", 0},
		{"did not look", []string{studioChoiceOf("places", placesUnknown)}, "null", 0},
		{"marked, and says nothing", []string{mark}, "a.txt", 0},
		{"says nothing at all", nil, "null", 1},
		{"all marked, and none is", []string{studioChoiceOf("places", placesMarked)}, "null", 1},
		{"nothing, and one is", []string{mark, studioChoiceOf("places", placesNone)}, "null", 1},
		{"did not look, and marked", []string{mark, studioChoiceOf("places", placesUnknown)}, "null", 1},
		{"marked in the question", []string{`{"type":"labels","to_name":"question","value":{"start":0,"end":1}}`, studioChoiceOf("places", placesNone)}, "[]", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, report := importText(t, "label-studio", annotateBlind(t, tasks, map[string][]string{"item-0002": tt.results}), Options{})
			got := "null"
			if r := &m.rows[0]; r.HasTruth {
				if got = "[]"; !r.Truth[0].DocNull {
					got = r.Truth[0].Doc
				}
			}
			if got != tt.want || report.Warned != tt.warned {
				t.Errorf("truth %s, want %s; %d warnings, want %d: %v", got, tt.want, report.Warned, tt.warned, report.Warnings)
			}
		})
	}
}
