package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// TestSharedQuotations runs the quotations of the shared vectors, as the rows of a dataset, and
// compares what ibid says of each with the vectors: that it is one, where it stands, what it
// cites, whether it counts and how it differs.
func TestSharedQuotations(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "..", "..", "shared", "vectors", "quotes.json")
	if _, err := os.Stat(path); err != nil {
		t.Skip("no shared vectors")
	}
	type place struct {
		Doc        string
		Start, End int
	}
	type quotation struct {
		ID                                   string
		Start, End                           int
		Kind, Outcome, Doc, Difference, Note string
		DifferenceKind                       string `json:"difference_kind"`
		Counts                               bool
		Cites                                []string
		Also                                 []string
		AlsoCites                            [][]string `json:"also_cites"`
		AlsoKinds                            []string   `json:"also_dk"`
		AlsoCounts                           *bool      `json:"also_counts"`
		Places                               []place
	}
	var raw []json.RawMessage
	readShared(t, path, &raw)
	type source struct {
		Doc  string  `json:"doc"`
		Text *string `json:"text,omitempty"`
	}
	type row struct {
		ID        string           `json:"id"`
		Query     string           `json:"query"`
		Answer    string           `json:"answer"`
		Documents []source         `json:"documents"`
		Citations []map[string]any `json:"citations,omitempty"`
	}
	var lines strings.Builder
	gold := make(map[string][]quotation)
	answers := make(map[string][]rune)
	mark := regexp.MustCompile(`\[\^?(\d+)\]`)
	for _, r := range raw[1:] {
		var c struct {
			ID, Query, Answer string
			Sources           []source
			Quotations        []struct {
				quotation
				Places [][]any
			}
		}
		if err := json.Unmarshal(r, &c); err != nil {
			t.Fatal(err)
		}
		out := row{ID: c.ID, Query: c.Query, Answer: c.Answer, Documents: c.Sources}
		if out.Query == "" {
			out.Query = "-"
		}
		for _, m := range mark.FindAllStringSubmatchIndex(c.Answer, -1) {
			n, _ := strconv.Atoi(c.Answer[m[2]:m[3]])
			doc := c.Answer[m[0]:m[1]]
			if n <= len(c.Sources) {
				doc = c.Sources[n-1].Doc
			}
			start := len([]rune(c.Answer[:m[0]]))
			out.Citations = append(out.Citations, map[string]any{"doc": doc, "answer_start": start, "answer_end": start + m[1] - m[0], "answer_role": "marker"})
		}
		b, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&lines, "%s\n", b)
		answers[c.ID] = []rune(c.Answer)
		for _, q := range c.Quotations {
			for _, p := range q.Places {
				q.quotation.Places = append(q.quotation.Places, place{p[0].(string), int(p[1].(float64)), int(p[2].(float64))})
			}
			gold[c.ID] = append(gold[c.ID], q.quotation)
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "rows.jsonl"), []byte(lines.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	mustIbid(t, dir, "run", "rows.jsonl", "--set", "judge=none", "--id", "quotes", "-q")
	var got []quotation
	if err := json.Unmarshal([]byte(mustIbid(t, dir, "show", "runs/quotes", "--table", "quotes", "--format", "json")), &got); err != nil {
		t.Fatal(err)
	}
	trimmed := func(q *quotation) [2]int { // without punctuation at its ends
		answer, start, end := answers[q.ID], q.Start, q.End
		wordy := func(r rune) bool {
			return unicode.In(r, unicode.L, unicode.N, unicode.M) || strings.ContainsRune("%<>=$+-", r)
		}
		for start < end && !wordy(answer[start]) {
			start++
		}
		for end > start && !wordy(answer[end-1]) {
			end--
		}
		return [2]int{start, end}
	}
	found := 0
	for id, all := range gold {
		for _, want := range all {
			want.ID = id
			k := slices.IndexFunc(got, func(q quotation) bool { return q.ID == id && trimmed(&q) == trimmed(&want) })
			if k < 0 {
				t.Errorf("%s: no quotation at [%d, %d)", id, want.Start, want.End)
				continue
			}
			q := got[k]
			got = slices.Delete(got, k, k+1)
			if q.Outcome != want.Outcome && !slices.Contains(want.Also, q.Outcome) {
				t.Errorf("%s: %s, want %s", id, q.Outcome, want.Outcome)
				continue
			}
			found++
			slices.Sort(q.Cites)
			slices.Sort(want.Cites)
			if !slices.Equal(q.Cites, want.Cites) && !slices.ContainsFunc(want.AlsoCites, func(c []string) bool { return slices.Equal(q.Cites, c) }) {
				t.Errorf("%s: cites %q, want %q", id, q.Cites, want.Cites)
			}
			if q.Counts != want.Counts && want.AlsoCounts == nil || q.Kind != want.Kind && q.Outcome != "too_short" {
				t.Errorf("%s: a %s that counts: %t, want a %s: %t", id, q.Kind, q.Counts, want.Kind, want.Counts)
			}
			if q.Outcome != want.Outcome {
				continue
			}
			if want.Difference != "" && q.Difference != want.Difference || want.Note != "" && q.Note != want.Note || want.Doc != "" && q.Doc != want.Doc ||
				want.DifferenceKind != "" && q.DifferenceKind != want.DifferenceKind && !slices.Contains(want.AlsoKinds, q.DifferenceKind) {
				t.Errorf("%s: %q %s %s in %s, want %q %s %s in %s", id, q.Difference, q.DifferenceKind, q.Note, q.Doc, want.Difference, want.DifferenceKind, want.Note, want.Doc)
			}
			near := func(a, b place) bool {
				most := 1
				if want.Outcome == "stitched" {
					most = 12
				}
				return a.Doc == b.Doc && max(a.Start-b.Start, b.Start-a.Start, a.End-b.End, b.End-a.End) <= most
			}
			if want.Places != nil && !slices.EqualFunc(q.Places, want.Places, near) {
				t.Errorf("%s: at %v, want %v", id, q.Places, want.Places)
			}
		}
	}
	for _, q := range got {
		if q.Outcome != "too_short" {
			t.Errorf("%s: [%d, %d) is no quotation", q.ID, q.Start, q.End)
		}
	}
	if found != 208 {
		t.Errorf("%d of 208 outcomes are right", found)
	}
}
