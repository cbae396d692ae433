package compare

import (
	"cmp"
	"slices"

	"ibid/metrics"
	"ibid/metrics/stats"
)

// A rowSet is the rows of one side.
type rowSet struct {
	run    *Run
	rows   []int32 // places in the file, ascending
	system string

	kept *units // see units
}

// units are rows, or pairs, by question, with the documents that they touch.
type units struct {
	*stats.Rows
	keys []uint64 // of the documents, by number
}

// units are the rows by question, with the documents that they touch.
func (s *rowSet) units() *units {
	if s.kept == nil {
		s.kept = unitsOf(s, nil, nil)
	}
	return s.kept
}

// unitsOf are rows by question, with the documents that they and the rows beside them in
// another run touch.
func unitsOf(s *rowSet, other *Run, second []int32) *units {
	var numbers stats.Numbering[uint64]
	documents := new(stats.Documents)
	for at, row := range s.rows {
		if other != nil {
			documents.Touch(numbers.Numbers(other.touched(second[at])...)...)
		}
		documents.Add(numbers.Numbers(s.run.touched(row)...)...)
	}
	var questions []uint64
	if !s.alone() {
		for _, row := range s.rows {
			questions = append(questions, s.run.questions[row])
		}
	}
	return &units{stats.NewRows(questions, documents), numbers.Names}
}

// side selects the rows of a system, or of all those in keep if system is "".
func side(r *Run, system string, keep map[string]bool) *rowSet {
	s := &rowSet{run: r, system: system}
	if system != "" {
		s.rows = r.rowsOf(system)
		return s
	}
	kept := make([]bool, len(r.sides.names))
	for code, name := range r.sides.names {
		kept[code] = keep == nil || keep[name]
	}
	s.rows = make([]int32, 0, len(r.questions))
	for row, code := range r.sides.codes {
		if code < 0 && keep == nil || code >= 0 && kept[code] {
			s.rows = append(s.rows, int32(row))
		}
	}
	return s
}

// question is the key of what a row of the side is paired by: its id, and its system,
// too, where the side has several. Two of a million questions have the same key with a
// chance below 3e-8.
func (s *rowSet) question(row int32) uint64 {
	if s.system != "" {
		return s.run.questions[row]
	}
	return s.run.answer(row)
}

// alone reports whether each row is of a question of its own: a system answers one once.
func (s *rowSet) alone() bool { return s.system != "" || len(s.run.systems.names) == 1 }

// A pairing is two sides and which of their rows belong together.
type pairing struct {
	base, other *rowSet
	paired      bool    // some question is shared
	first       *rowSet // rows of the base that have a counterpart
	second      []int32 // row of the other side for each
	onlyBase    []int32
	onlyOther   []int32
	kept        *units      // see units
	offsets     *Difference // of offset_accuracy; nil until it is asked for
}

// units are the pairs by question, with the documents that either row touches.
func (p *pairing) units() *units {
	if p.kept == nil {
		p.kept = unitsOf(p.first, p.other.run, p.second)
	}
	return p.kept
}

// pair pairs rows by id, and by system, too, where both sides have all of theirs. Runs
// over the same dataset have their rows in one order, so that this is one pass; only
// what comes after the first difference is sorted.
func pair(base, other *rowSet) *pairing {
	p := &pairing{base: base, other: other, first: &rowSet{run: base.run, system: base.system}}
	same := 0
	for same < min(len(base.rows), len(other.rows)) && base.question(base.rows[same]) == other.question(other.rows[same]) {
		same++
	}
	if same == len(base.rows) && same == len(other.rows) {
		p.first, p.second, p.paired = base, other.rows, same > 0
		return p
	}
	counterpart := match(base, other, same)
	p.first.rows = append(make([]int32, 0, len(base.rows)), base.rows[:same]...)
	p.second = append(make([]int32, 0, len(base.rows)), other.rows[:same]...)
	taken := make([]bool, len(other.rows)-same)
	for i, at := range counterpart {
		if row := base.rows[same+i]; at >= 0 {
			p.first.rows, p.second = append(p.first.rows, row), append(p.second, other.rows[same+int(at)])
			taken[at] = true
		} else {
			p.onlyBase = append(p.onlyBase, row)
		}
	}
	for i, row := range other.rows[same:] {
		if !taken[i] {
			p.onlyOther = append(p.onlyOther, row)
		}
	}
	p.paired = len(p.second) > 0
	return p
}

// match says for each row of the base from the position on which row of the other side
// it belongs to, counted from there; -1 is none.
func match(base, other *rowSet, from int) []int32 {
	a, b := sortedQuestions(base, from), sortedQuestions(other, from)
	counterpart := make([]int32, len(a))
	for i := range counterpart {
		counterpart[i] = -1
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch c := cmp.Compare(a[i].question, b[j].question); {
		case c < 0:
			i++
		case c > 0:
			j++
		default:
			counterpart[a[i].at] = b[j].at
			i, j = i+1, j+1
		}
	}
	return counterpart
}

// An asked question is one with the position of its row.
type asked struct {
	question uint64
	at       int32
}

func sortedQuestions(s *rowSet, from int) []asked {
	all := make([]asked, 0, len(s.rows)-from)
	for i, row := range s.rows[from:] {
		all = append(all, asked{s.question(row), int32(i)})
	}
	slices.SortFunc(all, func(a, b asked) int { return cmp.Or(cmp.Compare(a.question, b.question), cmp.Compare(a.at, b.at)) })
	return all
}

// within is the part of the pairing whose rows are in a slice of either side; of pairs
// the base's row decides. The rows are in file order.
func (p *pairing) within(base, other []int32) *pairing {
	out := &pairing{base: p.base.within(base), other: p.other.within(other), paired: p.paired}
	out.first = &rowSet{run: p.first.run, system: p.first.system}
	eachCommon(p.first.rows, base, func(at int) {
		out.first.rows, out.second = append(out.first.rows, p.first.rows[at]), append(out.second, p.second[at])
	})
	return out
}

// inSlice is the part of the pairing in a slice KEY=VALUE, which has those rows of the sides, as it
// counts a metric: one over citations of a kind has no value in a row that cites none of it.
func (p *pairing) inSlice(slice string, d *metrics.Definition, base, other []int32) *pairing {
	out := p.within(base, other)
	if !ofKind(slice, d) {
		return out
	}
	for _, s := range []*rowSet{out.base, out.other, out.first} {
		s.run = s.run.of(slice, d)
	}
	first, second := out.first.rows, out.second
	out.first.rows, out.second = nil, nil
	for at, row := range second {
		if _, cites := slices.BinarySearch(other, row); cites {
			out.first.rows, out.second = append(out.first.rows, first[at]), append(out.second, row)
		}
	}
	return out
}

func (s *rowSet) within(rows []int32) *rowSet {
	out := &rowSet{run: s.run, system: s.system}
	eachCommon(s.rows, rows, func(at int) { out.rows = append(out.rows, s.rows[at]) })
	return out
}

// eachCommon calls yield with the positions in all of the rows that are in some, too.
// Both are ascending; what it costs grows with the shorter one.
func eachCommon(all, some []int32, yield func(at int)) {
	if len(all) < len(some) {
		for at, row := range all {
			n, ok := slices.BinarySearch(some, row)
			if some = some[n:]; ok {
				yield(at)
			}
		}
		return
	}
	at := 0
	for _, row := range some {
		n, ok := slices.BinarySearch(all[at:], row)
		if at += n; ok {
			yield(at)
		}
	}
}

// series are those of both sides.
func (p *pairing) series(q Quantity) (base, other *series, err error) {
	if base, err = p.base.run.series(q); err != nil {
		return nil, nil, err
	}
	other, err = p.other.run.series(q)
	return base, other, err
}
