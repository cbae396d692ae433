package report

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"ibid/dataset/runs"
	"ibid/metrics"
	"ibid/report/doc"
)

// Failing is the view model of the rows of a run that fail.
type Failing struct {
	Run       *runs.Manifest
	Failing   int64  // rows that fail
	Gate      string // that leaves those of them that do not meet it; "" leaves all
	Metric    string // of the gate, or the overall score
	Undefined int64  // rows of which the gate says nothing
	Rows      []FailingRow
	Left      int64 // rows that are not among them

	Reasons  []failingReason  // why rows that were counted fail, the most frequent first
	BySystem map[string]int64 // rows that were counted

	missing, unscored int64 // rows that were counted

	all  func(limit int64, yield func(*FailingRow) error) error // see Stream
	kept int64
}

// Stream takes the first limit of the rows that were counted (0 = all) from a function, in
// place of Rows: more than memory should hold. It may be called several times.
func (f *Failing) Stream(limit int64, all func(limit int64, yield func(*FailingRow) error) error) {
	added := f.missing + f.unscored
	f.all, f.kept = all, added
	if 0 < limit && limit < added {
		f.kept, f.Left = limit, added-limit
	}
}

// each calls yield with every row.
func (f *Failing) each(yield func(*FailingRow) error) error {
	if f.all != nil {
		return f.all(f.kept, yield)
	}
	for i := range f.Rows {
		if err := yield(&f.Rows[i]); err != nil {
			return err
		}
	}
	return nil
}

// A failingReason is a worst problem of failing rows, and how many have it.
type failingReason struct {
	Because string          `json:"fails_because"` // as in rows.parquet
	Rows    int64           `json:"rows"`
	Problem metrics.Problem `json:"-"` // of that name
}

// Count counts a row of a system, and the worst that is wrong with it.
func (f *Failing) Count(system string, p metrics.Problem) {
	if f.BySystem == nil {
		f.BySystem = make(map[string]int64)
	}
	if n, ok := f.BySystem[system]; ok {
		f.BySystem[system] = n + 1
	} else {
		f.BySystem[strings.Clone(system)] = 1
	}
	f.count(p)
	if p == metrics.ProblemError {
		f.unscored++
	} else {
		f.missing++
	}
}

func (f *Failing) count(p metrics.Problem) {
	k := slices.IndexFunc(f.Reasons, func(r failingReason) bool { return r.Problem == p })
	if k < 0 {
		k = len(f.Reasons)
		f.Reasons = append(f.Reasons, failingReason{Because: p.String(), Problem: p})
	}
	f.Reasons[k].Rows++
	for ; k > 0 && before(&f.Reasons[k], &f.Reasons[k-1]); k-- {
		f.Reasons[k], f.Reasons[k-1] = f.Reasons[k-1], f.Reasons[k]
	}
}

// before orders reasons: the most frequent first, then the gravest.
func before(x, y *failingReason) bool {
	return x.Rows > y.Rows || x.Rows == y.Rows && x.Problem > y.Problem
}

// reasonsLine are the most frequent reasons, as many as a line of a width holds; "" if no
// row fails.
func (f *Failing) reasonsLine(width int) string {
	text := ""
	for _, r := range f.Reasons {
		next := fmt.Sprintf("%s %s", Thousands(r.Rows), problemWords[r.Problem].Short)
		switch {
		case text == "":
			text = "why rows fail: " + next
		case len(text)+len(", ")+len(next)+len(", …") > width:
			return text + ", …"
		default:
			text += ", " + next
		}
	}
	return text
}

// Keep leaves the first limit rows.
func (f *Failing) Keep(limit int) {
	if limit < len(f.Rows) {
		f.Left += int64(len(f.Rows) - limit)
		clear(f.Rows[limit:])
		f.Rows = f.Rows[:limit]
	}
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

// WhyColumns are the columns of rows.parquet that a reason can be seen in.
var WhyColumns = []string{
	"error", "fails_because",
	"citations", "valid_citations", "truth_spans", "matched_spans", "needing_claims", "cited_claims",
	"contradicted_claims", "hallucinated_claims", "open",
}

// NewFailingRow says why a row fails, from its error or its WhyColumns.
func NewFailingRow(row *runs.Row, value *float64) FailingRow {
	f := FailingRow{Row: row.Row, ID: row.ID, System: row.System, Because: row.FailsBecause, Value: value, Why: []string{}}
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

// title is the finding in words.
func (f *Failing) title() string {
	title := fmt.Sprintf("run %s: %s of %s %s", CleanLine(f.Run.ID), Thousands(f.Failing), Plural(f.Run.Rows, "row", "rows"), oneOrMany(f.Failing, "fails", "fail"))
	if f.Gate != "" {
		title += fmt.Sprintf("; %s of them do not meet %s", Thousands(f.missing), f.Gate)
	}
	if f.unscored > 0 {
		title += fmt.Sprintf(", %s not scored", Thousands(f.unscored))
	}
	if f.Undefined > 0 {
		title += fmt.Sprintf(", %s without value", Thousands(f.Undefined))
	}
	return title
}

// Write renders the rows as text, json, csv or markdown; json and csv row by row.
func (f *Failing) Write(w io.Writer, format string, o TextOptions) error {
	switch format {
	case "json":
		return f.writeJSON(w)
	case "csv":
		return f.writeCSV(w)
	}
	section, err := f.section()
	if err != nil {
		return err
	}
	return writeSection(w, section, format, o)
}

// section is why rows fail, and the rows.
func (f *Failing) section() (doc.Section, error) {
	reasons := doc.Table{Caption: "Why answers fail", Columns: []doc.Column{{Name: "why"}, {Name: "answers", Number: true}}}
	for _, r := range f.Reasons {
		reasons.Rows = append(reasons.Rows, []doc.Cell{{Text: doc.Text{problemWords[r.Problem].span("")}}, doc.C(Thousands(r.Rows))})
	}
	rows := doc.Table{Caption: "The worst first", Columns: []doc.Column{{Name: "answer"}, {Name: "row", Number: true, Keep: 3}, {Name: "fails because"}, {Name: shortName(f.Metric), Number: true}, {Name: "why", Keep: 1}}}
	err := f.each(func(r *FailingRow) error {
		rows.Rows = append(rows.Rows, []doc.Cell{doc.C(r.name()), doc.C(fmt.Sprintf("#%d", r.Row)), doc.C(problemWords[r.Problem].Short), doc.C(numberOrDash(r.Value)), doc.C(clip(strings.Join(r.Why, ", "), 30))})
		return nil
	})
	out := doc.Section{Title: f.title()}
	if len(rows.Rows) > 0 {
		out.Blocks = append(out.Blocks, reasons, rows)
	}
	if f.Left > 0 {
		out.Blocks = append(out.Blocks, doc.Para{Text: doc.T(Thousands(f.Left) + " more with --limit 0")})
	}
	return out, err
}

// failingJSON is the JSON form of failing rows.
type failingJSON struct {
	Schema    string          `json:"schema"`
	Run       runJSON         `json:"run"`
	Failing   int64           `json:"failing"`
	Gate      string          `json:"gate,omitempty"`
	Undefined int64           `json:"undefined"`
	Left      int64           `json:"left_out,omitempty"`
	Reasons   []failingReason `json:"reasons"`
	Rows      []FailingRow    `json:"rows"`
}

// writeJSON writes what WriteJSON would, row by row.
func (f *Failing) writeJSON(w io.Writer) error {
	var head bytes.Buffer
	if err := WriteJSON(&head, failingJSON{"ibid.failing/v1", runOf(f.Run), f.Failing, f.Gate, f.Undefined, f.Left, append([]failingReason{}, f.Reasons...), []FailingRow{}}); err != nil {
		return err
	}
	const end = "]\n}\n"
	before, ok := bytes.CutSuffix(head.Bytes(), []byte(end))
	if !ok {
		return errors.New("internal error: rows are not the last member")
	}
	out := bufio.NewWriter(w)
	out.Write(before)
	var row bytes.Buffer
	e := json.NewEncoder(&row)
	e.SetIndent("    ", "  ")
	e.SetEscapeHTML(false)
	separator := "\n    "
	err := f.each(func(r *FailingRow) error {
		row.Reset()
		if err := e.Encode(r); err != nil {
			return err
		}
		out.WriteString(separator)
		separator = ",\n    "
		_, err := out.Write(bytes.TrimSuffix(row.Bytes(), []byte("\n")))
		return err
	})
	if err != nil {
		return err
	}
	if separator[0] == ',' {
		out.WriteString("\n  ")
	}
	out.WriteString(end)
	return out.Flush()
}

func (f *Failing) writeCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	err := out.Write([]string{"row", "id", "system", "fails_because", f.Metric, "why"})
	if err == nil {
		err = f.each(func(r *FailingRow) error {
			return out.Write([]string{count(r.Row), r.ID, r.System, r.Because, exact(r.Value), strings.Join(r.Why, "; ")})
		})
	}
	out.Flush()
	return cmp.Or(err, out.Error())
}
