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

var wiceClasses = map[string]int{"supported": 0, "partially_supported": 1, "not_supported": 2}

// scored is what a judge and people say of the same claims.
type scored struct {
	positive []bool
	class    []int // of three; nil if people used two
	score    []float64

	// Claims that the judge says their evidence contradicts, and how many of them
	// people find without any support.
	contradicted, unsupported int
}

func (s *scored) contradiction(v *judge.ClaimVerdict, unsupported bool) {
	if v.Contradicted == ibid.Yes {
		s.contradicted++
		if unsupported {
			s.unsupported++
		}
	}
}

// scoreWice judges every chunk; a claim has the best score of its chunks, as
// the paper has it.
func scoreWice(t *testing.T, j judge.Judge, chunks []wiceChunk) scored {
	t.Helper()
	var out scored
	at := make(map[string]int)
	for _, c := range chunks {
		v, err := j.Judge(t.Context(), &judge.Request{
			Row:      c.Meta.ID,
			Claims:   []ibid.Claim{{Text: c.Claim, Citations: []int32{0}}},
			Evidence: []judge.Evidence{{Text: strings.Join(c.Evidence, "\n")}},
		})
		if err != nil {
			t.Fatal(err)
		}
		i, ok := at[c.Meta.ID]
		if !ok {
			i = len(out.score)
			at[c.Meta.ID] = i
			out.positive = append(out.positive, c.Label == "supported")
			out.class = append(out.class, wiceClasses[c.Label])
			out.score = append(out.score, -1)
		}
		out.score[i] = max(out.score[i], v.Claims[0].Joint.Value)
		out.contradiction(&v.Claims[0], c.Label == "not_supported")
	}
	return out
}

// report prints how far the scores agree with people.
func (s scored) report(t *testing.T, name string) (area float64) {
	t.Helper()
	area = auroc(s.positive, s.score)
	human := truths(s.positive)
	t.Logf("%s: %d claims, AUROC %.4f, kappa at 0.5 %.4f, at 0.7 %.4f", name, len(s.score), area,
		kappa(2, human, binary(s.score, 0.5)), kappa(2, human, binary(s.score, 0.7)))
	t.Logf("%s: %d contradicted, %d of them without support", name, s.contradicted, s.unsupported)
	if s.class != nil {
		t.Logf("%s: three classes: kappa %.4f", name, kappa(3, s.class, threeClass(s.score)))
	}
	return area
}

// TestLexicalWice sets the baseline beside the human labels of WiCE.
func TestLexicalWice(t *testing.T) {
	chunks := readLines[wiceChunk](t, "wice", "oracle_chunks.test.first100.jsonl")
	s := scoreWice(t, judge.NewLexical(), chunks)
	if len(s.score) != 100 {
		t.Fatalf("%d claims, want 100", len(s.score))
	}
	if area := s.report(t, "lexical on wice"); area < 0.6 {
		t.Errorf("AUROC %.4f is hardly above chance", area)
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

// TestLexicalExpertQA sets the baseline beside the expert labels of claims
// whose evidence carries passages.
func TestLexicalExpertQA(t *testing.T) {
	records := readLines[expertRecord](t, "expertqa", "rand_test.jsonl")
	s := scoreExpertQA(t, judge.NewLexical(), records)
	if len(s.score) < 500 {
		t.Fatalf("only %d claims", len(s.score))
	}
	if area := s.report(t, "lexical on expertqa"); area < 0.55 {
		t.Errorf("AUROC %.4f is hardly above chance", area)
	}
}

func scoreExpertQA(t *testing.T, j judge.Judge, records []expertRecord) scored {
	t.Helper()
	var out scored
	for _, record := range records {
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
			v, err := j.Judge(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			for i, label := range labels {
				joint := v.Claims[i].Joint
				if joint.Known() && (label == "Complete" || label == "Partial" || label == "Incomplete") {
					out.positive = append(out.positive, label == "Complete")
					out.score = append(out.score, joint.Value)
					out.contradiction(&v.Claims[i], label == "Incomplete")
				}
			}
		}
	}
	return out
}
