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
	"ibid/annotations/acts"
	"ibid/cmd/ibid/internal/annotate"
)

// hostile has items all of whose texts try to be more than text.
func hostile() []annotations.BlindItem {
	const bad = "</script><script>document.title='hacked'</script><img src=x onerror=\"document.title='hacked'\"> <svg onload=document.title='hacked'> {{.Title}} \u202eabc\u2066 \x00 https://localhost/x.png"
	return []annotations.BlindItem{{
		ID: "item-0001", Query: bad, Answer: bad, Claims: []annotations.BlindClaim{{ID: bad, Text: bad}},
		Citations: []annotations.BlindPlace{{ClaimID: bad, Doc: bad, Text: bad}},
		Documents: []annotations.BlindDocument{{Doc: bad, Text: bad + ". And " + bad}, {Doc: "__proto__", Text: strings.Repeat("unbroken", 3000)}},
		Labels:    []annotations.BlindLabel{{ClaimID: bad, Kind: bad}},
	}}
}

// TestHostile: texts do nothing in the served page, in the one file, and beside what
// others marked.
func TestHostile(t *testing.T) {
	dir := t.TempDir()
	sampleOf(t, dir, hostile()...)
	s := serve(t, dir, annotate.Options{Annotator: "ada"}, false)
	page := "file://" + writePage(t, hostile())
	for _, url := range []string{s.url, page} {
		b := open(t, url, desktop)
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
	if got := s.journal.Acts()[0].Args.Doc; got != hostile()[0].Documents[0].Doc {
		t.Errorf("marked in %q", got)
	}
}

// TestClosed: acts and texts go to the page of this server alone, and to the one that was
// opened last.
func TestClosed(t *testing.T) {
	dir := t.TempDir()
	sampleOf(t, dir, portItems(2)...)
	s := serve(t, dir, annotate.Options{Annotator: "ada"}, false)
	host := strings.TrimPrefix(s.url[:strings.LastIndex(strings.TrimSuffix(s.url, "/"), "/")], "http://")
	first := open(t, s.url, desktop)
	window := first.text("store.window")
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
	own := map[string]string{"Origin": "http://" + host, "Ibid-Window": window}
	with := func(name, v string) map[string]string {
		h := map[string]string{name: v}
		for k, v := range own {
			if k != name {
				h[k] = v
			}
		}
		return h
	}
	const act = `{"id":"x1","item":"item-0001","part":"truth","op":"flag","args":{"on":true}}`
	for _, c := range []struct {
		name, method, url string
		header            map[string]string
		body              string
		status            int
	}{
		{"no token", "POST", "http://" + host + "/act", own, act, 403},
		{"another origin", "POST", s.url + "act", with("Origin", "http://evil.example"), act, 403},
		{"no origin", "POST", s.url + "act", map[string]string{"Ibid-Window": window}, act, 403},
		{"another host", "POST", s.url + "act", with("Host", "evil.example"), act, 421},
		{"another host reads", "GET", s.url + "item?id=item-0001&part=truth", map[string]string{"Host": "evil.example"}, "", 421},
		{"another window", "POST", s.url + "act", with("Ibid-Window", "other"), act, 409},
		{"no act", "POST", s.url + "act", own, "{", 400},
		{"no item", "POST", s.url + "act", own, strings.Replace(act, "0001", "0009", 1), 400},
		{"half a character", "POST", s.url + "act", own, `{"id":"x2","item":"item-0001","part":"truth","op":"mark","args":{"doc":"port.txt"},"from":[0,-1],"to":[0,2]}`, 400},
		{"no document", "POST", s.url + "act", own, `{"id":"x2","item":"item-0001","part":"truth","op":"mark","args":{"doc":"x"},"from":[0,0],"to":[0,2]}`, 400},
		{"code points of its own", "POST", s.url + "act", own, `{"id":"x2","item":"item-0001","part":"truth","op":"mark","args":{"doc":"port.txt","start":0,"end":9}}`, 400},
		{"nothing to take", "POST", s.url + "act", own, `{"id":"x2","item":"item-0001","part":"truth","op":"take","args":{"how":"take","from":["ben"]}}`, 400},
		{"its own", "POST", s.url + "act", own, act, 200},
		{"its own again", "POST", s.url + "act", own, act, 200},
		{"no such item", "GET", s.url + "item?id=x&part=truth", nil, "", 404},
	} {
		if status, text := send(c.method, c.url, c.header, c.body); status != c.status {
			t.Errorf("%s: status %d, want %d: %s", c.name, status, c.status, text)
		}
	}
	if n := len(s.journal.Acts()); n != 1 {
		t.Errorf("%d acts are kept, want 1", n)
	}
	if _, text := send("GET", s.url+"item?id=item-0001&part=truth", nil, ""); strings.Contains(text, "Nobody was hurt") || strings.Contains(text, "claim") {
		t.Errorf("who marks is sent the answer: %s", text)
	}
	second := open(t, s.url, desktop)
	second.press("t")
	first.press("t")
	if said := first.text(`document.getElementById("message").textContent`); !strings.Contains(said, "another window") {
		t.Errorf("the first window says %q", said)
	}
	if n := len(s.journal.Acts()); n != 2 {
		t.Errorf("%d acts are kept, want 2", n)
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
		j, err := acts.Open(dir, name)
		if err != nil {
			t.Fatal(err)
		}
		start, end := int64(len(name)), int64(20+name[0]-'a')
		for _, a := range []acts.Act{
			{ID: "1", Item: "item-0001", Op: acts.OpMark, Args: &acts.Args{Doc: "port.txt", Start: &start, End: &end}},
			{ID: "2", Item: "item-0001", Op: acts.OpDone, Args: &acts.Args{Part: acts.Truth}},
		} {
			if _, err := j.Append(a); err != nil {
				t.Fatal(err)
			}
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s, decides := serve(t, dir, annotate.Options{Annotator: "cora"}, false), serve(t, dir, annotate.Options{Annotator: "lead"}, true)
	for _, c := range []struct {
		name, url string
		view      view
		keys      []string
	}{
		{"light", s.url, desktop, []string{"f", "a"}},
		{"dark", s.url, view{1440, 1000, true}, nil},
		{"labels", s.url, desktop, []string{"n", "Enter", "n", "Enter", "1"}},
		{"labels, narrow, dark", s.url, view{390, 844, true}, nil},
		{"adjudicate", decides.url, desktop, []string{"1"}},
		{"adjudicate, narrow", decides.url, view{390, 844, false}, nil},
		{"adjudicate, dark", decides.url, view{1440, 1000, true}, nil},
	} {
		b := open(t, c.url, c.view)
		b.press(c.keys...)
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
	sampleOf(t, dir, annotations.BlindItem{ID: "item-0001", Query: "?", Documents: []annotations.BlindDocument{{Doc: "long.txt", Text: text.String()}}, Labels: []annotations.BlindLabel{}})
	s := serve(t, dir, annotate.Options{Annotator: "ada"}, false)
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
		key := []string{"ArrowRight", "ArrowDown", ".", "ArrowLeft", ",", "u", "y", "t"}[i%8]
		b.eval(fmt.Sprintf(`(async () => { const t = performance.now(); press(%q, false); await later; took.push(performance.now() - t); })()`, key), nil)
	}
	var took []float64
	b.eval("took", &took)
	slices.Sort(took)
	t.Logf("%d acts: median %.1f ms, p95 %.1f ms, longest %.1f ms", n, took[n/2], took[n*95/100], took[n-1])
	b.screenshot("large")
	if got := len(s.journal.Acts()); got != n+1 {
		t.Errorf("%d acts are kept, want %d", got, n+1)
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
	s := serve(t, dir, annotate.Options{Annotator: "ada"}, false)
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
	var marked []struct{ Mine, Guide []acts.Mark }
	b.eval(`exercise.items.map((x) => ({ Mine: fold(actsOf(x.id)).marks, Guide: x.guide }))`, &marked)
	var want, items float64
	for _, m := range marked {
		if len(m.Mine)+len(m.Guide) > 0 {
			want += acts.Agreement([]acts.Opinion{{Annotator: "ada", Marks: m.Mine}, {Annotator: "guide", Marks: m.Guide}})
			items++
		}
	}
	want /= items
	if !strings.Contains(said, fmt.Sprintf("%.3f", want)) || want == 0 || want == 1 {
		t.Errorf("the page says %q, of %g", said, want)
	}
	if n := len(s.journal.Acts()); n != 0 {
		t.Errorf("%d acts of the exercise are kept", n)
	}
	b.quiet(s.url)
}
