package harness

import (
	"context"
	"fmt"
	"slices"

	"ibid"
	"ibid/judge/openrouter"
)

// maxProblems is how many problems a check lists; all are counted.
const maxProblems = 100

// checkBatch is how many rows a check decodes at a time.
const checkBatch = 1024

// A Checked is what a check of the inputs found.
type Checked struct {
	Rows, Errors int64
	Citations    map[string]int64 // status -> citations
	Truth        map[string]int64 // status -> truth spans
	Problems     []Problem        // the first ones
	Found        int64            // all of them
	Ignored      []string         // columns that mean nothing to ibid
	Unchecked    int64            // bytes of the inputs in Parquet pages without checksums
	Warnings     []string         // what is valid, but may spoil the results
}

// A Problem is one row or one citation that something is wrong with.
type Problem struct {
	File   string `json:"file"`
	Row    int64  `json:"row"` // zero-based, in its file
	ID     string `json:"id"`
	System string `json:"system"`
	What   string `json:"what"`
	Meant  string `json:"did_you_mean,omitempty"` // a document that is there, where a place is in one that is not

	missing string // the document that is not there
}

// String is the problem in one line.
func (p Problem) String() string {
	text := fmt.Sprintf("%s: row %d (%s/%s): %s", p.File, p.Row, p.ID, p.System, p.What)
	if p.Meant != "" {
		text += fmt.Sprintf("; did you mean %q?", p.Meant)
	}
	return text
}

// Coverage is the share of rows that can be scored, 1 without rows.
func (c *Checked) Coverage() float64 {
	if c.Rows == 0 {
		return 1
	}
	return float64(c.Rows-c.Errors) / float64(c.Rows)
}

// DryRun reads all that a run would read, reports what is wrong with it, and counts what the
// judge would be asked. It writes nothing and asks no model. Keys that are null or occur twice
// are [ibid.ErrUsage], as they are for a run.
func (p *Plan) DryRun(ctx context.Context) (*Checked, *Forecast, error) {
	if p.embedder != nil {
		p.embedder.Offline = true
	}
	out := &Checked{Citations: make(map[string]int64), Truth: make(map[string]int64), Ignored: p.source.Ignored()}
	for i := range p.inputs {
		out.Unchecked += p.inputs[i].Unchecked
	}
	forecast, err := p.forecast(ctx, func(sum *openrouter.Planner) error { return p.dryRows(ctx, out, sum) })
	if err != nil {
		return nil, nil, err
	}
	return out, forecast, asUsage(p.suggestDocuments(ctx, out))
}

// dryRows checks the inputs as a run does, then each row that it would score, and adds what the
// row asks of the judge to sum, unless that is nil.
func (p *Plan) dryRows(ctx context.Context, out *Checked, sum *openrouter.Planner) error {
	docs, err := p.checkedDocuments(ctx)
	if err != nil {
		return err
	}
	defer docs.Close()
	asking, err := newScorer(p, docs)
	if err != nil {
		return err
	}
	scoring := *asking
	scoring.judging = nil
	progress, read := p.stage("checking rows", p.Rows), int64(0)
	return asUsage(eachRow(ctx, p.source, p.job.Limit, func(r *ibid.Answer) error {
		if read++; read%checkBatch == 0 {
			progress(read)
		}
		if !p.job.wants(r) {
			return nil
		}
		out.Rows++
		failure, err := scoring.score(ctx, r)
		switch {
		case err != nil:
			return err
		case failure != nil:
			out.Errors++
			out.note(r, failure.Error())
		default:
			out.places(r)
		}
		if sum == nil {
			return nil
		}
		return asking.forecast(ctx, r, sum)
	}))
}

// places counts the statuses of one row, whose citations and truth spans people count from 1.
func (c *Checked) places(r *ibid.Answer) {
	for i := range r.Citations {
		p, given := r.Citations[i].Place, r.Citations[i].Given
		if given.Known() {
			p.Start, p.End = given.Start.Value, given.End.Value
		}
		c.place(r, c.Citations, "citation", i, &p)
	}
	for i := range r.Truth {
		if !r.Truth[i].DocNull {
			c.place(r, c.Truth, "truth", i, &r.Truth[i].Place)
		}
	}
}

// place counts the status of a place, and lists one that is not as it should be.
func (c *Checked) place(r *ibid.Answer, statuses map[string]int64, what string, i int, p *ibid.Place) {
	if statuses[p.Status.String()]++; p.Status.Valid() && (what == "truth" || p.Status != ibid.StatusQuoteRepaired) {
		return
	}
	before := len(c.Problems)
	where := fmt.Sprintf("%q", p.Doc)
	if p.Level == ibid.LevelCharacters || !p.Status.Usable() {
		where = fmt.Sprintf("%q [%d, %d)", p.Doc, p.Start, p.End)
	}
	c.note(r, fmt.Sprintf("%s %d: %s: %s", what, i+1, p.Status, where))
	if p.Status == ibid.StatusDocumentNotFound && len(c.Problems) > before {
		c.Problems[before].missing = string([]byte(p.Doc))
	}
}

// suggestDocuments finds out which documents were meant where others are named.
// It reads the documents once more if there are such places, for their names.
func (p *Plan) suggestDocuments(ctx context.Context, c *Checked) error {
	isMissing := func(problem Problem) bool { return problem.missing != "" }
	if p.documents == nil || !slices.ContainsFunc(c.Problems, isMissing) {
		return nil
	}
	names, err := p.documentNames(ctx)
	if err != nil {
		return err
	}
	meant, spelt := make(map[string]string), false
	for i := range c.Problems {
		missing := c.Problems[i].missing
		if missing == "" {
			continue
		}
		if _, known := meant[missing]; !known {
			near, spelling := meantDocument(missing, names)
			if spelling && !spelt {
				spelt = true
				c.Warnings = append(c.Warnings, fmt.Sprintf("documents are cited in another spelling of their names, such as %q for %q: doc_names: normalized reads both as one name", missing, near))
			}
			meant[missing] = near
		}
		c.Problems[i].Meant = meant[missing]
	}
	return nil
}

func (c *Checked) note(r *ibid.Answer, what string) {
	if c.Found++; c.Found <= maxProblems {
		// The row's strings belong to its batch.
		c.Problems = append(c.Problems, Problem{
			File: r.File, Row: r.FileRow, ID: string([]byte(r.ID)), System: string([]byte(r.System)), What: what,
		})
	}
}
