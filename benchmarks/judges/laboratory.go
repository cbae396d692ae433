//go:build unix

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"ibid/annotations"
	"ibid/configs"
	"ibid/dataset/runs"
	"ibid/harness"
	"ibid/judge"
	"ibid/metrics/stats"
)

// A laboratory runs judges over labelled sets. Runs are kept in dir.
type laboratory struct {
	dir      string
	settings []string // KEY=VALUE of models
	repeats  int
	attacks  bool // models are attacked, too
}

// A variant is one judge, asked in one way.
type variant struct {
	name     string
	settings []string    // KEY=VALUE
	judge    judge.Judge // unless the settings name it
	repeats  int
}

// A measured is what a judge came to on one set.
type measured struct {
	variant     string
	calibration *annotations.Calibration
	items       []annotations.Verdict // one a claim, by name
	flips       *stats.Estimate       // share of claims whose yes or no was not always the same; nil for one run
	cost        *float64              // US dollars for 1,000 claims; nil if nothing was asked
	seconds     float64               // for 1,000 claims
	attacks     *attackCount          // nil if it was not attacked

	// Claims whose evidence contradicts them, says the judge, and how many of them have no
	// support, say people.
	contradicted, right int
}

// run measures all judges on all sets and prints what they came to.
func (l *laboratory) run(ctx context.Context, out io.Writer, sets []*labelledSet, models string, vary []string) error {
	defer os.RemoveAll(l.dir)
	asked, err := l.variants(models, vary)
	if err != nil {
		return err
	}
	for _, set := range sets {
		all := []variant{
			{name: "overlap of words", judge: overlap{}},
			{name: "lexical", settings: []string{"judge=lexical"}},
		}
		for i := range set.recorded {
			all = append(all, variant{name: set.recorded[i].name + " (recorded)", judge: &set.recorded[i]})
		}
		var results []*measured
		for _, v := range append(all, asked...) {
			m, err := l.measure(ctx, set, v)
			if err != nil {
				return fmt.Errorf("%s: %s: %w", set.name, v.name, err)
			}
			results = append(results, m)
		}
		show(out, set, results)
	}
	fmt.Fprint(out, published)
	return nil
}

// variants are the models with every combination of values of the settings to vary.
func (l *laboratory) variants(models string, vary []string) ([]variant, error) {
	all := []variant{}
	for _, model := range strings.FieldsFunc(models, func(r rune) bool { return r == ',' }) {
		all = append(all, variant{name: model, settings: append([]string{"judge=openrouter", "judge.model=" + model}, l.settings...), repeats: l.repeats})
	}
	for _, v := range vary {
		key, values, ok := strings.Cut(v, "=")
		if !ok {
			return nil, fmt.Errorf("-vary %s: want KEY=VALUE,VALUE", v)
		}
		var next []variant
		for _, a := range all {
			for _, value := range strings.Split(values, ",") {
				b := a
				b.name += ", " + strings.TrimPrefix(key, "judge.") + " " + value
				b.settings = append(slices.Clone(a.settings), key+"="+value)
				next = append(next, b)
			}
		}
		all = next
	}
	return all, nil
}

// measure runs a judge over a set, as often as asked for, and compares it with people.
func (l *laboratory) measure(ctx context.Context, set *labelledSet, v variant) (*measured, error) {
	out := &measured{variant: v.name}
	answers := make(map[string][]float64) // of each run, by claim
	for n := range max(v.repeats, 1) {
		settings := slices.Clone(v.settings)
		if v.repeats > 1 { // what is kept would not be asked again
			settings = append(settings, "judge.seed="+strconv.Itoa(n+1), "judge.cache_results=false")
		}
		o, job, err := l.judge(ctx, set, v.judge, settings)
		if err != nil {
			return nil, err
		}
		judged, err := harness.ReadJudged(ctx, o.Dir, o.Manifest, false)
		if err != nil {
			return nil, err
		}
		items := set.claims(judged.Verdicts[annotations.ClaimSupport])
		for _, it := range items {
			answers[it.Item] = append(answers[it.Item], it.Judge)
		}
		if n > 0 {
			continue
		}
		m, config := o.Manifest, job.Config
		if _, recorded := v.judge.(*recordedJudge); !recorded && (l.attacks || !config.Judge.AsksModels()) {
			if out.attacks, err = attack(ctx, job); err != nil {
				return nil, err
			}
		}
		out.items = items
		options := annotations.CalibrateOptions{
			Options:   (&harness.Job{Config: config}).AgreementOptions(0),
			Threshold: config.Thresholds.Supported, Positive: config.Thresholds.Supported, Bins: 10,
		}
		out.calibration = annotations.Calibrate(annotations.ClaimSupport, v.name, slices.Clone(items), options)
		claims := float64(max(m.Judge.Asked, 1))
		out.seconds = 1000 * m.Timings.Seconds / claims
		if m.Judge.SpentUSD != nil {
			cost := 1000 * *m.Judge.SpentUSD / claims
			out.cost = &cost
		}
		if err := out.countContradicted(o.Dir, judged.Verdicts[annotations.ClaimSupport]); err != nil {
			return nil, err
		}
	}
	if v.repeats > 1 {
		out.flips = flipsOf(out.items, answers, out.calibration)
	}
	return out, nil
}

// judge runs a judge over a set; the same one a second time is the same run.
func (l *laboratory) judge(ctx context.Context, set *labelledSet, by judge.Judge, settings []string) (*harness.Outcome, *harness.Job, error) {
	all := []string{"dataset=" + set.dataset, "out=" + filepath.Join(l.dir, set.name), "statistics.cluster=doc"}
	if set.documents != "" {
		all = append(all, "documents="+set.documents)
	}
	config, err := configs.Load(configs.Options{Set: append(all, settings...)})
	if err != nil {
		return nil, nil, err
	}
	job := &harness.Job{Config: config, Source: set.dataset, Judge: by}
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
	return o, job, err
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

// countContradicted counts the rows that the judge says are contradicted.
func (m *measured) countContradicted(dir string, items []annotations.Verdict) error {
	human := make(map[string]float64)
	for _, it := range items {
		row, _, _ := strings.Cut(it.Item, " claim ")
		human[row+" "+claimIn(it.Item)] = it.Human
	}
	return runs.Claims.Scan(dir, []string{"id", "system", "claim_id", "contradicted"}, func(_ int64, c *runs.Claim) error {
		if v, labelled := human[c.ID+"/"+c.System+" "+c.ClaimID]; labelled && c.Contradicted != nil && *c.Contradicted {
			m.contradicted++
			if v == 0 {
				m.right++
			}
		}
		return nil
	})
}

// claimIn is the id of the claim in the name of an item.
func claimIn(item string) string {
	_, rest, _ := strings.Cut(item, " claim ")
	id, _, _ := strings.Cut(rest, " ")
	return id
}

// flipsOf is the share of claims whose yes or no was not the same in every run.
func flipsOf(items []annotations.Verdict, answers map[string][]float64, c *annotations.Calibration) *stats.Estimate {
	type counts struct{ flipped, all int64 }
	of := make(map[string]counts)
	for _, it := range items {
		yes := func(score float64) bool { return score >= c.Threshold }
		n := of[it.Cluster]
		n.all++
		if slices.ContainsFunc(answers[it.Item], func(s float64) bool { return yes(s) != yes(it.Judge) }) {
			n.flipped++
		}
		of[it.Cluster] = n
	}
	var all stats.Clusters
	for _, n := range of {
		all.AddCounts(n.flipped, n.all, n.all)
	}
	e := all.Proportion(c.Level)
	return &e
}

// paired are the scores of two judges on the claims that both have a score of.
func paired(a, b []annotations.Verdict, keep func(string) bool) (x, y []float64, human []float64, clusters []string) {
	other := make(map[string]float64, len(b))
	for _, it := range b {
		other[it.Item] = it.Judge
	}
	sorted := slices.Clone(a)
	slices.SortFunc(sorted, func(p, q annotations.Verdict) int { return cmp.Compare(p.Item, q.Item) })
	for _, it := range sorted {
		if score, both := other[it.Item]; both && keep(it.Item) {
			x, y, human, clusters = append(x, it.Judge), append(y, score), append(human, it.Human), append(clusters, it.Cluster)
		}
	}
	return x, y, human, clusters
}
