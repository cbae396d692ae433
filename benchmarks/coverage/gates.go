package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"

	"ibid"
	"ibid/annotations/compare"
	"ibid/configs"
	"ibid/dataset"
	"ibid/dataset/runs"
	"ibid/harness"
)

const (
	gate      = "p(char_f1) >= 0.05"
	documents = 40
	questions = 160
	length    = 100 // characters of every span
)

// planted is what came of planting.
type planted struct {
	detectable    float64 // by past nights
	shift         int64   // characters further off
	planted       float64 // what that costs
	found, alarms float64 // shares of datasets
}

// plant evaluates pairs of nights, of which the second is worse or not, by the gate.
func plant(datasets int, seed uint64) (p planted, err error) {
	dir, err := os.MkdirTemp("", "coverage")
	if err != nil {
		return p, err
	}
	defer os.RemoveAll(dir)
	if p.detectable, err = past(dir, seed); err != nil {
		return p, err
	}
	// A span of the same length that is off by n characters has 1 - n/length.
	p.shift = int64(math.Ceil(p.detectable * length))
	p.planted = float64(p.shift) / length
	var found, alarms int
	for i := range datasets {
		base, err := night(dir, fmt.Sprintf("base-%d", i), seed, uint64(3*i+100), 0, "")
		if err != nil {
			return p, err
		}
		for k, shift := range []int64{p.shift, 0} {
			out, err := night(dir, fmt.Sprintf("new-%d-%d", i, k), seed, uint64(3*i+101+k), shift, base.Dir)
			if err != nil {
				return p, err
			}
			if out.Verdict(0) == runs.Failed {
				*[]*int{&found, &alarms}[k]++
			}
			os.RemoveAll(out.Dir)
		}
		os.RemoveAll(base.Dir)
	}
	p.found, p.alarms = float64(found)/float64(datasets), float64(alarms)/float64(datasets)
	return p, nil
}

// past compares pairs of past nights and says what difference would be found, by
// the mean of their variances.
func past(dir string, seed uint64) (float64, error) {
	const pairs = 10
	q, err := compare.ParseQuantity("char_f1")
	if err != nil {
		return 0, err
	}
	squares := 0.0
	for i := range pairs {
		var open []*compare.Run
		for k := range 2 {
			out, err := night(dir, fmt.Sprintf("past-%d-%d", i, k), seed, uint64(2*i+k), 0, "")
			if err != nil {
				return 0, err
			}
			r, err := compare.Open(out.Dir)
			if err != nil {
				return 0, err
			}
			defer r.Close()
			open = append(open, r)
		}
		result, err := compare.Runs(open[0], open[1:], compare.Options{Metrics: []compare.Quantity{q}})
		if err != nil {
			return 0, err
		}
		mde := *result.Pairs[0].Differences[0].MDE
		squares += mde * mde / pairs
	}
	return math.Sqrt(squares), nil
}

// night evaluates the answers of one night. The questions are the same every night;
// how far off an answer cites depends on the document, the question and the night.
func night(dir, id string, seed, number uint64, shift int64, baseline string) (*harness.Outcome, error) {
	path := filepath.Join(dir, id+".parquet")
	if err := write(path, seed, number, shift); err != nil {
		return nil, err
	}
	defer os.Remove(path)
	o := configs.Options{Set: []string{"dataset=" + path, "judge=none", "statistics.cluster=doc", "out=" + filepath.Join(dir, "runs"), "id=" + id, "statistics.resamples=2000"}}
	if baseline != "" {
		o.Gates = []string{gate}
	}
	config, err := configs.Load(o)
	if err != nil {
		return nil, err
	}
	plan, err := (&harness.Job{Config: config, Source: path, Baseline: baseline, Workers: 1}).Plan(context.Background())
	if err != nil {
		return nil, err
	}
	return plan.Run(context.Background())
}

func write(path string, seed, number uint64, shift int64) error {
	w, err := dataset.NewWriter(path, "document")
	if err != nil {
		return err
	}
	fixed, nightly := rand.New(rand.NewPCG(seed, 0)), rand.New(rand.NewPCG(seed, number+1))
	known := func(v int64) ibid.Integer { return ibid.Some(v) }
	hard, tonight := make([]float64, documents), make([]float64, documents)
	for i := range hard {
		hard[i], tonight[i] = 10*fixed.NormFloat64(), 5*nightly.NormFloat64()
	}
	for i := range questions {
		doc := i % documents
		off := 30 + hard[doc] + tonight[doc] + 10*fixed.NormFloat64() + 10*nightly.NormFloat64()
		at := max(0, int64(math.Round(off))) + shift
		name := fmt.Sprintf("doc-%02d", doc)
		err := w.Write(&ibid.Answer{
			ID: fmt.Sprintf("q-%03d", i), System: "s", Query: "q", Answer: "a", HasCitations: true, HasTruth: true,
			Truth:     []ibid.Mark{{Doc: name, Start: known(1000), End: known(1000 + length)}},
			Citations: []ibid.Citation{{Doc: name, Start: known(1000 + at), End: known(1000 + at + length)}},
		})
		if err != nil {
			return err
		}
	}
	return w.Close()
}
