package main

import (
	"io"
	"math"
	"strings"
	"testing"
)

// bound widens a share by five standard errors of a simulation.
func bound(share float64, replicates int) float64 {
	return 5 * math.Sqrt(share*(1-share)/float64(replicates))
}

// TestCoverage is the table of benchmarks/results.md with few samples: what a
// default promises must not be off by more than the simulation is.
func TestCoverage(t *testing.T) {
	const replicates = 400
	for _, l := range coverage(replicates, 2)[:5] {
		for i, share := range l.shares {
			if share < 0.92-bound(0.95, replicates) || share > 0.97+bound(0.95, replicates) {
				t.Errorf("%s covers %.3f with %d clusters", l.name, share, clusterCounts[i])
			}
		}
	}
}

func TestRejections(t *testing.T) {
	const replicates = 400
	lines := rejections(replicates, 2)
	for _, l := range lines[:3] {
		for i, share := range l.shares {
			if share > 0.06+bound(0.05, replicates) {
				t.Errorf("%s rejects %.3f with %d clusters", l.name, share, clusterCounts[i])
			}
		}
	}
	// If this test does not reject too often, the samples have no clusters.
	if ignored := lines[len(lines)-1]; ignored.shares[2] < 0.08 {
		t.Errorf("%s rejects only %.3f", ignored.name, ignored.shares[2])
	}
}

// TestPlanted goes through the whole program with a few datasets.
func TestPlanted(t *testing.T) {
	const datasets = 20
	p, err := plant(datasets, 2)
	if err != nil {
		t.Fatal(err)
	}
	if p.found < 0.8-bound(0.8, datasets) || p.alarms > 0.06+bound(0.06, datasets) {
		t.Errorf("%+v", p)
	}
}

func TestTablesPrint(t *testing.T) {
	if err := run(io.Discard, 2, 0, 1); err != nil {
		t.Fatal(err)
	}
}

// TestCells: over all kinds of data the default intervals cover what they promise, and
// none leaves the bounds, which those of cr1 do.
func TestCells(t *testing.T) {
	const replicates = 60
	for g, lines := range coverCells(replicates, 3, clusterCounts) {
		for i, m := range cellMethods {
			l := lines[i]
			if old := strings.Contains(m.name, "cr1") && !strings.Contains(m.name, "micro"); old != (l.beyond > 0) && m.low == 0 {
				t.Errorf("%s, %d clusters: %.3f leave the bounds", m.name, g, l.beyond)
			} else if !old && !strings.Contains(m.name, "G − 1") && (l.mean < 0.935-bound(0.95, 42*replicates) || l.mean > 0.98) {
				t.Errorf("%s, %d clusters: coverage %.3f", m.name, g, l.mean)
			}
		}
	}
}

// TestWebs: where rows share documents, the default intervals cover what they promise, and
// those of independent rows do not.
func TestWebs(t *testing.T) {
	const replicates = 40
	for documents, lines := range coverWebs(replicates, 3, []int{8, 40}) {
		for i, m := range linkedMethods {
			switch l := lines[i]; {
			case l.beyond > 0:
				t.Errorf("%s, %d documents: %.3f leave the bounds", m.name, documents, l.beyond)
			case strings.Contains(m.name, "default") && l.mean < 0.94-bound(0.95, 9*replicates):
				t.Errorf("%s, %d documents: coverage %.3f", m.name, documents, l.mean)
			case strings.Contains(m.name, "before") && l.mean > 0.94:
				t.Errorf("%s, %d documents: coverage %.3f, so the samples have no dependence", m.name, documents, l.mean)
			}
		}
	}
}

// TestAUROC: the interval of an AUROC covers what it promises.
func TestAUROC(t *testing.T) {
	const replicates = 60
	for _, g := range clusterCounts {
		if l := coverAUROC(g, false, replicates, 3); l.mean < 0.94-bound(0.95, 9*replicates) || l.beyond > 0 {
			t.Errorf("%d clusters: %+v", g, l)
		}
	}
}
