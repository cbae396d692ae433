package claims

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"ibid"
)

// An abstentionCase is an answer and what its sentences are: claim, abstains, or none.
type abstentionCase struct {
	ID, Answer string
	Abstained  bool
	Sentences  []string
}

// TestAbstention cuts answers of own and shared cases.
func TestAbstention(t *testing.T) {
	for name, path := range map[string]string{
		"own":    filepath.Join("testdata", "abstention.json"),
		"shared": filepath.Join("..", "..", "..", "shared", "vectors", "inputs", "refusals.json"),
	} {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(path)
			if errors.Is(err, fs.ErrNotExist) && name == "shared" {
				t.Skipf("%s is missing", path)
			}
			if err != nil {
				t.Fatal(err)
			}
			var cases []abstentionCase
			if err := json.Unmarshal(data, &cases); err != nil {
				t.Fatal(err)
			}
			cutter := NewCutter(Options{Phrases: NewPhrases(Phrases{})})
			for _, tt := range cases {
				marks, _ := ReadMarks(tt.Answer, nil, 1)
				row := &ibid.Answer{Answer: tt.Answer, HasCitations: true}
				for _, m := range marks {
					row.Citations = append(row.Citations, ibid.Citation{Extent: ibid.Between(int64(m.Start), int64(m.End)), AnswerRole: ibid.Marker})
				}
				got := cutter.Cut(row)
				var kinds []string
				for k := range cutter.sentences {
					switch s := &cutter.sentences[k]; {
					case s.claims():
						kinds = append(kinds, "claim")
					case s.kind == abstaining:
						kinds = append(kinds, "abstains")
					default:
						kinds = append(kinds, "none")
					}
				}
				if got.Abstains != tt.Abstained || !slices.Equal(kinds, tt.Sentences) {
					t.Errorf("%s: %q abstains: %v, sentences %q, want %v, %q", tt.ID, tt.Answer, got.Abstains, kinds, tt.Abstained, tt.Sentences)
				}
			}
		})
	}
}

// TestOwnPatterns: patterns of a setting add to the built-in list, or stand alone.
func TestOwnPatterns(t *testing.T) {
	abstains := func(answer string, own ...string) bool {
		return NewCutter(Options{Phrases: NewPhrases(Phrases{Abstention: own})}).Cut(&ibid.Answer{Answer: answer, HasCitations: true}).Abstains
	}
	if !abstains("I don't know.") || abstains("I don't know.", None, "pass$") || !abstains("Pass.", "pass$") || !abstains("I don't know.", "pass$") || abstains("Passing is easy.", "pass$") {
		t.Error("patterns of the setting are not those that apply")
	}
	if !abstains("pass the ball.", `Pass \S\pL+ B.*$`) {
		t.Error("a pattern with a capital letter does not find the small one")
	}
	if one := NewPhrases(Phrases{}).Abstention; abstentionOf(one)() != abstentionOf(slices.Clone(one))() {
		t.Error("the same list is compiled twice")
	}
	if CheckPatterns([]string{"a("}) == nil || CheckPatterns([]string{`\Qa`, "b"}) == nil || CheckPatterns([]string{"a|b", "> well"}) != nil {
		t.Error("a pattern that is none passes, or one that is fails")
	}
}
