package report

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"ibid/metrics"
)

// A pageData is what the sections of a page are made from.
type pageData struct {
	options PageOptions
	results []*results
	summary summaryIndex
	systems []string // in the order of the page
	lead    []string // names of the metrics that matter most, best first
	limits  []limits // of each run
	rows    []pageRow
	docs    []*docCount // those most often cited wrongly first
	worst   []badCitation
	totals  totals
	held    heldRows
	sampled string // which rows are left out, in words; "" if none
	opened  int64  // rows that can be opened
	kinds   kindCounts
	reasons reasons
	packs   []pack
	trends  *historyView // nil if there are too few nights
	notes   footnotes    // that sections have asked for so far

	disagreements [][]*disagreementView // of each run
}

// A pageRow is one row of one run.
type pageRow struct {
	run, index int
	problem    metrics.Problem
	question   string
	system     int
}

// readPageData reads what pages show of runs.
func readPageData(ctx context.Context, o PageOptions, runs []RunData) (*pageData, error) {
	if o.MaxBytes == 0 {
		o.MaxBytes = maxPageBytes
	}
	if len(runs) == 0 {
		return nil, fmt.Errorf("no run")
	}
	data := &pageData{options: o, kinds: make(kindCounts)}
	for k := range runs {
		prefix := ""
		if len(runs) > 1 {
			prefix = runs[k].Manifest.ID + "/"
		}
		r, err := readResults(&runs[k], prefix)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", runs[k].Dir, err)
		}
		data.results = append(data.results, r)
		data.limits = append(data.limits, limitsOf(r.run.Manifest))
	}
	data.summary = indexSummary(data.results)
	data.systems = data.summary.systems()
	data.lead = leadOf(func(name string) bool {
		return slices.ContainsFunc(data.results, func(r *results) bool { return r.metric(name) != nil })
	})
	listRows(data)
	data.docs = countDocuments(data)
	data.worst = findWorst(data)
	if err := readDisagreements(data); err != nil {
		return nil, err
	}
	if err := packRows(ctx, data); err != nil {
		return nil, err
	}
	data.trends = newHistory(data)
	return data, nil
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
