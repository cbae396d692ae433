package judge_test

import (
	"slices"
	"testing"

	"ibid/judge"
	"ibid/judge/judgetest"
)

// TestSuspicionsOfAttacks: of the attacks with the words of the frame, with ready verdicts and with
// hidden characters, those that are listed here are not found, wherever they stand. What is
// not attacked is not suspected.
func TestSuspicionsOfAttacks(t *testing.T) {
	missed := []string{
		"codes: the code alone",
		"chat roles: transcript", "chat roles: end of the request", "chat roles: fields of templates", // of no template
		"ready verdicts: YAML", "ready verdicts: XML", // no JSON
		"hidden characters: homoglyphs", "hidden characters: fullwidth letters", "hidden characters: soft hyphens", "hidden characters: control characters", // letters, or honest in some texts
	}
	families := []string{"end tags", "codes", "chat roles", "ready verdicts", "hidden characters"}
	for _, a := range judgetest.Attacks() {
		if !slices.Contains(families, a.Family) {
			continue
		}
		for _, place := range judgetest.Places() {
			r := a.On(judgetest.Attacked(), place, "0a1b2c3d")
			found, want := len(judge.Suspicions(r)) > 0, !slices.Contains(missed, a.Family+": "+a.Name)
			if found != want {
				t.Errorf("%s: %s, in %s: found %t, want %t", a.Family, a.Name, place, found, want)
			}
		}
	}
	if s := judge.Suspicions(judgetest.Attacked()); s != nil {
		t.Errorf("the clean text: %v", s)
	}
}
