//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"ibid"
	"ibid/dataset"
	"ibid/dataset/convert"
	"ibid/judge"
)

// A labelledSet is a dataset with people's labels of support on claims.
type labelledSet struct {
	name      string
	dataset   string // Parquet
	documents string // "" if the rows bring them
	// group is the claim that an item is about, where a claim has several rows; it has the
	// best score of them. Nil if each item is one.
	group    func(item string) string
	recorded []recordedJudge // what others said of this set
}

// A recordedJudge answers with scores that are known, by row.
type recordedJudge struct {
	name   string
	scores map[string]float64 // by id of the row
}

// Info implements [judge.Judge].
func (r *recordedJudge) Info() judge.Info { return judge.Info{Kind: "transcripts", Model: r.name} }

// Judge implements [judge.Judge]: a row without a score is a failure.
func (r *recordedJudge) Judge(_ context.Context, q *judge.Request) (*judge.Verdict, error) {
	id, _, _ := strings.Cut(q.Row, "/")
	score, said := r.scores[id]
	if !said {
		return nil, &judge.RowFailure{Row: q.Row, Reason: judge.NoReply}
	}
	v := &judge.Verdict{Claims: make([]judge.ClaimVerdict, len(q.Claims))}
	for c := range v.Claims {
		v.Claims[c] = judge.ClaimVerdict{Joint: ibid.Scored(score), ElsewhereEvidence: -1, Votes: 1}
		for _, e := range q.Cited(c, nil) {
			v.Claims[c].Checks = append(v.Claims[c].Checks, judge.Check{Evidence: e, Citation: q.Evidence[e].Citation, Support: ibid.Scored(score)})
		}
	}
	return v, nil
}

// open prepares the labelled sets in the laboratory's directory.
func (l *laboratory) open(shared, wice, data, documents string) ([]*labelledSet, error) {
	dir, err := os.MkdirTemp("", "ibid-judges-")
	if err != nil {
		return nil, err
	}
	l.dir = dir
	if data != "" {
		return []*labelledSet{{name: strings.TrimSuffix(filepath.Base(data), ".parquet"), dataset: data, documents: documents}}, nil
	}
	if wice == "" {
		wice = filepath.Join(shared, "wice", "oracle_chunks.test.first100.jsonl")
	}
	w, err := l.openWice(wice, filepath.Join(shared, "wice", "judges"))
	if err != nil {
		return nil, err
	}
	e := &labelledSet{name: "expertqa", dataset: filepath.Join(dir, "expertqa.parquet"), documents: filepath.Join(dir, "expertqa-documents.parquet")}
	_, err = convert.ToFiles(context.Background(), "expertqa", []string{filepath.Join(shared, "expertqa", "rand_test.jsonl")}, convert.Options{}, e.dataset, e.documents, nil)
	return []*labelledSet{w, e}, err
}

// A wiceChunk is one claim of WiCE with one selection of sentences of the page it cites.
type wiceChunk struct {
	Label    string
	Claim    string
	Evidence []string
	Meta     struct{ ID string }
}

var wiceLabels = map[string]float64{"supported": 1, "partially_supported": 0.5, "not_supported": 0}

// eachLine decodes the lines of a JSON Lines file.
func eachLine[T any](path string, yield func(n int, v *T) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	in.Buffer(nil, 16<<20)
	for n := 0; in.Scan(); n++ {
		v := new(T)
		if err := json.Unmarshal(in.Bytes(), v); err != nil {
			return fmt.Errorf("%s: line %d: %w", path, n+1, err)
		}
		if err := yield(n, v); err != nil {
			return err
		}
	}
	return in.Err()
}

// openWice writes WiCE as a dataset: a row for each selection of sentences, id CLAIM#N,
// whose whole text is cited. A claim has the best score of its rows, as in the paper. All
// its rows name one document, for intervals.
func (l *laboratory) openWice(path, judges string) (*labelledSet, error) {
	s := &labelledSet{
		name: "wice", dataset: filepath.Join(l.dir, "wice.parquet"),
		group: func(item string) string { id, _, _ := strings.Cut(item, "#"); return id },
	}
	w, err := dataset.NewWriter(s.dataset, "document")
	if err != nil {
		return nil, err
	}
	defer w.Abort()
	var rows []string
	err = eachLine(path, func(n int, c *wiceChunk) error {
		label, known := wiceLabels[c.Label]
		if !known {
			return fmt.Errorf("%s: line %d: label %q", path, n+1, c.Label)
		}
		id := c.Meta.ID + "#" + strconv.Itoa(n)
		rows = append(rows, id)
		return w.Write(&ibid.Answer{
			ID: id, Query: "What is known of it?", Answer: c.Claim, HasClaims: true, HasCitations: true, HasDocuments: true, HasLabels: true,
			Claims:    []ibid.Claim{{ClaimID: "c", Text: c.Claim}},
			Citations: []ibid.Citation{{Doc: c.Meta.ID, Unit: "document", ClaimID: "c"}},
			Documents: []ibid.Document{{Doc: c.Meta.ID, Text: strings.Join(c.Evidence, "\n"), HasText: true}},
			Labels:    []ibid.Label{{Annotator: "people", ClaimID: "c", Kind: ibid.SupportLabel, Value: ibid.Some(label)}},
		})
	})
	if err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return s, s.readTranscripts(judges, rows)
}

// readTranscripts reads what models said of the rows, in their order; of later rows they
// said nothing. A folder that is not there has none.
func (s *labelledSet) readTranscripts(dir string, rows []string) error {
	for _, model := range []string{"gpt-3.5-turbo-0613", "gpt-4-0613"} {
		r := recordedJudge{name: model, scores: make(map[string]float64)}
		err := eachLine(filepath.Join(dir, model+".raw_outputs.jsonl"), func(n int, reply *struct{ Response string }) error {
			_, rest, _ := strings.Cut(reply.Response, "<answer>")
			answer, _, _ := strings.Cut(rest, "</answer>")
			if score, known := wiceLabels[answer]; known && n < len(rows) {
				r.scores[rows[n]] = score
			}
			return nil
		})
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		s.recorded = append(s.recorded, r)
	}
	for _, model := range []string{"t5-3b-anli", "t5-3b-anli-wice"} {
		r := recordedJudge{name: model, scores: make(map[string]float64)}
		data, err := os.ReadFile(filepath.Join(dir, model+".chunk_scores.txt"))
		if err != nil {
			return err
		}
		for n, field := range strings.Fields(string(data)) {
			if r.scores[rows[n]], err = strconv.ParseFloat(field, 64); err != nil {
				return err
			}
		}
		s.recorded = append(s.recorded, r)
	}
	return nil
}
