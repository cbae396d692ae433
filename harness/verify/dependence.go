package verify

import (
	"fmt"
	"math"
	"slices"
)

// How rows that share documents enter an interval.
const (
	largestComponent = 0.1 // share of the rows up to which components are clusters
	fewestComponents = 8   // effective ones that there must be for that
	pairDocuments    = 4   // documents that a unit may have to count pairs
	fewestDocuments  = 40  // effective ones that there must be for that
	mostUnits        = 6000
	sampledRows      = 100_000 // from which on documents are sampled
)

// A dependence says how the units of a group depend on each other by their documents. A
// unit is a row, or in a group of several systems a question.
type dependence struct {
	kind      string // components, pairs
	unit      []int  // of each row of the group
	documents [][]string
	component []int
	near      [][]int // units before each that share a document with it
	wide      bool    // some unit has more than pairDocuments documents
	much      bool    // too many units to go through all pairs
}

// depend finds out how the rows of a group depend on each other; nil if they do not.
func (v *verification) depend(g *group) *dependence {
	if v.s.Statistics.Cluster != "auto" {
		return nil
	}
	several := false
	for _, s := range v.table.systems {
		several = several || s != v.table.systems[0]
	}
	d := &dependence{}
	numbers := make(map[string]int)
	var rowsOf []int // of each unit
	for _, row := range g.rows {
		name := fmt.Sprint("row ", row)
		if g.system == "" && several {
			name = v.table.ids[row]
		}
		n, ok := numbers[name]
		if !ok {
			n = len(d.documents)
			numbers[name] = n
			d.documents, rowsOf = append(d.documents, nil), append(rowsOf, 0)
		}
		for _, doc := range v.table.documents[row] {
			if !slices.Contains(d.documents[n], doc) {
				d.documents[n] = append(d.documents[n], doc)
			}
		}
		d.unit = append(d.unit, n)
		rowsOf[n]++
	}
	for n, documents := range d.documents {
		if d.wide = d.wide || len(documents) > pairDocuments; len(documents) == 0 {
			d.documents[n] = []string{fmt.Sprint("\x00", n)} // its own
		}
	}
	units := make(map[string][]int)
	for n, documents := range d.documents {
		for _, doc := range documents {
			units[doc] = append(units[doc], n)
		}
	}
	// Connected components, one after the other.
	d.component = slices.Repeat([]int{-1}, len(d.documents))
	exact, shared, largest, squares := true, false, 0, 0.0
	for n := range d.documents {
		if d.component[n] >= 0 {
			continue
		}
		d.component[n] = n
		members := []int{n}
		for i := 0; i < len(members); i++ {
			for _, doc := range d.documents[members[i]] {
				for _, m := range units[doc] {
					if d.component[m] < 0 {
						d.component[m] = n
						members = append(members, m)
					}
				}
			}
		}
		rows := 0
		for _, m := range members {
			rows += rowsOf[m]
		}
		common := slices.ContainsFunc(d.documents[n], func(doc string) bool { return len(units[doc]) == len(members) })
		exact, shared = exact && common, shared || len(members) > 1
		largest, squares = max(largest, rows), squares+float64(rows)*float64(rows)
	}
	n := float64(len(g.rows))
	switch {
	case !shared:
		return nil
	case exact, float64(largest) <= largestComponent*n && n*n >= fewestComponents*squares:
		d.kind = "components"
		return d
	}
	d.kind = "pairs"
	if d.much = len(d.documents) > mostUnits || len(g.rows) > sampledRows; d.much {
		return d
	}
	d.near = make([][]int, len(d.documents))
	for n, documents := range d.documents {
		for _, doc := range documents {
			for _, m := range units[doc] {
				if m < n {
					d.near[n] = append(d.near[n], m)
				}
			}
		}
		slices.Sort(d.near[n])
		d.near[n] = slices.Compact(d.near[n])
	}
	return d
}

// A pairVariance is what dependent units have in place of clusters.
type pairVariance struct {
	se, effective float64
	known         bool
	kind          string
}

// variance is the variance over pairs of units that share a document, of a quotient whose
// parts are y and x of each unit; rows are how many rows of a unit it rests on.
func (d *dependence) variance(y, x, rows []float64, ratio, total float64) *pairVariance {
	p := &pairVariance{kind: "pairs"}
	e := make([]float64, len(y))
	for n := range y {
		e[n] = y[n] - ratio*x[n]
	}
	var pairs, alone, documents, sum, squares, informative float64
	ofDocument, rowsOf := make(map[string]float64), make(map[string]float64)
	for n := range e {
		if rows[n] == 0 {
			continue
		}
		alone += e[n] * e[n]
		pairs += e[n] * e[n]
		if x[n] != 0 {
			informative++
		}
		for _, m := range d.near[n] {
			pairs += 2 * e[n] * e[m]
		}
		for _, doc := range d.documents[n] {
			ofDocument[doc] += e[n]
			rowsOf[doc] += rows[n]
		}
	}
	for doc, v := range ofDocument {
		documents += v * v
		sum, squares = sum+rowsOf[doc], squares+rowsOf[doc]*rowsOf[doc]
	}
	p.effective = sum * sum / squares
	if p.known = p.effective >= 2; !p.known {
		return p
	}
	of := pairs
	if d.wide || p.effective < fewestDocuments {
		p.kind, of = "documents", documents
	} else if informative >= 2 {
		of = max(pairs, alone)
	}
	p.se = math.Sqrt(max(0, of)*p.effective/(p.effective-1)) / math.Abs(total)
	return p
}
