package convert

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ibid"
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
	Input:      "the directory with annotations.csv, prompts.csv and txt/, or a file annotations_SET.csv of several sets",
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
		return ibid.Usagef("format evidence-inference takes one directory or file").With("ids would repeat between directories")
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
	questions, err := c.readQuestions()
	if err == nil {
		err = c.readAnnotations()
	}
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

// at is an error at the first annotation of a prompt.
func (c *evidenceReader) at(p *prompt, format string, args ...any) *RecordError {
	return &RecordError{File: c.files.annotations, Line: p.line, Reason: fmt.Sprintf(format, args...)}
}

// checkAnnotator refuses a truth annotator whom the file does not know.
func (c *evidenceReader) checkAnnotator() error {
	if c.TruthAnnotator == nil {
		return nil
	}
	var all []string
	for _, p := range c.prompts {
		for i := range p.annotations {
			name := p.annotations[i].annotator
			if name == *c.TruthAnnotator {
				return nil
			}
			if len(all) < 16 && !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	e := ibid.Usagef("%s: nobody is called %s", c.files.annotations, quoted(*c.TruthAnnotator))
	if len(all) > 0 {
		e.Hint = "annotators are " + strings.Join(all, ", ")
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
		c.proof.examineMarks(c.article.text, byArticle[id])
	}
	c.reading = c.settleFile(&c.proof, c.files.annotations)
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
	data, err := c.readText(path)
	if err != nil {
		return nil, err
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

// The columns of the two files that are read.
const (
	colUser    = "UserID"
	colPrompt  = "PromptID"
	colArticle = "PMCID"
	colLabel   = "Label"
	colQuote   = "Annotations"
	colStart   = "Evidence Start"
	colEnd     = "Evidence End"
)

// An annotation is one passage that one annotator marked for one prompt.
type annotation struct {
	annotator string
	markedSpan
	marked bool // false: the annotator looked and marked nothing
	label  string
	rest   [][2]string // the columns that have no column of ours, by name
	line   int
}

// A prompt is one question about one article with all its annotations, in the
// order of the file.
type prompt struct {
	id, article string
	query       string
	annotations []annotation
	bad         *RecordError // why it cannot be converted
	line        int          // of its first annotation
}

// fail keeps the first thing that is wrong with the prompt.
func (p *prompt) fail(e *RecordError) {
	if p.bad == nil {
		p.bad = e
	}
}

// A question is one record of the file of prompts.
type question struct {
	article, query string
	twice          bool
}

// evidenceFiles are the files of one data set.
type evidenceFiles struct{ annotations, prompts, texts string }

// The names of the published data, the usual ones first; the prompts of
// annotations_SET.csv are prompts_SET.csv, such as those of the pilot run.
var (
	evidenceAnnotations = []string{"annotations.csv", "annotations_merged.csv", "v2_annotations.csv"}
	evidencePrompts     = []string{"prompts.csv", "prompts_merged.csv"}
	evidenceTexts       = []string{"txt", "txt_files"}
)

// findEvidence looks for the files of a data set: of a directory, or its folder
// annotations; or of a file of annotations, whose texts may be one folder up.
func findEvidence(path string) (evidenceFiles, error) {
	info, err := os.Stat(path)
	if err != nil {
		return evidenceFiles{}, pathError(path, err)
	}
	f := evidenceFiles{}
	folders := []string{path, filepath.Join(path, "annotations")}
	prompts := evidencePrompts
	if info.IsDir() {
		f.annotations = firstThere(folders, evidenceAnnotations)
		if f.annotations == "" {
			return f, noEvidence(path, evidenceAnnotations, "give a file of annotations, such as annotations_pilot_run.csv")
		}
	} else {
		name := filepath.Base(path)
		set, ok := strings.CutPrefix(name, "annotations_")
		switch usual := slices.Contains(evidenceAnnotations, name); {
		case !usual && !ok:
			return f, ibid.Usagef("%s: not a directory", path).With("give the directory that holds annotations.csv, or a file called annotations_SET.csv beside its prompts_SET.csv")
		case !usual:
			prompts = []string{"prompts_" + set}
		}
		f.annotations = path
		folders = []string{filepath.Dir(path), filepath.Join(filepath.Dir(path), "..")}
	}
	if f.prompts = firstThere(folders, prompts); f.prompts == "" {
		return f, noEvidence(path, prompts, "")
	}
	if f.texts = firstThere(folders, evidenceTexts); f.texts == "" {
		return f, noEvidence(path, evidenceTexts, "")
	}
	return f, nil
}

func noEvidence(path string, names []string, hint string) error {
	return ibid.Usagef("%s: no %s here", path, strings.Join(names, " or ")).With(hint)
}

func firstThere(folders, names []string) string {
	for _, folder := range folders {
		for _, name := range names {
			path := filepath.Join(folder, name)
			if _, err := os.Stat(path); err == nil {
				return path
			}
		}
	}
	return ""
}

// readQuestions reads the file of prompts. A record that cannot be read is a
// warning; the annotations that ask for it will miss it.
func (c *evidenceReader) readQuestions() (map[string]question, error) {
	all := map[string]question{}
	columns := []string{colPrompt, colArticle, "Outcome", "Intervention", "Comparator"}
	return all, c.eachLine(c.files.prompts, columns, func(rec csvRecord, wrong *RecordError) error {
		if wrong != nil {
			c.warn(*wrong)
			return nil
		}
		q := question{article: rec.get(colArticle)}
		q.query = fmt.Sprintf("With respect to %s, characterize the reported difference between %s and %s",
			rec.get("Outcome"), rec.get("Intervention"), rec.get("Comparator"))
		id := rec.get(colPrompt)
		if old, twice := all[id]; twice && old != q {
			q.twice = true
		}
		all[id] = q
		return nil
	})
}

// readAnnotations reads the file of annotations into prompts, in the order of
// their first annotation. Any annotation that cannot be read spoils its prompt:
// with a part of its spans it would be scored wrongly. One whose prompt cannot be
// told is a record of its own.
func (c *evidenceReader) readAnnotations() error {
	byID := map[string]*prompt{}
	columns := []string{colUser, colPrompt, colArticle, colLabel, colQuote, colStart, colEnd}
	return c.eachLine(c.files.annotations, columns, func(rec csvRecord, wrong *RecordError) error {
		id := rec.get(colPrompt)
		if id == "" {
			if wrong == nil {
				wrong = rec.bad("%s is empty", colPrompt)
			}
			c.report.Records++
			c.fail(*wrong)
			return nil
		}
		p := byID[id]
		if p == nil {
			p = &prompt{id: strings.ToValidUTF8(id, "\ufffd"), article: rec.get(colArticle), line: rec.line}
			byID[id] = p
			c.prompts = append(c.prompts, p)
		}
		var a annotation
		if wrong == nil {
			a, wrong = readAnnotation(rec)
		}
		if wrong == nil && rec.get(colArticle) != p.article {
			wrong = rec.bad("%s %s, and line %d has %s for the same prompt", colArticle, quoted(rec.get(colArticle)), p.line, quoted(p.article))
		}
		if wrong != nil {
			p.fail(wrong)
			return nil
		}
		p.annotations = append(p.annotations, a)
		return nil
	})
}

func readAnnotation(rec csvRecord) (annotation, *RecordError) {
	a := annotation{annotator: rec.get(colUser), label: rec.get(colLabel), line: rec.line}
	if a.annotator == "" {
		return a, rec.bad("%s is empty", colUser)
	}
	var wrong *RecordError
	if a.quote.start, wrong = rec.integer(colStart); wrong != nil {
		return a, wrong
	}
	if a.quote.end, wrong = rec.integer(colEnd); wrong != nil {
		return a, wrong
	}
	a.quote.text = rec.get(colQuote)
	// The published data writes -1, -1 and no quote where nothing was marked.
	a.marked = a.quote.text != "" || a.quote.start >= 0 || a.quote.end >= 0
	for i, name := range rec.columns {
		switch name {
		case colUser, colPrompt, colArticle, colQuote, colStart, colEnd:
		default:
			a.rest = append(a.rest, [2]string{name, rec.fields[i]})
		}
	}
	return a, nil
}

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
	row := ibid.Answer{
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
	return c.document(&ibid.Document{Doc: documentName(p.article), Text: c.article.text.String(), HasText: true})
}

// truth converts one annotation of a truth annotator. It keeps its offsets and its quote,
// as citations do: a run moves both by one rule, and says so.
func (c *evidenceReader) truth(p *prompt, a *annotation) ibid.Mark {
	if !a.marked {
		return ibid.Mark{Annotator: a.annotator, DocNull: true}
	}
	t := ibid.Mark{Annotator: a.annotator, Doc: documentName(p.article)}
	t.Start, t.End, t.Unit = a.evidence.placed(c.article.text, &a.quote, c.reading)
	t.CitedText = a.quote.text
	return t
}

// quotedTruth says what is wrong with truth that is not where its quote is.
var quotedTruth = map[verdict]string{
	repaired:   "the quote of this truth is elsewhere, and counts there",
	mismatched: "the document does not hold the quote of this truth exactly once",
	degenerate: "the offsets of this truth make no span",
}

// warnOfTruth lists the truth spans that are not where their quotes are.
func (c *evidenceReader) warnOfTruth() {
	for _, p := range c.prompts {
		for i := range p.annotations {
			a := &p.annotations[i]
			isTruth := c.TruthAnnotator == nil || *c.TruthAnnotator == a.annotator
			if v := a.verdict(c.reading); v != proved && isTruth && p.bad == nil {
				c.warn(RecordError{File: c.files.annotations, Line: a.line, Reason: quotedTruth[v]})
			}
		}
	}
}

func (c *evidenceReader) citation(p *prompt, a *annotation) ibid.Citation {
	out := ibid.Citation{Doc: documentName(p.article), CitedText: a.quote.text}
	out.Start, out.End, out.Unit = a.evidence.placed(c.article.text, &a.quote, c.reading)
	var rest extra
	for _, f := range a.rest {
		rest.addText(f[0], f[1])
	}
	out.SourceReference = rest.reference("")
	return out
}

// tagsOf returns the tags of a row: every column of its truth annotations that
// has no column of ours, under its name in lower case with underscores.
func tagsOf(gold []*annotation) []ibid.Tag {
	var tags []ibid.Tag
	if len(gold) == 0 {
		return nil
	}
	for i, f := range gold[0].rest {
		key := strings.ReplaceAll(strings.ToLower(f[0]), " ", "_")
		if slices.ContainsFunc(tags, func(t ibid.Tag) bool { return t.Key == key }) {
			key = f[0]
		}
		tags = append(tags, ibid.Tag{Key: key, Value: distinct(gold, func(a *annotation) string { return a.rest[i][1] })})
	}
	slices.SortFunc(tags, func(a, b ibid.Tag) int { return strings.Compare(a.Key, b.Key) })
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
