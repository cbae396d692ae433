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
