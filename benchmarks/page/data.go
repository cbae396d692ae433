//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"ibid"
	"ibid/dataset"
)

const (
	documentChars = 2000
	spanChars     = 160
)

// vocabulary makes words of syllables. Drawn by a power law, texts of them
// compress about as well as prose.
func vocabulary(rng *rand.Rand) []string {
	syllables := strings.Fields("ka lo mi ster an der ing ro ve tu pel sha qui nor eb al ist om ur gra dun fe wi tion")
	words := make([]string, 20_000)
	for i := range words {
		for range 1 + rng.IntN(4) {
			words[i] += syllables[rng.IntN(len(syllables))]
		}
	}
	return words
}

func writeDocuments(path string, n int) ([]string, error) {
	w, err := dataset.NewDocumentWriter(path)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(3, 4))
	words := vocabulary(rng)
	law := rand.NewZipf(rng, 1.1, 3, uint64(len(words)-1))
	texts := make([]string, n)
	for i := range texts {
		var b strings.Builder
		for b.Len() < documentChars {
			for k := range 12 {
				if k > 0 {
					b.WriteByte(' ')
				}
				b.WriteString(words[law.Uint64()])
			}
			b.WriteString(". ")
		}
		texts[i] = b.String()[:documentChars]
		if err := w.Write(&ibid.Document{Doc: name(i), Title: "Title of " + name(i), Text: texts[i], HasText: true}); err != nil {
			return nil, err
		}
	}
	return texts, w.Close()
}

func name(i int) string { return fmt.Sprintf("doc-%05d", i) }

// writeAnswers writes answers that repeat, more or less, what stands at the true
// places; one citation in five points somewhere else, one in fifty nowhere.
func writeAnswers(path string, texts []string, rows int) error {
	w, err := dataset.NewWriter(path, "document")
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range rows {
		row := &ibid.Answer{
			ID: fmt.Sprintf("q-%06d", i/3), System: [3]string{"alpha", "beta", "gamma"}[i%3], Query: "what was reported of " + texts[i%len(texts)][:40] + "?",
			HasCitations: true, HasTruth: true, Tags: []ibid.Tag{{Key: "topic", Value: fmt.Sprintf("topic %d", i/3%40)}},
		}
		for range 3 {
			d := rng.IntN(len(texts))
			start := rng.IntN(documentChars - spanChars)
			from := len(row.Answer)
			row.Answer += strings.TrimSpace(texts[d][start:start+spanChars/2]) + ". "
			c := ibid.Citation{Doc: name(d), Start: known(start), End: known(start + spanChars), AnswerStart: known(from), AnswerEnd: known(len(row.Answer) - 1)}
			switch rng.IntN(50) {
			case 0:
				c.Doc = "no-such-document"
			case 1, 2, 3, 4, 5, 6, 7, 8, 9, 10:
				c.Start, c.End = known(documentChars-spanChars), known(documentChars)
			}
			row.Citations = append(row.Citations, c)
			row.Truth = append(row.Truth, ibid.Mark{Annotator: "ada", Doc: name(d), Start: known(start + 5), End: known(start + spanChars)})
		}
		if err := w.Write(row); err != nil {
			return err
		}
	}
	return w.Close()
}

func known(v int) ibid.Integer { return ibid.Some(int64(v)) }
