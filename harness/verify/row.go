package verify

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"ibid"
	"ibid/configs"
	"ibid/dataset/runs"
)

// A rowWork is one row in the course of being computed.
type rowWork struct {
	in        *inputs
	s         *configs.Settings
	row       *ibid.Answer
	resolver  *resolver
	tolerance int64
	weights   map[string]float64 // of the components that the run has
	judged    bool               // the run has a judge
	human     bool               // who is people
	told      bool               // or another program, who may know other texts

	pred      *side
	annotator string
	unpaired  bool // too many spans hang together to say which are matched

	verdicts    []record
	claims      []claimWork
	citations   []citationWork
	scopes      []string // of each citation, as the run has them
	claimsKnown bool
	unlinked    int64
	asked       bool
	failed      bool // the judge could not answer
	blind       bool // no text is known, so that nothing was asked
	onlyTexts   bool // claims are open, each for want of a text
	tampering   string

	problems []string // what the results say of a row that cannot be
}

// A written is what the run has of one row.
type written struct {
	row                         record
	citations, claims, verdicts []record
}

// A computed is what the run should have of it. Columns that are not in it are not
// recomputed.
type computed struct {
	row               record
	citations, claims []record
	numbers           *result
}

// compute computes one row.
func (w *rowWork) compute(have *written) (*computed, error) {
	out := &computed{row: record{}, numbers: newResult()}
	w.describe(out.row)
	failure := w.prepare()
	if failure != nil {
		out.row["status"], out.row["fails"], out.row["fails_because"] = "error", true, "error"
		for i := range metrics {
			out.numbers.undefined[metrics[i].name] = ibid.RowError.String()
		}
		w.enter(out)
		out.row["truth_annotator"], out.row["overall_components"], out.row["tampering"] = nil, nil, nil
		return out, nil
	}
	out.row["status"], out.row["error"] = "ok", nil
	if err := w.link(have); err != nil {
		return nil, err
	}
	n := out.numbers
	for i := range metrics {
		if m := &metrics[i]; m.judged {
			n.undefined[m.name] = ibid.NoJudge.String()
		}
	}
	places, ofSpan := w.comparePlaces(n)
	chars := int64(utf8.RuneCountInString(w.row.Answer))
	n.counts["answer_chars"] = chars
	if w.row.HasCitations {
		n.share("citation_density", float64(n.counts["cited_chars"]), float64(chars), ibid.NoClaims)
	} else {
		n.lack(ibid.NoCitations, "citation_density")
	}
	if w.judged {
		w.judge(n)
	}
	w.scoreComponents(n, ofSpan)
	w.scoreOverall(n)
	w.takePresence(n, have.row)
	problem, fails := w.worst(n, places)
	out.row["fails"], out.row["fails_because"] = fails, nil
	if fails {
		out.row["fails_because"] = problem
	}
	out.row["truth_annotator"] = optional(w.annotator)
	var names []string
	for _, c := range components {
		if w.weights[c] > 0 {
			names = append(names, c)
		}
	}
	out.row["overall_components"] = optional(strings.Join(names, ","))
	out.row["tampering"] = optional(w.tampering)
	w.enter(out)
	for i := range w.row.Citations {
		out.citations = append(out.citations, w.citation(i, &places[i]))
	}
	for k := range w.claims {
		out.claims = append(out.claims, w.claim(k))
	}
	return out, nil
}

// cluster is the name of the rows that this one depends on, "" if that is its id.
func (w *rowWork) cluster() string {
	switch by := w.s.Statistics.Cluster; by {
	case "id", "auto":
		return ""
	case "doc":
		for i := range w.row.Truth {
			if !w.row.Truth[i].DocNull {
				return w.row.Truth[i].Doc
			}
		}
		for i := range w.row.Citations {
			if !w.row.Citations[i].DocNull {
				return w.row.Citations[i].Doc
			}
		}
		return ""
	default:
		v, _ := w.row.Tag(by)
		return v
	}
}

// prepare resolves the places of the row. The error is why it cannot be scored.
func (w *rowWork) prepare() error {
	a := w.row
	switch {
	case a.Err != nil:
		return a.Err
	case a.QueryNull, a.AnswerNull:
		return fmt.Errorf("query or answer is null")
	}
	r, bad := newResolver(w.in, w.s, a)
	w.resolver = r
	for i := range a.Citations {
		c := &a.Citations[i]
		at, err := r.resolve(&pointer{c.Doc, c.DocNull, c.Page, c.Start, c.End, c.Unit, c.CitedText})
		if err != nil && bad == nil {
			bad = err
		}
		c.Place, c.Given, c.Repaired, c.Held = at.Place, at.given, at.repaired, at.held
		c.Extent = w.inAnswer(c.AnswerStart, c.AnswerEnd)
	}
	for i := range a.Truth {
		t := &a.Truth[i]
		at, err := r.resolve(&pointer{t.Doc, t.DocNull, t.Page, t.Start, t.End, t.Unit, t.CitedText})
		if err != nil && bad == nil {
			bad = err
		}
		t.Place = at.Place
		if t.Place.Status == ibid.StatusQuoteMismatch && w.s.QuotedSpans != "given" {
			t.Place.Excluded = true
		}
	}
	for i := range a.Claims {
		a.Claims[i].Extent = w.inAnswer(a.Claims[i].Start, a.Claims[i].End)
	}
	return bad
}

// inAnswer converts offsets in the answer to code points.
func (w *rowWork) inAnswer(start, end ibid.Integer) ibid.Interval {
	if end.Known() && w.in.end == "inclusive" {
		end.Value++
	}
	if w.s.AnswerOffsetUnit != "codepoint" {
		text := []rune(w.row.Answer)
		if start.Known() && start.Value > 0 {
			start.Value = codePoint(text, w.s.AnswerOffsetUnit, start.Value, false)
		}
		if end.Known() && end.Value > 0 {
			end.Value = codePoint(text, w.s.AnswerOffsetUnit, end.Value, true)
		}
	}
	return ibid.Interval{Start: start, End: end}
}

// stands reports whether a citation has a position in the answer.
func stands(c *ibid.Citation) bool {
	e := c.Extent
	return e.Start.Known() && e.Start.Value >= 0 && (!e.End.Known() || e.End.Value >= e.Start.Value)
}

// link takes the claims that the run cut, and which citation backs which, and holds them
// against what the row itself says of it.
func (w *rowWork) link(have *written) error {
	w.citations = make([]citationWork, len(w.row.Citations))
	w.scopes = make([]string, len(w.row.Citations))
	if !w.judged {
		return nil
	}
	provided := w.s.Claims == "provided" || w.s.Claims == "auto" && w.row.HasClaims
	w.claimsKnown = !provided || w.row.HasClaims
	for _, r := range have.claims {
		c := claimWork{pairs: make(map[int]opinion)}
		c.ClaimID, c.Text = textOf(r["claim_id"]), textOf(r["text"])
		c.Extent = ibid.Interval{Start: integerOf(r["start"]), End: integerOf(r["end"])}
		cited, _ := r.list("citations")
		for _, i := range cited {
			n, ok := i.(int64)
			if !ok || n < 0 || int(n) >= len(w.citations) {
				return fmt.Errorf("claims.parquet links citation %v of %d", i, len(w.citations))
			}
			c.Citations = append(c.Citations, int32(n))
			w.citations[n].claims = append(w.citations[n].claims, len(w.claims))
		}
		w.claims = append(w.claims, c)
	}
	if provided && len(w.claims) != len(w.row.Claims) {
		w.problems = append(w.problems, fmt.Sprintf("the row has %d claims, claims.parquet %d", len(w.row.Claims), len(w.claims)))
	}
	w.checkLinks(have, provided)
	w.verdicts = have.verdicts
	w.told = w.s.Judge.Kind == "recorded" && w.s.Judge.Replay != "" && !strings.HasSuffix(w.s.Judge.Replay, ".parquet") && len(have.verdicts) > 0
	known, invalid := false, false
	for i := range w.row.Citations {
		c, at := &w.citations[i], &w.row.Citations[i]
		valid := at.Place.Status.Valid()
		c.counts = w.human || valid
		text := valid && w.textKnown(i)
		c.missing = valid && !text
		known = known || text || w.keyKnown(&at.Place)
		invalid = invalid || !valid && !w.human && !c.noClaim
	}
	for i := range w.row.Documents {
		known = known || w.keyKnown(&ibid.Place{Doc: w.row.Documents[i].Doc, Level: ibid.LevelDocument})
	}
	w.blind = !w.human && !w.told && !known && !invalid && (len(w.citations) > 0 || !w.in.given)
	return w.readVerdicts()
}

func (w *rowWork) keyKnown(p *ibid.Place) bool {
	if p.Level == ibid.LevelNowhere {
		return false
	}
	_, known := w.evidence(p)
	return known
}

// checkLinks checks what does not depend on how the answer is cut: claim ids, and
// citations that stand nowhere in the answer.
func (w *rowWork) checkLinks(have *written, provided bool) {
	ids := provided || !w.row.HasClaims
	for i := range w.row.Citations {
		at := &w.row.Citations[i]
		var r record
		if i < len(have.citations) {
			r = have.citations[i]
		}
		scope := integerOf(r["scope_start"])
		w.scopes[i] = fmt.Sprint(r["scope_start"], r["scope_end"])
		byID := ids && at.ClaimID != ""
		w.citations[i].noClaim = w.claimsKnown && stands(at) && !scope.Known() && !byID
		at.NoClaim = w.citations[i].noClaim
		if !w.claimsKnown {
			continue
		}
		var want []int
		switch {
		case byID:
			for k := range w.claims {
				if w.claims[k].ClaimID == at.ClaimID {
					want = []int{k}
					break
				}
			}
		case !stands(at):
			w.unlinked++
			for k := range w.claims {
				want = append(want, k)
			}
		default:
			continue
		}
		if !slices.Equal(want, w.citations[i].claims) {
			w.problems = append(w.problems, fmt.Sprintf("citation %d is linked to claims %v, by its claim_id or for want of a position it belongs to %v", i, w.citations[i].claims, want))
		}
	}
}

// takePresence takes what is not recomputed from the run.
func (w *rowWork) takePresence(n *result, r record) {
	const name = "citation_presence"
	if v := numberOf(r[name]); v.Known() {
		n.set(name, v.Value)
		return
	}
	undefined, _ := r["undefined"].(map[string]any)
	if why, ok := undefined[name].(string); ok {
		n.undefined[name] = why
	}
}

// weightsOf are the weights of the components that the run has.
func weightsOf(s *configs.Settings, spans, judged bool) map[string]float64 {
	out := make(map[string]float64)
	if spans && s.Weights.SpanAccuracy > 0 {
		out["span_accuracy_score"] = s.Weights.SpanAccuracy
	}
	for name, w := range map[string]float64{
		"citation_quality_score": s.Weights.CitationQuality, "answer_consistency_score": s.Weights.AnswerConsistency, "hallucination_score": s.Weights.Hallucination,
	} {
		if judged && w > 0 {
			out[name] = w
		}
	}
	return out
}

// isHuman reports whether the verdicts are labels that rows bring.
func isHuman(m *runs.Manifest, s *configs.Settings) bool {
	return m.Judge.Kind == "human" || m.Judge.Kind == "recorded" && s.Judge.Replay == ""
}
