package stats

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// A plainUnit is a unit of a random group: what it touches, and what it adds.
type plainUnit struct {
	docs []string
	sum  Sum
}

// dependOn is how units depend, each of one row.
func dependOn(units []plainUnit, seed uint64) (*Dependence, []Sum, []plainUnit) {
	var t Touching
	members := make([]Member, len(units))
	for i, u := range units {
		t.Add(u.docs...)
		members[i] = Member{Unit: Key(fmt.Sprint(i)), Row: int32(i)}
	}
	d := t.Depend(members, seed%2 == 0, seed)
	sums, sorted := make([]Sum, len(units)), make([]plainUnit, len(units))
	for i, m := range members {
		sums[i], sorted[i] = units[m.Row].sum, units[m.Row]
	}
	return d, sums, sorted
}

func share(a, b []string) bool {
	return slices.ContainsFunc(a, func(doc string) bool { return slices.Contains(b, doc) })
}

// TestSpread: what is counted by sets of documents is the sum over all pairs of units that
// share one, or over documents.
func TestSpread(t *testing.T) {
	seen := make(map[string]int)
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		n, documents, most := 2+rng.IntN(300), 2+rng.IntN(200), 1+rng.IntN(5)
		units := make([]plainUnit, n)
		var ratio, y, x float64
		for i := range units {
			u := &units[i]
			for range rng.IntN(most + 1) {
				u.docs = append(u.docs, fmt.Sprint(rng.IntN(documents)))
			}
			if rng.IntN(8) > 0 {
				u.sum = Sum{Y: rng.Float64(), X: float64(rng.IntN(3)), Rows: 1}
			}
			y, x = y+u.sum.Y, x+u.sum.X
		}
		if ratio = y / x; x == 0 {
			continue
		}
		d, sums, _ := dependOn(units, seed)
		if d == nil || d.Components {
			seen["clusters"]++
			continue
		}
		wide := false
		var pairs, alone, byDocument, all, squares float64
		of, rows := make(map[string]float64), make(map[string]float64)
		for i, u := range units {
			docs := slices.Clone(u.docs)
			slices.Sort(docs)
			docs = slices.Compact(docs)
			wide = wide || len(docs) > 4
			if u.sum.Rows == 0 {
				continue
			}
			e := u.sum.Y - ratio*u.sum.X
			alone += e * e
			for j, v := range units {
				if v.sum.Rows > 0 && (i == j || share(u.docs, v.docs)) {
					pairs += e * (v.sum.Y - ratio*v.sum.X)
				}
			}
			if len(docs) == 0 {
				docs = []string{fmt.Sprint("alone ", i)}
			}
			for _, doc := range docs {
				of[doc] += e
				rows[doc]++
			}
		}
		for doc, v := range of {
			byDocument += v * v
			all, squares = all+rows[doc], squares+rows[doc]*rows[doc]
		}
		effective := all * all / squares
		how, variance := ByPairs, max(pairs, alone)
		if wide || effective < 40 {
			how, variance = ByDocuments, byDocument
		}
		got := d.Spread(sums, ratio, x)
		want := math.Sqrt(variance*effective/(effective-1)) / x
		if got.How != how || math.Abs(got.Effective-effective) > 1e-9*effective || math.Abs(got.SE-want) > 1e-9*want {
			t.Fatalf("seed %d: %+v, want %s %v of %v", seed, got, how, want, effective)
		}
		seen[how]++
	}
	if len(seen) != 3 {
		t.Errorf("not all kinds were met: %v", seen)
	}
}

// TestDepend: which groups have clusters, and which.
func TestDepend(t *testing.T) {
	group := func(n int, docs func(i int) []string) []plainUnit {
		units := make([]plainUnit, n)
		for i := range units {
			units[i].docs = docs(i)
		}
		return units
	}
	for _, c := range []struct {
		name       string
		units      []plainUnit
		components int // 0 of no dependence, -1 of pairs
	}{
		{"documents of their own", group(40, func(i int) []string { return []string{fmt.Sprint(i), fmt.Sprint(i, "b")} }), 0},
		{"nothing", group(40, func(int) []string { return nil }), 0},
		{"one document for all, each with its own first", group(40, func(i int) []string { return []string{fmt.Sprint(i), "z"} }), 1},
		{"few documents", group(40, func(i int) []string { return []string{fmt.Sprint(i % 3)} }), 3},
		{"a chain", group(40, func(i int) []string { return []string{fmt.Sprint(i), fmt.Sprint(i + 1)} }), -1},
		{"chains of three", group(60, func(i int) []string { return []string{fmt.Sprint(i - i%3), fmt.Sprint(i)} }), 20},
		{"chains of four in pairs", group(80, func(i int) []string {
			return []string{fmt.Sprint(i/8, "-", i%8), fmt.Sprint(i/8, "-", (i+1)%8)}
		}), 10},
		{"the largest is too large", group(80, func(i int) []string {
			if i < 10 {
				return []string{fmt.Sprint(i), fmt.Sprint(i + 1)}
			}
			return []string{fmt.Sprint(i/2 + 100)}
		}), -1},
	} {
		d, _, _ := dependOn(c.units, 1)
		got := 0
		switch {
		case d == nil:
		case d.Components:
			got = len(d.Keys)
		default:
			got = -1
		}
		if got != c.components {
			t.Errorf("%s: %d components, want %d", c.name, got, c.components)
		}
	}
}

// TestSampledSpread: of more than 100,000 rows the variance over a sample of the documents, and
// of the sets of them, is near that over all, however units share them.
func TestSampledSpread(t *testing.T) {
	if testing.Short() {
		t.Skip("many rows")
	}
	const n = 110_000
	for _, c := range []struct {
		name        string
		docs        func(i int, rng *rand.Rand) []int
		sampledSets bool
	}{
		{"two of many", func(_ int, rng *rand.Rand) []int { return []int{rng.IntN(20_000), rng.IntN(20_000)} }, false},
		{"two of few", func(_ int, rng *rand.Rand) []int { return []int{rng.IntN(300), rng.IntN(300)} }, true},
		{"three of few", func(_ int, rng *rand.Rand) []int { return []int{rng.IntN(500), rng.IntN(500), rng.IntN(500)} }, true},
		{"pairs of many units", func(i int, rng *rand.Rand) []int { return []int{i % 1000, 1000 + i%1000, 2000 + rng.IntN(3000)} }, false},
		{"pairs of some units", func(i int, rng *rand.Rand) []int {
			return []int{i % 22_000, 22_000 + i%22_000, 44_000 + rng.IntN(3000)}
		}, false},
	} {
		rng := rand.New(rand.NewPCG(3, 4))
		effects := make([]float64, 50_000)
		for i := range effects {
			effects[i] = rng.NormFloat64()
		}
		units := make([]plainUnit, n)
		total := 0.0
		for i := range units {
			u := &units[i]
			u.sum = Sum{rng.NormFloat64(), 1, 1}
			for _, doc := range c.docs(i, rng) {
				u.docs, u.sum.Y = append(u.docs, fmt.Sprint(doc)), u.sum.Y+effects[doc]
			}
			total += u.sum.Y
		}
		mean := total / n
		d, sums, sorted := dependOn(units, 1)
		var touching Touching
		members := make([]Member, n)
		for i, u := range sorted {
			touching.Add(u.docs...)
			members[i] = Member{Unit: uint64(i), Row: int32(i)}
		}
		u := touching.units(members, true)
		in := make([]int32, len(u.keys))
		for _, doc := range u.docs {
			in[doc]++
		}
		every := &Dependence{Units: n, Documents: d.Documents}
		if err := every.pairs(u, u.keys, in, false, 1); err != nil {
			t.Fatal(err)
		}
		if every.setRate != 1 || (d.setRate < 1) != c.sampledSets || every.Sampled != d.Documents || d.Sampled > mostSampled {
			t.Errorf("%s: %d of %d documents, %.3f of sets", c.name, d.Sampled, d.Documents, d.setRate)
		}
		sampled, whole := d.Spread(sums, mean, 1), every.Spread(sums, mean, 1)
		if ratio := sampled.SE / whole.SE; math.Abs(ratio-1) > 0.1 {
			t.Errorf("%s: standard error %.3f times that over all documents", c.name, ratio)
		}
		if ratio := sampled.Effective / whole.Effective; math.Abs(ratio-1) > 0.1 {
			t.Errorf("%s: %.3f times the effective documents", c.name, ratio)
		}
		t.Logf("%s: %d of %d documents, %.3f of sets, %d units: standard error %.4f", c.name, d.Sampled, d.Documents, d.setRate, len(d.Kept), sampled.SE/whole.SE)

		// The units that no drawn document touches are left out, and rows may be added one by one.
		var all Clusters
		for _, s := range sums {
			all.AddCluster(s.Y, s.X, 1)
		}
		var errors UnitErrors
		if !all.Errors(&errors, d) {
			t.Fatal("no errors")
		}
		for k, unit := range d.Kept {
			errors.Add(k, sums[unit].Y, sums[unit].X)
		}
		all.Rest(&errors)
		y, x, _ := all.Sums()
		of := d.Spread(sums, y/x, x)
		if got := all.spread; got.Effective != of.Effective || math.Abs(got.SE/of.SE-1) > 1e-12 || got.How != of.How {
			t.Errorf("%s: row by row %+v, want %+v", c.name, *got, of)
		}
	}
}

// TestOrderOfUnits: the bits of a standard error do not depend on the order of units, nor on
// that of their rows, which may be much larger than what they add up to.
func TestOrderOfUnits(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	type row struct {
		unit int
		docs []string
		y, x float64
	}
	for round := range 50 {
		var rows []row
		for unit := range 100 + rng.IntN(100) {
			large := math.Ldexp(rng.NormFloat64(), 45)
			for k := range 1 + rng.IntN(3) {
				r := row{unit, []string{fmt.Sprint(rng.IntN(90)), fmt.Sprint(rng.IntN(90))}, rng.NormFloat64() + math.Pow(-1, float64(k))*large, 1}
				rows = append(rows, r)
			}
		}
		var first *Spread
		for range 4 {
			var touching Touching
			var members []Member
			for i, r := range rows {
				touching.Add(r.docs...)
				members = append(members, Member{Unit: Key(fmt.Sprint(r.unit)), Row: int32(i)})
			}
			d := touching.Depend(members, false, 1)
			if d == nil || d.Components {
				t.Fatal("no pairs")
			}
			var sums Grouper
			kept := make([]int, len(rows))
			unit, k := int32(-1), 0
			for i, m := range members {
				if i == 0 || members[i-1].Unit != m.Unit {
					unit++
				}
				for d.Kept[k] < unit {
					k++
				}
				kept[m.Row] = k
			}
			for i, r := range rows {
				sums.AddRatio(kept[i], r.y, r.x)
			}
			var c Clusters
			sums.Drain(&c)
			var u UnitErrors
			c.Errors(&u, d)
			for i, r := range rows {
				u.Add(kept[i], r.y, r.x)
			}
			c.Rest(&u)
			if first == nil {
				first = c.spread
			} else if *c.spread != *first {
				t.Fatalf("round %d: %+v, before %+v", round, *c.spread, *first)
			}
			rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		}
		if !first.Known || first.SE == 0 {
			t.Fatalf("round %d: %+v", round, *first)
		}
	}
}

// TestTogether: rows beside each other touch what either touches, whoever they are of, and be
// they few or many.
func TestTogether(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	random := func(from int) (*Touching, [][]string) {
		touching, rows := new(Touching), make([][]string, 100)
		for i := range rows {
			for range rng.IntN(4) {
				rows[i] = append(rows[i], fmt.Sprint(from+rng.IntN(60)))
			}
			touching.Add(rows[i]...)
		}
		return touching, rows
	}
	a, ofA := random(0)
	b, ofB := random(30)
	again, _ := Gather(Together(a, []int32{0, 1, 2}, nil, nil, func(int) uint64 { return 1 }), 3)
	same, _ := Gather(Together(a, []int32{0, 1, 2}, nil, nil, func(int) uint64 { return 1 }), 3)
	if !again.Equal(same) || again.Equal(a) || again.Equal(nil) || !(*Touching)(nil).Equal(nil) || a.Equal(b) {
		t.Error("equal rows differ, or others do not")
	}
	for _, n := range []int{2, 80} {
		rows, others := rng.Perm(100)[:n], rng.Perm(100)[:n]
		int32s := func(list []int) (out []int32) {
			for _, v := range list {
				out = append(out, int32(v))
			}
			return out
		}
		for name, c := range map[string]struct {
			t, o   *Touching
			of, to [][]string
		}{"two": {a, b, ofA, ofB}, "one": {a, a, ofA, ofA}, "the first alone": {a, nil, ofA, make([][]string, 100)}, "the second alone": {nil, b, make([][]string, 100), ofB}} {
			touches := Together(c.t, int32s(rows), c.o, int32s(others), func(i int) uint64 { return uint64(i) })
			for range 2 {
				i := 0
				err := touches.Each(false, func(key uint64, _ int, documents []int32) {
					var got, want []uint64
					for _, number := range documents {
						got = append(got, touches.Keys()[number])
					}
					for _, doc := range append(slices.Clone(c.of[rows[i]]), c.to[others[i]]...) {
						want = append(want, Key(doc))
					}
					slices.Sort(got)
					slices.Sort(want)
					if want = slices.Compact(want); !slices.Equal(got, want) || key != uint64(i) {
						t.Errorf("%s, %d rows: row %d touches %v, want %v", name, n, i, got, want)
					}
					i++
				})
				if err != nil || i != n {
					t.Errorf("%s: %d rows, %v", name, i, err)
				}
			}
		}
	}
}

// TestInt192: squares are added and subtracted exactly.
func TestInt192(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	var got int192
	want := new(big.Int)
	for range 10_000 {
		v, times := rng.Int64()>>rng.IntN(63), rng.Int64N(25)-12
		if rng.IntN(2) == 0 {
			v = -v
		}
		got.addSquare(v, times)
		square := new(big.Int).Mul(big.NewInt(v), big.NewInt(v))
		want.Add(want, square.Mul(square, big.NewInt(times)))
		if f, _ := new(big.Float).SetInt(want).Float64(); math.Abs(got.float()-f) > 1e-15*math.Abs(f) {
			t.Fatalf("%v, want %v", got.float(), f)
		}
	}
}

// TestCorrelationInfluence: what a pair adds to a correlation is what leaving it out takes
// away, but for terms that are small of many pairs; with ties and without.
func TestCorrelationInfluence(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, levels := range []float64{3, 1e6} {
		x, y := make([]float64, 400), make([]float64, 400)
		for i := range x {
			common := rng.NormFloat64()
			x[i], y[i] = math.Round(levels*(common+rng.NormFloat64())), math.Round(levels*(common+rng.NormFloat64()/2))
		}
		for name, c := range map[string]struct {
			of        func(x, y []float64, level float64) Correlation
			influence func(x, y []float64) []float64
		}{"Pearson": {Pearson, PearsonInfluence}, "Spearman": {Spearman, SpearmanInfluence}} {
			whole := c.of(x, y, 0.95).Value.Value
			off, size := 0.0, 0.0
			for i, v := range c.influence(x, y) {
				without := c.of(slices.Delete(slices.Clone(x), i, i+1), slices.Delete(slices.Clone(y), i, i+1), 0.95).Value.Value
				off, size = off+math.Abs(v-(whole-without)), size+math.Abs(v)
			}
			if off > 0.05*size {
				t.Errorf("%s, %v levels: influences are off by %.3f of their size", name, levels, off/size)
			}
		}
	}
}
