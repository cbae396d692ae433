package duckdb

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"unicode/utf8"
)

type object = map[string]any

// writeGenerated writes JSON Lines of n answers by four systems, and of the documents
// that all of them cite.
func writeGenerated(answers, documents string, n int) error {
	random := rand.New(rand.NewPCG(1, 2))
	sentences := make([][]string, 400)
	words := strings.Fields("harbour bridge tower größer 茶 stone 1901 4.2 metres the of in was built by city naïve opened first colony ferry — bees moved north")
	err := writeLines(documents, len(sentences), func(i int) object {
		for range 20 + random.IntN(20) {
			var s strings.Builder
			fmt.Fprintf(&s, "Part %d", random.IntN(1000))
			for range 6 + random.IntN(10) {
				s.WriteString(" " + words[random.IntN(len(words))])
			}
			sentences[i] = append(sentences[i], s.String()+". ")
		}
		return object{"doc": fmt.Sprintf("doc-%03d", i), "text": strings.Join(sentences[i], "")}
	})
	return errors.Join(err, writeLines(answers, n, func(i int) object {
		return generatedAnswer(random, sentences, i)
	}))
}

// generatedAnswer cites what it copies from a document, more or less: offsets shifted, a
// word changed, another document, one that does not exist, no quote. One row in ten has
// the marks of a second annotator, one in fifty no citation.
func generatedAnswer(random *rand.Rand, documents [][]string, i int) object {
	question, system := i/4, i%4
	doc := question % len(documents)
	var answer strings.Builder
	citations, truth := []object{}, []object{}
	for range 1 + random.IntN(3) {
		at := random.IntN(len(documents[doc]))
		start := utf8.RuneCountInString(strings.Join(documents[doc][:at], ""))
		text := strings.TrimSpace(documents[doc][at])
		end, name := start+utf8.RuneCountInString(text), fmt.Sprintf("doc-%03d", doc)
		truth = append(truth, object{"annotator": "ada", "doc": name, "start": start, "end": end})
		if question%10 == 0 {
			truth = append(truth, object{"annotator": "bob", "doc": name, "start": start + random.IntN(5), "end": end - random.IntN(5)})
		}
		said, from := text, utf8.RuneCountInString(answer.String())
		cited := object{"doc": name, "start": start, "end": end, "answer_start": from}
		switch random.IntN(7) {
		case 0:
			cited["start"], cited["end"] = max(0, start+random.IntN(41)-20), end+random.IntN(41)-20
		case 1:
			said = strings.Replace(text, "e", "a", 1+random.IntN(5))
		case 2:
			cited["doc"] = fmt.Sprintf("doc-%03d", random.IntN(len(documents)+8))
		case 3:
			cited["cited_text"] = text
		}
		answer.WriteString(said + " ")
		cited["answer_end"] = from + utf8.RuneCountInString(said)
		if random.IntN(50) > 0 {
			citations = append(citations, cited)
		}
	}
	return object{
		"id": fmt.Sprintf("q-%06d", question), "system": fmt.Sprintf("system-%d", system), "query": fmt.Sprintf("What does part %d say?", question),
		"answer": strings.TrimSpace(answer.String()), "citations": citations, "truth": truth, "tags": object{"topic": fmt.Sprintf("topic-%d", doc%12)},
	}
}

func writeLines(path string, n int, line func(i int) object) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	for i := range n {
		if err := encoder.Encode(line(i)); err != nil {
			return err
		}
	}
	return os.WriteFile(path, text.Bytes(), 0o644)
}
