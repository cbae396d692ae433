package convert

import (
	"slices"
	"strings"

	"ibid/dataset"
)

// write converts one prompt: to a row, to one per system, or to none.
func (c *evidenceReader) write(p *prompt) error {
	c.report.Records++
	if p.bad != nil {
		c.fail(*p.bad)
		return nil
	}
	annotators := p.annotators()
	if c.TruthAnnotator == nil {
		return c.writeRow(p, "", annotators)
	}
	truth := *c.TruthAnnotator
	if !slices.Contains(annotators, truth) || len(annotators) < 2 {
		c.report.LeftOut++
		return nil
	}
	for _, system := range annotators {
		if system == truth {
			continue
		}
		if err := c.writeRow(p, system, []string{truth}); err != nil {
			return err
		}
	}
	return nil
}

// writeRow writes the row of one system, or of none if it is "".
func (c *evidenceReader) writeRow(p *prompt, system string, truth []string) error {
	c.load(p.article)
	if c.article.err != nil {
		return c.article.err // it could be read a moment ago
	}
	if err := c.writeDocument(p); err != nil {
		return err
	}
	row := dataset.Row{
		File: c.files.annotations,
		ID:   p.id, Query: p.query, System: "default",
		HasTruth: true,
	}
	var gold []*annotation
	for i := range p.annotations {
		a := &p.annotations[i]
		if slices.Contains(truth, a.annotator) {
			gold = append(gold, a)
			row.Truth = append(row.Truth, c.truth(p, a))
		}
	}
	if system != "" {
		row.System, row.HasCitations = system, true
		var answers []*annotation
		for i := range p.annotations {
			if a := &p.annotations[i]; a.annotator == system {
				answers = append(answers, a)
				if a.marked {
					row.Citations = append(row.Citations, c.citation(p, a))
				}
			}
		}
		row.Answer = distinct(answers, func(a *annotation) string { return a.label })
	}
	row.Tags = tagsOf(gold)
	return c.row(&row)
}

// writeDocument writes the loaded article, once.
func (c *evidenceReader) writeDocument(p *prompt) error {
	if !c.Docs || c.written[p.article] {
		return nil
	}
	c.written[p.article] = true
	return c.document(&dataset.Document{Doc: documentName(p.article), Text: c.article.text.String(), HasText: true})
}

// truth converts one annotation of a truth annotator.
func (c *evidenceReader) truth(p *prompt, a *annotation) dataset.Truth {
	if !a.marked {
		return dataset.Truth{Annotator: a.annotator, DocNull: true}
	}
	t := dataset.Truth{Annotator: a.annotator, Doc: documentName(p.article)}
	t.Start, t.End, t.Unit = a.place(c.article.text, c.reading)
	return t
}

// warnOfTruth lists the truth spans that are not where their quotes are.
func (c *evidenceReader) warnOfTruth() {
	for _, p := range c.prompts {
		for i := range p.annotations {
			a := &p.annotations[i]
			isTruth := c.TruthAnnotator == nil || *c.TruthAnnotator == a.annotator
			if v := a.verdict(c.reading); v != proved && isTruth && p.bad == nil {
				c.warn(RecordError{File: c.files.annotations, Line: a.line, Reason: markReasons[v]})
			}
		}
	}
}

func (c *evidenceReader) citation(p *prompt, a *annotation) dataset.Citation {
	out := dataset.Citation{Doc: documentName(p.article), CitedText: a.quote.text}
	out.Start, out.End, out.Unit = a.evidence.placed(c.article.text, &a.quote, c.reading)
	var rest extra
	for _, f := range a.rest {
		rest.addText(f[0], f[1])
	}
	if !rest.empty() {
		out.SourceReference = rest.object()
	}
	return out
}

// tagsOf returns the tags of a row: every column of its truth annotations that
// has no column of ours, under its name in lower case with underscores.
func tagsOf(gold []*annotation) []dataset.Tag {
	var tags []dataset.Tag
	if len(gold) == 0 {
		return nil
	}
	for i, f := range gold[0].rest {
		key := strings.ReplaceAll(strings.ToLower(f[0]), " ", "_")
		if slices.ContainsFunc(tags, func(t dataset.Tag) bool { return t.Key == key }) {
			key = f[0]
		}
		tags = append(tags, dataset.Tag{Key: key, Value: distinct(gold, func(a *annotation) string { return a.rest[i][1] })})
	}
	slices.SortFunc(tags, func(a, b dataset.Tag) int { return strings.Compare(a.Key, b.Key) })
	return tags
}

// distinct joins the different values of the annotations in the order of their
// first appearance.
func distinct(all []*annotation, value func(*annotation) string) string {
	var values []string
	for _, a := range all {
		if v := value(a); !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	return strings.Join(values, "; ")
}
