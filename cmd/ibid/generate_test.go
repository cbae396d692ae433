package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"

	"ibid"
	"ibid/dataset"
	"ibid/dataset/runs"
)

// resultFiles are the files of a run that the same input always gives the same
// bytes of.
var resultFiles = []string{runs.RowsFile, runs.CitationsFile, runs.SummaryFile, runs.AgreementFile, runs.DisagreementsFile}

// ofTwoAnnotators reports whether only data with two annotators have a result.
func ofTwoAnnotators(name string) bool {
	return name == runs.AgreementFile || name == runs.DisagreementsFile
}

func itoa(n int) string { return strconv.Itoa(n) }

// writeAnswers writes a seeded dataset of n rows over two systems. Its answers
// are long and do not compress, so that a part of a run holds few of the rows; a
// few rows are error rows, so that a run ends as partial.
func writeAnswers(path string, n int) error {
	w, err := dataset.NewWriter(path, "document")
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(1, uint64(n)))
	for i := range n {
		if err := w.Write(randomRow(random, i)); err != nil {
			return errors.Join(err, w.Abort())
		}
	}
	return w.Close()
}

func randomRow(random *rand.Rand, i int) *ibid.Answer {
	const letters = "abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ,.;:0123456789"
	answer := make([]byte, 1000)
	for k := range answer {
		answer[k] = letters[random.IntN(len(letters))]
	}
	r := &ibid.Answer{
		ID: fmt.Sprintf("q-%06d", i/2), System: []string{"left", "right"}[i%2], Query: "where?", Answer: string(answer),
		HasCitations: true, HasTruth: true, Tags: []ibid.Tag{{Key: "lang", Value: []string{"de", "en", "zh"}[random.IntN(3)]}},
	}
	r.AnswerNull = random.IntN(1000) == 0
	for range random.IntN(4) {
		start := random.Int64N(2000)
		r.Citations = append(r.Citations, ibid.Citation{
			Doc: fmt.Sprintf("doc-%d", random.IntN(2)), Start: known(start), End: known(start + random.Int64N(100)),
		})
	}
	for k := range random.IntN(4) {
		start := random.Int64N(2000)
		annotator := "ada"
		if i%20 == 0 && k > 0 {
			annotator = "ben"
		}
		r.Truth = append(r.Truth, ibid.Mark{
			Annotator: annotator, Doc: fmt.Sprintf("doc-%d", random.IntN(2)), Start: known(start), End: known(start + 1 + random.Int64N(100)),
		})
	}
	return r
}

func known(v int64) ibid.Integer { return ibid.Some(v) }
