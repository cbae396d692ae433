package judge

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ibid"
	"ibid/metrics/quote"
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
	if !slices.Contains(ibid.Tamperings(), *raw.Tampering) {
		return fmt.Errorf("tampering %q: not one of %s", clip(*raw.Tampering), strings.Join(ibid.Tamperings(), ", "))
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
		out.Factual = ibid.TriOf(*raw.Kind == "factual")
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
	evidence := p.roster.request.Cited(c, nil)
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
	label, err := ibid.ParseDegree(*raw.Support)
	if err != nil {
		return Check{}, fmt.Errorf("support: %w", err)
	}
	out := Check{Relevant: ibid.TriOf(*raw.Relevant == "yes"), Quote: *raw.Quote, Why: *raw.Why}
	at, verbatim := findQuote(p.text(number), out.Quote)
	out.QuoteAt = at
	if label.Backs() && !verbatim {
		p.defect("claim %s, evidence %s: the quote does not stand in the evidence", p.roster.ClaimID(c), evidenceID(number))
		label = ibid.Unsure
	}
	out.Support = label.Support()
	return out, nil
}

func (p *parser) joint(c int, raw *replyClaim, quoted bool, out *ClaimVerdict) error {
	label, err := ibid.ParseDegree(*raw.Joint)
	if err != nil {
		return fmt.Errorf("joint: %w", err)
	}
	out.JointWhy = *raw.JointWhy
	if len(p.roster.cited[c]) == 0 {
		out.Joint = ibid.None.Support()
		return nil
	}
	if label.Backs() && !quoted {
		p.defect("claim %s: joint is %s without a quote that stands in its evidence", p.roster.ClaimID(c), label)
		label = ibid.Unsure
	}
	out.Joint, out.Votes = label.Support(), 1
	out.Contradicted = label == ibid.Contradicts
	return nil
}

func (p *parser) elsewhere(c int, raw *replyClaim, out *ClaimVerdict) error {
	label, err := ibid.ParseDegree(*raw.Elsewhere)
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
	if label.Backs() && !verbatim {
		p.defect("claim %s: elsewhere is %s without a quote that stands in evidence it does not cite", p.roster.ClaimID(c), label)
		label = ibid.Unsure
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

// findQuote returns the first place of quote in text, in code points; only white
// space may differ.
func findQuote(text, q string) (at Interval, ok bool) {
	start, end, ok := quote.Verbatim(text, q)
	return Interval{Start: int32(start), End: int32(end)}, ok
}

// replyObject is a reply as the schema has it. Pointers tell a missing member
// from an empty one.
type replyObject struct {
	Tampering *string       `json:"tampering"`
	Claims    *[]replyClaim `json:"claims"`
}

type replyClaim struct {
	ID                *string       `json:"id"`
	Kind              *string       `json:"kind"`
	Checks            *[]replyCheck `json:"checks"`
	JointWhy          *string       `json:"joint_why"`
	Joint             *string       `json:"joint"`
	Elsewhere         *string       `json:"elsewhere"`
	ElsewhereEvidence *string       `json:"elsewhere_evidence_id"`
	ElsewhereQuote    *string       `json:"elsewhere_quote"`
	Sufficient        *[][]string   `json:"sufficient"` // only where it was asked for
}

type replyCheck struct {
	EvidenceID *string `json:"evidence_id"`
	Why        *string `json:"why"`
	Quote      *string `json:"quote"`
	Support    *string `json:"support"`
	Relevant   *string `json:"relevant"`
}

// replyNames are the names of members that a reply may have.
var replyNames = map[string]bool{
	"tampering": true, "claims": true,
	"id": true, "kind": true, "checks": true, "joint_why": true, "joint": true,
	"elsewhere": true, "elsewhere_evidence_id": true, "elsewhere_quote": true, "sufficient": true,
	"evidence_id": true, "why": true, "quote": true, "support": true, "relevant": true,
}

// maxStarts bounds how many opening braces of prose are tried as the start of
// an object.
const maxStarts = 64

// extract returns the one JSON object of a reply that may be wrapped in prose
// or in a Markdown fence. Of several objects it is the one with a "claims"
// member; two of those are an error, for which one is meant is anyone's guess.
func extract(reply string) (string, error) {
	found := ""
	rest := reply
	for range maxStarts {
		i := strings.IndexByte(rest, '{')
		if i < 0 {
			break
		}
		end := objectEnd(rest[i:])
		if end == 0 || !hasClaims(rest[i:i+end]) {
			// Not ours as a whole; an object may still begin within it.
			rest = rest[i+1:]
			continue
		}
		if found != "" {
			return "", errors.New("more than one JSON object with claims")
		}
		found = rest[i : i+end]
		rest = rest[i+end:]
	}
	if found == "" {
		return "", errors.New("no complete JSON object with claims")
	}
	return found, nil
}

// objectEnd returns the length of the balanced object that s begins with, 0 if
// it does not end.
func objectEnd(s string) int {
	depth, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted:
			if c == '\\' {
				i++
			} else if c == '"' {
				quoted = false
			}
		case c == '"':
			quoted = true
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

func hasClaims(object string) bool {
	var o struct {
		Claims json.RawMessage `json:"claims"`
	}
	return json.Unmarshal([]byte(object), &o) == nil && o.Claims != nil
}

// decode reads the object by the schema: no other members, none twice.
func decode(object string) (*replyObject, error) {
	if err := checkNames(json.NewDecoder(strings.NewReader(object))); err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader([]byte(object)))
	d.DisallowUnknownFields()
	o := new(replyObject)
	if err := d.Decode(o); err != nil {
		return nil, fmt.Errorf("not of the given shape: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	return o, nil
}

// checkNames refuses what encoding/json lets pass: members that occur twice,
// and names that differ from the schema's in case.
func checkNames(d *json.Decoder) error {
	var open []map[string]bool // names seen in each open object, nil for an array
	wantName := false
	for {
		token, err := d.Token()
		if err != nil {
			return fmt.Errorf("not JSON: %w", err)
		}
		switch t := token.(type) {
		case json.Delim:
			switch t {
			case '{':
				open = append(open, map[string]bool{})
			case '[':
				open = append(open, nil)
			default:
				open = open[:len(open)-1]
			}
			if len(open) == 0 {
				return nil
			}
			wantName = open[len(open)-1] != nil
			continue
		case string:
			if wantName {
				seen := open[len(open)-1]
				if !replyNames[t] {
					return fmt.Errorf("unknown member %q", clip(t))
				}
				if seen[t] {
					return fmt.Errorf("member %q occurs twice", t)
				}
				seen[t] = true
				wantName = false
				continue
			}
		}
		wantName = open[len(open)-1] != nil
	}
}
