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
