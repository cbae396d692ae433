package convert

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ibid/metrics/token"
)

// evidenceInference is Evidence Inference 2.0 (DeYoung et al., BioNLP 2020): a
// record is a prompt, a question about one clinical trial, with the passages of
// the article that its annotators marked and quoted.
//
// A row's id is the PromptID, its query the published phrase, its documents are
// named PMC1177952 and the like. Without a truth annotator all annotators are
// truth, citations are null, and the answer is "" because nobody's answer is
// judged. With one, every other annotator is a system: the label they chose is
// the answer, their passages are the citations. The tags hold what the truth has
// no column for: label, label_code, in_abstract, valid_label, valid_reasoning.
var evidenceInference = Format{
	Name:       "evidence-inference",
	Summary:    "Evidence Inference 2.0: passages marked in clinical trials by several annotators",
	Input:      "the directory with annotations.csv, prompts.csv and txt/",
	CodePoints: true,
	options:    []string{"truth-annotator"},
	convert:    convertEvidenceInference,
}

// An evidenceReader converts one directory.
type evidenceReader struct {
	*run
	files   evidenceFiles
	prompts []*prompt
	proof   proof
	reading int
	article article
	written map[string]bool // documents
}

// An article is the text that was loaded last: prompts of one article follow
// each other.
type article struct {
	id   string
	text *token.Text
	err  error
}

func convertEvidenceInference(ctx context.Context, r *run) error {
	if len(r.paths) > 1 {
		return &UsageError{Msg: "format evidence-inference takes one directory", Hint: "ids would repeat between directories"}
	}
	files, err := findEvidence(r.paths[0])
	if err != nil {
		return err
	}
	c := &evidenceReader{run: r, files: files, written: map[string]bool{}}
	if err := c.read(); err != nil {
		return err
	}
	if err := c.checkAnnotator(); err != nil {
		return err
	}
	if err := c.prove(ctx); err != nil {
		return err
	}
	for _, p := range c.prompts {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := c.write(p); err != nil {
			return err
		}
	}
	return nil
}

// read reads both tables and joins them.
func (c *evidenceReader) read() error {
	questions, err := readFile(c.files.prompts, func(in io.Reader) (map[string]question, error) {
		return readQuestions(c.files.prompts, in, c.warn)
	})
	if err != nil {
		return err
	}
	c.prompts, err = readFile(c.files.annotations, func(in io.Reader) ([]*prompt, error) {
		return readAnnotations(c.files.annotations, in, func(e RecordError) {
			c.report.Records++
			c.fail(e)
		})
	})
	if err != nil {
		return err
	}
	for _, p := range c.prompts {
		q, known := questions[p.id]
		p.query = q.query
		switch {
		case !known:
			p.fail(c.at(p, "prompt %s is not in %s", quoted(p.id), filepath.Base(c.files.prompts)))
		case q.twice:
			p.fail(c.at(p, "prompt %s has two meanings in %s", quoted(p.id), filepath.Base(c.files.prompts)))
		case q.article != p.article:
			p.fail(c.at(p, "prompt %s is of article %s, and of %s in %s", quoted(p.id), quoted(p.article), quoted(q.article), filepath.Base(c.files.prompts)))
		}
	}
	return nil
}

func readFile[T any](path string, read func(io.Reader) (T, error)) (T, error) {
	f, err := os.Open(path)
	if err != nil {
		var zero T
		return zero, pathError(path, err)
	}
	defer f.Close()
	return read(f)
}

// at is an error at the first annotation of a prompt.
func (c *evidenceReader) at(p *prompt, format string, args ...any) *RecordError {
	return &RecordError{File: c.files.annotations, Line: p.line, Reason: fmt.Sprintf(format, args...)}
}

// checkAnnotator refuses a truth annotator whom the file does not know.
func (c *evidenceReader) checkAnnotator() error {
	if c.TruthAnnotator == nil {
		return nil
	}
	var all names
	for _, p := range c.prompts {
		for i := range p.annotations {
			if p.annotations[i].annotator == *c.TruthAnnotator {
				return nil
			}
			all.add(p.annotations[i].annotator)
		}
	}
	e := &UsageError{Msg: fmt.Sprintf("%s: nobody is called %s", c.files.annotations, quoted(*c.TruthAnnotator))}
	if all.n > 0 {
		e.Hint = "annotators are " + strings.Join(all.few[:all.n], ", ")
	}
	return e
}

// prove gathers the evidence of every quote, one article at a time, and decides
// on the reading.
func (c *evidenceReader) prove(ctx context.Context) error {
	byArticle := map[string][]*markedSpan{}
	var order []string
	for _, p := range c.prompts {
		c.load(p.article)
		if p.bad == nil && c.article.err != nil {
			p.fail(c.at(p, "%v", c.article.err))
		}
		if p.bad != nil {
			continue
		}
		if _, seen := byArticle[p.article]; !seen {
			order = append(order, p.article)
		}
		for i := range p.annotations {
			if a := &p.annotations[i]; a.marked {
				byArticle[p.article] = append(byArticle[p.article], &a.markedSpan)
			}
		}
	}
	for _, id := range order {
		if err := ctx.Err(); err != nil {
			return err
		}
		c.load(id)
		c.proof.gatherMarks(c.article.text, byArticle[id])
	}
	c.reading = c.proof.settle(&c.report)
	if o := c.proof.offsets(); o.pairs() > 0 {
		c.report.file(FileReport{File: c.files.annotations, Format: c.format, Source: &o})
	}
	c.warnOfTruth()
	return nil
}

// load makes an article the loaded one.
func (c *evidenceReader) load(id string) {
	if c.article.text == nil && c.article.err == nil || c.article.id != id {
		text, err := c.readArticle(id)
		c.article = article{id, text, err}
	}
}

func (c *evidenceReader) readArticle(id string) (*token.Text, error) {
	isDigit := func(r rune) bool { return '0' <= r && r <= '9' }
	if id == "" || strings.TrimLeftFunc(id, isDigit) != "" {
		return nil, fmt.Errorf("%s: want a number, got %s", colArticle, quoted(id)) // it becomes a file name
	}
	path := filepath.Join(c.files.texts, documentName(id)+".txt")
	data, err := readFile(path, func(in io.Reader) ([]byte, error) {
		return io.ReadAll(io.LimitReader(in, int64(c.MaxRecord)+1))
	})
	if err != nil {
		return nil, err
	}
	if len(data) > c.MaxRecord {
		return nil, fmt.Errorf("%s: over %d bytes", path, c.MaxRecord)
	}
	text := token.NewText(string(data))
	if !text.Valid() {
		return nil, errors.New(path + ": invalid UTF-8")
	}
	return text, nil
}

func documentName(article string) string { return "PMC" + article }

// annotators returns the names of the prompt's annotators in the order of their
// first annotation.
func (p *prompt) annotators() []string {
	var all []string
	for i := range p.annotations {
		if !slices.Contains(all, p.annotations[i].annotator) {
			all = append(all, p.annotations[i].annotator)
		}
	}
	return all
}
