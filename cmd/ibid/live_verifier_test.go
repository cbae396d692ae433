package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"ibid/dataset/runs"
	"ibid/judge/judgetest"
)

// A verifierTest is a dataset and a server of a small verifier.
type verifierTest struct {
	*testing.T
	dir    string
	server *judgetest.Server
}

func newVerifierTest(t *testing.T, rows int, config judgetest.ServerConfig) *verifierTest {
	t.Helper()
	v := &verifierTest{T: t, dir: t.TempDir(), server: judgetest.NewServer(config)}
	t.Cleanup(v.server.Close)
	if err := writeTowers(filepath.Join(v.dir, "towers.parquet"), rows); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"second.yaml": "positive: LABEL_1\n", "third.yaml": "positive: supported\n", "list.yaml": "- pair\n", "api.yaml": "api: classify\n",
		"inverted.yaml": "message: \"Document: {document}\\nClaim: {claim}\"\ninverted: true\n\"yes\": ['no']\n\"no\": ['yes']\n",
	} {
		if err := os.WriteFile(filepath.Join(v.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return v
}

func (v *verifierTest) args(id string, more ...string) []string {
	return append([]string{
		"run", "towers.parquet", "-o", "out-" + id, "--id", id, "--judge", "openai", "--model", "fake/verifier",
		"--cache", "judge.sqlite", "--set", "judge.base_url=" + v.server.URL(),
	}, more...)
}

func (v *verifierTest) run(id string, more ...string) (stderr string, code int) {
	v.Helper()
	_, stderr, code = command(v.T, v.dir, v.args(id, more...)...)
	return stderr, code
}

func (v *verifierTest) files() *liveTest {
	return &liveTest{T: v.T, dir: v.dir}
}

// TestLiveVerifiers scores all rows with small verifiers of each form of server: what is
// known is not asked again, a rescore without the server has the same bytes, and what
// they do not say is undefined.
func TestLiveVerifiers(t *testing.T) {
	t.Parallel()
	const rows = 60
	for _, tt := range []struct {
		name   string
		config judgetest.VerifierConfig
		faults int // that come first
		set    []string
		calls  int  // at most
		nli    bool // it is asked for contradictions
	}{
		{"TEI", judgetest.VerifierConfig{MaxTokens: 512}, 0, []string{"--set", "judge.protocol=classify"}, 20 * rows, true},
		{"two labels", judgetest.VerifierConfig{Labels: []string{"LABEL_0", "LABEL_1"}}, 1, []string{"--set", "judge.protocol=classify", "--set", "judge.prompts=second.yaml"}, 20*rows + 1, false},
		{"yes-no", judgetest.VerifierConfig{}, 0, []string{"--set", "judge.protocol=yes-no"}, 20 * rows, false},
		{"yes-no without logprobs", judgetest.VerifierConfig{Logprobs: "refused"}, 0, []string{"--set", "judge.protocol=yes-no", "--set", "judge.prompts=inverted.yaml"}, 20*rows + 1, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v := newVerifierTest(t, rows, judgetest.ServerConfig{Verifier: &tt.config, Faults: []judgetest.Fault{"503"}, FaultShare: float64(tt.faults), MaxFaults: tt.faults})
			stderr, code := v.run("first", tt.set...)
			counts, calls := v.server.Counts(), v.server.Log()
			files := v.files()
			m := files.manifest("first")
			if code != 0 || m.Status != runs.StatusComplete || m.Judge.Coverage() != 1 || m.Judge.Failed != 0 || m.Judge.AsksElsewhere {
				t.Fatalf("exit code %d, %s, %+v\n%s", code, m.Status, m.Judge, stderr)
			}
			t.Logf("%d rows, %d claims: %d calls with %d inputs, exit code %d, stderr %q", rows, m.Claims, counts.Requests, counts.Questions, code, stderr)
			if counts.Requests > tt.calls || calls[0].InFlight != 1 || len(calls) > 1 && calls[1].InFlight != 1 && !calls[0].Whole {
				t.Errorf("%d calls, want at most %d, the first alone (%d)", counts.Requests, tt.calls, calls[0].InFlight)
			}
			if counts.Twice > 0 {
				t.Errorf("%d inputs are asked about twice", counts.Twice)
			}
			if !strings.Contains(m.Judge.Prompt, ":") || m.Judge.Model != "fake/verifier" {
				t.Errorf("prompt %q, model %q", m.Judge.Prompt, m.Judge.Model)
			}

			want := files.results("first")
			if stderr, code := v.run("second", tt.set...); code != 0 {
				t.Fatalf("again: exit code %d\n%s", code, stderr)
			}
			files.same("from the cache", files.results("second"), want)
			if n := v.server.Counts().Requests - counts.Requests; n != 0 {
				t.Errorf("%d calls although every answer is known", n)
			}

			undefined := mustIbid(t, v.dir, "show", "runs/first", "--format", "json")
			contradiction := between(undefined, `"metric": "contradiction_rate"`, "}")
			if undefined := strings.Contains(contradiction, `"n": 0,`) && strings.Contains(contradiction, `"undefined": 60,`) && strings.Contains(contradiction, `"estimate": null`); undefined == tt.nli {
				t.Errorf("contradiction_rate: %s", contradiction)
			}
			row := mustIbid(t, v.dir, "show", "runs/first", "q-000001", "--format", "json")
			if reason := between(row, `"contradiction_rate"`, "}"); strings.Contains(reason, "not_asked") == tt.nli {
				t.Errorf("contradiction_rate of a row: %s", reason)
			}

			v.server.Close()
			if stderr, code := v.run("down", tt.set...); code != 0 {
				t.Errorf("with the server down: exit code %d\n%s", code, stderr)
			}
			if _, stderr, code := command(t, v.dir, "rescore", "runs/first", "--id", "rescored"); code != 0 {
				t.Fatalf("rescore: exit code %d\n%s", code, stderr)
			}
			got := files.results("rescored")
			for name, data := range want {
				if name != "manifest.json" && string(got[name]) != string(data) {
					t.Errorf("rescored: %s differs", name)
				}
			}
		})
	}
}

// between is what stands in text from one mark to the next.
func between(text, from, to string) string {
	_, rest, _ := strings.Cut(text, from)
	part, _, _ := strings.Cut(rest, to)
	return part
}

// TestLiveVerifierLabels: a classifier of which it is not known which label means support
// is refused before any row, and so is what a small verifier cannot be asked.
func TestLiveVerifierLabels(t *testing.T) {
	t.Parallel()
	v := newVerifierTest(t, 5, judgetest.ServerConfig{Verifier: &judgetest.VerifierConfig{Labels: []string{"LABEL_0", "LABEL_1"}}})
	classify := []string{"--set", "judge.protocol=classify"}
	for _, tt := range []struct {
		set  []string
		want string
	}{
		{nil, "none of the labels is known to mean support: LABEL_0, LABEL_1"},
		{[]string{"--set", "judge.prompts=third.yaml"}, "the model has no label supported: it has LABEL_0, LABEL_1"},
		{[]string{"--set", "judge.prompts=list.yaml"}, "list.yaml:1:1: want a mapping, got a list"},
		{[]string{"--set", "judge.prompts=api.yaml"}, `unknown field "api"`},
		{[]string{"--set", "judge.prompts=none.yaml"}, "none.yaml"},
		{[]string{"--set", "judge.template={like: pair}"}, "write it into a YAML file, and name that as judge.prompts"},
		{[]string{"--set", "judge.mode=pairwise"}, "set judge.protocol: score"},
		{[]string{"--model", "[a, b]"}, "of one model"},
		{[]string{"--set", "judge.necessity=true"}, "never which citations are needed"},
		{[]string{"--set", "judge.votes=3"}, "gets the same answer again"},
		{[]string{"--set", "claims=model"}, "makes no claims of sentences"},
	} {
		set := tt.set
		if len(set) < 4 {
			set = append(classify[:2:2], set...)
		}
		stderr, code := v.run("refused", set...)
		if code != 2 || !strings.Contains(stderr, tt.want) || !strings.Contains(stderr, "hint: ") {
			t.Errorf("%v: exit code %d, want %q\n%s", tt.set, code, tt.want, stderr)
		}
	}
	if n := v.server.Counts().Requests; n != 0 {
		t.Errorf("%d calls", n)
	}
	if _, err := os.Stat(filepath.Join(v.dir, "runs")); err == nil {
		t.Error("a refused run left something behind")
	}
	if stderr, code := v.run("named", append(classify, "--set", "judge.prompts=second.yaml")...); code != 0 {
		t.Errorf("a named label: exit code %d\n%s", code, stderr)
	}
}

// TestLiveVerifierDrained interrupts a run: what is under way is waited for, and no input
// is asked about twice when the run goes on.
func TestLiveVerifierDrained(t *testing.T) {
	t.Parallel()
	for _, set := range []string{"judge.protocol=classify", "judge.protocol=yes-no"} {
		t.Run(set, func(t *testing.T) {
			t.Parallel()
			v := newVerifierTest(t, 25, judgetest.ServerConfig{Verifier: &judgetest.VerifierConfig{}, Latency: judgetest.Constant(60 * time.Millisecond)})
			process := exec.Command("ibid", v.args("drained", "--set", set)...)
			process.Dir, process.Env = v.dir, environ(v.dir)
			if err := process.Start(); err != nil {
				t.Fatal(err)
			}
			for v.server.Counts().Requests < 5 {
				time.Sleep(time.Millisecond)
			}
			if err := process.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			if code := exitCode(process.Wait()); code != 130 {
				t.Errorf("exit code %d", code)
			}
			before := v.server.Counts().Requests
			if stderr, code := v.run("drained", "--set", set); code != 0 {
				t.Fatalf("exit code %d\n%s", code, stderr)
			}
			n := v.server.Counts()
			t.Logf("%d calls before, %d after", before, n.Requests-before)
			if n.Twice > 0 || n.Requests == before {
				t.Errorf("%d calls before, %d after; %d inputs are asked about twice", before, n.Requests-before, n.Twice)
			}
		})
	}
}
