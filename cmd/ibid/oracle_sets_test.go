package main

import (
	"math"
	"slices"
	"strings"
)

// An oracle computes the values of rows again, from the definitions, with sets of code
// points and by trying everything.
type oracle struct {
	c    *oracleConfig
	docs map[string]*oracleDocument
}

// An oracleKey is a source: a document or, where offsets count from pages, one of its pages.
type oracleKey struct {
	doc  string
	page int32
}

// An oracleCell is a code point or token of a source.
type oracleCell struct {
	oracleKey
	at int64
}

type oracleSet = map[oracleCell]bool

// An oracleSpan is a place in a source after its unit has been resolved.
type oracleSpan struct {
	oracleKey
	start, end int64
	exact      bool // start and end are code points
	status     string
}

const oracleLimit = math.MaxInt32

func (s oracleSpan) usable() bool {
	return !slices.Contains([]string{"span_empty", "span_inverted", "span_negative", "quote_not_found"}, s.status)
}

func (s oracleSpan) inSets() bool { return s.exact && s.usable() }

func (s oracleSpan) length() int64 {
	if s.inSets() {
		return s.end - s.start
	}
	return 0
}

// cells adds the code points of the span to a set.
func (s oracleSpan) cells(set oracleSet) {
	for c := s.start; c < s.start+s.length(); c++ {
		set[oracleCell{s.oracleKey, c}] = true
	}
}

// meet counts the code points that both spans have.
func (s oracleSpan) meet(o oracleSpan) (n int64) {
	for c := s.start; c < s.start+s.length() && o.inSets() && s.oracleKey == o.oracleKey; c++ {
		if o.start <= c && c < o.end {
			n++
		}
	}
	return n
}

// An oracleShare is an exact fraction.
type oracleShare struct{ num, den int64 }

func (a oracleShare) less(b oracleShare) bool { return a.num*b.den < b.num*a.den }
func (a oracleShare) float() float64          { return float64(a.num) / float64(a.den) }

func jaccardOf(x, y oracleSpan) oracleShare {
	n := x.meet(y)
	return oracleShare{n, x.end - x.start + y.end - y.start - n}
}

// tolerant is the Jaccard of a truth span and a prediction widened on both sides.
func (o *oracle) tolerant(truth, pred oracleSpan) oracleShare {
	pred.start, pred.end = max(0, pred.start-o.c.tolerance), pred.end+o.c.tolerance
	return jaccardOf(truth, pred)
}

// snapped is the Jaccard of a truth span and a prediction with ends that are near those
// of the truth moved onto them.
func (o *oracle) snapped(truth, pred oracleSpan) oracleShare {
	t, y := min(o.c.tolerance, (truth.end-truth.start)/4), pred
	if distance(y.start, truth.start) <= t {
		y.start = truth.start
	}
	if distance(y.end, truth.end) <= t {
		y.end = truth.end
	}
	if y.start < y.end {
		pred = y
	}
	return jaccardOf(truth, pred)
}

func distance(a, b int64) int64 { return max(a-b, b-a) }

// key is the text that the offsets of a place count in.
func (o *oracle) key(d *oracleDocument, page int32) []rune {
	text, _ := d.text()
	if o.c.fromPage && d != nil && d.Pages != nil {
		if text = ""; page > 0 && int(page) <= len(d.Pages) {
			text = d.Pages[page-1]
		}
	}
	return []rune(text)
}

// known reports whether the text of a document is known.
func (o *oracle) known(doc string) bool {
	_, known := o.docs[doc].text()
	return known
}

func val[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// places resolves the citations of a row.
func (o *oracle) places(r *oracleRow) (places []oracleSpan) {
	for _, c := range r.Citations {
		places = append(places, o.resolve(c))
	}
	return places
}

// resolve finds out where something points.
func (o *oracle) resolve(m oracleMark) oracleSpan {
	s := oracleSpan{oracleKey: oracleKey{doc: *m.Doc}, status: "ok"}
	if o.c.fromPage {
		s.page = val(m.Page)
	}
	d, known := o.docs[s.doc], o.known(s.doc)
	text := o.key(d, s.page)
	if m.Start != nil && m.End != nil {
		s.start, s.end, s.exact = *m.Start, *m.End, o.c.unit == ""
		if o.c.inclusive {
			s.end++
		}
		switch {
		case s.start < 0:
			s.status = "span_negative"
		case s.start > s.end:
			s.status = "span_inverted"
		case s.start == s.end:
			s.status = "span_empty"
		}
		if !s.usable() {
			return s
		}
	}
	switch {
	case d == nil && !strings.HasPrefix(s.doc, "https://"):
		s.status = "document_not_found"
	case d != nil && d.Pages != nil && int(val(m.Page)) > len(d.Pages):
		s.status = "page_not_found"
	}
	if m.Unit != nil && known {
		s.start, s.end, s.exact = 0, int64(len(text)), true
	} else if m.Start != nil && o.c.unit != "" && known { // a place within a code point has all of it
		from, to := 0, 0
		for from < len(text) && o.c.units(text[:from+1]) <= s.start {
			from++
		}
		for to < len(text) && o.c.units(text[:to]) < s.end {
			to++
		}
		s.start, s.end, s.exact = int64(from), int64(to), true
	}
	switch {
	case s.status != "ok":
	case s.exact && m.Start != nil && (s.end > oracleLimit || known && s.end > int64(len(text))):
		s.status = "span_out_of_bounds"
	case s.exact && m.Start != nil && s.end-s.start > o.c.longest:
		s.status = "span_too_long"
	case !known || m.Start != nil && !s.exact:
		s.status = "unchecked"
	}
	if m.CitedText != nil && known && (s.status == "ok" || s.status == "span_out_of_bounds") {
		o.quote(&s, text, []rune(*m.CitedText), m.Start != nil)
	}
	return s
}

// quote compares a place with the text that it says is there, and moves it to where that is.
func (o *oracle) quote(s *oracleSpan, text, quote []rune, placed bool) {
	var found []int64
	size := int64(len(quote))
	for i := range max(0, int64(len(text))-size+1) {
		if !slices.Equal(text[i:i+size], quote) {
			continue
		}
		if found = append(found, i); (placed || s.exact) && s.status == "ok" && s.start <= i && i+size <= s.end {
			return // the place holds it
		}
	}
	for i, at := range found { // the one that is less than half as far as every other
		near := placed || len(found) == 1
		for j, other := range found {
			near = near && (i == j || 2*distance(at, s.start) < distance(other, s.start))
		}
		if near {
			s.status = map[bool]string{true: "quote_repaired", false: "quote_located"}[placed]
			s.start, s.end, s.exact = at, at+size, true
			return
		}
	}
	switch {
	case !placed && found == nil:
		s.status = "quote_not_found"
	case found == nil && s.status == "ok":
		s.status = "quote_mismatch"
	case s.status == "ok":
		s.status = "quote_ambiguous"
	}
}

func oracleValid(s oracleSpan) bool {
	return slices.Contains([]string{"ok", "unchecked", "quote_repaired", "quote_located", "quote_ambiguous"}, s.status)
}

// An oracleSide is what one side of a row, truth or citations, has.
type oracleSide struct {
	spans   []oracleSpan
	docs    oracleSet
	nowhere int // places without characters, since their quotes stand nowhere
	lost    map[string]bool
}

func sideOf(places []oracleSpan) *oracleSide {
	s := &oracleSide{docs: oracleSet{}, lost: map[string]bool{}}
	for _, p := range places {
		if p.status == "quote_not_found" {
			s.nowhere++
			s.lost[p.doc] = true
		}
		if p.inSets() {
			s.spans = append(s.spans, p)
		}
		if p.usable() {
			s.docs[oracleCell{oracleKey: oracleKey{doc: p.doc}}] = true
		}
	}
	return s
}

func (s *oracleSide) set() oracleSet {
	set := oracleSet{}
	for _, x := range s.spans {
		x.cells(set)
	}
	return set
}

// stretches are the spans of a set: runs without a gap.
func stretches(set oracleSet) (spans []oracleSpan) {
	for c := range set {
		if set[oracleCell{c.oracleKey, c.at - 1}] {
			continue
		}
		x := oracleSpan{oracleKey: c.oracleKey, start: c.at, end: c.at, exact: true, status: "ok"}
		for ; set[c]; c.at++ {
			x.end++
		}
		spans = append(spans, x)
	}
	return spans
}

func both(a, b oracleSet) (n int) {
	for k := range a {
		if b[k] {
			n++
		}
	}
	return n
}

// tokens are those that a set of code points touches.
func (o *oracle) tokens(set oracleSet) oracleSet {
	touched := oracleSet{}
	for c := range set {
		d, at := o.docs[c.doc], c.at
		if at >= int64(len(o.key(d, c.page))) {
			continue
		}
		if o.c.fromPage && d.Pages != nil {
			at += int64(len([]rune(strings.Join(d.Pages[:c.page-1], ""))))
		}
		for k, t := range d.tokens {
			if t[0] <= at && at < t[1] {
				touched[oracleCell{oracleKey{doc: c.doc}, int64(k)}] = true
			}
		}
	}
	return touched
}

// spanMetrics computes the metrics of places against one truth.
func (o *oracle) spanMetrics(e *oracleExpected, truth, pred *oracleSide) {
	t, p := truth.set(), pred.set()
	e.sets("char", t, p)
	some := min(1, len(t)+len(p))
	e.ratio("any_overlap", min(1, both(t, p)), some)
	e.ratio("exact_match", map[bool]int{true: 1}[both(t, p) == len(t) && len(t) == len(p)], some)
	e.sets("doc", truth.docs, pred.docs)
	if pred.nowhere > 0 { // whether the document of a place that is nowhere counts is not defined
		e.skipDocuments()
	}
	readable := true
	for _, x := range slices.Concat(truth.spans, pred.spans) {
		readable = readable && o.known(x.doc) && (!o.c.fromPage || len(o.key(o.docs[x.doc], x.page)) > 0)
	}
	if readable {
		e.sets("token", o.tokens(t), o.tokens(p))
	}
	o.matches(e, truth.spans, pred)
	o.matching(e, distinct(truth.spans), distinct(pred.spans), len(pred.lost))
}

// matches computes what each truth span finds among the predicted ones.
func (o *oracle) matches(e *oracleExpected, truth []oracleSpan, pred *oracleSide) {
	count, sum := map[string]int{"untouched_pred_spans": pred.nowhere, "perfect_matches": 0, "good_matches": 0}, [3]float64{}
	for _, x := range truth {
		// Of the best by tolerance Jaccard, then exact Jaccard, then overlap; and of the best by snapped.
		exact, tolerant, snapped, overlap := oracleShare{0, 1}, oracleShare{0, 1}, oracleShare{0, 1}, int64(0)
		for _, y := range pred.spans {
			v, w, n, z := jaccardOf(x, y), o.tolerant(x, y), x.meet(y), o.snapped(x, y)
			if tolerant.less(w) || !w.less(tolerant) && (exact.less(v) || !v.less(exact) && n > overlap) {
				exact, tolerant, overlap = v, w, n
			}
			if snapped.less(z) {
				snapped = z
			}
		}
		count["perfect_matches"] += map[bool]int{true: 1}[exact.num == exact.den]
		count["good_matches"] += map[bool]int{true: 1}[!tolerant.less(decimal(o.c.good))]
		for i, v := range []oracleShare{exact, tolerant, snapped} {
			sum[i] += v.float()
		}
	}
	for _, y := range pred.spans {
		if !slices.ContainsFunc(truth, func(x oracleSpan) bool { return x.meet(y) > 0 }) {
			count["untouched_pred_spans"]++
		}
	}
	count["truth_spans"], count["pred_spans"] = len(truth), len(pred.spans)+pred.nowhere
	e.counts(count)
	for i, name := range []string{"mean_exact_jaccard", "mean_tolerance_jaccard", "mean_snapped_jaccard"} {
		e.quotient(name, sum[i], len(truth))
	}
	e.ratio("over_citation", count["untouched_pred_spans"], count["pred_spans"])
}

// decimal is a fraction of thousandths.
func decimal(v float64) oracleShare { return oracleShare{int64(math.Round(1000 * v)), 1000} }

func distinct(spans []oracleSpan) (out []oracleSpan) {
	for _, x := range spans {
		if x.status = ""; !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out
}

// matching tries every one-to-one matching: most pairs, then the largest sum of Jaccards.
// Of equal ones any may be reported.
func (o *oracle) matching(e *oracleExpected, truth, pred []oracleSpan, nowhere int) {
	most, total := 0, -1.
	var starts, ends []float64
	used := make([]bool, len(pred))
	var try func(i, pairs int, sum float64, from, to int64)
	try = func(i, pairs int, sum float64, from, to int64) {
		if i == len(truth) {
			if pairs > most || pairs == most && sum > total+1e-9 {
				most, total, starts, ends = pairs, sum, nil, nil
			}
			if pairs == most && sum > total-1e-9 {
				starts, ends = append(starts, float64(from)), append(ends, float64(to))
			}
			return
		}
		for j, y := range pred {
			x := truth[i]
			if v := jaccardOf(x, y); !used[j] && v.num > 0 && !v.less(decimal(o.c.overlap)) {
				used[j] = true
				try(i+1, pairs+1, sum+v.float(), from+y.start-x.start, to+y.end-x.end)
				used[j] = false
			}
		}
		try(i+1, pairs, sum, from, to)
	}
	try(0, 0, 0, 0, 0)
	e.counts(map[string]int{"matched_spans": most, "distinct_truth_spans": len(truth), "distinct_pred_spans": len(pred) + nowhere})
	e.ratio("span_precision", most, len(pred)+nowhere)
	e.ratio("span_recall", most, len(truth))
	e.ratio("span_f1", 2*most, len(truth)+len(pred)+nowhere)
	for name, sums := range map[string][]float64{"boundary_error_start": starts, "boundary_error_end": ends} {
		for i := range sums {
			sums[i] /= float64(max(1, most))
		}
		if e.quotient(name, 0, most); most > 0 {
			e.values[name] = sums
		}
	}
}

// spanAccuracy is the component: the harmonic mean of what each truth span finds and what
// each distinct predicted span finds. A span beside the truth that a judge found to support
// its claim, and that is concise, does not count.
func (o *oracle) spanAccuracy(e *oracleExpected, support []*float64, kappa []float64, first []int) {
	if e.side == nil || e.reasons["mean_snapped_jaccard"] != "" {
		e.set("span_accuracy_score", 0, "?")
		return
	}
	sum, n := 0., 0
	for i, y := range e.places {
		if !y.inSets() || first[i] != i {
			continue
		}
		best, touches := oracleShare{0, 1}, false
		for _, x := range e.side.spans {
			touches = touches || x.meet(y) > 0
			if v := o.snapped(x, y); best.less(v) {
				best = v
			}
		}
		if support != nil && !touches && kappa[i] == 1 && support[i] != nil && *support[i] >= o.c.supported {
			continue
		}
		n++
		sum += best.float()
	}
	found, precise := e.value("mean_snapped_jaccard"), sum/float64(max(1, n))
	e.set("span_accuracy_score", 2*found*precise/max(found+precise, 1e-300), "")
}
