package presence

import (
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestReferences(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string // kind and text
	}{
		{"nothing", "No links. [1] [1,2] [1-3] 【2†L1】 ^4 (2020) f(2020) 10.1000/xyz", nil},
		{"URL", "See https://x.org/a?b=c#d, then HTTP://Y.org/.", []string{"url https://x.org/a?b=c#d", "url HTTP://Y.org/"}},
		{"no host", "https:// https://. www. www.. ftp://x.org", nil},
		{"www", "awww.cute www.x.org", []string{"url www.cute", "url www.x.org"}},
		{"www in a URL is no other", "https://www.x.org", []string{"url https://www.x.org"}},
		{"parentheses", "(https://x.org/Go_(game)) (see https://x.org/a).", []string{"url https://x.org/Go_(game)", "url https://x.org/a"}},
		{
			"quoted, linked, in code", "'https://a.b' [t](https://c.d) <https://e.f> `https://g.h`",
			[]string{"url https://a.b", "url https://c.d", "url https://e.f", "url https://g.h"},
		},
		{"white space of other scripts", "https://a.b/x\u3000次 https://c.d\u00a0e", []string{"url https://a.b/x", "url https://c.d"}},
		{"DOI", "doi:10.1000/182, DOI: 10.1/(a)b", []string{"doi doi:10.1000/182", "doi DOI: 10.1/(a"}},
		{"no DOI", "doi: see below, todoi:10.1000/1, doi:., doi:10.1000, doi:10./x, doi:10.5/", nil},
		{"DOI in a URL", "https://x.org/doi:10.1000/1", []string{"url https://x.org/doi:10.1000/1"}},
		{
			"author and year", "(Smith, 2020) (smith 2020) (Smith et al., 2023) (García, ２０２０) (王小明, 2020) (Smith, 2020a) (Smith, n.d.)",
			[]string{
				"author_year (Smith, 2020)", "author_year (smith 2020)", "author_year (Smith et al., 2023)",
				"author_year (García, ２０２０)", "author_year (王小明, 2020)", "author_year (Smith, 2020a)", "author_year (Smith, n.d.)",
			},
		},
		{"space after the parenthesis", "( Smith, 2020) (\tSmith, 2020) (\u00a0Smith et al., 2020) (Smith, 2020 )", []string{"author_year (Smith, 2020 )"}},
		{
			"several authors", "(Smith & Jones, 2020) (Smith, Jones, and Kim 2020) (O'Brien, 2020; see van der Berg, 2021, pp. 5-7)",
			[]string{
				"author_year (Smith & Jones, 2020)", "author_year (Smith, Jones, and Kim 2020)",
				"author_year (O'Brien, 2020; see van der Berg, 2021, pp. 5-7)",
			},
		},
		{
			"organisation", "(World Health Organization, 2020) (e.g., WHO, 2019, 2020)",
			[]string{"author_year (World Health Organization, 2020)", "author_year (e.g., WHO, 2019, 2020)"},
		},
		{
			"in the sentence", "As Smith (2020), Kim and Lee (2021) and Vaswani et al. (2017, p. 3) show",
			[]string{"author_year Smith (2020)", "author_year Kim and Lee (2021)", "author_year Vaswani et al. (2017, p. 3)"},
		},
		{"no author", "(May 2024) (in 2020) (Figure 2020) (since early 2020) In (2020) (a 2020) (Smith, 20200) (over 1000 men) (Smith, 2020; none)", nil},
		{"place", "é [a.pdf:5:1-2,3-4] [a.pdf:5:1-]", []string{"place [a.pdf:5:1-2,3-4]"}},
		{"in order", "(Kim, 2020) https://x.org [a:1:2-3] doi:10.1/x", []string{
			"author_year (Kim, 2020)", "url https://x.org", "place [a:1:2-3]", "doi doi:10.1/x",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, r := range References(tt.text) {
				got = append(got, r.Kind.String()+" "+r.Text)
				if own := slice(tt.text, r.Start, r.End); own != r.Text {
					t.Errorf("characters %d-%d are %q, not %q", r.Start, r.End, own, r.Text)
				}
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("References(%q)\n got %q\nwant %q", tt.text, got, tt.want)
			}
			if got := hasReference(tt.text); got != (len(tt.want) > 0) {
				t.Errorf("hasReference(%q) = %v", tt.text, got)
			}
		})
	}
}

func FuzzReferences(f *testing.F) {
	for _, seed := range []string{
		"See https://x.org/Go_(game)). www.x.org doi:10.1/x (Smith & Kim, 2020; Lee, n.d.) Kim et al. (2020) [a:1:2-3]",
		"\xff(ſmith, 2020) httpſ://é\u3000 www.. doi:\n10.1000/5", "(A,B,and C 2020) and & (2020)",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		refs := References(text)
		if hasReference(text) != (len(refs) > 0) {
			t.Fatalf("hasReference(%q) = %v, references %+v", text, hasReference(text), refs)
		}
		last := 0
		for _, r := range refs {
			if r.Start < last || r.End <= r.Start || slice(text, r.Start, r.End) != r.Text {
				t.Fatalf("%+v is out of order or place in %q", r, text)
			}
			last = r.End
		}
		if last > utf8.RuneCountInString(text) {
			t.Fatalf("a reference ends behind %q", text)
		}
	})
}

func BenchmarkHasReference(b *testing.B) {
	texts := map[string]string{
		"plain":       strings.Repeat("The company reported ten million in revenue for the first quarter [1]. ", 14),
		"parentheses": strings.Repeat("The company reported ten million (in 2020) in revenue: a record [1]. ", 14),
	}
	for name, text := range texts {
		b.Run("text="+name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				hasReference(text)
			}
		})
	}
}

// slice returns the code points start to end of text, its bytes unchanged.
func slice(text string, start, end int) string {
	at, from := 0, len(text)
	for i := range text {
		if at == start {
			from = i
		}
		if at == end {
			return text[from:i]
		}
		at++
	}
	return text[from:]
}
