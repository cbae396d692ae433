package annotate_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"ibid/annotations"
	"ibid/annotations/round"
)

// hostile has items all of whose texts try to be more than text.
func hostile() []round.Item {
	const bad = "</script><script>document.title='hacked'</script><img src=x onerror=\"document.title='hacked'\"> <svg onload=document.title='hacked'> {{.Title}} \u202eabc\u2066 \x00 https://localhost/x.png"
	it := round.Item{ID: "item-0001", Purpose: round.Truth, Query: bad, Labels: []round.Label{}}
	it.AddText(bad, bad+". And "+bad)
	it.AddText("__proto__", strings.Repeat("unbroken", 3000))
	labels := it
	labels.ID, labels.Purpose, labels.Answer = "item-0002", round.Labels, bad
	labels.Claims, labels.Citations = []round.Claim{{ID: bad, Text: bad}}, []round.Place{{ClaimID: bad, Doc: bad, Text: bad}}
	labels.Labels = []round.Label{{ClaimID: bad, Kind: bad}}
	return []round.Item{it, labels}
}

// TestHostile: texts do nothing in the served page, in the one file, and beside what
// others marked.
func TestHostile(t *testing.T) {
	dir := t.TempDir()
	sampleOf(t, dir, hostile()...)
	s := serve(t, dir, "ada", false)
	page := "file://" + writePage(t, hostile())
	for _, url := range []string{s.url, page} {
		var b *tab
		if url == page {
			b = openFile(t, url, "ada")
		} else {
			b = open(t, url, desktop)
		}
		b.press(b.hintOf("</script>")...)
		b.press("c")
		b.do(chromedp.KeyEvent("<b>"))
		b.press("Escape", "]")
		if n := b.text(`String(spans.length > 20)`); n != "true" {
			t.Error("a long word is one run")
		}
		b.press("Enter", "1", "Enter")
		if got := b.text(`document.title`); got != "ibid · annotate" {
			t.Errorf("the title is %q", got)
		}
		b.quiet(url)
	}
	if got := s.marks.States()[0].Truth[0].Doc; got != hostile()[0].Documents[0] {
		t.Errorf("marked in %q", got)
	}
}

// TestClosed: states and texts go to the page of this server alone, and a state goes only
// behind the last one that its page has seen.
func TestClosed(t *testing.T) {
	dir := t.TempDir()
	sampleOf(t, dir, portItems(2)...)
	s := serve(t, dir, "ada", false)
	host := strings.TrimPrefix(s.url[:strings.LastIndex(strings.TrimSuffix(s.url, "/"), "/")], "http://")
	first := open(t, s.url, desktop)
	send := func(method, url string, header map[string]string, body string) (int, string) {
		t.Helper()
		r, err := http.NewRequest(method, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for name, v := range header {
			if name == "Host" {
				r.Host = v
			}
			r.Header.Set(name, v)
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, _ := io.ReadAll(response.Body)
		return response.StatusCode, string(text)
	}
	own := map[string]string{"Origin": "http://" + host}
	with := func(name, v string) map[string]string {
		h := map[string]string{name: v}
		for k, v := range own {
			if k != name {
				h[k] = v
			}
		}
		return h
	}
	const state = `{"state":{"id":"item-0001","truth":[{"doc":"port.txt","start":0,"end":4,"cited_text":"Port"}]},"after":0}`
	changed := func(old, now string) string { return strings.Replace(state, old, now, 1) }
	for _, c := range []struct {
		name, method, url string
		header            map[string]string
		body              string
		status            int
	}{
		{"no token", "POST", "http://" + host + "/state", own, state, 403},
		{"another origin", "POST", s.url + "state", with("Origin", "http://evil.example"), state, 403},
		{"no origin", "POST", s.url + "state", nil, state, 403},
		{"another host", "POST", s.url + "state", with("Host", "evil.example"), state, 421},
		{"another host reads", "GET", s.url + "item?id=item-0001", map[string]string{"Host": "evil.example"}, "", 421},
		{"no state", "POST", s.url + "state", own, "{", 400},
		{"no item", "POST", s.url + "state", own, changed("item-0001", "item-0009"), 400},
		{"no document", "POST", s.url + "state", own, changed("port.txt", "x"), 400},
		{"another text", "POST", s.url + "state", own, changed(`"Port"`, `"port"`), 400},
		{"beyond the end", "POST", s.url + "state", own, changed(`"end":4`, `"end":4000`), 400},
		{"its own", "POST", s.url + "state", own, state, 204},
		{"its own again", "POST", s.url + "state", own, state, 204},
		{"another one after the same", "POST", s.url + "state", own, changed(`"truth"`, `"flag":true,"truth"`), 409},
		{"no such item", "GET", s.url + "item?id=x", nil, "", 404},
	} {
		if status, text := send(c.method, c.url, c.header, c.body); status != c.status {
			t.Errorf("%s: status %d, want %d: %s", c.name, status, c.status, text)
		}
	}
	if n := len(s.marks.States()); n != 1 {
		t.Errorf("%d states are kept, want 1", n)
	}
	if _, text := send("GET", s.url+"item?id=item-0001", nil, ""); strings.Contains(text, "Nobody was hurt") || strings.Contains(text, "claim") {
		t.Errorf("who marks is sent the answer: %s", text)
	}
	second := open(t, s.url, desktop)
	second.press("t")
	first.press("b", "t")
	if said := first.text(`document.getElementById("message").textContent`); !strings.Contains(said, "another window") {
		t.Errorf("the first window says %q", said)
	}
	if got := first.text(`String(state.flag && marks().length === 1)`); got != "true" {
		t.Error("the first window does not show what the item has become")
	}
	if n := len(s.marks.States()); n != 2 {
		t.Errorf("%d states are kept, want 2", n)
	}
}

// TestAccessible finds no violation, wide and narrow, light and dark.
func TestAccessible(t *testing.T) {
	path := os.Getenv("IBID_AXE")
	if path == "" {
		missing(t, "IBID_AXE names no axe.min.js (npm: axe-core)")
	}
	script, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	sampleOf(t, dir, portItems(2)...)
	for _, name := range []string{"ada", "ben"} {
		other := serve(t, dir, name, false)
		mark := round.Mark{Doc: "port.txt", Start: int64(len(name)), End: int64(20 + name[0] - 'a')}
		if err := other.marks.Append(round.State{ID: "item-0001", Truth: []round.Mark{mark}, Done: true}, 0); err != nil {
			t.Fatal(err)
		}
		other.close()
	}
	s, decides := serve(t, dir, "cora", false), serve(t, dir, "lead", true)
	page := "file://" + writePage(t, portItems(2))
	for _, c := range []struct {
		name, url string
		view      view
		keys      []string
	}{
		{"light", s.url, desktop, []string{"f", "a"}},
		{"dark", s.url, view{1440, 1000, true}, nil},
		{"labels", s.url, desktop, []string{"n", "Enter", "n", "Enter", "1"}},
		{"labels, narrow, dark", s.url, view{390, 844, true}, nil},
		{"one file asks for a name", page, desktop, nil},
		{"decide", decides.url, desktop, []string{"1"}},
		{"decide, narrow", decides.url, view{390, 844, false}, nil},
		{"decide, dark", decides.url, view{1440, 1000, true}, nil},
	} {
		b := openTab(t, c.url, c.view)
		if c.url == page {
			b.wait(`!document.getElementById("ask-name").hidden`)
		} else {
			b.wait(`document.documentElement.dataset.ready === "1"`)
			b.press(c.keys...)
		}
		b.eval(`for (const d of document.querySelectorAll("details")) d.open = true`, nil)
		b.screenshot("axe " + c.name)
		var wide int64
		if b.eval(`document.documentElement.scrollWidth`, &wide); wide > c.view.width {
			t.Errorf("%s: the page is %d wide", c.name, wide)
		}
		b.do(chromedp.Evaluate(string(script), nil))
		result := b.text(`axe.run(document, {resultTypes: ["violations"]}).then((r) => JSON.stringify(r.violations.map((v) => ({id: v.id, nodes: v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200) + " :: " + n.failureSummary.slice(0, 300))}))))`)
		var violations []struct {
			ID    string
			Nodes []string
		}
		if err := json.Unmarshal([]byte(result), &violations); err != nil {
			t.Fatal(err)
		}
		for _, v := range violations {
			t.Errorf("%s: %s\n  %s", c.name, v.ID, strings.Join(v.Nodes, "\n  "))
		}
	}
}

// TestLargeDocument measures an act in a document of 200,000 characters, from the key to
// "saved", and looks that it is whole on the page.
func TestLargeDocument(t *testing.T) {
	var text strings.Builder
	for i := 0; text.Len() < 200_000; i++ {
		fmt.Fprintf(&text, "Sentence number %d of this report says what happened on day %d of the year. ", i, i%365)
		if i%7 == 6 {
			text.WriteString("\n\n")
		}
	}
	dir := t.TempDir()
	it := round.Item{ID: "item-0001", Purpose: round.Truth, Query: "?", Labels: []round.Label{}}
	it.AddText("long.txt", text.String())
	sampleOf(t, dir, it)
	s := serve(t, dir, "ada", false)
	begin := time.Now()
	b := open(t, s.url, desktop)
	t.Logf("opened in %v", time.Since(begin).Round(time.Millisecond))
	b.press("/")
	b.do(chromedp.KeyEvent("number 1500 of"))
	b.press("Escape")
	b.wait(`document.getElementById("found").textContent === "1 of 1"`)
	b.eval(`const took = []; 0`, nil)
	n := often(40)
	b.press(b.hintOf("Sentence number 1500")...)
	for i := range n {
		key := []string{"ArrowRight", "ArrowDown", "ArrowRight", "ArrowLeft", "ArrowLeft", "u", "y", "t"}[i%8]
		b.eval(fmt.Sprintf(`(async () => { const t = performance.now(); press(%q, false); await later; took.push(performance.now() - t); })()`, key), nil)
	}
	var took []float64
	b.eval("took", &took)
	slices.Sort(took)
	t.Logf("%d acts: median %.1f ms, p95 %.1f ms, longest %.1f ms", n, took[n/2], took[n*95/100], took[n-1])
	b.screenshot("large")
	if got := len(s.marks.States()); got != n+1 {
		t.Errorf("%d states are kept, want %d", got, n+1)
	}
	if shown := b.text(`spans.map((s) => s.textContent).join("")`); shown != text.String() {
		t.Error("the page shows another text")
	}
}

// TestExercise: the exercise scores itself by the mean Jaccard of its items, and nothing of
// it is kept.
func TestExercise(t *testing.T) {
	dir := t.TempDir()
	sampleOf(t, dir, portItems(1)...)
	s := serve(t, dir, "ada", false)
	b := open(t, s.url, desktop)
	b.eval(`document.getElementById("exercise").click()`, nil)
	b.idle()
	for i := range strings.Count(annotations.Exercise, "\n") {
		b.eval(`showHints()`, nil)
		if b.text(`String(hints.size > 1)`) == "true" {
			b.press("s", "a") // the second sentence, whatever it says
		} else {
			b.press("n")
		}
		b.press("Enter")
		if i == 1 {
			b.screenshot("exercise")
		}
		b.press("Enter")
	}
	said := b.text(`document.getElementById("message").textContent`)
	var marked []struct{ Mine, Guide []round.Mark }
	b.eval(`exercise.items.map((x) => ({ Mine: stateOf(x.id).truth || [], Guide: x.guide }))`, &marked)
	var want, items float64
	for _, m := range marked {
		if len(m.Mine)+len(m.Guide) > 0 {
			want += round.Agreement([]round.Opinion{{Annotator: "ada", Marks: m.Mine}, {Annotator: "guide", Marks: m.Guide}})
			items++
		}
	}
	want /= items
	if !strings.Contains(said, fmt.Sprintf("%.3f", want)) || want == 0 || want == 1 {
		t.Errorf("the page says %q, of %g", said, want)
	}
	if n := len(s.marks.States()); n != 0 {
		t.Errorf("%d states of the exercise are kept", n)
	}
	b.quiet(s.url)
}
