package judge

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"

	"ibid"
)

// normalVerdict is a verdict by ids instead of places in one request, so that
// it fits every request with the same claims and texts.
type normalVerdict struct {
	Tampering string        `json:"tampering"`
	Claims    []normalClaim `json:"claims"`
}

type normalClaim struct {
	Open       string         `json:"open,omitempty"` // why it has no verdict; "" if it has one
	Factual    ibid.Tri       `json:"factual"`
	Joint      ibid.Degree    `json:"joint"`
	JointWhy   string         `json:"joint_why,omitempty"`
	Votes      int            `json:"votes,omitempty"`
	Checks     []normalCheck  `json:"checks,omitempty"`
	Sufficient *[][]int       `json:"sufficient,omitempty"`
	Elsewhere  ibid.Degree    `json:"elsewhere"`
	Other      *normalPassage `json:"other,omitempty"`
	Surplus    int            `json:"surplus,omitempty"`
}

type normalCheck struct {
	normalPassage
	Support  ibid.Degree `json:"support"`
	Relevant ibid.Tri    `json:"relevant"`
	Why      string      `json:"why,omitempty"`
}

// A normalPassage is a quote in the evidence of that number, from 1.
type normalPassage struct {
	Evidence int    `json:"evidence"`
	Quote    string `json:"quote,omitempty"`
	Aligned  string `json:"aligned,omitempty"`
	Start    int32  `json:"start,omitempty"`
	End      int32  `json:"end,omitempty"`
}

// Encode returns a verdict of [Parse] on the request of o as JSON that depends
// on nothing but the roster's ids. What calls took does not enter.
func (o *Roster) Encode(v *Verdict) ([]byte, error) {
	n := normalVerdict{Tampering: v.Tampering, Claims: make([]normalClaim, len(v.Claims))}
	for c := range v.Claims {
		from, to := &v.Claims[c], &n.Claims[c]
		if from.Unscored != "" {
			to.Open = cmp.Or(from.JointWhy, string(from.Unscored))
			continue
		}
		*to = normalClaim{
			Factual: from.Factual, Joint: from.Joint.Degree, JointWhy: from.JointWhy, Votes: from.Votes, Elsewhere: from.Elsewhere.Degree, Surplus: from.Surplus,
		}
		if e := from.ElsewhereEvidence; e >= 0 {
			to.Other = &normalPassage{o.numbers[e], from.ElsewhereQuote, from.ElsewhereAligned, from.ElsewhereAt.Start, from.ElsewhereAt.End}
		}
		for _, number := range o.cited[c] {
			k := &from.Checks[slices.IndexFunc(from.Checks, func(k Check) bool { return o.numbers[k.Evidence] == number })]
			to.Checks = append(to.Checks, normalCheck{
				normalPassage{number, k.Quote, k.Aligned, k.QuoteAt.Start, k.QuoteAt.End}, k.Support.Degree, k.Relevant, k.Why,
			})
		}
		if from.Sufficient != nil {
			sets := make([][]int, len(from.Sufficient))
			for i, set := range from.Sufficient {
				for _, e := range set {
					sets[i] = append(sets[i], o.numbers[e])
				}
			}
			to.Sufficient = &sets
		}
	}
	return json.Marshal(n)
}

// Decode reads what [Roster.Encode] wrote for a request with the same
// [Roster.Key]. A claim without a verdict is unscored as [BadReply]. What cannot be of such a
// request is an error.
func (o *Roster) Decode(data []byte) (*Verdict, error) {
	n := new(normalVerdict)
	if err := jsonv2.Unmarshal(data, n); err != nil { // three times as fast as encoding/json: every row of a rerun comes here
		return nil, err
	}
	if len(n.Claims) != len(o.request.Claims) {
		return nil, fmt.Errorf("%d claims of %d", len(n.Claims), len(o.request.Claims))
	}
	v := &Verdict{Tampering: n.Tampering, Claims: make([]ClaimVerdict, len(n.Claims))}
	for c := range n.Claims {
		if open := n.Claims[c].Open; open != "" {
			v.Claims[c] = UnscoredClaim(BadReply, open)
		} else if err := o.decodeClaim(c, &n.Claims[c], &v.Claims[c]); err != nil {
			return nil, fmt.Errorf("claim %s: %w", o.ClaimID(c), err)
		}
	}
	return v, nil
}

var errForeign = errors.New("a verdict on other material")

func (o *Roster) decodeClaim(c int, n *normalClaim, v *ClaimVerdict) error {
	if len(n.Checks) != len(o.cited[c]) || n.Joint >= ibid.NumDegrees || n.Elsewhere >= ibid.NumDegrees || n.Factual > ibid.Yes {
		return errForeign
	}
	*v = ClaimVerdict{
		Factual: n.Factual, Joint: n.Joint.Support(), JointWhy: n.JointWhy, Contradicted: ibid.TriOf(n.Joint == ibid.Contradicts), Votes: n.Votes,
		Elsewhere: n.Elsewhere.Support(), ElsewhereEvidence: -1, Surplus: n.Surplus,
	}
	if p := n.Other; p != nil {
		if !o.holds(p, true) {
			return errForeign
		}
		v.ElsewhereEvidence, v.ElsewhereQuote, v.ElsewhereAligned = o.first[p.Evidence-1], p.Quote, p.Aligned
		v.ElsewhereAt = Interval{Start: p.Start, End: p.End}
	}
	evidence := o.request.Cited(c, nil)
	v.Checks = make([]Check, len(evidence))
	for i, e := range evidence {
		k := &n.Checks[slices.Index(o.cited[c], o.numbers[e])]
		if k.Evidence != o.numbers[e] || k.Support >= ibid.NumDegrees || k.Relevant > ibid.Yes || !o.holds(&k.normalPassage, false) {
			return errForeign
		}
		v.Checks[i] = Check{
			Evidence: e, Citation: o.request.Evidence[e].Citation, Support: k.Support.Support(), Relevant: k.Relevant,
			Quote: k.Quote, Aligned: k.Aligned, QuoteAt: Interval{Start: k.Start, End: k.End}, Why: k.Why,
		}
	}
	return o.decodeSufficient(c, n.Sufficient, v)
}

func (o *Roster) decodeSufficient(c int, sets *[][]int, v *ClaimVerdict) error {
	if sets == nil {
		return nil
	}
	v.Sufficient = make([][]int, len(*sets))
	for i, set := range *sets {
		for _, number := range set {
			if !slices.Contains(o.cited[c], number) {
				return errForeign
			}
			v.Sufficient[i] = append(v.Sufficient[i], o.citing(c, number))
		}
		slices.Sort(v.Sufficient[i])
	}
	return nil
}

// holds reports whether the passage can be of this request: of the cited words, or of what
// stands beside them, too.
func (o *Roster) holds(p *normalPassage, beside bool) bool {
	if p.Evidence < 1 || p.Evidence > len(o.first) || p.Start > p.End {
		return false
	}
	e := &o.request.Evidence[o.first[p.Evidence-1]]
	if beside {
		return int(p.Start) >= -len(e.Before) && int(p.End) <= len(e.Text)+len(e.After)
	}
	return p.Start >= 0 && int(p.End) <= len(e.Text)
}

// citing returns the first evidence of claim c that has that number.
func (o *Roster) citing(c, number int) int {
	evidence := o.request.Cited(c, nil)
	return evidence[slices.IndexFunc(evidence, func(e int) bool { return o.numbers[e] == number })]
}
