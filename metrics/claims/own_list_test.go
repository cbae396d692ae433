package claims

import (
	"slices"
	"testing"
)

// TestOwnLists reads answers that bring their own list of references: what their marks
// stand for, without and with sources.
func TestOwnLists(t *testing.T) {
	sources := []Cited{{Doc: "https://a.org"}, {Doc: "https://b.org/", Title: "The bridge"}}
	for _, tt := range []struct {
		name, answer string
		want         []string
	}{
		{"one line", "A [1] b [2].\n\nReferences: [1] https://b.org/y [2] Smith 1990", []string{"https://b.org/y", "Smith 1990"}},
		{"numbered list", "A [2] b [1].\n\n## Quellen\n1. [The city](https://c.org)\n2. Jones, *The bridge*", []string{"https://b.org/", "https://c.org"}},
		{"bullets count from 1", "A [2].\n\n**Sources**\n- https://a.org\n- https://b.org", []string{"https://b.org/"}},
		{"last block, the first of one number counts", "A [7].\n\n[7] https://g.org\n[7] https://h.org", []string{"https://g.org"}},
		{"last block without such a mark", "A [2].\n\n[7] https://g.org", []string{"https://b.org/", "", "https://g.org"}},
		{"bare definition", "A [3] b.\n\n[3]: https://c.org\n\nB [4].", []string{"https://c.org", ""}},
		{"footnotes", "A[^2].\n\n[^2]: See https://b.org,\ngoes on [1].", []string{"https://b.org/"}},
		{"definitions", "A [1].\n\n[1]: https://b.org \"B\"", []string{"https://b.org/"}},
		{"ends with another kind", "A [1].\n\n# References\n- https://b.org\n\nB [1].\n\n- C is a [site](https://c.org).", []string{"https://b.org/", "https://b.org/", "https://c.org"}},
		{"steps", "1. Turn the key.\n2. Push [1].", []string{"https://a.org"}},
		{"marks behind a word", "It is red.\n\nSources: [1], [2]", []string{"https://a.org", "https://b.org/"}},
		{"code", "A [1].\n```\n[1]: https://b.org\n```", []string{"https://a.org"}},
		{"two lists of numbers", "A [1], b [2].\n\nSources:\n[1] https://b.org\n[2] https://c.org\n\nNotes follow [3].", []string{"https://b.org/", "https://c.org", ""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			marks, _ := ReadMarks(tt.answer, sources, 1)
			var got []string
			for _, m := range marks {
				got = append(got, m.Doc)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("marks cite %q, want %q", got, tt.want)
			}
		})
	}
}
