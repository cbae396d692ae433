package judge

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// LexicalFeatures are what [LexicalWeights] weigh of a claim and its evidence, in the
// order of [LexicalFeatureNames]:
//
//   - share: of the claim's words that the evidence has, weighted as [Lexical] does, in [0, 1];
//   - missing_names: ln(1 + n) for n different words of the claim with a capital letter,
//     no number and not the first of a sentence, that are not in the evidence;
//   - missing_numbers: the same for numbers.
//
// They were chosen on the 349 claims of the development part of WiCE, out of 19, by the
// AUROC of models that had not seen the claim; see [ChoseFeatures]. Neither the closest
// sentence nor lengths, negations or second sentences added to these three.
type LexicalFeatures [3]float64

// LexicalFeatureNames are the names of [LexicalFeatures] in files.
var LexicalFeatureNames = []string{"share", "missing_names", "missing_numbers"}

// ClaimFeatures are the features of one claim. Known is false for a claim without a
// content word or without evidence, which has none.
type ClaimFeatures struct {
	Known bool
	Joint LexicalFeatures   // of all that it cites, taken together
	Cited []LexicalFeatures // of each alone, as [Request.Cited] lists them
}

// Features returns the features of each claim of r.
func (l *Lexical) Features(r *Request) []ClaimFeatures {
	w := &lexicalWork{featured: true}
	w.read(r)
	out := make([]ClaimFeatures, len(r.Claims))
	for c := range out {
		cited := r.Cited(c, nil)
		w.look(c, cited)
		if len(cited) == 0 || w.now.weight == 0 {
			continue
		}
		out[c] = ClaimFeatures{Known: true, Joint: w.compare(w.of(cited)...).features}
		for _, e := range cited {
			out[c].Cited = append(out[c].Cited, w.compare(w.texts[e]).features)
		}
	}
	return out
}

// features are those of the last comparison.
func (w *lexicalWork) features(share float64, numbers int) LexicalFeatures {
	names := 0
	for _, id := range w.now.names {
		if w.terms[id].run != w.run {
			names++
		}
	}
	return LexicalFeatures{share, math.Log1p(float64(names)), math.Log1p(float64(w.now.numbers - numbers))}
}

func isName(text string, word *lexicalWord) bool {
	first, _ := utf8.DecodeRuneInString(text[word.start:])
	return unicode.IsUpper(first) && !word.begins && !word.number
}

// LexicalParts is into how many parts the labelled documents of a fit are put: there
// is a model for each, fitted to the labels of the others.
const LexicalParts = 5

// lexicalSchema is the version of the file's format.
const lexicalSchema = "ibid.lexical_weights/v1"

// LexicalWeights are logistic regressions over [LexicalFeatures], fitted to people's
// labels, with what has to be known to use them honestly: a claim that cites a labelled
// document is scored by the model that has not seen the document, any other claim by
// the mean of all models. A claim that cites labelled documents of several parts, which
// no labelled claim does, has the mean of the models of these parts: each of them has
// not seen one of the documents.
type LexicalWeights struct {
	Schema    string         `json:"schema"`
	Digest    string         `json:"digest"` // SHA-256 of the JSON with "" here
	Judge     string         `json:"judge"`  // the version of [Lexical] whose features they are
	Features  []string       `json:"features"`
	Kind      string         `json:"kind"`      // of the questions with labels, such as claim support
	Positive  float64        `json:"positive"`  // people's value is a yes from here on
	Ridge     float64        `json:"ridge"`     // the penalty that they were fitted with
	Items     int            `json:"items"`     // labels
	Yes       int            `json:"yes"`       // how many of them are a yes
	Models    []LexicalModel `json:"models"`    // that of part k has not seen its documents
	Documents map[string]int `json:"documents"` // part of each labelled document, by [DocumentDigest]
}

// A LexicalModel is one logistic regression: the chance of support is
// 1/(1 + exp(-(Intercept + Weights·features))).
type LexicalModel struct {
	Intercept float64         `json:"intercept"`
	Weights   LexicalFeatures `json:"weights"`
}

// DocumentDigest stands for the name of a document in [LexicalWeights]: 16 hex digits.
func DocumentDigest(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:8])
}

// Seal fills in schema, features, version of the judge and digest.
func (w *LexicalWeights) Seal() error {
	w.Schema, w.Judge, w.Features = lexicalSchema, lexicalVersion, LexicalFeatureNames
	digest, err := w.digest()
	w.Digest = digest
	return err
}

func (w *LexicalWeights) digest() (string, error) {
	open := *w
	open.Digest = ""
	data, err := json.Marshal(&open)
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), err
}

// A WeightsError says why a file has no weights for this judge.
type WeightsError struct{ Reason string }

func (e *WeightsError) Error() string { return e.Reason }

// ParseLexicalWeights reads weights from JSON. Data that is damaged, of another format
// or of other features is a [*WeightsError].
func ParseLexicalWeights(data []byte) (*LexicalWeights, error) {
	refuse := func(format string, args ...any) (*LexicalWeights, error) {
		return nil, &WeightsError{fmt.Sprintf(format, args...)}
	}
	var head struct{ Schema string }
	if err := json.Unmarshal(data, &head); err != nil {
		return refuse("no weights: %v", err)
	}
	if head.Schema != lexicalSchema {
		return refuse("schema is %q, this ibid reads %q", clip(head.Schema), lexicalSchema)
	}
	w := new(LexicalWeights)
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(w); err != nil {
		return refuse("damaged: %v", err)
	}
	if digest, err := w.digest(); err != nil || digest != w.Digest {
		return refuse("damaged: its digest is not that of its content")
	}
	if w.Judge != lexicalVersion || !slices.Equal(w.Features, LexicalFeatureNames) {
		return refuse("fitted to the features of %s (%s), this ibid has those of %s (%s)",
			w.Judge, strings.Join(w.Features, ", "), lexicalVersion, strings.Join(LexicalFeatureNames, ", "))
	}
	if len(w.Models) != LexicalParts {
		return refuse("damaged: %d models, want %d", len(w.Models), LexicalParts)
	}
	for name, part := range w.Documents {
		if part < 0 || part >= LexicalParts {
			return refuse("damaged: document %s is in part %d", clip(name), part)
		}
	}
	return w, nil
}

// Score is the chance of support of a claim that cites these documents, in [0, 1].
func (w *LexicalWeights) Score(f *LexicalFeatures, documents []string) float64 {
	var parts uint8
	for _, name := range documents {
		parts |= w.partOf(name)
	}
	return w.score(f, parts)
}

// partOf is the bit of the part that a document is in, 0 if it has no label.
func (w *LexicalWeights) partOf(document string) uint8 {
	if part, labelled := w.Documents[DocumentDigest(document)]; labelled {
		return 1 << part
	}
	return 0
}

// partsOf are the bits of the parts that the documents of evidence are in.
func (w *LexicalWeights) partsOf(r *Request, evidence []int) (parts uint8) {
	for _, e := range evidence {
		parts |= w.partOf(r.Evidence[e].Doc)
	}
	return parts
}

// score is the mean of the models of some parts, of all models if there is none.
func (w *LexicalWeights) score(f *LexicalFeatures, parts uint8) float64 {
	sum, n := 0.0, 0.0
	for k := range w.Models {
		if parts != 0 && parts>>k&1 == 0 {
			continue
		}
		z := w.Models[k].Intercept
		for i, weight := range w.Models[k].Weights {
			z += float64(weight * f[i]) // no fused multiply-add, which not every machine has
		}
		sum += 1 / (1 + math.Exp(-z))
		n++
	}
	return sum / n
}

//go:embed lexical_chosen.txt
var chosenText string

var loadChosen = sync.OnceValue(func() map[string]bool {
	chosen := make(map[string]bool)
	for _, digest := range strings.Fields(chosenText) {
		chosen[digest] = true
	}
	return chosen
})

// ChoseFeatures reports whether a claim is one of those that [LexicalFeatures] were
// chosen on. How well weights do on them says nothing of how well they do elsewhere, so
// they are fitted to no such claim. White space does not matter.
func ChoseFeatures(claim string) bool {
	return loadChosen()[DocumentDigest(strings.Join(strings.Fields(claim), " "))]
}
