package openrouter

import (
	"slices"
	"strings"
	"unicode"

	"ibid/judge"
)

// A part is a request for some claims of a row, small enough for one call.
type part struct {
	request *judge.Request
	claims  []int // of the row, for each of the request
	// evidence of the row, for each of the request; nil if they are the same.
	evidence []int
}

// settle fills in what needs no model and returns the claims that do.
func (j *Judge) settle(r *judge.Request, v *judge.Verdict) (open []int) {
	for c := range r.Claims {
		if !settleClaim(r, c, &v.Claims[c], j.config.Necessity) {
			open = append(open, c)
		}
	}
	return open
}

// settleClaim settles a claim that stands in all of its evidence word by word,
// and one that says nothing and cites nothing.
func settleClaim(r *judge.Request, c int, out *judge.ClaimVerdict, necessity bool) bool {
	claim := &r.Claims[c]
	out.ElsewhereEvidence = -1
	if len(claim.Evidence) == 0 {
		if strings.ContainsFunc(claim.Text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			return false
		}
		out.Factual, out.Joint, out.Precheck = judge.No, judge.None.Support(), judge.PrecheckBlank
		return true
	}
	checks := make([]judge.Check, len(claim.Evidence))
	for i, e := range claim.Evidence {
		text := r.Evidence[e].Text
		at, ok := judge.Contained(claim.Text, text)
		if !ok {
			return false
		}
		checks[i] = judge.Check{
			Evidence: e, Citation: r.Evidence[e].Citation, Support: judge.Full.Support(), Relevant: judge.Yes,
			Quote: string([]rune(text)[at.Start:at.End]), QuoteAt: at, Precheck: judge.PrecheckContained,
		}
		if necessity {
			out.Sufficient = append(out.Sufficient, []int{e})
		}
	}
	out.Factual, out.Joint, out.Precheck, out.Checks = judge.Yes, judge.Full.Support(), judge.PrecheckContained, checks
	return true
}

// split puts claims into as few parts as the settings allow, in their order.
func (j *Judge) split(r *judge.Request, claims []int) []part {
	if len(claims) == 0 {
		return nil
	}
	c := &j.config
	long := bulk(r) > c.MaxPromptTokens && estimate(r, claims, allOf(len(r.Evidence))) > c.MaxPromptTokens
	var parts []part
	for start := 0; start < len(claims); {
		end, pairs := start, 0
		for end < len(claims) {
			more := len(r.Claims[claims[end]].Evidence)
			full := pairs+more > c.MaxPairs || c.MaxClaims > 0 && end-start >= c.MaxClaims ||
				long && estimate(r, claims[start:end+1], cited(r, claims[start:end+1])) > c.MaxPromptTokens
			if full && end > start {
				break
			}
			pairs += more
			end++
		}
		parts = append(parts, newPart(r, claims[start:end], evidenceFor(r, claims[start:end], long, c.MaxPromptTokens)))
		start = end
	}
	return parts
}

// evidenceFor is the evidence that a part shows: nil for all of it; in a long
// row what its claims cite, and of the rest what there is room for.
func evidenceFor(r *judge.Request, claims []int, long bool, most int64) []int {
	if !long {
		return nil
	}
	shown := cited(r, claims)
	for e := range r.Evidence {
		if slices.Contains(shown, e) {
			continue
		}
		if with := append(slices.Clone(shown), e); estimate(r, claims, with) <= most {
			shown = with
		}
	}
	slices.Sort(shown)
	return shown
}

// halves splits a part that was too long for the model, nil if it is a single
// claim with what it cites.
func (p *part) halves(r *judge.Request) []part {
	if n := len(p.claims); n > 1 {
		return []part{newPart(r, p.claims[:n/2], cited(r, p.claims[:n/2])), newPart(r, p.claims[n/2:], cited(r, p.claims[n/2:]))}
	}
	only := cited(r, p.claims)
	if len(only) == len(p.request.Evidence) {
		return nil
	}
	return []part{newPart(r, p.claims, only)}
}

func newPart(r *judge.Request, claims, evidence []int) part {
	if len(claims) == len(r.Claims) && evidence == nil {
		return part{request: r, claims: claims}
	}
	q := &judge.Request{Row: r.Row, Question: r.Question, Answer: r.Answer, Evidence: r.Evidence}
	place := make(map[int]int, len(evidence)) // of the row's evidence in the part
	if evidence != nil {
		q.Evidence = make([]judge.Evidence, len(evidence))
		for i, e := range evidence {
			q.Evidence[i] = r.Evidence[e]
			place[e] = i
		}
	}
	for _, c := range claims {
		claim := r.Claims[c]
		if evidence != nil {
			claim.Evidence = make([]int, len(r.Claims[c].Evidence))
			for i, e := range r.Claims[c].Evidence {
				claim.Evidence[i] = place[e]
			}
		}
		q.Claims = append(q.Claims, claim)
	}
	return part{request: q, claims: claims, evidence: evidence}
}

// merge puts the verdict on a part into that on its row.
func (p *part) merge(from, into *judge.Verdict) {
	for i, c := range p.claims {
		v := from.Claims[i]
		if p.evidence != nil {
			p.restore(&v)
		}
		into.Claims[c] = v
	}
	into.Calls = append(into.Calls, from.Calls...)
	if into.Tampering == "" || into.Tampering == "none" {
		into.Tampering = from.Tampering
	}
}

// restore names evidence as the row does.
func (p *part) restore(v *judge.ClaimVerdict) {
	for i := range v.Checks {
		v.Checks[i].Evidence = p.evidence[v.Checks[i].Evidence]
	}
	if v.ElsewhereEvidence >= 0 {
		v.ElsewhereEvidence = p.evidence[v.ElsewhereEvidence]
	}
	for _, set := range v.Sufficient {
		for i := range set {
			set[i] = p.evidence[set[i]]
		}
	}
}

// bulk is what all of a request takes at most: texts that occur twice count
// twice. It is cheap, and nearly always small enough to ask no further.
func bulk(r *judge.Request) int64 {
	n := len(r.Question)
	for c := range r.Claims {
		n += len(r.Claims[c].Text)
	}
	for e := range r.Evidence {
		n += len(r.Evidence[e].Text)
	}
	return int64(n) / 3
}

// estimate is how many tokens claims and texts of a request take, generously.
func estimate(r *judge.Request, claims, evidence []int) int64 {
	n := len(r.Question)
	for _, c := range claims {
		n += len(r.Claims[c].Text)
	}
	seen := make(map[string]bool, len(evidence))
	for _, e := range evidence {
		if text := r.Evidence[e].Text; !seen[text] {
			seen[text] = true
			n += len(text)
		}
	}
	return int64(n) / 3
}

// cited are the evidence that claims cite, ascending.
func cited(r *judge.Request, claims []int) []int {
	out := []int{}
	for _, c := range claims {
		for _, e := range r.Claims[c].Evidence {
			if !slices.Contains(out, e) {
				out = append(out, e)
			}
		}
	}
	slices.Sort(out)
	return out
}

func allOf(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}
