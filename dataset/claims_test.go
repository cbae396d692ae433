package dataset

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
)

func cut(source ClaimSource, row Row) Claims {
	var resolved Resolved
	NewResolver(nil, Conventions{}).Resolve(&row, &resolved)
	return NewClaimCutter(source).Cut(&row, &resolved)
}

func TestClaimCutterSources(t *testing.T) {
	const answer = "One is red [1]. [2] Two."
	sentences := []CutClaim{
		{ID: "0", Text: "One is red.", Start: 0, End: 19, HasExtent: true},
		{ID: "1", Text: "Two.", Start: 20, End: 24, HasExtent: true},
	}
	given := []Claim{{ClaimID: "c", Text: "Two"}}
	provided := []CutClaim{{ID: "c", Text: "Two", Start: 20, End: 23, HasExtent: true}}
	without, with := Row{Answer: answer}, Row{Answer: answer, HasClaims: true, Claims: given}
	none := Row{Answer: answer, HasClaims: true}
	for _, tt := range []struct {
		name   string
		source ClaimSource
		row    Row
		want   Claims
	}{
		{"auto, not known", AutoClaims, without, Claims{List: sentences, Known: true}},
		{"auto, given", AutoClaims, with, Claims{List: provided, Known: true, Provided: true}},
		{"auto, known to be none", AutoClaims, none, Claims{Known: true, Provided: true}},
		{"provided, not known", ProvidedClaims, without, Claims{}},
		{"provided, given", ProvidedClaims, with, Claims{List: provided, Known: true, Provided: true}},
		{"sentences, not known", SentenceClaims, without, Claims{List: sentences, Known: true}},
		{"sentences, given", SentenceClaims, with, Claims{List: sentences, Known: true}},
		{"empty answer", AutoClaims, Row{}, Claims{Known: true}},
		{"answer of markers", AutoClaims, Row{Answer: "[1] [a.pdf:1:0-5]\n【3】."}, Claims{Known: true}},
		{"null answer", AutoClaims, Row{AnswerNull: true}, Claims{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, cut(tt.source, tt.row), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestClaimCutterLocates(t *testing.T) {
	at := func(n int64) NullInt { return NullInt{Value: n, Valid: true} }
	for _, tt := range []struct {
		name, answer string
		claim        Claim
		want         CutClaim
	}{
		{"extent given", "Öne. Two.", Claim{Text: "Öne", Start: at(5), End: at(9)}, CutClaim{Text: "Öne", Start: 5, End: 9, HasExtent: true}},
		{"extent without text", "Öne [1]. Two.", Claim{Start: at(0), End: at(8)}, CutClaim{Text: "Öne.", Start: 0, End: 8, HasExtent: true}},
		{"extent outside", "Öne. Two.", Claim{Text: "Two.", Start: at(5), End: at(10)}, CutClaim{Text: "Two.", Start: 5, End: 9, HasExtent: true}},
		{"extent outside, no text there", "Öne.", Claim{Text: "Two.", Start: at(-1), End: at(3)}, CutClaim{Text: "Two."}},
		{"extent empty", "Öne.", Claim{Text: "Two.", Start: at(2), End: at(2)}, CutClaim{Text: "Two."}},
		{"half an extent", "Öne.", Claim{Text: "ne", Start: at(2)}, CutClaim{Text: "ne", Start: 1, End: 3, HasExtent: true}},
		{"once", "Öne. 二つ。 Two.", Claim{Text: "二つ。"}, CutClaim{Text: "二つ。", Start: 5, End: 8, HasExtent: true}},
		{"white space differs", " Ö\n\n ne.  Two.", Claim{Text: "\tÖ ne. T"}, CutClaim{Text: "\tÖ ne. T", Start: 1, End: 11, HasExtent: true}},
		{"twice", "One. Two. One.", Claim{Text: "One."}, CutClaim{Text: "One."}},
		{"twice, overlapping", "aba ba", Claim{Text: "aba"}, CutClaim{Text: "aba"}},
		{"nowhere", "One.", Claim{Text: "Three."}, CutClaim{Text: "Three."}},
		{"nothing", "One.", Claim{Text: " "}, CutClaim{Text: " "}},
		{"markers in the claim", "One [1]. Two.", Claim{Text: "One [1]."}, CutClaim{Text: "One.", Start: 0, End: 8, HasExtent: true}},
		{"claim of markers", "One [1].", Claim{Text: "[1]"}, CutClaim{Text: "[1]", Start: 4, End: 7, HasExtent: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := cut(ProvidedClaims, Row{Answer: tt.answer, HasClaims: true, Claims: []Claim{tt.claim}})
			if diff := cmp.Diff([]CutClaim{tt.want}, got.List); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestClaimCutterStatements(t *testing.T) {
	const first = "<statement>One is red [4].<cite>[0-1]</cite></statement>"
	got := cut(SentenceClaims, Row{Answer: first + "<statement>Two.<cite></cite></statement>"})
	want := []CutClaim{
		{ID: "0", Text: "One is red.", Start: 0, End: int64(len(first)), HasExtent: true},
		{ID: "1", Text: "Two.", Start: int64(len(first)), End: int64(len(first) + 40), HasExtent: true},
	}
	if diff := cmp.Diff(want, got.List); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// One cutter gives for each row what a new one does.
func TestClaimCutterForgets(t *testing.T) {
	rows := []Row{
		{Answer: "One [1]. Two. Three.", HasClaims: true, Claims: []Claim{{Text: "Two."}, {Text: "Three."}}},
		{Answer: "Nothing."},
		{Answer: "Two.", HasClaims: true, Claims: []Claim{{Text: "Two."}}},
		{},
		{Answer: "One.", HasClaims: true, Claims: []Claim{{Text: "Two."}}},
	}
	c := NewClaimCutter(AutoClaims)
	for i := range rows {
		var resolved Resolved
		NewResolver(nil, Conventions{}).Resolve(&rows[i], &resolved)
		if diff := cmp.Diff(cut(AutoClaims, rows[i]), c.Cut(&rows[i], &resolved), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("row %d: -new +used:\n%s", i, diff)
		}
	}
}

// In the corpus every claim stands in its answer exactly once if white space is
// ignored.
func TestClaimCutterLocatesCorpus(t *testing.T) {
	f, err := os.Open(filepath.Join("..", "..", "shared", "data", "expertqa", "rand_test.jsonl"))
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
			row := Row{Answer: a.Answer, HasClaims: true}
			for _, c := range a.Claims {
				row.Claims = append(row.Claims, Claim{Text: c.Text})
			}
			for i, c := range cut(AutoClaims, row).List {
				claims++
				if c.HasExtent && sameDense(string([]rune(a.Answer)[c.Start:c.End]), a.Claims[i].Text) {
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

func FuzzClaimCutter(f *testing.F) {
	f.Add("One is red [1]. [2] Two.", "Two.")
	f.Add("aba ba", "ab a")
	f.Add("<statement>a [1]<cite>[0-1]</cite></statement>", "a")
	f.Fuzz(func(t *testing.T, answer, claim string) {
		if !utf8.ValidString(answer) || !utf8.ValidString(claim) {
			return // such rows are errors
		}
		points := []rune(answer)
		for _, c := range cut(SentenceClaims, Row{Answer: answer}).List {
			if c.Start < 0 || c.End <= c.Start || int(c.End) > len(points) || c.Text == "" {
				t.Errorf("%q: sentence %+v", answer, c)
			}
		}
		got := cut(ProvidedClaims, Row{Answer: answer, HasClaims: true, Claims: []Claim{{Text: claim}}}).List[0]
		dense := strings.Join(strings.Fields(answer), "")
		want := strings.Join(strings.Fields(claim), "")
		n := 0
		for i := range dense {
			if want != "" && strings.HasPrefix(dense[i:], want) {
				n++
			}
		}
		if got.HasExtent != (n == 1) {
			t.Fatalf("%q in %q: extent %v, %d occurrences", claim, answer, got.HasExtent, n)
		}
		if got.HasExtent && !sameDense(string(points[got.Start:got.End]), claim) {
			t.Errorf("%q in %q: located at %q", claim, answer, string(points[got.Start:got.End]))
		}
	})
}
