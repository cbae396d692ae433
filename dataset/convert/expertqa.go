package convert

import (
	"context"

	"ibid/dataset"
)

// expertQA is ExpertQA (Malaviya et al., NAACL 2024): a record is a question
// with the answers of one or more systems, each cut into claims, and for every
// claim what an expert said of the evidence it cites.
//
// Each (record, system) is a row: id is the record's line number, query the
// question; provider and model are not known. claim_id is the claim's index in
// the answer. A claim's offsets are given when it stands in the answer exactly
// once, white space ignored. Each string of its evidence, "[n] URL" or "[n] URL",
// an empty line and a passage, is one citation of the claim: the URL names the
// document and a passage is its whole text, so the citation has unit document
// and no offsets. "[n]" is the marker of its source_reference.
//
// A URL is met with several passages, and every distinct one is a document: the
// first is called URL, the next URL#2, URL#3 … in the order of the file, the URL
// without a passage being a content of its own, known without its text (see
// [documentNames]). Without a place for documents each row carries its own.
//
// Support Complete, Partial and Incomplete becomes a support label of 1, 0.5 and
// 0 on the claim; N/A and null a needs_citation label of 0; Missing no label. The
// annotator is the answer's, else the record's. The tags hold the metadata
// question_type, field and specific_field, and as source_reference everything
// else, as JSON under its place in the answer.
var expertQA = Format{
	Name:       "expertqa",
	Summary:    "ExpertQA: answers cut into claims, with experts' judgments of their evidence",
	Input:      "one JSON Lines file",
	CodePoints: true,
	streams:    true,
	fits:       func(o *object) bool { return o.peek("question") != "" && o.isObject("answers") },
	convert:    convertExpertQA,
}

// An expertReader converts one file.
type expertReader struct {
	*run
	file   string
	record expertRecord
	names  documentNames
	row    dataset.Row
}

func convertExpertQA(ctx context.Context, r *run) error {
	paths, err := files(r.paths, []string{".jsonl", ".ndjson"})
	if err != nil {
		return err
	}
	if len(paths) > 1 {
		return &UsageError{Msg: "format expertqa takes one file", Hint: "ids are line numbers and would repeat between files"}
	}
	c := &expertReader{run: r, file: paths[0]}
	return c.eachLine(ctx, c.file, c.line)
}

// line converts one record.
func (c *expertReader) line(line []byte, number int) error {
	rec := &c.record
	if e := rec.decode(line); e != nil {
		c.fail(position{number, 1}.after(line[:min(e.offset, len(line))]).err(c.file, e.msg))
		return nil
	}
	for _, name := range rec.unknown {
		c.report.unknownField(name)
	}
	for i := range rec.answers {
		if err := c.write(&rec.answers[i], number); err != nil {
			return err
		}
	}
	return nil
}
