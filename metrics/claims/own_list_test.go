package claims

import (
	"slices"
	"strings"
	"testing"

	"ibid"
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

// TestWholeAnswer: sources that are listed at the end and nowhere else are cited by the answer as a
// whole; a list beside marks is none, nor is one of names that no source has.
func TestWholeAnswer(t *testing.T) {
	sources := []Cited{{Doc: "tower.md"}, {Doc: "https://a.org/x"}}
	for answer, want := range map[string]string{
		"It opened.\n\nSources: [1], [2]":                "tower.md https://a.org/x",
		"It opened.\n\nSources: Document 1, Document 2":  "tower.md https://a.org/x",
		"It opened.\n\n**Source:** tower.md":             "tower.md",
		"It opened.\n\nSources: tower.md, other.md":      "",
		"It opened.\n\nSources:\n- tower.md\n- Somebody": "tower.md",
		"It opened.\n\nSources:\n1. https://a.org/x":     "https://a.org/x",
		"It opened.\n\n(Source: tower.md)":               "tower.md",
		"It opened.\n[1] [2]":                            "tower.md https://a.org/x",
		"It opened [2].\n\nSources: [1]":                 "no",
		"It opened.\n\nAs [1] has it.":                   "no",
		"[1]":                                            "no",
	} {
		marks, _ := ReadMarks(answer, sources, 1)
		var got []string
		for _, m := range marks {
			if got = append(got, m.Doc); !m.Whole {
				got = []string{"no"}
				break
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: cites %q, want %q", answer, got, want)
		}
	}
}

// TestListsApart: what stands between two lists of references is text.
func TestListsApart(t *testing.T) {
	cut := NewCutter(Options{Phrases: NewPhrases(Phrases{})}).Cut(&ibid.Answer{Answer: "[^1]: https://a.org/x\n\nCats sleep.\n\n[^2]: https://b.org/y"})
	if len(cut.List) != 1 || cut.List[0].Text != "Cats sleep." {
		t.Errorf("claims %+v", cut.List)
	}
}

// TestNamelessSources: an entry of the answer's own list is the source at its number if that has
// no name which could be the entry's.
func TestNamelessSources(t *testing.T) {
	for _, sources := range [][]Cited{{{Doc: "1"}, {Doc: "2"}}, {{}, {}}} {
		marks, _ := ReadMarks("It opened [2].\n\nSources:\n[1] height.md\n[2] tower.md", sources, 1)
		if len(marks) != 1 || marks[0].Source != 1 {
			t.Errorf("%+v: %+v", sources, marks)
		}
	}
	marks, _ := ReadMarks("It opened [2].\n\nSources:\n[1] height.md\n[2] tower.md", []Cited{{Doc: "a"}, {Doc: "b"}}, 1)
	if len(marks) != 1 || marks[0].Source != -1 {
		t.Errorf("%+v", marks)
	}
}

// TestPlainLabels: a word such as "answer" says nothing beside a sentence.
func TestPlainLabels(t *testing.T) {
	for answer, want := range map[string]string{
		`{"answer": "It opened in 1889.", "open": true}`: "It opened in 1889.|open: true",
		`{"answer": true}`: "answer: true",
		"| Fact | Year |\n|---|---|\n| The tower opened. | 1889 |": "The tower opened.; Year: 1889",
	} {
		var got []string
		for _, c := range NewCutter(Options{Phrases: NewPhrases(Phrases{})}).Cut(&ibid.Answer{Answer: answer}).List {
			got = append(got, c.Text)
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%q: %q, want %q", answer, got, want)
		}
	}
}
