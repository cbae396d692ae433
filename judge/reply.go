package judge

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
)

// Schema is the JSON Schema of a reply, for structured outputs in strict mode.
// It is the same for every request.
//
//go:embed schema.json
var Schema string

// SchemaNecessity is [Schema] with "sufficient" for each claim: all minimal sets
// of the evidence listed for it that carry it.
//
//go:embed schema_necessity.json
var SchemaNecessity string

// A Reply is a model's answer to one request after [Parse] has checked it.
type Reply struct {
	Verdict Verdict
	// Defects says in one line each what was taken back to unsure because no
	// verbatim quote bears it out. A caller who can ask again does so before
	// it accepts the verdict.
	Defects []string
}

// A ReplyError says why a reply cannot be used.
type ReplyError struct {
	Defect string // in one line, as a repair request quotes it
}

func (e *ReplyError) Error() string { return e.Defect }

// Parse reads the reply of a model to the request of o.
//
// The reply must hold exactly one JSON object with "claims"; prose and Markdown
// fences around it are ignored. The object must fit [Schema]: every member of
// the schema, no other, none twice, labels by their exact names; "sufficient",
// a list of lists of evidence ids, may be added to a claim. Every claim must
// occur exactly once, in any order, with exactly one check for every evidence
// id that is listed for it; other ids are refused. Anything else is a
// [*ReplyError].
//
// Where a check says full, mostly or partial, its quote must stand verbatim in
// that evidence, white space aside; else the check becomes unsure. A joint
// label that says so becomes unsure unless at least one check of the claim has
// a verbatim quote. The same holds for elsewhere and its quote, which must
// come from evidence that the claim does not cite. Each is named in
// Reply.Defects. A claim that cites nothing has joint None whatever the reply
// says.
func Parse(reply string, o *Roster) (*Reply, error) {
	object, err := extract(reply)
	if err != nil {
		return nil, &ReplyError{err.Error()}
	}
	raw, err := decode(object)
	if err != nil {
		return nil, &ReplyError{err.Error()}
	}
	p := &parser{roster: o, reply: new(Reply), byID: make(map[string]int)}
	if err := p.all(raw); err != nil {
		return nil, &ReplyError{err.Error()}
	}
	return p.reply, nil
}

type parser struct {
	roster *Roster
	reply  *Reply
	byID   map[string]int // evidence id -> number
}

func (p *parser) all(raw *replyObject) error {
	if raw.Tampering == nil {
		return missing("", "tampering")
	}
	if raw.Claims == nil {
		return missing("", "claims")
	}
	if !slices.Contains([]string{"none", "in_answer", "in_evidence"}, *raw.Tampering) {
		return fmt.Errorf("tampering %q: not one of none, in_answer, in_evidence", clip(*raw.Tampering))
	}
	for i := range p.roster.first {
		p.byID[evidenceID(i+1)] = i + 1
	}
	claims := make(map[string]int, len(p.roster.request.Claims))
	for c := range p.roster.request.Claims {
		claims[p.roster.ClaimID(c)] = c
	}
	v := &p.reply.Verdict
	v.Tampering = *raw.Tampering
	v.Claims = make([]ClaimVerdict, len(claims))
	seen := make([]bool, len(claims))
	for i := range *raw.Claims {
		rc := &(*raw.Claims)[i]
		if rc.ID == nil {
			return missing(fmt.Sprintf("claim number %d", i+1), "id")
		}
		c, known := claims[*rc.ID]
		switch {
		case !known:
			return fmt.Errorf("claim id %q was not given", clip(*rc.ID))
		case seen[c]:
			return fmt.Errorf("claim %s occurs twice", *rc.ID)
		}
		seen[c] = true
		if err := p.claim(c, rc, &v.Claims[c]); err != nil {
			return fmt.Errorf("claim %s: %w", *rc.ID, err)
		}
	}
	if c := slices.Index(seen, false); c >= 0 {
		return fmt.Errorf("claim %s is missing", p.roster.ClaimID(c))
	}
	return nil
}

func (p *parser) claim(c int, raw *replyClaim, out *ClaimVerdict) error {
	for _, m := range []struct {
		name    string
		missing bool
	}{
		{"kind", raw.Kind == nil},
		{"checks", raw.Checks == nil},
		{"joint_why", raw.JointWhy == nil},
		{"joint", raw.Joint == nil},
		{"elsewhere", raw.Elsewhere == nil},
		{"elsewhere_evidence_id", raw.ElsewhereEvidence == nil},
		{"elsewhere_quote", raw.ElsewhereQuote == nil},
	} {
		if m.missing {
			return missing("", m.name)
		}
	}
	switch *raw.Kind {
	case "factual", "nonfactual":
		out.Factual = tri(*raw.Kind == "factual")
	default:
		return fmt.Errorf("kind %q: not one of factual, nonfactual", clip(*raw.Kind))
	}
	quoted, err := p.checks(c, *raw.Checks, out)
	if err != nil {
		return err
	}
	if err := p.joint(c, raw, quoted, out); err != nil {
		return err
	}
	if err := p.elsewhere(c, raw, out); err != nil {
		return err
	}
	return p.sufficient(c, raw.Sufficient, out)
}

// checks reads one check per listed evidence id and gives it to every citation
// of that text. quoted: at least one has a verbatim quote.
func (p *parser) checks(c int, raw []replyCheck, out *ClaimVerdict) (quoted bool, err error) {
	cited := p.roster.cited[c]
	byNumber := make(map[int]Check, len(cited))
	for i := range raw {
		k := &raw[i]
		if k.EvidenceID == nil {
			return false, missing(fmt.Sprintf("check number %d", i+1), "evidence_id")
		}
		n, known := p.byID[*k.EvidenceID]
		if !known || !slices.Contains(cited, n) {
			return false, fmt.Errorf("evidence id %q is not listed for it", clip(*k.EvidenceID))
		}
		if _, twice := byNumber[n]; twice {
			return false, fmt.Errorf("evidence %s occurs twice", *k.EvidenceID)
		}
		check, err := p.check(c, n, k)
		if err != nil {
			return false, fmt.Errorf("evidence %s: %w", *k.EvidenceID, err)
		}
		quoted = quoted || check.QuoteAt.End > 0
		byNumber[n] = check
	}
	for _, n := range cited {
		if _, ok := byNumber[n]; !ok {
			return false, fmt.Errorf("evidence %s is missing", evidenceID(n))
		}
	}
	evidence := p.roster.request.Claims[c].Evidence
	out.Checks = make([]Check, len(evidence))
	for i, e := range evidence {
		out.Checks[i] = byNumber[p.roster.numbers[e]]
		out.Checks[i].Evidence = e
		out.Checks[i].Citation = p.roster.request.Evidence[e].Citation
	}
	return quoted, nil
}

func (p *parser) check(c, number int, raw *replyCheck) (Check, error) {
	switch {
	case raw.Why == nil:
		return Check{}, missing("", "why")
	case raw.Quote == nil:
		return Check{}, missing("", "quote")
	case raw.Support == nil:
		return Check{}, missing("", "support")
	case raw.Relevant == nil:
		return Check{}, missing("", "relevant")
	case *raw.Relevant != "yes" && *raw.Relevant != "no":
		return Check{}, fmt.Errorf("relevant %q: not one of yes, no", clip(*raw.Relevant))
	}
	label, err := ParseLabel(*raw.Support)
	if err != nil {
		return Check{}, fmt.Errorf("support: %w", err)
	}
	out := Check{Relevant: tri(*raw.Relevant == "yes"), Quote: *raw.Quote, Why: *raw.Why}
	at, verbatim := findQuote(p.text(number), out.Quote)
	out.QuoteAt = at
	if label.backs() && !verbatim {
		p.defect("claim %s, evidence %s: the quote does not stand in the evidence", p.roster.ClaimID(c), evidenceID(number))
		label = Unsure
	}
	out.Support = label.Support()
	return out, nil
}

func (p *parser) joint(c int, raw *replyClaim, quoted bool, out *ClaimVerdict) error {
	label, err := ParseLabel(*raw.Joint)
	if err != nil {
		return fmt.Errorf("joint: %w", err)
	}
	out.JointWhy = *raw.JointWhy
	if len(p.roster.cited[c]) == 0 {
		out.Joint = None.Support()
		return nil
	}
	if label.backs() && !quoted {
		p.defect("claim %s: joint is %s without a quote that stands in its evidence", p.roster.ClaimID(c), label)
		label = Unsure
	}
	out.Joint, out.Votes = label.Support(), 1
	out.Contradicted = label == Contradicts
	return nil
}

func (p *parser) elsewhere(c int, raw *replyClaim, out *ClaimVerdict) error {
	label, err := ParseLabel(*raw.Elsewhere)
	if err != nil {
		return fmt.Errorf("elsewhere: %w", err)
	}
	out.ElsewhereEvidence = -1
	verbatim := false
	if id := *raw.ElsewhereEvidence; id != "" {
		n, known := p.byID[id]
		if !known {
			return fmt.Errorf("elsewhere_evidence_id %q was not given", clip(id))
		}
		if !slices.Contains(p.roster.cited[c], n) {
			out.ElsewhereEvidence = p.roster.first[n-1]
			out.ElsewhereQuote = *raw.ElsewhereQuote
			out.ElsewhereAt, verbatim = findQuote(p.text(n), out.ElsewhereQuote)
		}
	}
	if label.backs() && !verbatim {
		p.defect("claim %s: elsewhere is %s without a quote that stands in evidence it does not cite", p.roster.ClaimID(c), label)
		label = Unsure
	}
	out.Elsewhere = label.Support()
	return nil
}

func (p *parser) sufficient(c int, raw *[][]string, out *ClaimVerdict) error {
	if raw == nil {
		return nil
	}
	out.Sufficient = make([][]int, len(*raw))
	for i, ids := range *raw {
		if len(ids) == 0 {
			return errors.New("sufficient: an empty set")
		}
		for _, id := range ids {
			n, known := p.byID[id]
			if !known || !slices.Contains(p.roster.cited[c], n) {
				return fmt.Errorf("sufficient: evidence id %q is not listed for it", clip(id))
			}
			if e := p.roster.citing(c, n); !slices.Contains(out.Sufficient[i], e) {
				out.Sufficient[i] = append(out.Sufficient[i], e)
			}
		}
		slices.Sort(out.Sufficient[i])
	}
	return nil
}

func (p *parser) text(number int) string {
	return p.roster.request.Evidence[p.roster.first[number-1]].Text
}

func (p *parser) defect(format string, args ...any) {
	p.reply.Defects = append(p.reply.Defects, fmt.Sprintf(format, args...))
}

func missing(of, name string) error {
	if of != "" {
		of += ": "
	}
	return fmt.Errorf("%smember %q is missing", of, name)
}
