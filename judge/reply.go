package judge

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
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
	raw, err := readObject(json.RawMessage(text))
	if err == nil {
		err = p.all(raw)
	}
	if err != nil {
		return nil, &ReplyError{Defect: err.Error()}
	}
	return p.reply, nil
}

type parser struct {
	roster *Roster
	reply  *Reply
	byID   map[string]int // evidence id -> number
	beside beside         // of the claim that is read
}

func (p *parser) all(raw object) error {
	tampering, err := raw.label("tampering")
	if err != nil {
		return err
	}
	list, err := raw.list("claims")
	if err != nil {
		return err
	}
	if !slices.Contains(ibid.Tamperings(), tampering) {
		return fmt.Errorf("tampering %q: not one of %s", clip(tampering), strings.Join(ibid.Tamperings(), ", "))
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
		rc, err := readObject(list[i])
		if err != nil {
			return err
		}
		id, err := rc.id("id", "c")
		if err != nil {
			return fmt.Errorf("claim number %d: %w", i+1, err)
		}
		c, known := claims[id]
		switch {
		case !known:
			return fmt.Errorf("claim id %q was not given", clip(id))
		case seen[c]:
			return fmt.Errorf("claim %s occurs twice", id)
		}
		seen[c] = true
		if err := p.claim(c, rc, &v.Claims[c]); err != nil {
			return fmt.Errorf("claim %s: %w", id, err)
		}
	}
	if c := slices.Index(seen, false); c >= 0 {
		return fmt.Errorf("claim %s is missing", p.roster.ClaimID(c))
	}
	return nil
}

// nonfactual is the kind of a claim that cannot be checked.
const nonfactual = "nonfactual"

func (p *parser) claim(c int, raw object, out *ClaimVerdict) error {
	kind, err := raw.label("kind")
	if err != nil {
		return err
	}
	if kind != ibid.FactualLabel && kind != nonfactual {
		return fmt.Errorf("kind %q: not one of %s, %s", clip(kind), ibid.FactualLabel, nonfactual)
	}
	out.Factual = ibid.TriOf(kind != nonfactual)
	p.beside = beside{}
	quoted, err := p.checks(c, raw, out)
	if err != nil {
		return err
	}
	if err := p.joint(c, raw, quoted, out); err != nil {
		return err
	}
	if err := p.elsewhere(c, raw, out); err != nil {
		return err
	}
	return p.sufficient(c, raw, out)
}

// checks reads one check per listed evidence id and gives it to every citation
// of that text. quoted: at least one has a quote that stands in its evidence.
func (p *parser) checks(c int, claim object, out *ClaimVerdict) (quoted bool, err error) {
	cited := p.roster.cited[c]
	var raw []json.RawMessage
	if len(cited) > 0 || !claim.null("checks") {
		if raw, err = claim.list("checks"); err != nil {
			return false, err
		}
	}
	byNumber := make(map[int]Check, len(cited))
	for i := range raw {
		k, err := readObject(raw[i])
		if err != nil {
			return false, err
		}
		id, err := k.id("evidence_id", "e")
		if err != nil {
			return false, fmt.Errorf("check number %d: %w", i+1, err)
		}
		n, known := p.byID[id]
		if !known || !slices.Contains(cited, n) {
			return false, fmt.Errorf("evidence id %q is not listed for it", clip(id))
		}
		if _, twice := byNumber[n]; twice {
			return false, fmt.Errorf("evidence %s occurs twice", id)
		}
		check, err := p.check(c, n, k)
		if err != nil {
			return false, fmt.Errorf("evidence %s: %w", id, err)
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

func (p *parser) check(c, number int, raw object) (out Check, err error) {
	if out.Why, err = raw.text("why"); err != nil {
		return out, err
	}
	if out.Quote, err = raw.text("quote"); err != nil {
		return out, err
	}
	label, err := raw.degree("support")
	if err != nil {
		return out, err
	}
	relevant, err := raw.label("relevant")
	if err != nil {
		return out, err
	}
	switch relevant {
	case "yes", "true":
		out.Relevant = ibid.Yes
	case "no", "false":
		out.Relevant = ibid.No
	default:
		return out, fmt.Errorf("relevant %q: not one of yes, no", clip(relevant))
	}
	found := p.align(number, out.Quote)
	if found.stands && !found.cited {
		// The cited words do not say it; what stands beside them does.
		if label.Backs() && p.beside.degree < label {
			p.beside = beside{label, number, out.Quote, found}
		}
		out.Support = ibid.None.Support()
		return out, nil
	}
	out.QuoteAt, out.Aligned = found.at, found.aligned
	if label.Backs() && !found.stands {
		p.defect("claim %s, evidence %s: the quote does not stand in the evidence", p.roster.ClaimID(c), evidenceID(number))
		label = ibid.Unsure
	}
	out.Support = label.Support()
	return out, nil
}

func (p *parser) joint(c int, raw object, quoted bool, out *ClaimVerdict) error {
	why, err := raw.text("joint_why")
	if err != nil {
		return err
	}
	label, err := raw.degree("joint")
	if err != nil {
		return err
	}
	out.JointWhy = why
	if len(p.roster.cited[c]) == 0 {
		out.Joint, out.Contradicted = ibid.None.Support(), ibid.No
		return nil
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
	return nil
}

func (p *parser) elsewhere(c int, raw object, out *ClaimVerdict) error {
	label, err := raw.degree("elsewhere")
	if err != nil {
		return err
	}
	var id string
	if raw.null("elsewhere_evidence_id") {
		id = ""
	} else if id, err = raw.id("elsewhere_evidence_id", "e"); err != nil {
		return err
	}
	text, err := raw.text("elsewhere_quote")
	if err != nil {
		return err
	}
	out.ElsewhereEvidence = -1
	var found alignment
	if id != "" && id != "none" {
		n, known := p.byID[id]
		if !known {
			return fmt.Errorf("elsewhere_evidence_id %q was not given", clip(id))
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
		return nil
	}
	if label.Backs() && !found.stands {
		p.defect("claim %s: elsewhere is %s without a quote that stands in what it does not cite", p.roster.ClaimID(c), label)
		label = ibid.Unsure
	}
	out.Elsewhere = label.Support()
	return nil
}

func (p *parser) sufficient(c int, claim object, out *ClaimVerdict) error {
	if _, given := claim["sufficient"]; !given || claim.null("sufficient") {
		return nil
	}
	sets, err := claim.list("sufficient")
	if err != nil {
		return err
	}
	out.Sufficient = make([][]int, len(sets))
	for i, set := range sets {
		var ids []json.RawMessage
		if json.Unmarshal(set, &ids) != nil {
			return shapeError("sufficient", set)
		}
		if len(ids) == 0 {
			return errors.New("sufficient: an empty set")
		}
		for _, raw := range ids {
			id, ok := idOf(raw, "e")
			if !ok {
				return shapeError("sufficient", raw)
			}
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

func missing(name string) error { return fmt.Errorf("member %q is missing", name) }

func shapeError(name string, raw json.RawMessage) error {
	return fmt.Errorf("not of the given shape: member %q is %s", name, clip(string(raw)))
}

// findQuote returns the first place of quote in text, in code points; only white
// space may differ.
func findQuote(text, q string) (at Interval, ok bool) {
	start, end, ok := quote.Verbatim(text, q)
	return Interval{Start: int32(start), End: int32(end)}, ok
}

// An object is one JSON object of a reply: its members by name, in lower case.
type object map[string]json.RawMessage

// readObject reads an object. A member of the schema that occurs twice is an error.
func readObject(raw json.RawMessage) (object, error) {
	d := json.NewDecoder(strings.NewReader(string(raw)))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		if string(raw) == "null" {
			return object{}, nil
		}
		return nil, fmt.Errorf("not of the given shape: %s is no object", clip(string(raw)))
	}
	o := make(object)
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("not JSON: %w", err)
		}
		name := strings.ToLower(token.(string))
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, fmt.Errorf("not JSON: %w", err)
		}
		if _, twice := o[name]; twice && replyNames[name] {
			return o, fmt.Errorf("member %q occurs twice", name)
		}
		o[name] = value
	}
	return o, nil
}

// null reports whether a member is there and null.
func (o object) null(name string) bool { return string(o[name]) == "null" }

// text is a member that is a text: null is "", and a number is as it is written.
func (o object) text(name string) (string, error) {
	raw, ok := o[name]
	if !ok {
		return "", missing(name)
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s, nil
	}
	if _, err := strconv.ParseFloat(string(raw), 64); err != nil {
		return "", shapeError(name, raw)
	}
	return string(raw), nil
}

// label is a member that is a label, in lower case.
func (o object) label(name string) (string, error) {
	raw, ok := o[name]
	var s string
	switch {
	case !ok || o.null(name):
		return "", missing(name)
	case json.Unmarshal(raw, &s) == nil:
		return strings.ToLower(strings.TrimSpace(s)), nil
	case string(raw) == "true" || string(raw) == "false":
		return string(raw), nil
	}
	return "", shapeError(name, raw)
}

func (o object) degree(name string) (ibid.Degree, error) {
	s, err := o.label(name)
	if err != nil {
		return 0, err
	}
	d, err := ibid.ParseDegree(s)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return d, nil
}

// id is a member that is an id: 2 and "2" are the id of that number.
func (o object) id(name, prefix string) (string, error) {
	raw, ok := o[name]
	if !ok || o.null(name) {
		return "", missing(name)
	}
	id, ok := idOf(raw, prefix)
	if !ok {
		return "", shapeError(name, raw)
	}
	return id, nil
}

func idOf(raw json.RawMessage, prefix string) (id string, ok bool) {
	if json.Unmarshal(raw, &id) != nil {
		id = string(raw)
	} else {
		id = strings.ToLower(strings.TrimSpace(id))
	}
	if _, err := strconv.ParseUint(id, 10, 32); err == nil {
		return prefix + id, true
	}
	return id, len(raw) > 0 && raw[0] == '"'
}

// list is a member that is a list.
func (o object) list(name string) (list []json.RawMessage, err error) {
	raw, ok := o[name]
	switch {
	case !ok || o.null(name):
		return nil, missing(name)
	case json.Unmarshal(raw, &list) != nil:
		return nil, shapeError(name, raw)
	}
	return list, nil
}

// replyNames are the names of the members of the schema.
var replyNames = map[string]bool{
	"tampering": true, "claims": true,
	"id": true, "kind": true, "checks": true, "joint_why": true, "joint": true,
	"elsewhere": true, "elsewhere_evidence_id": true, "elsewhere_quote": true, "sufficient": true,
	"evidence_id": true, "why": true, "quote": true, "support": true, "relevant": true,
}

// maxStarts bounds how many opening braces of prose are tried as the start of
// an object.
const maxStarts = 64

// errNoObject: nothing in a reply looks like an object that was asked for.
var errNoObject = errors.New("no complete JSON object")

// endsDraft closes the reasoning that some models write before their answer.
const endsDraft = "</think>"

// extract returns the one JSON object of a reply that may be wrapped in prose
// or in a Markdown fence, with what JSON does not allow put right. Of several
// objects it is the one with the member that was asked for; two of those are an error, for
// which one is meant is anyone's guess. What stands before the end of a draft
// does not count if an object stands after it.
func extract(reply, member string) (string, error) {
	for at := strings.LastIndex(reply, endsDraft); at >= 0; at = strings.LastIndex(reply[:at], endsDraft) {
		found, err := theObject(reply[at+len(endsDraft):], member)
		if found != "" || !errors.Is(err, errNoObject) {
			return found, err
		}
	}
	if strings.HasPrefix(strings.TrimSpace(reply), "<think>") && !strings.Contains(reply, endsDraft) {
		return "", errors.New("the reply ends within its draft")
	}
	return theObject(reply, member)
}

func theObject(reply, member string) (string, error) {
	found := ""
	rest := reply
	for range maxStarts {
		i := strings.IndexByte(rest, '{')
		if i < 0 {
			break
		}
		end := objectEnd(rest[i:])
		whole := ""
		if end > 0 {
			whole = tidied(rest[i : i+end])
		}
		if end == 0 || !has(whole, member) {
			// Not ours as a whole; an object may still begin within it.
			rest = rest[i+1:]
			continue
		}
		if found != "" {
			return "", fmt.Errorf("more than one JSON object with %s", member)
		}
		found = whole
		rest = rest[i+end:]
	}
	if found == "" {
		return "", fmt.Errorf("%w with %s", errNoObject, member)
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

// tidied leaves out commas before a closing bracket, and escapes line ends and
// tabs within strings.
func tidied(object string) string {
	b := make([]byte, 0, len(object))
	quoted, comma := false, -1 // comma is where the last one stands if only white space followed
	for i := 0; i < len(object); i++ {
		c := object[i]
		if quoted {
			switch {
			case c < ' ':
				b = append(b, '\\', 'u', '0', '0', "01"[c>>4], "0123456789abcdef"[c&15])
				continue
			case c == '\\' && i+1 < len(object):
				b = append(b, c, object[i+1])
				i++
				continue
			case c == '"':
				quoted = false
			}
			b = append(b, c)
			continue
		}
		switch c {
		case ' ', '\t', '\n', '\r':
		case ',':
			comma = len(b)
		case '}', ']':
			if comma >= 0 {
				b = append(b[:comma], b[comma+1:]...)
			}
			comma = -1
		default:
			quoted = c == '"'
			comma = -1
		}
		b = append(b, c)
	}
	return string(b)
}

func has(text, member string) bool {
	o, _ := readObject(json.RawMessage(text)) // what is wrong with it is found later
	_, ok := o[member]
	return ok
}
