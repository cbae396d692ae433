// Package browsertest opens report pages in a real browser, driven from Go.
//
// Tests skip with a message when there is no Chromium.
package browsertest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// ibid is the program under test, built once.
var ibid string

func TestMain(m *testing.M) {
	if err := readSources(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	dir, err := os.MkdirTemp("", "ibid-browsertest-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	ibid = filepath.Join(dir, "ibid")
	build := exec.Command("go", "build", "-o", ibid, "ibid/cmd/ibid")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%s%v\n", out, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// readSources opens the files that the program is made of, so that go test knows
// that its cached result depends on them: the compiler runs beside it.
func readSources() error {
	return filepath.WalkDir(filepath.Join("..", ".."), func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != filepath.Join("..", "..") && strings.HasPrefix(d.Name(), ".") {
			return filepath.SkipDir
		}
		switch filepath.Ext(path) {
		case ".go", ".html", ".css", ".js", ".parquet", ".yaml":
			f, err := os.Open(path)
			if err != nil {
				return err
			}
			return f.Close()
		}
		return nil
	})
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

// run runs the program in dir and fails the test if it does.
func run(t testing.TB, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command(ibid, args...)
	cmd.Dir = dir
	// What tests are told in IBID_… variables are no settings of the program.
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "IBID_") })
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("ibid %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// samplePage is the report of the sample that comes with ibid.
func samplePage(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	run(t, dir, "init", "demo")
	run(t, dir, "run", "demo/ibid.yaml", "--out", "runs", "--id", "sample", "-q")
	run(t, dir, "report", "runs/sample", "-o", "report.html")
	return filepath.Join(dir, "report.html")
}

// A tab is a browser tab that watches for what a page must not do.
type tab struct {
	t   testing.TB
	ctx context.Context

	mu       sync.Mutex
	errors   []string // console errors, exceptions, violations of the security policy
	requests []string // anything beyond the page itself
}

// A view is what the browser pretends to be.
type view struct {
	width, height int64
	dark          bool
}

var desktop = view{width: 1440, height: 1000}

// open opens a page and waits until its script is done.
func open(t testing.TB, page, hash string, v view) *tab {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(chromium(t)),
		chromedp.NoSandbox,
		chromedp.DisableGPU,
		chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true),
	)
	alloc, cancelAlloc := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(alloc)
	ctx, cancelTime := context.WithTimeout(ctx, 4*time.Minute)
	b := &tab{t: t, ctx: ctx}
	t.Cleanup(func() {
		// Closing the browser before its folder goes; what fails here has no
		// bearing on the page.
		_ = chromedp.Cancel(ctx)
		cancelTime()
		cancel()
		cancelAlloc()
	})
	chromedp.ListenTarget(ctx, b.watch)
	scheme := "light"
	if v.dark {
		scheme = "dark"
	}
	b.do(
		network.Enable(), log.Enable(), runtime.Enable(),
		emulation.SetDeviceMetricsOverride(v.width, v.height, 1, v.width < 600),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
		}),
		chromedp.Navigate("file://"+page+hash),
	)
	b.wait(`document.documentElement.dataset.ready === "1"`)
	return b
}

func (b *tab) watch(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.errors = append(b.errors, "exception: "+e.ExceptionDetails.Error())
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.APITypeError || e.Type == runtime.APITypeWarning {
			b.errors = append(b.errors, fmt.Sprintf("console.%s", e.Type))
		}
	case *log.EventEntryAdded:
		b.errors = append(b.errors, fmt.Sprintf("%s: %s", e.Entry.Source, e.Entry.Text))
	case *network.EventRequestWillBeSent:
		if url := e.Request.URL; e.Type != network.ResourceTypeDocument {
			b.requests = append(b.requests, url)
		}
	}
}

func (b *tab) do(actions ...chromedp.Action) {
	b.t.Helper()
	if err := chromedp.Run(b.ctx, actions...); err != nil {
		b.t.Fatalf("browser: %v", err)
	}
}

// eval evaluates a script into out, which may be nil.
func (b *tab) eval(script string, out any, options ...chromedp.EvaluateOption) {
	b.t.Helper()
	b.do(chromedp.Evaluate(script, out, options...))
}

// awaited waits for the promise that a script gives.
func awaited(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }

// click clicks the first element that a selector finds.
func (b *tab) click(selector string) {
	b.t.Helper()
	b.eval(fmt.Sprintf("document.querySelector(%q).click()", selector), nil)
}

// text evaluates a script that gives a text.
func (b *tab) text(script string) string {
	b.t.Helper()
	var s string
	b.eval(script, &s)
	return s
}

// number evaluates a script that gives a number.
func (b *tab) number(script string) int {
	b.t.Helper()
	var n int
	b.eval(script, &n)
	return n
}

// wait waits until a condition holds. It asks again and again from here: a page
// with a strict security policy lets nobody make functions of texts in it.
func (b *tab) wait(condition string) {
	b.t.Helper()
	for range 600 {
		var holds bool
		b.eval("Boolean("+condition+")", &holds)
		if holds {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	b.quiet()
	b.t.Fatalf("%s does not become true (address %s)", condition, b.text("location.href"))
}

// quiet fails the test if the page complained or asked for anything.
func (b *tab) quiet() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.errors {
		b.t.Errorf("the page complains: %s", e)
	}
	for _, r := range b.requests {
		b.t.Errorf("the page asks for %.100s", r)
	}
}
