package report

import (
	"cmp"

	"ibid/annotations/compare"
	"ibid/report/doc"
)

// compareSection is how runs or systems differ, as package compare found it.
func compareSection(data *pageData) *section {
	r := data.options.Comparison
	switch {
	case r != nil && len(r.Pairs) > 0:
		return docSection("compare", "Compare", NewComparison(r).blocks(nil))
	case data.options.NotCompared != "":
		return docSection("compare", "Compare", []doc.Block{doc.Para{Kind: doc.Note, Text: doc.T("Not compared: " + data.options.NotCompared)}})
	}
	return nil
}

// partners finds the row of the base for each row of the new side.
func partners(data *pageData, r *compare.Result, p *compare.Pair) map[int]int {
	type key struct{ Id, System string }
	of := func(s *compare.Side) map[key]int {
		system := s.System
		if p.System != "" {
			system = p.System
		}
		rows := make(map[key]int)
		for n := range data.rows {
			row := &data.rows[n]
			res := data.results[row.run]
			if res.run.Manifest.ID != s.Run {
				continue
			}
			k := key{res.id[row.index], res.system[row.index][len(res.prefix):]}
			if system != "" {
				if k.System != system {
					continue
				}
				k.System = "" // the sides' systems have different names
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

type rowName struct{ run, id, system string }

// basesOf names the rows that those of the results are compared with.
func basesOf(all []*results, r *compare.Result) map[rowName]bool {
	out := make(map[rowName]bool)
	for _, k := range pagePairs(r) {
		p := &r.Pairs[k]
		base, other := &r.Sides[p.Base], &r.Sides[p.New]
		for _, res := range all {
			if res.run.Manifest.ID != other.Run {
				continue
			}
			for i, id := range res.id {
				system := res.system[i][len(res.prefix):]
				if only := cmp.Or(p.System, other.System); only == "" || only == system {
					out[rowName{base.Run, id, cmp.Or(p.System, base.System, system)}] = true
				}
			}
		}
	}
	return out
}
