//go:build unix

// Command strategies shows what a system gets for each way of citing: honest ones, and
// ways to get more than they deserve. It takes the questions and the passages that
// people marked of Evidence Inference 2.0, lets each strategy "answer" with the marked
// passages, and prints the overall score with its interval and its components.
//
//	go run ./strategies -ibid ../bin/ibid -data ../../shared/data/evidence-inference-v2
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ibid"
	"ibid/benchmarks/program"
	"ibid/dataset"
)

func main() {
	ibidPath := flag.String("ibid", "../bin/ibid", "the program to measure")
	data := flag.String("data", "../../shared/data/evidence-inference-v2", "folder of Evidence Inference 2.0")
	sets := flag.String("set", "", "settings for the run as KEY=VALUE, separated by commas")
	flag.Parse()
	if err := measure(*ibidPath, *data, *sets); err != nil {
		fmt.Fprintln(os.Stderr, "strategies:", err)
		os.Exit(1)
	}
}

// A question has what people marked for it, cut to its text.
type question struct {
	id, query string
	evidence  []passage
	hard      bool // an honest system errs here, so that skipping it may pay
}

// A passage is [start, end) of a document, in code points.
type passage struct {
	doc        string
	start, end int64
	claim      int // which claim it is cited for
}

type world struct {
	questions []question
	texts     map[string][]rune
	docs      []string
}

func measure(ibid, data, sets string) error {
	dir, err := os.MkdirTemp("", "ibid-strategies-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	answers, docs := filepath.Join(dir, "ei.parquet"), filepath.Join(dir, "docs.parquet")
	if _, _, err := program.Run(ibid, "import", "evidence-inference", data, "-o", answers, "--docs", docs, "--truth-annotator", "0"); err != nil {
		return err
	}
	w, err := readWorld(answers, docs)
	if err != nil {
		return err
	}
	if err := w.write(filepath.Join(dir, "strategies.parquet"), filepath.Join(dir, "all.parquet")); err != nil {
		return err
	}
	args := []string{
		ibid, "run", filepath.Join(dir, "strategies.parquet"), "--documents", filepath.Join(dir, "all.parquet"), "--out", dir, "--id", "run", "-q",
		"--judge", "lexical", "--set", "span_matching.max_span_length=10000000",
	}
	for _, s := range strings.FieldsFunc(sets, func(r rune) bool { return r == ',' }) {
		args = append(args, "--set", s)
	}
	if _, _, err := program.Run(args...); err != nil {
		return err
	}
	summary, err := program.Table(ibid, "show", filepath.Join(dir, "run"), "--format", "csv")
	if err != nil {
		return err
	}
	show(summary)
	return nil
}

// readWorld reads the questions with one or two marked passages that do not overlap.
func readWorld(answers, docs string) (*world, error) {
	w := &world{texts: make(map[string][]rune)}
	documents, err := dataset.OpenDocuments(docs, dataset.ReadOptions{})
	if err != nil {
		return nil, err
	}
	err = documents.Read(context.Background(), func(d *ibid.Document) error {
		name := strings.Clone(d.Doc)
		w.docs = append(w.docs, name)
		w.texts[name] = []rune(d.Text)
		return nil
	})
	if err != nil {
		return nil, err
	}
	source, err := dataset.Open(answers, dataset.ReadOptions{})
	if err != nil {
		return nil, err
	}
	err = source.Read(context.Background(), 0, 256, func(b *dataset.Batch) error {
		defer b.Release()
		var row ibid.Answer
		for i := range b.Len() {
			b.Row(i, &row)
			q := question{id: strings.Clone(row.ID), query: strings.Clone(row.Query)}
			for _, m := range row.Truth {
				text := w.texts[m.Doc]
				if m.DocNull || !m.Start.Known() || m.Start.Value < 0 || m.End.Value > int64(len(text)) || m.End.Value-m.Start.Value < 40 {
					continue
				}
				p := passage{doc: strings.Clone(m.Doc), start: m.Start.Value, end: m.End.Value, claim: len(q.evidence)}
				apart := !slices.ContainsFunc(q.evidence, func(o passage) bool { return o.doc != p.doc || o.start < p.end && p.start < o.end })
				if apart && len(q.evidence) < 2 {
					q.evidence = append(q.evidence, p)
				}
			}
			if len(q.evidence) > 0 {
				q.hard = len(w.questions)%2 == 1
				w.questions = append(w.questions, q)
			}
		}
		return nil
	})
	return w, err
}

// A strategy makes the citations of an answer.
type strategy struct {
	name   string
	cite   func(w *world, q *question) []passage
	answer func(w *world, q *question, a *ibid.Answer) // changes the answer; may be nil
	skip   bool                                        // leaves hard questions out
}

func each(f func(w *world, p passage) []passage) func(*world, *question) []passage {
	return func(w *world, q *question) (all []passage) {
		for _, p := range q.evidence {
			for _, c := range f(w, p) {
				c.claim = p.claim
				all = append(all, c)
			}
		}
		return all
	}
}

// moved is a passage with its ends moved, within its document.
func (w *world) moved(p passage, start, end int64) passage {
	n := int64(len(w.texts[p.doc]))
	p.start = min(max(0, p.start+start), n-1)
	p.end = min(max(p.start+1, p.end+end), n)
	return p
}

// chunk is the chunk of a fixed length that holds the middle of a passage.
func (w *world) chunk(p passage, length int64) passage {
	start := (p.start + p.end) / 2 / length * length
	return w.moved(p, start-p.start, start+length-p.end)
}

func (w *world) whole(doc string) passage { return passage{doc: doc, end: int64(len(w.texts[doc]))} }

func honest(_ *world, q *question) []passage { return q.evidence }

// erring is honest where the question is easy, and cites the wrong place elsewhere.
func erring(w *world, q *question) []passage {
	if q.hard {
		return each(wrongPlace)(w, q)
	}
	return q.evidence
}

func wrongPlace(w *world, p passage) []passage {
	n := int64(len(w.texts[p.doc]))
	start := (p.start + n/2) % n
	p.start, p.end = start, min(start+p.end-p.start, n)
	return []passage{p}
}

func says(text string) func(*world, *question, *ibid.Answer) {
	return func(_ *world, _ *question, a *ibid.Answer) {
		a.Answer, a.Claims, a.HasClaims = text, nil, false
		for i := range a.Citations {
			a.Citations[i].ClaimID = ""
		}
	}
}

func onHard(f func(a *ibid.Answer)) func(*world, *question, *ibid.Answer) {
	return func(_ *world, q *question, a *ibid.Answer) {
		if q.hard {
			f(a)
		}
	}
}

var strategies = []strategy{
	{name: "honest", cite: honest},
	{name: "honest, both edges 10 off", cite: each(func(w *world, p passage) []passage { return []passage{w.moved(p, 10, 10)} })},
	{name: "honest and a good extra citation", cite: each(func(_ *world, p passage) []passage {
		return []passage{p, {doc: copyOf(p), start: 0, end: p.end - p.start}}
	})},
	{name: "honest, each citation twice", cite: each(func(_ *world, p passage) []passage { return []passage{p, p} })},
	{name: "spans of about three sentences", cite: each(func(w *world, p passage) []passage { return []passage{w.moved(p, p.start-p.end, p.end-p.start)} })},
	{name: "chunks of 1,000", cite: each(func(w *world, p passage) []passage { return []passage{w.chunk(p, 1000)} })},
	{name: "chunks of 2,000", cite: each(func(w *world, p passage) []passage { return []passage{w.chunk(p, 2000)} })},
	{name: "chunks of 4,000", cite: each(func(w *world, p passage) []passage { return []passage{w.chunk(p, 4000)} })},
	{name: "whole documents", cite: each(func(w *world, p passage) []passage { return []passage{w.whole(p.doc)} })},
	{name: "all documents", cite: each(func(w *world, p passage) (all []passage) {
		for _, doc := range w.docs[:min(len(w.docs), 19)] {
			if doc != p.doc {
				all = append(all, w.whole(doc))
			}
		}
		return append(all, w.whole(p.doc))
	})},
	{name: "everything in chunks of 90", cite: each(func(w *world, p passage) (all []passage) {
		n := int64(len(w.texts[p.doc]))
		for start := int64(0); start < n; start += 90 {
			all = append(all, passage{doc: p.doc, start: start, end: min(start+90, n)})
		}
		return all
	})},
	{name: "the right document, wrong places", cite: each(wrongPlace)},
	{name: "one character", cite: each(func(_ *world, p passage) []passage {
		p.start = (p.start + p.end) / 2
		p.end = p.start + 1
		return []passage{p}
	})},
	{name: "invented documents", cite: each(func(_ *world, p passage) []passage { p.doc = "invented/" + p.doc; return []passage{p} })},
	{name: "no citation", cite: func(*world, *question) []passage { return nil }},
	{name: "wrong on hard questions", cite: erring},
	{name: "hard questions: citations null", cite: erring, answer: onHard(func(a *ibid.Answer) { a.Citations, a.HasCitations = nil, false })},
	{name: "hard questions: citations []", cite: erring, answer: onHard(func(a *ibid.Answer) { a.Citations = nil })},
	{name: "hard questions left out", cite: erring, skip: true},
	{name: "empty answer", cite: func(*world, *question) []passage { return nil }, answer: says("")},
	{name: "marks only", cite: honest, answer: says("[1] [2]")},
	{name: "refusing", cite: func(*world, *question) []passage { return nil }, answer: says("I am sorry, but I cannot help with that.")},
}

// copyOf names the document that holds a passage and nothing else: a second source.
func copyOf(p passage) string { return fmt.Sprintf("copy/%s/%d-%d", p.doc, p.start, p.end) }

func (w *world) write(answers, docs string) error {
	texts, err := dataset.NewDocumentWriter(docs)
	if err != nil {
		return err
	}
	add := func(name, text string) error {
		return texts.Write(&ibid.Document{Doc: name, Text: text, HasText: true})
	}
	for _, doc := range w.docs {
		if err := add(doc, string(w.texts[doc])); err != nil {
			return err
		}
	}
	copied := make(map[string]bool)
	rows, err := dataset.NewWriter(answers, "document")
	if err != nil {
		return err
	}
	for i := range w.questions {
		q := &w.questions[i]
		for _, p := range q.evidence {
			if name := copyOf(p); !copied[name] {
				copied[name] = true
				if err := add(name, string(w.texts[p.doc][p.start:p.end])); err != nil {
					return err
				}
			}
		}
		for _, s := range strategies {
			if s.skip && q.hard {
				continue
			}
			if err := rows.Write(w.row(q, &s)); err != nil {
				return err
			}
		}
	}
	if err := rows.Close(); err != nil {
		return err
	}
	return texts.Close()
}

// row is the answer of a strategy: it claims what the passages say.
func (w *world) row(q *question, s *strategy) *ibid.Answer {
	a := &ibid.Answer{ID: q.id, System: s.name, Query: q.query, HasClaims: true, HasCitations: true, HasTruth: true}
	var text strings.Builder
	n := int64(0)
	for k, p := range q.evidence {
		said := w.texts[p.doc][p.start:p.end]
		a.Claims = append(a.Claims, ibid.Claim{
			ClaimID: fmt.Sprint(k), Text: string(said), Start: ibid.Some(n), End: ibid.Some(n + int64(len(said))),
		})
		text.WriteString(string(said) + "\n\n")
		n += int64(len(said)) + 2
		a.Truth = append(a.Truth, ibid.Mark{Doc: p.doc, Start: ibid.Some(p.start), End: ibid.Some(p.end)})
	}
	a.Answer = text.String()
	for _, c := range s.cite(w, q) {
		a.Citations = append(a.Citations, ibid.Citation{Doc: c.doc, Start: ibid.Some(c.start), End: ibid.Some(c.end), ClaimID: fmt.Sprint(c.claim)})
	}
	if s.answer != nil {
		s.answer(w, q, a)
	}
	return a
}

// show prints the strategies from the best to the worst.
func show(summary []program.Row) {
	of := func(system, metric string) program.Row {
		i := slices.IndexFunc(summary, func(r program.Row) bool {
			return r["system"] == system && r["slice"] == "" && r["metric"] == metric && r["agg"] == "macro"
		})
		if i < 0 {
			return nil
		}
		return summary[i]
	}
	const overall = "overall_citation_accuracy"
	text := func(r program.Row, column string) string {
		if v, known := r.Number(column); known {
			return fmt.Sprintf("%.3f", v)
		}
		return "–"
	}
	value := func(s strategy) float64 { // rounded, so that equal strategies stay in their order
		v, known := of(s.name, overall).Number("estimate")
		if !known {
			return -1
		}
		return math.Round(v*1e9) / 1e9
	}
	sorted := slices.Clone(strategies)
	slices.SortStableFunc(sorted, func(a, b strategy) int { return cmp.Compare(value(b), value(a)) })
	fmt.Println("| strategy | overall | 95 % interval | rows | undefined | span | quality | consistency | hallucination |")
	fmt.Println("|---|--:|---|--:|--:|--:|--:|--:|--:|")
	for _, s := range sorted {
		o := of(s.name, overall)
		fmt.Printf("| %s | %s | [%s, %s] | %s | %s |", s.name, text(o, "estimate"), text(o, "ci_low"), text(o, "ci_high"), o["n"], o["undefined"])
		for _, metric := range []string{"span_accuracy_score", "citation_quality_score", "answer_consistency_score", "hallucination_score"} {
			fmt.Printf(" %s |", text(of(s.name, metric), "estimate"))
		}
		fmt.Println()
	}
}
