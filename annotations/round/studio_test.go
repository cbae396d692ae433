package round_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"ibid"
	"ibid/annotations/round"
	"ibid/dataset/convert"
	"ibid/metrics/token"
)

// studioItems are two items: one with two documents and three questions, and one with less of
// everything.
func studioItems() []round.Item {
	items := []round.Item{
		{ID: "item-0001", Query: "Where?", Answer: "On a mat.", Labels: []round.Label{
			{Kind: "support", ClaimID: "c1"}, {Kind: "relevant", CitationID: "s1"}, {Kind: "support", ClaimID: "c2", CitationID: "s1"},
		}},
		{ID: "item-0002"},
	}
	items[0].AddText("a.txt", "Äpfel und 😀 Birnen – “beide” reif. Zwei Sätze, ein 🍐, 漢字 und kein Ende.")
	items[0].AddText(`b<&>".txt`, "A second text 🍐.\r\nWith two lines.")
	items[1].AddText("a.txt", "Another text of that name.")
	return items
}

// imported is what an import wrote.
type imported struct {
	rows      []ibid.Answer
	documents []ibid.Document
}

func (m *imported) WriteRow(r *ibid.Answer) error {
	row := *r
	row.Truth, row.Labels, row.Documents = slices.Clone(r.Truth), slices.Clone(r.Labels), slices.Clone(r.Documents)
	m.rows = append(m.rows, row)
	return nil
}

func (m *imported) WriteDocument(d *ibid.Document) error {
	m.documents = append(m.documents, *d)
	return nil
}

// importStudio imports an export of Label Studio.
func importStudio(t *testing.T, export string, docs bool) (*imported, convert.Report) {
	t.Helper()
	var m imported
	report, err := convert.Convert(t.Context(), "label-studio", []string{"-"}, convert.Options{Docs: docs, Stdin: strings.NewReader(export)}, &m)
	if err != nil {
		t.Fatal(err)
	}
	return &m, report
}

// quoted is a text in JSON.
func quoted(text string) string {
	b, _ := json.Marshal(text) // a string cannot fail
	return string(b)
}

// region is a mark of a part of a document in an export.
func region(t *testing.T, text, part, to string, unit token.Unit) string {
	t.Helper()
	before, _, found := strings.Cut(text, part)
	if !found {
		t.Fatalf("%q is not in %q", part, text)
	}
	count := func(s string) int {
		if unit == token.UTF16 {
			return len(utf16.Encode([]rune(s)))
		}
		return len([]rune(s))
	}
	return fmt.Sprintf(`{"id":%s,"from_name":"l","to_name":%s,"type":"labels","value":{"start":%d,"end":%d,"text":%s,"labels":["E"]}}`,
		quoted(part), quoted(to), count(before), count(before)+count(part), quoted(strings.NewReplacer("\r", `\n`, "\n", `\n`).Replace(part)))
}

// textIn is the text of a document of an item.
func textIn(it *round.Item, doc string) string {
	text, _ := it.Text(doc)
	return text
}

// TestStudioConfig: every name in the configuration is there once, every object and
// field that it speaks of exists in every task, and it says nothing of the tasks.
func TestStudioConfig(t *testing.T) {
	var config, tasks bytes.Buffer
	if err := round.WriteConfig(&config, studioItems()); err != nil {
		t.Fatal(err)
	}
	if err := round.WriteTasks(&tasks, studioItems()); err != nil {
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
				m, _ := importStudio(t, `[{"id":1,"data":{"claim":"It is so."},"annotations":[{"completed_by":"ada","result":[`+studioChoiceOf("support", a.Value)+`]}]}]`, false)
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

// annotateStudio makes an export of the tasks: every person's results of every task.
func annotateStudio(t *testing.T, tasks []round.Item, results ...map[string][]string) string {
	t.Helper()
	var b bytes.Buffer
	if err := round.WriteTasks(&b, tasks); err != nil {
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

// TestStudioTasks takes back what people say of the tasks: under the names of the
// dataset, with the offsets of its texts, whatever Label Studio counts.
func TestStudioTasks(t *testing.T) {
	tasks := studioItems()
	for _, unit := range []token.Unit{token.CodePoint, token.UTF16} {
		export := annotateStudio(t, tasks, map[string][]string{
			"item-0001": {
				region(t, textIn(&tasks[0], "a.txt"), "ein 🍐, 漢字", "document_1", unit),
				region(t, textIn(&tasks[0], `b<&>".txt`), "🍐.\r\nWith", "document_2", unit),
				region(t, textIn(&tasks[0], `b<&>".txt`), "two lines", "document_2", unit),
				studioChoiceOf("places", "All places are marked"), studioChoiceOf("choice_support_1", "Partially supported"), studioChoiceOf("choice_support_2", "Not supported"), studioChoiceOf("choice_yesno_1", "Yes"),
			},
			"item-0002": {studioChoiceOf("places", "Nothing to mark"), studioChoiceOf("choice_support_1", "Supported")},
		}, map[string][]string{
			"item-0001": {studioChoiceOf("places", "I did not look for places"), studioChoiceOf("choice_support_1", "Mostly supported")},
		})
		m, report := importStudio(t, export, true)
		if len(m.rows) != 2 || report.Failed != 0 || report.Warned != 0 || report.Readings[unit.String()+"_exclusive"] == 0 {
			t.Fatalf("%d rows; report: %+v", len(m.rows), report)
		}
		one, two := m.rows[0], m.rows[1]
		var marked []string
		for _, m := range one.Truth {
			text := []rune(textIn(&tasks[0], m.Doc))
			marked = append(marked, m.Annotator+": "+string(text[m.Start.Value:m.End.Value]))
		}
		if diff := cmp.Diff([]string{"0: ein 🍐, 漢字", "0: 🍐.\r\nWith", "0: two lines"}, marked); diff != "" {
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
		// The second a.txt is another text: it belongs to its row. A row lists the others by name.
		listed := []ibid.Document{{Doc: "a.txt"}, {Doc: `b<&>".txt`}}
		if len(m.documents) != 2 || !cmp.Equal(listed, one.Documents) || len(two.Documents) != 1 || two.Documents[0].Doc != "a.txt" || two.Documents[0].Text != textIn(&tasks[1], "a.txt") {
			t.Errorf("documents %+v, of the rows %+v and %+v", m.documents, one.Documents, two.Documents)
		}
	}
}

// TestStudioPlaces: what people say of their looking must go with what they marked,
// else nobody knows what they saw.
func TestStudioPlaces(t *testing.T) {
	tasks := studioItems()[1:]
	mark := region(t, textIn(&tasks[0], "a.txt"), "text", "document_1", token.CodePoint)
	tests := []struct {
		name    string
		results []string
		want    string // of the truth: null, [] or a span
		warned  int64
	}{
		{"all marked", []string{mark, studioChoiceOf("places", "All places are marked")}, "a.txt", 0},
		{"nothing", []string{studioChoiceOf("places", "Nothing to mark")}, "[]", 0},
		{"did not look", []string{studioChoiceOf("places", "I did not look for places")}, "null", 0},
		{"marked, and says nothing", []string{mark}, "a.txt", 0},
		{"says nothing at all", nil, "null", 1},
		{"all marked, and none is", []string{studioChoiceOf("places", "All places are marked")}, "null", 1},
		{"nothing, and one is", []string{mark, studioChoiceOf("places", "Nothing to mark")}, "null", 1},
		{"did not look, and marked", []string{mark, studioChoiceOf("places", "I did not look for places")}, "null", 1},
		{"marked in the question", []string{`{"type":"labels","to_name":"question","value":{"start":0,"end":1}}`, studioChoiceOf("places", "Nothing to mark")}, "[]", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, report := importStudio(t, annotateStudio(t, tasks, map[string][]string{"item-0002": tt.results}), false)
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
