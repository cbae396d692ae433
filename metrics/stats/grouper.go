package stats

// Codes gives distinct keys the codes 0, 1, 2, … in the order of first sight, so
// that a [Grouper] can index clusters. It keeps about 20 to 40 bytes per distinct
// key. Keys are usually 64-bit hashes of cluster names: two names with one hash
// become one cluster, of which the chance is below 3e-8 for a million names.
//
// The zero Codes is empty. It is not safe for concurrent use.
type Codes struct {
	codes map[uint64]int
}

// Code is the code of key.
func (c *Codes) Code(key uint64) int {
	code, ok := c.codes[key]
	if !ok {
		if c.codes == nil {
			c.codes = make(map[uint64]int)
		}
		code = len(c.codes)
		c.codes[key] = code
	}
	return code
}

// Len is the number of distinct keys seen.
func (c *Codes) Len() int { return len(c.codes) }

// A Grouper sums rows by cluster, in any order of rows. Sums are exact, so what
// [Grouper.Drain] gives does not depend on that order, nor on how rows were split
// over groupers that are merged.
//
// It keeps 104 bytes for each code up to the largest one added, for one metric at
// a time: drain it, then use it for the next. Only the growth of that table
// allocates. The zero Grouper is empty. It is not safe for concurrent use.
type Grouper struct {
	cells []cell
}

type cell struct {
	y, x Exact
	rows int64
}

// Add adds a row of value y to the cluster with the given code, at least 0.
func (g *Grouper) Add(code int, y float64) {
	c := g.cell(code)
	c.rows++
	c.y.Add(y)
	c.x.AddInt(1)
}

// AddRatio adds a row with numerator y and denominator x to the cluster with the
// given code, at least 0.
func (g *Grouper) AddRatio(code int, y, x float64) {
	c := g.cell(code)
	c.rows++
	c.y.Add(y)
	c.x.Add(x)
}

// Merge adds all rows of o. Codes must mean the same clusters in both.
func (g *Grouper) Merge(o *Grouper) {
	if len(o.cells) > 0 {
		g.grow(len(o.cells))
	}
	for i := range o.cells {
		from, to := &o.cells[i], &g.cells[i]
		to.rows += from.rows
		to.y.Merge(&from.y)
		to.x.Merge(&from.x)
	}
}

// Drain adds every cluster that has rows to c and empties g, which keeps its
// memory.
func (g *Grouper) Drain(c *Clusters) {
	for i := range g.cells {
		if cell := &g.cells[i]; cell.rows > 0 {
			c.AddSums(&cell.y, &cell.x, cell.rows)
		}
	}
	clear(g.cells)
	g.cells = g.cells[:0]
}

// Each calls f with every cluster that has rows, by code: its sums, each rounded
// once, and its rows. A sum that is not defined is 0 and has ok false.
func (g *Grouper) Each(f func(code int, y, x float64, rows int64, ok bool)) {
	for i := range g.cells {
		if cell := &g.cells[i]; cell.rows > 0 {
			y, okY := cell.y.Float64()
			x, okX := cell.x.Float64()
			f(i, y, x, cell.rows, okY && okX)
		}
	}
}

func (g *Grouper) cell(code int) *cell {
	if code >= len(g.cells) {
		g.grow(code + 1)
	}
	return &g.cells[code]
}

// grow makes room for n cells. Cells beyond the length are always empty.
func (g *Grouper) grow(n int) {
	if n <= len(g.cells) {
		return
	}
	if n > cap(g.cells) {
		cells := make([]cell, len(g.cells), max(n, 2*cap(g.cells)))
		copy(cells, g.cells)
		g.cells = cells
	}
	g.cells = g.cells[:n]
}
