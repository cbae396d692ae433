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

	"ibid/annotations"
	"ibid/annotations/acts"
	"ibid/cmd/ibid/internal/annotate"
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
// without the runs, for random selections with the mouse; keys move by graphemes; and the
// script's counting is the program's.
func TestOffsets(t *testing.T) {
	text := strings.Repeat(hard+"\n\n", 3)
	units := utf16.Encode([]rune(text))
	edges := graphemeEdges(text)
	dir := t.TempDir()
	const each = 20 // selections an item
	n := often(100)
	var items []annotations.BlindItem
	for i := range n / each {
		items = append(items, annotations.BlindItem{ID: fmt.Sprintf("item-%04d", i+1), Query: "?", Documents: []annotations.BlindDocument{{Doc: "hard.txt", Text: text}}, Labels: []annotations.BlindLabel{}})
	}
	sampleOf(t, dir, items...)
	s := serve(t, dir, annotate.Options{Annotator: "ada"}, false)
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
	all := s.journal.Acts()
	if len(all) != n {
		t.Fatalf("%d marks of %d selections", len(all), n)
	}
	for i, a := range all {
		if got := [2]int{int(*a.Args.Start), int(*a.Args.End)}; got != want[i] {
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
	all = s.journal.Acts()
	drag := all[len(all)-1].Args
	if got := string([]rune(text)[*drag.Start:*drag.End]); got != "crowns" {
		t.Errorf("dragging over crowns marks %q", got)
	}

	// The first sentence, its end moved by characters: every border of graphemes, in order.
	b.press(b.hintOf("A thumb")...)
	last := func() int {
		all := s.journal.Acts()
		return int(*all[len(all)-1].Args.End)
	}
	at := slices.Index(edges, last())
	if at < 0 {
		t.Fatal("the sentence ends within a grapheme")
	}
	for range 40 {
		b.press(".")
		if at++; last() != edges[at] {
			t.Fatalf("the end moved to %d, want %d", last(), edges[at])
		}
	}
	for range 45 {
		b.press(",")
		if at--; last() != edges[at] {
			t.Fatalf("the end moved back to %d, want %d", last(), edges[at])
		}
	}
	if shown := b.text(`[...spans].map((s) => s.textContent).join("")`); shown != text {
		t.Error("the page shows another text")
	}

	// The script's spanOf and fold are the program's Span and Fold.
	x := acts.NewText(text)
	var pairs [][2]acts.Position
	for range 2000 {
		place := func() acts.Position {
			i := random.IntN(len(x.Runs))
			return acts.Position{i, random.IntN(len(utf16.Encode([]rune(x.Runs[i].Text)))+3) - 1}
		}
		pairs = append(pairs, [2]acts.Position{place(), place()})
	}
	sent, _ = json.Marshal(pairs)
	var got [][2]int64
	b.eval(fmt.Sprintf(`%s.map(([[a, b], [c, d]]) => {
		try {
			const s = spanOf(runs(), { run: a, unit: b }, { run: c, unit: d });
			return [s.start, s.end];
		} catch {
			return [-1, -1];
		}
	})`, sent), &got)
	for i, p := range pairs {
		start, end, err := x.Span(p[0], p[1])
		if err != nil {
			start, end = -1, -1
		}
		if got[i] != [2]int64{start, end} {
			t.Errorf("%v: the script says %v, the program [%d %d], %v", p, got[i], start, end, err)
		}
	}
	b.quiet(s.url)
}

// TestFoldTwin: what random acts come to is the same in the script and in the program.
func TestFoldTwin(t *testing.T) {
	dir := t.TempDir()
	sampleOf(t, dir, portItems(1)...)
	s := serve(t, dir, annotate.Options{Annotator: "ada"}, false)
	b := open(t, s.url, desktop)
	random := rand.New(rand.NewPCG(3, 3))
	value := func(v float64) *float64 { return &v }
	for range 40 {
		var all []acts.Act
		for i := range 30 {
			start := int64(random.IntN(50))
			end := start + 1 + int64(random.IntN(9))
			a := acts.Act{ID: fmt.Sprint("a", i), Item: "x"}
			if i > 0 {
				a.Of = fmt.Sprint("a", random.IntN(i))
			}
			switch random.IntN(12) {
			case 0, 1, 2:
				a.Op, a.Of, a.Args = acts.OpMark, "", &acts.Args{Doc: "d", Start: &start, End: &end}
			case 3:
				a.Op, a.Args = acts.OpMove, &acts.Args{Start: &start, End: &end}
			case 4:
				a.Op = acts.OpRemove
			case 5:
				a.Op, a.Of = acts.OpNone, ""
			case 6:
				a.Op, a.Of, a.Args = acts.OpLabel, "", &acts.Args{ClaimID: fmt.Sprint("c", random.IntN(2)), Kind: "support", Value: value(0.5)}
				if random.IntN(3) == 0 {
					a.Args.Value = nil
				}
			case 7:
				a.Op, a.Of, a.Args = acts.OpDone, "", &acts.Args{Part: []string{acts.Truth, acts.Labels}[random.IntN(2)]}
			case 8:
				a.Op, a.Of, a.Args = acts.OpSkip, "", &acts.Args{Part: acts.Truth}
			case 9:
				a.Op, a.Of, a.Args = acts.OpTake, "", &acts.Args{How: acts.HowUnion, From: []string{"p", "q"}, Marks: []acts.Mark{{Doc: "d", Start: start, End: end}}}
			default:
				a.Op = acts.OpUndo
			}
			if a.Op != acts.OpMark && a.Of == "" && i == 0 && (a.Op == acts.OpMove || a.Op == acts.OpRemove || a.Op == acts.OpUndo) {
				continue
			}
			all = append(all, a)
		}
		sent, _ := json.Marshal(all)
		var got struct {
			Marks      []acts.Mark
			None       bool
			Labels     []annotations.BlindLabel
			How        string
			Done, Skip map[string]bool
		}
		b.eval(fmt.Sprintf(`fold(%s)`, sent), &got)
		want := acts.Fold(all)
		text := func(v any) string { b, _ := json.Marshal(v); return string(b) }
		if len(want.Marks) == 0 {
			want.Marks, got.Marks = nil, slices.Clip(got.Marks[:0])
			got.Marks = nil
		}
		if len(want.Labels) == 0 && len(got.Labels) == 0 {
			want.Labels, got.Labels = nil, nil
		}
		for name, pair := range map[string][2]any{"marks": {got.Marks, want.Marks}, "none": {got.None, want.None}, "labels": {got.Labels, want.Labels}, "how": {got.How, want.How}, "done": {got.Done, want.Done}, "skip": {got.Skip, want.Skip}} {
			if text(pair[0]) != text(pair[1]) {
				t.Fatalf("%s: the script says %s, the program %s, of\n%s", name, text(pair[0]), text(pair[1]), sent)
			}
		}
	}
}
