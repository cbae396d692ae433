package presence

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"strings"
	"unicode"
)

// An Embedder turns texts into vectors whose cosine says how near the texts are
// in meaning. It returns one vector per text, all of one length and of finite
// components; a vector of zeros is near to nothing. It must be safe for
// concurrent use. [Lexical] is the one that needs no model.
type Embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// Semantic is the fallback of mode resource_section for a message that cites
// something but whose section no word gives away: a sentence or line that is
// near enough in meaning to one of the phrases opens a section as well.
type Semantic struct {
	Embedder  Embedder // required
	Threshold float64  // least cosine, in (0, 1]; 0 means [DefaultThreshold]

	// SkipURLCheck lets a section that the fallback finds pass without a live
	// URL even if the options are strict. The metric that citation_presence
	// comes from does so; by default strict holds here as well.
	SkipURLCheck bool
}

// DefaultThreshold is the least cosine of the semantic fallback.
const DefaultThreshold = 0.8

// semanticStart returns the byte at which the first sentence or line begins
// that is near enough to a phrase and has a reference in it or after it. refs are those of text, at least one.
func (d *Detector) semanticStart(ctx context.Context, text string, refs []hit) (int, bool, error) {
	phrases, err := d.phraseVectors(ctx)
	if err != nil {
		return 0, false, err
	}
	var starts []int
	var texts []string
	for start, end := range sentences(text) {
		if start > refs[len(refs)-1].start {
			break
		}
		starts = append(starts, start)
		texts = append(texts, text[start:end])
	}
	vectors, err := embed(ctx, d.options.Semantic.Embedder, texts)
	if err != nil {
		return 0, false, err
	}
	for i, v := range vectors {
		for _, p := range phrases {
			if len(p) != len(v) {
				return 0, false, fmt.Errorf("embedder: vectors of %d and of %d components", len(p), len(v))
			}
			if cosine(p, v) >= d.threshold {
				return starts[i], true, nil
			}
		}
	}
	return 0, false, nil
}

// phraseVectors embeds the phrases when they are first needed.
func (d *Detector) phraseVectors(ctx context.Context) ([][]float32, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.vectors == nil {
		vectors, err := embed(ctx, d.options.Semantic.Embedder, d.Phrases())
		if err != nil {
			return nil, err
		}
		d.vectors = vectors
	}
	return d.vectors, nil
}

// embed holds an embedder to its contract.
func embed(ctx context.Context, e Embedder, texts []string) ([][]float32, error) {
	vectors, err := e.Embed(ctx, texts)
	if err != nil {
		return nil, fmt.Errorf("embedder: %w", err)
	}
	if len(vectors) != len(texts) {
		return nil, fmt.Errorf("embedder: %d vectors for %d texts", len(vectors), len(texts))
	}
	for _, v := range vectors {
		if len(v) != len(vectors[0]) {
			return nil, fmt.Errorf("embedder: vectors of %d and of %d components", len(vectors[0]), len(v))
		}
		for _, x := range v {
			if f := float64(x); math.IsNaN(f) || math.IsInf(f, 0) {
				return nil, fmt.Errorf("embedder: component %v is not finite", x)
			}
		}
	}
	return vectors, nil
}

// cosine is the cosine of two vectors of one length, 0 if one is all zeros.
func cosine(a, b []float32) float64 {
	var dot, aa, bb float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		dot += x * y
		aa += x * x
		bb += y * y
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return dot / math.Sqrt(aa*bb)
}

// sentences yields the bounds, in bytes, of the lines of text, cut behind every
// full stop, question mark, exclamation mark or colon that a space follows.
// White space around them is left out.
func sentences(text string) func(yield func(start, end int) bool) {
	return func(yield func(start, end int) bool) {
		start := 0
		emit := func(end int) bool {
			piece := text[start:end]
			left := strings.TrimLeftFunc(piece, isSpace)
			begin := end - len(left)
			start = end
			left = strings.TrimRightFunc(left, isSpace)
			return left == "" || yield(begin, begin+len(left))
		}
		var previous rune
		for i, r := range text {
			if (r == '\n' || isSpace(r) && strings.ContainsRune(".!?:", previous)) && !emit(i) {
				return
			}
			previous = r
		}
		emit(len(text))
	}
}

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
