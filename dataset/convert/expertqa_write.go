package convert

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ibid/dataset"
)

// supportValues are the values of support labels. N/A, Missing and null have
// none.
var supportValues = map[string]float64{"Complete": 1, "Partial": 0.5, "Incomplete": 0}

// write converts the answer of one system.
func (c *expertReader) write(a *expertAnswer, number int) error {
	r := &c.row
	*r = dataset.Row{
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
		out := dataset.Claim{ClaimID: id, Text: claim.text}
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
	l := dataset.Label{Annotator: a.annotator, ClaimID: id}
	value, judged := supportValues[claim.support]
	switch {
	case judged:
		l.Kind, l.Value = "support", dataset.NullFloat{Value: value, Valid: true}
	case claim.support == "Missing":
		if len(claim.evidence) > 0 {
			c.warn(RecordError{File: c.file, Line: number, Reason: fmt.Sprintf("claim %s cites evidence and its support is Missing: it has no label", id)})
		}
		return
	default:
		l.Kind, l.Value = "needs_citation", dataset.NullFloat{Valid: true}
	}
	c.row.Labels = append(c.row.Labels, l)
}

// citation adds one string of evidence.
func (c *expertReader) citation(evidence, claim string) error {
	head, passage, _ := strings.Cut(evidence, "\n\n")
	hasText := strings.TrimSpace(passage) != ""
	marker, url := cutMarker(head)
	out := dataset.Citation{ClaimID: claim, DocNull: url == ""}
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
		if err := c.source(&dataset.Document{Doc: name, Text: passage, HasText: hasText}, first); err != nil {
			return err
		}
	}
	out.SourceReference = more.reference("")
	c.row.Citations = append(c.row.Citations, out)
	c.report.Spans++
	c.report.WithoutQuote++
	return nil
}

// source writes a cited document: to the place for documents the first time,
// else to the row.
func (c *expertReader) source(d *dataset.Document, first bool) error {
	if c.Docs {
		if !first {
			return nil
		}
		return c.document(d)
	}
	r := &c.row
	r.HasDocuments = true
	if !slices.ContainsFunc(r.Documents, func(x dataset.Document) bool { return x.Doc == d.Doc }) {
		r.Documents = append(r.Documents, *d)
	}
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
	for _, k := range c.record.kept {
		more.add(k.name, k.value)
	}
	for _, k := range a.kept {
		more.add(k.name, k.value)
	}
	if !more.empty() {
		r.Tags = append(r.Tags, dataset.Tag{Key: referenceTag, Value: more.object()})
	}
	slices.SortFunc(r.Tags, func(a, b dataset.Tag) int { return strings.Compare(a.Key, b.Key) })
}
