package metrics

import "testing"

// TestGroups: every group has a sentence, and each stands in one place.
func TestGroups(t *testing.T) {
	seen, last := make(map[string]bool), ""
	for _, d := range append(ByGroup(Definitions()), CountDefinitions()...) {
		if AboutGroup(d.Group) == "" {
			t.Errorf("%s: nothing is said of its group %q", d.Name, d.Group)
		}
		if d.Group != last && seen[d.Group] {
			t.Errorf("%s: its group %q stands in two places", d.Name, d.Group)
		}
		seen[d.Group], last = true, d.Group
	}
	for group := range aboutGroups {
		if !seen[group] {
			t.Errorf("no metric is of the group %q", group)
		}
	}
}
