package annotations

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"ibid"
	"ibid/dataset/runs"
	"ibid/metrics/stats"
)

// A Mark is what one annotator marked in one item, all texts of the item laid
// one after the other. No units mean that the annotator looked and marked nothing.
type Mark struct {
	Annotator string
	Earlier   bool // the data had it before the round
	Units     []stats.Unit
}

// An Item is a question with what its annotators marked.
type Item struct {
	ID      string
	Row     int64    // position in the input
	Cluster string   // its document: items of one cluster are not independent
	Slices  []string // key=value
	Length  int64    // of all texts, in code points; only if Known
	Known   bool     // the texts are at hand
	Marks   []Mark   // of each annotator who saw it
}

// The sums of an item in one set of annotators and slice, in this order.
const (
	sumJaccard = iota
	sumMarked
	sumUnmarked
	sumMismatched
	nJaccard // pairs that have the value; so on for each mean
	sumExact
	nExact
	sumOverlap
	nOverlap
	sumNothing // items in which nobody marked anything
	sumAlone   // never
	spanWidth
)

// A spanStatistic is a number made of some of the sums.
type spanStatistic struct {
	name string
	estimand
	marks bool // undefined if no annotator marked a span
	whole bool // of all annotators only
}

func optional(n ibid.Number) (float64, bool) { return n.Value, n.Known() }

// decidesMarks is the statistic that decides whether annotators mark alike.
const decidesMarks = "char_jaccard"

var spanStatistics = []spanStatistic{
	{name: decidesMarks, estimand: estimand{columns: []int{sumJaccard, nJaccard}}, marks: true},
	{name: "char_alpha", estimand: estimand{columns: []int{sumMarked, sumUnmarked, sumMismatched}, low: -1, length: true, f: func(s []float64) (float64, bool) {
		return optional(stats.CharTotals{Marked: s[0], Unmarked: s[1], Mismatched: s[2]}.Alpha())
	}}},
	{name: "overlap_f1", estimand: estimand{columns: []int{sumOverlap, nOverlap}}, marks: true, whole: true},
	{name: "exact_f1", estimand: estimand{columns: []int{sumExact, nExact}}, marks: true, whole: true},
}

func columnsFrom(from, to int) []int {
	var out []int
	for c := from; c < to; c++ {
		out = append(out, c)
	}
	return out
}

// A setKey is who is compared in what.
type setKey struct{ annotators, slice string }

// Spans collects what annotators marked. The zero Spans is not ready: see
// [NewSpans]. It is not safe for concurrent use.
type Spans struct {
	options Options
	names   stats.Numbering[string] // of documents
	sets    map[setKey]*itemSums
	perPair map[string]int // sets of two annotators by slice; beyond maxPairs there are none in sets
	people  people
	worst   worst
	unknown int64        // items without texts
	pairs   []scoredPair // of the item that is added
	few     int64        // items with fewer annotators than quality control asks for
	seen    map[uint64]struct{}
}

// NewSpans returns an empty collection.
func NewSpans(o Options) *Spans {
	return &Spans{options: o, sets: make(map[setKey]*itemSums), perPair: make(map[string]int), seen: make(map[uint64]struct{}), people: make(people)}
}

// sort puts annotators and what they marked into one order, so that the same marks
// are the same item whatever order they come in.
func (it *Item) sort() {
	slices.SortStableFunc(it.Marks, func(a, b Mark) int { return cmp.Compare(a.Annotator, b.Annotator) })
	for _, m := range it.Marks {
		slices.SortFunc(m.Units, func(a, b stats.Unit) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End)) })
	}
}

// Add adds an item that two or more annotators saw, and as many as quality control
// asks for; others say nothing about agreement. An item that repeats another (the same id with the same marks, as
// when several systems answered one question) is left out.
func (s *Spans) Add(it *Item) {
	it.sort()
	if len(it.Marks) < 2 || !s.options.Once && s.repeated(it) {
		return
	}
	if !s.options.Quality.enough(len(it.Marks)) {
		s.few++
		return
	}
	marked := stats.Marked{Length: it.Length}
	if !it.Known {
		s.unknown++
		for _, m := range it.Marks {
			for _, u := range m.Units {
				marked.Length = max(marked.Length, u.End)
			}
		}
	}
	for _, m := range it.Marks {
		marked.Annotators = append(marked.Annotators, append([]stats.Unit{}, m.Units...))
	}
	s.pairs = s.pairs[:0]
	second := slices.ContainsFunc(it.Marks, func(m Mark) bool { return m.Earlier })
	marked.Pairs(func(i, j int, p stats.PairScore) {
		if !second || it.Marks[i].Earlier != it.Marks[j].Earlier {
			s.pairs = append(s.pairs, scoredPair{i, j, p})
		}
	})
	if len(s.pairs) == 0 {
		return
	}
	s.add(it, &marked)
	s.people.spans(it, &marked, s.pairs)
	s.worst.span(it, s.pairs, s.options.Worst)
}

// A scoredPair is two annotators of an item, as indices in its marks, and how what they
// marked compares.
type scoredPair struct {
	first, second int
	stats.PairScore
}

func (s *Spans) repeated(it *Item) bool {
	key := stats.Key(it.ID)
	for _, m := range it.Marks {
		key = key*0x100000001b3 ^ stats.Key(m.Annotator)
		for _, u := range m.Units {
			var b [24]byte
			binary.LittleEndian.PutUint64(b[:], key)
			binary.LittleEndian.PutUint64(b[8:], uint64(u.Start))
			binary.LittleEndian.PutUint64(b[16:], uint64(u.End))
			key = stats.Key(string(b[:]))
		}
	}
	_, ok := s.seen[key]
	s.seen[key] = struct{}{}
	return ok
}

// add adds an item to the sums of all annotators and of each two.
func (s *Spans) add(it *Item, marked *stats.Marked) {
	all := make([]float64, spanWidth)
	all[sumNothing] = 1
	of := make([][]float64, len(s.pairs))
	for k := range s.pairs {
		p := &s.pairs[k]
		sums := make([]float64, spanWidth)
		addPair(sums, &p.PairScore)
		if it.Known {
			addTotals(sums, two(marked, p.first, p.second))
		}
		if p.Union() == 0 {
			sums[sumNothing] = 1
		}
		nothing := min(all[sumNothing], sums[sumNothing])
		for c, v := range sums {
			all[c] += v
		}
		of[k], all[sumNothing] = sums, nothing
	}
	if it.Known && len(s.pairs) == len(it.Marks)*(len(it.Marks)-1)/2 { // else of a second look, pair by pair
		clear(all[sumMarked : sumMismatched+1])
		addTotals(all, marked)
	}
	item := sumsOf(&s.names, it.Cluster, all)
	items := slices.Repeat([]*agreedItem{item}, len(of)) // one pair has the same
	for k := range of {
		if len(of) > 1 {
			items[k] = sumsOf(&s.names, it.Cluster, of[k])
		}
	}
	for _, slice := range append([]string{""}, it.Slices...) {
		set := s.set(runs.AllAnnotators, slice)
		set.items = append(set.items, item)
		for k := range s.pairs {
			p := &s.pairs[k]
			if set := s.pair(runs.Pair(it.Marks[p.first].Annotator, it.Marks[p.second].Annotator), slice); set != nil {
				set.items = append(set.items, items[k])
			}
		}
	}
}

// two is what two annotators of an item marked.
func two(m *stats.Marked, i, j int) *stats.Marked {
	return &stats.Marked{Length: m.Length, Annotators: [][]stats.Unit{m.Annotators[i], m.Annotators[j]}}
}

func (s *Spans) set(annotators, slice string) *itemSums {
	key := setKey{annotators, slice}
	set := s.sets[key]
	if set == nil {
		set = &itemSums{names: &s.names}
		s.sets[key] = set
	}
	return set
}

// pair is the set of two annotators, nil if there are too many pairs.
func (s *Spans) pair(annotators, slice string) *itemSums {
	if s.perPair[slice] > maxPairs {
		return nil
	}
	if s.sets[setKey{annotators, slice}] == nil {
		if s.perPair[slice]++; s.perPair[slice] > maxPairs {
			maps.DeleteFunc(s.sets, func(k setKey, _ *itemSums) bool { return k.slice == slice && k.annotators != runs.AllAnnotators })
			return nil
		}
	}
	return s.set(annotators, slice)
}

// addPair adds what two annotators marked.
func addPair(sums []float64, p *stats.PairScore) {
	mean := func(sum, n int, v ibid.Number) {
		if v.Known() {
			sums[sum] += v.Value
			sums[n]++
		}
	}
	mean(sumJaccard, nJaccard, p.Jaccard())
	mean(sumExact, nExact, p.ExactF1())
	mean(sumOverlap, nOverlap, p.OverlapF1())
}

func addTotals(sums []float64, m *stats.Marked) {
	t := m.CharTotals()
	sums[sumMarked] += t.Marked
	sums[sumUnmarked] += t.Unmarked
	sums[sumMismatched] += t.Mismatched
}

// Pairable reports whether some item has two annotators.
func (s *Spans) Pairable() bool { return len(s.sets) > 0 }

// Statistics returns the rows of the collection, sorted.
func (s *Spans) Statistics() []runs.AgreementRow {
	var rows []runs.AgreementRow
	for key, set := range s.sets {
		items, documents := set.counts()
		nothing := set.total(sumNothing)
		for i := range spanStatistics {
			st := &spanStatistics[i]
			if st.whole && key.annotators != runs.AllAnnotators {
				continue
			}
			e := set.estimate(st.estimand, s.options.Level)
			row := runs.AgreementRow{
				Statistic: st.name, Kind: runs.SpanAgreement, Annotators: key.annotators, Slice: key.slice,
				Items: items, Documents: documents,
			}
			fillRow(&row, &e)
			if st.marks && nothing > 0 {
				row.Warnings = append(row.Warnings, fmt.Sprintf("nobody marked anything in %.0f of the items: these have no value", nothing))
			}
			if whole := (setKey{annotators: runs.AllAnnotators}); st.name == decidesMarks && key == whole {
				s.options.Quality.decide(&row, &e, min(row.Documents, row.Items-int64(nothing)))
			}
			rows = append(rows, row)
		}
	}
	runs.SortAgreement(rows)
	return rows
}

// fillRow takes over an estimate.
func fillRow(row *runs.AgreementRow, e *stats.Estimate) {
	row.Level = e.Level
	row.Estimate, row.Low, row.High = e.Nullable()
	row.Method = string(e.Method)
	row.Warnings = append(row.Warnings, stats.Texts(e.Warnings)...)
}

// Warnings are what a reader of all statistics must know.
func (s *Spans) Warnings() []string {
	var out []string
	if s.unknown > 0 {
		out = append(out, fmt.Sprintf("%d items have texts that are not at hand: they count in nothing that is corrected for chance", s.unknown))
	}
	for _, n := range s.perPair {
		if n > maxPairs {
			out = append(out, tooManyPairs())
			break
		}
	}
	if s.few > 0 {
		out = append(out, fewAnnotators(s.few, &s.options.Quality))
	}
	return out
}

func fewAnnotators(items int64, q *Quality) string {
	return fmt.Sprintf("%d items have fewer than %d annotators: left out", items, q.MinAnnotators)
}
