package ibid_test

import (
	"encoding/json"
	"testing"

	"ibid"
)

func TestMaybe(t *testing.T) {
	var none ibid.Number
	if none.Known() || none.Pointer() != nil {
		t.Errorf("the zero Number is known")
	}
	zero := ibid.Some(0.0)
	if !zero.Known() || *zero.Pointer() != 0 || zero == none {
		t.Errorf("0 is not a value: %v", zero)
	}
	if got := ibid.SomeIf(3.0, false); got != none {
		t.Errorf("SomeIf(3, false) = %v", got)
	}
	if u := ibid.Undefined[float64](ibid.NoTruth); u.Known() || u.Why.String() != "no_truth" {
		t.Errorf("Undefined(no_truth) = %v", u)
	}
	for _, m := range []ibid.Number{none, zero, ibid.Some(0.25)} {
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var back ibid.Number
		if err := json.Unmarshal(text, &back); err != nil || back != m {
			t.Errorf("%s reads back as %v, %v; want %v", text, back, err, m)
		}
	}
}

func TestCheckSpan(t *testing.T) {
	for _, tt := range []struct {
		start, end int64
		want       ibid.Status
	}{
		{0, 1, ibid.StatusOK},
		{0, ibid.MaxEnd, ibid.StatusOK},
		{0, ibid.MaxEnd + 1, ibid.StatusOutOfBounds},
		{3, 3, ibid.StatusEmpty},
		{3, 2, ibid.StatusInverted},
		{-1, 2, ibid.StatusNegative},
		{-2, -2, ibid.StatusNegative},
	} {
		if got := ibid.CheckSpan(tt.start, tt.end); got != tt.want {
			t.Errorf("CheckSpan(%d, %d) = %v, want %v", tt.start, tt.end, got, tt.want)
		}
	}
}

// TestStatuses pins which statuses make a citation valid, and which leave the span
// sets.
func TestStatuses(t *testing.T) {
	valid := map[string]bool{"ok": true, "unchecked": true, "quote_repaired": true, "quote_located": true, "quote_ambiguous": true, "no_claim": true}
	unusable := map[string]bool{"span_empty": true, "span_inverted": true, "span_negative": true}
	for _, s := range ibid.Statuses() {
		if s.Valid() != valid[s.String()] || s.Usable() == unusable[s.String()] {
			t.Errorf("%v: valid %v, usable %v", s, s.Valid(), s.Usable())
		}
	}
}

func TestScored(t *testing.T) {
	for _, tt := range []struct {
		v    float64
		want ibid.Degree
	}{{0, ibid.None}, {0.25, ibid.None}, {0.3, ibid.Partial}, {0.65, ibid.Partial}, {0.7, ibid.Mostly}, {0.9, ibid.Mostly}, {0.95, ibid.Full}} {
		if got := ibid.Scored(tt.v); got.Degree != tt.want || got.Value != tt.v || !got.Known() {
			t.Errorf("Scored(%v) = %v, want %v", tt.v, got, tt.want)
		}
	}
	for d := range ibid.NumDegrees {
		if back, err := ibid.ParseDegree(d.String()); back != d || err != nil {
			t.Errorf("%v reads back as %v, %v", d, back, err)
		}
		if got := d.Support(); got.Known() != (d != ibid.Unsure) || got.Degree != d {
			t.Errorf("%v.Support() = %v", d, got)
		}
	}
}
