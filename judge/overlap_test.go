package judge

import (
	"math"
	"testing"

	"ibid"
)

// TestOverlap, by hand: of n sentences that are cited df have a word, which weighs
// ln((1+n)/(1+df)) + 1.
func TestOverlap(t *testing.T) {
	evidence := []Evidence{
		{Text: "The bridge opened in 1931.", Citation: 0, After: " Nobody paid a toll."},
		{Text: "A bridge of granite stands here. It is national.", Citation: 1},
	}
	one, two := math.Log(4.0/2)+1, math.Log(4.0/3)+1
	none := math.Log(4.0/1) + 1
	for _, tt := range []struct {
		claim string
		cites []int32
		want  ibid.Number
	}{
		{"The bridge opened in 1931.", []int32{0}, ibid.Some(1.0)},
		{"The bridge is nationally known.", []int32{0, 1}, ibid.Some((two + one) / (two + one + none))}, // national, nationally
		{"Granite, granite!", []int32{0, 1}, ibid.Some(1.0)},
		{"Toll.", []int32{0}, ibid.Some(0.0)}, // in a sentence that is not cited
		{"It is.", []int32{0}, ibid.Number{}},
		{"The bridge opened in 1931.", nil, ibid.Number{}},
	} {
		v, err := NewLexical().Judge(t.Context(), &Request{Claims: []ibid.Claim{{Text: tt.claim, Citations: tt.cites}}, Evidence: evidence})
		if err != nil {
			t.Fatal(err)
		}
		if got := v.Claims[0].Overlap; got.Known() != tt.want.Known() || math.Abs(got.Value-tt.want.Value) > 1e-12 {
			t.Errorf("%q: overlap %v, want %v", tt.claim, got, tt.want)
		}
	}
}
