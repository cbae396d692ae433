package harness

import (
	"context"

	"ibid/dataset/runs"
	"ibid/metrics/stats"
)

// units are the rows of a group in which some depend on each other: rows of one question are
// one unit, and units may share documents.
type units struct {
	rows      []int32 // of the file; nil if they are all
	units     *stats.Rows
	documents []int32 // numbers in the file of the documents of units; nil if they are the same
}

// name is the name of a document of the units.
func (u *units) name(of *runs.RowDocuments, document int32) string {
	if u.documents != nil {
		document = u.documents[document]
	}
	return of.Names[document]
}

// findUnits finds the groups in which rows depend on each other.
func (s *summarizer) findUnits(ctx context.Context, cluster string) error {
	s.units = make([]*units, len(s.groups.all))
	touched, err := runs.ReadDocuments(ctx, s.file, cluster)
	if err != nil {
		return err
	}
	s.touched = touched
	var in []int
	pooled := false
	for _, g := range s.groups.sorted {
		k := &s.groups.all[g]
		switch {
		case k.pooled:
			in, pooled = append(in, g), true
		case touched.Documents == nil: // each row by itself
		case k.rows == s.file.Len():
			s.units[g] = &units{units: stats.NewRows[uint64](nil, touched.Documents)}
		default:
			in = append(in, g)
		}
	}
	if len(in) == 0 {
		return nil
	}
	var questions []uint64
	if pooled {
		if questions, err = s.questions(ctx); err != nil {
			return err
		}
	}
	rows := s.rowsOf(in)
	var local localDocuments
	for _, g := range in {
		if err := ctx.Err(); err != nil {
			return err
		}
		u := &units{rows: rows[g]}
		var documents *stats.Documents
		documents, u.documents = local.of(touched.Documents, u.rows)
		var of []uint64
		if s.groups.all[g].pooled {
			for _, row := range u.rows {
				of = append(of, questions[row])
			}
		}
		if u.units = stats.NewRows(of, documents); documents != nil || !u.units.Single() {
			s.units[g] = u
		}
	}
	return nil
}

// questions are the keys of the questions of all rows.
func (s *summarizer) questions(ctx context.Context) ([]uint64, error) {
	out := make([]uint64, 0, s.file.Len())
	err := s.file.Each(func(b *runs.Block) error {
		for _, id := range b.Texts("id") {
			out = append(out, stats.Key(id))
		}
		return ctx.Err()
	})
	return out, err
}

// rowsOf are the rows of groups, in the order of the file.
func (s *summarizer) rowsOf(groups []int) [][]int32 {
	rows := make([][]int32, len(s.groups.all))
	for _, g := range groups {
		rows[g] = make([]int32, 0, s.groups.all[g].rows)
	}
	_ = s.file.Each(func(b *runs.Block) error { // which reads no column
		for i := range b.Len() {
			for _, g := range s.groups.members[s.groups.perPart[b.Number].of(i)] {
				if rows[g] != nil {
					rows[g] = append(rows[g], int32(b.First)+int32(i))
				}
			}
		}
		return nil
	})
	return rows
}

// localDocuments numbers the documents that several rows of a group touch.
type localDocuments struct {
	numbers []int32 // of each document of the file: in the group, plus two; 1 if one row touched it
	met     []int32
	row     []int32
}

// of are the documents of rows, and their numbers in the file; nil if no two rows share one.
func (l *localDocuments) of(all *stats.Documents, rows []int32) (documents *stats.Documents, numbers []int32) {
	if all == nil {
		return nil, nil
	}
	for _, d := range l.met {
		l.numbers[d] = 0
	}
	l.met = l.met[:0]
	for _, row := range rows {
		l.row = all.At(int(row), l.row)
		for _, d := range l.row {
			switch {
			case d == stats.Lone:
				continue
			case int(d) >= len(l.numbers):
				l.numbers = append(l.numbers, make([]int32, int(d)+1-len(l.numbers))...)
			}
			switch l.numbers[d] {
			case 0:
				l.numbers[d] = 1
				l.met = append(l.met, d)
			case 1:
				numbers = append(numbers, d)
				l.numbers[d] = int32(len(numbers)) + 1
			}
		}
	}
	if len(numbers) == 0 {
		return nil, nil
	}
	documents = new(stats.Documents)
	for _, row := range rows {
		l.row = all.At(int(row), l.row)
		for _, d := range l.row {
			if d == stats.Lone || l.numbers[d] == 1 {
				documents.Touch(stats.Lone)
			} else {
				documents.Touch(l.numbers[d] - 2)
			}
		}
		documents.Add()
	}
	return documents, numbers
}
