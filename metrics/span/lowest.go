package span

// lowest turns a matching of largest weight into the lexicographically lowest
// of all that have this weight.
//
// By complementary slackness the optimal matchings are exactly those on tight
// edges (u + v = weight) that leave unmatched only rows with u = 0 and columns
// with v = 0. Two of them differ by alternating paths and cycles, so row after
// row can be moved to the lowest column for which such a path exists.
type lowest struct {
	a *assignment

	first []int32 // tight columns of row r: cols[first[r]:first[r+1]], ascending
	cols  []int32

	firstOf []int32 // tight rows of column c: rows[firstOf[c]:firstOf[c+1]]
	rows    []int32

	fixedRow, fixedCol []bool

	seenRow   []bool
	parent    []int32 // of a column: the row that would take it
	next      []int32 // of a row on a releasing path: the column it would move to
	queue     []int32
	visited   []int32
	releasing []int32
}

// choose rearranges a's matching.
func (l *lowest) choose(a *assignment) {
	l.a = a
	if !l.load() {
		return
	}
	for r := range int32(len(a.colOf)) {
		l.settle(r)
		l.fixedRow[r] = true
		if c := a.colOf[r]; c >= 0 {
			l.fixedCol[c] = true
		}
	}
}

// load collects the tight edges. It reports whether any row has a tight edge
// to a column lower than its own; if not, the matching is the lowest.
func (l *lowest) load() bool {
	a := l.a
	l.first, l.cols = l.first[:0], l.cols[:0]
	improvable := false
	for r := range int32(len(a.colOf)) {
		l.first = append(l.first, int32(len(l.cols)))
		for k := a.first[r]; k < a.first[r+1]; k++ {
			c := a.edges[k].pred
			if a.colOf[r] == c || a.u[r].add(a.v[c]).sub(a.weights[k]).negligible() {
				l.cols = append(l.cols, c)
				improvable = improvable || c < a.colOf[r] || a.colOf[r] < 0
			}
		}
	}
	l.first = append(l.first, int32(len(l.cols)))
	if improvable {
		l.transpose()
	}
	return improvable
}

// transpose lists the tight rows of each column and clears the marks.
func (l *lowest) transpose() {
	rows, columns := len(l.a.colOf), len(l.a.rowOf)
	l.firstOf = fill(l.firstOf[:0], columns+1, 0)
	for _, c := range l.cols {
		l.firstOf[c+1]++
	}
	for c := range columns {
		l.firstOf[c+1] += l.firstOf[c]
	}
	l.rows = fill(l.rows[:0], len(l.cols), 0)
	l.parent = append(l.parent[:0], l.firstOf...) // where the next row of each column goes
	for r := range rows {
		for _, c := range l.cols[l.first[r]:l.first[r+1]] {
			l.rows[l.parent[c]] = int32(r)
			l.parent[c]++
		}
	}
	l.fixedRow, l.seenRow = fill(l.fixedRow[:0], rows, false), fill(l.seenRow[:0], rows, false)
	l.fixedCol = fill(l.fixedCol[:0], columns, false)
	l.next = fill(l.next[:0], rows, -1)
}

// settle moves row r to the lowest column that an optimal matching with the
// choices already fixed can give it.
func (l *lowest) settle(r int32) {
	a := l.a
	own := a.colOf[r]
	canRelease, asked := own < 0, own < 0
	for _, c := range l.cols[l.first[r]:l.first[r+1]] {
		if c == own {
			break
		}
		if l.fixedCol[c] {
			continue
		}
		if !asked {
			canRelease, asked = l.findRelease(r, own), true
		}
		if l.move(r, c, own, canRelease) {
			break
		}
	}
	for _, row := range l.visited {
		l.seenRow[row] = false
	}
	l.visited = l.visited[:0]
}

// move gives column c to row r if the row that has c can be given another
// place: the column own that r leaves, or any end if own can be released.
// Rows seen in a failed attempt stay marked, since they fail for every c.
func (l *lowest) move(r, c, own int32, canRelease bool) bool {
	a := l.a
	displaced := a.rowOf[c]
	if displaced >= 0 {
		end, row, found := l.replace(displaced, own, canRelease)
		if !found {
			return false
		}
		if end < 0 {
			end, a.colOf[row] = a.colOf[row], -1
		}
		for end != c {
			mover := l.parent[end]
			a.rowOf[end] = mover
			a.colOf[mover], end = end, a.colOf[mover]
		}
	} else if !canRelease {
		return false
	}
	usedOwn := own >= 0 && a.rowOf[own] != r
	a.colOf[r], a.rowOf[c] = c, r
	if own >= 0 && !usedOwn {
		l.release(own)
	}
	return true
}

// replace searches a new place for the displaced row. It prefers a path to own;
// else, if own can be released, it takes any end: a free column, or (end = -1)
// a row that may stay unmatched. l.parent then leads back.
func (l *lowest) replace(displaced, own int32, canRelease bool) (end, row int32, found bool) {
	a := l.a
	if l.seenRow[displaced] {
		return 0, 0, false
	}
	l.queue = append(l.queue[:0], displaced)
	l.see(displaced)
	for head := 0; head < len(l.queue); head++ {
		r := l.queue[head]
		if canRelease && !found && a.u[r].negligible() {
			end, row, found = -1, r, true
		}
		for _, c := range l.cols[l.first[r]:l.first[r+1]] {
			if l.fixedCol[c] || c == a.colOf[r] {
				continue
			}
			if c == own {
				l.parent[c] = r
				return c, r, true
			}
			next := a.rowOf[c]
			if next < 0 {
				if canRelease && !found {
					l.parent[c] = r
					end, row, found = c, r, true
				}
				continue
			}
			if !l.seenRow[next] {
				l.parent[c] = r
				l.see(next)
				l.queue = append(l.queue, next)
			}
		}
	}
	return end, row, found
}

func (l *lowest) see(r int32) {
	l.seenRow[r] = true
	l.visited = append(l.visited, r)
}

// findRelease reports whether column own can lose its row r: because it may
// stay free, or because an alternating path of other rows, each moving one
// column on, fills it. The path is kept for release.
func (l *lowest) findRelease(r, own int32) bool {
	a := l.a
	l.releasing = l.releasing[:0]
	if a.v[own].negligible() {
		return true
	}
	l.queue = append(l.queue[:0], own)
	for i := range l.next {
		l.next[i] = -1
	}
	l.next[r] = own // r itself takes no part
	for head := 0; head < len(l.queue); head++ {
		c := l.queue[head]
		for _, row := range l.rows[l.firstOf[c]:l.firstOf[c+1]] {
			if l.fixedRow[row] || l.next[row] >= 0 {
				continue
			}
			l.next[row] = c
			from := a.colOf[row]
			if from < 0 || a.v[from].negligible() {
				l.keep(row, own)
				return true
			}
			l.queue = append(l.queue, from)
		}
	}
	return false
}

// keep notes the rows of the path that starts with the given one and ends by
// filling own.
func (l *lowest) keep(row, own int32) {
	for {
		l.releasing = append(l.releasing, row)
		c := l.next[row]
		if c == own {
			return
		}
		row = l.a.rowOf[c]
	}
}

// release frees column own of its row, which has moved elsewhere, along the
// path that findRelease kept.
func (l *lowest) release(own int32) {
	a := l.a
	a.rowOf[own] = -1
	for _, row := range l.releasing {
		c := l.next[row]
		if left := a.colOf[row]; left >= 0 && a.rowOf[left] == row {
			a.rowOf[left] = -1
		}
		a.colOf[row], a.rowOf[c] = c, row
	}
}
