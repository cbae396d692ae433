package verify

import (
	"cmp"
	"strings"

	"ibid"
)

// A result are the numbers of one row, by the names of their columns. A metric without a
// value has the reason.
type result struct {
	counts    map[string]int64
	values    map[string]float64
	undefined map[string]string
	low, high map[string]float64
}

func newResult() *result {
	return &result{
		counts: make(map[string]int64), values: make(map[string]float64), undefined: make(map[string]string),
		low: make(map[string]float64), high: make(map[string]float64),
	}
}

func (r *result) set(metric string, v float64) {
	r.values[metric] = v
	delete(r.undefined, metric)
}

func (r *result) lack(why ibid.Reason, metrics ...string) {
	for _, m := range metrics {
		delete(r.values, m)
		r.undefined[m] = why.String()
	}
}

// share is num / den, undefined for that reason where den is 0.
func (r *result) share(metric string, num, den float64, why ibid.Reason) {
	if den == 0 {
		r.lack(why, metric)
		return
	}
	r.set(metric, num/den)
}

func (r *result) bound(metric string, low, high float64) { r.low[metric], r.high[metric] = low, high }

// An overlap of two sets gives three metrics.
func (r *result) overlap(prefix, plural string, truth, pred, both int64) {
	r.counts["truth_"+plural], r.counts["pred_"+plural], r.counts["overlap_"+plural] = truth, pred, both
	r.threeShares(prefix, truth, pred, both)
}

func (r *result) threeShares(prefix string, truth, pred, both int64) {
	r.share(prefix+"_precision", float64(both), float64(pred), ibid.NoCitations)
	r.share(prefix+"_recall", float64(both), float64(truth), ibid.NoTruth)
	r.share(prefix+"_f1", float64(2*both), float64(truth+pred), ibid.NothingToCite)
}

func yes(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// spanMetrics compare what is cited with truth.
var spanMetrics = strings.Fields(`char_precision char_recall char_f1 char_jaccard exact_match any_overlap token_precision token_recall token_f1 token_jaccard
	page_precision page_recall page_f1 doc_precision doc_recall doc_f1 set_tolerance_jaccard mean_exact_jaccard mean_tolerance_jaccard mean_best_exact_jaccard
	mean_snapped_jaccard span_precision span_recall span_f1 boundary_error_start boundary_error_end span_length_ratio over_citation`)

// A citedPlace says how one citation compares with truth.
type citedPlace struct {
	known                     bool
	truth                     int // annotation, -1 for none
	exact, tolerance, snapped ratio
}

// comparePlaces fills out with all that needs places alone, and returns what it says of
// each citation and each predicted span.
func (w *rowWork) comparePlaces(out *result) (ofCitation []citedPlace, ofSpan []cited) {
	row := w.row
	pred := newSide()
	for i := range row.Citations {
		pred.add(i, &row.Citations[i].Place, row.Citations[i].CitedText)
	}
	w.pred = pred
	w.countPlaces(out)
	policy := ibid.Policy(w.s.TruthPolicy)
	all, why := annotators(row, policy)
	ofCitation = make([]citedPlace, len(row.Citations))
	for i := range ofCitation {
		ofCitation[i].truth = -1
	}
	if row.HasCitations {
		w.countSide(out, pred, "pred")
	}
	switch {
	case why != ibid.Defined:
		out.lack(why, spanMetrics...)
		out.lack(why, "span_accuracy_score")
		return ofCitation, nil
	case !row.HasCitations:
		out.lack(ibid.NoCitations, spanMetrics...)
		out.lack(ibid.NoCitations, "span_accuracy_score")
		if policy != ibid.PolicyMean || len(all) < 2 {
			all = []truth{chosen(all, policy, pred)}
			w.annotator = all[0].name
		}
		for _, a := range all {
			w.countSide(out, a.side, "truth")
		}
		return ofCitation, nil
	case policy == ibid.PolicyMean && len(all) > 1:
		ofSpan = w.compareMean(out, all)
	default:
		t := chosen(all, policy, pred)
		w.annotator = t.name
		ofSpan = w.compareOne(out, &t)
	}
	for j, c := range ofSpan {
		to := &ofCitation[pred.spans[j].from]
		if !to.known || cmp.Or(c.snapped.compare(to.snapped), c.exact.compare(to.exact)) > 0 {
			*to = citedPlace{true, c.truth, c.exact, c.tolerance, c.snapped}
		}
	}
	return ofCitation, ofSpan
}

// countSide counts one side alone. Sides of several annotators add up.
func (w *rowWork) countSide(out *result, s *side, name string) {
	chars, _, _ := measure(s.spans, nil)
	out.counts[name+"_chars"] += chars + s.beyondSize
	if name == "pred" {
		out.counts["cited_chars"] = chars + s.beyondSize
		wideChars, _, _ := measure(widened(s.spans, w.tolerance), nil)
		out.counts["tolerance_pred_chars"] = wideChars + s.wideBeyond(w.tolerance)
	}
	out.counts[name+"_spans"] += int64(len(s.spans)) + s.beyondSpans
	out.counts["distinct_"+name+"_spans"] += int64(len(distinctSpans(s.spans))) + s.distinct
	out.counts[name+"_docs"] += int64(len(s.docs))
	if !s.pagesUnknown {
		pages, _, _ := measure(s.pages, nil)
		out.counts[name+"_pages"] += pages
	}
	if tokens, known := w.tokensOf(s.spans); known {
		out.counts[name+"_tokens"] += int64(len(tokens))
	}
}

// wideBeyond are the code points of what lies beyond all texts, widened.
func (s *side) wideBeyond(tolerance int64) int64 { return s.beyondSize + 2*tolerance*s.distinct }

// compareMean compares with every annotator: metrics are means, counts add up.
func (w *rowWork) compareMean(out *result, all []truth) []cited {
	var ofSpan []cited
	sums, defined := make(map[string]float64), make(map[string]float64)
	cited := out.counts["cited_chars"]
	for _, c := range []string{"pred_tokens", "pred_pages"} { // known where those of truth are, too
		delete(out.counts, c)
	}
	total := make(map[string]int64)
	totals := make(map[string]float64)
	for _, a := range all {
		part := newResult()
		each := w.compareOne(part, &a)
		for _, m := range spanMetrics {
			if v, ok := part.values[m]; ok {
				sums[m] += v
				defined[m]++
			} else {
				out.undefined[m] = part.undefined[m]
			}
		}
		for c, n := range part.counts {
			total[c] += n
		}
		for name, v := range part.values {
			if strings.HasPrefix(name, "sum_") {
				totals[name] += v
			}
		}
		if ofSpan == nil {
			ofSpan = each
			continue
		}
		for j, c := range each {
			old := &ofSpan[j]
			touches := old.touches || c.touches
			d := cmp.Or(c.snapped.compare(old.snapped), c.exact.compare(old.exact))
			if c.truth >= 0 && (old.truth < 0 || d > 0 || d == 0 && c.truth < old.truth) {
				*old = c
			}
			old.touches = touches
		}
	}
	for c, n := range total {
		out.counts[c] = n
	}
	for name, v := range totals {
		out.values[name] = v
	}
	out.counts["cited_chars"] = cited
	for m, n := range defined {
		out.set(m, sums[m]/n)
	}
	return ofSpan
}

// compareOne compares the citations with one truth.
func (w *rowWork) compareOne(out *result, t *truth) []cited {
	pred, tolerance := w.pred, w.tolerance
	inT, inP, both := measure(t.spans, pred.spans)
	_, wideP, wideBoth := measure(t.spans, widened(pred.spans, tolerance))
	inP, wideP = inP+pred.beyondSize, wideP+pred.wideBeyond(tolerance)
	union, wideUnion := inT+inP-both, inT+wideP-wideBoth
	out.overlap("char", "chars", inT, inP, both)
	out.counts["union_chars"], out.counts["tolerance_pred_chars"] = union, wideP
	out.counts["tolerance_overlap_chars"], out.counts["tolerance_union_chars"] = wideBoth, wideUnion
	out.share("char_jaccard", float64(both), float64(union), ibid.NothingToCite)
	out.share("set_tolerance_jaccard", float64(wideBoth), float64(wideUnion), ibid.NothingToCite)
	if union == 0 {
		out.lack(ibid.NothingToCite, "exact_match", "any_overlap")
	} else {
		out.set("exact_match", yes(both == union))
		out.set("any_overlap", yes(both > 0))
	}
	w.compareTokens(out, t.spans)
	if t.pagesUnknown || pred.pagesUnknown {
		out.lack(ibid.NoDocuments, "page_precision", "page_recall", "page_f1")
		delete(out.counts, "pred_pages")
	} else {
		a, b, c := measure(t.pages, pred.pages)
		out.overlap("page", "pages", a, b, c)
	}
	a, b, c := shared(t.docs, pred.docs)
	out.overlap("doc", "docs", a, b, c)
	w.matchSpans(out, t)
	return w.citeSpans(out, t)
}

// absent is why a metric that needs both sides has no value.
func absent(truth, pred int64) ibid.Reason {
	switch {
	case truth == 0 && pred == 0:
		return ibid.NothingToCite
	case truth == 0:
		return ibid.NoTruth
	}
	return ibid.NoCitations
}

// matchSpans measures how single spans of truth were found.
func (w *rowWork) matchSpans(out *result, t *truth) {
	pred := w.pred
	n, np := int64(len(t.spans)), int64(len(pred.spans))+pred.beyondSpans
	var perfect, good, hits, boundary int64
	sums := make(map[string]float64)
	for _, x := range t.spans {
		f := findTruth(x, pred.spans, w.tolerance)
		if f.exact.num == f.exact.den {
			perfect++
		}
		if f.tolerance.float() >= w.s.Thresholds.GoodMatch {
			good++
		}
		hits, boundary = hits+int64(yes(f.hit)), boundary+int64(yes(f.boundary))
		sums["exact_jaccard"] += f.exact.float()
		sums["tolerance_jaccard"] += f.tolerance.float()
		sums["best_exact_jaccard"] += f.best.float()
		sums["snapped_jaccard"] += f.snapped.float()
	}
	for _, name := range []string{"exact_jaccard", "tolerance_jaccard", "best_exact_jaccard", "snapped_jaccard"} {
		out.values["sum_"+name] = sums[name]
		out.share("mean_"+name, sums[name], float64(n), ibid.NoTruth)
	}
	out.counts["truth_spans"], out.counts["pred_spans"] = n, np
	out.counts["perfect_matches"], out.counts["good_matches"] = perfect, good
	out.counts["exact_hits"], out.counts["boundary_hits"] = hits, boundary

	m := match(t.spans, pred.spans, w.s.SpanMatching.MinOverlapThreshold)
	pairs := int64(len(m.pairs))
	dt, dp := m.distinct[0], m.distinct[1]+pred.distinct
	out.counts["distinct_truth_spans"], out.counts["distinct_pred_spans"], out.counts["matched_spans"] = dt, dp, pairs
	out.threeShares("span", dt, dp, pairs)
	var start, end int64
	for _, p := range m.pairs {
		if !m.unordered {
			start += pred.spans[p[1]].start - t.spans[p[0]].start
			end += pred.spans[p[1]].end - t.spans[p[0]].end
		}
	}
	w.unpaired = w.unpaired || m.unordered
	out.values["sum_boundary_start"], out.values["sum_boundary_end"] = float64(start), float64(end)
	out.share("boundary_error_start", float64(start), float64(pairs), absent(n, np))
	out.share("boundary_error_end", float64(end), float64(pairs), absent(n, np))
}

// citeSpans measures what single predictions cite beside and of truth.
func (w *rowWork) citeSpans(out *result, t *truth) []cited {
	pred := w.pred
	untouched := pred.beyondSpans
	var all []cited
	lengths := func(spans []span) (n float64) {
		for _, s := range spans {
			n += float64(s.len())
		}
		return n / float64(len(spans))
	}
	for _, y := range pred.spans {
		c := findPred(y, t.spans, w.tolerance)
		if !c.touches {
			untouched++
		}
		if c.truth >= 0 {
			c.truth = w.annotation(t, c.truth)
		}
		all = append(all, c)
	}
	np := int64(len(pred.spans)) + pred.beyondSpans
	out.counts["untouched_pred_spans"] = untouched
	out.share("over_citation", float64(untouched), float64(np), ibid.NoCitations)
	if len(t.spans) == 0 || len(pred.spans) == 0 {
		out.lack(absent(int64(len(t.spans)), int64(len(pred.spans))), "span_length_ratio")
	} else {
		out.set("span_length_ratio", lengths(pred.spans)/lengths(t.spans))
	}
	return all
}

// annotation is the annotation that a truth span is of: of a combined one the first that
// overlaps it.
func (w *rowWork) annotation(t *truth, i int) int {
	if t.marks != nil {
		return t.marks[i]
	}
	x := t.spans[i]
	for k := range w.row.Truth {
		p := &w.row.Truth[k].Place
		if !w.row.Truth[k].DocNull && inSets(p) && (key{p.Doc, p.Page}) == x.key && p.Start < x.end && p.End > x.start {
			return k
		}
	}
	return -1
}

// countPlaces counts what became of citations and marks.
func (w *rowWork) countPlaces(out *result) {
	row := w.row
	if row.HasCitations {
		docs := make(map[string]bool)
		for _, c := range []string{"citations", "valid_citations", "moved_citations", "missing_citations", "quoted_citations", "misplaced_quotes", "placed_citations", "whole_citations"} {
			out.counts[c] = 0
		}
		for i := range row.Citations {
			c := &row.Citations[i]
			p := &c.Place
			if p.Level != ibid.LevelNowhere {
				docs[p.Doc] = true
			}
			out.counts["citations"]++
			out.counts["valid_citations"] += int64(yes(p.Status.Valid()))
			out.counts["moved_citations"] += int64(yes(c.Repaired.Known()))
			switch p.Status {
			case ibid.StatusDocumentNotFound:
				out.counts["missing_citations"]++
				continue
			case ibid.StatusUnchecked:
				continue
			case ibid.StatusQuoteMismatch, ibid.StatusQuoteRepaired, ibid.StatusQuoteAmbiguous, ibid.StatusQuoteNotFound:
				out.counts["quoted_citations"]++
				out.counts["misplaced_quotes"]++
			case ibid.StatusQuoteLocated:
				out.counts["quoted_citations"]++
			default:
				out.counts["quoted_citations"] += int64(yes(c.Held))
			}
			if p.Level == ibid.LevelCharacters && p.Status.Usable() {
				out.counts["placed_citations"]++
				out.counts["whole_citations"] += int64(yes(p.Whole))
			}
		}
		out.set("distinct_sources", float64(len(docs)))
	} else {
		out.lack(ibid.NoCitations, "distinct_sources")
	}
	if row.HasTruth {
		for _, c := range []string{"truth_marks", "moved_truth", "lost_truth", "out_of_bounds_truth"} {
			out.counts[c] = 0
		}
		for i := range row.Truth {
			p := &row.Truth[i].Place
			if row.Truth[i].DocNull {
				continue
			}
			out.counts["truth_marks"]++
			if p.Status == ibid.StatusQuoteRepaired {
				out.counts["moved_truth"]++
			} else if lostMark(p) {
				out.counts["lost_truth"]++
			}
			out.counts["out_of_bounds_truth"] += int64(yes(p.Status == ibid.StatusOutOfBounds))
		}
	}
	w.offsets(out)
}

// offsets measures how many quotes stand where their offsets say.
func (w *rowWork) offsets(out *result) {
	why := ibid.NoCitations
	var num, den float64
	for i := range w.row.Citations {
		c := &w.row.Citations[i]
		if !c.Start.Known() || !c.End.Known() || strings.TrimSpace(c.CitedText) == "" {
			continue
		}
		switch c.Place.Status {
		case ibid.StatusOK, ibid.StatusUnchecked, ibid.StatusTooLong:
			if !c.Held {
				why = ibid.NoDocuments
				continue
			}
			num++
		}
		den++
	}
	out.share("offset_accuracy", num, den, why)
	if den > 0 {
		out.values["offset_accuracy_num"], out.values["offset_accuracy_den"] = num, den
	}
}
