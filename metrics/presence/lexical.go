package presence

import (
	"context"
	"hash/fnv"
	"math"
	"strings"
	"unicode"
)

// Lexical is an [Embedder] that needs no model: a text is the bag of its words
// and of the groups of three characters in them, hashed into 1024 dimensions.
//
// It sees wording, not meaning: texts without a common stem are unlike,
// whatever they say, and the order of words does not matter. At the default
// threshold it finds a phrase that was changed by a word or two, and no
// paraphrase. URLs do not count as wording. It is deterministic and safe for
// concurrent use.
type Lexical struct{}

const lexicalSize = 1024

// trigramWeight is what a whole word's trigrams weigh together, compared with
// the word itself.
const trigramWeight = 0.5

// Embed returns one vector of length 1 per text, all zeros if a text has no
// word. It never fails.
func (Lexical) Embed(_ context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i] = lexicalVector(text)
	}
	return vectors, nil
}

func lexicalVector(text string) []float32 {
	sums := make([]float64, lexicalSize)
	for word := range strings.FieldsFuncSeq(withoutLinks(text), notWordRune) {
		word = strings.ToLower(word)
		addFeature(sums, word, 1)
		runes := []rune("^" + word + "$")
		weight := trigramWeight / math.Sqrt(float64(len(runes)-2))
		for i := 0; i+3 <= len(runes); i++ {
			addFeature(sums, "#"+string(runes[i:i+3]), weight)
		}
	}
	norm := 0.0
	for _, x := range sums {
		norm += x * x
	}
	vector := make([]float32, lexicalSize)
	if norm == 0 {
		return vector
	}
	for i, x := range sums {
		vector[i] = float32(x / math.Sqrt(norm))
	}
	return vector
}

func notWordRune(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }

// addFeature adds weight at the feature's dimension, with a sign taken from its
// hash so that collisions cancel out on average.
func addFeature(sums []float64, feature string, weight float64) {
	h := fnv.New64a()
	h.Write([]byte(feature))
	hash := h.Sum64()
	if hash>>63 == 1 {
		weight = -weight
	}
	sums[hash%lexicalSize] += weight
}

// withoutLinks cuts the URLs out of text.
func withoutLinks(text string) string {
	var b strings.Builder
	at := 0
	for _, h := range appendHits(nil, text) {
		if h.kind == URL {
			b.WriteString(text[at:h.start])
			at = h.end
		}
	}
	b.WriteString(text[at:])
	return b.String()
}
