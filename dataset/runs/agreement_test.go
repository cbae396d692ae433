package runs

import "testing"

// TestPair: every two names come back, and no two pairs are written alike.
func TestPair(t *testing.T) {
	names := []string{"", "a", "b", `a|b`, `b|c`, "c", `\`, `\|`, `a\`, `|`, `über|`}
	seen := make(map[string]bool)
	for _, first := range names {
		for _, second := range names {
			text := Pair(first, second)
			a, b, ok := CutPair(text)
			if !ok || a != first || b != second || seen[text] {
				t.Errorf("Pair(%q, %q) = %q, which is %q and %q, %v, seen %v", first, second, text, a, b, ok, seen[text])
			}
			seen[text] = true
		}
	}
	for _, text := range []string{"", AllAnnotators, "a|b|c"} {
		if _, _, ok := CutPair(text); ok {
			t.Errorf("%q is a pair", text)
		}
	}
	if Pair("ada", "ben") != "ada|ben" {
		t.Errorf("Pair(ada, ben) = %q", Pair("ada", "ben"))
	}
}
