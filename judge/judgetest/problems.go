package judgetest

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"ibid/judge"
)

// Problems says what is wrong with a verdict on r, nothing if all is well.
func Problems(r *judge.Request, v *judge.Verdict) []string {
	c := checker{request: r}
	if len(v.Claims) != len(r.Claims) {
		return []string{fmt.Sprintf("%d claims, want %d", len(v.Claims), len(r.Claims))}
	}
	if !slices.Contains([]string{"", "none", "in_answer", "in_evidence"}, v.Tampering) {
		c.addf("tampering %q", v.Tampering)
	}
	for i := range v.Claims {
		c.where = fmt.Sprintf("claim %d: ", i)
		c.claim(&r.Claims[i], &v.Claims[i])
	}
	return c.problems
}

type checker struct {
	request  *judge.Request
	where    string
	problems []string
}

func (c *checker) addf(format string, args ...any) {
	c.problems = append(c.problems, c.where+fmt.Sprintf(format, args...))
}

func (c *checker) claim(claim *judge.Claim, v *judge.ClaimVerdict) {
	c.support("joint", v.Joint)
	c.support("elsewhere", v.Elsewhere)
	c.tri("factual", v.Factual)
	c.tri("needs citation", v.NeedsCitation)
	if len(claim.Citations) == 0 && v.Joint != judge.None.Support() {
		c.addf("cites nothing, joint is %+v", v.Joint)
	}
	if v.Contradicted != (v.Joint.Label == judge.Contradicts) {
		c.addf("contradicted is %t, joint %s", v.Contradicted, v.Joint.Label)
	}
	if v.Votes < 0 || v.Votes > 0 && len(claim.Citations) == 0 {
		c.addf("%d votes", v.Votes)
	}
	seen := make(map[int]bool)
	for i := range v.Checks {
		check := &v.Checks[i]
		if seen[check.Citation] {
			c.addf("citation %d is checked twice", check.Citation)
		}
		seen[check.Citation] = true
		c.check(claim, check)
	}
	for _, e := range claim.Evidence {
		if !seen[c.request.Evidence[e].Citation] {
			c.addf("citation %d is not checked", c.request.Evidence[e].Citation)
		}
	}
	for _, set := range v.Sufficient {
		for _, e := range set {
			if !slices.Contains(claim.Evidence, e) {
				c.addf("sufficient has evidence %d, which it does not cite", e)
			}
		}
	}
	c.elsewhere(claim, v)
}

func (c *checker) check(claim *judge.Claim, v *judge.Check) {
	if !slices.Contains(claim.Citations, v.Citation) {
		c.addf("a check of citation %d, which it does not cite", v.Citation)
	}
	c.support("check", v.Support)
	c.tri("relevant", v.Relevant)
	if v.Evidence == -1 {
		return
	}
	if !slices.Contains(claim.Evidence, v.Evidence) || c.request.Evidence[v.Evidence].Citation != v.Citation {
		c.addf("a check of citation %d in evidence %d", v.Citation, v.Evidence)
		return
	}
	c.interval("quote", c.request.Evidence[v.Evidence].Text, v.QuoteAt.Start, v.QuoteAt.End)
}

func (c *checker) elsewhere(claim *judge.Claim, v *judge.ClaimVerdict) {
	if v.ElsewhereEvidence >= 0 {
		switch {
		case v.ElsewhereEvidence >= len(c.request.Evidence):
			c.addf("elsewhere in evidence %d of %d", v.ElsewhereEvidence, len(c.request.Evidence))
		case slices.Contains(claim.Evidence, v.ElsewhereEvidence):
			c.addf("elsewhere in evidence %d, which it cites", v.ElsewhereEvidence)
		default:
			c.interval("elsewhere", c.request.Evidence[v.ElsewhereEvidence].Text, v.ElsewhereAt.Start, v.ElsewhereAt.End)
		}
	}
	if p := v.ElsewherePlace; p != nil {
		i := slices.IndexFunc(c.request.Sources, func(s judge.Source) bool { return s.Doc == p.Doc && s.Page == p.Page })
		if i < 0 {
			c.addf("elsewhere in unknown document %q, page %d", p.Doc, p.Page)
			return
		}
		c.interval("elsewhere", c.request.Sources[i].Text, p.Start, p.End)
	}
}

func (c *checker) interval(what, text string, start, end int32) {
	if start == 0 && end == 0 {
		return
	}
	if n := int32(utf8.RuneCountInString(text)); start < 0 || start >= end || end > n {
		c.addf("%s at [%d,%d) of %d", what, start, end, n)
	}
}

func (c *checker) support(what string, s judge.Support) {
	switch {
	case !s.Known && (s.Score != 0 || s.Label != judge.Unsure):
		c.addf("%s is unscored and has %+v", what, s)
	case s.Known && !(s.Score >= 0 && s.Score <= 1):
		c.addf("%s has score %v", what, s.Score)
	case s.Known && (s.Label == judge.Unsure || s.Label > judge.Contradicts):
		c.addf("%s has a score and label %d", what, s.Label)
	case s.Label == judge.Contradicts && s.Score != 0:
		c.addf("%s contradicts with score %v", what, s.Score)
	}
}

func (c *checker) tri(what string, t judge.Tri) {
	if t > judge.Yes {
		c.addf("%s is %d", what, t)
	}
}
