package convert

import (
	"bufio"
	"cmp"
	"context"
	"iter"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"ibid"
)

// openRAGEval is what Open RAG Eval of Vectara reads and writes: its table of retrieved
// passages and generated answers, and its report in JSON.
//
// A run of a query is a row. Its id is query_id, that of the second run query_id#2 and so
// on; the tag query_id says what belongs together (statistics.cluster takes it). Lines of
// a run must follow each other. A mark [n] in an answer means the passage whose
// passage_id is [n], wherever in the list it stands; passages are called query_id[n]. A
// run without an answer (empty, NO_ANSWER, API_ERROR) is left out, as it is there. In the
// report the marks are gone: a part of an answer is a claim with its citations, and the
// scores are in source_reference.
var openRAGEval = func() Format {
	f := researchFormat{
		name:    "open-rag-eval",
		summary: "Open RAG Eval: its table of passages and answers, and its report in JSON",
		fits:    func(o *object) bool { return o.isList("generated_answer") && o.isObject("retrieved_passages") },
		records: openRAGRuns,
		read:    openRAGRun,
	}
	out := f.format()
	out.Input = "CSV or JSON files, or a directory of them"
	out.fitsTable = func(columns []string) bool {
		return hasColumns(columns, openRAGColumns...)
	}
	out.convert = func(ctx context.Context, r *run) error {
		return r.eachFile(ctx, []string{".csv", ".json"}, func(path string) error {
			c := &researchReader{run: r, file: path}
			if columns, ok := r.csvHeader(path); ok && (filepath.Ext(unpackedName(path)) == ".csv" || out.fitsTable(columns)) {
				return c.openRAGTable(ctx)
			}
			return c.json(ctx, &f)
		})
	}
	return out
}()

var openRAGColumns = []string{"query", "passage_id", "passage", "generated_answer"}

// openRAGRuns are the runs of every query in a report.
func openRAGRuns(file *object) iter.Seq[*object] {
	return func(yield func(*object) bool) {
		for query := range listed("evaluation")(file) {
			if query == nil || !query.isList("runs") {
				if query != nil {
					query.fail("runs is missing")
				}
				if !yield(nil) {
					return
				}
				continue
			}
			for run := range listed("runs")(query) {
				if !yield(run) {
					return
				}
			}
		}
	}
}

func openRAGRun(c *researchReader, o *object) {
	query, id, number := "", "", 1
	if o.in != nil {
		query, id, number = o.in.get("query").string(), o.in.get("query_id").label(), o.index+1
	}
	c.openRAGRow(id, query, strconv.Itoa(number))
	r := &c.row
	names := map[string]string{}
	for key, v := range o.get("retrieved_passages").object().all() {
		names[key] = c.source(ibid.Document{Doc: id + key, Text: v.required(), HasText: true})
	}
	r.HasCitations, r.HasClaims = true, true
	for _, part := range o.get("generated_answer").objects() {
		claim := *c.sentence(part.get("text").required())
		cited, _ := part.get("citations").texts()
		for _, key := range cited {
			to := ibid.Citation{Doc: names[key], Unit: "document"}
			if to.Doc == "" {
				to = ibid.Citation{DocNull: true, Title: key}
				c.say("%s is no passage", key)
			}
			c.cite(&claim, to)
		}
	}
}

// openRAGRow names the row of a run.
func (c *researchReader) openRAGRow(id, query, number string) {
	r := &c.row
	r.ID, r.Query = cmp.Or(id, r.ID), query
	if id != "" {
		r.Tags = append(r.Tags, ibid.Tag{Key: "query_id", Value: id})
	}
	if number != "" && number != "1" {
		r.ID += "#" + number
	}
}

// openRAGTable converts a table.
func (c *researchReader) openRAGTable(ctx context.Context) error {
	in, err := c.open(c.file)
	if err != nil {
		return err
	}
	defer in.Close()
	var lines []csvRecord // of one run
	var key [2]string
	flush := func() error {
		if len(lines) == 0 {
			return nil
		}
		err := c.openRAGLines(lines)
		lines = lines[:0]
		return err
	}
	err = eachCSV(c.file, bufio.NewReader(in), openRAGColumns, func(rec csvRecord, bad *RecordError) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if bad != nil {
			c.report.Records++
			c.fail(*bad)
			return nil
		}
		if at := [2]string{rec.get("query_id"), rec.get("query_run")}; at != key || at[0] == "" {
			if err := flush(); err != nil {
				return err
			}
			key = at
		}
		rec.fields = slices.Clone(rec.fields)
		lines = append(lines, rec)
		return nil
	})
	if err == nil {
		err = flush()
	}
	if err == nil {
		c.settleFile(&c.proof.proof, c.file)
	}
	return err
}

// maxNumber is the largest number of a source that a mark can mean.
const maxNumber = 1000

// openRAGLines converts the lines of one run.
func (c *researchReader) openRAGLines(lines []csvRecord) error {
	c.begin(position{line: lines[0].line})
	first := lines[0]
	c.openRAGRow(first.get("query_id"), first.get("query"), first.get("query_run"))
	var sources []ibid.Citation
	for _, rec := range lines {
		key := rec.get("passage_id")
		if c.row.Answer == "" {
			c.row.Answer = rec.get("generated_answer")
		}
		if key == "" && rec.get("passage") == "" {
			continue
		}
		name := c.source(ibid.Document{Doc: first.get("query_id") + key, Text: rec.get("passage"), HasText: true})
		n, err := strconv.Atoi(strings.Trim(key, "[]"))
		if err != nil || n < 1 || n > maxNumber {
			continue // no mark can mean it
		}
		for len(sources) < n {
			sources = append(sources, ibid.Citation{DocNull: true, Title: "[" + strconv.Itoa(len(sources)+1) + "]"})
		}
		sources[n-1] = ibid.Citation{Doc: name}
	}
	if a := c.row.Answer; a == "" || a == "NO_ANSWER" || a == "API_ERROR" {
		c.report.LeftOut++
		return nil
	}
	if reason := c.markers(sources); reason != "" {
		c.fail(c.at.err(c.file, reason))
		return nil
	}
	return c.end()
}
