//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ibid/annotations"
	"ibid/configs"
	"ibid/harness"
	"ibid/judge"
)

// A laboratory runs judges over labelled sets. Runs are kept in dir.
type laboratory struct {
	dir      string
	settings []string // KEY=VALUE of models
}

// A variant is one judge with its settings.
type variant struct {
	name     string
	settings []string    // KEY=VALUE
	judge    judge.Judge // unless the settings name it
}

// A measured is what a judge came to on one set.
type measured struct {
	variant     string
	calibration *annotations.Calibration
	items       []annotations.Verdict // one a claim, by name
	cost        *float64              // US dollars for 1,000 claims; nil if nothing was asked
	seconds     float64               // for 1,000 claims
}

// run measures all judges on all sets and prints what they came to.
func (l *laboratory) run(ctx context.Context, out io.Writer, sets []*labelledSet, models string) error {
	defer os.RemoveAll(l.dir)
	for _, set := range sets {
		all := []variant{{name: "overlap of words", judge: overlap{}}}
		for i := range set.recorded {
			all = append(all, variant{name: set.recorded[i].name + " (recorded)", judge: &set.recorded[i]})
		}
		for _, model := range strings.FieldsFunc(models, func(r rune) bool { return r == ',' }) {
			all = append(all, variant{name: model, settings: append([]string{"judge=openrouter", "judge.model=" + model}, l.settings...)})
		}
		var results []*measured
		for _, v := range all {
			m, err := l.measure(ctx, set, v)
			if err != nil {
				return fmt.Errorf("%s: %s: %w", set.name, v.name, err)
			}
			results = append(results, m)
		}
		show(out, set, results)
	}
	return nil
}

// measure runs a judge over a set and compares it with people.
func (l *laboratory) measure(ctx context.Context, set *labelledSet, v variant) (*measured, error) {
	o, config, err := l.judge(ctx, set, v)
	if err != nil {
		return nil, err
	}
	judged, err := harness.ReadJudged(ctx, o.Dir, o.Manifest)
	if err != nil {
		return nil, err
	}
	items := set.claims(judged.Verdicts[annotations.ClaimSupport])
	options := annotations.CalibrateOptions{
		Options:   harness.AgreementOptions(config, 0),
		Threshold: config.Thresholds.Supported,
	}
	claims := float64(max(o.Manifest.Judge.Asked, 1))
	out := &measured{
		variant: v.name, items: items, seconds: 1000 * o.Manifest.Timings.Seconds / claims,
		calibration: annotations.Calibrate(annotations.ClaimSupport, v.name, slices.Clone(items), options),
	}
	if spent := o.Manifest.Judge.SpentUSD; spent != nil {
		cost := 1000 * *spent / claims
		out.cost = &cost
	}
	return out, nil
}

// judge runs a judge over a set.
func (l *laboratory) judge(ctx context.Context, set *labelledSet, v variant) (*harness.Outcome, *configs.Config, error) {
	all := []string{"dataset=" + set.dataset, "out=" + filepath.Join(l.dir, set.name), "statistics.cluster=auto"}
	if set.documents != "" {
		all = append(all, "documents="+set.documents)
	}
	config, err := configs.Load(configs.Options{Set: append(all, v.settings...)})
	if err != nil {
		return nil, nil, err
	}
	job := &harness.Job{Config: config, Source: set.dataset, Judge: v.judge}
	if job.APIKey, err = config.APIKey(os.Getenv); err != nil {
		return nil, nil, err
	}
	if job.Headers, err = config.RequestHeaders(os.Getenv); err != nil {
		return nil, nil, err
	}
	plan, err := job.Plan(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer plan.Close()
	o, err := plan.Run(ctx)
	return o, config, err
}

// claims makes one item of those that are about one claim: the best score of them.
func (s *labelledSet) claims(items []annotations.Verdict) []annotations.Verdict {
	if s.group == nil {
		return items
	}
	at := make(map[string]int)
	var out []annotations.Verdict
	for _, it := range items {
		it.Item = s.group(it.Item)
		i, known := at[it.Item]
		if !known {
			at[it.Item] = len(out)
			out = append(out, it)
			continue
		}
		out[i].Judge = max(out[i].Judge, it.Judge)
	}
	return out
}
