package report

import (
	"fmt"

	"ibid/annotations/compare"
)

// A flipIndex says which rows changed in one metric of one pair: one character for
// each row that the page lists, + where the new side has more than the base, - less,
// = the same, and a space where nothing is compared. Rows are those of the new side.
type flipIndex struct {
	Pair   int    `json:"pair"`
	Title  string `json:"title"`
	Metric string `json:"metric"`
	Label  string `json:"label"`
	Better string `json:"better"` // the character of rows that got better, "" if neither direction is
	Signs  string `json:"signs"`
}

// flips finds the rows that changed in the headline metrics of each pair.
func (b *pageBuilder) flips(listed []int) []flipIndex {
	r := b.options.Comparison
	if r == nil {
		return []flipIndex{}
	}
	place := make(map[int]int, len(listed))
	for k, n := range listed {
		place[n] = k
	}
	out := []flipIndex{}
	for k := range r.Pairs {
		p := &r.Pairs[k]
		if !p.Paired {
			continue
		}
		partners := b.partners(r, p)
		for i := range p.Differences {
			d := &p.Differences[i]
			if !d.Headline || d.Slice != "" || d.Agg == "micro" || d.Diff == nil {
				continue
			}
			f := flipIndex{
				Pair: k, Title: line(r.Sides[p.New].Name, 60) + " against " + line(r.Sides[p.Base].Name, 60), Metric: d.Metric, Label: label(d.Metric),
				Better: map[int]string{1: "+", -1: "-"}[d.Direction],
			}
			signs := make([]byte, len(listed))
			for at := range signs {
				signs[at] = ' '
			}
			for other, base := range partners {
				if at, ok := place[other]; ok {
					signs[at] = b.sign(d.Metric, base, other)
				}
			}
			f.Signs = string(signs)
			out = append(out, f)
		}
	}
	return out
}

// sign compares a metric of two rows.
func (b *pageBuilder) sign(metric string, base, other int) byte {
	x, ok := b.results[b.rows[base].run].metric(metric).at(b.rows[base].index)
	y, okOther := b.results[b.rows[other].run].metric(metric).at(b.rows[other].index)
	switch {
	case !ok || !okOther:
		return ' '
	case y > x:
		return '+'
	case y < x:
		return '-'
	}
	return '='
}

// partners finds the row of the base for each row of the new side.
func (b *pageBuilder) partners(r *compare.Result, p *compare.Pair) map[int]int {
	type key struct{ id, system string }
	of := func(s *compare.Side) map[key]int {
		system := s.System
		if p.System != "" {
			system = p.System
		}
		rows := make(map[key]int)
		for n := range b.rows {
			row := &b.rows[n]
			res := b.results[row.run]
			if res.run.Manifest.ID != s.Run {
				continue
			}
			k := key{res.id[row.index], res.system[row.index][len(res.prefix):]}
			if system != "" {
				if k.system != system {
					continue
				}
				k.system = "" // the sides' systems have different names
			}
			rows[k] = n
		}
		return rows
	}
	base, other := of(&r.Sides[p.Base]), of(&r.Sides[p.New])
	out := make(map[int]int, len(other))
	for k, n := range other {
		if m, ok := base[k]; ok {
			out[n] = m
		}
	}
	return out
}

// flipLinks are the links to the rows of a pair that got better, worse or stayed.
func (b *pageBuilder) flipLinks(pair int, d *compare.Difference) []Flip {
	if d.Diff == nil || d.Higher+d.Lower+d.Same == 0 {
		return nil
	}
	link := func(what string) string {
		if !d.Headline || d.Agg == "micro" || !b.options.Comparison.Pairs[pair].Paired {
			return ""
		}
		return rowsLink(fmt.Sprintf("changed:%d/%s/%s", pair, d.Metric, what))
	}
	if d.Direction == 0 {
		return []Flip{{"▲", Thousands(d.Higher), link("higher")}, {"▼", Thousands(d.Lower), link("lower")}, {"=", Thousands(d.Same), link("same")}}
	}
	return []Flip{{"better", Thousands(d.Improved()), link("better")}, {"worse", Thousands(d.Declined()), link("worse")}, {"same", Thousands(d.Same), link("same")}}
}
