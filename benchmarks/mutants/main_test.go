//go:build unix

package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const source1 = `package small

type set struct{ n []int }

func larger(a, b int) int {
	if a > b {
		return a
	}
	return b
}

func majority(n int) int { return n/2 + 1 }

func (s *set) add(x int) {
	for _, y := range s.n {
		if y == x {
			return
		}
	}
	s.n = append(s.n, x)
}

func unreached(a []string) string { return a[0] }

func pair(a, b int) int { return minus(a, b) }

func minus(a, b int) int { return a - b }

func forever(n int) (i int) {
	for i < n {
		i++
	}
	return i
}
`

const tests1 = `package small

import "testing"

func TestLarger(t *testing.T) {
	if larger(1, 2) != 2 || larger(2, 1) != 2 {
		t.Fail()
	}
}

func TestMajority(t *testing.T) {
	if majority(3) != 2 {
		t.Fail()
	}
}

func TestSet(t *testing.T) {
	s := new(set)
	s.add(4)
	s.add(4)
	if len(s.n) != 1 {
		t.Fail()
	}
}

func TestPair(t *testing.T) { pair(3, 2) }

func TestMinus(t *testing.T) {
	if minus(5, 3) != 2 {
		t.Fail()
	}
}

func TestForever(t *testing.T) {
	if forever(3) != 3 {
		t.Fail()
	}
}
`

// module makes a module with git in a folder and goes there.
func module(t *testing.T, source, tests string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"go.mod": "module small\n\ngo 1.26\n", "small.go": source, "small_test.go": tests} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func mutate(t *testing.T, o options, patterns ...string) string {
	t.Helper()
	o.workers, o.seed, o.timeout = 2, 1, 2e9
	var out strings.Builder
	if err := run(t.Context(), o, patterns, &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	return out.String()
}

// The tie of larger changes nothing, which the list says. A test that only calls does not
// notice swapped arguments, a set of one value does not notice which it is, and nothing
// reaches unreached. A loop that does not end is noticed.
func TestRun(t *testing.T) {
	module(t, source1, tests1)
	equivalent := filepath.Join(t.TempDir(), "equivalent.txt")
	if err := os.WriteFile(equivalent, []byte("small.go:larger: a > b -> a >= b: equal numbers are one\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	got := mutate(t, options{equivalent: equivalent}, ".")
	_, left, _ := strings.Cut(got, "not noticed:\n")
	want := `small.go:12: majority: 2 -> 3 (lived)
small.go:23: unreached: a[0] -> a[len(a)-1] (not covered)
small.go:23: unreached: 0 -> 1 (not covered)
small.go:25: pair: minus(a, b) -> minus(b, a) (lived)
`
	if left != want {
		t.Errorf("not noticed:\n%swant:\n%s", left, want)
	}
	if !strings.Contains(got, "| `.` | 20 | 20 | 15 | 2 | 2 | 1 | 78.9 % |") {
		t.Errorf("the table is\n%s", got)
	}
	t.Run("a sample", func(t *testing.T) {
		got := mutate(t, options{n: 5}, ".")
		if !strings.Contains(got, "| `.` | 20 | 5 (seed 1) |") || !strings.Contains(got, " % ± ") {
			t.Errorf("the table is\n%s", got)
		}
	})
	t.Run("a package that cannot be tried", func(t *testing.T) {
		var out strings.Builder
		err := run(t.Context(), options{workers: 2, n: 1, seed: 1, timeout: 2e9}, []string{"./nowhere", "."}, &out)
		if err == nil || !strings.HasPrefix(err.Error(), "./nowhere: ") || !strings.Contains(out.String(), "| `.` | 20 | 1 (seed 1) |") {
			t.Errorf("run gives %v and prints\n%s", err, out.String())
		}
	})
	t.Run("no time", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "table.md")
		if err := os.WriteFile(file, []byte("before\n"+tableHead+"| `.` | old |\n\nbehind\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		err := run(t.Context(), options{workers: 2, limit: 1, write: file}, []string{"."}, &out)
		if err == nil || err.Error() != "too few mutants were noticed: ." || !strings.Contains(out.String(), ".: no time for 20 mutants") {
			t.Errorf("run gives %v and prints\n%s", err, out.String())
		}
		want := "before\n" + tableHead + "| `.` | old |\n\nbehind\n"
		if text, err := os.ReadFile(file); err != nil || string(text) != want {
			t.Errorf("%v, the table is\n%s", err, text)
		}
	})
	t.Run("an entry that is no mutant", func(t *testing.T) {
		if err := os.WriteFile(equivalent, []byte("small.go:larger: a < b -> a <= b: there is none\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		err := run(t.Context(), options{equivalent: equivalent}, []string{"."}, new(strings.Builder))
		if err == nil || !strings.Contains(err.Error(), "a < b -> a <= b") {
			t.Errorf("run gives %v, want the entry named", err)
		}
	})
}

func TestChanged(t *testing.T) {
	module(t, source1, tests1)
	git(t, "init", "-q")
	git(t, "add", ".")
	git(t, "commit", "-q", "-m", "small")
	if got := mutate(t, options{changed: "HEAD"}); !strings.HasPrefix(got, "no line") {
		t.Errorf("nothing changed, and run prints\n%s", got)
	}
	changed := strings.Replace(source1, "return minus(a, b)", "return minus(a+0, b)", 1)
	if err := os.WriteFile("small.go", []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
	got := mutate(t, options{changed: "HEAD"})
	if !strings.Contains(got, "| `.` | 23 | 4 | 0 | 4 |") || !strings.Contains(got, "small.go:25: pair: 0 -> 1 (lived)") {
		t.Errorf("one line changed, and run prints\n%s", got)
	}
}

// TestTimeEnds: where the time ends in the tests of the package, nothing is said of what comes
// behind the first mutant that was not asked; where it ends in those of others, what lived did.
func TestTimeEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	list := []*mutant{{id: 0}, {id: 1}, {id: 2}, {id: 3}}
	reached := map[int][]*oneTest{1: {{}}, 2: {{}}, 3: {{}}}
	tests := &tests{reachedBy: reached, options: options{workers: 1}}
	results := []string{"not covered", "killed", "lived", "not covered"}
	first, err := tests.askAll(ctx, list, results)
	if want := []string{"not covered", "killed", "lived", "not covered"}; err != nil || first != 2 || !slices.Equal(results, want) {
		t.Errorf("%d, %v, %q, want 2 and %q", first, err, results, want)
	}
}

// TestError is that of a share of a sample without putting back: 0 where all are tried.
func TestError(t *testing.T) {
	r := row{name: "p", all: 200, sampled: true, seed: 7}
	for i := range 100 {
		r.outcomes = append(r.outcomes, outcome{&mutant{}, []string{"killed", "lived", "killed", "killed"}[i%4]})
	}
	if got := r.String(); !strings.Contains(got, "| 100 (seed 7) | 75 | 25 | 0 | 0 | 75.0 % ± 6.0 |") {
		t.Error(got)
	}
	if r.all, r.sampled = 100, false; strings.Contains(r.String(), "±") {
		t.Error(r.String())
	}
}

func git(t *testing.T, args ...string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not here")
	}
	c := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// every has each kind of change once or more, where the language is strict about constants,
// endings and types.
const every = `package small

import "time"

const limit = 10

type degree uint8

const (
	none degree = iota
	full
)

var table = [3]string{1: "a"}
var wait = 2 * time.Second

func kinds(a, b int, f float64, d degree, names []string, m map[degree]bool) (int, error) {
	sum := a*b - a/b%limit
	switch d {
	case none:
		sum++
	case full, 7:
		sum -= 2
	default:
		sum += int(f * 0.5)
	}
	for i := range names {
		if i < a && names[i] == "x" || !m[full] {
			continue
		}
		if a&b|1 >= min(a, limit) {
			break
		}
		sum += max(len(names), -b)
	}
	for {
		if sum++; sum > limit {
			return sum, nil
		}
		if ok(names[len(names)-1]) {
			continue
		}
		defer ok("")
		panic("no")
	}
}

func ok(s string) bool { return true }
`

func TestEvery(t *testing.T) {
	module(t, every, "package small\n")
	list, err := load(".")
	if err != nil {
		t.Fatal(err)
	}
	s := list[0]
	if err := s.find(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range s.mutants {
		got = append(got, m.change)
	}
	want := strings.Split(strings.TrimSpace(everyWant), "\n")
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("mutants are\n%s\nwant\n%s", strings.Join(got, "\n"), everyWant)
		}
	}
	text, _ := s.write("small.go")
	if got, want := strings.Count(text, "\n"), strings.Count(every, "\n"); got != want {
		t.Errorf("the source has %d lines with its mutants, %d without", got, want)
	}
}

const everyWant = `
2 * time.Second -> 2000000001
a*b - a/b%limit -> a*b + a/b%limit
a*b - a/b%limit -> a*b
a*b -> a / b
a/b%limit -> a/b * limit
a/b -> a * b
limit -> 11
none -> 1
sum++ -> sum--
sum++ -> nothing
full -> 2
7 -> 8
sum -= 2 -> sum += 2
sum -= 2 -> nothing
2 -> 3
sum += int(f * 0.5) -> sum -= int(f * 0.5)
sum += int(f * 0.5) -> nothing
f * 0.5 -> f / 0.5
0.5 -> 0.5+1
i < a && names[i] == "x" || !m[full] -> i < a && names[i] == "x" && !m[full]
i < a && names[i] == "x" -> i < a || names[i] == "x"
i < a -> i <= a
i < a -> i >= a
names[i] == "x" -> names[i] != "x"
m[full] -> !m[full]
full -> 2 #2
continue -> break
continue -> nothing
a&b|1 >= min(a, limit) -> a&b|1 > min(a, limit)
a&b|1 >= min(a, limit) -> a&b|1 < min(a, limit)
a&b|1 -> a&b & 1
a&b -> a | b
1 -> 2
min(a, limit) -> max(a, limit)
limit -> 11 #2
break -> continue
break -> nothing
sum += max(len(names), -b) -> sum -= max(len(names), -b)
sum += max(len(names), -b) -> nothing
max(len(names), -b) -> min(len(names), -b)
-b -> b
sum++ -> sum-- #2
sum > limit -> sum >= limit
sum > limit -> sum <= limit
limit -> 11 #3
return sum, nil -> nothing
ok(names[len(names)-1]) -> !ok(names[len(names)-1])
names[len(names)-1] -> names[0]
len(names)-1 -> len(names) + 1
len(names)-1 -> len(names)
1 -> 2 #2
continue -> nothing #2
defer ok("") -> nothing
true -> !true
`
