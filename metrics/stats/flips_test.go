package stats

import (
	"math"
	"testing"
)

// TestFlipsOfSingles: rows of one verdict are tested by McNemar's mid-p.
func TestFlipsOfSingles(t *testing.T) {
	var f Flips
	for i := range 20 {
		f.AddRow(1, int64(count01(i < 2)), int64(count01(i >= 2 && i < 11)))
	}
	// 2 and 9 of 11: two-sided binomial 2 (1 + 11 + 55)/2^11, less half of it at 2.
	want := (2*67.0 - 55) / 2048
	if p := f.Test(0, 1); p.Method != McNemarMidP || math.Abs(p.P-want) > 1e-12 || p.Clusters != 20 {
		t.Errorf("%+v, want p %v", p, want)
	}
	if f.Gained != 2 || f.Lost != 9 || f.Verdicts != 20 || f.Rows() != 20 {
		t.Errorf("%+v", f)
	}
}

func count01(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// TestFlipsOfSeveral: rows of several verdicts are swapped whole, as all their ways
// to be swapped, tried one by one, say.
func TestFlipsOfSeveral(t *testing.T) {
	rows := [][3]int64{{3, 0, 2}, {1, 0, 1}, {2, 1, 0}, {3, 0, 3}, {2, 0, 0}, {4, 1, 1}, {1, 0, 1}, {2, 0, 2}}
	var f, reverse Flips
	sum := int64(0)
	for i := range rows {
		r, back := rows[i], rows[len(rows)-1-i]
		f.AddRow(r[0], r[1], r[2])
		reverse.AddRow(back[0], back[1], back[2])
		sum += r[1] - r[2]
	}
	extreme := 0
	for signs := range 1 << len(rows) {
		s := int64(0)
		for i, r := range rows {
			if signs>>i&1 == 1 {
				s += r[1] - r[2]
			} else {
				s -= r[1] - r[2]
			}
		}
		extreme += count01(s >= max(sum, -sum) || -s >= max(sum, -sum))
	}
	want := float64(extreme) / float64(int(1)<<len(rows))
	if p := f.Test(10, 1); p.Method != SignFlipExact || math.Abs(p.P-want) > 1e-12 {
		t.Errorf("%+v, want p %v", p, want)
	}
	if a, b := f.Test(10, 1), reverse.Test(10, 1); a.P != b.P {
		t.Errorf("the order of rows changes p: %v, %v", a.P, b.P)
	}
}

func TestFlipsOfNothing(t *testing.T) {
	var f Flips
	if p := f.Test(10, 1); p.Defined() {
		t.Errorf("without rows: %+v", p)
	}
	f.AddRow(1, 0, 0)
	f.AddRow(1, 0, 0)
	if p := f.Test(10, 1); !p.Defined() || p.P != 1 {
		t.Errorf("nothing flipped: %+v", p)
	}
}

// TestMcNemarWithoutPairs: there is no difference of no rows, and none of rows that agree is 0.
func TestMcNemarWithoutPairs(t *testing.T) {
	if m := NewMcNemar(0, 0, 0); m.Diff.Known() || m.SE.Known() || m.Exact != 1 || m.MidP != 1 {
		t.Errorf("no pairs: %+v", m)
	}
	if m := NewMcNemar(0, 0, 5); !m.Diff.Known() || m.Diff.Value != 0 || !m.SE.Known() || m.SE.Value != 0 {
		t.Errorf("pairs that agree: %+v", m)
	}
}
