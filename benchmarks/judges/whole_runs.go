//go:build unix

package main

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"ibid"
	"ibid/dataset"
	"ibid/judge/judgetest"
)

// A measurement is of whole runs: a fake service in this process, the program in another.
type measurement struct {
	ibid        string
	concurrency int
	latency     time.Duration
	dir         string
}

// all prints calls, wall time, CPU time and peak memory, for few and for many rows.
func (m *measurement) all(rows string) error {
	dir, err := os.MkdirTemp("", "ibid-judgerun-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	m.dir = dir
	fmt.Println("rows     store  calls    connections  wall s  of latency  CPU µs/row  peak MB")
	for _, r := range strings.Split(cmp.Or(rows, "10000,100000"), ",") {
		n, err := strconv.Atoi(r)
		if err != nil {
			return err
		}
		if err := m.rows(n); err != nil {
			return err
		}
	}
	return nil
}

// rows measures a run that asks about every row, and one that knows all answers.
func (m *measurement) rows(n int) error {
	data := filepath.Join(m.dir, fmt.Sprintf("rows-%d.parquet", n))
	if err := generate(data, n); err != nil {
		return err
	}
	server := judgetest.NewServer(judgetest.ServerConfig{Seed: 1, Latency: judgetest.Constant(m.latency), Lean: true})
	defer server.Close()
	for _, store := range []string{"empty", "full"} {
		if err := m.run(server, data, n, store); err != nil {
			return err
		}
		server.ResetLog()
	}
	return nil
}

func (m *measurement) run(server *judgetest.Server, data string, n int, store string) error {
	cmd := exec.Command(m.ibid, "run", data, "--judge", "openrouter", "--model", "fake/judge", "--quiet",
		"--out", filepath.Join(m.dir, "runs-"+store), "--cache", data+".sqlite",
		"--set", "judge.base_url="+server.URL(), "--set", "judge.concurrency="+strconv.Itoa(m.concurrency))
	cmd.Env = append(os.Environ(), "OPENROUTER_API_KEY="+judgetest.DefaultKey)
	cmd.Stderr = os.Stderr
	began := time.Now()
	if err := cmd.Run(); err != nil {
		return err
	}
	wall := time.Since(began)
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return fmt.Errorf("no resource usage on this system")
	}
	counts := server.Counts()
	least := m.latency.Seconds() * float64(n) / float64(m.concurrency)
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	fmt.Printf("%-8d %-6s %-8d %-12d %-7.2f %-11.2f %-11.0f %.0f\n", n, store, counts.Requests, counts.Connections,
		wall.Seconds(), wall.Seconds()/least, float64(cpu.Microseconds())/float64(n), float64(usage.Maxrss)/1024)
	return nil
}

// generate writes rows of two claims with a citation each into a document of
// their own.
func generate(path string, n int) error {
	w, err := dataset.NewWriter(path, "document")
	if err != nil {
		return err
	}
	for i := range n {
		text := fmt.Sprintf("Tower %d is %d metres high. It was built in %d. Nobody lives in it.", i, 50+i%300, 1500+i%400)
		first := int64(strings.Index(text, "It was"))
		second := int64(strings.Index(text, "Nobody"))
		row := &ibid.Answer{
			ID: fmt.Sprintf("q-%07d", i), Query: "How high and how old is it?", HasCitations: true, HasDocuments: true,
			Answer:    fmt.Sprintf("Tower %d is %d metres high. It was built in %d.", i, 50+i%301, 1500+i%400),
			Citations: []ibid.Citation{{Doc: "towers", Start: known(0), End: known(first - 1)}, {Doc: "towers", Start: known(first), End: known(second - 1)}},
			Documents: []ibid.Document{{Doc: "towers", Text: text, HasText: true}},
		}
		if err := w.Write(row); err != nil {
			return err
		}
	}
	return w.Close()
}

func known(v int64) ibid.Integer { return ibid.Some(v) }
