package judge_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ibid"
	"ibid/judge"
)

const sharedData = "../../shared/data"

// readLines decodes the lines of a JSON Lines file.
func readLines[T any](t *testing.T, folder, file string) []T {
	t.Helper()
	f, err := os.Open(filepath.Join(sharedData, folder, file))
	if os.IsNotExist(err) {
		t.Skipf("no corpus: folder ../shared/data/%s beside the project is missing", folder)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []T
	in := bufio.NewScanner(f)
	in.Buffer(nil, 16<<20)
	for in.Scan() {
		var v T
		if err := json.Unmarshal(in.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	if err := in.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// wiceChunk is one claim with one selection of sentences of the page it cites.
type wiceChunk struct {
	Label    string
	Claim    string
	Evidence []string
	Meta     struct{ ID string }
}

// TestWordingWice: of claims that people worded anew the rule says nothing.
func TestWordingWice(t *testing.T) {
	said := 0
	for _, c := range readLines[wiceChunk](t, "wice", "oracle_chunks.test.first100.jsonl") {
		if byWording(t, c.Claim, strings.Join(c.Evidence, "\n")).Joint.Known() {
			said++
		}
	}
	if said != 0 {
		t.Errorf("%d chunks are called supported", said)
	}
}

// expertRecord is one answer of ExpertQA with an expert's label on each claim.
type expertRecord struct {
	Question string
	Answers  map[string]struct {
		Claims []struct {
			Text     string   `json:"claim_string"`
			Evidence []string `json:"evidence"`
			Support  *string  `json:"support"`
		}
	}
}

// TestWordingExpertQA: of 793 claims with passages and labels few stand in them word for word,
// and people call most of these complete.
func TestWordingExpertQA(t *testing.T) {
	all, said, right := 0, 0, 0
	for _, record := range readLines[expertRecord](t, "expertqa", "rand_test.jsonl") {
		for _, answer := range record.Answers {
			r := &judge.Request{Question: record.Question}
			var labels []string
			for _, c := range answer.Claims {
				claim := ibid.Claim{Text: c.Text}
				for _, e := range c.Evidence {
					if _, passage, ok := strings.Cut(e, "\n\n"); ok {
						claim.Citations = append(claim.Citations, int32(len(r.Evidence)))
						r.Evidence = append(r.Evidence, judge.Evidence{Text: passage, Citation: len(r.Evidence)})
					}
				}
				label := ""
				if c.Support != nil && len(claim.Citations) > 0 {
					label = *c.Support
				}
				r.Claims = append(r.Claims, claim)
				labels = append(labels, label)
			}
			v, err := judge.NewLexical().Judge(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			for i, label := range labels {
				if label != "Complete" && label != "Partial" && label != "Incomplete" {
					continue
				}
				if all++; v.Claims[i].Joint.Known() {
					if said++; label == "Complete" {
						right++
					}
				}
			}
		}
	}
	t.Logf("%d of %d claims are called supported, %d rightly", said, all, right)
	if all != 793 || said < 3 || said > 10 || right*2 < said {
		t.Errorf("%d of %d claims are called supported, %d rightly", said, all, right)
	}
}
