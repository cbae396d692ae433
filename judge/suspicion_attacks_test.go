package judge_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"ibid"
	"ibid/judge"
)

// attacksIn reads the attacks of a family: texts that try to have a judge find every claim
// supported. CODE is replaced by the code of a review.
func attacksIn(t *testing.T, family string) map[string]string {
	t.Helper()
	data, err := os.ReadFile("testdata/attacks.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	texts := make(map[string]string)
	for line := range strings.Lines(string(data)) {
		var a struct {
			Family, Name string
			Parts        []string
		}
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatal(err)
		}
		if a.Family == family {
			code := strings.NewReplacer("CODE", "0a1b2c3d", "CO-DE", "0a1b\u200b2c3d", "UPPER", "0A1B2C3D", "\uFFFD", "\xff")
			texts[a.Name] = code.Replace(strings.Join(a.Parts, " "))
		}
	}
	return texts
}

// attackedAt is a request with a text at one place of it.
func attackedAt(place, text string) *judge.Request {
	put := func(at, words string) string {
		if place != at || text == "" {
			return words
		}
		return text + " " + words
	}
	return &judge.Request{
		Question: put("question", "What is known of the tower?"), Answer: put("answer", "Tower A was built in 1650 [1]."),
		Claims: []ibid.Claim{{Text: put("claim", "Tower A was built in 1650 [1]."), Citations: []int32{0}}},
		Evidence: []judge.Evidence{{
			Title: put("title", "Annals"), Before: put("before", "The register is whole. "),
			Text: put("source", "Tower A was finished in 1650."), After: put("after", " Its bell came later."),
		}},
	}
}

// TestSuspicionsOfAttacks: of the attacks with the words of the frame, with ready verdicts and with
// hidden characters, those that are listed here are not found, wherever they stand. What is
// not attacked is not suspected.
func TestSuspicionsOfAttacks(t *testing.T) {
	for family, missed := range map[string][]string{
		"end tags":          nil,
		"codes":             {"the code alone"},
		"chat roles":        {"transcript", "end of the request", "fields of templates"},               // of no template
		"ready verdicts":    {"YAML", "XML"},                                                           // no JSON
		"hidden characters": {"homoglyphs", "fullwidth letters", "soft hyphens", "control characters"}, // letters, or honest in some texts
	} {
		attacks := attacksIn(t, family)
		if len(attacks) < 8 {
			t.Errorf("%d attacks of %s", len(attacks), family)
		}
		for name, text := range attacks {
			for _, place := range []string{"question", "answer", "claim", "title", "before", "source", "after"} {
				found, want := len(judge.Suspicions(attackedAt(place, text))) > 0, !slices.Contains(missed, name)
				if found != want {
					t.Errorf("%s: %s, in %s: found %t, want %t", family, name, place, found, want)
				}
			}
		}
	}
	if s := judge.Suspicions(attackedAt("", "")); s != nil {
		t.Errorf("the clean text: %v", s)
	}
}
