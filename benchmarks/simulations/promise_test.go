package main

import "testing"

// TestPromises is a small, seeded version of the table in benchmarks/results.md.
func TestPromises(t *testing.T) {
	c := coverage(300, 1)
	if c.raw > 0.2 {
		t.Errorf("the raw judge covers the truth in %v of the data sets: the simulation has nothing to correct", c.raw)
	}
	for name, share := range map[string]float64{"PPI++": c.ppi, "Rogan-Gladen": c.roganGladen} {
		if share < 0.92 || share > 0.98 {
			t.Errorf("%s covers the truth in %v of the data sets, want 0.92 to 0.97", name, share)
		}
	}
	l := charts(300, 1)
	if l.cusum < 372 || l.cusum > 558 || l.ewma < 296 || l.ewma > 444 {
		t.Errorf("false alarms every %.0f and %.0f nights, want 465 and 370, 20 %% more or less", l.cusum, l.ewma)
	}
}

// TestDriftPromises: the check of the judge's drift fires in 90 % of drifts of 5
// points on 300 anchors, and in no more than 5 % without, whatever the noise.
func TestDriftPromises(t *testing.T) {
	for _, noise := range []float64{0, 0.01, 0.02} {
		for _, verdicts := range []int{1, 3} {
			if share := moved(400, 1, drift, noise, verdicts); share < 0.9 {
				t.Errorf("%d verdicts an anchor, noise %v: fires in %v of the drifts", verdicts, noise, share)
			}
			if share := moved(400, 1, 0, noise, verdicts); share > 0.05 {
				t.Errorf("%d verdicts an anchor, noise %v: fires in %v without drift", verdicts, noise, share)
			}
		}
	}
	if share := moved(400, 1, 0.01, 0.02, 1); share > 0.5 {
		t.Errorf("a drift of 1 point is found in %v: the simulation plants more than it says", share)
	}
}
