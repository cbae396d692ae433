//go:build linux

package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
)

var (
	torture = flag.Bool("torture", false, "the whole of TestTorture, which takes minutes (make torture)")
	kills   = flag.Int("kills", 200, "how often -torture kills each command")
)

// An ordeal is a line of the table of TestTorture: one way to damage or to interrupt.
type ordeal struct {
	what    string
	tried   int
	crashed int // a panic, a fatal error, a signal that nobody sent
	hung    int // longer than hungAfter
	lost    int // something finished was gone, or the command did not end in its result afterwards
	wrong   int // changed without a word where a checksum exists, half a file under a final name, something left behind
	memory  int64
	slowest time.Duration
	note    string
}

// hungAfter is how long anything of the torture may take.
const hungAfter = 30 * time.Second

// part is n in the whole torture, and few of the seeded part that make test has.
func part(few, n int) int {
	if *torture {
		return n
	}
	return few
}

// fault counts what went wrong and says it. Of each kind the first few are told.
func (o *ordeal) fault(t *testing.T, count *int, format string, args ...any) {
	t.Helper()
	*count++
	if *count <= 5 {
		t.Errorf("%s: "+format, append([]any{o.what}, args...)...)
	}
}

// took notes what one try needed.
func (o *ordeal) took(d time.Duration, memory int64) {
	o.tried++
	o.slowest, o.memory = max(o.slowest, d), max(o.memory, memory)
}

// tortured runs a command in dir as part of an ordeal, and ends it when it hangs.
func (o *ordeal) tortured(t *testing.T, dir string, cmd *exec.Cmd) process {
	t.Helper()
	cmd.Dir = dir
	timer := time.AfterFunc(hungAfter, func() { _ = cmd.Process.Kill() })
	p := watched(t, cmd)
	switch {
	case !timer.Stop():
		o.fault(t, &o.hung, "%q ran for %v", cmd.Args, p.took)
	case p.crashed():
		o.fault(t, &o.crashed, "%q ended with %d:\n%.2000s", cmd.Args, p.code, p.stderr)
	}
	o.took(p.took, p.peak)
	return p
}

// TestTorture damages what ibid reads and interrupts what it writes, in every way that
// SECURITY.md has in its table. make torture runs all of it and writes the table.
func TestTorture(t *testing.T) {
	if raced() || testing.Short() {
		t.Skip("-short, or the race detector, which makes everything ten times as slow and large")
	}
	var table []*ordeal
	for _, group := range []struct {
		name string
		run  func(t *testing.T) []*ordeal
	}{
		{"mutations", tortureMutations},
		{"bombs", tortureBombs},
		{"interruptions", tortureCommands},
	} {
		t.Run(group.name, func(t *testing.T) {
			started := time.Now()
			table = append(table, group.run(t)...)
			t.Logf("%.0f s", time.Since(started).Seconds())
		})
	}
	text := tortureTable(table)
	t.Log("\n" + text)
	checkTortureTable(t, table, text)
}

// tortureTable is the table in Markdown.
func tortureTable(table []*ordeal) string {
	var b strings.Builder
	b.WriteString("| what | tried | crashed | hung | lost | wrong | most memory | slowest | |\n|---|---:|---:|---:|---:|---:|---:|---:|---|\n")
	sum := ordeal{what: "**all**"}
	for _, o := range table {
		writeOrdeal(&b, o)
		sum.tried += o.tried
		sum.crashed += o.crashed
		sum.hung += o.hung
		sum.lost += o.lost
		sum.wrong += o.wrong
		sum.memory, sum.slowest = max(sum.memory, o.memory), max(sum.slowest, o.slowest)
	}
	writeOrdeal(&b, &sum)
	return b.String()
}

func writeOrdeal(b *strings.Builder, o *ordeal) {
	fmt.Fprintf(b, "| %s | %d | %d | %d | %d | %d | %d MB | %.2f s | %s |\n",
		o.what, o.tried, o.crashed, o.hung, o.lost, o.wrong, o.memory>>20, o.slowest.Seconds(), o.note)
}

// Where SECURITY.md has its table.
const tortureBegins, tortureEnds = "<!-- make torture -->\n", "<!-- end -->\n"

var tortureLine = regexp.MustCompile(`(?m)^\| (.+?) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|`)

// checkTortureTable wants SECURITY.md to have a line for each ordeal, and in none of them
// anything that went wrong. The whole torture with -update writes the lines.
func checkTortureTable(t *testing.T, table []*ordeal, text string) {
	t.Helper()
	path := filepath.Join("..", "..", "SECURITY.md")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(data), tortureBegins)
	had, after, ends := strings.Cut(rest, tortureEnds)
	if !ok || !ends {
		t.Fatalf("%s has no place for the table", path)
	}
	if *torture && *update {
		if err := os.WriteFile(path, []byte(before+tortureBegins+text+tortureEnds+after), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	lines := make(map[string]bool)
	for _, m := range tortureLine.FindAllStringSubmatch(had, -1) {
		lines[m[1]] = true
		if got := strings.Join(m[3:], " "); got != "0 0 0 0" {
			t.Errorf("%s says of %q: crashed, hung, lost, wrong %s", path, m[1], got)
		}
	}
	for _, o := range table {
		if !lines[o.what] {
			t.Errorf("%s has no line for %q: make torture writes it", path, o.what)
		}
	}
}

// tortureBombs runs the files of TestBombs, which make test has anyway, and inputs of other
// kinds that are larger than their bytes.
func tortureBombs(t *testing.T) []*ordeal {
	refused, scored, foreign := &ordeal{what: "bombs: Parquet"}, &ordeal{what: "bombs: Parquet without a fault"}, &ordeal{what: "bombs: other inputs"}
	try := func(o *ordeal, most int64, name, file string, data []byte, args ...string) {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, file), data, 0o666); err != nil {
				t.Fatal(err)
			}
			p := o.tortured(t, dir, exec.CommandContext(t.Context(), "ibid", args...))
			t.Logf("%d bytes, exit code %d, %d MB, %.2f s: %.200s", len(data), p.code, p.peak>>20, p.took.Seconds(), strings.TrimSpace(p.stderr))
			if p.peak > most || p.took > 10*refusedTime {
				o.fault(t, &o.wrong, "%s: %d MB, %v", name, p.peak>>20, p.took)
			}
			if o != scored && (p.code == 0 || p.stderr == "") {
				o.fault(t, &o.wrong, "%s: exit code %d and nothing said: %q", name, p.code, p.stderr)
			}
		})
	}
	if !*torture { // TestBombs and TestValidBombs have the others
		b := otherBombs[0]
		try(foreign, textMemory, b.name, b.file, b.make(), b.args...)
		return []*ordeal{foreign}
	}
	for _, b := range slices.Concat(bombs, own) {
		try(refused, refusedMemory, b.name, "answers.parquet", b.make(), "run", "answers.parquet", "--judge", "none", "--id", "b")
	}
	for _, b := range validBombs {
		try(scored, validMemory, b.name, "answers.parquet", b.make(), "run", "answers.parquet", "--judge", "none", "-q", "--id", "b")
	}
	for _, b := range otherBombs {
		try(foreign, textMemory, b.name, b.file, b.make(), b.args...)
	}
	return []*ordeal{refused, scored, foreign}
}

// An otherBomb is an input other than Parquet that is larger than it looks.
type otherBomb struct {
	name, file string
	make       func() []byte
	args       []string
}

var otherBombs = []otherBomb{
	{"aliases of aliases in a run file", "ibid.yaml", func() []byte {
		var b strings.Builder
		b.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x]\n")
		for i := range 12 {
			fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i), 9), ", "))
		}
		return []byte(b.String() + "dataset: *a12\n")
	}, []string{"run", "ibid.yaml"}},
	{"a million levels of a run file", "ibid.yaml", func() []byte {
		return []byte("dataset: " + strings.Repeat("[", 1<<20))
	}, []string{"run", "ibid.yaml"}},
	{"a million levels of JSON", "a.jsonl", func() []byte {
		return []byte(`{"id":"1","query":"q","answer":"a","x":` + strings.Repeat("[", 1<<20) + "\n")
	}, []string{"import", "jsonl", "a.jsonl", "-o", "a.parquet"}},
	{"gzip of 1 GB of one line", "a.jsonl.gz", func() []byte { return gzipZeros(1 << 30) }, []string{"import", "jsonl", "a.jsonl.gz", "-o", "a.parquet"}},
	{"zstd of 1 GB of one line", "a.jsonl.zst", func() []byte { return zstdZeros(1 << 30) }, []string{"import", "jsonl", "a.jsonl.zst", "-o", "a.parquet"}},
	{"gzip in gzip", "a.jsonl.gz", func() []byte {
		return gzipOf("", gzipZeros(1<<30), 1)
	}, []string{"import", "jsonl", "a.jsonl.gz", "-o", "a.parquet"}},
	{"a quote of CSV without an end", "a.csv.gz", func() []byte {
		return gzipOf("id,query,answer\n1,q,\"", bytes.Repeat([]byte("x\n"), 1<<19), 1<<10)
	}, []string{"import", "csv", "a.csv.gz", "-o", "a.parquet"}},
	{"one JSON value of 1 GB", "a.json.gz", func() []byte {
		return gzipOf(`[{"id":"`, bytes.Repeat([]byte("x"), 1<<20), 1<<10)
	}, []string{"import", "openai", "a.json.gz", "-o", "a.parquet"}},
	{"a table of labels of one endless line", "labels.jsonl", func() []byte {
		return append([]byte(`{"item":"1","value":`), bytes.Repeat([]byte("9"), 200<<20)...)
	}, []string{"agree", "labels.jsonl"}},
}

// gzipOf packs a head and a block many times.
func gzipOf(head string, block []byte, times int) []byte {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, 1)
	if err != nil {
		panic(err)
	}
	_, err = w.Write([]byte(head))
	for range times {
		if err == nil {
			_, err = w.Write(block)
		}
	}
	if err := errors.Join(err, w.Close()); err != nil {
		panic(err)
	}
	return out.Bytes()
}
