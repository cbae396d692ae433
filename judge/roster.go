package judge

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"strconv"
)

// keyVersion changes whenever the content or the form of what is hashed does.
const keyVersion = "ibid request 2"

// A Roster gives the claims and the evidence of a request the ids that a model
// sees: c1, c2, ... for claims and e1, e2, ... for distinct passages of evidence,
// each in the order of the request. They depend on nothing else, so that equal
// material makes equal prompts.
type Roster struct {
	request *Request
	numbers []int   // per evidence: its number, from 1
	first   []int   // per number - 1: the first evidence of that passage
	cited   [][]int // per claim: the numbers it cites, each once, in order
}

// NewRoster numbers the claims and the evidence of r.
func NewRoster(r *Request) *Roster {
	o := &Roster{request: r, numbers: make([]int, len(r.Evidence)), cited: make([][]int, len(r.Claims))}
	byPassage := make(map[Evidence]int, len(r.Evidence))
	for i := range r.Evidence {
		passage := r.Evidence[i].Passage()
		n, seen := byPassage[passage]
		if !seen {
			o.first = append(o.first, i)
			n = len(o.first)
			byPassage[passage] = n
		}
		o.numbers[i] = n
	}
	var own []int
	stamp := make([]int, len(o.first)) // the claim that last cited the number, from 1
	for c := range r.Claims {
		own = r.Cited(c, own[:0])
		for _, e := range own {
			if n := o.numbers[e]; stamp[n-1] != c+1 {
				stamp[n-1] = c + 1
				o.cited[c] = append(o.cited[c], n)
			}
		}
	}
	return o
}

// ClaimID is the id of claim c.
func (o *Roster) ClaimID(c int) string { return "c" + strconv.Itoa(c+1) }

// EvidenceID is the id of evidence e; the same passage has the same.
func (o *Roster) EvidenceID(e int) string { return evidenceID(o.numbers[e]) }

// Cited returns the ids of the evidence that claim c cites, each once.
func (o *Roster) Cited(c int) []string {
	ids := make([]string, len(o.cited[c]))
	for i, n := range o.cited[c] {
		ids[i] = evidenceID(n)
	}
	return ids
}

// AppendCited appends the ids of [Roster.Cited], with a space between them.
func (o *Roster) AppendCited(b []byte, c int) []byte {
	for i, n := range o.cited[c] {
		if i > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendInt(append(b, 'e'), int64(n), 10)
	}
	return b
}

// Passages are the distinct passages of evidence, those of e1, e2, ...
func (o *Roster) Passages() []Evidence {
	all := make([]Evidence, len(o.first))
	for i, e := range o.first {
		all[i] = o.request.Evidence[e].Passage()
	}
	return all
}

// Key identifies what a model sees of the request: the SHA-256, in lower case
// hexadecimal, of the question, the answer, the texts of the claims with their places
// in it, the numbers of the evidence each cites, and the distinct passages, with their
// lengths. Names of rows, claims and documents, the sources and the labels do not enter.
func (o *Roster) Key() string {
	h := sha256.New()
	writeString(h, keyVersion)
	writeString(h, o.request.Question)
	writeString(h, o.request.Answer)
	writeInt(h, len(o.request.Claims))
	for c := range o.request.Claims {
		claim := &o.request.Claims[c]
		writeString(h, claim.Text)
		start, end := -1, -1
		if claim.Extent.Known() {
			start, end = int(claim.Extent.Start.Value), int(claim.Extent.End.Value)
		}
		writeInt(h, start)
		writeInt(h, end)
		writeInt(h, len(o.cited[c]))
		for _, n := range o.cited[c] {
			writeInt(h, n)
		}
	}
	writeInt(h, len(o.first))
	for _, e := range o.first {
		passage := &o.request.Evidence[e]
		for _, text := range []string{passage.Title, passage.Before, passage.Text, passage.After} {
			writeString(h, text)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Key is the key of r's [Roster].
func (r *Request) Key() string { return NewRoster(r).Key() }

func evidenceID(number int) string { return "e" + strconv.Itoa(number) }

// A hash.Hash never returns an error from Write.

func writeInt(h hash.Hash, n int) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(n))
	h.Write(b[:])
}

func writeString(h hash.Hash, s string) {
	writeInt(h, len(s))
	h.Write([]byte(s))
}
