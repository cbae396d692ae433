package history

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"ibid"
	"ibid/metrics/stats"
)

var day0 = time.Date(2026, 1, 1, 2, 0, 0, 0, time.UTC)

// nightsOf are nights with these values, one a day, over the same questions.
func nightsOf(values ...float64) []Night {
	var out []Night
	for i, v := range values {
		out = append(out, Night{
			Run: fmt.Sprintf("n%d", i), At: day0.AddDate(0, 0, i), Basis: map[string]string{"judge": "a"}, Items: "q",
			Value: stats.Of(v), SE: stats.Of(0.02),
		})
	}
	return out
}

// level are n values that wobble by ± 0.01 around a level.
func level(n int, at float64) []float64 {
	var out []float64
	for i := range n {
		out = append(out, at+0.01*float64(1-2*(i%2)))
	}
	return out
}

func TestWatch(t *testing.T) {
	segments := Watch(nightsOf(slices.Concat(level(10, 0.8), level(10, 0.7))...), Options{Baseline: 8})
	if len(segments) != 1 {
		t.Fatalf("%d baselines, want 1", len(segments))
	}
	s := segments[0]
	if !s.Ready || s.Alarm == nil || s.Alarm.Upward || s.Alarm.Onset < 9 || s.Alarm.Onset > 10 || s.Change.Index != 10 {
		t.Errorf("ready %t, alarm %v, change at %d; want a fall from night 9 or 10 on", s.Ready, s.Alarm, s.Change.Index)
	}
	for i, n := range s.Nights[:10] {
		if n.EWMASignal || n.CUSUMSignal {
			t.Errorf("false alarm in night %d", i)
		}
	}
	if n := s.Nights[19]; !n.EWMASignal || !n.CUSUMSignal || !(n.EWMA.Value < n.Low.Value) {
		t.Errorf("no alarm in the last night: %v", n)
	}
}

// TestNewBaseline: another judge, or other questions, begin a new baseline, unless
// any questions will do; then the night's sampling error is in the limits.
func TestNewBaseline(t *testing.T) {
	nights := nightsOf(level(12, 0.8)...)
	for i := 5; i < 12; i++ {
		nights[i].Basis = map[string]string{"judge": "b"}
	}
	nights[11].Items = "other"
	segments := Watch(nights, Options{Baseline: 3})
	if len(segments) != 3 || !slices.Equal(segments[1].Why, []string{"judge"}) || !slices.Equal(segments[2].Why, []string{"questions"}) {
		t.Fatalf("segments: %v", segments)
	}
	nights[10].SE = stats.Of(0.2)
	segments = Watch(nights, Options{Baseline: 3, AnyItems: true})
	if len(segments) != 2 {
		t.Fatalf("%d segments of any questions, want 2", len(segments))
	}
	at := segments[1].Nights
	if wide, narrow := at[5].Sigma.Value, at[4].Sigma.Value; wide < 0.2 || narrow > 0.05 {
		t.Errorf("sigma of an uncertain night is %v, of a certain one %v", wide, narrow)
	}
}

// TestSamplingError: whether a night's own sampling error is in its limits, by hand.
// The baseline is 0.80, 0.82, 0.80: a mean moving range of 0.02, so σ = 0.02/1.128,
// and with a standard error of 0.01 a night, σ² - 0.01² between nights.
func TestSamplingError(t *testing.T) {
	nights := nightsOf(0.80, 0.82, 0.80, 0.70, 0.70)
	for i := range nights {
		nights[i].SE = stats.Of(0.01)
	}
	nights[3].SE, nights[4].SE = stats.Of(0.03), ibid.Number{}
	sigma := 0.02 / 1.128
	for _, tt := range []struct {
		name string
		any  bool
		want [2]float64 // σ of the two nights that are watched
	}{
		{"the same questions", false, [2]float64{sigma, sigma}},
		{"any questions", true, [2]float64{math.Sqrt(sigma*sigma - 0.01*0.01 + 0.03*0.03), sigma}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			at := Watch(nights, Options{Baseline: 3, AnyItems: tt.any})[0].Nights
			for i, want := range tt.want {
				n := at[3+i]
				if math.Abs(n.Sigma.Value-want) > 1e-12 {
					t.Errorf("σ of night %d is %v, want %v", 3+i, n.Sigma.Value, want)
				}
				// The limits of the first night watched are at ± 2.86 · 0.2 σ.
				if i == 0 && math.Abs((n.High.Value-n.Low.Value)/2-2.86*0.2*want) > 1e-12 {
					t.Errorf("limits are [%v, %v]", n.Low.Value, n.High.Value)
				}
			}
			if got, want := at[3].EWMA.Value, 0.2*0.70+0.8*(2.42/3); math.Abs(got-want) > 1e-12 {
				t.Errorf("EWMA is %v, want %v", got, want)
			}
		})
	}
}

// TestAlike: a baseline whose nights are all alike has no limits, and is no
// unfinished one.
func TestAlike(t *testing.T) {
	for n, complete := range map[int]bool{2: false, 3: true, 5: true} {
		values := make([]float64, n)
		s := Watch(nightsOf(values...), Options{Baseline: 3})[0]
		if s.Complete != complete || s.Ready {
			t.Errorf("%d nights: complete %t, ready %t; want %t and false", n, s.Complete, s.Ready, complete)
		}
	}
}

func TestExpired(t *testing.T) {
	nights := nightsOf(level(6, 0.8)...)
	for i := 3; i < 6; i++ {
		nights[i].Basis = map[string]string{"judge": "b"}
	}
	var gone []string
	for _, n := range Expired(Watch(nights, Options{Baseline: 2}), day0.AddDate(0, 0, 10), 6*24*time.Hour) {
		gone = append(gone, n.Run)
	}
	// n2 and n5 are the last of their baselines; n4 is not older than six days.
	if want := []string{"n0", "n1", "n3"}; !slices.Equal(gone, want) {
		t.Errorf("expired: %v, want %v", gone, want)
	}
}
