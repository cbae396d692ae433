package acts

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ibid/dataset/disk"
)

func mark(id, item string, start, end int64) Act {
	return Act{ID: id, Item: item, Op: OpMark, Args: &Args{Doc: "a.txt", Start: &start, End: &end}}
}

func done(id, item, part string) Act {
	return Act{ID: id, Item: item, Op: OpDone, Args: &Args{Part: part}}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestJournal: acts are there again, repeated ones once, and the filled items follow.
func TestJournal(t *testing.T) {
	dir := t.TempDir()
	j, err := Open(dir, "ada")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, "ada"); !errors.Is(err, disk.ErrHeld) {
		t.Errorf("a second writer: %v", err)
	}
	half := 0.5
	for _, a := range []Act{
		mark("a", "item-0001", 3, 9), mark("a", "item-0001", 4, 5), done("b", "item-0001", Truth),
		mark("c", "item-0002", 1, 2),
		{ID: "d", Item: "item-0003", Op: OpNone},
		done("e", "item-0003", Truth),
		{ID: "f", Item: "item-0003", Op: OpLabel, Args: &Args{ClaimID: "c1", Kind: "support", Value: &half}},
		done("g", "item-0003", Labels),
	} {
		if _, err := j.Append(a); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		act  Act
		want string
	}{
		{Act{Item: "x", Op: OpNone}, "id"},
		{Act{ID: "z", Item: "x", Op: "sing"}, "unknown op"},
		{Act{ID: "z", Item: "item-0002", Op: OpUndo, Of: "a"}, "no act"},
		{Act{ID: "z", Item: "x", Op: OpUndo}, "which act"},
		{mark("z", "x", 4, 4), "start and end"},
		{Act{ID: "z", Item: "x", Op: OpDone, Args: &Args{Part: "all"}}, "unknown part"},
		{Act{ID: "z", Item: "x", Op: OpLabel}, "kind"},
	} {
		if _, err := j.Append(c.act); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.act, err, c.want)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	const filled = `{"id":"item-0001","query":"","answer":"","truth":[{"doc":"a.txt","start":3,"end":9}],"labels":[]}
{"id":"item-0003","query":"","answer":"","truth":[],"labels":[{"claim_id":"c1","kind":"support","value":0.5}]}
`
	if got := read(t, FilledPath(dir, "ada")); got != filled {
		t.Errorf("filled:\n%s", got)
	}

	// A line that was not finished is cut off, by the writer alone.
	path := JournalPath(dir, "ada")
	whole := read(t, path)
	torn := whole + `{"id":"h","seq":9,"item":"item-0002","op":"done","args":{"part":"truth"}}`
	if err := os.WriteFile(path, []byte(torn), 0o666); err != nil {
		t.Fatal(err)
	}
	if all, err := wholeActs(dir, "ada"); err != nil || len(all) != 7 || read(t, path) != torn {
		t.Errorf("reading: %d acts, %v", len(all), err)
	}
	if err := os.Remove(FilledPath(dir, "ada")); err != nil {
		t.Fatal(err)
	}
	if j, err = Open(dir, "ada"); err != nil {
		t.Fatal(err)
	}
	if got := read(t, path); got != whole {
		t.Errorf("the torn line is there: %q", got[len(whole):])
	}
	if got := read(t, FilledPath(dir, "ada")); got != filled {
		t.Errorf("made again:\n%s", got)
	}
	if _, err := j.Append(done("h", "item-0002", Truth)); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(read(t, FilledPath(dir, "ada")), "\n"); got != 3 {
		t.Errorf("%d filled items, want 3", got)
	}
	j.Close()

	if err := os.WriteFile(path, []byte("{}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, "ada"); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("a line that is no act: %v", err)
	}
}

// TestFullDisk: an act that could not be written is not there, and the next one is whole.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	j, err := Open(dir, "ada")
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if _, err := j.Append(mark("a", "x", 0, 1)); err != nil {
		t.Fatal(err)
	}
	readOnly, err := disk.Open(JournalPath(dir, "ada"), os.O_RDONLY)
	if err != nil {
		t.Fatal(err)
	}
	good := j.file
	j.file = readOnly
	if _, err := j.Append(mark("b", "x", 1, 2)); err == nil {
		t.Error("written to a file that cannot be written")
	}
	if _, err := j.Append(mark("c", "x", 1, 2)); err == nil || !strings.Contains(err.Error(), "cannot be written") {
		t.Errorf("a broken journal: %v", err)
	}
	readOnly.Close()
	j.file, j.broken = good, nil
	if _, err := j.Append(mark("b", "x", 1, 2)); err != nil {
		t.Fatal(err)
	}
	if all, err := wholeActs(dir, "ada"); err != nil || len(all) != 2 || all[1].ID != "b" || all[1].Seq != 2 {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestFold: undoing goes back without end, and can itself be undone.
func TestFold(t *testing.T) {
	at := func(v int64) *int64 { return &v }
	all := []Act{
		mark("a", "x", 0, 5),
		{ID: "b", Op: OpMove, Of: "a", Args: &Args{Start: at(1), End: at(6)}},
		mark("c", "x", 8, 9),
		{ID: "d", Op: OpRemove, Of: "a"},
		done("e", "x", Truth),
		{ID: "f", Op: OpNone},
		{ID: "g", Op: OpUndo, Of: "f"},
		{ID: "h", Op: OpUndo, Of: "e"},
		{ID: "i", Op: OpUndo, Of: "d"},
		{ID: "j", Op: OpUndo, Of: "c"},
		{ID: "k", Op: OpUndo, Of: "b"},
		{ID: "l", Op: OpUndo, Of: "a"},
		{ID: "m", Op: OpUndo, Of: "l"},
		{ID: "n", Op: OpSkip, Args: &Args{Part: Truth}},
	}
	for n, want := range []string{
		"[]", "[0-5]", "[1-6]", "[1-6 8-9]", "[8-9]", "[8-9] done", "[] none done", "[8-9] done", "[8-9]", "[1-6 8-9]", "[1-6]", "[0-5]", "[]", "[0-5]", "[0-5] skip",
	} {
		s := Fold(all[:n])
		var marks []string
		for _, m := range s.Marks {
			marks = append(marks, fmt.Sprintf("%d-%d", m.Start, m.End))
		}
		got := fmt.Sprint(marks)
		if s.None {
			got += " none"
		}
		if s.Done[Truth] {
			got += " done"
		}
		if s.Skip[Truth] {
			got += " skip"
		}
		if got != want {
			t.Errorf("after %d acts: %s, want %s", n, got, want)
		}
	}
	// Taking the last mark away leaves open whether there is something to mark.
	s := Fold([]Act{mark("a", "x", 0, 5), done("b", "x", Truth), {ID: "c", Op: OpRemove, Of: "a"}})
	if it, ok := s.Filled("x"); ok || it.Truth != nil {
		t.Errorf("%+v", it)
	}
	// The last answer to a question counts, and one may be taken back.
	one, half := 1.0, 0.5
	label := func(id string, v *float64) Act {
		return Act{ID: id, Op: OpLabel, Args: &Args{ClaimID: "c", Kind: "support", Value: v}}
	}
	s = Fold([]Act{label("a", &one), label("b", &half), label("c", nil), {ID: "d", Op: OpUndo, Of: "c"}, done("e", "x", Labels)})
	if it, ok := s.Filled("x"); !ok || it.Truth != nil || len(it.Labels) != 1 || *it.Labels[0].Value != 0.5 {
		t.Errorf("%+v", it)
	}
}

// TestKilled: what was said to be saved is there after the process is killed at any
// moment, and no line is half.
func TestKilled(t *testing.T) {
	if dir := os.Getenv("ACTS_KILLED_DIR"); dir != "" {
		j, err := Open(dir, "ada")
		if err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		for i := 0; ; i++ {
			id := fmt.Sprintf("%s-%d", os.Getenv("ACTS_KILLED_RUN"), i)
			for _, a := range []Act{mark(id, "item-"+id, 0, 1), done(id+"d", "item-"+id, Truth)} {
				if _, err := j.Append(a); err != nil {
					fmt.Println("error", err)
					os.Exit(1)
				}
				fmt.Println("saved", a.ID)
			}
		}
	}
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(1, 2))
	saved := make(map[string]bool)
	kills := 40
	if testing.Short() {
		kills = 5
	}
	for run := range kills {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilled$")
		cmd.Env = append(os.Environ(), "ACTS_KILLED_DIR="+dir, fmt.Sprintf("ACTS_KILLED_RUN=%d", run))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines, after := bufio.NewScanner(out), random.IntN(12)
		for n := 0; lines.Scan(); n++ {
			id, ok := strings.CutPrefix(lines.Text(), "saved ")
			if !ok {
				t.Fatal(lines.Text())
			}
			saved[id] = true
			if n == after {
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		_ = cmd.Wait() // it was killed
	}
	j, err := Open(dir, "ada")
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	for _, a := range j.Acts() {
		delete(saved, a.ID)
	}
	for id := range saved {
		t.Errorf("%s was said to be saved", id)
	}
	if text := read(t, JournalPath(dir, "ada")); !strings.HasSuffix(text, "}\n") || strings.Count(text, "\n") != len(j.Acts()) {
		t.Errorf("%d lines for %d acts", strings.Count(text, "\n"), len(j.Acts()))
	}
	if names, _ := filepath.Glob(filepath.Join(dir, ".*")); len(names) > 1 {
		t.Errorf("left: %q", names) // the last one that was killed may leave one
	}
}

// wholeActs reads the acts of an annotator without a lock; what is being appended to the
// file is not seen.
func wholeActs(dir, annotator string) ([]Act, error) {
	path := JournalPath(dir, annotator)
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return readActs(data[:bytes.LastIndexByte(data, '\n')+1], path)
}
