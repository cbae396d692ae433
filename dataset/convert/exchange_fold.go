package convert

import (
	"context"
	"fmt"
)

// A foldedRecord collects the events of a response, the lines of a group, or what files of a
// folder say together.
type foldedRecord struct {
	pieces []recordPiece
	bad    *RecordError // why it cannot be read
	tree   any          // what the pieces make; nil if the program folds them
}

// fail keeps the first thing that is wrong with the record.
func (r *foldedRecord) fail(e RecordError) {
	if r.bad == nil {
		r.bad = &e
	}
}

// finish calls do with the rows of what has been collected.
func (c *exchangeReader) finish(ctx context.Context, r *foldedRecord, number int, only bool, do func(madeRow) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	if r.bad != nil {
		return do(madeRow{bad: r.bad, counts: true})
	}
	from := c.recordOf(number, r.pieces...)
	if r.tree == nil {
		if r.tree, err = c.program.first(ctx, "fold", from, trees(r.pieces)); err != nil {
			e := from.mistake(c.program, err, from.whole())
			return do(madeRow{bad: &e, counts: true})
		}
	}
	return c.rows(ctx, from, r.tree, only, do)
}

// trees are the values of pieces.
func trees(pieces []recordPiece) []any {
	all := make([]any, len(pieces))
	for i := range pieces {
		all[i] = pieces[i].tree
	}
	return all
}

// eachFolded does what [exchangeReader.eachRow] does with the responses of a file of events, and
// with the records of a table: lines that follow each other and have the same group.
func (c *exchangeReader) eachFolded(ctx context.Context, do func(madeRow) error) error {
	p, table := c.program, c.shape == tableShape
	if !p.has["fold"] {
		return do(madeRow{bad: &RecordError{File: c.file, Reason: fmt.Sprintf("format %s has no event streams: save the response as JSON", p.name)}, counts: true})
	}
	var response *foldedRecord // that is being read
	number := 0
	finish := func(only bool) (err error) {
		if response != nil {
			number++
			err = c.finish(ctx, response, number, only, do)
		}
		response = nil
		return err
	}
	group := ""
	begins := func(tree any) bool {
		if !table {
			return p.has["begins"] && p.is(ctx, "begins", tree)
		}
		before := group
		of, err := p.first(ctx, "group", &programRecord{}, tree)
		if group = ""; err == nil && of != nil {
			group = programJSON(of)
		}
		return group == "" || group != before
	}
	add := func(piece recordPiece, wrong *RecordError) error {
		if wrong == nil && begins(piece.tree) {
			if err := finish(false); err != nil {
				return err
			}
		}
		if response == nil {
			response = &foldedRecord{}
		}
		if response.bad == nil { // else it is the rest of a response that cannot be read
			response.pieces, response.bad = append(response.pieces, piece), wrong
		}
		return nil
	}
	event := func(rec *foreignRecord) error { return add(newPiece(rec, &c.text)) }
	var err error
	switch {
	case table:
		err = c.eachLine(c.file, p.table, nil, func(rec csvRecord, bad *RecordError) error {
			if bad != nil {
				return do(madeRow{bad: bad, counts: true})
			}
			return add(rec.piece(), nil)
		})
	case c.shape == eventShape:
		err = c.eachEvent(ctx, c.file, event)
	default:
		err = c.eachRecord(ctx, c.file, c.shape, event)
	}
	if err != nil {
		return err
	}
	if response == nil && number == 0 && !table {
		return do(madeRow{bad: &RecordError{File: c.file, Reason: "no event here"}, counts: true})
	}
	return finish(number == 0 && !table)
}
