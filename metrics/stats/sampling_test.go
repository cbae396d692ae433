package stats

import (
	"encoding/json"
	"math/big"
	"testing"
)

type samplingCase struct {
	Sizes         map[string]int
	SD            map[string]float64
	Values        map[string][]float64
	Items         map[string][]string
	N             json.RawMessage
	Seed          string
	Rate          json.Number
	MinTotal      int `json:"min_total"`
	MinPerStratum int `json:"min_per_stratum"`
}

var samplingOracles = map[string]oracle{
	"allocate": func(t *testing.T, input, options json.RawMessage) any {
		in := decode[samplingCase](t, input, options)
		rate, ok := new(big.Rat).SetString(in.Rate.String())
		if !ok {
			t.Fatalf("rate %s", in.Rate)
		}
		a := Allocate(in.Sizes, rate, in.MinTotal, in.MinPerStratum)
		return object{"allocation": a.Strata, "total": a.Total, "target": a.Target}
	},
	"hash_select": func(t *testing.T, input, options json.RawMessage) any {
		in := decode[samplingCase](t, input, options)
		out := object{}
		for stratum, n := range decode[map[string]int](t, in.N) {
			out[stratum] = HashSelect(in.Seed, stratum, in.Items[stratum], n)
		}
		return object{"selected": out}
	},
}
