package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"ibid/cmd/ibid/internal/cli"
	"ibid/dataset/runs"
	"ibid/metrics"
)

var (
	oracleRows = flag.Int("oracle.rows", 60, "rows of each run that the oracle computes again")
	oracleSeed = flag.Uint64("oracle.seed", 1, "seed of the oracle's data")
)

// An oracleConfig is a run of the program and the kind of data that it is about.
type oracleConfig struct {
	settings map[string]string // of the program, where they differ from its defaults
	unit     string            // utf16 or byte

	inclusive, fromPage, noTruth, judged bool
	policy                               string // of truth
	tolerance, concise, longest          int64
	overlap, good, supported, agreeing   float64
	weights                              [4]float64
}

// oracleConfigs are the runs, by name, with the settings that they change.
var oracleConfigs = [][2]string{
	{"defaults", ""},
	{"utf16", "judge=none offset_unit=utf16"},
	{"byte inclusive", "judge=none offset_unit=byte span_end=inclusive"},
	{"page", "judge=none offset_base=page span_matching.tolerance_chars=3"},
	{"union inclusive", "judge=none truth_policy=union span_end=inclusive"},
	{"majority", "judge=none truth_policy=majority span_matching.min_overlap_threshold=0.25"},
	{"intersection", "judge=none truth_policy=intersection span_matching.tolerance_chars=0"},
	{"mean", "judge=none truth_policy=mean"},
	{"annotator", "judge=none truth_policy=annotator:ada span_matching.max_span_length=30"},
	{"recorded", "judge=recorded"},
	{"thresholds", "judge=recorded thresholds.supported=0.5 thresholds.consistent=0.75 weights.span_accuracy=0.1 weights.citation_quality=0.4"},
	{"without truth", "judge=recorded weights.citation_quality=0 weights.answer_consistency=1 weights.hallucination=0.5"},
}

func newOracleConfig(name, settings string) *oracleConfig {
	c := &oracleConfig{settings: map[string]string{}}
	for _, s := range strings.Fields(settings) {
		key, value, _ := strings.Cut(s, "=")
		c.settings[key] = value
	}
	number := func(key string, unset float64) float64 {
		if v, err := strconv.ParseFloat(c.settings[key], 64); err == nil {
			return v
		}
		return unset
	}
	c.unit, c.policy = c.settings["offset_unit"], cmp.Or(c.settings["truth_policy"], "best")
	c.inclusive, c.fromPage = c.settings["span_end"] == "inclusive", c.settings["offset_base"] == "page"
	c.noTruth, c.judged = name == "without truth", c.settings["judge"] == "recorded"
	c.tolerance, c.longest = int64(number("span_matching.tolerance_chars", 10)), int64(number("span_matching.max_span_length", 10000))
	c.concise, c.overlap, c.good = 2000, number("span_matching.min_overlap_threshold", .5), .8
	c.supported, c.agreeing = number("thresholds.supported", .7), number("thresholds.consistent", .8)
	c.weights = [4]float64{number("weights.span_accuracy", .3), number("weights.citation_quality", .3), number("weights.answer_consistency", .25), number("weights.hallucination", .15)}
	return c
}

type oracleAny struct{} // in place of a value of which nothing is expected

// An oracleExpected is what a row should say.
type oracleExpected struct {
	places, truth []oracleSpan         // of the citations, and of all annotators
	side          *oracleSide          // the truth that counts, nil if there is none
	annotator     string               // the only one of the side
	broken        bool                 // an error row
	values        map[string][]float64 // any of them is right
	parts         map[string][2]int    // numerators and denominators of quotients of counts
	counted       map[string]bool      // values that are counts
	reasons       map[string]string    // of values that are undefined, any of these words; "?" for any
	skips         map[string]bool
	items         map[string][]any // citations.NAME or claims.NAME, by position
}

func newExpected() *oracleExpected {
	return &oracleExpected{values: map[string][]float64{}, parts: map[string][2]int{}, counted: map[string]bool{}, reasons: map[string]string{}, skips: map[string]bool{}, items: map[string][]any{}}
}

func (e *oracleExpected) set(name string, v float64, reason string) {
	delete(e.values, name)
	delete(e.reasons, name)
	if reason != "" {
		e.reasons[name] = reason
	} else {
		e.values[name] = []float64{v}
	}
}

func (e *oracleExpected) value(name string) float64 { return append(e.values[name], 0)[0] }

func (e *oracleExpected) skip(names ...string) {
	for _, name := range names {
		e.skips[name] = true
	}
}

func (e *oracleExpected) skipDocuments() {
	e.skip("doc_precision", "doc_recall", "doc_f1", "truth_docs", "pred_docs", "overlap_docs")
}

func (e *oracleExpected) counts(of map[string]int) {
	for name, n := range of {
		e.set(name, float64(n), "")
		e.counted[name] = true
	}
}

func (e *oracleExpected) ratio(name string, num, den int, reason ...string) {
	e.parts[name] = [2]int{num, den}
	e.quotient(name, float64(num), den, reason...)
}

func (e *oracleExpected) quotient(name string, num float64, den int, reason ...string) {
	if den == 0 {
		e.set(name, 0, append(reason, "?")[0])
	} else {
		e.set(name, num/float64(den), "")
	}
}

// sets computes the metrics of two sets of code points, tokens, pages or documents.
func (e *oracleExpected) sets(name string, t, p oracleSet) {
	n := both(t, p)
	e.counts(map[string]int{"truth_" + name + "s": len(t), "pred_" + name + "s": len(p), "overlap_" + name + "s": n})
	e.ratio(name+"_precision", n, len(p))
	e.ratio(name+"_recall", n, len(t))
	e.ratio(name+"_f1", 2*n, len(t)+len(p))
	if name == "char" || name == "token" {
		e.ratio(name+"_jaccard", n, len(t)+len(p)-n)
	}
}

func (e *oracleExpected) item(name string, i int, v any) {
	for len(e.items[name]) <= i {
		e.items[name] = append(e.items[name], oracleAny{})
	}
	if p := reflect.ValueOf(v); p.Kind() == reflect.Pointer {
		if v = nil; !p.IsNil() {
			v = p.Elem().Interface()
		}
	}
	e.items[name][i] = v
}

// expect computes all values of a row.
func (o *oracle) expect(r *oracleRow) *oracleExpected {
	e := newExpected()
	e.places = o.places(r)
	for _, m := range slices.Concat(r.Citations, r.Truth) {
		e.broken = e.broken || (m.Start == nil) != (m.End == nil)
	}
	lost, only := false, strings.TrimPrefix(o.c.policy, "annotator:")
	marks := map[string][]oracleSpan{}
	for _, m := range r.Truth {
		name, s := val(m.Annotator), oracleSpan{status: "span_empty"}
		if m.Doc != nil {
			s = o.resolve(m)
			if s.status == "quote_mismatch" { // it is nowhere
				s.exact = false
				lost = lost || only == name || only == o.c.policy
			}
		}
		marks[name], e.truth = append(marks[name], s), append(e.truth, s)
	}
	if r.Citations == nil {
		e.set("char_f1", 0, "no_citations no_truth truth_not_found")
		return e
	}
	pred, status, unmeasured := sideOf(e.places), map[string]int{}, false
	invented := map[string]bool{} // citations of documents that are not there: identical ones count once
	for i, p := range e.places {
		unmeasured = unmeasured || !p.exact && slices.Contains([]string{"ok", "unchecked", "no_claim"}, p.status)
		c := r.Citations[i]
		given := fmt.Sprint(val(c.Doc), val(c.Page), val(c.Start), val(c.End), c.Page == nil, c.Start == nil, val(c.Unit))
		if p.status != "document_not_found" || !invented[given] {
			status[p.status]++
		}
		invented[given] = true
		status["valid"] += map[bool]int{true: 1}[oracleValid(p)]
		e.item("citations.status", i, p.status)
		e.item("citations.repaired_start", i, nil)
		e.item("citations.repaired_end", i, nil)
		if p.status == "quote_repaired" || p.status == "quote_located" {
			e.item("citations.repaired_start", i, float64(p.start))
			e.item("citations.repaired_end", i, float64(p.end))
		}
	}
	chars, answer := len(pred.set()), len([]rune(r.Answer))
	e.counts(map[string]int{
		"citations": len(r.Citations), "valid_citations": status["valid"], "answer_chars": answer,
		"missing_citations": status["document_not_found"],
	})
	if unmeasured {
		e.set("citation_density", 0, "no_documents")
	} else {
		e.counts(map[string]int{"cited_chars": chars})
		e.ratio("citation_density", chars, answer)
	}
	if r.Truth != nil && !lost {
		o.against(e, marks, pred)
	}
	if e.side != nil && (o.c.policy == "best" || only != o.c.policy) {
		o.bestTruths(r, e)
	}
	if e.side == nil {
		for _, name := range []string{"char_precision", "char_recall", "char_f1", "char_jaccard", "exact_match", "any_overlap", "doc_f1", "span_f1", "mean_snapped_jaccard", "token_f1"} {
			e.set(name, 0, map[bool]string{true: "truth_not_found", false: "no_truth"}[lost])
		}
	}
	if o.c.judged {
		o.judged(r, e)
	} else {
		o.overall(r, e, nil, nil, false)
	}
	return e
}

// against compares the citations with what the policy makes of the annotators.
func (o *oracle) against(e *oracleExpected, marks map[string][]oracleSpan, pred *oracleSide) {
	names := slices.Sorted(maps.Keys(marks))
	e.side = sideOf(nil)
	n := map[string]float64{} // annotators for whom a metric is defined
	counts, best := map[oracleCell]int{}, -2.
	for _, name := range names {
		side, try := sideOf(marks[name]), newExpected()
		for c := range side.set() {
			counts[c]++
		}
		o.spanMetrics(try, side, pred)
		f := try.value("char_f1")
		if try.reasons["char_f1"] != "" {
			f = -1
		}
		if "annotator:"+name == o.c.policy || o.c.policy == "best" && f > best {
			best, e.side, e.annotator = f, side, name
		}
		if o.c.policy == "mean" { // the mean of metrics, the sum of counts and of what quotients of counts have
			for metric, p := range try.parts {
				e.parts[metric] = [2]int{e.parts[metric][0] + p[0], e.parts[metric][1] + p[1]}
			}
			for metric, v := range try.values {
				e.values[metric] = []float64{e.value(metric) + v[0]}
				e.skips[metric] = e.skips[metric] || len(v) > 1
				n[metric]++
			}
			maps.Copy(e.reasons, try.reasons)
			maps.Copy(e.counted, try.counted)
			maps.Copy(e.skips, try.skips)
		}
	}
	least, combined := map[string]int{"union": 1, "majority": len(names)/2 + 1, "intersection": len(names)}[o.c.policy]
	switch {
	case strings.HasPrefix(o.c.policy, "annotator:") && marks[strings.TrimPrefix(o.c.policy, "annotator:")] == nil:
		e.side = nil
		return
	case o.c.policy == "mean" && len(names) > 0:
		for metric := range e.values {
			if n[metric] > 0 && !e.counted[metric] {
				e.values[metric][0] /= n[metric]
			}
			delete(e.reasons, metric)
		}
		overlap, exact := e.parts["any_overlap"], e.parts["exact_match"]
		e.parts["any_overlap"] = [2]int{min(1, overlap[0]), min(1, overlap[1])}
		e.parts["exact_match"] = [2]int{exact[0] / len(names), min(1, exact[1])} // with every annotator
		for metric, p := range e.parts {
			e.ratio(metric, p[0], p[1])
		}
		e.skip("span_accuracy_score", "overall_citation_accuracy")
		return
	case combined:
		set := oracleSet{}
		for c, n := range counts {
			if n >= least {
				set[c] = true
			}
		}
		e.side = sideOf(stretches(set))
		if slices.ContainsFunc(e.truth, func(t oracleSpan) bool { return t.usable() && !t.exact }) {
			e.skipDocuments() // those of places without code points are not those of a set
		}
	}
	o.spanMetrics(e, e.side, pred)
}

// bestTruths finds the truth span that each citation fits best: by snapped, then by exact
// Jaccard, then the first.
func (o *oracle) bestTruths(r *oracleRow, e *oracleExpected) {
	for i, y := range e.places {
		var position any
		snapped, exact, wide := oracleShare{0, 1}, oracleShare{0, 1}, oracleShare{0, 1}
		for j, x := range e.truth {
			if val(r.Truth[j].Annotator) != e.annotator || !x.inSets() || x.oracleKey != y.oracleKey {
				continue
			}
			v, w, tolerant := o.snapped(x, y), jaccardOf(x, y), o.tolerant(x, y)
			if snapped.less(v) || !v.less(snapped) && exact.less(w) || position == nil && tolerant.num > 0 {
				snapped, exact, wide, position = v, w, tolerant, float64(j)
			}
		}
		for name, v := range map[string]any{"best_truth": position, "exact_jaccard": exact.float(), "tolerance_jaccard": wide.float(), "snapped_jaccard": snapped.float()} {
			if y.inSets() {
				e.item("citations."+name, i, v)
			}
		}
	}
}

// TestOracle runs the program over random data that looks for trouble and compares what it
// writes with what the definitions say.
func TestOracle(t *testing.T) {
	for k, config := range oracleConfigs {
		t.Run(config[0], func(t *testing.T) {
			t.Parallel()
			c := newOracleConfig(config[0], config[1])
			o := &oracle{c: c, docs: map[string]*oracleDocument{}}
			g := &oracleMaker{Rand: rand.New(rand.NewPCG(*oracleSeed, uint64(k))), c: c, o: o}
			g.documents()
			var rows []oracleRow
			for i := range *oracleRows {
				rows = append(rows, *g.row(i))
			}
			o.compare(t, rows, g.run(t, rows))
		})
	}
}

// run runs the program as a user would and returns the run directory.
func (g *oracleMaker) run(t *testing.T, rows []oracleRow) string {
	dir := t.TempDir()
	data, sources, verdicts := dir+"/rows.parquet", dir+"/documents.parquet", dir+"/verdicts.jsonl"
	args := []string{"run", data, "--documents", sources, "--out", dir, "--id", "oracle"}
	for key, value := range g.c.settings {
		args = append(args, "--set", key+"="+value)
	}
	var lines bytes.Buffer
	for _, r := range rows {
		for _, v := range r.verdicts {
			line, _ := json.Marshal(v)
			lines.Write(append(line, '\n'))
		}
	}
	if g.c.judged {
		args = append(args, "--replay", verdicts)
	}
	if err := errors.Join(parquet.WriteFile(data, rows), parquet.WriteFile(sources, g.docs), os.WriteFile(verdicts, lines.Bytes(), 0o666)); err != nil {
		t.Fatal(err)
	}
	var output bytes.Buffer
	code := cli.Main(t.Context(), cli.Process{Args: args, Environ: os.Environ(), Stdin: &output, Stdout: &output, Stderr: &output})
	if code != cli.ExitOK && code != cli.ExitNoVerdict {
		t.Fatalf("ibid %s: exit code %d\n%s", strings.Join(args, " "), code, output.String())
	}
	return filepath.Join(dir, "oracle")
}

// oracleFloat is a value of a column as a number, if it is one.
func oracleFloat(v any) (float64, bool) {
	n, err := strconv.ParseFloat(fmt.Sprint(v), 64)
	_, text := v.(string)
	return n, err == nil && !text
}

// derive adds to rows the metrics that follow from their columns and what their maps have, and returns why metrics of
// each row have no value.
func derive(rows []map[string]any, run string) (reasons []map[string]string, err error) {
	frame, err := runs.OpenRows(run)
	if err != nil {
		return nil, err
	}
	defer frame.Close()
	return reasons, frame.Each(func(b *runs.Block) error {
		undefined := b.Column("undefined")
		for i := range b.Len() {
			why := map[string]string{}
			for k := undefined.Offsets[i]; k < undefined.Offsets[i+1]; k++ {
				why[undefined.Keys[k]] = undefined.Strings[k]
			}
			reasons = append(reasons, why)
		}
		var names []string
		for _, d := range metrics.Definitions() {
			names = append(names, d.Name)
		}
		for o := range metrics.NumOpen {
			names = append(names, metrics.Open(o).String())
		}
		for _, name := range names {
			values, known := b.Numbers(name)
			for i := range b.Len() {
				if row := rows[b.First+int64(i)]; row[name] == nil && known[i] {
					row[name] = values[i]
				}
			}
		}
		return nil
	})
}

// compare compares a run with what is expected of its rows.
func (o *oracle) compare(t *testing.T, rows []oracleRow, run string) {
	tables := map[string][]map[string]any{} // of rows, columns by name
	for _, name := range []string{"rows", "citations", "claims"} {
		table, _ := parquet.ReadFile[any](filepath.Join(run, name+".parquet"))
		for _, row := range table {
			tables[name] = append(tables[name], row.(map[string]any))
		}
	}
	reasons, err := derive(tables["rows"], run)
	if err != nil {
		t.Fatal(err)
	}
	compared, wrong := 0, map[string]int{}
	for i := range rows {
		r, got, e := &rows[i], tables["rows"][i], o.expect(&rows[i])
		check := func(what string, right bool, got, want any) {
			if compared++; right {
				return
			}
			if wrong[what]++; wrong[what] < 3 {
				row, _ := json.Marshal(r)
				t.Errorf("%s of row %s/%s is %v, want %v\n%s", what, r.ID, r.System, got, want, row)
			}
		}
		if check("error", (got["status"] == "error") == e.broken, got["error"], e.broken); e.broken {
			continue
		}
		why := reasons[i]
		for name, want := range e.values {
			v, known := oracleFloat(got[name])
			right := func(w float64) bool { return w == v || !e.counted[name] && math.Abs(w-v) <= 1e-12*max(1, math.Abs(w)) }
			check(name, e.skips[name] || known && slices.ContainsFunc(want, right), fmt.Sprint(got[name], why[name]), want)
		}
		for name, want := range e.reasons {
			right := got[name] == nil && why[name] != "" && (want == "?" || slices.Contains(strings.Fields(want), why[name]))
			check(name, e.skips[name] || right, fmt.Sprint(got[name], why[name]), "null, "+want)
		}
		for name, want := range e.items {
			kind, column, _ := strings.Cut(name, ".")
			k := 0
			for _, item := range tables[kind] {
				if item["row"] == int64(i) && k < len(want) {
					v, number := oracleFloat(item[column])
					w, _ := want[k].(float64)
					check(fmt.Sprint(name, k), want[k] == oracleAny{} || item[column] == want[k] || number && want[k] != nil && math.Abs(v-w) <= 1e-12, item[column], want[k])
					k++
				}
			}
			check("number of "+kind, k == len(want), k, len(want))
		}
	}
	t.Logf("%d values compared, wrong: %v", compared, wrong)
}
