package report

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"ibid/dataset/runs"
	"ibid/metrics"
	"ibid/metrics/stats"
	"ibid/report/doc"
)

// Failing are the rows of a run that fail.
type Failing struct {
	Run      *runs.Manifest
	Failing  int64           // rows that fail
	Rows     []FailingRow    // the worst first
	Left     int64           // rows that nobody asked for
	Reasons  []failingReason // why rows fail, the most frequent first
	BySystem map[string]answerCount

	answers answerCount
}

// failingMetric is the metric whose value is shown of failing rows, and orders them.
const failingMetric = "overall_citation_accuracy"

// ReadFailing counts the rows of a run that fail, and finds the worst limit of them; 0 means
// all. It reads the columns that say so, and of the rows that are shown what [whyColumns] has.
func ReadFailing(dir string, m *runs.Manifest, limit int) (*Failing, error) {
	return readFailing(dir, m, limit, func(*runs.Block, int) bool { return true })
}

// ReadNewlyFailing is ReadFailing of the rows alone that do not fail in another run, the base.
func ReadNewlyFailing(dir string, m *runs.Manifest, base string, limit int) (*Failing, error) {
	then, err := runs.ReadManifest(base)
	if err != nil {
		return nil, err
	}
	before, err := runs.OpenRows(base)
	if err != nil {
		return nil, err
	}
	defer before.Close()
	one := len(then.Places) == 1 && len(m.Places) == 1 // system each, whatever it is called
	key := func(b *runs.Block, i int) uint64 {
		if one {
			return stats.Key(b.Texts("id")[i])
		}
		return stats.Key(b.Texts("id")[i], "\x00", b.Texts("system")[i])
	}
	passed := make(map[uint64]bool)
	err = before.Each(func(b *runs.Block) error {
		for i := range b.Len() {
			if !b.Column("fails_because").Valid[i] {
				passed[key(b, i)] = true
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return readFailing(dir, m, limit, func(b *runs.Block, i int) bool { return passed[key(b, i)] })
}

func readFailing(dir string, m *runs.Manifest, limit int, among func(b *runs.Block, i int) bool) (*Failing, error) {
	data := &pageData{results: []*results{{run: &RunData{Dir: dir, Manifest: m}}}, lead: []string{failingMetric}}
	s := newSurvey(data, cmp.Or(limit, math.MaxInt/2))
	s.fits = func(b *runs.Block, i int) bool { return b.Column("fails_because").Valid[i] && among(b, i) }
	if err := s.read(0); err != nil {
		return nil, err
	}
	f := data.failing(data.results[0])
	for _, w := range failingWords(data) {
		if n := data.states.sum(w.Code); n > 0 {
			f.Reasons = append(f.Reasons, failingReason{w.Code, n, w})
		}
	}
	f.Failing = s.fitting
	list := s.worst.sorted()
	f.Rows, f.Left = make([]FailingRow, len(list)), f.Failing-int64(len(list))
	place := make(map[int64]int, len(list)) // by where a row stands in the file
	for k := range list {
		place[list[k].at] = k
	}
	columns := append([]string{"id", "system", "row", failingMetric}, whyColumns...)
	return f, runs.Rows().ScanSome(dir, columns, slices.Sorted(maps.Keys(place)), func(at int64, r *runs.Row) error {
		f.Rows[place[at]] = newFailingRow(r)
		return nil
	})
}

// failing counts the answers of a run.
func (data *pageData) failing(r *results) *Failing {
	f := &Failing{Run: r.run.Manifest, BySystem: make(map[string]answerCount)}
	f.answers = data.states.answers(func(k int) bool {
		bare, of := strings.CutPrefix(data.systems[k], r.prefix)
		if of {
			f.BySystem[bare] = data.states.answers(func(i int) bool { return i == k })
		}
		return of
	})
	return f
}

// A failingReason is a worst problem of failing rows, and how many have it.
type failingReason struct {
	Because string `json:"fails_because"` // as in rows.parquet
	Rows    int64  `json:"rows"`
	word    word
}

// namedReasons is how many reasons the first screen has.
const namedReasons = 3

// reasonsLine are the most frequent reasons; "" if no row fails.
func (f *Failing) reasonsLine() string {
	var out []string
	others := f.Failing
	for _, r := range f.Reasons[:min(len(f.Reasons), namedReasons)] {
		out, others = append(out, Thousands(r.Rows)+" "+r.word.Short), others-r.Rows
	}
	if len(f.Reasons) > namedReasons {
		out = append(out, Plural(others, "other", "others"))
	}
	return strings.Join(out, ", ")
}

// A FailingRow is one of them, the worst that is wrong with it, and what its
// counts say about why. Value is nil where the metric is undefined.
type FailingRow struct {
	Row     int64           `json:"row"`
	ID      string          `json:"id"`
	System  string          `json:"system"`
	Because string          `json:"fails_because"` // as in rows.parquet
	Value   *float64        `json:"value"`
	Why     []string        `json:"why"`
	Problem metrics.Problem `json:"-"` // of that name
}

func (r *FailingRow) name() string { return r.ID + "/" + r.System }

// whyColumns are the columns of rows.parquet that a reason can be seen in.
var whyColumns = []string{
	"error", "fails_because",
	"citations", "valid_citations", "truth_spans", "matched_spans", "needing_claims", "cited_claims",
	"contradicted_claims", "hallucinated_claims", "open",
}

// newFailingRow says why a row fails, from its error or its whyColumns.
func newFailingRow(row *runs.Row) FailingRow {
	f := FailingRow{Row: row.Row, ID: row.ID, System: row.System, Because: row.FailsBecause, Value: row.Number(failingMetric), Why: []string{}}
	f.Problem, _ = metrics.ParseProblem(f.Because)
	if row.Error != "" {
		f.Why = append(f.Why, "not scored: "+row.Error)
		return f
	}
	say := func(n float64, one, many string) {
		if n > 0 {
			f.Why = append(f.Why, Plural(int64(n), one, many))
		}
	}
	rest := func(all, part string) float64 { // 0 where one of the two is unknown
		whole, less := row.Number(all), row.Number(part)
		if whole == nil || less == nil {
			return 0
		}
		return *whole - *less
	}
	if citations := row.Number("citations"); citations != nil && *citations == 0 {
		f.Why = append(f.Why, "cites nothing")
	}
	say(rest("citations", "valid_citations"), "citation not valid", "citations not valid")
	say(rest("truth_spans", "matched_spans"), "true span missed", "true spans missed")
	say(rest("needing_claims", "cited_claims"), "claim without citation", "claims without citation")
	say(row.Numbers["contradicted_claims"], "claim contradicted", "claims contradicted")
	say(row.Numbers["hallucinated_claims"]-row.Numbers["contradicted_claims"], "claim unsupported", "claims unsupported") // nobody may have asked for contradictions
	say(float64(row.Open["unscored_factual"]), "claim not judged", "claims not judged")
	return f
}

// section is why rows fail, and the rows.
func (f *Failing) section() doc.Section {
	out := doc.Section{Title: f.Run.ID + ": " + f.answers.sentence()}
	reasons := doc.Table{Caption: "Why answers fail", Columns: []doc.Column{{Name: "why"}, {Name: "answers", Number: true}}}
	for _, r := range f.Reasons {
		reasons.Rows = append(reasons.Rows, []doc.Cell{{Text: doc.Text{r.word.span("")}}, doc.C(Thousands(r.Rows))})
	}
	rows := doc.Table{Caption: "The worst first", Columns: []doc.Column{{Name: "answer"}, {Name: "row", Number: true, Keep: 3}, {Name: "fails because"}, {Name: shortName(failingMetric), Number: true}, {Name: "why", Keep: 1}}}
	for i := range f.Rows {
		r := &f.Rows[i]
		rows.Rows = append(rows.Rows, []doc.Cell{doc.C(r.name()), doc.C(fmt.Sprintf("#%d", r.Row)), doc.C(problemWords[r.Problem].Short), doc.C(numberOrDash(r.Value)), doc.C(clip(strings.Join(r.Why, ", "), 30))})
	}
	if len(rows.Rows) > 0 {
		out.Blocks = append(out.Blocks, reasons, rows)
	}
	if f.Left > 0 {
		out.Blocks = append(out.Blocks, doc.Para{Text: doc.T(Thousands(f.Left) + " more with --limit 0")})
	}
	return out
}

func (f *Failing) asJSON() any {
	return struct {
		Schema  string                     `json:"schema"`
		Run     runJSON                    `json:"run"`
		Failing int64                      `json:"failing"`
		Left    int64                      `json:"left_out,omitempty"`
		Reasons runs.ListOf[failingReason] `json:"reasons"`
		Rows    runs.ListOf[FailingRow]    `json:"rows"`
	}{"ibid.failing/v1", runOf(f.Run), f.Failing, f.Left, f.Reasons, f.Rows}
}

func (f *Failing) writeCSV(w io.Writer) error {
	rows := [][]string{{"row", "id", "system", "fails_because", failingMetric, "why"}}
	for i := range f.Rows {
		r := &f.Rows[i]
		rows = append(rows, []string{count(r.Row), r.ID, r.System, r.Because, exact(r.Value), strings.Join(r.Why, "; ")})
	}
	return csv.NewWriter(w).WriteAll(rows)
}
