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

	"ibid/annotations/acts"
	"ibid/cmd/ibid/internal/annotate"
	"ibid/cmd/ibid/internal/loopback"
)

// busy does acts one after the other until nothing is kept any more.
const busy = `(async () => { for (let i = 0; i < 1000; i++) await keep("flag", { args: { on: i % 2 === 0 } }); })(); 0`

// TestServerKilled: what the page shows as saved is in the journal after the program is
// killed at any moment.
func TestServerKilled(t *testing.T) {
	if dir := os.Getenv("ANNOTATE_KILLED_DIR"); dir != "" {
		sample, err := acts.OpenSample(dir + "/template.jsonl")
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		journal, err := acts.Open(dir, "ada")
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
		_ = server.Serve(context.Background(), annotate.NewServer(sample, journal, annotate.Options{Annotator: "ada", Purpose: "both", Share: acts.Share{Index: 1, Of: 1}}))
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
		b.eval(busy, nil)
		time.Sleep(time.Duration(random.IntN(120)) * time.Millisecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed
		b.wait(`document.getElementById("saved").textContent === "not saved"`)
		var ids []string
		b.eval(`acts.map((a) => a.id)`, &ids)
		for _, id := range ids {
			shown[id] = true
		}
		b.do(chromedp.Navigate("about:blank"))
	}
	j, err := acts.Open(dir, "ada")
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	t.Logf("%d kills, %d acts shown as saved, %d kept", n, len(shown), len(j.Acts()))
	for _, a := range j.Acts() {
		delete(shown, a.ID)
	}
	if len(shown) > 0 {
		t.Errorf("%d acts were shown as saved and are missing", len(shown))
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
			ready := `new Promise((done) => { const look = () => document.documentElement.dataset.ready ? done(acts.map((a) => a.id)) : setTimeout(look, 20); look(); })`
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
					t.Errorf("run %d: act %s was shown as saved and is missing", run, id)
				}
			}
			if run == n {
				t.Logf("%d kills, %d acts shown as saved, %d kept", n, len(shown), len(ids))
				return
			}
			mu.Unlock()
			tell := `const keepIt = store.keep; store.keep = async function (...a) { const kept = await keepIt.apply(store, a); console.log("kept", kept.id); return kept; };`
			if err := chromedp.Run(ctx, chromedp.Evaluate(tell+busy, nil)); err != nil {
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
