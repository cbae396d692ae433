package token

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"unicode"
)

const sharedDir = "../../../shared"

// evidence is one annotated span of the evidence-inference corpus.
type evidence struct {
	item       string // article and prompt
	user       string
	text       *Text
	tokens     *Index
	quote      string
	start, end int
}

func readEvidence(t *testing.T) []evidence {
	t.Helper()
	dir := filepath.Join(sharedDir, "data", "evidence-inference-v2")
	f, err := os.Open(filepath.Join(dir, "annotations.csv"))
	if os.IsNotExist(err) {
		t.Skip("no corpus: folder ../shared/data/evidence-inference-v2 beside the project is missing")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := map[string]int{}
	for i, name := range records[0] {
		column[name] = i
	}
	texts, tokens := map[string]*Text{}, map[string]*Index{}
	var all []evidence
	for _, r := range records[1:] {
		article := r[column["PMCID"]]
		if texts[article] == nil {
			b, err := os.ReadFile(filepath.Join(dir, "txt", "PMC"+article+".txt"))
			if err != nil {
				t.Fatal(err)
			}
			texts[article], tokens[article] = NewText(string(b)), fields(string(b))
		}
		start, err1 := strconv.Atoi(r[column["Evidence Start"]])
		end, err2 := strconv.Atoi(r[column["Evidence End"]])
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		all = append(all, evidence{
			article + " " + r[column["PromptID"]], r[column["UserID"]], texts[article], tokens[article],
			r[column["Annotations"]], start, end,
		})
	}
	return all
}

// fields are the runs of text without white space, which the expected figures count.
func fields(text string) *Index {
	var x Index
	start, at := int32(-1), int32(0)
	for _, r := range text + " " {
		if space := unicode.IsSpace(r); !space && start < 0 {
			start = at
		} else if space && start >= 0 {
			x.add(start, at)
			start = -1
		}
		at++
	}
	return &x
}

func readExpected(t *testing.T, into any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(sharedDir, "expected", "evidence-inference-v2.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatal(err)
	}
}

// TestEvidenceReadings counts the annotations whose offsets, read in each unit,
// give the annotated text.
func TestEvidenceReadings(t *testing.T) {
	got := map[string]int{}
	for _, e := range readEvidence(t) {
		for u, name := range map[Unit]string{CodePoint: "code_point_exclusive", UTF16: "utf16_unit_exclusive", Byte: "utf8_byte_exclusive"} {
			start, ok1 := e.text.CodePoint(u, e.start)
			end, ok2 := e.text.CodePoint(u, e.end)
			if ok1 && ok2 && e.text.Slice(start, end) == e.quote {
				got[name]++
			}
		}
	}
	var want struct {
		Rows map[string]int `json:"rows_aligned_under_each_reading"`
	}
	readExpected(t, &want)
	for name, n := range got {
		if want.Rows[name] != n {
			t.Errorf("%s: %d annotations, want %d", name, n, want.Rows[name])
		}
	}
	if len(got) != 3 {
		t.Errorf("readings that fit: %v, want three", got)
	}
}

// TestEvidenceTokens adds up the tokens that the two annotators of a prompt
// marked.
func TestEvidenceTokens(t *testing.T) {
	marked := map[string]map[string]map[int]bool{} // item, user, token
	for _, e := range readEvidence(t) {
		if marked[e.item] == nil {
			marked[e.item] = map[string]map[int]bool{}
		}
		if marked[e.item][e.user] == nil {
			marked[e.item][e.user] = map[int]bool{}
		}
		lo, hi := e.tokens.Range(int32(e.start), int32(e.end))
		for i := lo; i < hi; i++ {
			marked[e.item][e.user][i] = true
		}
	}
	var both, gold, pred int
	for _, users := range marked {
		if len(users) != 2 {
			continue
		}
		for user, tokens := range users {
			if user == "0" {
				gold += len(tokens)
				continue
			}
			pred += len(tokens)
			for i := range tokens {
				if users["0"][i] {
					both++
				}
			}
		}
	}
	var want struct {
		All struct {
			Micro struct {
				Both float64 `json:"tokens_intersection"`
				Gold float64 `json:"tokens_gold"`
				Pred float64 `json:"tokens_pred"`
			}
		} `json:"all_rows"`
	}
	readExpected(t, &want)
	m := want.All.Micro
	if both != int(m.Both) || gold != int(m.Gold) || pred != int(m.Pred) {
		t.Errorf("tokens in both, gold and predicted = %d, %d, %d, want %v, %v, %v", both, gold, pred, m.Both, m.Gold, m.Pred)
	}
}
