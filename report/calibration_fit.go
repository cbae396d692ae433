package report

import (
	"fmt"

	"ibid"
	"ibid/metrics/stats"
)

// A Fit is the view model of weights that were fitted to labels, and of what they gain
// on labels that the model at hand has not seen.
type Fit struct {
	File      string // that has the weights, "" if none was written
	Features  []FittedFeature
	Labels    int64
	Yes       int64 // labels that are a yes
	Documents int64 // groups of documents that no label connects
	Ridge     float64
	Before    ibid.Number    // AUROC without weights
	Gain      stats.Estimate // of AUROC
	P         ibid.Number    // of the gain
}

// A FittedFeature is the weight of a feature in the models of a fit.
type FittedFeature struct {
	Name string  `json:"name"`
	Mean float64 `json:"mean"`
	Low  float64 `json:"least"`
	High float64 `json:"most"`
}

func (f *Fit) write(p *paper) {
	p.heading(fmt.Sprintf("Weights of a logistic regression, ridge %g: %s labels about %s documents, %s of them a yes",
		f.Ridge, Thousands(f.Labels), Thousands(f.Documents), Thousands(f.Yes)))
	t := &table{header: []string{"feature", "mean of five", "least", "most"}, right: 1}
	for _, x := range f.Features {
		t.rows = append(t.rows, []string{x.Name, number(x.Mean), number(x.Low), number(x.High)})
	}
	p.table(t)
	gain, low, high := numberOf(ibid.Number{}), (*float64)(nil), (*float64)(nil)
	if f.Gain.Defined() {
		gain = fmt.Sprintf("%+.3f", f.Gain.Value)
	}
	if f.Gain.HasInterval {
		low, high = &f.Gain.Low, &f.Gain.High
	}
	p.line(fmt.Sprintf("every label is scored by the model that has not seen its document; AUROC without weights %s, gain %s %s, p %s over documents",
		numberOf(f.Before), gain, interval(low, high), numberOf(f.P)))
	if f.File != "" {
		p.line(fmt.Sprintf("written to %s; use them with judge.lexical.weights: %s", CleanLine(f.File), CleanLine(f.File)))
	}
}

type fitJSON struct {
	File      string          `json:"file,omitempty"`
	Features  []FittedFeature `json:"features"`
	Labels    int64           `json:"labels"`
	Yes       int64           `json:"yes"`
	Documents int64           `json:"documents"`
	Ridge     float64         `json:"ridge"`
	Before    ibid.Number     `json:"auroc_without_weights"`
	Gain      *float64        `json:"gain"`
	Low       *float64        `json:"ci_low"`
	High      *float64        `json:"ci_high"`
	P         ibid.Number     `json:"p"`
}

func (f *Fit) toJSON() *fitJSON {
	if f == nil {
		return nil
	}
	out := &fitJSON{
		File: f.File, Features: f.Features, Labels: f.Labels, Yes: f.Yes, Documents: f.Documents, Ridge: f.Ridge, Before: f.Before, P: f.P,
	}
	if f.Gain.Defined() {
		out.Gain = &f.Gain.Value
	}
	if f.Gain.HasInterval {
		out.Low, out.High = &f.Gain.Low, &f.Gain.High
	}
	return out
}
