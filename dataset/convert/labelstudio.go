package convert

import (
	"context"

	"ibid/dataset"
)

// labelStudio is the JSON export of Label Studio: tasks with the annotations of
// several people. JSON_MIN, which says neither what a mark is in nor which strings were
// chosen, is refused.
//
// Each task is a row. Its id is the member id of the data, else the task's; query is
// query, question or prompt; answer is answer, response or output; system, provider
// and model are those of the data. Citations are null.
//
// Marked text is truth, whatever its label, by annotator (completed_by: an e-mail
// address, else a user name, else a number). Who submitted a task without a mark
// marked nothing; who skipped it (was_cancelled) did not see it. Where no one marked
// any text in a file that has other results, marks were not asked for, and truth is
// null. Who marked something that is no text, such as a part of a picture, is left
// out of the row's truth, with a warning: the rest of their marks is not all of them.
//
// A text is called by the member doc of the data, else by the id of the first task
// that has it and the name of its field. The export does not say which field a
// control is about; where names do not tell, quotes do.
//
// Choices of the controls whose names say support, verdict, attribution or entailment,
// relevance, needs_citation or factual become labels on the claim of the data, else
// on the answer as a whole. What else there is stands under its place in the tag
// source_reference and is counted; predictions are counted only.
//
// Offsets count code points, zero-based, end exclusive, unless the quotes prove that
// they count UTF-16 units, as those of older versions do. HTML is read as the text
// that it shows.
var labelStudio = Format{
	Name:       "label-studio",
	Summary:    "Label Studio exports (JSON): places and choices of several annotators",
	Input:      "JSON or JSON Lines files, or a directory of them",
	CodePoints: true,
	streams:    true,
	options:    []string{"system"},
	fits: func(o *object) bool {
		return o.isObject("data") && (o.isList("annotations") || o.isList("completions"))
	},
	convert: convertLabelStudio,
}

func convertLabelStudio(ctx context.Context, r *run) error {
	paths, err := files(r.paths, []string{".json", ".jsonl", ".ndjson"})
	if err != nil {
		return err
	}
	c := &studioReader{run: r, called: map[[32]byte]string{}}
	for _, path := range paths {
		if err := c.read(ctx, path); err != nil {
			return err
		}
	}
	return nil
}

// A studioReader converts one file after the other.
type studioReader struct {
	*run
	called map[[32]byte]string // names of texts without one of their own, by digest

	file    string
	layout  studioLayout
	proof   proof
	reading int
	text    jsonText
	row     dataset.Row
}

// read converts one file, in three passes: the first finds which fields are marked,
// the second proves the offsets, the third writes.
func (c *studioReader) read(ctx context.Context, path string) error {
	c.file, c.layout, c.proof = path, newStudioLayout(), proof{}
	if path == stdinPath {
		if err := c.spool(); err != nil {
			return err
		}
	}
	s, err := c.shapeOf(path)
	if err != nil {
		return err
	}
	err = c.eachTask(ctx, s, func(t *studioTask, _ *RecordError) error {
		if t != nil {
			c.layout.vote(t)
		}
		return nil
	})
	if err != nil {
		return err
	}
	c.layout.settle()
	err = c.eachTask(ctx, s, func(t *studioTask, _ *RecordError) error {
		if t != nil {
			c.gather(&c.proof, t)
		}
		return nil
	})
	if err != nil {
		return err
	}
	c.reading = c.proof.settle(&c.report)
	if o := c.proof.offsets(); o.pairs() > 0 {
		c.report.file(FileReport{File: path, Format: c.format, Source: &o})
	}
	return c.eachTask(ctx, s, func(t *studioTask, bad *RecordError) error {
		c.report.Records++
		if bad != nil {
			c.fail(*bad)
			return nil
		}
		c.gather(&proof{}, t)
		return c.write(t)
	})
}

// eachTask calls do with every task of the file, or with what is wrong with it.
func (c *studioReader) eachTask(ctx context.Context, s shape, do func(*studioTask, *RecordError) error) error {
	return c.eachRecord(ctx, c.file, s, func(rec *foreignRecord) error {
		if rec.reason != "" {
			e := rec.at.err(c.file, rec.reason)
			return do(nil, &e)
		}
		t := &studioTask{at: rec.at, record: rec.data}
		if o := c.text.open(rec.data); o != nil {
			t.decode(o)
		}
		if e := c.text.err; e != nil {
			bad := rec.at.after(rec.data[:min(e.offset, len(rec.data))]).err(c.file, e.msg)
			return do(nil, &bad)
		}
		return do(t, nil)
	})
}

// gather examines the marks of a task, text by text.
func (c *studioReader) gather(p *proof, t *studioTask) {
	byField := map[string][]*markedSpan{}
	for i := range t.annotations {
		for k := range t.annotations[i].marks {
			m := &t.annotations[i].marks[k]
			if f := c.layout.fieldOf(t, m); f != nil && !isStudioRole(f.key) && t.annotations[i].counts() {
				byField[f.key] = append(byField[f.key], &m.markedSpan)
			}
		}
	}
	for i := range t.fields {
		f := &t.fields[i]
		if marks := byField[f.key]; len(marks) > 0 {
			p.gatherMarks(f.as(c.layout.html[f.key]).text, marks)
		}
	}
}
