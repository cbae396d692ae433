package annotate_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"ibid/annotations/round"
	"ibid/cmd/ibid/internal/annotate"
	"ibid/cmd/ibid/internal/loopback"
)

// busy changes an item again and again until nothing is kept any more.
const busy = `(async () => { for (let i = 0; i < 1000; i++) await change((s) => (s.note = crypto.randomUUID())); })(); 0`

// note tells of every state that was kept, by its note.
const note = `{ const keepIt = store.keep; store.keep = async function (state, after) { await keepIt.call(store, state, after); %s; }; } 0`

// TestServerKilled: what the page shows as saved is in the file after the program is
// killed at any moment.
func TestServerKilled(t *testing.T) {
	if dir := os.Getenv("ANNOTATE_KILLED_DIR"); dir != "" {
		r, err := round.Open(dir)
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		marks, err := r.OpenMarks("ada", round.Annotator)
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		pages, err := annotate.NewServer(r, marks, "ada", "ibid annotate", false)
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		server, err := loopback.Listen(0)
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(server.URL())
		_ = server.Serve(context.Background(), pages)
		os.Exit(1)
	}
	start(t)
	dir := t.TempDir()
	sampleOf(t, dir, portItems(2)...)
	random := rand.New(rand.NewPCG(5, 5))
	shown, n := make(map[string]bool), often(2)
	for range n {
		cmd := exec.Command(os.Args[0], "-test.run=^TestServerKilled$")
		cmd.Env = append(os.Environ(), "ANNOTATE_KILLED_DIR="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		if err != nil || !strings.HasPrefix(line, "http") {
			t.Fatalf("%q, %v", line, err)
		}
		b := open(t, strings.TrimSpace(line), desktop)
		b.eval(`window.kept = []; `+fmt.Sprintf(note, `window.kept.push(state.note)`), nil)
		b.eval(busy, nil)
		time.Sleep(time.Duration(random.IntN(120)) * time.Millisecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed
		b.wait(`document.getElementById("saved").textContent === "not saved"`)
		var ids []string
		b.eval(`window.kept`, &ids)
		for _, id := range ids {
			shown[id] = true
		}
		b.do(chromedp.Navigate("about:blank"))
	}
	r, err := round.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	m, err := r.OpenMarks("ada", round.Annotator)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	t.Logf("%d kills, %d states shown as saved, %d kept", n, len(shown), len(m.States()))
	for _, s := range m.States() {
		delete(shown, s.Note)
	}
	if len(shown) > 0 {
		t.Errorf("%d states were shown as saved and are missing", len(shown))
	}
}

// killedProfile returns the folder of a browser that the test kills. Helper processes of a
// killed browser may write into the folder until they notice, so it is removed when they are done.
func killedProfile(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ibid-killed-profile-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		var err error
		for range 200 {
			if err = os.RemoveAll(dir); err == nil {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
		t.Error(err)
	})
	return dir
}

// named gives the page of one file a name.
const named = `document.getElementById("name").value = "ada"; document.getElementById("ask-name").requestSubmit(); `

// TestBrowserKilled: what the page of one file shows as saved is there after the browser
// is killed at any moment.
func TestBrowserKilled(t *testing.T) {
	path := chromium(t)
	page := "file://" + writePage(t, portItems(2))
	profile := killedProfile(t)
	random := rand.New(rand.NewPCG(6, 6))
	var mu sync.Mutex
	shown, n := make(map[string]bool), often(2)
	for run := range n + 1 {
		func() {
			alloc, cancelAlloc := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:],
				chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(profile))...)
			defer cancelAlloc()
			ctx, cancel := chromedp.NewContext(alloc)
			defer cancel()
			ctx, cancelTime := context.WithTimeout(ctx, time.Minute)
			defer cancelTime()
			chromedp.ListenTarget(ctx, func(event any) {
				if e, ok := event.(*runtime.EventConsoleAPICalled); ok && len(e.Args) == 2 {
					var id string
					if json.Unmarshal(e.Args[1].Value, &id) == nil {
						mu.Lock()
						shown[id] = true
						mu.Unlock()
					}
				}
			})
			var ids []string
			ready := named + `new Promise((done) => { const look = () => document.documentElement.dataset.ready ? done(store.lines.map((s) => s.note)) : setTimeout(look, 20); look(); })`
			err := chromedp.Run(ctx, runtime.Enable(), chromedp.Navigate(page),
				chromedp.Evaluate(ready, &ids, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
			if err != nil {
				t.Fatal(err)
			}
			mu.Lock()
			defer mu.Unlock()
			there := make(map[string]bool)
			for _, id := range ids {
				there[id] = true
			}
			for id := range shown {
				if !there[id] {
					t.Errorf("run %d: state %s was shown as saved and is missing", run, id)
				}
			}
			if run == n {
				t.Logf("%d kills, %d states shown as saved, %d kept", n, len(shown), len(ids))
				return
			}
			mu.Unlock()
			if err := chromedp.Run(ctx, chromedp.Evaluate(fmt.Sprintf(note, `console.log("kept", state.note)`)+"; "+busy, nil)); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Duration(50+random.IntN(150)) * time.Millisecond)
			if err := chromedp.FromContext(ctx).Browser.Process().Kill(); err != nil {
				t.Error(err)
			}
			mu.Lock()
		}()
	}
}

// TestServerGone: while the program does not run, the page says so, keeps changes, and sends
// them when it runs again.
func TestServerGone(t *testing.T) {
	dir := t.TempDir()
	sampleOf(t, dir, portItems(2)...)
	r, err := round.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	marks, err := r.OpenMarks("ada", round.Annotator)
	if err != nil {
		t.Fatal(err)
	}
	defer marks.Close()
	pages, err := annotate.NewServer(r, marks, "ada", "ibid annotate r --annotator ada", false)
	if err != nil {
		t.Fatal(err)
	}
	server, err := loopback.Listen(0)
	if err != nil {
		t.Fatal(err)
	}
	url := server.URL()
	run := func(s *loopback.Server) (stop func()) {
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error)
		go func() { done <- s.Serve(ctx, pages) }()
		return func() {
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	}
	stop := run(server)
	b := open(t, url, desktop)
	stop()
	b.press("n", "t")
	if said := b.text(`document.getElementById("message").textContent`); !strings.Contains(said, "The program is not running. 2 changes are kept in this tab. Start `ibid annotate r --annotator ada` again.") {
		t.Errorf("the page says %q", said)
	}
	if n := len(marks.States()); n != 0 {
		t.Errorf("%d states are kept", n)
	}
	if server, err = loopback.Reopen(url); err != nil {
		t.Fatal(err)
	}
	stop = run(server)
	b.wait(`document.getElementById("saved").textContent === "saved"`)
	if all := marks.States(); len(all) != 2 || all[0].Truth == nil || !all[1].Flag {
		t.Errorf("%+v", all)
	}
	stop()
}
