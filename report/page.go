package report

import (
	"context"
	"fmt"
	"io"

	"ibid/annotations"
	"ibid/annotations/compare"
	"ibid/dataset"
	"ibid/dataset/runs"
)

// MaxPageBytes is the size above which a page holds only some of the rows.
const MaxPageBytes = 25_000_000

// RunData is one finished run that a page shows.
type RunData struct {
	Dir      string // the run directory, for its result files
	Manifest *runs.Manifest
	Summary  []runs.SummaryRow
	Gates    []runs.GateResult
	Texts    Texts    // nil if they are not at hand
	NoTexts  string   // why they are not
	Display  *Display // nil means [DefaultDisplay]
	Parts    Parts
}

// display is what the rows of the run show of their citations.
func (d *RunData) display() Display {
	if d.Display == nil {
		return DefaultDisplay()
	}
	return *d.Display
}

// Texts yields what a run read: its rows in the order of the input, the places
// of each, and a function that returns the text of a key. All three are valid
// until yield returns. Documents that are named only in further must be at hand,
// too.
type Texts interface {
	Each(ctx context.Context, further []string, yield func(row *dataset.Row, places *dataset.Resolved, text func(doc string, page int32) (string, bool)) error) error
}

// PageOptions say how a page is made. The zero value is ready.
type PageOptions struct {
	MaxBytes int    // about the size of the file; 0 means [MaxPageBytes]
	Version  string // of the program, for the foot of the page

	Comparison  *compare.Result  // of the runs, or of the systems of the one run; nil if there is none
	NotCompared string           // why there is none, where somebody may expect one
	Drifts      []*compare.Drift // of the judge between runs that are not compared; those of a comparison are its own

	Past *annotations.Past // of the one run; nil if there is none
}

// A Page is the view model of the HTML report: every number and string of it.
type Page struct {
	Title    string
	Version  string
	Several  bool // there is more than one run
	Judged   bool // some run has verdicts
	Baseline bool // verdicts of some run are those of the lexical baseline

	// BaselineIn names the runs whose verdicts are the baseline's where another judge
	// judged others, such as " in night-1".
	BaselineIn string

	Runs       []RunHead
	Headline   string    // the verdict in one sentence
	State      GateHead  // the verdict in one word
	Lines      []Finding // the verdict in more words
	Findings   []Finding // what stands out
	Kinds      *KindTable
	Advice     []Finding      // what to do first
	Documents  []DocumentLine // those most often cited wrongly
	Tiles      []Tile
	Groups     []MetricGroup
	Slices     []SliceGroup
	Spreads    []Spread
	Systems    []SystemHead
	Compare    []CompareGroup
	Comparison *CompareSection     // nil if there is none
	Differs    *SettingsDifference // what the runs differ in
	Judges     []JudgeSection      // of runs that asked a model
	Drifts     []DriftView         // of the judge between runs that have anchors
	Agreement  []AgreementSection  // of runs whose annotators can be compared
	History    *HistorySection     // nil if there are too few nights
	Outcomes   *Bars               // of claims; nil without a judge
	Statuses   *Bars               // of citations
	Worst      []WorstCitation
	Rows       RowsTable
	Method     Method
	Sources    []Provenance
	Notes      []string // footnotes, each once

	notes map[string]int
	packs []pack // what the script of the page opens
}

// NewPage makes the view model of one run, or of several side by side. Systems
// of several runs are named RUN/SYSTEM.
func NewPage(ctx context.Context, o PageOptions, data ...RunData) (*Page, error) {
	if o.MaxBytes == 0 {
		o.MaxBytes = MaxPageBytes
	}
	if len(data) == 0 {
		return nil, fmt.Errorf("no run")
	}
	b := &pageBuilder{options: o, kinds: make(kindCounts), page: &Page{Version: o.Version, Several: len(data) > 1, notes: make(map[string]int)}}
	for k := range data {
		prefix := ""
		if len(data) > 1 {
			prefix = data[k].Manifest.ID + "/"
		}
		r, err := readResults(&data[k], prefix)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", data[k].Dir, err)
		}
		b.results = append(b.results, r)
	}
	if err := b.build(ctx); err != nil {
		return nil, err
	}
	return b.page, nil
}

// WritePage makes the page of the runs and writes it as one self-contained HTML
// file.
func WritePage(ctx context.Context, w io.Writer, o PageOptions, data ...RunData) error {
	p, err := NewPage(ctx, o, data...)
	if err != nil {
		return err
	}
	return p.Write(w)
}

// A pageBuilder makes one page.
type pageBuilder struct {
	options    PageOptions
	page       *Page
	results    []*results
	summary    summaryIndex
	systems    []string // in the order of the page
	lead       []string // names of the metrics that matter most, best first
	leadJudges bool     // see leadJudges
	limits     []limits // of each run
	rows       []pageRow
	docs       []*docCount // those most often cited wrongly first
	worst      []badCitation
	totals     totals
	held       heldRows
	kinds      kindCounts
	reasons    reasons

	disagreements [][]*DisagreementView // of each run
}

// A pageRow is one row of one run.
type pageRow struct {
	run, index int
	problem    problem
	question   string
	system     int
}

func (b *pageBuilder) build(ctx context.Context) error {
	p := b.page
	b.summary = indexSummary(b.results)
	b.systems = b.summary.systems()
	b.lead = leadMetrics(b.results)
	b.leadJudges = leadJudges(b.lead)
	for _, r := range b.results {
		b.limits = append(b.limits, limitsOf(r.run.Manifest))
	}
	b.listRows()
	b.docs = b.countDocuments()
	b.worst = b.findWorst()
	for _, r := range b.results {
		p.Judged = p.Judged || r.judged
		p.Baseline = p.Baseline || r.judgeKind() == "lexical"
	}
	p.BaselineIn = b.baselineIn()
	if err := b.readDisagreements(); err != nil {
		return err
	}
	if err := b.packRows(ctx); err != nil {
		return err
	}
	b.verdict()
	b.metricGroups()
	b.sliceGroups()
	b.compare()
	b.comparison()
	if err := b.agreement(); err != nil {
		return err
	}
	if err := b.judges(); err != nil {
		return err
	}
	b.history()
	b.drifts()
	p.Differs = b.settingsDifference()
	b.why()
	b.analysis()
	b.spreads()
	b.method()
	for _, r := range b.results {
		p.Sources = append(p.Sources, provenance(r.run))
	}
	return nil
}

// parts are what some run wants left out.
func (b *pageBuilder) parts() Parts {
	var p Parts
	for _, r := range b.results {
		p.NoSpans = p.NoSpans || r.run.Parts.NoSpans
		p.NoHallucinations = p.NoHallucinations || r.run.Parts.NoHallucinations
	}
	return p
}

// pooled is the group of all systems; a page of several runs has none.
func (b *pageBuilder) pooled() bool { return len(b.results) == 1 }

// note numbers a footnote; equal texts share a number.
func (p *Page) note(text string) int {
	n, ok := p.notes[text]
	if !ok {
		p.Notes = append(p.Notes, text)
		n = len(p.Notes)
		p.notes[text] = n
	}
	return n
}
