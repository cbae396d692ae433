package report

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"ibid"
	"ibid/annotations"
	"ibid/dataset/runs"
	"ibid/metrics/stats"
)

// calibrationSchema names the JSON form of a calibration, printed or left in a run.
const calibrationSchema = "ibid.calibration/v1"

type calibrationJSON struct {
	Schema    string            `json:"schema"`
	Title     string            `json:"title"`
	Of        string            `json:"labelled_run,omitempty"`
	Kinds     []kindJSON        `json:"kinds"`
	Repeated  *repeatedJSON     `json:"repeated,omitempty"`
	Fit       *fitJSON          `json:"fit,omitempty"`
	Corrected []runs.SummaryRow `json:"corrected"`
	Warnings  []string          `json:"warnings"`
}

type kindJSON struct {
	Kind       string                       `json:"kind"`
	Judge      string                       `json:"judge"`
	Items      int64                        `json:"items"`
	Documents  int64                        `json:"documents"`
	Threshold  float64                      `json:"threshold"`
	Positive   float64                      `json:"positive"`
	TP         int64                        `json:"tp"`
	FP         int64                        `json:"fp"`
	FN         int64                        `json:"fn"`
	TN         int64                        `json:"tn"`
	Level      float64                      `json:"level"`
	Statistics []annotations.CalibrationRow `json:"statistics"`
	Bins       int                          `json:"bins"`
	EqualWidth []binJSON                    `json:"equal_width"`
	EqualMass  []binJSON                    `json:"equal_mass"`
	Best       *thresholdJSON               `json:"best_threshold"`
	Isotonic   *recalibratedJSON            `json:"isotonic"`
	Noise      *noiseJSON                   `json:"noise"`
	Warnings   []string                     `json:"warnings"`
}

type binJSON struct {
	Index        int      `json:"bin"`
	Count        int64    `json:"count"`
	MeanScore    float64  `json:"mean_score"`
	PositiveRate float64  `json:"positive_rate"`
	Low          *float64 `json:"ci_low"`
	High         *float64 `json:"ci_high"`
}

type thresholdJSON struct {
	Threshold        float64     `json:"threshold"`
	HeldOut          heldOutJSON `json:"held_out"`
	BalancedAccuracy ibid.Number `json:"held_out_balanced_accuracy"`
}

type heldOutJSON struct {
	TP int64 `json:"tp"`
	FP int64 `json:"fp"`
	FN int64 `json:"fn"`
	TN int64 `json:"tn"`
}

type recalibratedJSON struct {
	X           []float64   `json:"x"`
	Fitted      []float64   `json:"fitted"`
	FittedOn    int64       `json:"fitted_on"`
	ReportedOn  int64       `json:"reported_on"`
	ECEBefore   ibid.Number `json:"ece_before"`
	ECEAfter    ibid.Number `json:"ece_after"`
	BrierBefore ibid.Number `json:"brier_before"`
	BrierAfter  ibid.Number `json:"brier_after"`
}

type noiseJSON struct {
	Items     int64   `json:"items"`
	Judgments int64   `json:"judgments"`
	Judge     float64 `json:"judge_variance"`
	Sample    float64 `json:"sample_variance"`
}

func (c *Calibration) writeJSON(w io.Writer) error { return WriteJSON(w, c.toJSON()) }

func (c *Calibration) toJSON() *calibrationJSON {
	out := &calibrationJSON{
		Schema: calibrationSchema, Title: c.Title, Of: c.Of, Kinds: []kindJSON{}, Fit: c.Fit.toJSON(), Corrected: append([]runs.SummaryRow{}, c.Corrected...), Warnings: append([]string{}, c.Warnings...),
	}
	for _, k := range c.Kinds {
		out.Kinds = append(out.Kinds, kindToJSON(k))
	}
	if c.Repeated != nil {
		out.Repeated = repeatedOf(c.Repeated)
	}
	return out
}

func kindToJSON(k *annotations.Calibration) kindJSON {
	j := kindJSON{
		Kind: k.Kind, Judge: k.Judge, Items: k.Items, Documents: k.Documents, Threshold: k.Threshold, Positive: k.Positive,
		TP: k.Confusion.TP, FP: k.Confusion.FP, FN: k.Confusion.FN, TN: k.Confusion.TN, Level: k.Level, Statistics: k.Statistics, Bins: k.Bins,
		EqualWidth: binsToJSON(k.EqualWidth), EqualMass: binsToJSON(k.EqualMass), Warnings: append([]string{}, k.Warnings...),
	}
	if b := k.Best; b != nil {
		j.Best = &thresholdJSON{b.Threshold, heldOutJSON(b.HeldOut), b.BalancedAccuracy}
	}
	j.Isotonic, j.Noise = (*recalibratedJSON)(k.Isotonic), (*noiseJSON)(k.Noise)
	return j
}

func binsToJSON(bins []annotations.CalibrationBin) []binJSON {
	out := []binJSON{}
	for _, b := range bins {
		out = append(out, binJSON(b))
	}
	return out
}

// calibration is the kind that was written.
func (j *kindJSON) calibration() *annotations.Calibration {
	k := &annotations.Calibration{
		Kind: j.Kind, Judge: j.Judge, Items: j.Items, Documents: j.Documents, Threshold: j.Threshold, Positive: j.Positive,
		Confusion: stats.Confusion{TP: j.TP, FP: j.FP, FN: j.FN, TN: j.TN}, Level: j.Level, Statistics: j.Statistics, Bins: j.Bins,
		Isotonic: (*annotations.Recalibration)(j.Isotonic), Noise: (*annotations.Noise)(j.Noise), Warnings: j.Warnings,
	}
	for _, b := range j.EqualWidth {
		k.EqualWidth = append(k.EqualWidth, annotations.CalibrationBin(b))
	}
	for _, b := range j.EqualMass {
		k.EqualMass = append(k.EqualMass, annotations.CalibrationBin(b))
	}
	if b := j.Best; b != nil {
		k.Best = &annotations.BestThreshold{Threshold: b.Threshold, HeldOut: stats.Confusion(b.HeldOut), BalancedAccuracy: b.BalancedAccuracy}
	}
	return k
}

// SaveCalibration leaves a calibration in the directory of its run, in the form
// that format json prints.
func SaveCalibration(dir string, c *Calibration) error {
	return runs.WriteJSON(filepath.Join(dir, runs.CalibrationFile), c.toJSON())
}

// ReadCalibration reads what [SaveCalibration] left in the directory of a run; nil
// if there is none. What was judged again is not read, nor what was corrected, which
// the summary of the run has.
func ReadCalibration(dir string) (*Calibration, error) {
	path := filepath.Join(dir, runs.CalibrationFile)
	var in calibrationJSON
	_, err := runs.ReadJSON(path, &in)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if in.Schema != calibrationSchema {
		return nil, fmt.Errorf("%s: schema is %q, this ibid reads %q", path, in.Schema, calibrationSchema)
	}
	c := &Calibration{Title: in.Title, Of: in.Of, Warnings: in.Warnings}
	for i := range in.Kinds {
		c.Kinds = append(c.Kinds, in.Kinds[i].calibration())
	}
	return c, nil
}
