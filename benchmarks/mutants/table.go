//go:build unix

package main

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

// An outcome is killed, lived, not covered, equivalent or not tried.
type outcome struct {
	*mutant
	is string
}

// A row is one package of the table.
type row struct {
	name     string
	least    float64 // the share of killed that is wanted
	all      int
	seed     uint64
	sampled  bool
	outcomes []outcome
	failing  []string
	took     time.Duration
}

func (r row) count(is string) int {
	n := 0
	for _, o := range r.outcomes {
		if o.is == is {
			n++
		}
	}
	return n
}

// killed is how many mutants were killed, of how many that are not equivalent.
func (r row) killed() (killed, of int) {
	return r.count("killed"), len(r.outcomes) - r.count("equivalent") - r.count("not tried")
}

const tableHead = "| package | mutants | tried | killed | lived | not covered | equivalent | killed of what is not equivalent | minutes |\n|---|---|---|---|---|---|---|---|---|\n"

func (r row) String() string {
	tried := fmt.Sprint(len(r.outcomes) - r.count("not tried"))
	if r.sampled {
		tried += fmt.Sprintf(" (seed %d)", r.seed)
	}
	share := "no mutant"
	if killed, of := r.killed(); of > 0 {
		p := float64(killed) / float64(of)
		share = fmt.Sprintf("%.1f %%", 100*p)
		if tried := len(r.outcomes) - r.count("not tried"); r.sampled || tried < len(r.outcomes) {
			share += fmt.Sprintf(" ± %.1f", 196*math.Sqrt(p*(1-p)/float64(of)*(1-float64(tried)/float64(r.all))))
		}
	}
	if r.least > 0 {
		share += fmt.Sprintf(" of %.0f %%", r.least)
	}
	s := fmt.Sprintf("| `%s` | %d | %s | %d | %d | %d | %d | %s | %.1f |", r.name, r.all, tried, r.count("killed"), r.count("lived"),
		r.count("not covered"), r.count("equivalent"), share, r.took.Minutes())
	if n := r.count("not tried"); n > 0 {
		s += fmt.Sprintf("\n%s: no time for %d mutants", r.name, n)
	}
	if len(r.failing) > 0 {
		s += fmt.Sprintf("\n%s: not asked, because they fail in the mutated build without a mutant: %s", r.name, strings.Join(r.failing, ", "))
	}
	return s
}

// left lists what no test noticed.
func (r row) left() []string {
	var lines []string
	for _, o := range r.outcomes {
		if o.is == "lived" || o.is == "not covered" {
			lines = append(lines, fmt.Sprintf("%s:%d: %s: %s (%s)", o.file, o.line, o.function, o.change, o.is))
		}
	}
	return lines
}

func table(rows []row) string {
	var b strings.Builder
	b.WriteString(tableHead)
	for _, r := range rows {
		line, _, _ := strings.Cut(r.String(), "\n")
		b.WriteString(line + "\n")
	}
	return b.String()
}

// merge puts rows into the table of a file, in the place of older ones of the same package.
func merge(file string, rows []row) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, after, found := strings.Cut(string(text), tableHead)
	if !found {
		return fmt.Errorf("%s has no table whose head is\n%s", file, tableHead)
	}
	var lines []string
	for strings.HasPrefix(after, "|") {
		line, rest, _ := strings.Cut(after, "\n")
		lines, after = append(lines, line), rest
	}
	for _, r := range rows {
		line, _, _ := strings.Cut(r.String(), "\n")
		begin := fmt.Sprintf("| `%s` |", r.name)
		if at := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, begin) }); at >= 0 {
			lines[at] = line
		} else {
			lines = append(lines, line)
		}
	}
	return os.WriteFile(file, []byte(before+tableHead+strings.Join(lines, "\n")+"\n"+after), 0o644)
}

// equivalents are mutants that change nothing that can be seen, and why.
type equivalents map[string]string

// readEquivalent reads lines "file:function: from -> to: why".
func readEquivalent(file string) (equivalents, error) {
	f, err := os.Open(file)
	if os.IsNotExist(err) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	defer f.Close()
	list := make(equivalents)
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		at := strings.LastIndex(line, ": ")
		if at < 0 || !strings.Contains(line, " -> ") {
			return nil, fmt.Errorf("%s:%d: want file:function: from -> to: why", file, n)
		}
		list[line[:at]] = line[at+2:]
	}
	return list, lines.Err()
}

// check says which entries of the package are no mutants any more.
func (e equivalents) check(s *source) error {
	for key := range e {
		file, _, _ := strings.Cut(key, ":")
		if !slices.ContainsFunc(s.GoFiles, func(f string) bool { return path.Join(s.name(), f) == file && s.mutates(f) }) {
			continue
		}
		if !slices.ContainsFunc(s.mutants, func(m *mutant) bool { return m.key() == key }) {
			return fmt.Errorf("the list of equivalent mutants has one that is none: %s", key)
		}
	}
	return nil
}
