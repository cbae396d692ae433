// Package browsertest opens report pages in a real browser, driven from Go.
//
// Tests skip with a message when there is no Chromium.
package browsertest

import (
	"context"
	"errors"
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

// scratch is a folder for pages that several tests look at.
var scratch string

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
	build := exec.Command("go", "build", "-o", ibid, "../../cmd/ibid")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%s%v\n", out, err)
		os.Exit(1)
	}
	scratch = dir
	code := m.Run()
	quit()
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
	if out, code := attempt(t, dir, args...); code != 0 {
		t.Fatalf("ibid %s: exit code %d\n%s", strings.Join(args, " "), code, out)
	}
}

// attempt runs the program in dir; it returns what it said and its exit code.
func attempt(t testing.TB, dir string, args ...string) (out string, code int) {
	t.Helper()
	cmd := exec.Command(ibid, args...)
	cmd.Dir = dir
	// What tests are told in IBID_… variables are no settings of the program.
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "IBID_") })
	said, err := cmd.CombinedOutput()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		t.Fatal(err)
	}
	return string(said), cmd.ProcessState.ExitCode()
}

// pages are those that were made, by name. Tests only look at them, so each is made
// once.
var pages = make(map[string]string)

func made(t testing.TB, name string, make func(dir string) string) string {
	t.Helper()
	if pages[name] == "" {
		dir, err := os.MkdirTemp(scratch, "page-")
		if err != nil {
			t.Fatal(err)
		}
		pages[name] = make(dir)
	}
	return pages[name]
}

// samplePage is the report of the sample that comes with ibid.
func samplePage(t testing.TB) string {
	t.Helper()
	return made(t, "sample", func(dir string) string {
		run(t, dir, "init", "demo")
		run(t, dir, "run", "demo/ibid.yaml", "--out", "runs", "--id", "sample", "-q")
		return filepath.Join(dir, "runs", "sample", "report.html")
	})
}

// calibratedPage is the report of the sample with its judge compared with people.
func calibratedPage(t testing.TB) string {
	t.Helper()
	return made(t, "calibrated", func(dir string) string {
		run(t, dir, "init", "demo")
		run(t, dir, "run", "demo/ibid.yaml", "--judge", "lexical", "--set", "gates=[]", "--out", "runs", "--id", "sample", "-q")
		run(t, dir, "calibrate", "runs/sample", "-q")
		return filepath.Join(dir, "runs", "sample", "report.html")
	})
}

// A tab is a browser tab that watches for what a page must not do.
type tab struct {
	t    testing.TB
	ctx  context.Context
	view view

	mu       sync.Mutex
	errors   []string // console errors, exceptions, violations of the security policy
	requests []string // anything beyond the page itself
}

// A view is what the browser pretends to be.
type view struct {
	width, height int64
	dark          bool
}

var (
	desktop = view{width: 1440, height: 1000}
	phone   = view{width: 390, height: 844}
)

// onBoth runs a test of a page on a wide and on a narrow screen.
func onBoth(t *testing.T, test func(t *testing.T, v view)) {
	for _, v := range []view{desktop, phone} {
		t.Run(fmt.Sprintf("%d wide", v.width), func(t *testing.T) { test(t, v) })
	}
}

// browser is the one browser whose tabs the tests use; nil until a test needs it.
var (
	browser context.Context
	quit    = func() {}
)

// start starts the browser.
func start(t testing.TB) {
	t.Helper()
	if browser != nil {
		return
	}
	profile, err := os.MkdirTemp(scratch, "profile-")
	if err != nil {
		t.Fatal(err)
	}
	alloc, cancelAlloc := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(chromium(t)),
		chromedp.NoSandbox,
		chromedp.DisableGPU,
		chromedp.UserDataDir(profile),
		chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true),
	)...)
	ctx, cancel := chromedp.NewContext(alloc)
	if err := chromedp.Run(ctx); err != nil {
		t.Fatalf("browser: %v", err)
	}
	browser = ctx
	quit = func() {
		// Closing the browser before its folder goes; what fails here has no
		// bearing on the pages.
		_ = chromedp.Cancel(ctx)
		cancel()
		cancelAlloc()
	}
}

// open opens a page in a tab of its own and waits until its script is done.
func open(t testing.TB, page, hash string, v view) *tab {
	t.Helper()
	b := openAt(t, "file://"+page+hash, v)
	b.wait(ready)
	return b
}

// ready is whether the script of a page is done.
const ready = `document.documentElement?.dataset.ready === "1"`

// openAt opens an address in a tab of its own.
func openAt(t testing.TB, address string, v view) *tab {
	t.Helper()
	start(t)
	ctx, cancel := chromedp.NewContext(browser)
	ctx, cancelTime := context.WithTimeout(ctx, 4*time.Minute)
	b := &tab{t: t, ctx: ctx, view: v}
	t.Cleanup(func() {
		cancelTime()
		cancel()
	})
	chromedp.ListenTarget(ctx, b.watch)
	b.do(
		network.Enable(), log.Enable(), runtime.Enable(),
		emulation.SetDeviceMetricsOverride(v.width, v.height, 1, v.width < 600),
		emulation.SetFocusEmulationEnabled(true),
		v.media(""),
		chromedp.Navigate(address),
	)
	return b
}

// media emulates a medium, "" for the screen, and what people prefer.
func (v view) media(medium string) chromedp.Action {
	scheme := "light"
	if v.dark {
		scheme = "dark"
	}
	return emulation.SetEmulatedMedia().WithMedia(medium).WithFeatures([]*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	})
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
	b.wait(fmt.Sprintf("document.querySelector(%q) !== null", selector)) // the page may still be loading
	b.eval(fmt.Sprintf("document.querySelector(%q).click()", selector), nil)
}

// choose chooses a value of a field of the form over the answers.
func (b *tab) choose(name, value string) {
	b.t.Helper()
	b.eval(fmt.Sprintf(`form.elements[%q].value = %q; form.elements[%q].dispatchEvent(new Event("change"))`, name, value, name), nil)
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
	for pause, waited := 5*time.Millisecond, time.Duration(0); waited < time.Minute; pause, waited = min(2*pause, 100*time.Millisecond), waited+pause {
		var holds bool
		err := chromedp.Run(b.ctx, chromedp.Evaluate("Boolean("+condition+")", &holds))
		if err != nil && !strings.Contains(err.Error(), "navigated") { // another page has come meanwhile
			b.t.Fatalf("browser: %v", err)
		}
		if err == nil && holds {
			return
		}
		time.Sleep(pause)
	}
	b.quiet()
	b.t.Fatalf("%s does not become true (address %s); status %q, opened row %.300q", condition, b.text("location.href"),
		b.text(`document.getElementById("status")?.textContent || ""`), b.text(`document.querySelector("#row")?.textContent || ""`))
}

// fits fails the test if the page is wider than the screen. A phone would zoom out
// instead of scrolling, so its width is compared with the one that was asked for.
func (b *tab) fits() {
	b.t.Helper()
	for _, of := range []string{"documentElement", "body"} {
		if wide := b.number("document." + of + ".scrollWidth"); wide > int(b.view.width) {
			b.t.Errorf("%.60s: the page is %d pixels wide on a screen of %d", b.text("location.hash"), wide, b.view.width)
		}
	}
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
