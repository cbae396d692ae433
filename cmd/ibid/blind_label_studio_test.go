package main

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"
)

// wide is a text of three sentences with characters that take two units of UTF-16, and
// line ends of two.
const wide = "🚢 The quay at 𠮷野 opened in May.\r\nIt cost 84 million 👑.\r\nNobody 🙂 was hurt."

// blindRows are answers with places and labels of one annotator over texts with wide
// characters: some have claims to judge, some two documents.
func blindRows() string {
	var b strings.Builder
	for i := range 24 {
		truth := `{"annotator":"ada","doc":"quay.txt","start":2,"end":10}`
		more := ""
		switch i % 4 {
		case 1:
			truth = `{"annotator":"ada"}`
			more = `,"answer":"It cost 84 million.","citations":[{"doc":"quay.txt","start":36,"end":58,"citation_id":"s1","claim_id":"c1"},{"doc":"log.txt","start":0,"end":4,"citation_id":"s2","claim_id":"c1"}],` +
				`"claims":[{"claim_id":"c1","text":"It cost 84 million."}],"labels":[{"annotator":"ada","claim_id":"c1","kind":"support","value":1},` +
				`{"annotator":"ada","claim_id":"c1","citation_id":"s2","kind":"support","value":0.5},{"annotator":"ada","citation_id":"s1","kind":"relevant","value":1}]`
		case 2:
			truth += `,{"annotator":"ada","doc":"log.txt","start":0,"end":4}`
		}
		if more == "" {
			more = `,"answer":"In May."`
		}
		fmt.Fprintf(&b, `{"id":"q%d","system":"s","query":"When?","truth":[%s]%s,"tags":{"lang":"l%d"}}`+"\n", i, truth, more, i%2)
	}
	for name, text := range map[string]string{"quay.txt": wide, "log.txt": "Log 🪵 of the light.\n" + wide} {
		line, _ := json.Marshal(map[string]string{"doc": name, "text": text})
		b.Write(append(line, '\n'))
	}
	return b.String()
}

// An opinion is what somebody says of an item, by chance but always the same.
type opinion struct{ who, item string }

func (o opinion) draw(what string, n int) int {
	h := fnv.New32a()
	fmt.Fprint(h, o.who, o.item, what)
	return int(h.Sum32()>>7) % n
}

// marks are the places that somebody marks in a text of that many characters; looked
// is false if they did not look, which is not to have marked none.
func (o opinion) marks(doc string, length int) (places [][2]int) {
	for k := range o.draw("how many in "+doc, 3) {
		start := o.draw(fmt.Sprint("start", doc, k), length-1)
		places = append(places, [2]int{start, start + 1 + o.draw(fmt.Sprint("length", doc, k), length-start)})
	}
	return places
}

func (o opinion) looked() bool { return o.draw("looked", 5) > 0 }

var supports = []float64{1, 0.8, 0.5, 0}

// fillItems fills in a copy of the items as somebody would, under a name.
func fillItems(t *testing.T, dir, name, who string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "items.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	texts := make(map[string]string)
	var b strings.Builder
	for line := range strings.Lines(string(data)) {
		var it map[string]any
		if err := json.Unmarshal([]byte(line), &it); err != nil {
			t.Fatal(err)
		}
		if it["id"] == nil {
			if text, ok := it["text"].(string); ok {
				texts[it["doc"].(string)] = text
			}
			b.WriteString(line)
			continue
		}
		o := opinion{who, it["id"].(string)}
		if it["purpose"] == "truth" && o.looked() {
			truth := []map[string]any{}
			for _, doc := range it["documents"].([]any) {
				for _, p := range o.marks(doc.(string), len([]rune(texts[doc.(string)]))) {
					truth = append(truth, map[string]any{"doc": doc, "start": p[0], "end": p[1]})
				}
			}
			it["truth"] = truth
		}
		for i, l := range it["labels"].([]any) {
			label := l.(map[string]any)
			if label["kind"] == "support" {
				label["value"] = supports[o.draw(fmt.Sprint("label", i), 4)]
			} else {
				label["value"] = o.draw(fmt.Sprint("label", i), 2)
			}
		}
		out, err := json.Marshal(it)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(out, '\n'))
	}
	if err := os.WriteFile(filepath.Join(dir, name+".jsonl"), []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
}

// annotateTasks makes an export of Label Studio as the same people would: with offsets
// in its unit and the quotes as its editor writes them.
func annotateTasks(t *testing.T, dir, export string, units func(string) int, people ...string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "tasks.json"))
	if err != nil {
		t.Fatal(err)
	}
	var tasks []struct {
		ID          int              `json:"id"`
		Data        map[string]any   `json:"data"`
		Annotations []map[string]any `json:"annotations"`
		Predictions []any            `json:"predictions"`
	}
	if err := json.Unmarshal(data, &tasks); err != nil {
		t.Fatal(err)
	}
	for i := range tasks {
		task := &tasks[i]
		task.ID = 1000 + i
		for _, who := range people {
			task.Annotations = append(task.Annotations, map[string]any{
				"completed_by": map[string]any{"id": len(who), "email": who}, "was_cancelled": false,
				"result": studioResults(opinion{who, task.Data["id"].(string)}, task.Data, units),
			})
		}
	}
	out, err := json.Marshal(tasks)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, export), out, 0o666); err != nil {
		t.Fatal(err)
	}
}

func studioResults(o opinion, data map[string]any, units func(string) int) []any {
	all := []any{}
	result := func(kind, from, to string, value map[string]any) {
		all = append(all, map[string]any{"id": fmt.Sprint("r", len(all)), "type": kind, "from_name": from, "to_name": to, "origin": "manual", "value": value})
	}
	choose := func(from, to, option string) {
		result("choices", from, to, map[string]any{"choices": []string{option}})
	}
	marked := 0
	for i, doc := range data["documents"].([]any) {
		to := fmt.Sprint("document_", i+1)
		text := []rune(data[to].(string))
		if !o.looked() {
			continue
		}
		for _, p := range o.marks(doc.(string), len(text)) {
			marked++
			quote := strings.NewReplacer("\r", `\n`, "\n", `\n`).Replace(string(text[p[0]:p[1]]))
			start := units(string(text[:p[0]]))
			result("labels", fmt.Sprint("evidence_", i+1), to, map[string]any{
				"start": start, "end": start + units(string(text[p[0]:p[1]])), "text": quote, "labels": []string{"Evidence"},
			})
		}
	}
	switch {
	case !o.looked():
		choose("places", "question", "I did not look for places")
	case marked > 0:
		choose("places", "question", "All places are marked")
	default:
		choose("places", "question", "Nothing to mark")
	}
	// The template has questions in the order of the labels, the tasks by their form.
	forms := map[string]int{}
	for i, kind := range []string{"support", "support", "yesno"} {
		forms[kind]++
		if len(data[kind].([]any)) < forms[kind] {
			continue
		}
		name := fmt.Sprint(kind, "_", forms[kind])
		option := []string{"No", "Yes"}[o.draw(fmt.Sprint("label", i), 2)]
		if kind == "support" {
			option = []string{"Supported", "Mostly supported", "Partially supported", "Not supported"}[o.draw(fmt.Sprint("label", i), 4)]
		}
		choose("choice_"+name, name, option)
	}
	return all
}

// TestRoundThroughLabelStudio draws one round as items and as tasks of Label Studio, has the
// same opinions written into both, and wants the same agreement to the last digit: through
// offsets that count code points as through UTF-16 units.
func TestRoundThroughLabelStudio(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "rows.jsonl"), []byte(blindRows()), 0o666); err != nil {
		t.Fatal(err)
	}
	mustIbid(t, dir, "import", "jsonl", "rows.jsonl", "-o", "rows.parquet", "--docs", "docs.parquet", "-q")
	sample := []string{"sample", "rows.parquet", "--documents", "docs.parquet", "--fraction", "0.7", "--stratify", "lang", "--seed", "s", "-q"}
	mustIbid(t, dir, append(sample, "-o", "paper")...)
	fillItems(t, filepath.Join(dir, "paper"), "cyd-example.org", "cyd@example.org")
	want := mustIbid(t, dir, "agree", "paper", "--format", "csv")
	for _, needed := range []string{"char_jaccard,span,ada|cyd-example.org", "kind=support", "kind=relevant"} {
		if !strings.Contains(want, needed) {
			t.Fatalf("the test shows nothing: no %s in\n%s", needed, want)
		}
	}
	for name, units := range map[string]func(string) int{
		"code points": func(s string) int { return len([]rune(s)) },
		"UTF-16":      func(s string) int { return len(utf16.Encode([]rune(s))) },
	} {
		folder := filepath.Join(dir, name)
		mustIbid(t, dir, append(sample, "-o", name, "--template", "label-studio")...)
		annotateTasks(t, folder, "export.json", units, "cyd@example.org")
		mustIbid(t, dir, "import", "label-studio", filepath.Join(name, "export.json"), "-o", name, "-q")
		if got := mustIbid(t, dir, "agree", name, "--format", "csv"); got != want {
			t.Errorf("%s: through Label Studio\n%s\nthrough the items\n%s", name, got, want)
		}
	}

	// Two people of the same project are two more annotators, each as good as alone.
	mustIbid(t, dir, append(sample, "-o", "two", "--template", "label-studio")...)
	annotateTasks(t, filepath.Join(dir, "two"), "export.json", func(s string) int { return len([]rune(s)) }, "cyd@example.org", "dan@example.org")
	mustIbid(t, dir, "import", "label-studio", "two/export.json", "-o", "two", "-q")
	alone := statistics(t, want)
	both := statistics(t, mustIbid(t, dir, "agree", "two", "--format", "csv"))
	if both["ada|cyd-example.org char_jaccard"] != alone["ada|cyd-example.org char_jaccard"] || both["ada|dan-example.org char_jaccard"] == 0 {
		t.Errorf("two people: %v; alone: %v", both, alone)
	}
}
