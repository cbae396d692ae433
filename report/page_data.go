package report

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"ibid/dataset/runs"
)

// A pageData is what the sections of a page are made from.
type pageData struct {
	options PageOptions
	results []*results
	summary summaryIndex
	systems []string        // in the order of the page
	lead    []string        // names of the metrics that matter most, best first
	axes    map[string]axis // see sharedAxis
	limits  []limits        // of each run
	rows    []pageRow       // those that are held of the runs, in order
	docs    []*docCount     // those cited wrongly, the most often first
	totals  totals
	ranges  map[string]*valueRange // by metric
	held    []int                  // places of the rows that the page lists, in order
	sampled string                 // which rows are left out, in words; "" if none
	opened  int64                  // rows that can be opened
	kinds   kindCounts
	reasons reasons
	packs   []pack
	asked   *asked // the rows that a served page shows; nil of other pages

	disagreements [][]*disagreementView // of each run
}

type pageRow struct {
	candidate
	index    int // in the results of its run
	question string
}

func readPageData(ctx context.Context, o PageOptions, all []RunData) (*pageData, error) {
	if o.MaxBytes == 0 {
		o.MaxBytes = maxPageBytes
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no run")
	}
	data := &pageData{options: o, kinds: make(kindCounts)}
	chosen, err := readTables(data, all)
	if err != nil {
		return nil, err
	}
	if err := readDisagreements(data); err != nil {
		return nil, err
	}
	if err := packRows(ctx, data, chosen); err != nil {
		return nil, err
	}
	return data, nil
}

// readTables counts what all rows of the runs hold, and reads those that the page
// lists. Small runs are read once; of large ones, only blocks are in memory when
// they are counted.
func readTables(data *pageData, all []RunData) (chosen *choice, err error) {
	tables, rows, err := beginTables(data, all)
	defer func() { closeTables(tables, &err) }()
	if err != nil {
		return nil, err
	}
	of := func(run int, err error) error {
		if err == nil {
			return nil
		}
		return fmt.Errorf("%s: %w", all[run].Dir, err)
	}
	chooser := newChooser(cmp.Or(data.options.maxRows, maxListed), rows)
	s := newSurvey(data, chooser, len(all))
	for run, b := range tables {
		r := &results{}
		if chooser.all {
			if r, err = b.load(int(b.rows.Len()), nil); err == nil {
				s.count(run, r)
			}
		} else {
			err = b.each(func(block *results) error { s.count(run, block); return nil })
		}
		if err != nil {
			return nil, of(run, err)
		}
		data.results = append(data.results, r)
	}
	chosen = new(chooser.choose())
	data.docs = s.documents()
	if !chooser.all {
		if err := loadChosen(data, tables, chosen); err != nil {
			return nil, err
		}
	}
	for run, r := range data.results {
		r.systems = len(s.ofRun[run])
		if err := r.readRest(); err != nil {
			return nil, of(run, err)
		}
	}
	listRows(data, s)
	return chosen, nil
}

// prefixOf is what stands before the names of a run's systems: "" if there is no
// other run.
func prefixOf(all []RunData, run int) string {
	if len(all) == 1 {
		return ""
	}
	return all[run].Manifest.ID + "/"
}

// loadChosen reads the rows that are listed, and the rows that those are compared with.
func loadChosen(data *pageData, tables []*tableReader, chosen *choice) error {
	wanted := make([]map[int64]bool, len(tables))
	for run := range wanted {
		wanted[run] = make(map[int64]bool)
	}
	for i := range chosen.listed {
		wanted[chosen.listed[i].run][chosen.listed[i].row] = true
	}
	var bases map[rowName]bool
	load := func() error {
		for run, b := range tables {
			r, err := b.load(len(wanted[run]), func(row int64, id, system string) bool {
				return wanted[run][row] || bases[rowName{b.run.Manifest.ID, id, system}]
			})
			if err != nil {
				return fmt.Errorf("%s: %w", b.run.Dir, err)
			}
			data.results[run] = r
		}
		return nil
	}
	if err := load(); err != nil || data.options.Comparison == nil || data.options.Comparison.By != "run" {
		return err
	}
	bases = basesOf(data.results, data.options.Comparison)
	return load()
}

// readRest reads the tables of the run that are small.
func (r *results) readRest() (err error) {
	if r.calls, err = readCalls(r.run.Dir); err != nil {
		return err
	}
	if r.agreement, err = runs.ReadAgreement(r.run.Dir); err != nil {
		return err
	}
	r.calibration, err = ReadCalibration(r.run.Dir)
	return err
}

func listRows(data *pageData, s *survey) {
	for run, r := range data.results {
		l := &data.limits[run]
		for i := range r.row {
			row := pageRow{index: i, candidate: candidate{run: run, row: r.row[i], problem: l.ofRow(r, i), system: s.system(r.system[i])}}
			row.lead, row.hasLead = leadValue(data, r, i)
			data.rows = append(data.rows, row)
		}
	}
}

// find is the place of a row of a run among those that were read; false if it was
// not.
func (data *pageData) find(run int, row int64) (int, bool) {
	want := candidate{run: run, row: row}
	return slices.BinarySearchFunc(data.rows, want, func(r pageRow, want candidate) int { return r.before(want) })
}

// places are the places of rows that were read, in order.
func (data *pageData) places(rows []candidate) []int {
	out := make([]int, len(rows))
	for i := range rows {
		out[i], _ = data.find(rows[i].run, rows[i].row)
	}
	return out
}

// several reports whether the page is of several runs; their numbers are not
// pooled.
func (data *pageData) several() bool { return len(data.results) > 1 }

// judged reports whether some run has verdicts.
func (data *pageData) judged() bool {
	for _, r := range data.results {
		if r.judged {
			return true
		}
	}
	return false
}

// partsLeftOut are the parts that some run wants left out.
func (data *pageData) partsLeftOut() Parts {
	var p Parts
	for _, r := range data.results {
		p.NoSpans = p.NoSpans || r.run.Parts.NoSpans
		p.NoHallucinations = p.NoHallucinations || r.run.Parts.NoHallucinations
	}
	return p
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
