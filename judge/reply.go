package judge

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

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
	NoJSON bool   // there is no JSON object in it at all
}

func (e *ReplyError) Error() string { return e.Defect }

// Parse reads the reply of a model to the request of o. It is lenient about the
// form and strict about the meaning.
//
// The reply must hold exactly one JSON object with "claims". Prose, Markdown
// fences and a draft that ends with </think> are ignored, and so are commas
// before a closing bracket and members that [Schema] does not have; names and
// labels may be in capitals, an id may be its number, a text may be null for "",
// and relevant may be true or false. Every member of the schema must be there,
// none twice; "sufficient", a list of lists of evidence ids, may be added to a
// claim. Every claim must occur exactly once, in any order, with exactly one
// check for every evidence id that is listed for it; other ids are refused.
// Anything else is a [*ReplyError].
//
// Where a check says full, mostly or partial, its quote must stand in that
// evidence: white space, case, quotation marks, dashes and final punctuation
// aside, with gaps where it has an ellipsis, and if it has eight words or more
// with at most one in eight that differs and carries no fact (a number, a
// negation, a name ...); else the check becomes unsure. A joint label that
// says so becomes unsure unless at least one check of the claim has such a
// quote. The same holds for elsewhere and its quote, which must come from
// evidence that the claim does not cite. Each is named in Reply.Defects. A claim
// that cites nothing has joint None whatever the reply says.
func Parse(reply string, o *Roster) (*Reply, error) {
	text, err := extract(reply, "claims")
	if err != nil {
		return nil, &ReplyError{Defect: err.Error(), NoJSON: errors.Is(err, errNoObject)}
	}
	p := &parser{roster: o, reply: new(Reply), byID: make(map[string]int)}
	raw := readObject(json.RawMessage(text))
	p.all(raw)
	if raw.err != nil {
		return nil, &ReplyError{Defect: raw.err.Error()}
	}
	return p.reply, nil
}

// A parser reads a reply. What is wrong with an object stays with it.
type parser struct {
	roster *Roster
	reply  *Reply
	byID   map[string]int // evidence id -> number
	beside beside         // of the claim that is read
}

func (p *parser) all(raw *object) {
	tampering, list := raw.label("tampering"), raw.list("claims")
	if !slices.Contains(ibid.Tamperings(), tampering) {
		raw.fail("tampering %q: not one of %s", clip(tampering), strings.Join(ibid.Tamperings(), ", "))
	}
	for i := range p.roster.first {
		p.byID[evidenceID(i+1)] = i + 1
	}
	claims := make(map[string]int, len(p.roster.request.Claims))
	for c := range p.roster.request.Claims {
		claims[p.roster.ClaimID(c)] = c
	}
	v := &p.reply.Verdict
	v.Tampering = tampering
	v.Claims = make([]ClaimVerdict, len(claims))
	seen := make([]bool, len(claims))
	for i := range list {
		rc := raw.inner(list[i])
		id := rc.id("id", "c")
		raw.failIn(fmt.Sprintf("claim number %d", i+1), rc)
		c, known := claims[id]
		switch {
		case raw.err != nil:
			return
		case !known:
			raw.fail("claim id %q was not given", clip(id))
			return
		case seen[c]:
			raw.fail("claim %s occurs twice", id)
			return
		}
		seen[c] = true
		p.claim(c, rc, &v.Claims[c])
		raw.failIn("claim "+id, rc)
	}
	if c := slices.Index(seen, false); c >= 0 {
		raw.fail("claim %s is missing", p.roster.ClaimID(c))
	}
}

// nonfactual is the kind of a claim that cannot be checked.
const nonfactual = "nonfactual"

func (p *parser) claim(c int, raw *object, out *ClaimVerdict) {
	kind := raw.label("kind")
	if kind != ibid.FactualLabel && kind != nonfactual {
		raw.fail("kind %q: not one of %s, %s", clip(kind), ibid.FactualLabel, nonfactual)
	}
	out.Factual = ibid.TriOf(kind != nonfactual)
	p.beside = beside{}
	quoted := p.checks(c, raw, out)
	p.joint(c, raw, quoted, out)
	p.elsewhere(c, raw, out)
	p.sufficient(c, raw, out)
}

// checks reads one check per listed evidence id and gives it to every citation
// of that text. quoted: at least one has a quote that stands in its evidence.
func (p *parser) checks(c int, claim *object, out *ClaimVerdict) (quoted bool) {
	cited := p.roster.cited[c]
	var raw []json.RawMessage
	if len(cited) > 0 || !claim.null("checks") {
		raw = claim.list("checks")
	}
	byNumber := make(map[int]Check, len(cited))
	for i := range raw {
		k := claim.inner(raw[i])
		id := k.id("evidence_id", "e")
		claim.failIn(fmt.Sprintf("check number %d", i+1), k)
		n := p.listed(c, id)
		if n == 0 {
			claim.fail("evidence id %q is not listed for it", clip(id))
		}
		if _, twice := byNumber[n]; twice {
			claim.fail("evidence %s occurs twice", id)
		}
		if claim.err != nil {
			return false
		}
		check := p.check(c, n, k)
		claim.failIn("evidence "+id, k)
		quoted = quoted || check.QuoteAt.End > 0
		byNumber[n] = check
	}
	for _, n := range cited {
		if _, ok := byNumber[n]; !ok {
			claim.fail("evidence %s is missing", evidenceID(n))
		}
	}
	evidence := p.roster.request.Cited(c, nil)
	out.Checks = make([]Check, len(evidence))
	for i, e := range evidence {
		out.Checks[i] = byNumber[p.roster.numbers[e]]
		out.Checks[i].Evidence = e
		out.Checks[i].Citation = p.roster.request.Evidence[e].Citation
	}
	return quoted
}

// listed is the number of the evidence with that id, 0 unless claim c cites it.
func (p *parser) listed(c int, id string) int {
	if n := p.byID[id]; slices.Contains(p.roster.cited[c], n) {
		return n
	}
	return 0
}

func (p *parser) check(c, number int, raw *object) (out Check) {
	out.Why, out.Quote = raw.text("why"), raw.text("quote")
	label := raw.degree("support")
	switch relevant := raw.label("relevant"); relevant {
	case "yes", "true":
		out.Relevant = ibid.Yes
	case "no", "false":
		out.Relevant = ibid.No
	default:
		raw.fail("relevant %q: not one of yes, no", clip(relevant))
	}
	if raw.err != nil {
		return out
	}
	found := p.align(number, out.Quote)
	if found.stands && !found.cited {
		// The cited words do not say it; what stands beside them does.
		if label.Backs() && p.beside.degree < label {
			p.beside = beside{label, number, out.Quote, found}
		}
		out.Support = ibid.None.Support()
		return out
	}
	out.QuoteAt, out.Aligned = found.at, found.aligned
	if label.Backs() && !found.stands {
		p.defect("claim %s, evidence %s: the quote does not stand in the evidence", p.roster.ClaimID(c), evidenceID(number))
		label = ibid.Unsure
	}
	out.Support = label.Support()
	return out
}

func (p *parser) joint(c int, raw *object, quoted bool, out *ClaimVerdict) {
	out.JointWhy = raw.text("joint_why")
	label := raw.degree("joint")
	if len(p.roster.cited[c]) == 0 {
		out.Joint, out.Contradicted = ibid.None.Support(), ibid.No
		return
	}
	switch {
	case label.Backs() && !quoted && p.beside.number > 0:
		label = ibid.None
	case label.Backs() && !quoted:
		p.defect("claim %s: joint is %s without a quote that stands in its evidence", p.roster.ClaimID(c), label)
		label = ibid.Unsure
	}
	out.Joint, out.Votes = label.Support(), 1
	out.Contradicted = ibid.TriOf(label == ibid.Contradicts)
}

func (p *parser) elsewhere(c int, raw *object, out *ClaimVerdict) {
	label, id := raw.degree("elsewhere"), ""
	if !raw.null("elsewhere_evidence_id") {
		id = raw.id("elsewhere_evidence_id", "e")
	}
	text := raw.text("elsewhere_quote")
	out.ElsewhereEvidence = -1
	if raw.err != nil {
		return
	}
	var found alignment
	if id != "" && id != "none" {
		n, known := p.byID[id]
		if !known {
			raw.fail("elsewhere_evidence_id %q was not given", clip(id))
			return
		}
		found = p.align(n, text)
		if slices.Contains(p.roster.cited[c], n) && (found.cited || !found.stands) {
			found = alignment{}
		} else {
			out.ElsewhereEvidence, out.ElsewhereQuote = p.roster.first[n-1], text
			out.ElsewhereAt, out.ElsewhereAligned = found.at, found.aligned
		}
	}
	if b := &p.beside; b.number > 0 && (!label.Backs() || !found.stands || label < b.degree) {
		out.Elsewhere, out.ElsewhereEvidence, out.ElsewhereQuote = b.degree.Support(), p.roster.first[b.number-1], b.quote
		out.ElsewhereAt, out.ElsewhereAligned = b.at, b.aligned
		return
	}
	if label.Backs() && !found.stands {
		p.defect("claim %s: elsewhere is %s without a quote that stands in what it does not cite", p.roster.ClaimID(c), label)
		label = ibid.Unsure
	}
	out.Elsewhere = label.Support()
}

func (p *parser) sufficient(c int, claim *object, out *ClaimVerdict) {
	if _, given := claim.members["sufficient"]; !given || claim.null("sufficient") {
		return
	}
	sets := claim.list("sufficient")
	out.Sufficient = make([][]int, len(sets))
	for i, set := range sets {
		var ids []json.RawMessage
		if json.Unmarshal(set, &ids) != nil {
			claim.misshapen("sufficient", set)
		} else if len(ids) == 0 {
			claim.fail("sufficient: an empty set")
		}
		for _, raw := range ids {
			id, ok := idOf(raw, "e")
			if !ok {
				claim.misshapen("sufficient", raw)
			}
			n := p.listed(c, id)
			if n == 0 {
				claim.fail("sufficient: evidence id %q is not listed for it", clip(id))
				return
			}
			if e := p.roster.citing(c, n); !slices.Contains(out.Sufficient[i], e) {
				out.Sufficient[i] = append(out.Sufficient[i], e)
			}
		}
		slices.Sort(out.Sufficient[i])
	}
}

// An alignment says where a quote stands in a passage.
type alignment struct {
	at      Interval // counted from the first of the cited words; only those if it has some
	aligned string   // what stands there, "" if that is the quote
	stands  bool
	cited   bool // it has cited words
}

// beside is the best support that the passages of a claim give next to the words that it
// cites.
type beside struct {
	degree ibid.Degree
	number int // of the evidence; 0 if there is none
	quote  string
	alignment
}

// align looks a quote up in the evidence of that number: in the cited words, then in
// what stands around them, too.
func (p *parser) align(number int, quote string) alignment {
	e := &p.roster.request.Evidence[p.roster.first[number-1]]
	if at, aligned, ok := quoteIn(e.Text, quote); ok {
		return alignment{at, aligned, true, true}
	}
	if e.Before == "" && e.After == "" {
		return alignment{}
	}
	at, aligned, ok := quoteIn(e.Before+e.Text+e.After, quote)
	if !ok {
		return alignment{}
	}
	before, length := int32(utf8.RuneCountInString(e.Before)), int32(utf8.RuneCountInString(e.Text))
	at.Start, at.End = at.Start-before, at.End-before
	cited := at.Start < length && at.End > 0
	if cited {
		at.Start, at.End = max(at.Start, 0), min(at.End, length)
	}
	return alignment{at, aligned, true, cited}
}

// quoteIn returns where a quote stands in a text, and what stands there if that is not
// the quote.
func quoteIn(text, quote string) (at Interval, aligned string, ok bool) {
	if at, ok = findQuote(text, quote); ok {
		return at, "", true
	}
	return alignQuote(text, quote)
}

func (p *parser) defect(format string, args ...any) {
	p.reply.Defects = append(p.reply.Defects, fmt.Sprintf(format, args...))
}

// findQuote returns the first place of quote in text, in code points; only white
// space may differ.
func findQuote(text, q string) (at Interval, ok bool) {
	start, end, ok := quote.Verbatim(text, q)
	return Interval{Start: int32(start), End: int32(end)}, ok
}
