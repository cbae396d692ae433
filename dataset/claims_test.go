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

	"ibid"
)

func cut(source ClaimSource, row ibid.Answer) Claims {
	NewResolver(nil, Conventions{}).Resolve(&row)
	return NewClaimCutter(source).Cut(&row)
}

func TestClaimCutterSources(t *testing.T) {
	const answer = "One is red [1]. [2] Two."
	sentences := []ibid.Claim{
		{ClaimID: "0", Text: "One is red.", Extent: ibid.Between(0, 19)},
		{ClaimID: "1", Text: "Two.", Extent: ibid.Between(20, 24)},
	}
	given := []ibid.Claim{{ClaimID: "c", Text: "Two"}}
	provided := []ibid.Claim{{ClaimID: "c", Text: "Two", Extent: ibid.Between(20, 23)}}
	without, with := ibid.Answer{Answer: answer}, ibid.Answer{Answer: answer, HasClaims: true, Claims: given}
	none := ibid.Answer{Answer: answer, HasClaims: true}
	for _, tt := range []struct {
		name   string
		source ClaimSource
		row    ibid.Answer
		want   Claims
	}{
		{"auto, not known", autoClaims, without, Claims{List: sentences, Known: true}},
		{"auto, given", autoClaims, with, Claims{List: provided, Known: true, Provided: true}},
		{"auto, known to be none", autoClaims, none, Claims{Known: true, Provided: true}},
		{"provided, not known", providedClaims, without, Claims{}},
		{"provided, given", providedClaims, with, Claims{List: provided, Known: true, Provided: true}},
		{"sentences, not known", sentenceClaims, without, Claims{List: sentences, Known: true}},
		{"sentences, given", sentenceClaims, with, Claims{List: sentences, Known: true}},
		{"empty answer", autoClaims, ibid.Answer{}, Claims{Known: true}},
		{"answer of markers", autoClaims, ibid.Answer{Answer: "[1] [a.pdf:1:0-5]\n【3】."}, Claims{Known: true}},
		{"null answer", autoClaims, ibid.Answer{AnswerNull: true}, Claims{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, cut(tt.source, tt.row), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestClaimCutterLocates(t *testing.T) {
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
			got := cut(providedClaims, ibid.Answer{Answer: tt.answer, HasClaims: true, Claims: []ibid.Claim{tt.claim}})
			if diff := cmp.Diff([]ibid.Claim{tt.want}, got.List); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestClaimCutterStatements(t *testing.T) {
	const first = "<statement>One is red [4].<cite>[0-1]</cite></statement>"
	got := cut(sentenceClaims, ibid.Answer{Answer: first + "<statement>Two.<cite></cite></statement>"})
	want := []ibid.Claim{
		{ClaimID: "0", Text: "One is red.", Extent: ibid.Between(0, int64(len(first)))},
		{ClaimID: "1", Text: "Two.", Extent: ibid.Between(int64(len(first)), int64(len(first)+40))},
	}
	if diff := cmp.Diff(want, got.List); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// One cutter gives for each row what a new one does.
func TestClaimCutterForgets(t *testing.T) {
	rows := []ibid.Answer{
		{Answer: "One [1]. Two. Three.", HasClaims: true, Claims: []ibid.Claim{{Text: "Two."}, {Text: "Three."}}},
		{Answer: "Nothing."},
		{Answer: "Two.", HasClaims: true, Claims: []ibid.Claim{{Text: "Two."}}},
		{},
		{Answer: "One.", HasClaims: true, Claims: []ibid.Claim{{Text: "Two."}}},
	}
	c := NewClaimCutter(autoClaims)
	for i := range rows {
		NewResolver(nil, Conventions{}).Resolve(&rows[i])
		if diff := cmp.Diff(cut(autoClaims, rows[i]), c.Cut(&rows[i]), cmpopts.EquateEmpty()); diff != "" {
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
			row := ibid.Answer{Answer: a.Answer, HasClaims: true}
			for _, c := range a.Claims {
				row.Claims = append(row.Claims, ibid.Claim{Text: c.Text})
			}
			for i, c := range cut(autoClaims, row).List {
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

func FuzzClaimCutter(f *testing.F) {
	f.Add("One is red [1]. [2] Two.", "Two.")
	f.Add("aba ba", "ab a")
	f.Add("<statement>a [1]<cite>[0-1]</cite></statement>", "a")
	f.Fuzz(func(t *testing.T, answer, claim string) {
		if !utf8.ValidString(answer) || !utf8.ValidString(claim) {
			return // such rows are errors
		}
		points := []rune(answer)
		for _, c := range cut(sentenceClaims, ibid.Answer{Answer: answer}).List {
			if start, end := c.Extent.Start.Value, c.Extent.End.Value; start < 0 || end <= start || int(end) > len(points) || c.Text == "" {
				t.Errorf("%q: sentence %+v", answer, c)
			}
		}
		got := cut(providedClaims, ibid.Answer{Answer: answer, HasClaims: true, Claims: []ibid.Claim{{Text: claim}}}).List[0]
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
