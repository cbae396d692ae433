package ibid_test

import (
	"encoding/json"
	"fmt"
	"strings"
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

// TestCitationStatus: that a citation backs no text is said of places that are valid only.
func TestCitationStatus(t *testing.T) {
	for _, status := range ibid.Statuses() {
		c := ibid.Citation{Place: ibid.Place{Status: status}}
		if got := c.Status(); got != status {
			t.Errorf("%s: Status = %s", status, got)
		}
		c.NoClaim = true
		want := status
		if status.Valid() {
			want = ibid.StatusNoClaim
		}
		if got := c.Status(); got != want {
			t.Errorf("%s that backs no text: Status = %s, want %s", status, got, want)
		}
	}
}

func TestTag(t *testing.T) {
	a := ibid.Answer{Tags: []ibid.Tag{{Key: "lang", Value: "de"}, {Key: "topic", Value: ""}}}
	for key, want := range map[string]string{"lang": "de true", "topic": " true", "de": " false"} {
		v, ok := a.Tag(key)
		if got := fmt.Sprintf("%s %v", v, ok); got != want {
			t.Errorf("Tag(%s) = %s, want %s", key, got, want)
		}
	}
}

func TestDegrees(t *testing.T) {
	for _, tt := range []struct {
		name   string
		number float64
		known  bool
		backs  bool
	}{
		{"full", 1, true, true},
		{"mostly", 0.8, true, true},
		{"partial", 0.5, true, true},
		{"none", 0, true, false},
		{"contradicts", 0, true, false},
		{"unsure", 0, false, false},
	} {
		d, err := ibid.ParseDegree(tt.name)
		if err != nil || d.String() != tt.name {
			t.Errorf("ParseDegree(%s) = %s, %v", tt.name, d, err)
		}
		if s := d.Support(); s.Degree != d || s.Number.Known() != tt.known || s.Number.Value != tt.number {
			t.Errorf("%s stands for %v, want %v", tt.name, s.Number, tt.number)
		}
		if d.Backs() != tt.backs {
			t.Errorf("%s backs: %v", tt.name, d.Backs())
		}
	}
	if d, err := ibid.ParseDegree("fully"); d != ibid.Unsure || err == nil || !strings.Contains(err.Error(), `label "fully"`) {
		t.Errorf("ParseDegree(fully) = %s, %v", d, err)
	}
}

func TestWords(t *testing.T) {
	seen := make(map[string]bool)
	for i, o := range ibid.Outcomes() {
		if int(o) != i || seen[o.String()] {
			t.Errorf("outcome %d is %d, %s", i, o, o)
		}
		seen[o.String()] = true
	}
	if len(seen) != 8 {
		t.Errorf("%d outcomes", len(seen))
	}
	for word, want := range map[string]bool{"": false, ibid.TamperingNone: false, ibid.TamperingInAnswer: true, ibid.TamperingInEvidence: true, ibid.TamperingSuspected: true} {
		if ibid.Tampered(word) != want {
			t.Errorf("Tampered(%q) = %v", word, !want)
		}
	}
	if (ibid.Interval{Start: ibid.Some[int64](3)}).Known() || (ibid.Interval{End: ibid.Some[int64](3)}).Known() || !ibid.Between(3, 3).Known() {
		t.Error("an interval is known without one of its ends, or unknown with both")
	}
	if ibid.TriOf(true) != ibid.Yes || ibid.TriOf(false) != ibid.No {
		t.Error("TriOf")
	}
	m := ibid.Some(3)
	if err := json.Unmarshal([]byte("null"), &m); err != nil || m.Known() {
		t.Errorf("null is read as %v, %v", m, err)
	}
	if err := json.Unmarshal([]byte(`"x"`), &m); err == nil {
		t.Error("a word is read as a number")
	}
}
