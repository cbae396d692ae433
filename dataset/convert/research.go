package convert

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"

	"ibid"
)

// A researchFormat is the output of a research project: JSON records that give a row
// each, in lines, in a list or in a member of the file's only object.
type researchFormat struct {
	name, summary string
	fits          func(record *object) bool // of one record

	// records are those in an object of the file; nil if it is one itself.
	records func(file *object) iter.Seq[*object]

	// read fills the row. What it does not read goes into source_reference.
	read func(c *researchReader, record *object)
}

// format is the format as the registry has it.
func (f researchFormat) format() Format {
	if f.records == nil {
		f.records = func(file *object) iter.Seq[*object] { return func(yield func(*object) bool) { yield(file) } }
	}
	return Format{
		Name: f.name, Summary: f.summary, Input: "JSON or JSON Lines files, or a directory of them",
		CodePoints: true, streams: true, options: []string{"system"},
		fits: func(file *object) bool {
			for record := range f.records(file) {
				return record != nil && f.fits(record)
			}
			return false
		},
		convert: func(ctx context.Context, r *run) error {
			return r.eachFile(ctx, []string{".json", ".jsonl", ".ndjson"}, func(path string) error {
				c := &researchReader{run: r, file: path}
				return c.json(ctx, &f)
			})
		},
	}
}

// listed are the records of the member of a file that lists them, or the file itself
// if it has no such member.
func listed(member string) func(*object) iter.Seq[*object] {
	return func(file *object) iter.Seq[*object] {
		return func(yield func(*object) bool) {
			if !file.isList(member) {
				yield(file)
				return
			}
			for _, v := range file.get(member).elements() {
				if v.want(anObject) {
					if !yield(v.object()) {
						return
					}
				} else if !yield(nil) {
					return
				}
			}
		}
	}
}

// A researchReader converts one file.
type researchReader struct {
	*run
	file   string
	number int      // of the record, from 1
	at     position // of the record
	text   jsonText

	row     ibid.Answer
	more    extra           // members that have no column
	pending []ibid.Document // named, and not yet written
	proof   rowProof
}

// json converts a file of JSON.
func (c *researchReader) json(ctx context.Context, f *researchFormat) error {
	s, err := c.shapeOf(c.file)
	if err != nil {
		return err
	}
	err = c.eachRecord(ctx, c.file, s, func(rec *foreignRecord) error {
		file, bad := rec.open(&c.text)
		if bad != nil {
			c.report.Records++
			c.fail(*bad)
			return nil
		}
		at, last := rec.at, 0
		for record := range f.records(file) {
			if record != nil {
				at, last = at.after(rec.data[last:record.start]), record.start
			}
			c.begin(at)
			if record != nil {
				f.read(c, record)
				record.unread(func(v value) { c.more.add(v.name, v.raw()) })
			}
			if c.text.err != nil {
				c.failAt(rec)
			} else if err := c.end(); err != nil {
				return err
			}
		}
		if c.text.err != nil {
			c.report.Records++
			c.failAt(rec)
		}
		return nil
	})
	c.settleFile(&c.proof.proof, c.file)
	return err
}

// failAt counts a record that could not be read; the next one may be.
func (c *researchReader) failAt(rec *foreignRecord) {
	c.fail(*rec.mistake(&c.text))
	c.text.err = nil
}

// begin empties the row for the next record.
func (c *researchReader) begin(at position) {
	c.report.Records++
	c.number++
	c.at = at
	c.more.reset()
	c.row = ibid.Answer{File: c.file, ID: strconv.Itoa(c.number), HasDocuments: true}
}

// say warns of something in the record, which is kept.
func (c *researchReader) say(format string, args ...any) {
	c.warn(RecordError{File: c.file, Line: c.at.line, Column: c.at.column, Reason: "id " + quoted(c.row.ID) + ": " + fmt.Sprintf(format, args...)})
}

// end writes the row, and its documents where they belong.
func (c *researchReader) end() error {
	r := &c.row
	r.System = cmp.Or(c.System, r.System, r.Model, "default")
	if c.isRepeated(r.ID, r.System) {
		c.fail(c.at.err(c.file, "id "+quoted(r.ID)+" of system "+quoted(r.System)+" is there twice"))
		return nil
	}
	c.proof.own(r)
	r.HasDocuments = len(r.Documents) > 0
	if c.Docs {
		for i := range c.pending {
			if err := c.document(&c.pending[i]); err != nil {
				return err
			}
		}
		r.Documents, r.HasDocuments = nil, false
	}
	c.pending = c.pending[:0]
	r.Tags = append(r.Tags, c.more.tags()...)
	sortTags(r.Tags)
	return c.run.row(r)
}

// source makes a text a document of the row and returns its name: another text under the
// same name is another document (see [documentNames]).
func (c *researchReader) source(d ibid.Document) string {
	name, first := c.names.of(d.Doc, d.Text, d.HasText)
	d.Doc = name
	if first {
		c.pending = append(c.pending, d)
	}
	if documentOf(&c.row, name) == nil {
		c.row.Documents = append(c.row.Documents, d)
	}
	return name
}

// claim adds a claim that stands in the answer at a code point, or nowhere if that is
// negative, and returns its id.
func (c *researchReader) claim(text string, start int) string {
	out := ibid.Claim{ClaimID: strconv.Itoa(len(c.row.Claims)), Text: text}
	if start >= 0 {
		out.Start, out.End = integer(int64(start)), integer(int64(start+utf8.RuneCountInString(text)))
	}
	c.row.Claims, c.row.HasClaims = append(c.row.Claims, out), true
	return out.ClaimID
}

// sentence adds a text to the answer, behind a space, as a claim of its own.
func (c *researchReader) sentence(text string) *ibid.Claim {
	text = strings.TrimSpace(text)
	if c.row.Answer != "" {
		c.row.Answer += " "
	}
	start := utf8.RuneCountInString(c.row.Answer)
	c.row.Answer += text
	c.claim(text, start)
	return &c.row.Claims[len(c.row.Claims)-1]
}

// cite adds a citation that backs a claim.
func (c *researchReader) cite(claim *ibid.Claim, to ibid.Citation) {
	to.ClaimID, to.AnswerRole = claim.ClaimID, ibid.Segment
	to.AnswerStart, to.AnswerEnd = claim.Start, claim.End
	c.row.Citations = append(c.row.Citations, to)
}

// markers reads the marks in the answer, whose numbers count sources from 1.
func (c *researchReader) markers(sources []ibid.Citation) (reason string) {
	m := markReader{row: &c.row, sources: sources, known: true, listed: true, report: c.say}
	return m.read()
}
