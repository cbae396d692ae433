package span

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
