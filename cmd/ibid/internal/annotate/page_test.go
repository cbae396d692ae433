package annotate_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ibid/annotations"
	"ibid/annotations/acts"
	"ibid/cmd/ibid/internal/annotate"
)

// portItems are items with three documents each, two claims to label, and places that
// answer the question.
func portItems(n int) []annotations.BlindItem {
	var items []annotations.BlindItem
	for i := range n {
		text := fmt.Sprintf("Port Lindow grew in 2024.\nThe new quay number %d, opened on 3 May 2024, cost %d million crowns, of which the region paid one third. "+
			"No accident with injuries was reported; two ships touched the mole in fog on 11 November.\r\n\r\nThe port master retired. Nobody has replaced her yet.", i, 80+i)
		other := "The reading room is open from Tuesday to Saturday, 9:30 to 18:00, and closed in August. Bags stay in the lockers."
		from, to := int64(26), int64(60)
		items = append(items, annotations.BlindItem{
			ID: fmt.Sprintf("item-%04d", i+1), Query: fmt.Sprintf("What did quay %d cost?", i), Answer: fmt.Sprintf("Quay %d cost %d million crowns. Nobody was hurt.", i, 80+i),
			Claims:    []annotations.BlindClaim{{ID: "c1", Text: fmt.Sprintf("Quay %d cost %d million crowns.", i, 80+i)}, {ID: "c2", Text: "Nobody was hurt."}},
			Citations: []annotations.BlindPlace{{CitationID: "x1", ClaimID: "c1", Doc: "port.txt", Start: &from, End: &to}},
			Documents: []annotations.BlindDocument{{Doc: "library.txt", Text: other}, {Doc: "port.txt", Text: text}, {Doc: "third.txt", Text: "Nothing here. Really nothing."}},
			Labels:    []annotations.BlindLabel{{ClaimID: "c1", Kind: "support"}, {ClaimID: "c2", Kind: "support"}},
		})
	}
	return items
}

// TestKeyboard: two people annotate with the keyboard alone and a third decides.
func TestKeyboard(t *testing.T) {
	dir := t.TempDir()
	const n = 4
	sampleOf(t, dir, portItems(n)...)
	for _, name := range []string{"ada", "ben"} {
		s := serve(t, dir, annotate.Options{Annotator: name}, false)
		b := open(t, s.url, desktop)
		for i := range n {
			if got := b.text("part()"); got != acts.Truth {
				t.Fatalf("place %d asks for %s", i, got)
			}
			if hidden := b.text(`String(document.getElementById("answer").hidden)`); hidden != "true" {
				t.Fatal("who marks places is shown the answer")
			}
			b.press("]")
			b.press(b.hintOf("The new quay")...)
			if name == "ben" && i%2 == 0 {
				b.press("shift+ArrowRight", "ArrowLeft", "ArrowLeft") // The | new quay … paid | one third
			}
			if i == 0 && name == "ada" {
				b.screenshot("truth")
			}
			b.press("Enter")
		}
		for i := range n {
			if got := b.text("part()"); got != acts.Labels {
				t.Fatalf("place %d asks for %s", n+i, got)
			}
			if i == 0 && name == "ada" {
				b.screenshot("labels")
			}
			b.press("1", map[string]string{"ada": "4", "ben": "3"}[name], "Enter")
		}
		t.Logf("%s: %d strokes for %d items, %.1f an item", name, b.strokes, n, float64(b.strokes)/n)
		if b.strokes > 8*n+4 {
			t.Errorf("%d strokes for %d items", b.strokes, n)
		}
		b.screenshot("done-" + name)
		b.quiet(s.url)
		s.close()
	}
	s := serve(t, dir, annotate.Options{Annotator: "lead"}, true)
	if got, want := s.pages.Counts(), (annotate.Counts{Several: 2 * n, Equal: n / 2, Left: n + n/2}); got != want {
		t.Errorf("before: %+v, want %+v", got, want)
	}
	b := open(t, s.url, desktop)
	b.screenshot("adjudicate")
	b.press("1", "Enter", "+", "Enter")
	b.screenshot("adjudicate-labels")
	for range n - 1 {
		b.press("3", "Enter")
	}
	b.quiet(s.url)
	s.close()
	if got, want := s.pages.Counts(), (annotate.Counts{Several: 2 * n, Equal: n / 2, Decided: n + n/2 - 1, Left: 1}); got != want {
		t.Errorf("after: %+v, want %+v", got, want)
	}
	text, err := os.ReadFile(filepath.Join(dir, annotations.MergedFile))
	if err != nil {
		t.Fatal(err)
	}
	for what, want := range map[string]int{
		`"how":"equal"`: n/2 + n, `"how":"take"`: 1 + n - 1, `"how":"union"`: 1, `"decided_by":"lead"`: 2 + n - 1, `"annotator":"adjudicated"`: n + 2*n - 1,
		`"start":26,"end":130`: n, // the union of a mark and a part of it, and ada's
	} {
		if got := strings.Count(string(text), what); got != want {
			t.Errorf("%s %d times, want %d:\n%s", what, got, want, text)
		}
	}
}

// TestProposals: what a judge found is shown and can be taken over, but where it is
// withheld; what was proposed stands with what was marked.
func TestProposals(t *testing.T) {
	dir := t.TempDir()
	items := portItems(3)
	sampleOf(t, dir, items...)
	found := []annotations.Proposal{{Doc: "port.txt", Start: 26, End: 60, Method: "cited"}, {Doc: "port.txt", Start: 0, End: 9999}, {Doc: "elsewhere.txt", Start: 0, End: 1}}
	of := map[string][]annotations.Proposal{"item-0001": found, "item-0002": found}
	s := serve(t, dir, annotate.Options{
		Annotator: "ada", Purpose: acts.Truth, Share: acts.Share{Index: 1, Of: 1},
		Proposals: annotate.Proposals{By: "lexical", Of: of, Withheld: map[string]bool{"item-0002": true}},
	}, false)
	b := open(t, s.url, desktop)
	for range items {
		name := b.text("item.id")
		if shown := b.text(`String(!document.getElementById("proposals").hidden)`); shown != fmt.Sprint(name == "item-0001") {
			t.Errorf("%s: proposals are shown: %s", name, shown)
		}
		if name == "item-0001" {
			b.screenshot("proposals")
		}
		b.press("1")
		if name != "item-0001" {
			b.press("n")
		}
		b.press("Enter")
	}
	b.quiet(s.url)
	s.close()
	filled, err := acts.ReadFilled(filepath.Join(dir, "ada.jsonl"))
	if err != nil || len(filled) != 3 {
		t.Fatalf("%d items, %v", len(filled), err)
	}
	for _, it := range filled {
		proposed := it.ID != "item-0003"
		if got := len(it.Proposals) == 1 && it.Proposals[0] == found[0] && it.ProposedBy == "lexical"; got != proposed {
			t.Errorf("%s: proposals %+v by %q", it.ID, it.Proposals, it.ProposedBy)
		}
		if it.Withheld != (it.ID == "item-0002") {
			t.Errorf("%s: withheld is %v", it.ID, it.Withheld)
		}
		if it.ID == "item-0001" && (len(it.Truth) != 1 || *it.Truth[0].Start != 26 || *it.Truth[0].End != 60) {
			t.Errorf("taken: %+v", it.Truth)
		}
	}
}

// TestUndo: undoing goes back through items without end, and doing again goes forward.
func TestUndo(t *testing.T) {
	dir := t.TempDir()
	sampleOf(t, dir, portItems(2)...)
	s := serve(t, dir, annotate.Options{Annotator: "ada", Purpose: acts.Truth, Share: acts.Share{Index: 1, Of: 1}}, false)
	b := open(t, s.url, desktop)
	first := b.text("item.id")
	now := func() string {
		return b.text(`item.id + " " + state.marks.length + (state.none ? " none" : "") + (state.done.truth ? " done" : "")`)
	}
	second := map[string]string{"item-0001": "item-0002", "item-0002": "item-0001"}[first]
	b.press("]")
	b.press(b.hintOf("The new quay")...)
	b.press(b.hintOf("The port master")...)
	b.press("Enter", "n")
	for i, want := range []string{second + " 0 none", second + " 0", first + " 2", first + " 1", first + " 0", first + " 0"} {
		if got := now(); got != want {
			t.Fatalf("after %d times undo: %q, want %q", i, got, want)
		}
		b.press("u")
	}
	for i, want := range []string{first + " 1", first + " 2", first + " 2 done", second + " 0 none"} {
		b.press("y")
		if got := now(); got != want {
			t.Fatalf("after %d times do again: %q, want %q", i+1, got, want)
		}
	}
	b.press("y")
	if said := b.text(`document.getElementById("message").textContent`); !strings.Contains(said, "nothing to do again") {
		t.Errorf("the page says %q", said)
	}
	if n := len(s.journal.Acts()); n != 4+4+4 {
		t.Errorf("%d acts are kept, want 12", n)
	}
	b.quiet(s.url)
}
