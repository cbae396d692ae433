package stats

import (
	"encoding/json"
	"testing"

	"ibid"
)

type chartCase struct {
	X                       []*float64
	Target, Lambda, L, K, H float64
	Sigma                   *float64
	Asymptotic, Reset       bool
	MinSeg                  int `json:"min_seg"`
}

func (c *chartCase) sigma() ibid.Number { return ofFloats([]*float64{c.Sigma})[0] }

// ifFound is v, or null.
func ifFound(v any, found bool) any {
	if !found {
		return nil
	}
	return v
}

var chartOracles = map[string]oracle{
	"baseline": func(t *testing.T, input, options json.RawMessage) any {
		b := BaselineOf(ofFloats(decode[chartCase](t, input).X))
		return object{"n": b.N, "mean": b.Mean, "sd": b.SD, "sigma_mr": b.Sigma}
	},
	"ewma": func(t *testing.T, input, options json.RawMessage) any {
		in := decode[chartCase](t, input, options)
		chart := EWMA{in.Target, in.sigma(), in.Lambda, in.L, in.Asymptotic}
		z, low, high, signal := []ibid.Number{}, []ibid.Number{}, []ibid.Number{}, []bool{}
		first := -1
		for i, night := range chart.Chart(ofFloats(in.X)) {
			z, low, high, signal = append(z, night.Mean), append(low, night.Low), append(high, night.High), append(signal, night.Signal)
			if night.Signal && first < 0 {
				first = i
			}
		}
		return object{"z": z, "lcl": low, "ucl": high, "signal": signal, "first_signal": ifFound(first, first >= 0)}
	},
	"cusum": func(t *testing.T, input, options json.RawMessage) any {
		in := decode[chartCase](t, input, options)
		chart := CUSUM{in.Target, in.sigma(), in.K, in.H, in.Reset}
		nights, alarm := chart.Chart(ofFloats(in.X))
		hi, lo, nHi, nLo, signal := []ibid.Number{}, []ibid.Number{}, []any{}, []any{}, []bool{}
		for _, n := range nights {
			hi, lo, signal = append(hi, n.High), append(lo, n.Low), append(signal, n.Signal)
			nHi, nLo = append(nHi, ifFound(n.NHigh, n.High.Known())), append(nLo, ifFound(n.NLow, n.Low.Known()))
		}
		out := object{"hi": hi, "lo": lo, "n_hi": nHi, "n_lo": nLo, "signal": signal, "first_signal": nil, "side": nil, "onset": nil}
		if alarm != nil {
			out["first_signal"], out["onset"], out["side"] = alarm.Night, alarm.Onset, "low"
			if alarm.Upward {
				out["side"] = "high"
			}
		}
		return out
	},
	"change_point": func(t *testing.T, input, options json.RawMessage) any {
		in := decode[chartCase](t, input, options)
		c := FindChange(ofFloats(in.X), in.MinSeg)
		return object{
			"k": ifFound(c.Left, c.Found), "index": ifFound(c.Index, c.Found), "gain": ifFound(c.Gain, c.Found),
			"mean_left": ifFound(c.MeanLeft, c.Found), "mean_right": ifFound(c.MeanRight, c.Found), "p_exact": c.P,
		}
	},
	"pettitt": func(t *testing.T, input, options json.RawMessage) any {
		p := Pettitt(ofFloats(decode[chartCase](t, input).X))
		return object{"K": p.K, "t": ifFound(p.Left, p.K.Known()), "p": p.P}
	},
}
