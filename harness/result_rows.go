package harness

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"ibid"
	"ibid/dataset"
	"ibid/dataset/runs"
)

// resultRows has the rows of a run whose dataset is gone, as far as results and what the run
// kept say: names, questions, answers and citations. There is no truth in them.
type resultRows struct {
	dir         string
	answers     bool // the run kept them
	texts       bool // and documents
	offsetsPage bool // offsets count from the page
}

// resultChunk is how many rows are put together at a time.
const resultChunk = 4096

// each is [Texts.Each].
func (r *resultRows) each(ctx context.Context, further []string, rows []int64, yield func(row *ibid.Answer, text func(doc string, page int32) (string, bool)) error) error {
	for at := range slices.Chunk(rows, resultChunk) {
		if err := cmp.Or(ctx.Err(), r.yield(at, further, yield)); err != nil {
			return err
		}
	}
	return nil
}

// yield yields the rows at some positions.
func (r *resultRows) yield(at []int64, further []string, yield func(row *ibid.Answer, text func(doc string, page int32) (string, bool)) error) error {
	var rows []*ibid.Answer
	of := make(map[int64]*ibid.Answer, len(at))
	err := runs.Rows().ScanOf(r.dir, []string{"id", "system"}, at, func(row int64, k *runs.Row) error {
		of[row] = &ibid.Answer{ID: k.ID, System: k.System, Pos: row, AnswerNull: true, QueryNull: true}
		rows = append(rows, of[row])
		return nil
	})
	if err != nil {
		return err
	}
	if r.answers {
		err := runs.Answers.ScanOf(r.dir, nil, at, func(row int64, a *runs.Answer) error {
			of[row].Query, of[row].Answer, of[row].QueryNull, of[row].AnswerNull = a.Query, a.Answer, false, false
			return nil
		})
		if err != nil {
			return err
		}
	}
	needed := make(map[string]bool)
	for _, doc := range further {
		needed[doc] = true
	}
	err = runs.Citations.ScanOf(r.dir, nil, at, func(row int64, c *runs.Citation) error {
		a := of[row]
		a.HasCitations, a.Citations = true, append(a.Citations, r.citation(c))
		needed[c.Doc] = true
		return nil
	})
	if err != nil {
		return err
	}
	var docs *dataset.Documents
	if r.texts {
		docs, err = loadTexts(r.dir, func(t *dataset.Text) (names []string) {
			if t.Rows == nil && needed[t.Doc] {
				names = append(names, t.Doc)
			}
			for _, row := range t.Rows {
				if of[int64(row)] != nil {
					names = append(names, inRow(t.Doc, int64(row)))
				}
			}
			return names
		})
		if err != nil {
			return err
		}
		defer docs.Close()
	}
	resolver := dataset.NewResolver(docs.View(textCache), dataset.Conventions{})
	for _, row := range rows {
		err := yield(row, func(doc string, page int32) (string, bool) {
			if text, ok := resolver.Text(inRow(doc, row.Pos), page); ok {
				return text, true
			}
			return resolver.Text(doc, page)
		})
		if err != nil {
			return err
		}
	}
	return resolver.Err()
}

// inRow names a document that a row brings along.
func inRow(doc string, row int64) string { return strconv.FormatInt(row, 10) + "\x00" + doc }

// citation is what the results say of one, with its place where they know it.
func (r *resultRows) citation(c *runs.Citation) ibid.Citation {
	out := ibid.Citation{CitationID: c.CitationID, Doc: c.Doc, DocNull: c.Doc == "", SourceType: c.SourceType, CitedText: c.CitedText}
	if c.Page != nil {
		out.Page = ibid.Some(int64(*c.Page))
	}
	if c.AnswerStart != nil && c.AnswerEnd != nil {
		out.Extent = ibid.Between(*c.AnswerStart, *c.AnswerEnd)
	}
	p := &out.Place
	p.Doc, p.Level, p.Status = c.Doc, ibid.LevelDocument, ibid.StatusUnchecked
	for s := range ibid.NumStatuses {
		if ibid.Status(s).String() == c.Status {
			p.Status = ibid.Status(s)
		}
	}
	if r.offsetsPage && c.Page != nil {
		p.Page = *c.Page
	}
	if c.CitedLength == nil || c.Start == nil || c.End == nil {
		return out
	}
	p.Level, p.Start, p.End = ibid.LevelCharacters, *c.Start, *c.End
	if c.RepairedStart != nil && c.RepairedEnd != nil && p.Status == ibid.StatusQuoteRepaired {
		p.Start, p.End = *c.RepairedStart, *c.RepairedEnd
	}
	return out
}
