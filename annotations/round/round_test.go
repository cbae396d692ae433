package round_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ibid"
	"ibid/annotations"
	"ibid/annotations/round"
	"ibid/dataset"
	"ibid/metrics/claims"
)

// rows are answers that bring their documents along.
type rows []*ibid.Answer

func (r rows) Each(ctx context.Context, yield func(*ibid.Answer, *dataset.Resolver) error) error {
	all := make([]int64, len(r))
	for i := range r {
		all[i] = int64(i)
	}
	return r.Rows(ctx, all, yield)
}

func (r rows) Rows(_ context.Context, at []int64, yield func(*ibid.Answer, *dataset.Resolver) error) error {
	resolver := dataset.NewResolver(nil, dataset.Conventions{})
	for _, i := range at {
		row := *r[i]
		row.Pos = i
		resolver.Resolve(&row)
		if err := yield(&row, resolver); err != nil {
			return err
		}
	}
	return nil
}

// text has an emoji, so that bytes, UTF-16 units and code points differ.
const text = "The quay 🚢 opened in May. It cost 84 million crowns."

// raw are n questions, each answered by two systems, that nobody has annotated.
func raw(n int) rows {
	var out rows
	for i := range n {
		for _, system := range []string{"alpha", "beta"} {
			out = append(out, &ibid.Answer{
				ID: fmt.Sprint("q", i), System: system, Query: "When?", Answer: "It opened in May. " + system + " says so.",
				Documents: []ibid.Document{{Doc: fmt.Sprintf("d%d.txt", i), Text: text, HasText: true}}, HasDocuments: true,
				Citations: []ibid.Citation{{Doc: fmt.Sprintf("d%d.txt", i), Start: ibid.Some[int64](0), End: ibid.Some[int64](26), AnswerStart: ibid.Some[int64](0), AnswerEnd: ibid.Some[int64](17)}},
			})
		}
	}
	return out
}

func marked(who string, doc string, edges ...int64) ibid.Mark {
	if len(edges) == 0 {
		return ibid.Mark{Annotator: who, DocNull: true}
	}
	return ibid.Mark{Annotator: who, Doc: doc, Start: ibid.Some(edges[0]), End: ibid.Some(edges[1])}
}

func options() claims.Options {
	return claims.Options{Source: claims.Sentences, Phrases: claims.NewPhrases(claims.Phrases{})}
}

// draw draws a round and writes it to a folder.
func draw(t *testing.T, data rows, d round.Draw) (string, *round.Drawn) {
	t.Helper()
	out, err := round.DrawRound(t.Context(), data, options(), d)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "r")
	if err := out.Write(dir, nil); err != nil {
		t.Fatal(err)
	}
	return dir, out
}

func opened(t *testing.T, dir string) *round.Round {
	t.Helper()
	r, err := round.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// says appends states to the file of somebody.
func says(t *testing.T, dir, name, role string, states ...round.State) {
	t.Helper()
	m, err := opened(t, dir).OpenMarks(name, role)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for _, s := range states {
		if err := m.Append(s, len(m.Of(s.ID))); err != nil {
			t.Fatal(err)
		}
	}
}

// looked is a finished item of truth with one mark for each two edges.
func looked(id, doc string, edges ...int64) round.State {
	s := round.State{ID: id, Truth: []round.Mark{}, Done: true}
	for i := 0; i < len(edges); i += 2 {
		s.Truth = append(s.Truth, round.Mark{Doc: doc, Start: edges[i], End: edges[i+1]})
	}
	return s
}

func docOf(r *round.Round, id string) string { return r.Item(id).Documents[0] }

// TestFiles: a round is two files; the items have neither systems nor, for truth, answers.
func TestFiles(t *testing.T) {
	dir, d := draw(t, raw(20), round.Draw{Purpose: round.Both, Items: 12, Seed: "1", Annotators: []string{"ada", "ben"}, Overlap: 0.25})
	items, err := os.ReadFile(filepath.Join(dir, round.ItemsFile))
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(items, []byte("\n")); n != 1+12+12+24 {
		t.Errorf("%d lines, want the first, 12 texts, 12 items of truth and 24 of labels", n)
	}
	for i := range d.Items {
		if it := &d.Items[i]; it.Purpose != map[bool]string{true: round.Truth, false: round.Labels}[i < 12] || it.Purpose == round.Truth && it.Answer != "" {
			t.Errorf("item %d: %+v", i, it)
		}
	}
	if bytes.Contains(items, []byte(`"beta"`)) || bytes.Contains(items, []byte("system")) {
		t.Error("the items name a system")
	}
	r := opened(t, dir)
	all, owners := 0, map[string]int{}
	for i := range r.Items {
		if it := &r.Items[i]; it.For == nil {
			all++
		} else {
			owners[it.For[0]]++
		}
	}
	if all != 3+6 || owners["ada"]+owners["ben"] != 9+18 || owners["ada"] == 0 || owners["ben"] == 0 {
		t.Errorf("%d for all, %v", all, owners)
	}
	if text, ok := r.Items[0].Text(r.Items[0].Documents[0]); !ok || !strings.Contains(text, "🚢") {
		t.Errorf("text %q", text)
	}
	// The same seed gives the same round; a folder that has one is not written over.
	_, again := draw(t, raw(20), round.Draw{Purpose: round.Both, Items: 12, Seed: "1", Annotators: []string{"ada", "ben"}, Overlap: 0.25})
	if again.Header.Round != d.Header.Round || len(d.Header.Round) != 16 {
		t.Errorf("rounds %q and %q", d.Header.Round, again.Header.Round)
	}
	if err := d.Write(dir, nil); err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("a round is written over: %v", err)
	}
	// Other rows in another order draw the same questions, and a larger share adds to them.
	reversed := raw(20)
	slices.Reverse(reversed)
	_, more := draw(t, reversed, round.Draw{Purpose: round.Truth, Items: 15, Seed: "1"})
	var ids []string
	for _, k := range more.Key.Items {
		ids = append(ids, k.ID)
	}
	for _, k := range d.Key.Items {
		if !slices.Contains(ids, k.ID) {
			t.Errorf("%s is not in the larger draw", k.ID)
		}
	}
	items[len(items)-3] ^= 1
	if err := os.WriteFile(filepath.Join(dir, round.ItemsFile), items, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := round.Open(dir); err == nil || !strings.Contains(err.Error(), "has changed since it was drawn") {
		t.Errorf("changed items: %v", err)
	}
}

// TestNames: names are checked when a round is drawn or annotated, without case.
func TestNames(t *testing.T) {
	data := raw(4)
	data[0].Labels, data[0].HasLabels = []ibid.Label{{Annotator: "Old", Kind: "support", ClaimID: "0", Value: ibid.Some(1.0)}}, true
	_, d := draw(t, data, round.Draw{Purpose: round.Truth, Fraction: "1", Annotators: []string{"ada", "ben"}})
	for name, want := range map[string]string{
		"ada": "", "BEN": "", "zoe": "not among the annotators", "items": "cannot be", "Key": "cannot be", "gold": "cannot be", "adjudicated": "cannot be",
		"../x": "cannot be", "": "nobody is named", "old": "have an annotator", "é": "cannot be",
	} {
		if err := d.Header.CheckAnnotator(name, false); (want == "") != (err == nil) || err != nil && (!errors.Is(err, ibid.ErrUsage) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
	}
	if err := d.Header.CheckAnnotator("zoe", true); err != nil {
		t.Errorf("a decider need not be among the annotators: %v", err)
	}
	if _, err := round.DrawRound(t.Context(), data, options(), round.Draw{Purpose: round.Truth, Fraction: "1", Annotators: []string{"OLD"}}); err == nil {
		t.Error("a name that the data have is given to somebody else")
	}
}

// TestLines: the last line of an item counts; a line that is cut off is left out.
func TestLines(t *testing.T) {
	dir, _ := draw(t, raw(3), round.Draw{Purpose: round.Truth, Fraction: "1"})
	r := opened(t, dir)
	doc := docOf(r, "item-0001")
	says(t, dir, "ada", round.Annotator, looked("item-0001", doc, 0, 4), looked("item-0001", doc, 0, 8), round.State{ID: "item-0002", Skip: true}, round.State{ID: "item-0003", Flag: true})
	path := filepath.Join(dir, "ada.jsonl")
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(f, `{"id":"item-0001","tru`)
	f.Close()
	r = opened(t, dir)
	if len(r.People) != 1 || r.People[0].States["item-0001"].Truth[0].End != 8 || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "line 6 is cut off") {
		t.Errorf("%+v, warnings %q", r.People[0], r.Warnings)
	}
	if got := r.Counts()[0].Text(); got != "ada 1 of 3 done, 1 skipped, 1 flagged" {
		t.Errorf("counts: %s", got)
	}
	// Who goes on has the whole lines, and nobody else can write meanwhile.
	m, err := r.OpenMarks("ada", round.Annotator)
	if err != nil || len(m.States()) != 4 {
		t.Fatalf("%v", err)
	}
	defer m.Close()
	if _, err := r.OpenMarks("ada", round.Annotator); err == nil {
		t.Error("two write one file")
	}
	third := looked("item-0001", doc, 1, 9)
	if err := m.Append(third, 1); !errors.Is(err, round.ErrChanged) {
		t.Errorf("a state after the first of two: %v", err)
	}
	if err := m.Append(third, 2); err != nil {
		t.Error(err)
	}
	if err := m.Append(third, 2); err != nil {
		t.Errorf("a state that is sent twice: %v", err)
	}
	if n := len(m.Of("item-0001")); n != 3 {
		t.Errorf("%d states, want 3", n)
	}
	for name, s := range map[string]round.State{
		"an end beyond the text": looked("item-0001", doc, 0, 999), "no text": looked("item-0001", doc, 4, 4), "no document": looked("item-0001", "x", 0, 1),
		"another text": {ID: "item-0001", Truth: []round.Mark{{Doc: doc, Start: 0, End: 3, Text: "Thy"}}}, "no item": {ID: "item-0009"},
		"no question": {ID: "item-0001", Labels: []round.Label{{Kind: "support"}}},
	} {
		if err := m.Append(s, 3); !errors.Is(err, round.ErrWrong) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := m.Append(round.State{ID: "item-0001", Truth: []round.Mark{{Doc: doc, Start: 9, End: 10, Text: "🚢"}}}, 3); err != nil {
		t.Errorf("the text of one code point: %v", err)
	}
}

// TestPeople: files of one person are united; what cannot be is an error that names the files.
func TestPeople(t *testing.T) {
	fill := func(t *testing.T, more map[string]string) (*round.Round, error) {
		dir, d := draw(t, raw(3), round.Draw{Purpose: round.Truth, Fraction: "1"})
		doc := docOf(opened(t, dir), "item-0001")
		says(t, dir, "ada", round.Annotator, looked("item-0001", doc, 0, 4))
		for name, text := range more {
			text = strings.NewReplacer("ROUND", d.Header.Round, "DOC", doc).Replace(text)
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		return round.Open(dir)
	}
	const head = `{"schema":"ibid.marks/v1","round":"ROUND","annotator":"ada","role":"annotator"}` + "\n"
	for name, c := range map[string]struct{ text, want string }{
		"the same":       {head + `{"id":"item-0001","truth":[{"doc":"DOC","start":0,"end":4,"cited_text":"The "}],"labels":[],"done":true,"at":"later"}` + "\n", ""},
		"another item":   {head + `{"id":"item-0002","truth":[],"done":true}` + "\n", ""},
		"another mark":   {head + `{"id":"item-0001","truth":[],"done":true}` + "\n", "ada.jsonl differ in item-0001"},
		"another round":  {strings.Replace(head, "ROUND", "0123456789abcdef", 1), "line 1: of another round"},
		"beyond":         {head + `{"id":"item-0002","truth":[{"doc":"DOC","start":0,"end":99}]}` + "\n", "line 2: item-0002 has no document"},
		"beyond the end": {head + "\n" + `{"id":"item-0001","truth":[{"doc":"DOC","start":0,"end":99}]}` + "\n", "line 3: item-0001: [0, 99) is no stretch"},
		"another text":   {head + `{"id":"item-0001","truth":[{"doc":"DOC","start":0,"end":3,"cited_text":"Not"}]}` + "\n", `line 2: item-0001: "Not" does not stand at [0, 3)`},
		"half a mark":    {head + `{"id":"item-0001","truth":[{"doc":"DOC","start":0}]}` + "\n", "a mark needs doc, start and end"},
		"no member":      {head + `{"id":"item-0001","thruth":[]}` + "\n", "unknown field"},
		"another role":   {strings.Replace(head, `"role":"annotator"`, `"role":"decider"`, 1), "is decider in"},
	} {
		r, err := fill(t, map[string]string{"ada (1).jsonl": c.text})
		switch {
		case c.want == "" && (err != nil || len(r.People) != 1 || len(r.Warnings) > 0):
			t.Errorf("%s: %v, %+v", name, err, r)
		case c.want != "" && (err == nil || !errors.Is(err, ibid.ErrUsage) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "ada (1).jsonl")):
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	if r, err := fill(t, map[string]string{"notes.jsonl": `{"a":1}`}); err != nil || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "notes.jsonl is not read") {
		t.Errorf("a file of something else: %v", err)
	}
}

// TestFilledCopy: a copy of the items that is filled in is what the person of its name says.
func TestFilledCopy(t *testing.T) {
	dir, _ := draw(t, raw(2), round.Draw{Purpose: round.Both, Fraction: "1"})
	items, err := os.ReadFile(filepath.Join(dir, round.ItemsFile))
	if err != nil {
		t.Fatal(err)
	}
	copied := strings.Replace(string(items), `"truth":null`, `"truth":[]`, 1)
	copied = strings.Replace(copied, `"value":null`, `"value":0.5`, 1)
	if err := os.WriteFile(filepath.Join(dir, "ada.jsonl"), []byte(copied), 0o666); err != nil {
		t.Fatal(err)
	}
	r := opened(t, dir)
	if c := r.Counts(); len(c) != 1 || c[0].Annotator != "ada" || c[0].Done != 2 || c[0].Of != 6 {
		t.Errorf("%+v", c)
	}
}

// TestGold: what all said alike, what one person said, and what somebody decided is one
// opinion; the rest is left out, or what the policy says.
func TestGold(t *testing.T) {
	dir, _ := draw(t, raw(6), round.Draw{Purpose: round.Both, Fraction: "1"})
	r := opened(t, dir)
	at := func(id string, edges ...int64) round.State { return looked(id, docOf(r, id), edges...) }
	label := func(id string, v float64) round.State {
		return round.State{ID: id, Done: true, Labels: []round.Label{{ClaimID: "0", Kind: "support", Value: &v}}}
	}
	says(t, dir, "ada", round.Annotator, at("item-0001", 0, 20), at("item-0002", 0, 10), at("item-0003", 0, 10), at("item-0004"), at("item-0005", 0, 4), label("item-0007", 1), label("item-0008", 1), label("item-0009", 1))
	says(t, dir, "ben", round.Annotator, at("item-0001", 0, 10, 10, 20), at("item-0002", 5, 15), at("item-0004"), at("item-0005", 2, 6), label("item-0007", 1), label("item-0008", 0.5))
	says(t, dir, "cyd", round.Annotator, at("item-0002", 8, 15), label("item-0008", 1))
	says(t, dir, "lead", round.Decider, at("item-0005", 1, 3), round.State{ID: "item-0006", Skip: true})
	gold := func(policy string) (string, *round.Gold) {
		t.Helper()
		g, err := round.MakeGold(opened(t, dir).Asked(), policy)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := g.Write(&b); err != nil {
			t.Fatal(err)
		}
		return b.String(), g
	}
	text, g := gold("leave")
	for want, n := range map[string]int{
		`"start":0,"end":20,"annotator":"adjudicated","how":"equal","from":["ada","ben"]}`:       1, // touching marks are one
		`"start":0,"end":10,"annotator":"adjudicated","how":"alone","from":["ada"]}`:             1,
		`"start":1,"end":3,"annotator":"adjudicated","how":"new","from":[],"decided_by":"lead"}`: 1,
		`"truth":[]`: 1, `"kind":"support","value":1,"annotator":"adjudicated","how":"equal"`: 1, `"value":1,"annotator":"adjudicated","how":"alone"`: 1,
	} {
		if got := strings.Count(text, want); got != n {
			t.Errorf("%s: %d times, want %d in\n%s", want, got, n, text)
		}
	}
	if g.Questions != 4 || g.Labels != 2 || g.Open != 2 {
		t.Errorf("%d questions, %d labels, %d open", g.Questions, g.Labels, g.Open)
	}
	for policy, c := range map[string]struct {
		want   string
		labels int64
	}{
		"union": {`"start":0,"end":15,"annotator":"adjudicated","how":"union"`, 2}, "intersection": {`"start":8,"end":10,"annotator":"adjudicated","how":"intersection"`, 2},
		"majority": {`"start":5,"end":15,"annotator":"adjudicated","how":"majority","from":["ada","ben","cyd"]`, 3},
	} {
		text, g := gold(policy)
		if !strings.Contains(text, c.want) || g.Questions != 5 || g.Labels != c.labels {
			t.Errorf("%s: %d questions, %d labels in\n%s", policy, g.Questions, g.Labels, text)
		}
	}
	if text, _ := gold("majority"); !strings.Contains(text, `"how":"majority","from":["ada","cyd"]`) {
		t.Errorf("the value that more than half gave is not there:\n%s", text)
	}
	if c := opened(t, dir).Counts(); c[3].Text() != "lead decided 1, 1 skipped" {
		t.Errorf("%+v", c[3])
	}
}

// TestSecondLook: of data that people annotated, a tenth of these questions is drawn, and each
// pair is one annotator of the round and one of before.
func TestSecondLook(t *testing.T) {
	data := raw(30)
	for i, r := range data {
		if i < 50 {
			doc := r.Documents[0].Doc
			r.HasTruth, r.Truth = true, []ibid.Mark{marked("ada", doc, 0, 10), marked("ben", doc, 0, 20)}
		}
	}
	dir, d := draw(t, data, round.Draw{Purpose: round.Both, Fraction: "0.1"})
	if !d.Key.Draw.Second || d.Of != 25 || d.Drawn != 3 || len(d.Items) != 3 || len(d.Key.Said) != 6 {
		t.Fatalf("%+v", d.Key)
	}
	if err := d.Header.CheckAnnotator("ADA", false); err == nil {
		t.Error("who annotated before annotates again")
	}
	r := opened(t, dir)
	for _, it := range r.Items {
		says(t, dir, "cyd", round.Annotator, looked(it.ID, it.Documents[0], 0, 10))
	}
	o := annotations.Options{Level: 0.95, Worst: 5, Quality: annotations.Quality{Target: 0.85, Recalibrate: 0.8, MinAnnotators: 2}}
	spans, labels := annotations.NewSpans(o), annotations.NewLabels(o, nil)
	opened(t, dir).Measure(spans, labels)
	pairs := make(map[string]float64)
	for _, s := range spans.Statistics() {
		if s.Statistic == "char_jaccard" {
			pairs[s.Annotators] = *s.Estimate
			if s.Items != 3 {
				t.Errorf("%s: %d items", s.Annotators, s.Items)
			}
		}
	}
	if want := map[string]float64{"all": 0.75, "ada|cyd": 1, "ben|cyd": 0.5}; fmt.Sprint(pairs) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", pairs, want)
	}
}

// TestSecondLookOfLabels: the same of what people said of claims.
func TestSecondLookOfLabels(t *testing.T) {
	data := raw(8)
	for i, r := range data {
		r.HasLabels = true
		r.Labels = []ibid.Label{
			{Annotator: "ada", ClaimID: "0", Kind: "support", Value: ibid.Some(1.0)}, {Annotator: "ben", ClaimID: "0", Kind: "support", Value: ibid.Some(float64(i % 2))},
		}
	}
	dir, d := draw(t, data, round.Draw{Purpose: round.Both, Fraction: "1"})
	if len(d.Items) != 16 || len(d.Items[0].Labels) != 1 || d.Items[0].Labels[0].Value != nil {
		t.Fatalf("%d items, %+v", len(d.Items), d.Items[0])
	}
	for i := range d.Items {
		says(t, dir, "cyd", round.Annotator, round.State{ID: d.Items[i].ID, Done: true, Labels: []round.Label{{ClaimID: "0", Kind: "support", Value: new(1.0)}}})
	}
	o := annotations.Options{Level: 0.95, Worst: 5, Quality: annotations.Quality{MinAnnotators: 2}}
	spans, labels := annotations.NewSpans(o), annotations.NewLabels(o, []string{"0", "1"})
	opened(t, dir).Measure(spans, labels)
	result := annotations.Measure(spans, labels)
	got := make(map[string]float64)
	for _, s := range result.Statistics {
		if s.Statistic == "percent_agreement" {
			got[s.Annotators] = *s.Estimate
			if s.Items != 16 {
				t.Errorf("%s: %d items", s.Annotators, s.Items)
			}
		}
	}
	if want := map[string]float64{"all": 0.75, "ada|cyd": 1, "ben|cyd": 0.5}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
	for _, l := range result.Labelling {
		if want := map[string]float64{"ada": 1, "ben": 0.5, "cyd": 0.75}[l.Name]; l.Agree.Value != want {
			t.Errorf("%s agrees with the others in %v, want %v", l.Name, l.Agree.Value, want)
		}
	}
}

// TestProposals: half of the items of truth show what a judge found, and no other item does;
// the means of those that show it and of those that do not stand side by side.
func TestProposals(t *testing.T) {
	found := make(map[string][]round.Mark)
	for i := range 200 {
		found[fmt.Sprint("q", i)] = []round.Mark{{Doc: fmt.Sprintf("d%d.txt", i), Start: 0, End: 10}, {Doc: "elsewhere", Start: 0, End: 1}}
	}
	out, err := round.DrawRound(t.Context(), raw(200), options(), round.Draw{Purpose: round.Both, Fraction: "1", Seed: "1"})
	if err != nil {
		t.Fatal(err)
	}
	all, shown := out.Propose("judge", found)
	if all != 200 || shown < 80 || shown > 120 || len(out.Key.Withheld) != 200-shown {
		t.Errorf("%d proposed, %d shown", all, shown)
	}
	dir := filepath.Join(t.TempDir(), "r")
	if err := out.Write(dir, nil); err != nil {
		t.Fatal(err)
	}
	r := opened(t, dir)
	m, err := r.OpenMarks("ada", round.Annotator)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for i := range r.Items {
		it := &r.Items[i]
		if it.Purpose == round.Labels {
			if it.Proposals != nil {
				t.Errorf("%s shows proposals", it.ID)
			}
			continue
		}
		end := int64(20)
		if it.Proposals != nil {
			end = 10
		}
		if i >= 20 {
			continue
		}
		if err := m.Append(looked(it.ID, it.Documents[0], 0, end), 0); err != nil {
			t.Fatal(err)
		}
	}
	f := opened(t, dir).Following()
	if f.Shown.Value != 1 || f.Hidden.Value != 0.5 || f.ShownItems+f.HiddenItems != 20 || f.ShownItems == 0 {
		t.Errorf("%+v", f)
	}
}

// FuzzMarks reads what may be a person's file: it is read, or refused with its line.
func FuzzMarks(f *testing.F) {
	f.Add(`{"id":"item-0001","truth":[{"doc":"d0.txt","start":0,"end":4}],"done":true}` + "\n")
	f.Add(`{"id":"item-0001"`)
	f.Add("\n\x00\n{}")
	out, err := round.DrawRound(context.Background(), raw(1), claims.Options{Phrases: claims.NewPhrases(claims.Phrases{})}, round.Draw{Purpose: round.Truth, Fraction: "1"})
	if err != nil {
		f.Fatal(err)
	}
	dir := f.TempDir()
	if err := out.Write(dir, nil); err != nil {
		f.Fatal(err)
	}
	head := fmt.Sprintf(`{"schema":"ibid.marks/v1","round":%q,"annotator":"ada","role":"annotator"}`+"\n", out.Header.Round)
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(filepath.Join(dir, "ada.jsonl"), []byte(head+text), 0o666); err != nil {
			t.Fatal(err)
		}
		r, err := round.Open(dir)
		if err != nil {
			if !errors.Is(err, ibid.ErrUsage) {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		r.Asked()
		r.Counts()
	})
}
