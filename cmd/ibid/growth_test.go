package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestGrowth: what a command costs grows with the rows and no faster. Rows double three
// times. What a command allocates, in bytes and in pieces, must grow as their power
// mostExponent at most, start-up aside; something quadratic has 2. CPU time, which other
// processes disturb, may grow twice as much as the rows.
func TestGrowth(t *testing.T) {
	t.Parallel()
	if testing.Short() || raced() {
		t.Skip("-short, or the race detector, which adds its own time to each")
	}
	checkGrowth(t, "rows", 128, 1.3, growing, func(n int) []byte { return judgedRows(n, 2) })
}

// TestGrowthOfSystems is [TestGrowth] for systems of two rows each, up to almost as many as a
// dataset may have. They grow more evenly than rows, so that the power may be less.
func TestGrowthOfSystems(t *testing.T) {
	t.Parallel()
	if testing.Short() || raced() {
		t.Skip("-short, or the race detector, which adds its own time to each")
	}
	checkGrowth(t, "systems", 50, 1.2, growingBySystem, func(n int) []byte { return judgedRows(2*n, n) })
}

func checkGrowth(t *testing.T, what string, fewest int, mostExponent float64, growing [][3]string, rows func(n int) []byte) {
	const mostTime = 2 * 8
	var costs [4]map[string]spent
	for i := range costs {
		costs[i] = growth(t, growing, rows(fewest<<i))
	}
	seen := make(map[string]bool)
	for _, line := range growing {
		name := line[0]
		if seen[name] {
			continue
		}
		seen[name] = true
		var bytes, pieces [4]float64
		for i, c := range costs {
			bytes[i], pieces[i] = c[name].bytes, c[name].pieces
		}
		first, last := costs[0][name].cpu, costs[3][name].cpu
		inBytes, inPieces := exponent(bytes, 1<<20), exponent(pieces, 5000)
		t.Logf("%-11s %7.1f MB, exponent %5.2f; %8.0f pieces, exponent %5.2f; %5.2f s", name, bytes[3]/1e6, inBytes, pieces[3], inPieces, last.Seconds())
		if inBytes > mostExponent || inPieces > mostExponent {
			t.Errorf("%s: what it allocates grows as the power %.2f of the %s, in pieces %.2f: %.0f, %.0f", name, inBytes, what, inPieces, bytes, pieces)
		}
		// A tenth of a second is the least that can be told from chance.
		if last > mostTime*max(first, 100*time.Millisecond) {
			t.Errorf("%s: %v for %d %s, %v for %d", name, first, fewest, what, last, fewest<<3)
		}
	}
}

// growing are the commands of TestGrowth, each with its name and, where it has one, its
// standard input. They follow each other in one folder.
var growing = [][3]string{
	{"import", "import jsonl a.jsonl -o a.parquet"},
	{"dry run", "run a.parquet --dry-run"},
	{"run", "run ibid.yaml --id a"},
	{"other", "run ibid.yaml --id b --set span_matching.tolerance_chars=3"},
	{"range", "score ibid.yaml --rows 0: -o parts/0"},
	{"join", "summary parts/0 -o runs/m"},
	{"score", "score ibid.yaml --format jsonl -o scored.arrow", "a.jsonl"},
	{"summary", "summary ibid.yaml runs/a/rows.parquet -o runs/s"},
	{"rescore", "rescore runs/a --set span_matching.tolerance_chars=5"},
	{"sample", "sample a.parquet --seed 1 -o blind"},
	{"agree", "agree a.parquet"},
	{"calibrate", "calibrate runs/a"},
	{"show", "show runs/a"},
	{"failing", "show runs/a --failing"},
	{"all failing", "show runs/a --failing --format csv"},
	{"row", "show runs/a q-000001/left"},
	{"compare", "compare runs/a runs/b --force"},
	{"gate", "gate runs/a --gate char_f1>=0"},
	{"report", "report runs/a -o page.html"},
	{"history", "history runs"},
}

// growingBySystem are those of TestGrowthOfSystems.
var growingBySystem = [][3]string{
	{"import", "import jsonl a.jsonl -o a.parquet"},
	{"run", "run ibid.yaml --id a"},
	{"summary", "summary ibid.yaml runs/a/rows.parquet -o runs/s"},
	{"show", "show runs/a"},
	{"compare", "compare runs/a --by system"},
	{"gate", "gate runs/a --gate char_f1>=0"},
	{"report", "report runs/a -o page.html"},
}

// What a command spent, beyond a start.
type spent struct {
	bytes, pieces float64 // allocated
	cpu           time.Duration
}

// exponent is the power of n that costs grow as over n, 2n, 4n and 8n, whatever does not
// grow: the slope from the first difference to the last. Growth of less than least in all,
// and what grows less at last than at first, is 0.
func exponent(costs [4]float64, least float64) float64 {
	first, last := costs[1]-costs[0], costs[3]-costs[2]
	if costs[3]-costs[0] < least || last <= first {
		return 0
	}
	return math.Log2(last/max(first, least/8)) / 2
}

// TestExponent: the powers of known costs.
func TestExponent(t *testing.T) {
	for _, tt := range []struct {
		what  string
		of    func(n float64) float64
		power float64
	}{
		{"constant", func(float64) float64 { return 1e6 }, 0},
		{"linear", func(n float64) float64 { return 1e5 + 100*n }, 1},
		{"quadratic", func(n float64) float64 { return 1e5 + n*n }, 2},
		{"bounded", func(n float64) float64 { return 1e5 + 100*min(n, 2000) }, 0},
		{"a little", func(n float64) float64 { return n * n / 1e4 }, 0},
	} {
		if got := exponent([4]float64{tt.of(1000), tt.of(2000), tt.of(4000), tt.of(8000)}, 1e4); math.Abs(got-tt.power) > 0.01 {
			t.Errorf("%s: exponent %.2f, want %.2f", tt.what, got, tt.power)
		}
	}
}

// growth is what each command costs over rows.
func growth(t *testing.T, growing [][3]string, rows []byte) map[string]spent {
	t.Helper()
	dir := t.TempDir()
	settings := "dataset: a.parquet\njudge: lexical\nlimits: 10\nrows_per_part: 128\n"
	for name, text := range map[string][]byte{"a.jsonl": rows, "ibid.yaml": []byte(settings)} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	start := cost(t, dir, "", "--version")
	all := make(map[string]spent)
	for _, line := range growing {
		c := cost(t, dir, line[2], strings.Fields(line[1])...)
		before := all[line[0]]
		all[line[0]] = spent{before.bytes + c.bytes - start.bytes, before.pieces + c.pieces - start.pieces, before.cpu + max(0, c.cpu-start.cpu)}
	}
	return all
}

// judgedRows are n answers of so many systems as JSON Lines, those to a question with its
// document, places that two people marked and labels of one. Of two systems the names are
// left and right.
func judgedRows(n, systems int) []byte {
	type object = map[string]any
	random := rand.New(rand.NewPCG(1, 1))
	words := strings.Fields("the old bridge over a river was built by people of this town in early spring and stood for many years until one flood took it")
	sentence := func() string {
		var s []string
		for range 6 + random.IntN(6) {
			s = append(s, words[random.IntN(len(words))])
		}
		return strings.Join(s, " ") + ". "
	}
	name := func(k int) string {
		if systems == 2 {
			return []string{"left", "right"}[k]
		}
		return fmt.Sprintf("system-%04d", k)
	}
	var out bytes.Buffer
	lines := json.NewEncoder(&out)
	for i := range n {
		doc, text := fmt.Sprintf("doc-%d", i/systems), ""
		var begins []int
		for range 8 {
			begins = append(begins, len(text))
			text += sentence()
		}
		place := func() object {
			k := random.IntN(len(begins) - 1)
			return object{"doc": doc, "start": begins[k], "end": begins[k+1] - 1 - random.IntN(3)}
		}
		cited := place()
		cited["citation_id"], cited["claim_id"] = "s", "c"
		claim := text[cited["start"].(int):cited["end"].(int)]
		if random.IntN(3) == 0 {
			claim = sentence()
		}
		var marks []object
		for _, who := range []string{"ada", "ben"}[:1+random.IntN(2)] {
			m := place()
			m["annotator"] = who
			marks = append(marks, m)
		}
		row := object{
			"id": fmt.Sprintf("q-%06d", i/systems), "system": name(i % systems), "query": "what was built?", "answer": claim,
			"claims": []object{{"claim_id": "c", "text": claim}}, "citations": []object{cited, place()}, "truth": marks, "documents": []object{{"doc": doc, "text": text}},
			"labels": []object{{"annotator": "ada", "claim_id": "c", "citation_id": "s", "kind": "support", "value": random.IntN(2)}},
			"tags":   object{"lang": []string{"de", "en"}[random.IntN(2)]},
		}
		if err := lines.Encode(row); err != nil {
			panic(err)
		}
	}
	return out.Bytes()
}

// allocatedFile is the variable that names the file in which ibid, as a test runs it,
// leaves how many bytes it has allocated and in how many pieces.
const allocatedFile = "IBID_TEST_ALLOCATED"

// leaveAllocated writes that file if it is wanted.
func leaveAllocated() {
	path := os.Getenv(allocatedFile)
	if path == "" {
		return
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if err := os.WriteFile(path, fmt.Appendf(nil, "%d %d", m.TotalAlloc, m.Mallocs), 0o666); err != nil {
		panic(err)
	}
}

// cost is what a command spends, whatever its exit code, unless it cannot be used so. It
// has one processor, so that as many buffers are made as anywhere.
func cost(t *testing.T, dir, stdin string, args ...string) (c spent) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "ibid", append(args, "-q")...)
	left := filepath.Join(dir, "allocated")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), allocatedFile+"="+left, "GOMAXPROCS=1", "GOGC=")
	if stdin != "" {
		in, err := os.Open(filepath.Join(dir, stdin))
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		cmd.Stdin = in
	}
	out, err := cmd.CombinedOutput()
	if code := exitCode(err); code != 0 && code != 3 {
		t.Fatalf("ibid %q: exit code %d\n%s", args, code, out)
	}
	text, err := os.ReadFile(left)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscan(string(text), &c.bytes, &c.pieces); err != nil {
		t.Fatal(err)
	}
	c.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return c
}
