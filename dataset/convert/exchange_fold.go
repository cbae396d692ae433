package convert

import (
	"context"
	"fmt"
)

// finish calls do with the rows of a record that has been collected.
func (c *exchangeReader) finish(ctx context.Context, r *programRecord, only bool, do func(madeRow) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	if r.bad == nil && r.tree == nil {
		if r.tree, err = c.program.first(ctx, "fold", r, trees(r.pieces)); err != nil {
			r.fail(r.mistake(c.program, err, r.whole()))
		}
	}
	if r.bad != nil {
		return do(madeRow{bad: r.bad, counts: true})
	}
	return c.rows(ctx, r, only, do)
}

// trees are the values of pieces.
func trees(pieces []recordPiece) []any {
	all := make([]any, len(pieces))
	for i := range pieces {
		all[i] = pieces[i].tree
	}
	return all
}

// eachRow calls do with every row that the program makes of the file. What it folds are the events
// of a response, or lines of a table or records that go on with each other; else each record stands
// alone.
func (c *exchangeReader) eachRow(ctx context.Context, do func(madeRow) error) error {
	p, table, events := c.program, c.shape == tableShape, c.shape == eventShape || c.program.says["list"]
	if (table || events) && !p.has["fold"] {
		return do(madeRow{bad: &RecordError{File: c.file, Reason: fmt.Sprintf("format %s has no event streams: save the response as JSON", p.name)}, counts: true})
	}
	var response *programRecord // that is being read
	number := 0
	finish := func(only bool) (err error) {
		if response != nil {
			err = c.finish(ctx, response, only, do)
		}
		response = nil
		return err
	}
	goesOn := func(piece *recordPiece, wrong *RecordError) bool {
		switch {
		case response == nil:
			return false
		case events:
			return wrong != nil || !p.has["begins"] || !p.is(ctx, "begins", piece.tree)
		}
		return p.has["goes_on"] && p.is(ctx, "goes_on", []any{response.pieces[len(response.pieces)-1].tree, piece.tree})
	}
	add := func(piece recordPiece, wrong *RecordError) error {
		if goesOn(&piece, wrong) {
			response.tree = nil
		} else {
			if err := finish(false); err != nil {
				return err
			}
			number++
			response = c.recordOf(number)
			if !table && !events {
				response.tree = piece.tree
			}
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
	if number == 0 && events {
		return do(madeRow{bad: &RecordError{File: c.file, Reason: "no event here"}, counts: true})
	}
	return finish(number == 1 && !table && (events || c.shape == wholeShape))
}
