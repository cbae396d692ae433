package claims

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ibid"
	"ibid/dataset"
)

func cut(source Source, row ibid.Answer) Claims {
	dataset.NewResolver(nil, dataset.Conventions{}).Resolve(&row)
	return NewCutter(Options{Source: source, Phrases: NewPhrases(Phrases{})}).Cut(&row)
}

func TestCutterSources(t *testing.T) {
	const answer = "One is red [1]. [2] Two."
	sentences := []ibid.Claim{
		{ClaimID: "0", Text: "One is red.", Context: "One is red.", Extent: ibid.Between(0, 15)},
		{ClaimID: "1", Text: "Two.", Context: "Two.", Extent: ibid.Between(20, 24)},
	}
	given := []ibid.Claim{{ClaimID: "c", Text: "Two"}}
	provided := []ibid.Claim{{ClaimID: "c", Text: "Two", Context: "Two.", Extent: ibid.Between(20, 23)}}
	without, with := ibid.Answer{Answer: answer}, ibid.Answer{Answer: answer, HasClaims: true, Claims: given}
	none := ibid.Answer{Answer: answer, HasClaims: true}
	for _, tt := range []struct {
		name   string
		source Source
		row    ibid.Answer
		want   Claims
	}{
		{"auto, not known", Auto, without, Claims{List: sentences, Known: true}},
		{"auto, given", Auto, with, Claims{List: provided, Known: true, Provided: true}},
		{"auto, known to be none", Auto, none, Claims{Known: true, Provided: true}},
		{"provided, not known", Provided, without, Claims{}},
		{"provided, given", Provided, with, Claims{List: provided, Known: true, Provided: true}},
		{"sentences, not known", Sentences, without, Claims{List: sentences, Known: true}},
		{"sentences, given", Sentences, with, Claims{List: sentences, Known: true}},
		{"empty answer", Auto, ibid.Answer{}, Claims{Known: true}},
		{"answer of markers", Auto, ibid.Answer{Answer: "[1] [a.pdf:1:0-5]\n【3】."}, Claims{Known: true}},
		{"null answer", Auto, ibid.Answer{AnswerNull: true}, Claims{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, cut(tt.source, tt.row), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestCutterLocates(t *testing.T) {
	at := func(n int64) ibid.Integer { return ibid.Some(n) }
	for _, tt := range []struct {
		name, answer string
		claim        ibid.Claim
		want         ibid.Claim
	}{
		{"extent given", "Öne. Two.", ibid.Claim{Text: "Öne", Start: at(5), End: at(9)}, ibid.Claim{Text: "Öne", Extent: ibid.Between(5, 9)}},
		{"extent without text", "Öne [1]. Two.", ibid.Claim{Start: at(0), End: at(8)}, ibid.Claim{Text: "Öne.", Extent: ibid.Between(0, 8)}},
		{"extent outside", "Öne. Two.", ibid.Claim{Text: "Two.", Start: at(5), End: at(10)}, ibid.Claim{Text: "Two.", Extent: ibid.Between(5, 9)}},
		{"extent outside, no text there", "Öne.", ibid.Claim{Text: "Two.", Start: at(-1), End: at(3)}, ibid.Claim{Text: "Two."}},
		{"extent empty", "Öne.", ibid.Claim{Text: "Two.", Start: at(2), End: at(2)}, ibid.Claim{Text: "Two."}},
		{"half an extent", "Öne.", ibid.Claim{Text: "ne", Start: at(2)}, ibid.Claim{Text: "ne", Extent: ibid.Between(1, 3)}},
		{"once", "Öne. 二つ。 Two.", ibid.Claim{Text: "二つ。"}, ibid.Claim{Text: "二つ。", Extent: ibid.Between(5, 8)}},
		{"white space differs", " Ö\n\n ne.  Two.", ibid.Claim{Text: "\tÖ ne. T"}, ibid.Claim{Text: "\tÖ ne. T", Extent: ibid.Between(1, 11)}},
		{"twice", "One. Two. One.", ibid.Claim{Text: "One."}, ibid.Claim{Text: "One."}},
		{"twice, overlapping", "aba ba", ibid.Claim{Text: "aba"}, ibid.Claim{Text: "aba"}},
		{"nowhere", "One.", ibid.Claim{Text: "Three."}, ibid.Claim{Text: "Three."}},
		{"nothing", "One.", ibid.Claim{Text: " "}, ibid.Claim{Text: " "}},
		{"markers in the claim", "One [1]. Two.", ibid.Claim{Text: "One [1]."}, ibid.Claim{Text: "One.", Extent: ibid.Between(0, 8)}},
		{"claim of markers", "One [1].", ibid.Claim{Text: "[1]"}, ibid.Claim{Text: "[1]", Extent: ibid.Between(4, 7)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := cut(Provided, ibid.Answer{Answer: tt.answer, HasClaims: true, Claims: []ibid.Claim{tt.claim}})
			got.List[0].Context = ""
			if diff := cmp.Diff([]ibid.Claim{tt.want}, got.List); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestCutterForgets(t *testing.T) {
	rows := []ibid.Answer{
		{Answer: "One [1]. Two. Three.", HasClaims: true, Claims: []ibid.Claim{{Text: "Two."}, {Text: "Three."}}},
		{Answer: "Nothing."},
		{Answer: "Two.", HasClaims: true, Claims: []ibid.Claim{{Text: "Two."}}},
		{},
		{Answer: "One.", HasClaims: true, Claims: []ibid.Claim{{Text: "Two."}}},
	}
	c := NewCutter(Options{Phrases: NewPhrases(Phrases{})})
	for i := range rows {
		dataset.NewResolver(nil, dataset.Conventions{}).Resolve(&rows[i])
		if diff := cmp.Diff(cut(Auto, rows[i]), c.Cut(&rows[i]), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("row %d: -new +used:\n%s", i, diff)
		}
	}
}

// In the corpus every claim stands in its answer exactly once if white space is
// ignored.
func TestCutterLocatesCorpus(t *testing.T) {
	f, err := os.Open(filepath.Join("..", "..", "..", "shared", "data", "expertqa", "rand_test.jsonl"))
	if os.IsNotExist(err) {
		t.Skip("no corpus: folder ../shared/data/expertqa beside the project is missing")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	claims, located := 0, 0
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var record struct {
			Answers map[string]struct {
				Answer string `json:"answer_string"`
				Claims []struct {
					Text string `json:"claim_string"`
				}
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &record); err != nil {
			t.Fatal(err)
		}
		for _, a := range record.Answers {
			row := ibid.Answer{Answer: a.Answer, HasClaims: true}
			for _, c := range a.Claims {
				row.Claims = append(row.Claims, ibid.Claim{Text: c.Text})
			}
			for i, c := range cut(Auto, row).List {
				claims++
				if c.Extent.Known() && sameDense(string([]rune(a.Answer)[c.Extent.Start.Value:c.Extent.End.Value]), a.Claims[i].Text) {
					located++
				}
			}
		}
	}
	if claims != 1292 || located != claims {
		t.Errorf("%d of %d claims located, want 1292 of 1292", located, claims)
	}
}

func sameDense(a, b string) bool {
	return strings.Join(strings.Fields(a), "") == strings.Join(strings.Fields(b), "")
}

// TestSubjectMark: a mark that is the subject of a sentence belongs to it, and the brackets
// of (see [2]) go with the mark.
func TestSubjectMark(t *testing.T) {
	cutter := NewCutter(Options{Phrases: NewPhrases(Phrases{})})
	for answer, want := range map[string]string{
		"Cats sleep. [2] says that dogs bark.":           "Cats sleep.|says that dogs bark.",
		"Cats sleep [1]. [2] reports that dogs bark.":    "Cats sleep.|reports that dogs bark.",
		"Cats sleep.[1] [2], [3] show that dogs bark.":   "Cats sleep.|show that dogs bark.",
		"Cats sleep. [2] Dogs bark.":                     "Cats sleep.|Dogs bark.",
		"As Smith et al. [2] show, cats sleep.":          "As Smith et al. show, cats sleep.",
		"As in ref. [2] shows, cats sleep.":              "As in ref. shows, cats sleep.",
		"Cats sleep (see [2]). Dogs bark (cf. [1]).":     "Cats sleep.|Dogs bark.",
		"Cats sleep (see also [2], [3]) a lot.":          "Cats sleep a lot.",
		"Cats sleep (see the vet [2]). They say so [1].": "Cats sleep (see the vet).|They say so.",
		"[1] and [2] agree that cats sleep.":             "agree that cats sleep.",
		"Cats sleep (see [2] and [3]) [1] and [2].":      "Cats sleep.",
	} {
		var got []string
		for _, c := range cutter.Cut(&ibid.Answer{Answer: answer}).List {
			got = append(got, c.Text)
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%q: %q, want %q", answer, got, want)
		}
	}
	row := &ibid.Answer{Answer: "Cats sleep. [2] says that dogs bark.", Citations: []ibid.Citation{{Extent: ibid.Between(12, 15), AnswerRole: ibid.Marker}}}
	if out := cutter.Cut(row); len(out.Scopes[0]) != 1 || out.Scopes[0][0] != ibid.Between(16, 36) {
		t.Errorf("the mark backs %v", out.Scopes[0])
	}
}

// TestReasoning: what a model writes before its answer claims, cites and abstains nothing,
// and places count from the beginning of the text.
func TestReasoning(t *testing.T) {
	cutter := NewCutter(Options{Phrases: NewPhrases(Phrases{})})
	for _, tt := range []struct {
		head, answer string
		claims       int
	}{
		{"<think>\nCats [2] bark. I do not know.\n\n- So it is [3].\n</think>\n\n", "Cats sleep [1]. Dogs bark.", 2},
		{" <think>Cats bark [2].</think>", "Cats sleep [1].", 1},
		{"The user asks [2].\n```\n[3]\n</think>\n", "Cats sleep [1].", 1},
		{"<think>\nI cannot find it.\n</think>\n", "42 is it [1].", 1},
		{"<think>\nHm [2]\n</think>\n```json\n", "{\"answer\": \"Cats sleep [1].\"}\n```", 1},
		{"", "Write </think> at the end [1].", 1},
		{"", "Cats <think> a lot [1].", 1},
	} {
		text := tt.head + tt.answer
		marks, unread := ReadMarks(text, []Cited{{Doc: "a"}, {Doc: "b"}}, 1)
		at := utf8.RuneCountInString(tt.head) + strings.Index(tt.answer, "[1]")
		if len(marks) != 1 || marks[0].Number != 1 || marks[0].Start != at || len(unread) > 0 {
			t.Errorf("%q: marks %+v %+v, want [1] at %d", text, marks, unread, at)
		}
		out := cutter.Cut(&ibid.Answer{Answer: text})
		if len(out.List) != tt.claims || out.Abstains || out.List[0].Extent.Start.Value < int64(utf8.RuneCountInString(tt.head)) {
			t.Errorf("%q: claims %+v, want %d", text, out.List, tt.claims)
		}
	}
	text := "<think>Cats sleep.</think>Cats sleep."
	if out := cutter.Cut(&ibid.Answer{Answer: text, HasClaims: true, Claims: []ibid.Claim{{Text: "Cats sleep."}}}); out.List[0].Extent != ibid.Between(26, 37) {
		t.Errorf("a claim of the row stands at %v", out.List[0].Extent)
	}
	if !cutter.Cut(&ibid.Answer{Answer: "<think>Cats sleep. [1]</think>I do not know."}).Abstains {
		t.Error("an answer behind reasoning does not abstain")
	}
}

// Cutting never panics. What is cut lies in the answer, in order and not empty;
// scopes lie in the answer, too. A claim of the row is found where its text stands.
func FuzzCutter(f *testing.F) {
	f.Add("One is red [1]. [2] Two.", "Two.", uint16(3), uint16(9), uint16(11), uint16(14))
	f.Add("aba ba", "ab a", uint16(0), uint16(0), uint16(2), uint16(2))
	f.Add("<statement>a [1]<cite>[0-1]</cite></statement>", "a", uint16(0), uint16(40), uint16(11), uint16(12))
	f.Add("# A\n\n| a | b |\n|---|---|\n| c [1] | d |\n\n> x:\n> - y. ([z](u))\n\n[1]: http://a.b", "y", uint16(0), uint16(20), uint16(20), uint16(60))
	f.Add(`{"a": ["b. C [1].\nd", 1, null], "e": {"f": "g"}}`, "g", uint16(3), uint16(9), uint16(1), uint16(14))
	f.Add("1. a\n   ***\n\t- b:\n\n      c\n2. ![d](e) f", "c", uint16(0), uint16(9), uint16(9), uint16(9))
	f.Fuzz(func(t *testing.T, answer, claim string, a, b, c, d uint16) {
		if !utf8.ValidString(answer) || !utf8.ValidString(claim) {
			return // such rows are errors
		}
		points := []rune(answer)
		between := func(a, b uint16) ibid.Citation {
			return ibid.Citation{AnswerStart: ibid.Some(int64(a)), AnswerEnd: ibid.Some(int64(b)), AnswerRole: ibid.Role(a % 3)}
		}
		inside := func(at ibid.Interval) bool {
			return 0 <= at.Start.Value && at.Start.Value < at.End.Value && int(at.End.Value) <= len(points)
		}
		row := ibid.Answer{Answer: answer, HasCitations: true, Citations: []ibid.Citation{between(a, b), between(c, d)}}
		for _, o := range []Options{{Phrases: NewPhrases(Phrases{})}, {Source: Sentences, MarkScope: ParagraphScope}} {
			dataset.NewResolver(nil, dataset.Conventions{}).Resolve(&row)
			cutter := NewCutter(o)
			got, end := cutter.Cut(&row), int64(0)
			for k, c := range got.List {
				if !inside(c.Extent) || c.Text == "" || c.Extent.Start.Value < end {
					t.Errorf("%q: claim %+v behind %d", answer, c, end)
				}
				end = c.Extent.End.Value
				for i := range row.Citations {
					if text, _ := cutter.Backed(k, i); text == "" {
						t.Errorf("%q: citation %d backs nothing of claim %d", answer, i, k)
					}
				}
			}
			for i, scope := range got.Scopes {
				for _, s := range scope {
					if !inside(s) {
						t.Errorf("%q: citation %d backs %+v", answer, i, s)
					}
				}
			}
		}
		got := cut(Provided, ibid.Answer{Answer: answer, HasClaims: true, Claims: []ibid.Claim{{Text: claim}}}).List[0]
		dense := strings.Join(strings.Fields(answer), "")
		want := strings.Join(strings.Fields(claim), "")
		n := 0
		for i := range dense {
			if want != "" && strings.HasPrefix(dense[i:], want) {
				n++
			}
		}
		if got.Extent.Known() != (n == 1) {
			t.Fatalf("%q in %q: extent %v, %d occurrences", claim, answer, got.Extent.Known(), n)
		}
		if got.Extent.Known() && !sameDense(string(points[got.Extent.Start.Value:got.Extent.End.Value]), claim) {
			t.Errorf("%q in %q: located at %q", claim, answer, string(points[got.Extent.Start.Value:got.Extent.End.Value]))
		}
	})
}

// TestLongLinks: a target of more than 4,096 bytes with its parenthesis is no target.
func TestLongLinks(t *testing.T) {
	for n, want := range map[int]string{4095: "one two", 4096: ""} {
		got := cut(Sentences, ibid.Answer{Answer: "one [two](" + strings.Repeat("x", n) + ")"}).List[0].Text
		if (got == want) != (want != "") {
			t.Errorf("a target of %d bytes: %.40q", n, got)
		}
	}
}

func TestOnce(t *testing.T) {
	tests := []struct {
		name, answer, passage string
		start, end            int64
		ok                    bool
	}{
		{"as it is", "one two", "two", 4, 7, true},
		{"white space lost", "eins\n\u00a0zwei", "einszwei", 0, 10, true},
		{"white space gained", "zwei", " z w ei ", 0, 4, true},
		{"code points", "日本 語😀x", "語 😀", 3, 5, true},
		{"twice", "a b a", "a", 0, 0, false},
		{"overlapping", "aaa", "aa", 0, 0, false},
		{"no code point begins there", "é", "\xa9", 0, 0, false},
		{"not there", "abc", "d", 0, 0, false},
		{"blank", "abc", " \n", 0, 0, false},
		{"empty answer", "", "a", 0, 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			at := Once(tt.answer, tt.passage)
			var want ibid.Interval
			if tt.ok {
				want = ibid.Between(tt.start, tt.end)
			}
			if at != want {
				t.Errorf("Once = %v, want %v", at, want)
			}
		})
	}
}
