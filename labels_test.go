package ibid_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"ibid"
)

// sayAll are the opinions of as many annotators as there are values.
func sayAll(values ...float64) []ibid.Opinion {
	var out []ibid.Opinion
	for i, v := range values {
		out = append(out, ibid.Opinion{Annotator: fmt.Sprintf("%03d", i), Value: v})
	}
	return out
}

func TestPolicyLabel(t *testing.T) {
	one := sayAll(1, 0.5, 1)
	tied := []ibid.Opinion{{Annotator: "ben", Value: 0}, {Annotator: "ada", Value: 1}}
	twice := []ibid.Opinion{{Annotator: "ada", Value: 1}, {Annotator: "ben", Value: 0}, {Annotator: "ada", Value: 1}}
	tests := []struct {
		name       string
		policy     ibid.Policy
		opinions   []ibid.Opinion
		want       float64
		annotators int
	}{
		{"nobody", ibid.PolicyMean, nil, 0, 0},
		{"mean", ibid.PolicyMean, one, 5.0 / 6, 3},
		{"mean of decimals", ibid.PolicyMean, sayAll(0.6, 0.7, 0.8), 0.7, 3},
		{"mean of two decimals", ibid.PolicyMean, sayAll(0.6, 0.8), 0.7, 2},
		{"mean of far apart", ibid.PolicyMean, sayAll(1e300, -1e300, 3), 1, 3},
		{"mean, one twice", ibid.PolicyMean, twice, 0.5, 2},
		{"mean, no name is one", ibid.PolicyMean, []ibid.Opinion{{Annotator: "", Value: 1}, {Annotator: "", Value: 1}, {Annotator: "ada", Value: 0}}, 0.5, 2},
		{"majority", ibid.PolicyMajority, one, 1, 3},
		{"majority, more than any other", ibid.PolicyMajority, sayAll(0, 0.5, 1, 0), 0, 4},
		{"majority, tied", ibid.PolicyMajority, tied, 0, 0},
		{"majority, three ways apart", ibid.PolicyMajority, sayAll(1, 0, 0.5), 0, 0},
		{"majority, one twice", ibid.PolicyMajority, twice, 0, 0},
		{"best", ibid.PolicyBest, one, 1, 3},
		{"best, tied: the first by name", ibid.PolicyBest, tied, 1, 2},
		{"union", ibid.PolicyUnion, one, 1, 3},
		{"intersection", ibid.PolicyIntersection, one, 0.5, 3},
		{"annotator", "annotator:ben", tied, 0, 1},
		{"annotator twice", "annotator:ada", []ibid.Opinion{{Annotator: "ada", Value: 0.1}, {Annotator: "ben", Value: 0}, {Annotator: "ada", Value: 0.2}, {Annotator: "ada", Value: 0.6}}, 0.3, 1},
		{"annotator who said nothing", "annotator:cay", tied, 0, 0},
		{"not a number", ibid.PolicyMean, sayAll(math.NaN(), 1, math.Inf(1)), 1, 1},
		{"no policy", "", one, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			opinions := slices.Clone(tt.opinions)
			for range 2 { // the order does not matter
				if v, n := tt.policy.Label(opinions); v != tt.want || n != tt.annotators {
					t.Errorf("%s of %v = %v of %d, want %v of %d", tt.policy, opinions, v, n, tt.want, tt.annotators)
				}
				slices.Reverse(opinions)
			}
		})
	}
}

// TestMeanOfTheUnanimous: whoever agrees on a value has it as their mean, however
// many they are.
func TestMeanOfTheUnanimous(t *testing.T) {
	for k := range 101 {
		v := float64(k) / 100
		for n := 1; n <= 30; n++ {
			if got, votes := ibid.PolicyMean.Label(sayAll(slices.Repeat([]float64{v}, n)...)); got != v || votes != n {
				t.Fatalf("mean of %d times %v = %v of %d", n, v, got, votes)
			}
		}
	}
}

// TestMeanReachesThreshold compares means of thousandths with a threshold in
// integers.
func TestMeanReachesThreshold(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		n, sum := 1+rng.IntN(12), 0
		values := make([]float64, n)
		for i := range values {
			k := rng.IntN(1001)
			sum += k
			values[i] = float64(k) / 1000
		}
		at := rng.IntN(1001)
		if rng.IntN(2) == 0 {
			at = sum / n // close to the mean, or equal to it
		}
		if got, want := ibid.MeanLabel(values) >= float64(at)/1000, sum >= at*n; got != want {
			t.Fatalf("mean %v of %v reaches %d/1000: %t, want %t", ibid.MeanLabel(values), values, at, got, want)
		}
	}
}

func TestParsePolicy(t *testing.T) {
	allowed := []ibid.Policy{ibid.PolicyMean, ibid.PolicyAnnotator}
	for _, name := range []string{"mean", "annotator:Ann B."} {
		if p, err := ibid.ParsePolicy(name, allowed...); err != nil || string(p) != name {
			t.Errorf("ParsePolicy(%q) = %q, %v", name, p, err)
		}
	}
	for _, name := range []string{"", "majority", "Mean", "annotator:", "annotator"} {
		want := fmt.Sprintf("policy %q: not one of mean, annotator:NAME", name)
		if p, err := ibid.ParsePolicy(name, allowed...); err == nil || err.Error() != want {
			t.Errorf("ParsePolicy(%q) = %q, %v, want the error %q", name, p, err, want)
		}
	}
	if who, ok := ibid.Policy("annotator:ada").Annotator(); who != "ada" || !ok {
		t.Errorf("the annotator of annotator:ada is %q, %t", who, ok)
	}
}

func ExamplePolicy_Label() {
	opinions := []ibid.Opinion{{Annotator: "ada", Value: 0.7}, {Annotator: "ben", Value: 0.7}, {Annotator: "cay", Value: 0.7}, {Annotator: "dan", Value: 0.7}, {Annotator: "eve", Value: 0.7}, {Annotator: "fay", Value: 0.7}}
	mean, annotators := ibid.PolicyMean.Label(opinions)
	fmt.Println(mean, mean >= 0.7, annotators)
	// Output: 0.7 true 6
}
