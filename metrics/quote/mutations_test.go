package quote

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"ibid/metrics/token"
)

// realTexts are the texts of the shared data in English and in Chinese, without those that
// are short.
func realTexts(t *testing.T) (english, chinese []string) {
	t.Helper()
	files, _ := filepath.Glob("../../../shared/data/evidence-inference-v2/txt/*.txt")
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if len(b) > 5000 {
			english = append(english, string(b))
		}
	}
	b, err := os.ReadFile("../../../shared/data/cmrc2018/cmrc2018_dev.subset.json")
	if err != nil || len(english) < 20 {
		t.Skip("no shared data")
	}
	var all struct {
		Data []struct{ Paragraphs []struct{ Context string } }
	}
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	for _, d := range all.Data {
		for _, p := range d.Paragraphs {
			if len(p.Context) > 600 && !slices.Contains(chinese, p.Context) {
				chinese = append(chinese, p.Context)
			}
		}
	}
	return english, chinese
}

// A mutation makes a quotation of words of a text, and says what becomes of it. It returns ""
// where it does not apply.
type mutation struct {
	name     string
	want     Outcome
	faithful bool
	make     func(rng *rand.Rand, words, other []string, join string) string
}

func where(words []string, is func(w string) bool) int { return slices.IndexFunc(words, is) }

var mutations = []mutation{
	{"as it stands", Verbatim, true, func(_ *rand.Rand, w, _ []string, join string) string { return strings.Join(w, join) }},
	{"capitals", Normalised, true, func(_ *rand.Rand, w, _ []string, join string) string {
		text := strings.ToUpper(strings.Join(w, join))
		if strings.ContainsFunc(text, unicode.IsLower) || text == strings.Join(w, join) {
			return ""
		}
		return text
	}},
	{"line ends and hyphens", Normalised, true, func(rng *rand.Rand, w, _ []string, join string) string {
		w = slices.Clone(w)
		k := where(w, func(w string) bool {
			return len(w) > 7 && strings.IndexFunc(w, func(r rune) bool { return r < 'a' || r > 'z' }) < 0
		})
		if k < 0 {
			return ""
		}
		w[k] = w[k][:4] + "-\n   " + w[k][4:]
		return strings.Join(w, join)
	}},
	{"quotation marks and dashes", Normalised, true, func(_ *rand.Rand, w, _ []string, join string) string {
		return "“" + strings.Join(w[:3], join) + join + "—" + join + strings.Join(w[3:], join) + "”"
	}},
	{"note marks and emphasis", Normalised, true, func(_ *rand.Rand, w, _ []string, join string) string {
		return strings.Join(w[:4], join) + "[12]" + join + "**" + w[4] + "**" + join + strings.Join(w[5:], join) + "¹"
	}},
	{"a gap", Elided, true, func(_ *rand.Rand, w, _ []string, join string) string {
		n := len(w) / 3
		return strings.Join(w[:n], join) + " … " + strings.Join(w[len(w)-n:], join)
	}},
	{"dots at the ends", Elided, true, func(_ *rand.Rand, w, _ []string, join string) string { return "..." + strings.Join(w, join) + " [...]" }},
	{"a word of another text", Altered, false, func(rng *rand.Rand, w, other []string, join string) string {
		w = slices.Clone(w)
		k := 1 + rng.IntN(len(w)-2)
		if newFold(w[k]).text == newFold(other[0]).text {
			return ""
		}
		w[k] = other[0]
		return strings.Join(w, join)
	}},
	{"another number", Altered, false, func(_ *rand.Rand, w, _ []string, join string) string {
		w = slices.Clone(w)
		k := where(w, func(w string) bool { return strings.IndexFunc(w, func(r rune) bool { return r < '0' || r > '9' }) < 0 })
		if k < 0 {
			return ""
		}
		w[k] += "7"
		return strings.Join(w, join)
	}},
	{"a negation put in", Altered, false, func(_ *rand.Rand, w, _ []string, join string) string {
		word := "not"
		if join == "" {
			word = "不"
		}
		return strings.Join(slices.Insert(slices.Clone(w), len(w)/2, word), join)
	}},
	{"a word left out", Altered, false, func(rng *rand.Rand, w, _ []string, join string) string {
		k := 1 + rng.IntN(len(w)-2)
		if len(newFold(w[k]).words) != 1 || newFold(w[k]).text == newFold(w[k+1]).text || newFold(w[k]).text == newFold(w[k-1]).text {
			return ""
		}
		return strings.Join(slices.Delete(slices.Clone(w), k, k+1), join)
	}},
	{"halves swapped", Stitched, false, func(_ *rand.Rand, w, _ []string, join string) string {
		n := len(w) / 2
		if len(w) < 12 {
			return ""
		}
		return strings.Join(slices.Concat(w[n:], w[:n]), join)
	}},
	{"halves of two texts", Stitched, false, func(_ *rand.Rand, w, other []string, join string) string {
		n := len(w) / 2
		if len(w) < 12 {
			return ""
		}
		return strings.Join(slices.Concat(w[:n], other[:n]), join)
	}},
	{"of another document", Elsewhere, false, func(_ *rand.Rand, _, other []string, join string) string { return strings.Join(other, join) }},
}

// TestSharedMutations makes quotations of stretches of real texts, faithful and false ones, and
// counts what becomes of them. -v prints the table.
func TestSharedMutations(t *testing.T) {
	english, chinese := realTexts(t)
	rng := rand.New(rand.NewPCG(20, 26))
	type counts struct{ made, right, found int }
	table := make(map[string]*counts)
	outcomes := make(map[string]map[Outcome]int)
	invented := counts{}
	for _, set := range []struct {
		texts []string
		join  string
	}{{english, " "}, {chinese, ""}} {
		texts := make([]*Text, len(set.texts))
		for i, s := range set.texts {
			texts[i] = NewText(s)
		}
		cut := func(i, n int) []string { // words of one line of a text, as they are written
			for range 50 {
				var words []string
				at := rng.IntN(len(set.texts[i]))
				line := set.texts[i][at:]
				line, _, _ = strings.Cut(line, "\n")
				if set.join == "" {
					for _, r := range strings.ToValidUTF8(line, "") {
						if token.Unspaced(r) {
							words = append(words, string(r))
						} else if len(words) > 0 {
							break
						}
					}
				} else if words = strings.Fields(line); len(words) > 0 {
					words = words[1:]
				}
				words = words[:min(len(words), n)]
				// A stretch with a gap, a bracket or a sign of its own says less of the rule.
				text := strings.Join(words, set.join)
				if len(words) == n && len(newFold(text).words) == n && !strings.ContainsAny(text, "[]….<>(){}*_") {
					return words
				}
			}
			return nil
		}
		for range 160 {
			i, k := rng.IntN(len(texts)), rng.IntN(len(texts)-1)
			if k >= i {
				k++
			}
			n := 12 + rng.IntN(14)
			w, other := cut(i, n), cut(k, n)
			if w == nil || other == nil {
				continue
			}
			s := &Search{Cited: []Source{{Doc: "cited", Text: texts[i]}}, Others: []Source{{Doc: "other", Text: texts[k]}}}
			for _, m := range mutations {
				q := m.make(rng, w, other, set.join)
				if q == "" {
					continue
				}
				if table[m.name] == nil {
					table[m.name], outcomes[m.name] = &counts{}, make(map[Outcome]int)
				}
				r, c := Check(q, s), table[m.name]
				c.made++
				outcomes[m.name][r.Outcome]++
				if r.Outcome.Faithful() {
					c.found++
				}
				if r.Outcome == m.want || m.faithful && r.Outcome.Faithful() {
					c.right++
				} else if testing.Verbose() && c.made-c.right < 3 {
					t.Logf("%s: %v %q: %q", m.name, r.Outcome, r.Difference(), q)
				}
			}
			// A stretch of a third text, against these two.
			if j := (max(i, k) + 1) % len(texts); j != i && j != k {
				if q := cut(j, n); q != nil {
					r := Check(strings.Join(q, set.join), s)
					invented.made++
					if r.Outcome == Nowhere {
						invented.right++
					}
					if r.Outcome.Faithful() {
						invented.found++
					}
				}
			}
		}
	}
	var faithful, faithfulFound, wrong, wrongFaithful, right, all int
	for _, m := range mutations {
		c := table[m.name]
		if c == nil {
			t.Fatalf("%s: none was made", m.name)
		}
		t.Logf("%-28s %4d made, %4d right, %4d faithful %v", m.name, c.made, c.right, c.found, outcomes[m.name])
		all, right = all+c.made, right+c.right
		if m.faithful {
			faithful, faithfulFound = faithful+c.made, faithfulFound+c.found
		} else {
			wrong, wrongFaithful = wrong+c.made, wrongFaithful+c.found
		}
	}
	t.Logf("%d faithful, %d found; %d false, %d called faithful; %d of %d in their class; invented %+v", faithful, faithfulFound, wrong, wrongFaithful, right, all, invented)
	for _, share := range []struct {
		what    string
		n, of   int
		atLeast float64
	}{
		{"faithful ones found", faithfulFound, faithful, .995},
		{"false ones not called faithful", wrong - wrongFaithful, wrong, .997},
		{"right class", right, all, .99},
		{"invented ones nowhere", invented.right, invented.made, .95},
		{"invented ones not faithful", invented.made - invented.found, invented.made, 1},
	} {
		if got := float64(share.n) / float64(share.of); got < share.atLeast || share.of < 100 {
			t.Errorf("%s: %d of %d", share.what, share.n, share.of)
		}
	}
}
