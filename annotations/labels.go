package annotations

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"ibid/dataset/runs"
)

// maxCategories is how many different values labels may have to be taken for
// categories. Beyond it they are measurements.
const maxCategories = 25

// A Rating is what one annotator said of an item. An annotator without a name is
// somebody else in every rating.
type Rating struct {
	Annotator string `json:"annotator"`
	Value     string `json:"value"`
	Earlier   bool   `json:"-"` // the data had it before the round
}

// A Judged item is one question that annotators answered: does this support that
// claim?
type Judged struct {
	ID      string
	Verdict VerdictKey // what a judge would call it
	Row     int64      // position in the input, -1 if it has none
	Kind    string     // of the question, "" if there is one only
	Cluster string     // its document
	Slices  []string   // key=value
	Ratings []Rating
}

// Labels collects what annotators said of items. See [NewLabels]. It is not safe
// for concurrent use.
type Labels struct {
	options  Options
	codeBook []string // values that annotators could give, also if nobody did
	items    []Judged
	repeated int64
	crowded  bool // there are too many pairs of annotators to compare two by two
	people   people
	worst    worst
}

// NewLabels returns an empty collection. codeBook are the values that annotators
// could give; those that occur are added. What nobody could have said must not
// be in it: some coefficients depend on the number of categories.
func NewLabels(o Options, codeBook []string) *Labels {
	l := &Labels{options: o, people: make(people)}
	for _, v := range codeBook {
		if v = canonical(v); !slices.Contains(l.codeBook, v) {
			l.codeBook = append(l.codeBook, v)
		}
	}
	return l
}

// Add adds an item. Of several ratings by one annotator the first counts. An item
// with one rating tells how often values are used. Values that are the same number
// are the same value, however they are written.
func (l *Labels) Add(it Judged) {
	seen := make(map[string]bool, len(it.Ratings))
	kept := make([]Rating, 0, len(it.Ratings))
	for _, r := range it.Ratings {
		if r.Annotator != "" && seen[r.Annotator] {
			l.repeated++
			continue
		}
		seen[r.Annotator] = true
		r.Value = canonical(r.Value)
		kept = append(kept, r)
	}
	if len(kept) == 0 {
		return
	}
	slices.SortStableFunc(kept, func(a, b Rating) int {
		return cmp.Or(cmp.Compare(a.Annotator, b.Annotator), cmp.Compare(a.Value, b.Value))
	})
	it.Ratings = kept
	l.items = append(l.items, it)
}

// Questions are those that people answered.
func (l *Labels) Questions() map[VerdictKey]bool {
	out := make(map[VerdictKey]bool, len(l.items))
	for i := range l.items {
		out[l.items[i].Verdict] = true
	}
	return out
}

// Pairable reports whether some item has two ratings, and as many as quality
// control asks for.
func (l *Labels) Pairable() bool {
	return slices.ContainsFunc(l.items, func(it Judged) bool { return l.options.Quality.enough(len(it.Ratings)) })
}

// few reports whether an item has ratings to compare, but not as many as quality
// control asks for.
func (l *Labels) few(it *Judged) bool {
	return len(it.Ratings) > 1 && !l.options.Quality.enough(len(it.Ratings))
}

// note adds an item to what is known of its annotators, and to the worst ones.
func (l *Labels) note(it *Judged) {
	if !l.options.Quality.enough(len(it.Ratings)) {
		return
	}
	count := make(map[string]float64)
	for _, r := range it.Ratings {
		count[r.Value]++
	}
	values, all := slices.Sorted(maps.Keys(count)), float64(len(it.Ratings))
	var agree float64
	pairs := all * (all - 1)
	second := isSecond(it.Ratings)
	if second {
		pairs = 0
	}
	for _, r := range it.Ratings {
		others := count
		if second {
			others = map[string]float64{r.Value: 1} // the rating itself
			for _, o := range it.Ratings {
				if o.Earlier != r.Earlier {
					others[o.Value]++
					pairs++
				}
			}
		}
		agree += others[r.Value] - 1
		if r.Annotator == "" {
			continue
		}
		person := l.people.of(r.Annotator)
		person.labels++
		others[r.Value]-- // the others'
		for _, v := range values {
			person.label(r.Value, v, others[v])
		}
		others[r.Value]++
	}
	if agree == pairs {
		return
	}
	d := Disagreement{Kind: runs.LabelAgreement, ID: it.ID, Row: it.Row, Agreement: agree / pairs, Said: it.Ratings, Verdict: it.Verdict, spread: spreadOf(it.Ratings)}
	if l.worst.wants(&d, l.options.Worst) {
		l.worst.add(d, l.options.Worst)
	}
}

// spreadOf is how far values lie apart; 0 if some value is no number.
func spreadOf(ratings []Rating) float64 {
	low, high := math.Inf(1), math.Inf(-1)
	for _, r := range ratings {
		v, err := parseNumber(r.Value)
		if err != nil {
			return 0
		}
		low, high = min(low, v), max(high, v)
	}
	return high - low
}

// label compares an own value with that of some others.
func (s *personSums) label(own, other string, others float64) {
	s.compare += others
	if own == other {
		s.agree += others
	}
	x, errX := parseNumber(own)
	y, errY := parseNumber(other)
	if errX == nil && errY == nil {
		s.leaning += others * (x - y)
		s.leanings += others
	}
}

// A scale is the values of one kind of question, in order.
type scale struct {
	values  []string
	index   map[string]int
	numbers []float64 // of values; nil if some value is no number
}

// scale finds the values of a kind.
func (l *Labels) scale(kind string) *scale {
	index := make(map[string]int)
	for _, v := range l.codeBook {
		index[v] = 0
	}
	for i := range l.items {
		if l.items[i].Kind != kind {
			continue
		}
		for _, r := range l.items[i].Ratings {
			index[r.Value] = 0
		}
	}
	s := &scale{values: slices.Sorted(maps.Keys(index)), index: index}
	for _, v := range s.values {
		x, err := parseNumber(v)
		if err != nil {
			s.numbers = nil
			break
		}
		s.numbers = append(s.numbers, x)
	}
	if s.numbers != nil {
		slices.SortFunc(s.values, func(a, b string) int { return cmp.Compare(number(a), number(b)) })
		slices.Sort(s.numbers)
	} else if len(l.codeBook) == len(s.values) {
		s.values = l.codeBook // in the order that was given
	}
	for i, v := range s.values {
		index[v] = i
	}
	return s
}

// number is the number that a value is known to be.
func number(value string) float64 {
	x, _ := parseNumber(value)
	return x
}

// parseNumber reads a finite number.
func parseNumber(value string) (float64, error) {
	x, err := strconv.ParseFloat(value, 64)
	if err == nil && (math.IsNaN(x) || math.IsInf(x, 0)) {
		return 0, strconv.ErrRange
	}
	return x, err
}

// canonical writes a value in one way if it is a number: 1 and 1.0 are no two
// opinions.
func canonical(value string) string {
	if x, err := parseNumber(value); err == nil {
		return Value(x)
	}
	return value
}

// ordered reports whether the values have an order that says more than alike or
// not.
func (s *scale) ordered(codeBook []string) bool {
	return len(s.values) > 2 && (s.numbers != nil || len(codeBook) == len(s.values))
}

// Statistics returns the rows of the collection, sorted.
func (l *Labels) Statistics() []runs.AgreementRow {
	var rows []runs.AgreementRow
	kinds := make(map[string][]int)
	for i := range l.items {
		if !l.few(&l.items[i]) {
			kinds[l.items[i].Kind] = append(kinds[l.items[i].Kind], i)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		s := l.scale(kind)
		bySlice := make(map[string][]int)
		for _, i := range kinds[kind] {
			for _, slice := range l.items[i].slices() {
				bySlice[slice] = append(bySlice[slice], i)
			}
		}
		for _, slice := range slices.Sorted(maps.Keys(bySlice)) {
			rows = append(rows, l.ofSlice(s, slice, bySlice[slice])...)
		}
	}
	runs.SortAgreement(rows)
	return rows
}

// slices are those that the item counts in: its kind, alone and with each tag.
func (j *Judged) slices() []string {
	base := ""
	if j.Kind != "" {
		base = "kind=" + j.Kind
	}
	out := []string{base}
	for _, slice := range j.Slices {
		if base != "" {
			slice = base + "," + slice
		}
		out = append(out, slice)
	}
	return out
}

// ofSlice measures the agreement on some items: of all, and of each two.
func (l *Labels) ofSlice(s *scale, slice string, items []int) []runs.AgreementRow {
	if !slices.ContainsFunc(items, func(i int) bool { return len(l.items[i].Ratings) > 1 }) {
		return nil
	}
	all := newLabelSet(s)
	for _, i := range items {
		all.add(l.items[i].Cluster, l.items[i].Ratings)
	}
	rows := all.rows(l, runs.AllAnnotators, slice, false)
	for two, set := range l.pairs(s, items) {
		rows = append(rows, set.rows(l, runs.Pair(two[0], two[1]), slice, true)...)
	}
	return rows
}

// pairs are what each two annotators said; nil if there are too many of them.
func (l *Labels) pairs(s *scale, items []int) map[[2]string]*labelSet {
	pairs := make(map[[2]string]*labelSet)
	for _, i := range items {
		it := &l.items[i]
		second := isSecond(it.Ratings)
		for a := range it.Ratings {
			for b := a + 1; b < len(it.Ratings); b++ {
				two := [2]string{it.Ratings[a].Annotator, it.Ratings[b].Annotator}
				if two[0] == "" || two[1] == "" || !compared(second, &it.Ratings[a], &it.Ratings[b]) {
					continue
				}
				if pairs[two] == nil {
					if len(pairs) == maxPairs {
						l.crowded = true
						return nil
					}
					pairs[two] = newLabelSet(s)
				}
				pairs[two].add(it.Cluster, []Rating{it.Ratings[a], it.Ratings[b]})
			}
		}
	}
	return pairs
}

// compared reports whether two ratings of an item are compared: in a second look one of the
// round with one of before, else any two.
func compared(second bool, a, b *Rating) bool { return !second || a.Earlier != b.Earlier }

// isSecond reports whether ratings are those of a second look.
func isSecond(ratings []Rating) bool {
	return slices.ContainsFunc(ratings, func(r Rating) bool { return r.Earlier })
}

// lookAlikes are warnings of values that differ in case or in space around them only: they
// count as different.
func (l *Labels) lookAlikes() (out []string) {
	first := make(map[string]string)
	values := make(map[string]bool)
	for i := range l.items {
		for _, r := range l.items[i].Ratings {
			values[r.Value] = true
		}
	}
	for _, v := range slices.Sorted(maps.Keys(values)) {
		plain := strings.ToLower(strings.TrimSpace(v))
		if other, there := first[plain]; there {
			out = append(out, fmt.Sprintf("the values %q and %q count as different", other, v))
		} else {
			first[plain] = v
		}
	}
	return out
}

// Warnings are what a reader of all statistics must know, once they are made.
func (l *Labels) Warnings() []string {
	var out []string
	if l.repeated > 0 {
		out = append(out, fmt.Sprintf("%d labels repeat one that the same annotator gave of the same item: the first counts", l.repeated))
	}
	few := int64(0)
	for i := range l.items {
		if l.few(&l.items[i]) {
			few++
		}
	}
	out = append(out, l.lookAlikes()...)
	if l.crowded {
		out = append(out, tooManyPairs())
	}
	if few > 0 {
		out = append(out, fewAnnotators(few, &l.options.Quality))
	}
	return out
}
