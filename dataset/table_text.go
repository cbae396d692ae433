package dataset

// stringRuns is a sequence of strings in which equal neighbours are kept once,
// as an entry and the number of values up to its end.
type stringRuns struct {
	blob  []byte
	ends  []int // entry e is blob[ends[e-1]:ends[e]]
	upTo  []int // values before the end of entry e's run
	total int   // values
}

func (r *stringRuns) reset() {
	r.blob, r.ends, r.upTo, r.total = r.blob[:0], r.ends[:0], r.upTo[:0], 0
}

func (r *stringRuns) entry(e int) []byte {
	start := 0
	if e > 0 {
		start = r.ends[e-1]
	}
	return r.blob[start:r.ends[e]]
}

func (r *stringRuns) append(s string) {
	s = validText(s)
	r.total++
	if n := len(r.ends); n > 0 && string(r.entry(n-1)) == s {
		r.upTo[n-1] = r.total
		return
	}
	r.blob = append(r.blob, s...)
	r.ends = append(r.ends, len(r.blob))
	r.upTo = append(r.upTo, r.total)
}
