package duckdb

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// frozenCommit is the commit with which TestFrozen compares results.
const frozenCommit = "8e4a205942fb651c4b248849718348a089329db4"

var (
	frozenFlag = flag.Bool("frozen", false, "TestFrozen compares results with those of commit "+frozenCommit[:7])
	frozenReps = flag.Int("reps", 1, "how often TestFrozen runs each program over the generated rows, for their CPU time")
	frozenRows = flag.Int("rows", 200_000, "how many rows TestFrozen generates")
)

// TestFrozen runs the program of a past commit and the present one over the same inputs and
// compares the files of their runs, and the datasets that each imports, column by column:
// every value equal, floats to the bit. Columns that may differ are listed in frozen.tsv.
func TestFrozen(t *testing.T) {
	if !*frozenFlag {
		t.Skip("only with -frozen, see make frozen")
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	f := &frozen{T: t, duck: openDuck(t), listed: readListed(t), root: root, dir: t.TempDir()}
	f.old, f.new = &contestant{name: "old", path: f.build()}, &contestant{name: "new", path: program}
	f.sample()
	f.shared("evidence-inference-v2", "", []string{"import", "evidence-inference", "", "--truth-annotator", "0"},
		"--judge", "none", "--set", "statistics.cluster=id")
	f.shared("expertqa", "rand_test.jsonl", []string{"import", "expertqa", ""}, "--judge", "human")
	f.judged()
	f.mixed()
	f.generated()
	for _, e := range f.listed {
		if !e.needed && f.skipped {
			fmt.Printf("not known whether frozen.tsv needs %s %s: a dataset was skipped\n", e.file, e.column)
		} else if !e.needed {
			t.Errorf("frozen.tsv lists %s %s, which does not differ: remove the line", e.file, e.column)
		}
	}
	if f.differences > 0 {
		t.Errorf("%d differences: correct the program, or list the column with its reason in frozen.tsv", f.differences)
	}
}

type (
	// frozen is the state of one comparison.
	frozen struct {
		*testing.T
		duck        *duck
		root, dir   string // the repository; a temporary folder
		old, new    *contestant
		listed      []*listed
		skipped     bool // a dataset is absent, and may need an entry
		differences int
	}
	// A contestant is one of the two programs.
	contestant struct {
		name, path string
		cpu        []time.Duration // of its last runs, user and system
		env        []string
	}
	// A listed is a column that may differ, or one that differs from the SQL by 1e-12 at most.
	listed struct {
		file, column, sql string
		needed            bool
	}
	// A frozenColumn is a column to compare, as expressions and a condition in a join.
	frozenColumn struct {
		name, old, new, differs string
		listed                  *listed
	}
)

// readListed reads frozen.tsv.
func readListed(t *testing.T) (all []*listed) {
	t.Helper()
	text, err := os.ReadFile("frozen.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := append(strings.Split(line, "\t"), "")
		if len(fields) < 4 || len(fields) > 5 || slices.Contains(fields[:3], "") {
			t.Fatalf("frozen.tsv: want file, column, reason and perhaps SQL, separated by tabs: %q", line)
		}
		for column := range strings.FieldsSeq(fields[1]) {
			all = append(all, &listed{file: fields[0], column: column, sql: fields[3]})
		}
	}
	return all
}

// build returns the program of the frozen commit. It is built once, in a worktree that is
// removed afterwards, and then lies in bin.
func (f *frozen) build() string {
	path := filepath.Join(f.root, "bin", "ibid-"+frozenCommit[:7])
	if _, err := os.Stat(path); err == nil {
		return path
	}
	tree := filepath.Join(f.dir, "tree")
	do := func(dir string, args ...string) {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			f.Fatalf("%s: %v\n%s(is commit %s in this clone? git fetch --unshallow)", strings.Join(args, " "), err, out, frozenCommit[:7])
		}
	}
	do(f.root, "git", "worktree", "add", "--detach", tree, frozenCommit)
	defer do(f.root, "git", "worktree", "remove", "--force", tree)
	do(tree, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -X main.version="+frozenCommit[:7], "-o", path+".part", "./cmd/ibid")
	if err := os.Rename(path+".part", path); err != nil {
		f.Fatal(err)
	}
	return path
}

// run runs a program in dir, adds to its CPU time, and wants it to succeed.
func (f *frozen) run(c *contestant, dir string, args ...string) {
	f.Helper()
	var stderr bytes.Buffer
	cmd := exec.Command(c.path, append(args, "-q")...)
	cmd.Dir, cmd.Stderr = dir, &stderr
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(entry string) bool { return strings.HasPrefix(entry, "IBID_") }), c.env...)
	if err := cmd.Run(); err != nil {
		f.Fatalf("%s program: ibid %s: %v\n%s", c.name, strings.Join(args, " "), err, stderr.String())
	}
	c.cpu = append(c.cpu, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
}

// folder makes the folder of a dataset for a program.
func (f *frozen) folder(dataset, name string) string {
	dir := filepath.Join(f.dir, dataset, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		f.Fatal(err)
	}
	return dir
}

// both runs both programs, each in its folder of the dataset, reps times in turn, and
// prints the CPU time of each: the least.
func (f *frozen) both(dataset, what string, reps int, args ...string) {
	f.old.cpu, f.new.cpu = nil, nil
	for range reps {
		for _, c := range []*contestant{f.old, f.new} {
			dir := f.folder(dataset, c.name)
			if err := os.RemoveAll(filepath.Join(dir, "runs")); err != nil {
				f.Fatal(err)
			}
			f.run(c, dir, args...)
		}
	}
	old, now := slices.Min(f.old.cpu).Seconds(), slices.Min(f.new.cpu).Seconds()
	fmt.Printf("%-22s %-10s CPU old %.2f s, new %.2f s, ratio %.3f (least of %d)\n", dataset, what, old, now, now/old, reps)
}

// imported has both programs import, compares what they wrote, and leaves the dataset of
// the old program for both.
func (f *frozen) imported(dataset string, args ...string) {
	f.both(dataset, "import", 1, append(args, "-o", "answers.parquet", "--docs", "documents.parquet")...)
	f.oneInput(dataset, "answers", "documents")
}

// oneInput compares datasets and gives the new program those of the old one.
func (f *frozen) oneInput(dataset string, names ...string) {
	for _, name := range names {
		f.compare(dataset, name, name+".parquet", "file_row_number")
		data, err := os.ReadFile(filepath.Join(f.dir, dataset, "old", name+".parquet"))
		if err := errors.Join(err, os.WriteFile(filepath.Join(f.dir, dataset, "new", name+".parquet"), data, 0o644)); err != nil {
			f.Fatal(err)
		}
	}
}

// scored has both programs score the dataset, reps times, and compares their run
// directories. Without a run file, the dataset is what imported left.
func (f *frozen) scored(dataset string, reps int, args ...string) {
	if !strings.HasSuffix(args[0], ".yaml") {
		args = append(args, "answers.parquet", "--documents", "documents.parquet")
	}
	f.both(dataset, "run", reps, append([]string{"run", "--id", "scored"}, args...)...)
	for _, file := range []struct{ name, key string }{
		{"rows", "id system row"}, {"citations", "id system row citation"}, {"claims", "id system row claim"}, {"summary", "system slice metric agg"},
	} {
		f.compare(dataset, file.name, filepath.Join("runs", "scored", file.name+".parquet"), strings.Fields(file.key)...)
	}
}

// sample: the sample of the old program, as the present one has labels. It is scored without a
// judge: the old offline judge called claims unsupported by their words, the present one does not.
func (f *frozen) sample() {
	for _, c := range []*contestant{f.old, f.new} {
		f.run(f.old, f.folder("sample", c.name), "init")
	}
	f.scored("sample", 1, "--judge", "none")
}

// shared: a dataset of ../shared; the empty argument of the import is its path.
func (f *frozen) shared(name, file string, importArgs []string, runArgs ...string) {
	path := filepath.Join(f.root, "..", "shared", "data", name, file)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		fmt.Printf("%-22s skipped: no %s\n", name, filepath.Join("..", "shared", "data", name))
		f.skipped = true
		return
	}
	importArgs[slices.Index(importArgs, "")] = path
	f.imported(name, importArgs...)
	f.scored(name, 1, runArgs...)
}

// judged: the sample, judged by the fake service of the present tree, a new one for each
// program.
func (f *frozen) judged() {
	service := filepath.Join(f.dir, "service.test")
	build := exec.Command("go", "test", "-c", "-o", service, "./judge/judgetest")
	build.Dir, build.Env = f.root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		f.Fatalf("go test -c ./judge/judgetest: %v\n%s", err, out)
	}
	for _, c := range []*contestant{f.old, f.new} {
		cmd := exec.Command(service, "-test.run=^TestServe$", "-test.timeout=0", "-serve")
		in, err1 := cmd.StdinPipe()
		out, err2 := cmd.StdoutPipe()
		if err := errors.Join(err1, err2, cmd.Start()); err != nil {
			f.Fatal(err)
		}
		f.Cleanup(func() { _ = errors.Join(in.Close(), cmd.Wait()) })
		line, err := bufio.NewReader(out).ReadString('\n')
		url, key, ok := strings.Cut(strings.TrimSpace(line), " ")
		if err != nil || !ok {
			f.Fatalf("the fake service says %q, %v", line, err)
		}
		c.env = []string{"OPENROUTER_API_KEY=" + key}
		f.run(f.old, f.folder("judged", c.name), "init")
		config := fmt.Sprintf("dataset: answers.parquet\ndocuments: documents.parquet\nslices: [lang]\njudge:\n  kind: openrouter\n  model: fake/judge\n  base_url: %s\n  cache: judge.sqlite\n", url)
		if err := os.WriteFile(filepath.Join(f.dir, "judged", c.name, "judged.yaml"), []byte(config), 0o644); err != nil {
			f.Fatal(err)
		}
	}
	f.scored("judged", 1, "judged.yaml")
}

// mixed: every kind of value that a dataset may hold.
func (f *frozen) mixed() {
	script, err := os.ReadFile(filepath.Join("testdata", "answers.sql"))
	if err != nil {
		f.Fatal(err)
	}
	dir := f.folder("mixed", "in")
	f.duck.exec(string(script))
	for _, name := range []string{"answers", "documents"} {
		f.duck.exec(fmt.Sprintf("COPY %s TO %s (FORMAT json)", name, quote(filepath.Join(dir, name+".jsonl"))))
	}
	f.imported("mixed", "import", "jsonl", filepath.Join(dir, "answers.jsonl"), filepath.Join(dir, "documents.jsonl"))
	f.scored("mixed", 1, "--judge", "none", "--set", "slices=[lang, topic]")
}

// generated: many rows of four systems that share documents.
func (f *frozen) generated() {
	dir := f.folder("generated", "in")
	answers, documents := filepath.Join(dir, "answers.jsonl"), filepath.Join(dir, "documents.jsonl")
	if err := writeGenerated(answers, documents, *frozenRows); err != nil {
		f.Fatal(err)
	}
	f.imported("generated", "import", "jsonl", answers, documents)
	f.scored("generated", *frozenReps, "--judge", "none", "--set", "slices=[topic]")
}

// compare compares a Parquet file of both programs, rows joined by key, and prints a line
// about it.
func (f *frozen) compare(dataset, file, path string, key ...string) {
	old, now := filepath.Join(f.dir, dataset, "old", path), filepath.Join(f.dir, dataset, "new", path)
	_, noOld := os.Stat(old)
	_, noNew := os.Stat(now)
	if (noOld == nil) != (noNew == nil) {
		f.report(dataset, file, "only one program writes this file")
	}
	if noOld != nil || noNew != nil {
		return
	}
	d := f.duck
	d.exec("CREATE OR REPLACE TABLE old AS FROM " + f.written(file, old))
	d.exec("CREATE OR REPLACE TABLE new AS " + f.derived(file, now))
	before := f.differences
	columns := f.columns(dataset, file, key)
	var on, keys []string
	for _, k := range key {
		on = append(on, fmt.Sprintf(`o."%s" IS NOT DISTINCT FROM n."%[1]s"`, k))
		keys = append(keys, fmt.Sprintf(`coalesce(o."%s", n."%[1]s")`, k))
	}
	of := func(filter string) string {
		return fmt.Sprintf(" FROM (FROM old WHERE %s) o FULL JOIN (FROM new WHERE %[1]s) n ON %s ", filter, strings.Join(on, " AND "))
	}
	list := `"` + strings.Join(key, `", "`) + `"`
	for _, side := range []string{"old", "new"} {
		d.none(dataset+": two rows of "+side+" "+file+" with one key", fmt.Sprintf("SELECT %s FROM %s GROUP BY ALL HAVING count(*) > 1 ORDER BY ALL", list, side))
	}
	const lone = "(o.file_row_number IS NULL OR n.file_row_number IS NULL)"
	filter := "true"
	for _, e := range f.listed {
		if metric, ok := strings.CutPrefix(e.column, "metric="); ok && e.file == file {
			metric, agg, one := strings.Cut(metric, "/")
			its := "metric = " + quote(metric)
			if one {
				its += " AND agg = " + quote(agg)
			}
			filter += " AND NOT (" + its + ")"
			any := lone
			for _, c := range columns {
				any += " OR " + c.differs
			}
			e.needed = e.needed || d.number("SELECT count(*)"+of(its)+"WHERE "+any) > 0
		}
	}
	joined, byKey := of(filter), strings.Join(keys, ", ")
	f.differ(dataset, file, joined, byKey, frozenColumn{name: "(row)", old: "IF(o.file_row_number IS NULL, 'missing', 'there')", new: "IF(n.file_row_number IS NULL, 'missing', 'there')", differs: lone})
	for batch := range slices.Chunk(columns, 20) {
		var counts []string
		for i := range batch {
			batch[i].differs = "NOT " + lone + " AND " + batch[i].differs
			counts = append(counts, "count(*) FILTER ("+batch[i].differs+")")
		}
		for i, n := range d.rows("SELECT " + strings.Join(counts, ", ") + joined)[0] {
			if e := batch[i].listed; n != "0" && e != nil && e.sql == "" {
				e.needed = true
			} else if n != "0" {
				f.differ(dataset, file, joined, byKey, batch[i])
			}
		}
	}
	fmt.Printf("%-22s %-10s %7d rows, %3d columns, %d differences\n", dataset, file, d.number("SELECT count(*)"+joined), len(columns), f.differences-before)
}

// written is what a program wrote: of rows.parquet also with the columns that the present program
// documents as derived, and the reasons that it shows.
func (f *frozen) written(file, path string) string {
	from := "read_parquet(" + quote(path) + ", file_row_number = true)"
	if file == "rows" {
		f.duck.loadReasons(runDir{rows: path})
		from = "(" + explained(f.duck.whole(from)) + ")"
	}
	return from
}

// derived is a query for what the new program wrote, with the listed columns that are gone
// and can be computed, and the columns that the run could not fill, as null.
func (f *frozen) derived(file, path string) string {
	from := f.written(file, path)
	names, types := f.duck.columns(from)
	var gone, changed []string
	oldNames, oldTypes := f.duck.columns("old")
	for i, name := range oldNames {
		if !slices.Contains(names, name) && !slices.ContainsFunc(f.listed, func(e *listed) bool { return e.file == file && e.column == name }) {
			gone = append(gone, fmt.Sprintf(`NULL::%s AS "%s"`, oldTypes[i], name))
		}
	}
	for _, e := range f.listed {
		switch as := fmt.Sprintf(`(%s) AS "%s"`, e.sql, e.column); {
		case e.file != file || e.sql == "":
		case slices.Contains(names, e.column):
			changed = append(changed, as)
			was, is := slices.Index(oldNames, e.column), slices.Index(names, e.column)
			e.needed = e.needed || was >= 0 && oldTypes[was] != types[is] || f.duck.number(fmt.Sprintf("SELECT count(*) FROM %s WHERE (%s) IS DISTINCT FROM %s", from, e.sql, e.column)) > 0
		default:
			gone = append(gone, as)
			e.needed = true
		}
	}
	query := "SELECT *"
	if len(changed) > 0 {
		query += " REPLACE (" + strings.Join(changed, ", ") + ")"
	}
	return strings.Join(append([]string{query}, gone...), ", ") + " FROM " + from
}

// columns returns the columns to compare, and reports those that only one file has.
func (f *frozen) columns(dataset, file string, key []string) (columns []frozenColumn) {
	names, types := f.duck.columns("old")
	var dropped []string
	for _, e := range f.listed {
		if e.file == file && e.sql == "" {
			dropped = append(dropped, e.column)
		}
	}
	newNames, newTypes := f.duck.columns("new")
	for i, name := range append(names, newNames...) {
		c := frozenColumn{name: name, old: `o."` + name + `"`, new: `n."` + name + `"`}
		if k := slices.IndexFunc(f.listed, func(e *listed) bool { return e.file == file && e.column == name }); k >= 0 {
			c.listed = f.listed[k]
		}
		if file == "rows" && name == "undefined" { // of a metric that is gone nothing says why
			c.old, c.new = "list_sort(map_entries(o.undefined))", "list_sort(map_entries(n.undefined))"
			if len(dropped) > 0 {
				c.old = "list_filter(" + c.old + ", lambda e: e.key NOT IN " + sqlList(dropped) + ")"
			}
		}
		at, problem := slices.Index(newNames, name), ""
		switch {
		case slices.Contains(key, name) || name == "file_row_number" || i >= len(names) && slices.Contains(names, name):
			continue
		case i >= len(names):
			problem = "column " + name + " is new"
		case at < 0:
			problem = "column " + name + " is missing in the new file"
		case types[i] != newTypes[at]:
			problem = fmt.Sprintf("column %s is %s, was %s", name, newTypes[at], types[i])
		}
		c.differs = fmt.Sprintf("(%s IS DISTINCT FROM %s)", c.old, c.new)
		if i < len(types) && types[i] == "DOUBLE" { // 0 and -0 are equal in SQL
			c.differs = fmt.Sprintf("(%s IS DISTINCT FROM %s OR signbit(%[1]s) <> signbit(%[2]s))", c.old, c.new)
			if c.listed != nil && c.listed.sql != "" {
				c.differs = "NOT " + near(c.old, c.new, tolerance)
			}
		}
		switch {
		case problem == "":
			columns = append(columns, c)
		case c.listed != nil && c.listed.sql == "":
			c.listed.needed = true
		default:
			f.report(dataset, file, problem)
		}
	}
	return columns
}

// differ reports the rows of a join in which a column differs, the first three by key.
func (f *frozen) differ(dataset, file, joined, key string, c frozenColumn) {
	n := f.duck.number("SELECT count(*)" + joined + "WHERE " + c.differs)
	if n == 0 {
		return
	}
	text := fmt.Sprintf("%d rows differ in %s", n, c.name)
	query := fmt.Sprintf("SELECT concat_ws('/', %s), CAST(%s AS VARCHAR), CAST(%s AS VARCHAR)%sWHERE %s ORDER BY %s LIMIT 3", key, c.old, c.new, joined, c.differs, key)
	for _, l := range f.duck.rows(query) {
		text += fmt.Sprintf("\n\t%s %s: old %s, new %s", l[0], c.name, l[1], l[2])
	}
	f.report(dataset, file, text)
}

// report counts and prints a difference.
func (f *frozen) report(dataset, file, text string) {
	f.differences++
	fmt.Printf("%s %s: %s\n", dataset, file, text)
}
