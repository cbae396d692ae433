package token

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// listStart is where an item of a list starts. The corpus, whose claims come
// from a splitter that takes lines for spaces, leaves labels and bullets with
// the claim before.
var listStart = regexp.MustCompile(`\n\s*(?:[-*•]|\(?[0-9]+(?:\[\d+\])*[.)])\s`)

// The claims of the corpus are the sentences of its answers as another program
// has cut them, so that nearly all of those of plain text must be ours.
func TestSentencesOfCorpus(t *testing.T) {
	f, err := os.Open(filepath.Join(sharedDir, "data", "expertqa", "rand_test.jsonl"))
	if os.IsNotExist(err) {
		t.Skip("no corpus: folder ../shared/data/expertqa beside the project is missing")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	marker := regexp.MustCompile(`\[\d+\]`)
	var claims, equal, plainClaims, plainEqual int
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
			var markers []Bounds
			for _, m := range marker.FindAllStringIndex(a.Answer, -1) {
				start := utf8.RuneCountInString(a.Answer[:m[0]])
				markers = append(markers, Bounds{int32(start), int32(start + m[1] - m[0])})
			}
			points := []rune(a.Answer)
			var ours []string
			for _, b := range Sentences(a.Answer, markers) {
				ours = append(ours, withoutSpace(string(points[b.Start:b.End])))
			}
			plain := !listStart.MatchString(a.Answer)
			for _, c := range a.Claims {
				found := slices.Contains(ours, withoutSpace(c.Text))
				claims++
				if plain {
					plainClaims++
				}
				if found {
					equal++
					if plain {
						plainEqual++
					}
				} else if plain {
					t.Logf("no sentence: %q", c.Text)
				}
			}
		}
	}
	t.Logf("%d of %d claims are sentences (%.1f %%); %d of %d in answers without lists (%.1f %%)",
		equal, claims, 100*float64(equal)/float64(claims), plainEqual, plainClaims, 100*float64(plainEqual)/float64(plainClaims))
	if claims != 1292 {
		t.Errorf("%d claims, want 1292", claims)
	}
	if float64(plainEqual) < 0.9*float64(plainClaims) {
		t.Errorf("only %d of %d claims of plain text are sentences", plainEqual, plainClaims)
	}
}

func withoutSpace(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}
run rows-1000000-2d791a4e: 1,000,000 rows, 3,000,000 citations

system default
                          macro             95 %   micro              95 %          n  undefined
char_precision            0.661   [0.661, 0.662]   0.662    [0.661, 0.663]  1,000,000          0
char_recall               0.661   [0.661, 0.662]   0.662    [0.662, 0.663]  1,000,000          0
char_f1                   0.653   [0.652, 0.654]   0.662    [0.662, 0.663]  1,000,000          0
char_jaccard              0.553   [0.553, 0.554]   0.495    [0.494, 0.496]  1,000,000          0
exact_match               0.037   [0.037, 0.038]   0.037    [0.037, 0.038]  1,000,000          0
any_overlap               0.965   [0.965, 0.966]   0.965    [0.965, 0.966]  1,000,000          0
page_precision            1.000   [1.000, 1.000]   1.000    [1.000, 1.000]  1,000,000       0¹˒²
page_recall               1.000   [1.000, 1.000]   1.000    [1.000, 1.000]  1,000,000          0
page_f1                   1.000   [1.000, 1.000]   1.000    [1.000, 1.000]  1,000,000          0
doc_precision             1.000   [1.000, 1.000]   1.000    [1.000, 1.000]  1,000,000       0¹˒²
doc_recall                1.000   [1.000, 1.000]   1.000    [1.000, 1.000]  1,000,000          0
doc_f1                    1.000   [1.000, 1.000]   1.000    [1.000, 1.000]  1,000,000          0
set_tolerance_jaccard     0.521   [0.521, 0.522]   0.472    [0.471, 0.473]  1,000,000          0
mean_exact_jaccard        0.644   [0.644, 0.645]   0.644    [0.644, 0.645]  1,000,000          0
mean_tolerance_jaccard    0.590   [0.589, 0.590]   0.590    [0.589, 0.590]  1,000,000          0
mean_best_exact_jaccard   0.644   [0.644, 0.645]   0.644    [0.644, 0.645]  1,000,000          0
mean_snapped_jaccard      0.666   [0.666, 0.667]   0.666    [0.666, 0.667]  1,000,000          0
span_precision            0.667   [0.666, 0.667]   0.667    [0.666, 0.667]  1,000,000          0
span_recall               0.667   [0.666, 0.667]   0.667    [0.666, 0.667]  1,000,000          0
span_f1                   0.667   [0.666, 0.667]   0.667    [0.666, 0.667]  1,000,000          0
boundary_error_start     -0.008  [-0.016, 0.000]  -0.009  [-0.017, -0.002]    963,089     36,911
boundary_error_end        0.007  [-0.001, 0.015]   0.004   [-0.003, 0.012]    963,089     36,911
span_length_ratio         1.043   [1.043, 1.044]                            1,000,000          0
over_citation             0.326   [0.326, 0.327]   0.326    [0.326, 0.327]  1,000,000          0
distinct_sources          2.999   [2.999, 2.999]                            1,000,000          0
citation_density          82.31   [82.26, 82.36]   82.31    [82.26, 82.36]  1,000,000          0
span_accuracy_score       0.666   [0.666, 0.667]                            1,000,000          0

¹ all clusters agree: an interval without width is no certainty
² ratio at 0 or 1: Wilson interval with one trial per cluster
