package claims_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ibid"
	"ibid/dataset"
	"ibid/dataset/convert"
	"ibid/metrics"
	"ibid/metrics/claims"
)

// A gold is what a careful reader says of the claims of one recorded answer. It and
// its scoring are those of ../shared/vectors/claims.json and score_claims.py.
type gold struct {
	ID     string
	Row    string
	Digest string `json:"answer_sha256"`
	Claims []goldClaim
	Not    []goldClaim `json:"not_claims"`
	Doubts []struct {
		Claims []int
		Accept []goldClaim
	}
	Words [][2]float64
}

type goldClaim struct {
	Start, End float64
	Citations  []int32
	ByMark     []int32 `json:"citations_by_mark"`
	Soft       bool
}

// A stretch is the words of a claim and its citations.
type stretch struct {
	words     []int
	citations [][]int32 // each is right
}

func (g *gold) covers(start, end float64) (words []int) {
	for i, w := range g.Words {
		if middle := (w[0] + w[1]) / 2; start <= middle && middle < end {
			words = append(words, i)
		}
	}
	return words
}

func (g *gold) stretch(c goldClaim) stretch {
	s := stretch{g.covers(c.Start, c.End), [][]int32{c.Citations}}
	if c.ByMark != nil {
		s.citations = append(s.citations, c.ByMark)
	}
	return s
}

func common(a, b []int) (n int) {
	for _, x := range a {
		if slices.Contains(b, x) {
			n++
		}
	}
	return n
}

// pairs finds claims one to one, best overlap first: nine in ten words of both are
// common.
func pairs(want, got []stretch) (all [][2]int) {
	type candidate struct {
		overlap float64
		i, j    int
	}
	var candidates []candidate
	for i, w := range want {
		for j, g := range got {
			if n := common(w.words, g.words); n > 0 && 10*n >= 9*len(w.words) && 10*n >= 9*len(g.words) {
				candidates = append(candidates, candidate{float64(n) / float64(len(w.words)+len(g.words)-n), i, j})
			}
		}
	}
	slices.SortStableFunc(candidates, func(a, b candidate) int { return cmp.Compare(b.overlap, a.overlap) })
	for _, c := range candidates {
		if !slices.ContainsFunc(all, func(p [2]int) bool { return p[0] == c.i || p[1] == c.j }) {
			all = append(all, [2]int{c.i, c.j})
		}
	}
	return all
}

func (s stretch) cites(citations []int32) bool {
	return slices.ContainsFunc(s.citations, func(c []int32) bool { return slices.Equal(c, citations) })
}

// best takes the alternatives that fit better, and returns what is right then and what
// of it alternatives brought.
func (g *gold) best(got []stretch) (want, accepted []stretch) {
	for _, c := range g.Claims {
		want = append(want, g.stretch(c))
	}
	value := func(want []stretch) float64 {
		all := pairs(want, got)
		v := float64(2*len(all) - len(want))
		for _, p := range all {
			if want[p[0]].cites(got[p[1]].citations[0]) {
				v += 1e-3
			}
		}
		return v
	}
	most := value(want)
	live := make([]int, len(want)) // index in g.Claims, -1 if an alternative brought it
	for i := range live {
		live[i] = i
	}
	taken := map[int]bool{}
	for _, d := range g.Doubts {
		if len(d.Claims)+len(d.Accept) == 0 || slices.ContainsFunc(d.Claims, func(i int) bool { return taken[i] }) {
			continue
		}
		var next []stretch
		var kept []int
		for k, i := range live {
			if i < 0 || !slices.Contains(d.Claims, i) {
				next, kept = append(next, want[k]), append(kept, i)
			}
		}
		var brought []stretch
		for _, c := range d.Accept {
			brought = append(brought, g.stretch(c))
			kept = append(kept, -1)
		}
		next = append(next, brought...)
		if v := value(next); v > most {
			most, want, live = v, next, kept
			accepted = append(accepted, brought...)
			for _, i := range d.Claims {
				taken[i] = true
			}
		}
	}
	return want, accepted
}

// recorded reads the recordings and calls each row with the claims of the answer.
type recorded func(*ibid.Answer, []ibid.Claim)

func (f recorded) WriteDocument(*ibid.Document) error { return nil }

func (f recorded) WriteRow(r *ibid.Answer) error {
	dataset.NewResolver(nil, dataset.Conventions{}).Resolve(r)
	c := claims.NewCutter(claims.Options{Phrases: claims.NewPhrases(claims.Phrases{})}).Cut(r)
	(&metrics.Linker{}).Link(c.List, r.Citations, c.Scopes, true)
	f(r, c.List)
	return nil
}

// TestRecordings cuts the answers that providers gave and compares their claims with
// those of a careful reader.
func TestRecordings(t *testing.T) {
	shared := filepath.Join("..", "..", "..", "shared")
	data, err := os.ReadFile(filepath.Join(shared, "vectors", "claims.json"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("no vectors: folder ../shared/vectors beside the project is missing")
	}
	if err != nil {
		t.Fatal(err)
	}
	var raw []json.RawMessage // the first says what the others are
	if err := json.Unmarshal(data, &raw); err != nil {
		t.Fatal(err)
	}
	all := make([]gold, len(raw)-1)
	for i := range all {
		if err := json.Unmarshal(raw[i+1], &all[i]); err != nil {
			t.Fatal(err)
		}
	}
	type answer struct {
		text   string
		claims []goldClaim
	}
	answers := map[string]answer{}
	name := func(id string) string {
		id = path.Base(id)
		for _, e := range []string{".json", ".sse", ".response"} {
			id = strings.TrimSuffix(id, e)
		}
		return id
	}
	recordings := filepath.Join(shared, "data", "provider-recordings")
	_, err = convert.Convert(context.Background(), "auto", []string{
		filepath.Join(recordings, "ruby_llm"), filepath.Join(recordings, "prism"), filepath.Join(recordings, "langchain-cohere"),
	}, convert.Options{}, recorded(func(r *ibid.Answer, list []ibid.Claim) {
		a := answer{text: strings.Clone(r.Answer)}
		for _, c := range list {
			a.claims = append(a.claims, goldClaim{Start: float64(c.Extent.Start.Value), End: float64(c.Extent.End.Value), Citations: slices.Clone(c.Citations)})
		}
		answers[name(r.ID)] = a
	}))
	if err != nil {
		t.Fatal(err)
	}
	var wanted, found, right, linked, rows int
	for _, g := range all {
		rows++
		a, ok := answers[name(g.Row)]
		if digest := sha256.Sum256([]byte(a.text)); !ok || hex.EncodeToString(digest[:]) != g.Digest {
			t.Errorf("%s: not the answer that was read", g.ID)
			continue
		}
		var got []stretch
		for _, c := range a.claims {
			if s := g.stretch(c); len(s.words) > 0 {
				got = append(got, s)
			}
		}
		want, accepted := g.best(got)
		matched := pairs(want, got)
		wanted, found, right = wanted+len(want), found+len(got), right+len(matched)
		for _, p := range matched {
			if want[p[0]].cites(got[p[1]].citations[0]) {
				linked++
			} else {
				t.Logf("%s: claim of words %v cites %v, want %v", g.ID, got[p[1]].words, got[p[1]].citations, want[p[0]].citations)
			}
		}
		for _, n := range g.Not {
			words := g.covers(n.Start, n.End)
			if n.Soft || len(words) == 0 || slices.ContainsFunc(accepted, func(s stretch) bool { return 2*common(words, s.words) >= len(words) }) {
				continue
			}
			in := 0
			for _, s := range got {
				in += common(words, s.words)
			}
			if 2*in >= len(words) {
				t.Errorf("%s: characters %v to %v claim nothing and are in a claim", g.ID, n.Start, n.End)
			}
		}
	}
	f1 := 2 * float64(right) / float64(wanted+found)
	t.Logf("%d answers, %d claims, %d found, %d of them right: F1 %.3f; %d with the right citations", rows, wanted, found, right, f1, linked)
	if rows != 30 || f1 < 0.95 || linked < right {
		t.Errorf("F1 %.3f of %d answers, want 0.95 of 30; %d of %d claims have the right citations", f1, rows, linked, right)
	}
}
