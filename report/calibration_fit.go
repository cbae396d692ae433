package report

import (
	"fmt"

	"ibid"
)

// A Fit is the view model of weights that were fitted to labels, and of what they gain
// on labels that the model at hand has not seen.
type Fit struct {
	File      string          `json:"file,omitempty"` // that has the weights, "" if none was written
	Features  []FittedFeature `json:"features"`
	Labels    int64           `json:"labels"`
	Yes       int64           `json:"yes"`       // labels that are a yes
	Documents int64           `json:"documents"` // groups of documents that no label connects
	Ridge     float64         `json:"ridge"`
	Before    ibid.Number     `json:"auroc_without_weights"`
	Gain      *float64        `json:"gain"` // of AUROC; nil if it is not defined
	Low       *float64        `json:"ci_low"`
	High      *float64        `json:"ci_high"`
	P         ibid.Number     `json:"p"` // of the gain
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
	gain := numberOrDash(nil)
	if f.Gain != nil {
		gain = fmt.Sprintf("%+.3f", *f.Gain)
	}
	p.line(fmt.Sprintf("every label is scored by the model that has not seen its document; AUROC without weights %s, gain %s %s, p %s over documents",
		numberOf(f.Before), gain, interval(f.Low, f.High), numberOf(f.P)))
	if f.File != "" {
		p.line(fmt.Sprintf("written to %s; use them with judge.lexical.weights: %s", CleanLine(f.File), CleanLine(f.File)))
	}
}
