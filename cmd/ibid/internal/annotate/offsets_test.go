package annotate_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/chromedp/cdproto/input"
	"github.com/clipperhouse/uax29/v2/graphemes"

	"ibid/annotations/round"
)

// hard has what offsets go wrong at.
var hard = strings.Join([]string{
	"A thumb \U0001F44D\U0001F3FD up. A family \U0001F468\u200D\U0001F469\u200D\U0001F467\u200D\U0001F466 eats.\r\nA cafe\u0301 and a flag \U0001F1E9\U0001F1EA\U0001F1EB\U0001F1F7.",
	"\u65e5\u672c\u8a9e\u306e\u6587\u7ae0\u3002\U00020BB7\u91ce\u5bb6\u3067\u98df\u3079\u305f\u3002 \u0628\u0644\u063a\u062a 84 \u0645\u0644\u064a\u0648\u0646 crowns in 2024.\tTab\tseparated.",
	"\u0915\u094d\u0937\u093f and \uAC00\u11A8. End\x00of\uFEFFtext \u00AD\r\n\r\n1\uFE0F\u20E3 <script>alert(1)</script> &amp; last",
}, "\n")

// graphemeEdges are the borders of graphemes, in code points.
func graphemeEdges(text string) []int {
	edges, at := []int{0}, 0
	for g := graphemes.FromString(text); g.Next(); {
		at += len([]rune(g.Value()))
		edges = append(edges, at)
	}
	return edges
}

// TestOffsets: what the file says is the code points of what was selected, counted here
// without the runs, for random selections with the mouse, and keys move by graphemes.
func TestOffsets(t *testing.T) {
	text := strings.Repeat(hard+"\n\n", 3)
	units := utf16.Encode([]rune(text))
	edges := graphemeEdges(text)
	dir := t.TempDir()
	const each = 20 // selections an item
	n := often(100)
	var items []round.Item
	for i := range n / each {
		it := round.Item{ID: fmt.Sprintf("item-%04d", i+1), Purpose: round.Truth, Query: "?", Labels: []round.Label{}}
		it.AddText("hard.txt", text)
		items = append(items, it)
	}
	sampleOf(t, dir, items...)
	s := serve(t, dir, "ada", false)
	b := open(t, s.url, desktop)
	b.press("z") // edges stay where they are put

	random := rand.New(rand.NewPCG(7, 7))
	var want [][2]int
	var picks [][2]int
	for len(picks) < n {
		from, to := random.IntN(len(units)), random.IntN(len(units)+1)
		half := func(u int) bool { return u < len(units) && units[u] >= 0xDC00 && units[u] < 0xE000 }
		if len(picks)%2 == 0 {
			to = min(from+1+random.IntN(12), len(units))
		}
		if from >= to || half(from) || half(to) {
			continue
		}
		lo, hi := len(utf16.Decode(units[:from])), len(utf16.Decode(units[:to]))
		for !slices.Contains(edges, lo) {
			lo--
		}
		for !slices.Contains(edges, hi) {
			hi++
		}
		picks, want = append(picks, [2]int{from, to}), append(want, [2]int{lo, hi})
	}
	sent, _ := json.Marshal(picks)
	b.eval(fmt.Sprintf(`(async () => {
		const place = (unit) => {
			for (const span of spans) {
				const length = span.firstChild.data.length;
				if (unit <= length) return [span.firstChild, unit];
				unit -= length;
			}
		};
		for (const [i, [from, to]] of %s.entries()) {
			if (i %% %d === 0) await show(i / %d);
			getSelection().setBaseAndExtent(...place(from), ...place(to));
			document.dispatchEvent(new MouseEvent("mouseup", { bubbles: true }));
			await later;
		}
	})()`, sent, each, each), nil)
	b.idle()
	all := s.marks.States()
	if len(all) != n {
		t.Fatalf("%d marks of %d selections", len(all), n)
	}
	for i, a := range all {
		m := a.Truth[len(a.Truth)-1]
		if got := [2]int{int(m.Start), int(m.End)}; got != want[i] {
			t.Errorf("units %v: code points %v, want %v", picks[i], got, want[i])
		}
	}

	// A real drag over "84 " in the line that reads in both directions.
	var box struct{ Left, Right, Y float64 }
	b.eval(`(() => {
		const span = spans.find((s) => s.textContent.includes("crowns in"));
		span.scrollIntoView({ block: "center" });
		const r = new Range();
		const at = span.textContent.indexOf("crowns");
		r.setStart(span.firstChild, at);
		r.setEnd(span.firstChild, at + 6);
		const { left, right, top, bottom } = r.getBoundingClientRect();
		return { Left: left, Right: right, Y: (top + bottom) / 2 };
	})()`, &box)
	b.do(
		input.DispatchMouseEvent(input.MousePressed, box.Left+1, box.Y).WithButton(input.Left).WithClickCount(1),
		input.DispatchMouseEvent(input.MouseMoved, box.Right-1, box.Y).WithButton(input.Left),
		input.DispatchMouseEvent(input.MouseReleased, box.Right-1, box.Y).WithButton(input.Left).WithClickCount(1),
	)
	b.idle()
	latest := func() round.Mark {
		all := s.marks.States()
		truth := all[len(all)-1].Truth
		return truth[len(truth)-1]
	}
	if drag := latest(); string([]rune(text)[drag.Start:drag.End]) != "crowns" || drag.Text != "crowns" {
		t.Errorf("dragging over crowns marks %+v", drag)
	}

	// The first sentence, its end moved by characters: every border of graphemes, in order.
	b.press(b.hintOf("A thumb")...)
	last := func() int { return int(latest().End) }
	at := slices.Index(edges, last())
	if at < 0 {
		t.Fatal("the sentence ends within a grapheme")
	}
	for range 40 {
		b.press("alt+ArrowRight")
		if at++; last() != edges[at] {
			t.Fatalf("the end moved to %d, want %d", last(), edges[at])
		}
	}
	for range 45 {
		b.press("alt+ArrowLeft")
		if at--; last() != edges[at] {
			t.Fatalf("the end moved back to %d, want %d", last(), edges[at])
		}
	}
	if shown := b.text(`[...spans].map((s) => s.textContent).join("")`); shown != text {
		t.Error("the page shows another text")
	}

	b.quiet(s.url)
}
