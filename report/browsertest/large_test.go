package browsertest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	largeDocuments = 4_000
	documentChars  = 2_000
	spanChars      = 160
)

// largePage is the report of n rows with three claims, citations and true spans each into
// 4,000 documents, judged by the lexical baseline, and its size in bytes.
func largePage(t testing.TB, n int) (page string, size int64) {
	t.Helper()
	dir := t.TempDir()
	var lines strings.Builder
	texts := writeLargeDocuments(t, &lines)
	writeLargeAnswers(t, &lines, texts, n)
	imported(t, dir, lines.String())
	run(t, dir, "run", "rows.parquet", "--documents", "docs.parquet", "--judge", "lexical", "--id", "large", "-q")
	page = filepath.Join(dir, "runs", "large", "report.html")
	info, err := os.Stat(page)
	if err != nil {
		t.Fatal(err)
	}
	return page, info.Size()
}

type object = map[string]any

// writeLine writes a record of JSON Lines.
func writeLine(t testing.TB, to *strings.Builder, record object) {
	t.Helper()
	line, err := json.Marshal(record)
	if err != nil {
		t.Fatal(err)
	}
	to.Write(append(line, '\n'))
}

// vocabulary makes words of syllables. Texts drawn from it by a power law compress about as
// well as prose.
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

// writeLargeDocuments writes the documents and returns their texts.
func writeLargeDocuments(t testing.TB, to *strings.Builder) []string {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 4))
	words := vocabulary(rng)
	law := rand.NewZipf(rng, 1.1, 3, uint64(len(words)-1))
	texts := make([]string, largeDocuments)
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
		writeLine(t, to, object{"doc": documentName(i), "title": "Title of " + documentName(i), "text": texts[i]})
	}
	return texts
}

func documentName(i int) string { return fmt.Sprintf("doc-%05d", i) }

// writeLargeAnswers writes answers that repeat half of the text at the true places. One
// citation in five points somewhere else, one in fifty to a document that does not exist.
func writeLargeAnswers(t testing.TB, to *strings.Builder, texts []string, rows int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range rows {
		var answer string
		var citations, truth []object
		for range 3 {
			d := rng.IntN(len(texts))
			start := rng.IntN(documentChars - spanChars)
			from := len(answer)
			answer += strings.TrimSpace(texts[d][start:start+spanChars/2]) + ". "
			c := object{"doc": documentName(d), "start": start, "end": start + spanChars, "answer_start": from, "answer_end": len(answer) - 1}
			switch kind := rng.IntN(50); {
			case kind == 0:
				c["doc"] = "no-such-document"
			case kind <= 10:
				c["start"], c["end"] = documentChars-spanChars, documentChars
			}
			citations = append(citations, c)
			truth = append(truth, object{"annotator": "ada", "doc": documentName(d), "start": start + 5, "end": start + spanChars})
		}
		writeLine(t, to, object{
			"id": fmt.Sprintf("q-%06d", i/3), "system": [3]string{"alpha", "beta", "gamma"}[i%3], "query": "what was reported of " + texts[i%len(texts)][:40] + "?",
			"answer": answer, "citations": citations, "truth": truth, "tags": object{"topic": fmt.Sprintf("topic %d", i/3%40)},
		})
	}
}
