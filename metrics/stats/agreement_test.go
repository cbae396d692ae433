package stats

import (
	"encoding/json"
	"slices"
	"testing"

	"ibid"
)

type ratingsCase struct {
	Ratings    [][]*float64
	A, B       []*float64
	Categories []float64
	Level      json.RawMessage // of measurement, or of confidence
	Weights    Weights
}

// tally sums the units of a case over its categories, or those that occur.
func (c *ratingsCase) tally(categories []float64) (*Tally, []float64) {
	if categories == nil {
		for _, rater := range c.Ratings {
			for _, v := range rater {
				if v != nil && !slices.Contains(categories, *v) {
					categories = append(categories, *v)
				}
			}
		}
	}
	slices.Sort(categories)
	t := NewTally(len(categories))
	for u := range c.Ratings[0] {
		counts := make([]int, len(categories))
		for _, rater := range c.Ratings {
			if v := rater[u]; v != nil {
				counts[slices.Index(categories, *v)]++
			}
		}
		t.Add(counts)
	}
	return t, categories
}

var labelOracles = map[string]oracle{
	"percent_agreement": func(t *testing.T, input, options json.RawMessage) any {
		c := decode[ratingsCase](t, input, options)
		tally, _ := c.tally(nil)
		return object{"value": tally.Percent(), "n_units": tally.Units()}
	},
	"gwet_ac1": func(t *testing.T, input, options json.RawMessage) any {
		c := decode[ratingsCase](t, input, options)
		tally, _ := c.tally(c.Categories)
		k := tally.AC1()
		return object{"ac1": k.Value, "p_a": k.Observed, "p_e": k.Expected}
	},
	"krippendorff_alpha": func(t *testing.T, input, options json.RawMessage) any {
		c := decode[ratingsCase](t, input, options)
		tally, values := c.tally(nil)
		return object{"alpha": tally.Alpha(decode[Scale](t, c.Level), values)}
	},
	"cohen_kappa": func(t *testing.T, input, options json.RawMessage) any {
		c := decode[ratingsCase](t, input, options)
		table := NewContingency(len(c.Categories))
		for i, a := range c.A {
			if b := c.B[i]; a != nil && b != nil {
				table.Add(slices.Index(c.Categories, *a), slices.Index(c.Categories, *b))
			}
		}
		k := table.Kappa(c.Weights)
		return object{"kappa": k.Value, "p_o": k.Observed, "p_e": k.Expected, "n": k.N}
	},
}

type spansCase struct {
	Length     int64
	Annotators []json.RawMessage
	Documents  []spansCase
}

// marked turns spans [start, end, category] into units; categories are numbered
// as they come. A null annotator stays nil.
func (c *spansCase) marked(t *testing.T, categories map[string]int) *Marked {
	m := &Marked{Length: c.Length}
	for _, raw := range c.Annotators {
		var units []Unit
		var spans [][]any
		if err := json.Unmarshal(raw, &spans); err != nil {
			t.Fatal(err)
		}
		if spans != nil {
			units = []Unit{}
		}
		for _, s := range spans {
			name := s[2].(string)
			if categories[name] == 0 {
				categories[name] = len(categories) + 1
			}
			units = append(units, Unit{int64(s[0].(float64)), int64(s[1].(float64)), categories[name]})
		}
		m.Annotators = append(m.Annotators, units)
	}
	return m
}

// A meanOver is the mean of defined values, and their number.
type meanOver struct{ sum, n float64 }

func (m *meanOver) add(v ibid.Number) {
	if v.Known() {
		m.sum += v.Value
		m.n++
	}
}

func (m *meanOver) into(o object, name string) {
	o["mean_"+name], o["n_"+name] = FractionOf(m.sum, m.n), m.n
}

var spanOracles = map[string]oracle{
	"pair_char": func(t *testing.T, input, options json.RawMessage) any {
		c := decode[spansCase](t, input)
		pairs := []object{}
		c.marked(t, map[string]int{}).Pairs(func(i, j int, p PairScore) {
			pairs = append(pairs, object{
				"i": i, "j": j, "inter": p.Both, "union": p.Union(), "jaccard": p.Jaccard(), "dice": p.Dice(),
				"percent": p.Percent(), "kappa": p.Kappa(), "ac1": p.AC1(),
			})
		})
		return object{"pairs": pairs}
	},
	"mean_pairwise": func(t *testing.T, input, options json.RawMessage) any {
		c := decode[spansCase](t, input)
		var jaccard, dice, kappa, exact, overlap meanOver
		pairs := 0
		c.marked(t, map[string]int{}).Pairs(func(_, _ int, p PairScore) {
			pairs++
			jaccard.add(p.Jaccard())
			dice.add(p.Dice())
			kappa.add(p.Kappa())
			exact.add(p.ExactF1())
			overlap.add(p.OverlapF1())
		})
		out := object{"n_pairs": pairs}
		jaccard.into(out, "jaccard")
		dice.into(out, "dice")
		kappa.into(out, "kappa")
		exact.into(out, "exact_f1")
		overlap.into(out, "overlap_f1")
		return out
	},
	"char_alpha": func(t *testing.T, input, options json.RawMessage) any {
		c := decode[spansCase](t, input)
		var sum CharTotals
		for _, d := range c.Documents {
			sum.Add(d.marked(t, map[string]int{}).CharTotals())
		}
		return object{"alpha": sum.Alpha(), "n_documents_used": sum.Texts}
	},
	"corpus": func(t *testing.T, input, options json.RawMessage) any {
		c := decode[spansCase](t, input)
		var sum CharTotals
		var macro meanOver
		var inter, all, pairs float64
		for _, d := range c.Documents {
			m := d.marked(t, map[string]int{})
			sum.Add(m.CharTotals())
			m.Pairs(func(_, _ int, p PairScore) {
				pairs++
				macro.add(p.Jaccard())
				inter += float64(p.Both)
				all += float64(p.Union())
			})
		}
		return object{
			"macro_jaccard": FractionOf(macro.sum, macro.n), "n_defined": macro.n, "n_pairs": pairs,
			"micro_jaccard": FractionOf(inter, all), "char_alpha": sum.Alpha(),
		}
	},
}

// FuzzCharTotals counts character by character instead of by stretches.
func FuzzCharTotals(f *testing.F) {
	f.Add([]byte{0, 5, 3, 9}, []byte{4, 8}, []byte{})
	f.Add([]byte{0, 20}, []byte{}, []byte{7, 7, 9, 3})
	f.Fuzz(func(t *testing.T, a, b, c []byte) {
		const length = 40
		m := &Marked{Length: length, Annotators: [][]Unit{unitsOf(a), unitsOf(b), unitsOf(c)}}
		var want CharTotals
		want.Texts = 1
		for i := range int64(length) {
			k := 0.0
			for _, units := range m.Annotators {
				if slices.ContainsFunc(units, func(u Unit) bool { return u.Start <= i && i < u.End }) {
					k++
				}
			}
			want.Add(CharTotals{Marked: k, Unmarked: 3 - k, Mismatched: k * (3 - k) / 2})
		}
		if got := m.CharTotals(); got != want {
			t.Errorf("CharTotals() = %v, want %v", got, want)
		}
		m.Pairs(func(i, j int, p PairScore) {
			var want CharPair
			for x := range int64(length) {
				in := func(k int) bool {
					return slices.ContainsFunc(m.Annotators[k], func(u Unit) bool { return u.Start <= x && x < u.End })
				}
				switch {
				case in(i) && in(j):
					want.Both++
				case in(i):
					want.First++
				case in(j):
					want.Second++
				default:
					want.Neither++
				}
			}
			if p.CharPair != want {
				t.Errorf("pair %d, %d = %v, want %v", i, j, p.CharPair, want)
			}
		})
	})
}

// unitsOf reads pairs of bytes as units, some of which are empty or run beyond
// the text.
func unitsOf(data []byte) []Unit {
	units := []Unit{}
	for i := 0; i+1 < len(data) && i < 12; i += 2 {
		units = append(units, Unit{int64(data[i]) % 44, int64(data[i+1]) % 44, 1})
	}
	return units
}
