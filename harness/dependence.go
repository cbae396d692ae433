package harness

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"

	"ibid/dataset/parquet"
	"ibid/dataset/runs"
	"ibid/metrics/stats"
)

// autoCluster is the value of statistics.cluster with which rows depend on each other
// by all documents that they touch.
const autoCluster = "auto"

// A dependent is a group whose rows share documents.
type dependent struct {
	of       *stats.Dependence
	rows     []int32   // where pairs are counted: of the file, or numbers of the needed ones, unit after unit; ^row begins a unit
	clusters clustered // the components, where they are clusters
}

// findDependences finds the groups whose rows share documents. It keeps 8 bytes for each
// row of each of them; what two questions have in common is looked for first, and where
// there is nothing, nothing is kept.
func (s *summarizer) findDependences(ctx context.Context, seed uint64) error {
	s.dependent = make(map[int]*dependent)
	touching, questions, err := runs.ReadTouching(ctx, s.file)
	if err != nil || !touching.Shared(questions) {
		return err
	}
	rows := make(map[int][]int32)
	row := int32(0)
	for part := range s.file.RowGroups() {
		signatures := &s.groups.perPart[part]
		for i := range s.file.GroupRows(part) {
			for _, g := range s.groups.members[signatures.at(i)] {
				rows[g] = append(rows[g], row)
			}
			row++
		}
	}
	ranks, err := s.systemRanks()
	if err != nil {
		return err
	}
	var members []stats.Member
	for _, g := range s.groups.own {
		if err := ctx.Err(); err != nil {
			return err
		}
		members = members[:0]
		for _, row := range rows[g] {
			members = append(members, stats.Member{Unit: questions[row], Row: row, Rank: ranks[row]})
		}
		d := touching.Depend(members, seed)
		delete(rows, g)
		if d == nil {
			continue
		}
		members = d.Sample(members)
		at, codes := make([]int32, len(members)), []int32(nil)
		unit := -1
		for i, m := range members {
			at[i] = m.Row
			if i == 0 || members[i-1].Unit != m.Unit {
				if unit++; !d.Components {
					at[i] = ^m.Row
				}
			}
			if d.Components {
				codes = append(codes, d.Of[unit])
			}
		}
		if d.Components {
			s.dependent[g] = &dependent{of: d, clusters: cluster(at, codes, len(d.Keys))}
		} else {
			s.dependent[g] = &dependent{of: d, rows: at}
		}
	}
	s.findNeeded()
	return nil
}

// findNeeded numbers the rows that the variances are computed of in the order in which
// units add them up, so that the values of each item are then read as they stand.
func (s *summarizer) findNeeded() {
	if s.clusters != nil || len(s.dependent) == 0 {
		return
	}
	for _, d := range s.dependent {
		if d.of.Components {
			return
		}
	}
	s.needed = make([]int32, s.file.Rows()) // by row: its number + 1
	s.dense = 0
	for _, g := range s.groups.own {
		d := s.dependent[g]
		if d == nil {
			continue
		}
		for i, row := range d.rows {
			number := &s.needed[max(row, ^row)]
			if *number == 0 {
				s.dense++
				*number = int32(s.dense)
			}
			if d.rows[i] = *number - 1; row < 0 {
				d.rows[i] = ^d.rows[i]
			}
		}
	}
}

// systemRanks say of each row which place its system has among the names of all; nil of
// one system.
func (s *summarizer) systemRanks() ([]int32, error) {
	place := make(map[string]int32)
	for i, name := range slices.Sorted(maps.Keys(s.groups.systems)) {
		place[name] = int32(i)
	}
	ranks := make([]int32, 0, s.file.Rows())
	var system parquet.ColumnValues
	for part := range s.file.RowGroups() {
		if err := s.file.ReadColumn(part, "system", &system); err != nil {
			return nil, err
		}
		for _, name := range system.Strings {
			ranks = append(ranks, place[name])
		}
	}
	return ranks, nil
}

// collectMemory is about how many bytes a worker needs for values of rows and what they
// add up to.
func (s *summarizer) collectMemory() int {
	if s.clusters == nil && len(s.dependent) == 0 {
		return 0
	}
	sums := 0
	for _, d := range s.dependent {
		sums = max(sums, d.of.Len())
	}
	return denseBytes*s.dense + 8*sums
}

// sampled says of which share of the documents standard errors were computed, in the
// group where it is the least; "" if it is all of them everywhere.
func (s *summarizer) sampled() string {
	var least *stats.Dependence
	for _, d := range s.dependent {
		if d.of.Sampled < d.of.Documents && (least == nil || d.of.Documents > least.Documents) {
			least = d.of
		}
	}
	if least == nil {
		return ""
	}
	return fmt.Sprintf("standard errors of more than 100,000 rows that share documents are from a sample of %d of %d documents (%.2g %%)",
		least.Sampled, least.Documents, 100*float64(least.Sampled)/float64(least.Documents))
}

// addDependent adds an item to the states of the groups whose rows share documents. The
// states as if they did not must be complete.
func (b *block) addDependent(ctx context.Context, of *denseValues, i int) error {
	for _, g := range b.groups.own {
		d := b.dependent[g]
		if d == nil {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		to, alone := &b.apart[g][i], &b.states[g][i]
		if !d.of.Components {
			*to = *alone
			to.macro.Rest(d.of, d.sums(of, false))
			if of.pooled {
				to.micro.Rest(d.of, d.sums(of, true))
			}
			continue
		}
		to.defined = alone.defined
		of.add(to, &d.clusters)
		to.macro.Named(stats.ByComponents)
		to.micro.Named(stats.ByComponents)
		if b.resampling != nil {
			b.drawn[i][g] = of.draw(b.resampling, &d.clusters, d.of.Keys, b.level)
			b.drawn[i][g].named(stats.ByComponents)
		}
	}
	return nil
}

// named says in the names of the methods how rows depend.
func (v *intervals) named(how string) {
	for _, e := range []*stats.Estimate{v.macro, v.micro} {
		if e != nil {
			e.Method = e.Method.By(how)
		}
	}
}

// sums are what each unit adds to the mean or, pooled, to the quotient of sums.
func (d *dependent) sums(of *denseValues, pooled bool) iter.Seq[stats.Sum] {
	return func(yield func(stats.Sum) bool) {
		var s stats.Sum
		for i, row := range d.rows {
			if row < 0 {
				if i > 0 && !yield(s) {
					return
				}
				s, row = stats.Sum{}, ^row
			}
			switch v := of.values[row]; {
			case math.IsNaN(v):
			case pooled:
				s.Y, s.X, s.Rows = s.Y+of.parts[row].num, s.X+of.parts[row].den, s.Rows+1
			default:
				s.Y, s.X, s.Rows = s.Y+v, s.X+1, s.Rows+1
			}
		}
		if len(d.rows) > 0 {
			yield(s)
		}
	}
}
