package prompts_test

import (
	"slices"
	"strings"
	"testing"

	"ibid/judge/prompts"
)

// TestDescriptions: every prompt says what it is for, and has the fields it must.
func TestDescriptions(t *testing.T) {
	set := prompts.Builtin()
	for _, n := range prompts.Names() {
		if n.About() == "" {
			t.Errorf("%s: nobody knows what it is for", n)
		}
		must, may := n.Fields()
		for _, field := range must {
			if !strings.Contains(set.Text(n), "{{"+field+"}}") {
				t.Errorf("%s has no {{%s}}", n.File(), field)
			}
			if slices.Contains(may, field) {
				t.Errorf("%s both must and may have %s", n, field)
			}
		}
	}
}
