package quote

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	maxAligned = 600     // words of a quotation that is aligned word by word
	maxRuns    = 1 << 14 // of a text
	maxPairs   = 8       // places of one pair of words in a quotation that are looked at
	pieceWords = 3       // words of a piece, at least
	maxLeftOut = 20      // words that an alteration leaves out at one place
)

// A needle is a quotation that is looked for with differences.
type needle struct {
	fold
	quote string
	pairs map[uint32][]int32 // of two words: where the first stands in the quotation
	sieve [1 << 8]uint64     // a bit for the hash of each pair
}

func newNeedle(quote string) *needle {
	n := &needle{fold: newFold(quote), quote: quote, pairs: make(map[uint32][]int32)}
	for i := 1; i < len(n.words); i++ {
		h := pairHash(&n.words[i-1], &n.words[i])
		if at := n.pairs[h]; len(at) < maxPairs {
			n.pairs[h] = append(at, int32(i-1))
		}
		n.sieve[h>>6&0xff] |= 1 << (h & 63)
	}
	return n
}

func pairHash(a, b *word) uint32 { return a.hash*0x9E3779B1 ^ b.hash }

// most is the distance in words up to which a place is the quotation, altered.
func (n *needle) most() int {
	if w := len(n.words); w >= 12 {
		return w * 34 / 100
	}
	return max(1, len(n.words)/4)
}

// A run is words of a text that are words of the quotation: n of them from at, and from q.
type run struct{ text, at, q, n int }

// runs returns the runs of two words and more of a text, in its order.
func (n *needle) runs(t *Text, text int) (out []run) {
	own := t.folded()
	open := make([]int, len(n.words)) // of a word of the quotation, the run that ends with it
	for i := range open {
		open[i] = -1
	}
	for i := 1; i < len(own.words); i++ {
		h := pairHash(&own.words[i-1], &own.words[i])
		if n.sieve[h>>6&0xff]&(1<<(h&63)) == 0 {
			continue
		}
		at := n.pairs[h]
		for k := len(at) - 1; k >= 0; k-- { // from behind: a run is read before it grows
			q := int(at[k])
			if !sameWord(own, i-1, &n.fold, q) || !sameWord(own, i, &n.fold, q+1) {
				continue
			}
			if r := open[q]; r >= 0 && out[r].at+out[r].n == i && out[r].q+out[r].n == q+1 {
				out[r].n++
				open[q+1] = r
				continue
			}
			if len(out) == maxRuns {
				return out
			}
			open[q+1] = len(out)
			out = append(out, run{text, i - 1, q, 2})
		}
	}
	return out
}

func sameWord(a *fold, i int, b *fold, k int) bool {
	return a.words[i].hash == b.words[k].hash && a.of(i, i+1) == b.of(k, k+1)
}

// Share returns the share of the words of s that the text has in runs of two words or more. It is in
// [0, 1], and 0 if s has no words.
func (t *Text) Share(s string) float64 {
	n := newNeedle(s)
	in := make([]bool, len(n.words))
	for _, r := range n.runs(t, 0) {
		for i := range r.n {
			in[r.q+i] = true
		}
	}
	count := 0
	for _, found := range in {
		if found {
			count++
		}
	}
	return float64(count) / float64(max(1, len(in)))
}

// A near is a place that is a quotation but for some words.
type near struct {
	text     int
	from, to int // words of the text
	distance int
	changes  []change
}

// A change puts words of the quotation in the place of words of the text.
type change struct{ from, to, qFrom, qTo int }

// nearest returns the place among texts at the least word distance: the first of equal ones.
func (n *needle) nearest(texts []*Text, all []run) (best near, ok bool) {
	if len(n.words) > maxAligned {
		return near{}, false
	}
	slack := n.most() + 1
	type window struct{ text, from, to, words int }
	var windows []window
	// Runs of one alignment begin as far apart in the text as in the quotation, but for what
	// differs.
	runs := slices.Clone(all)
	begin := func(r run) int { return r.at - r.q }
	slices.SortStableFunc(runs, func(a, b run) int { return cmp.Or(cmp.Compare(a.text, b.text), cmp.Compare(begin(a), begin(b))) })
	words := 0
	for i, first := 0, 0; i < len(runs); i++ {
		words += runs[i].n
		for ; runs[first].text != runs[i].text || begin(runs[i])-begin(runs[first]) > slack; first++ {
			words -= runs[first].n
		}
		w := window{runs[i].text, begin(runs[first]) - slack, begin(runs[i]) + len(n.words) + slack, words}
		if k := len(windows) - 1; k >= 0 && windows[k].text == w.text && w.from < windows[k].from+slack {
			if words > windows[k].words {
				windows[k] = w
			}
			continue
		}
		windows = append(windows, w)
	}
	slices.SortStableFunc(windows, func(a, b window) int { return b.words - a.words })
	for _, w := range windows[:min(3, len(windows))] {
		own := texts[w.text].folded()
		found := n.align(own, max(0, w.from), min(len(own.words), w.to))
		if found.text = w.text; !ok || found.distance < best.distance {
			best, ok = found, true
		}
	}
	return best, ok && best.distance <= n.most()
}

// Costs of an alignment. Of ways at one distance, that wins which reaches over fewer ends of
// sentences, has more words in common, and puts words in the place of others.
const (
	leftOut   = 1 << 12
	another   = leftOut + 8
	putIn     = leftOut + 9
	overAnEnd = 1 << 6
)

// align returns the words of [from, to) of a text that differ least from the quotation.
func (n *needle) align(own *fold, from, to int) near {
	rows, columns := len(n.words)+1, to-from+1
	cost, before := make([]int32, columns), make([]int32, columns)
	step := make([]byte, rows*columns) // how each was reached: 0 the same, 1 another, 2 put in, 3 left out; 4 more: as the first
	for i := 1; i < rows; i++ {
		cost, before = before, cost
		cost[0] = int32(i) * putIn
		step[i*columns] = 2
		for k := 1; k < columns; k++ {
			over := int32(0)
			if w := from + k - 1; i > 1 && w > 0 && own.words[w-1].stops {
				over = overAnEnd
			}
			best, how := before[k-1]+over, byte(0)
			if start := int32(i-1) * putIn; start < best { // all before is put in
				best, how = start, 4
			}
			if !sameWord(own, from+k-1, &n.fold, i-1) {
				best, how = best+another, how+1
			}
			if c := before[k] + putIn; c < best {
				best, how = c, 2
			}
			if c := cost[k-1] + leftOut + over; c < best && i < rows-1 {
				best, how = c, 3
			}
			cost[k], step[i*columns+k] = best, how
		}
	}
	end := 0
	for k := range cost {
		if cost[k] < cost[end] {
			end = k
		}
	}
	found := near{to: from + end}
	i, k := rows-1, end
	for i > 0 {
		c, how := change{from + k, from + k, i, i}, step[i*columns+k]
		switch how {
		case 0, 1, 4, 5:
			i, k = i-1, k-1
		case 2:
			i--
		case 3:
			k--
		}
		if c.from, c.qFrom = from+k, i; how&3 != 0 {
			found.distance++
			found.changes = append(found.changes, c)
		}
		for ; how > 3 && i > 0; i-- {
			found.distance++
			found.changes = append(found.changes, change{from + k, from + k, i - 1, i})
		}
	}
	found.from = from + k
	slices.Reverse(found.changes)
	found.changes = n.united(own, found.changes)
	return found
}

// united makes one of changes beside each other, but not over the end of a sentence.
func (n *needle) united(own *fold, all []change) (out []change) {
	for _, c := range all {
		if k := len(out) - 1; k >= 0 && out[k].to == c.from && out[k].qTo == c.qFrom &&
			!(out[k].to > out[k].from && own.words[out[k].to-1].stops) && !(out[k].qTo > out[k].qFrom && n.words[out[k].qTo-1].stops) {
			out[k].to, out[k].qTo = c.to, c.qTo
			continue
		}
		out = append(out, c)
	}
	return out
}

// withGaps returns the place where pieces of the quotation follow each other in one text with
// few words left out between them.
func (n *needle) withGaps(texts []*Text, all []run) (best near, ok bool) {
	type link struct { // the best way that ends with a run
		last, breaks, covered int
		at, q                 int // where the run begins then
	}
	pieces := slices.DeleteFunc(slices.Clone(all), func(r run) bool { return r.n < pieceWords })
	links := make([]link, len(pieces))
	end, least := -1, 0
	for i, r := range pieces {
		links[i] = link{-1, r.q, r.n, r.at, r.q}
		for k := i - 1; k >= max(0, i-64); k-- {
			before := pieces[k]
			overlap := max(0, before.q+before.n-r.q, before.at+before.n-r.at)
			if before.text != r.text || r.q <= before.q || r.n-overlap < 2 || r.at+overlap-before.at-before.n > maxLeftOut {
				continue
			}
			if breaks := links[k].breaks + 1 + r.q + overlap - before.q - before.n; breaks < links[i].breaks {
				links[i] = link{k, breaks, links[k].covered + r.n - overlap, r.at + overlap, r.q + overlap}
			}
		}
		breaks := links[i].breaks + len(n.words) - r.q - r.n
		if links[i].last >= 0 && links[i].covered*10 >= len(n.words)*8 && breaks < n.most() && (end < 0 || breaks < least) {
			end, least = i, breaks
		}
	}
	if end < 0 {
		return near{}, false
	}
	last := pieces[end]
	best = near{text: last.text, to: last.at + last.n, distance: least}
	add := func(c change) {
		if c.from < c.to || c.qFrom < c.qTo {
			best.changes = append(best.changes, c)
		}
	}
	add(change{best.to, best.to, last.q + last.n, len(n.words)})
	for i := end; i >= 0; i = links[i].last {
		l := links[i]
		best.from = l.at
		if l.last >= 0 {
			before := pieces[l.last]
			add(change{before.at + before.n, l.at, before.q + before.n, l.q})
		} else {
			add(change{l.at, l.at, 0, l.q})
		}
	}
	slices.Reverse(best.changes)
	best.changes = apart(texts[best.text].folded(), best.changes)
	return best, true
}

// apart cuts what is left out at the ends of sentences.
func apart(own *fold, all []change) (out []change) {
	for _, c := range all {
		for w := c.from; w < c.to-1 && c.qFrom == c.qTo; w++ {
			if own.words[w].stops {
				out = append(out, change{c.from, w + 1, c.qFrom, c.qFrom})
				c.from = w + 1
			}
		}
		out = append(out, c)
	}
	return out
}

// stitched returns the pieces of texts that the quotation is made of, in its order, and how
// many words and joints are in none.
func (n *needle) stitched(all []run) (out []run, breaks int, ok bool) {
	words := len(n.words)
	if words < 10 {
		return nil, 0, false
	}
	pieces := slices.DeleteFunc(slices.Clone(all), func(r run) bool { return r.n < pieceWords })
	slices.SortStableFunc(pieces, func(a, b run) int { return cmp.Compare(a.q, b.q) })
	uncovered := 0
	for at, next := 0, 0; at < words; {
		best := run{} // that reaches furthest
		for k := next; k < len(pieces) && pieces[k].q <= at; k++ {
			if r := pieces[k]; r.q+r.n > best.q+best.n {
				best = r
			}
		}
		if best.q+best.n-at < min(pieceWords, words-at) {
			uncovered++
			at++
			continue
		}
		cut := at - best.q
		out = append(out, run{best.text, best.at + cut, at, best.n - cut})
		at = best.q + best.n
	}
	breaks = uncovered + len(out) - 1
	return out, breaks, len(out) > 1 && len(out)*4 <= words && (words-uncovered)*10 >= words*8 && breaks < n.most()
}

// between returns the text from one word to before another as it is written, white space as
// single spaces.
func (f *fold) between(text string, from, to int) string {
	if from >= to {
		return ""
	}
	start := byteOf(text, int(f.words[from].start))
	end := start + byteOf(text[start:], int(f.words[to-1].end-f.words[from].start))
	return strings.Join(strings.Fields(text[start:end]), " ")
}

// byteOf is the byte at which a code point begins.
func byteOf(s string, cp int) int {
	at := 0
	for cp > 16 && at+cp < len(s) { // so many bytes have no more code points
		end := at + cp
		for !utf8.RuneStart(s[end]) {
			end--
		}
		cp -= utf8.RuneCountInString(s[at:end])
		at = end
	}
	for ; cp > 0 && at < len(s); cp-- {
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	return at
}
