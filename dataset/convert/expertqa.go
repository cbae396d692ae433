package convert

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"ibid"
)

// expertQA is ExpertQA (Malaviya et al., NAACL 2024): a record is a question
// with the answers of one or more systems, each cut into claims, and for every
// claim what an expert said of the evidence it cites.
//
// Each (record, system) is a row: id is the record's line number, query the
// question; provider and model are not known. claim_id is the claim's index in
// the answer. A claim's offsets are given when it stands in the answer exactly
// once, white space ignored. Each string of its evidence, "[n] URL" or "[n] URL",
// an empty line and a passage, is one citation of the claim: the URL names the
// document and a passage is its whole text, so the citation has unit document
// and no offsets. "[n]" is the marker of its source_reference.
//
// A URL is met with several passages, and every distinct one is a document: the
// first is called URL, the next URL#2, URL#3 … in the order of the file, the URL
// without a passage being a content of its own, known without its text (see
// [documentNames]). Without a place for documents each row carries its own.
//
// Support Complete, Partial and Incomplete becomes a support label of 1, 0.5 and
// 0 on the claim; N/A and null a needs_citation label of 0; Missing no label. The
// annotator is the answer's, else the record's. The tags hold the metadata
// question_type, field and specific_field, and as source_reference everything
// else, as JSON under its place in the answer.
var expertQA = Format{
	Name:       "expertqa",
	Summary:    "ExpertQA: answers cut into claims, with experts' judgments of their evidence",
	Input:      "one JSON Lines file",
	CodePoints: true,
	streams:    true,
	fits:       func(o *object) bool { return o.peek("question") != "" && o.isObject("answers") },
	convert:    convertExpertQA,
}

// An expertReader converts one file.
type expertReader struct {
	*run
	file   string
	record expertRecord
	names  documentNames
	row    ibid.Answer
}

func convertExpertQA(ctx context.Context, r *run) error {
	paths, err := files(r.paths, []string{".jsonl", ".ndjson"})
	if err != nil {
		return err
	}
	if len(paths) > 1 {
		return ibid.Usagef("format expertqa takes one file").With("ids are line numbers and would repeat between files")
	}
	c := &expertReader{run: r, file: paths[0]}
	return c.eachReadable(ctx, c.file, lineShape, func(rec *foreignRecord) error { return c.line(rec.data, rec.number) })
}

// line converts one record.
func (c *expertReader) line(line []byte, number int) error {
	rec := &c.record
	if e := rec.decode(line); e != nil {
		c.fail(e.in(line, position{number, 1}, c.file))
		return nil
	}
	for _, name := range rec.unknown {
		c.report.unknownField(name)
	}
	for i := range rec.answers {
		if err := c.write(&rec.answers[i], number); err != nil {
			return err
		}
	}
	return nil
}

// An expertRecord is one line of ExpertQA.
type expertRecord struct {
	text     jsonText
	question string
	tags     []ibid.Tag
	answers  []expertAnswer
	kept     extra    // of the record itself
	unknown  []string // dotted names of members that ExpertQA does not have
}

// An expertAnswer is what one system answered.
type expertAnswer struct {
	system    string
	text      string
	annotator string
	claims    []expertClaim
	kept      extra
}

// An expertClaim is one claim of an answer; support is "" for null.
type expertClaim struct {
	text, support string
	evidence      []string
}

// Members of ExpertQA's answers and claims that have no column of ours.
var (
	expertAnswerMembers = []string{"attribution", "revised_answer_string", "usefulness", "annotation_time"}
	expertClaimMembers  = []string{
		"reason_missing_support", "informativeness", "worthiness", "correctness", "reliability",
		"revised_claim", "revised_evidence", "source_reliability", "revised_claim_string",
	}
	expertMetadata = []string{"question_type", "field", "specific_field"}
	supports       = []string{"Complete", "Partial", "Incomplete", "Missing", "N/A"}
)

// decode reads one line. What it leaves is valid until the line is.
func (e *expertRecord) decode(line []byte) *jsonError {
	e.tags, e.answers, e.unknown = e.tags[:0], e.answers[:0], e.unknown[:0]
	e.kept.reset()
	o := e.text.open(line)
	annotator := ""
	for name, v := range o.all() {
		switch name {
		case "question":
			e.question = v.required()
		case "annotator_id":
			annotator = v.string()
		case "metadata":
			for name, v := range v.object().all() {
				if !slices.Contains(expertMetadata, name) {
					e.keep(&e.kept, "metadata."+name, v, "metadata."+name)
				} else if text, given := v.text(); given {
					e.tags = append(e.tags, ibid.Tag{Key: name, Value: text})
				}
			}
		case "answers":
			if v.want(anObject) {
				for system, v := range v.object().all() {
					e.answer(system, v)
				}
			}
		default:
			e.keep(&e.kept, name, v, name)
		}
	}
	if o != nil {
		o.require("question", "answers")
		if len(e.answers) == 0 {
			o.fail("answers: no system has answered")
		}
	}
	same := true // the record's annotator is every answer's
	for i := range e.answers {
		a := &e.answers[i]
		a.annotator = cmp.Or(a.annotator, annotator)
		same = same && a.annotator == annotator
	}
	if !same && annotator != "" {
		e.kept.addText("annotator_id", annotator)
	}
	return e.text.err
}

// answer reads what one system answered.
func (e *expertRecord) answer(system string, v value) {
	if !v.want(anObject) {
		return
	}
	o := v.object()
	a := expertAnswer{system: cmp.Or(system, "default")}
	for name, v := range o.all() {
		switch name {
		case "answer_string":
			a.text = v.required()
		case "annotator_id":
			a.annotator = v.string()
		case "claims":
			if v.want(aList) {
				for i, claim := range v.objects() {
					e.claim(&a, i, claim)
				}
			}
		default:
			e.keep(&a.kept, name, v, "answers."+name, expertAnswerMembers...)
		}
	}
	o.require("answer_string", "claims")
	e.answers = append(e.answers, a)
}

func (e *expertRecord) claim(a *expertAnswer, i int, o *object) {
	var c expertClaim
	for name, v := range o.all() {
		switch name {
		case "claim_string":
			c.text = v.required()
		case "evidence":
			c.evidence, _ = v.texts()
		case "support":
			c.support = v.oneOf(supports)
		default:
			e.keep(&a.kept, indexed("claims", i)+"."+name, v, "answers.claims."+name, expertClaimMembers...)
		}
	}
	o.require("claim_string", "evidence", "support")
	a.claims = append(a.claims, c)
}

// keep stores a member that has no column under its place. The report has the name of one
// that is not among those that ExpertQA has.
func (e *expertRecord) keep(to *extra, place string, v value, name string, known ...string) {
	to.add(place, v.raw())
	if !slices.Contains(known, v.name) {
		e.unknown = append(e.unknown, clipped(name))
	}
}

// supportValues are the values of support labels. N/A, Missing and null have
// none.
var supportValues = map[string]float64{"Complete": 1, "Partial": 0.5, "Incomplete": 0}

// write converts the answer of one system.
func (c *expertReader) write(a *expertAnswer, number int) error {
	r := &c.row
	*r = ibid.Answer{
		File: c.file, ID: strconv.Itoa(number), Query: c.record.question, Answer: a.text, System: a.system,
		Citations: r.Citations[:0], HasCitations: true,
		Claims: r.Claims[:0], HasClaims: true,
		Labels: r.Labels[:0], HasLabels: true,
		Documents: r.Documents[:0], Tags: r.Tags[:0],
	}
	text := newAnswerText(a.text)
	for i := range a.claims {
		claim := &a.claims[i]
		id := strconv.Itoa(i)
		out := ibid.Claim{ClaimID: id, Text: claim.text}
		if start, end, ok := text.find(claim.text); ok {
			out.Start, out.End = integer(start), integer(end)
		}
		r.Claims = append(r.Claims, out)
		c.label(a, claim, id, number)
		for _, evidence := range claim.evidence {
			if err := c.citation(evidence, id); err != nil {
				return err
			}
		}
	}
	c.tags(a)
	return c.run.row(r)
}

// label adds what the expert said of a claim.
func (c *expertReader) label(a *expertAnswer, claim *expertClaim, id string, number int) {
	l := ibid.Label{Annotator: a.annotator, ClaimID: id}
	value, judged := supportValues[claim.support]
	switch {
	case judged:
		l.Kind, l.Value = ibid.SupportLabel, ibid.Some(value)
	case claim.support == "Missing":
		if len(claim.evidence) > 0 {
			c.warn(RecordError{File: c.file, Line: number, Reason: fmt.Sprintf("claim %s cites evidence and its support is Missing: it has no label", id)})
		}
		return
	default:
		l.Kind, l.Value = ibid.NeedsCitationLabel, ibid.Some[float64](0)
	}
	c.row.Labels = append(c.row.Labels, l)
}

// citation adds one string of evidence.
func (c *expertReader) citation(evidence, claim string) error {
	head, passage, _ := strings.Cut(evidence, "\n\n")
	hasText := strings.TrimSpace(passage) != ""
	marker, url := cutMarker(head)
	out := ibid.Citation{ClaimID: claim, DocNull: url == ""}
	var more extra
	if marker != "" {
		more.addText("marker", marker)
	}
	if url == "" && hasText {
		out.CitedText = passage // a document without a name cannot be cited
	}
	if url != "" {
		name, first := c.names.of(url, passage, hasText)
		out.Doc = name
		if hasText {
			out.Unit = "document"
		} else {
			passage = ""
		}
		if err := c.place(&c.row, &ibid.Document{Doc: name, Text: passage, HasText: hasText}, first); err != nil {
			return err
		}
	}
	out.SourceReference = more.reference("")
	c.row.Citations = append(c.row.Citations, out)
	c.report.Spans++
	c.report.WithoutQuote++
	return nil
}

// cutMarker divides "[2] URL".
func cutMarker(head string) (marker, url string) {
	head = strings.TrimSpace(head)
	inside, after, ok := strings.Cut(strings.TrimPrefix(head, "["), "]")
	if !ok || inside == "" || head[0] != '[' || strings.Trim(inside, "0123456789") != "" {
		return "", head
	}
	return "[" + inside + "]", strings.TrimSpace(after)
}

// tags sets the row's tags: the metadata, and what has no column.
func (c *expertReader) tags(a *expertAnswer) {
	r := &c.row
	r.Tags = append(r.Tags, c.record.tags...)
	var more extra
	more.addAll(&c.record.kept)
	more.addAll(&a.kept)
	r.Tags = append(r.Tags, more.tags()...)
	sortTags(r.Tags)
}

// An answerText finds passages in an answer, white space ignored: records that
// cut an answer into claims turn its line ends into spaces, or lose them.
type answerText struct {
	dense strings.Builder // the answer without its white space
	at    []int32         // for each byte of dense, the code point it belongs to
}

func newAnswerText(answer string) *answerText {
	a := &answerText{}
	n := int32(0)
	for _, r := range answer {
		if !unicode.IsSpace(r) {
			for range utf8.RuneLen(r) {
				a.at = append(a.at, n)
			}
			a.dense.WriteRune(r)
		}
		n++
	}
	return a
}

// find returns the half-open interval of code points where passage stands in
// the answer. ok is false unless it stands there exactly once, occurrences that
// overlap counted.
func (a *answerText) find(passage string) (start, end int64, ok bool) {
	var b strings.Builder
	for _, r := range passage {
		if !unicode.IsSpace(r) {
			b.WriteRune(r)
		}
	}
	needle, text := b.String(), a.dense.String()
	if needle == "" {
		return 0, 0, false
	}
	lo := strings.Index(text, needle)
	if lo < 0 || strings.Contains(text[lo+1:], needle) {
		return 0, 0, false
	}
	return int64(a.at[lo]), int64(a.at[lo+len(needle)-1]) + 1, true
}
