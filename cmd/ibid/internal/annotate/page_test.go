package annotate_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ibid/annotations/round"
)

// portItems are n questions, each with an item of truth, then as many with an item of labels:
// three documents, two claims, and places that answer the question.
func portItems(n int) []round.Item {
	var truth, labels []round.Item
	for i := range n {
		text := fmt.Sprintf("Port Lindow grew in 2024.\nThe new quay number %d, opened on 3 May 2024, cost %d million crowns, of which the region paid one third. "+
			"No accident with injuries was reported; two ships touched the mole in fog on 11 November.\r\n\r\nThe port master retired. Nobody has replaced her yet.", i, 80+i)
		other := "The reading room is open from Tuesday to Saturday, 9:30 to 18:00, and closed in August. Bags stay in the lockers."
		it := round.Item{ID: fmt.Sprintf("item-%04d", i+1), Purpose: round.Truth, Query: fmt.Sprintf("What did quay %d cost?", i), Labels: []round.Label{}}
		it.AddText("library.txt", other)
		it.AddText("port.txt", text)
		it.AddText("third.txt", "Nothing here. Really nothing.")
		truth = append(truth, it)
		from, to := int64(26), int64(60)
		it.ID, it.Purpose, it.Answer = fmt.Sprintf("item-%04d", n+i+1), round.Labels, fmt.Sprintf("Quay %d cost %d million crowns. Nobody was hurt.", i, 80+i)
		it.Claims = []round.Claim{{ID: "c1", Text: fmt.Sprintf("Quay %d cost %d million crowns.", i, 80+i)}, {ID: "c2", Text: "Nobody was hurt."}}
		it.Citations = []round.Place{{CitationID: "x1", ClaimID: "c1", Doc: "port.txt", Start: &from, End: &to}}
		it.Labels = []round.Label{{ClaimID: "c1", Kind: "support"}, {ClaimID: "c2", Kind: "support"}}
		labels = append(labels, it)
	}
	return append(truth, labels...)
}

// TestKeyboard: two people annotate with the keyboard alone and a third decides.
func TestKeyboard(t *testing.T) {
	dir := t.TempDir()
	const n = 4
	sampleOf(t, dir, portItems(n)...)
	for _, name := range []string{"ada", "ben"} {
		s := serve(t, dir, name, false)
		b := open(t, s.url, desktop)
		for i := range n {
			if got := b.text("part()"); got != round.Truth {
				t.Fatalf("item %d asks for %s", i, got)
			}
			if hidden := b.text(`String(document.getElementById("answer").hidden)`); hidden != "true" {
				t.Fatal("who marks places is shown the answer")
			}
			if off := b.text(`String(document.querySelector("button[data-primary]").disabled)`); off != "true" {
				t.Error("an open item can be saved as done")
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
			if got := b.text("part()"); got != round.Labels {
				t.Fatalf("item %d asks for %s", n+i, got)
			}
			if i == 0 && name == "ada" {
				b.screenshot("labels")
			}
			b.press("1", map[string]string{"ada": "4", "ben": "3"}[name], "Enter")
		}
		t.Logf("%s: %d strokes for %d questions, %.1f a question", name, b.strokes, n, float64(b.strokes)/n)
		if b.strokes > 8*n+4 {
			t.Errorf("%d strokes for %d questions", b.strokes, n)
		}
		b.screenshot("done-" + name)
		b.quiet(s.url)
		s.close()
		if left := s.pages.Left(); left != 0 {
			t.Errorf("%d items are open", left)
		}
	}
	s := serve(t, dir, "lead", true)
	if got, want := s.pages.Places(), n+n/2; got != want {
		t.Errorf("%d items to decide, want %d", got, want)
	}
	b := open(t, s.url, desktop)
	if text := b.text(`document.getElementById("opinions").textContent`); !strings.Contains(text, "one") || strings.Contains(text, "ada") || strings.Contains(text, "ben") {
		t.Error("who decides sees names")
	}
	b.screenshot("decide")
	b.press("1", "Enter", "+", "Enter")
	b.screenshot("decide-labels")
	for range n - 1 {
		b.press("3", "Enter")
	}
	b.quiet(s.url)
	s.close()
	if left := s.pages.Left(); left != 1 {
		t.Errorf("%d items are open, want 1", left)
	}
	r, err := round.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	gold, err := round.MakeGold(r.Asked(), "leave")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := gold.Write(&out); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	for what, want := range map[string]int{
		`"how":"equal"`: n/2 + n, `"how":"take"`: 1 + n - 1, `"how":"union"`: 1, `"decided_by":"lead"`: 2 + n - 1, `"annotator":"adjudicated"`: n + 2*n - 1,
		`"start":26,"end":130`: n, // the union of a mark and a part of it, and ada's
		`"from":["ada","ben"]`: n/2 + n + 1,
	} {
		if got := strings.Count(text, what); got != want {
			t.Errorf("%s %d times, want %d:\n%s", what, got, want, text)
		}
	}
}

// TestProposals: what a judge found is shown and can be taken over.
func TestProposals(t *testing.T) {
	dir := t.TempDir()
	items := portItems(2)[:2]
	items[0].Proposals = []round.Mark{{Doc: "port.txt", Start: 26, End: 60}}
	sampleOf(t, dir, items...)
	s := serve(t, dir, "ada", false)
	b := open(t, s.url, desktop)
	for range items {
		name := b.text("item.id")
		if shown := b.text(`String(!document.getElementById("proposals").hidden)`); shown != fmt.Sprint(name == "item-0001") {
			t.Errorf("%s: proposals are shown: %s", name, shown)
		}
		if name == "item-0001" {
			b.screenshot("proposals")
			b.press("1", "Enter")
		} else {
			b.press("1", "n", "Enter")
		}
	}
	b.quiet(s.url)
	if got := s.last("item-0001").Truth; len(got) != 1 || got[0].Start != 26 || got[0].End != 60 || got[0].Text == "" {
		t.Errorf("taken: %+v", got)
	}
	if got := s.last("item-0002"); got.Truth == nil || len(got.Truth) != 0 || !got.Done {
		t.Errorf("nothing: %+v", got)
	}
}

// TestUndo: undoing goes back through items, and doing again goes forward.
func TestUndo(t *testing.T) {
	dir := t.TempDir()
	sampleOf(t, dir, portItems(2)[:2]...)
	s := serve(t, dir, "ada", false)
	b := open(t, s.url, desktop)
	const first, second = "item-0001", "item-0002"
	now := func() string {
		return b.text(`item.id + " " + marks().length + (nothing() ? " none" : "") + (state.done ? " done" : "")`)
	}
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
	if n := len(s.marks.States()); n != 4+4+4 {
		t.Errorf("%d states are kept, want 12", n)
	}
	b.quiet(s.url)
}

// TestOpenList: the list of items shows what became of each, and goes to it.
func TestOpenList(t *testing.T) {
	dir := t.TempDir()
	sampleOf(t, dir, portItems(2)...)
	s := serve(t, dir, "ada", false)
	b := open(t, s.url, desktop)
	b.press("n", "Enter", "t", "m")
	b.eval(`document.getElementById("list").open = true; 0`, nil)
	b.wait(`document.querySelectorAll("[data-item]").length === 4`)
	if got := b.text(`[...document.querySelectorAll("[data-item]")].map((e) => e.textContent.split(" · ")[1]).join("; ")`); got != "done; skipped, ⚑ flagged; open; open" {
		t.Errorf("the list says %q", got)
	}
	b.eval(`document.querySelector("[data-item=item-0002]").click()`, nil)
	b.idle()
	if got := b.text("item.id"); got != "item-0002" {
		t.Errorf("%s is shown", got)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "ada.jsonl")); err != nil || !strings.Contains(string(text), `"skip":true,"flag":true`) {
		t.Errorf("%v in\n%s", err, text)
	}
	b.quiet(s.url)
}
