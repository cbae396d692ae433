package metrics

import (
	"testing"

	"ibid"
)

func TestOutcomes(t *testing.T) {
	claim := func(change func(*ibid.Claim)) ibid.Claim {
		c := says(0.7, 0)
		change(&c)
		return c
	}
	tests := []struct {
		name    string
		claim   ibid.Claim
		invalid bool
		want    ibid.Outcome // of a judge that is not people
		human   ibid.Outcome
	}{
		{"supported at the threshold", claim(func(*ibid.Claim) {}), false, ibid.SupportedByCited, ibid.SupportedByCited},
		{"below the threshold", claim(func(c *ibid.Claim) { c.Joint = known(0.69) }), false, ibid.Unsupported, ibid.Unsupported},
		{"no fact, whatever else", claim(func(c *ibid.Claim) { c.Factual, c.Contradicted = ibid.No, ibid.Yes }), false, ibid.NotFactual, ibid.NotFactual},
		{"no fact, unscored", claim(func(c *ibid.Claim) { c.Factual, c.Joint = ibid.No, ibid.Support{} }), false, ibid.NotFactual, ibid.NotFactual},
		{"unscored", claim(func(c *ibid.Claim) { c.Joint, c.Elsewhere = ibid.Support{}, known(1) }), false, ibid.Unscored, ibid.Unscored},
		{"undecided", claim(func(c *ibid.Claim) { c.Joint, c.Elsewhere = ibid.Undecidable(), known(1) }), false, ibid.Undecided, ibid.Undecided},
		{"supported and contradicted", claim(func(c *ibid.Claim) { c.Contradicted = ibid.Yes }), false, ibid.Contradicted, ibid.Contradicted},
		{"contradicted before elsewhere", claim(func(c *ibid.Claim) { c.Joint, c.Contradicted, c.Elsewhere = known(0), ibid.Yes, known(1) }), false, ibid.Contradicted, ibid.Contradicted},
		{"elsewhere", claim(func(c *ibid.Claim) { c.Joint, c.Elsewhere = known(0), known(0.7) }), false, ibid.SupportedElsewhere, ibid.SupportedElsewhere},
		{"elsewhere unscored", claim(func(c *ibid.Claim) { c.Joint, c.Elsewhere = known(0), ibid.Support{} }), false, ibid.Unsupported, ibid.Unsupported},
		{"elsewhere undecided", claim(func(c *ibid.Claim) { c.Joint, c.Elsewhere = known(0), ibid.Undecidable() }), false, ibid.Undecided, ibid.Undecided},
		{"elsewhere unscored, supported", claim(func(c *ibid.Claim) { c.Elsewhere = ibid.Support{} }), false, ibid.SupportedByCited, ibid.SupportedByCited},
		{"cites nothing", claim(func(c *ibid.Claim) { c.Citations, c.Contradicted = nil, ibid.Yes }), false, ibid.Unsupported, ibid.Unsupported},
		{"cites nothing, known elsewhere", claim(func(c *ibid.Claim) { c.Citations, c.Elsewhere = nil, known(1) }), false, ibid.SupportedElsewhere, ibid.SupportedElsewhere},
		{"cites what does not exist", claim(func(c *ibid.Claim) { c.Contradicted = ibid.Yes }), true, ibid.Unsupported, ibid.Contradicted},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, human := range []bool{false, true} {
				row := judgedRow([]float64{1}, tt.claim)
				if tt.invalid {
					row.Citations[0].Place.Status = ibid.StatusDocumentNotFound
				}
				o := judgedOptions()
				o.Human = human
				want := tt.want
				if human {
					want = tt.human
				}
				if got := score(t, o, row).Outcomes[0]; got != want {
					t.Errorf("human: %v: outcome %v, want %v", human, got, want)
				}
			}
		})
	}
}

func TestOutcomeNames(t *testing.T) {
	for o, want := range []string{"not_factual", "unscored", "no_text", "undecided", "supported_by_cited", "contradicted", "supported_elsewhere", "unsupported"} {
		if got := ibid.Outcome(o).String(); got != want {
			t.Errorf("outcome %d is called %s, want %s", o, got, want)
		}
	}
}

// Support does not outweigh that the cited evidence also says the contrary.
func TestContradictedClaimIsNotConsistent(t *testing.T) {
	c := says(1, 0)
	c.Contradicted = ibid.Yes
	s := score(t, judgedOptions(), judgedRow([]float64{1}, c))
	wantValue(t, s, FactualConsistency, 0)
	wantValue(t, s, HallucinationRate, 1)
	wantValue(t, s, SupportedCompleteness, 1)
}

// Even where every support is enough, what cites nothing valid has none.
func TestThresholdZero(t *testing.T) {
	row := judgedRow([]float64{0, 0}, says(0, 0), says(0, 1), says(0))
	row.Citations[1].Place.Status = ibid.StatusDocumentNotFound
	o := judgedOptions()
	o.Supported, o.Consistent = 0, 0
	s := score(t, o, row)
	wantValue(t, s, CitationCorrectness, 0.5)
	wantValue(t, s, SupportedCompleteness, 1.0/3)
	wantValue(t, s, CitedClaimPrecision, 0.5)
	wantValue(t, s, FactualConsistency, 1.0/3)
}
