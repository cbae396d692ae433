package report

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"ibid"
	"ibid/configs"
	"ibid/dataset/runs"
	"ibid/report/doc"
)

// maxPageBytes is about the size above which a page opens only some of its answers.
const maxPageBytes = 25_000_000

// RunData is one finished run that a page shows.
type RunData struct {
	Dir      string // the run directory, for its result files
	Manifest *runs.Manifest
	Summary  []runs.SummaryRow // as far as pages show it, see [RunData.ReadSummary]
	Gates    []runs.GateResult
	Texts    Texts                   // nil if they are not at hand
	NoTexts  string                  // why they are not
	Display  configs.CitationDisplay // of citations
	Parts    Parts
}

// Texts yields what a run read: the rows at some positions of the input, ascending and each
// once, their places resolved, and a function that returns the text of a key. Both are valid
// until yield returns.
// Documents that are named only in further must be at hand, too.
type Texts interface {
	Each(ctx context.Context, further []string, rows []int64, yield func(row *ibid.Answer, text func(doc string, page int32) (string, bool)) error) error
}

// PageOptions say how a page is made. The zero value is ready.
type PageOptions struct {
	MaxBytes int    // about the size of the file; 0 means 25 MB
	Version  string // of the program, for the foot of the page

	Compared

	Past *Series // of the one run, up to it; nil if there is none

	Links []doc.Link // to other pages, where there are some
}

// A pageData is what the sections of a page are made from.
type pageData struct {
	options    PageOptions
	results    []*results
	systems    []string // in the order of the page
	lead       []string // names of the metrics that matter most, best first
	states     counts   // of answers
	statuses   counts   // of citations
	outcomes   counts   // of claims
	kinds      map[string]*kindCount
	low        []lowSource // citations of the least relevance, the lowest first
	lows       int64       // how many are of low relevance
	quotations quotations
	answers    []*answer // that the page lists, run by run in the order of the input
	list       doc.Table // of them
	opened     int64     // that can be opened
	left       string    // which answers are left out, in words; "" if none
	packs      []doc.Pack

	disagreements [][]*disagreementView // of each run
}

// results are what a page holds of a run besides its answers.
type results struct {
	run     *RunData
	summary *Summary
	prefix  string // of its systems' names, when there are several runs
	judged  bool   // there are claims with verdicts

	agreement   []runs.AgreementRow
	calibration *Calibration // nil if nobody compared the judge with people
}

// docSection is a section that is made of blocks, nil if there are none.
func docSection(id, title string, blocks []doc.Block) *doc.Section {
	if len(blocks) == 0 {
		return nil
	}
	return &doc.Section{ID: id, Title: title, Blocks: blocks}
}

// sections makes the parts of a page, in their order. A section is a function of the data; it
// returns nil if it has nothing to show.
var sections = []func(*pageData) *doc.Section{
	verdictSection, answersSection, changesSection, compareSection, historySection, judgeSection, agreementSection, quotesSection, whySection,
	metricsSection, methodSection, provenanceSection,
}

// WritePage writes the page of one run, or of several side by side, as one HTML file that
// loads nothing. Systems of several runs are named RUN/SYSTEM.
func WritePage(ctx context.Context, w io.Writer, o PageOptions, runs ...RunData) error {
	p, err := newPage(ctx, o, runs...)
	if err != nil {
		return err
	}
	return p.Write(w)
}

func newPage(ctx context.Context, o PageOptions, runs ...RunData) (*doc.Page, error) {
	data, err := readPageData(ctx, o, runs, mostAnswers)
	if err != nil {
		return nil, err
	}
	p := &doc.Page{Version: o.Version, Links: o.Links, Packs: data.packs}
	for k, r := range data.results {
		if k > 0 {
			p.Title += ", "
		}
		p.Title += clip(r.run.Manifest.ID, 80)
	}
	for _, section := range sections {
		if s := section(data); s != nil {
			p.Sections = append(p.Sections, *s)
		}
	}
	return p, nil
}

// readPageData reads what a page of runs is made from; it lists at most so many answers.
func readPageData(ctx context.Context, o PageOptions, all []RunData, most int) (*pageData, error) {
	if len(all) == 0 {
		return nil, fmt.Errorf("no run")
	}
	data := newPageData(o, all)
	s, err := readAnswers(data, most, nil)
	if err != nil {
		return nil, err
	}
	for run, r := range data.results {
		if err := errors.Join(s.items(run), r.readRest(), data.readQuotations(run)); err != nil {
			return nil, fmt.Errorf("%s: %w", r.run.Dir, err)
		}
	}
	if err := readDisagreements(data); err != nil {
		return nil, err
	}
	compareAnswers(data)
	if err := packAnswers(ctx, data); err != nil {
		return nil, err
	}
	data.left = leftOut(data)
	return data, nil
}

func newPageData(o PageOptions, all []RunData) *pageData {
	if o.MaxBytes == 0 {
		o.MaxBytes = maxPageBytes
	}
	data := &pageData{options: o, quotations: quotations{counts: make(map[string]map[string]int64), open: make(map[string]int64)}, kinds: make(map[string]*kindCount), disagreements: make([][]*disagreementView, len(all))}
	for run := range all {
		r := &results{run: &all[run], summary: NewSummary(all[run].Manifest, all[run].Summary, all[run].Gates)}
		if len(all) > 1 {
			r.prefix = all[run].Manifest.ID + "/"
		}
		r.summary.Compared = o.Compared
		data.results = append(data.results, r)
		for _, b := range r.summary.systems() {
			if name := r.prefix + b.System; !slices.Contains(data.systems, name) {
				data.systems = append(data.systems, name)
			}
		}
	}
	data.lead = leadOf(func(name string) bool {
		return slices.ContainsFunc(data.results, func(r *results) bool { return r.summary.has(name) })
	})
	return data
}

// readRest reads the tables of the run that are small.
func (r *results) readRest() (err error) {
	if r.agreement, err = runs.Agreement.ReadIfAny(r.run.Dir); err != nil {
		return err
	}
	r.calibration, err = ReadCalibration(r.run.Dir)
	return err
}

// several reports whether the page is of several runs; their numbers are not
// pooled.
func (data *pageData) several() bool { return len(data.results) > 1 }

// named is the id of a run in a format, where the page is of several; else "".
func (data *pageData) named(format string, r *results) string {
	if !data.several() {
		return ""
	}
	return fmt.Sprintf(format, clip(r.run.Manifest.ID, 40))
}

// judged reports whether some run has verdicts.
func (data *pageData) judged() bool {
	return slices.ContainsFunc(data.results, func(r *results) bool { return r.judged })
}

// judgeKind is who judged: none, lexical, human or a kind of model.
func (r *results) judgeKind() string {
	kind := r.run.Manifest.Judge.Kind
	if kind == "" || !r.judged {
		return "none"
	}
	return strings.ToLower(kind)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
