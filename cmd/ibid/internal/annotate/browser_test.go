package annotate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"ibid/annotations/round"
	"ibid/cmd/ibid/internal/annotate"
	"ibid/cmd/ibid/internal/loopback"
)

// often is how often a test does something: few times, or as often as IBID_OFTEN says.
func often(few int) int {
	if n, err := strconv.Atoi(os.Getenv("IBID_OFTEN")); err == nil {
		return n
	}
	return few
}

// sampleOf writes the items of a round to a folder.
func sampleOf(t testing.TB, dir string, items ...round.Item) {
	t.Helper()
	var b bytes.Buffer
	if err := round.WriteItems(&b, &round.Header{Purpose: round.Both}, items); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, round.ItemsFile), b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}

// A site is the page served for one person of the round in a folder.
type site struct {
	url   string
	marks *round.Marks
	pages *annotate.Server
	close func()
}

func serve(t testing.TB, dir, name string, decides bool) *site {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	r, err := round.Open(dir)
	check(err)
	s := &site{}
	role := round.Annotator
	if decides {
		role = round.Decider
	}
	s.marks, err = r.OpenMarks(name, role)
	check(err)
	s.pages, err = annotate.NewServer(r, s.marks, name, "ibid annotate "+dir, decides)
	check(err)
	server, err := loopback.Listen(0)
	check(err)
	s.url = server.URL()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- server.Serve(ctx, s.pages) }()
	s.close = sync.OnceFunc(func() {
		cancel()
		check(<-done)
		check(s.marks.Close())
	})
	t.Cleanup(s.close)
	return s
}

// last is the last state of an item.
func (s *site) last(id string) round.State {
	all := s.marks.Of(id)
	if len(all) == 0 {
		return round.State{}
	}
	return all[len(all)-1]
}

// The one browser of the tests; nil until a test needs it.
var (
	browser context.Context
	quit    = func() {}
)

func TestMain(m *testing.M) {
	code := m.Run()
	quit()
	os.Exit(code)
}

// chromium finds the browser, or skips the test.
func chromium(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	missing(t, "no chromium: apt-get install chromium")
	return ""
}

// missing skips a test that lacks what it needs, or fails it where everything has to be
// there.
func missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("IBID_REQUIRE_BROWSER") != "" {
		t.Fatal(what)
	}
	t.Skip(what)
}

// start starts the browser, or skips the test.
func start(t testing.TB) {
	t.Helper()
	if browser != nil {
		return
	}
	path := chromium(t)
	profile, err := os.MkdirTemp("", "ibid-annotate-profile-")
	if err != nil {
		t.Fatal(err)
	}
	alloc, cancelAlloc := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(profile),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
	)...)
	ctx, cancel := chromedp.NewContext(alloc)
	if err := chromedp.Run(ctx); err != nil {
		t.Fatalf("browser: %v", err)
	}
	browser = ctx
	quit = func() {
		_ = chromedp.Cancel(ctx)
		cancel()
		cancelAlloc()
		os.RemoveAll(profile)
	}
}

// A tab is a browser tab that watches for what a page must not do.
type tab struct {
	t       testing.TB
	ctx     context.Context
	strokes int

	mu       sync.Mutex
	errors   []string
	requests []string
}

type view struct {
	width, height int64
	dark          bool
}

var desktop = view{width: 1440, height: 1000}

// open opens a page and waits until its script has begun.
func open(t testing.TB, url string, v view) *tab {
	t.Helper()
	b := openTab(t, url, v)
	b.wait(`document.documentElement.dataset.ready === "1"`)
	return b
}

// openTab opens a page.
func openTab(t testing.TB, url string, v view) *tab {
	t.Helper()
	start(t)
	ctx, cancel := chromedp.NewContext(browser)
	ctx, cancelTime := context.WithTimeout(ctx, 4*time.Minute)
	b := &tab{t: t, ctx: ctx}
	t.Cleanup(func() {
		cancelTime()
		cancel()
	})
	chromedp.ListenTarget(ctx, b.watch)
	scheme := "light"
	if v.dark {
		scheme = "dark"
	}
	b.do(
		network.Enable(), log.Enable(), runtime.Enable(),
		emulation.SetDeviceMetricsOverride(v.width, v.height, 1, v.width < 600),
		emulation.SetFocusEmulationEnabled(true),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
		chromedp.Navigate(url),
	)
	return b
}

func (b *tab) watch(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.errors = append(b.errors, "exception: "+e.ExceptionDetails.Error())
	case *runtime.EventConsoleAPICalled:
		b.errors = append(b.errors, fmt.Sprintf("console.%s", e.Type))
	case *log.EventEntryAdded:
		b.errors = append(b.errors, fmt.Sprintf("%s: %s", e.Entry.Source, e.Entry.Text))
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	}
}

func (b *tab) do(actions ...chromedp.Action) {
	b.t.Helper()
	if err := chromedp.Run(b.ctx, actions...); err != nil {
		b.t.Fatalf("browser: %v", err)
	}
}

// eval evaluates a script, waits for what it promises, and decodes its value.
func (b *tab) eval(script string, out any) {
	b.t.Helper()
	b.do(chromedp.Evaluate(script, out, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
}

func (b *tab) text(script string) string {
	b.t.Helper()
	var s string
	b.eval(script, &s)
	return s
}

func (b *tab) wait(condition string) {
	b.t.Helper()
	for range 300 {
		var holds bool
		b.eval("Boolean("+condition+")", &holds)
		if holds {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	b.quiet("")
	b.t.Fatalf("%s does not become true; the page says %q", condition, b.text(`document.getElementById("message").textContent + document.getElementById("saved").textContent`))
}

// press presses keys, each one stroke, and waits until the page has done what they say.
// "shift+ArrowLeft" is one stroke.
func (b *tab) press(keys ...string) {
	b.t.Helper()
	named := map[string]string{"Enter": kb.Enter, "Escape": kb.Escape, "ArrowLeft": kb.ArrowLeft, "ArrowRight": kb.ArrowRight, "ArrowUp": kb.ArrowUp, "ArrowDown": kb.ArrowDown}
	for _, k := range keys {
		b.strokes++
		var options []chromedp.KeyOption
		for name, m := range map[string]input.Modifier{"shift+": input.ModifierShift, "alt+": input.ModifierAlt} {
			if rest, ok := strings.CutPrefix(k, name); ok {
				k, options = rest, append(options, chromedp.KeyModifiers(m))
			}
		}
		if n, ok := named[k]; ok {
			k = n
		}
		if k == "c" || k == "/" {
			// chromedp sends the character even where the page has taken the key.
			for _, e := range kb.Encode(rune(k[0])) {
				if e.Type != input.KeyChar {
					e.Text, e.UnmodifiedText = "", ""
					b.do(e)
				}
			}
			continue
		}
		b.do(chromedp.KeyEvent(k, options...))
	}
	b.idle()
}

// idle waits until everything that was typed is done.
func (b *tab) idle() {
	b.t.Helper()
	b.eval(`(async () => { let seen; do { seen = later; await later; } while (seen !== later); })()`, nil)
}

// quiet fails the test if the page complained, or asked for anything but its server.
func (b *tab) quiet(url string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.errors {
		b.t.Errorf("the page complains: %s", e)
	}
	for _, r := range b.requests {
		if url != "" && !strings.HasPrefix(r, url) && !strings.HasPrefix(r, "data:") && !strings.HasPrefix(r, "blob:") {
			b.t.Errorf("the page asks for %.100s", r)
		}
	}
}

// hintOf presses the hint of the sentence that begins with a text.
func (b *tab) hintOf(text string) []string {
	b.t.Helper()
	said, _ := json.Marshal(text)
	hint := b.text(fmt.Sprintf(`(() => { showHints(); return [...document.querySelectorAll(".r[data-hint]")].find((r) => r.textContent.trim().startsWith(%s))?.dataset.hint || ""; })()`, said))
	if len(hint) != 2 {
		b.t.Fatalf("no hint for %q", text)
	}
	return []string{hint[:1], hint[1:]}
}

func (b *tab) screenshot(name string) {
	b.t.Helper()
	dir := os.Getenv("IBID_SCREENSHOTS")
	if dir == "" {
		return
	}
	var png []byte
	b.do(chromedp.CaptureScreenshot(&png))
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o666); err != nil {
		b.t.Fatal(err)
	}
}
