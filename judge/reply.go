package judge

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"unicode/utf8"

	"ibid"
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

// A Reply is a model's answer to one request as [Parse] has read it.
type Reply struct {
	// Verdict has every claim of the request. One whose entry in the reply cannot be used is
	// unscored: see [ClaimVerdict.Unscored].
	Verdict Verdict
	// Defects are what is wrong with claims, at most one for each, in their order. A caller
	// who can ask again does so for these claims alone.
	Defects []Defect
	// CheckWord is what the reply repeats of the first line of the request, if HasCheckWord.
	CheckWord    string
	HasCheckWord bool
}

// A Defect is what is wrong with one claim of a reply.
type Defect struct {
	Claim int
	What  string // in one line
	// Unsure: the claim has a verdict all the same, in which what no quote bears out is
	// unsure. Else it has none.
	Unsure bool
}

// A ReplyError says why nothing of a reply can be used.
type ReplyError struct {
	Defect string // in one line, as a repair request quotes it
	NoJSON bool   // there is no JSON object in it at all
}

func (e *ReplyError) Error() string { return e.Defect }

// Parse reads the reply of a model to the request of o. A mistake in what it says of a claim
// costs that claim; what it says beyond what was asked costs nothing.
//
// The reply must hold one JSON object with "claims", a list that is not empty. Prose, Markdown
// fences and a draft that ends with </think> are ignored, and so are commas before a closing
// bracket and members that [Schema] does not have; names and labels may be in capitals, an id
// may be its number, a text may be null for "", and relevant may be true or false. Of a reply
// that breaks off the whole claims at its front count. Else the error is a [*ReplyError]; the reply
// is nil then, or has the check word alone.
//
// A claim that is missing, lacks a check of a passage that it cites, or has a member that is
// missing, has an unknown label or the wrong type, is a defect, and so is one that occurs twice
// with other verdicts. "sufficient", a list of lists of evidence ids, may be added to it. A
// claim that was not given, a check of a passage that the claim does not cite, and what is said
// twice alike count in [ClaimVerdict.Surplus]; such a check serves as elsewhere if it says full
// or mostly and its quote stands in the passage.
//
// Where a check says full, mostly or partial, its quote must stand in that
// evidence: white space, case, quotation marks, dashes and final punctuation
// aside, with gaps where it has an ellipsis, and if it has eight words or more
// with at most one in eight that differs and carries no fact (a number, a
// negation, a name ...); else the check becomes unsure. A joint label that
// says so becomes unsure unless at least one check of the claim has such a
// quote. The same holds for elsewhere and its quote, which must come from
// evidence that the claim does not cite. Each is a [Defect] that is unsure. A claim
// that cites nothing has joint None whatever the reply says.
func Parse(reply string, o *Roster) (*Reply, error) {
	text, err := extract(reply, "claims")
	raw := &object{}
	switch {
	case err == nil:
		raw = readObject(json.RawMessage(text))
	case errors.Is(err, errNoObject):
		raw = frontOf(reply, "claims")
	}
	if raw.members == nil && err != nil {
		return nil, &ReplyError{Defect: err.Error(), NoJSON: errors.Is(err, errNoObject)}
	}
	p := &parser{roster: o, reply: new(Reply), byID: make(map[string]int)}
	_, p.reply.HasCheckWord = raw.members["check"]
	p.reply.CheckWord = (&object{members: raw.members}).text("check")
	list := raw.list("claims")
	if raw.err == nil && len(list) == 0 {
		raw.fail("there are no claims in it")
	}
	if raw.err != nil {
		return p.reply, &ReplyError{Defect: raw.err.Error()}
	}
	p.all(raw, list)
	return p.reply, nil
}

// A parser reads a reply. What is wrong with an object stays with it.
type parser struct {
	roster *Roster
	reply  *Reply
	byID   map[string]int // evidence id -> number

	// Of the claim that is read.
	unsure  string // the first label that no quote bears out
	surplus int
	beside  beside // support next to the words that it cites
	other   beside // support by passages that it does not cite, of checks
}

func (p *parser) all(raw *object, list []json.RawMessage) {
	for i := range p.roster.first {
		p.byID[evidenceID(i+1)] = i + 1
	}
	claims := make(map[string]int, len(p.roster.request.Claims))
	for c := range p.roster.request.Claims {
		claims[p.roster.ClaimID(c)] = c
	}
	v := &p.reply.Verdict
	v.Claims = make([]ClaimVerdict, len(claims))
	v.Tampering = (&object{members: raw.members}).label("tampering")
	if !slices.Contains(ibid.Tamperings(), v.Tampering) {
		v.Tampering = ""
	}
	defects := make([]*Defect, len(claims))
	seen := make([]bool, len(claims))
	for i := range list {
		in := readObject(list[i])
		id := in.id("id", "c")
		c, known := claims[id]
		if !known {
			continue // nobody asked, or nobody can tell of what it is
		}
		var said ClaimVerdict
		p.unsure, p.surplus, p.beside, p.other = "", 0, beside{}, beside{}
		p.claim(c, in, &said)
		said.Surplus = p.surplus
		switch {
		case seen[c] && in.err == nil && reflect.DeepEqual(said, v.Claims[c]):
			v.Claims[c].Surplus++
			continue
		case seen[c]:
			in.fail("occurs twice, with other verdicts")
		}
		seen[c] = true
		switch {
		case in.err != nil:
			defects[c] = &Defect{c, in.err.Error(), false}
		case p.unsure != "":
			defects[c] = &Defect{c, p.unsure, true}
		}
		v.Claims[c] = said
	}
	for c := range v.Claims {
		if !seen[c] {
			defects[c] = &Defect{c, "there is no entry for it", false}
		}
		if d := defects[c]; d != nil {
			p.reply.Defects = append(p.reply.Defects, *d)
			if !d.Unsure {
				v.Claims[c] = UnscoredClaim(BadReply, d.What)
			}
		}
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
	if _, given := claim.members["checks"]; len(cited) > 0 || given && !claim.null("checks") {
		raw = claim.list("checks")
	}
	byNumber := make(map[int]Check, len(cited))
	for i := range raw {
		k := readObject(raw[i])
		id := k.id("evidence_id", "e")
		n := p.byID[id]
		if k.err == nil && !slices.Contains(cited, n) {
			p.surplus++
			p.notCited(n, k)
			continue
		}
		check := p.check(n, k)
		before, twice := byNumber[n]
		switch {
		case k.err != nil:
			claim.fail("check number %d: %w", i+1, k.err)
		case twice && check == before:
			p.surplus++
		case twice:
			claim.fail("evidence %s occurs twice, with other verdicts", id)
		}
		if claim.err != nil {
			return false
		}
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

// notCited takes over a check of passage n, which the claim does not cite; 0 if there is no such
// passage.
func (p *parser) notCited(n int, raw *object) {
	quote, label := raw.text("quote"), raw.degree("support")
	if n == 0 || raw.err != nil || label != ibid.Full && label != ibid.Mostly || label <= p.other.degree && p.other.number > 0 {
		return
	}
	if found := p.align(n, quote); found.stands {
		p.other = beside{label, n, quote, found}
	}
}

func (p *parser) check(number int, raw *object) (out Check) {
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
		p.doubt("evidence %s: the quote does not stand in the evidence", evidenceID(number))
		label = ibid.Unsure
	}
	out.Support = label.Support()
	return out
}

func (p *parser) joint(c int, raw *object, quoted bool, out *ClaimVerdict) {
	if len(p.roster.cited[c]) == 0 {
		out.Joint, out.Contradicted = ibid.None.Support(), ibid.No
		return
	}
	out.JointWhy = raw.text("joint_why")
	label := raw.degree("joint")
	switch {
	case label.Backs() && !quoted && p.beside.number > 0:
		label = ibid.None
	case label.Backs() && !quoted:
		p.doubt("joint is %s without a quote that stands in its evidence", label)
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
	if n := p.byID[id]; n > 0 {
		found = p.align(n, text)
		if slices.Contains(p.roster.cited[c], n) && (found.cited || !found.stands) {
			found = alignment{}
		} else {
			out.ElsewhereEvidence, out.ElsewhereQuote = p.roster.first[n-1], text
			out.ElsewhereAt, out.ElsewhereAligned = found.at, found.aligned
		}
	}
	b := &p.beside
	if p.other.number > 0 && p.other.degree > b.degree {
		b = &p.other
	}
	if b.number > 0 && (!label.Backs() || !found.stands || label < b.degree) {
		out.Elsewhere, out.ElsewhereEvidence, out.ElsewhereQuote = b.degree.Support(), p.roster.first[b.number-1], b.quote
		out.ElsewhereAt, out.ElsewhereAligned = b.at, b.aligned
		return
	}
	if label.Backs() && !found.stands {
		p.doubt("elsewhere is %s without a quote that stands in what it does not cite", label)
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
			n := p.byID[id]
			if !slices.Contains(p.roster.cited[c], n) {
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

// doubt takes note of a label that no quote bears out.
func (p *parser) doubt(format string, args ...any) {
	if p.unsure == "" {
		p.unsure = fmt.Sprintf(format, args...)
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
