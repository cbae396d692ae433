package metrics

import (
	"testing"

	"ibid/metrics/span"
)

func TestOutcomes(t *testing.T) {
	claim := func(change func(*Claim)) Claim {
		c := says(0.7, 0)
		change(&c)
		return c
	}
	tests := []struct {
		name    string
		claim   Claim
		invalid bool
		want    Outcome // of a judge that is not people
		human   Outcome
	}{
		{"supported at the threshold", claim(func(*Claim) {}), false, SupportedByCited, SupportedByCited},
		{"below the threshold", claim(func(c *Claim) { c.Joint = known(0.69) }), false, Unsupported, Unsupported},
		{"no fact, whatever else", claim(func(c *Claim) { c.Factual, c.Contradicted = No, true }), false, NotFactual, NotFactual},
		{"no fact, unscored", claim(func(c *Claim) { c.Factual, c.Joint = No, Support{} }), false, NotFactual, NotFactual},
		{"unscored", claim(func(c *Claim) { c.Joint, c.Elsewhere = Support{}, known(1) }), false, Unscored, Unscored},
		{"supported and contradicted", claim(func(c *Claim) { c.Contradicted = true }), false, Contradicted, Contradicted},
		{"contradicted before elsewhere", claim(func(c *Claim) { c.Joint, c.Contradicted, c.Elsewhere = known(0), true, known(1) }), false, Contradicted, Contradicted},
		{"elsewhere", claim(func(c *Claim) { c.Joint, c.Elsewhere = known(0), known(0.7) }), false, SupportedElsewhere, SupportedElsewhere},
		{"elsewhere unscored", claim(func(c *Claim) { c.Joint, c.Elsewhere = known(0), Support{} }), false, Unscored, Unsupported},
		{"elsewhere unscored, supported", claim(func(c *Claim) { c.Elsewhere = Support{} }), false, SupportedByCited, SupportedByCited},
		{"cites nothing", claim(func(c *Claim) { c.Citations, c.Contradicted = nil, true }), false, Unsupported, Unsupported},
		{"cites nothing, known elsewhere", claim(func(c *Claim) { c.Citations, c.Elsewhere = nil, known(1) }), false, SupportedElsewhere, SupportedElsewhere},
		{"cites what does not exist", claim(func(c *Claim) { c.Contradicted = true }), true, Unsupported, Contradicted},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, human := range []bool{false, true} {
				row := judgedRow([]float64{1}, tt.claim)
				if tt.invalid {
					row.Citations[0].Status = span.DocumentNotFound
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
	for o, want := range []string{"not_factual", "unscored", "supported_by_cited", "contradicted", "supported_elsewhere", "unsupported"} {
		if got := Outcome(o).String(); got != want {
			t.Errorf("outcome %d is called %s, want %s", o, got, want)
		}
	}
}

// Support does not outweigh that the cited evidence also says the contrary.
func TestContradictedClaimIsNotConsistent(t *testing.T) {
	c := says(1, 0)
	c.Contradicted = true
	s := score(t, judgedOptions(), judgedRow([]float64{1}, c))
	wantValue(t, s, FactualConsistency, 0)
	wantValue(t, s, HallucinationRate, 1)
	wantValue(t, s, SupportedCompleteness, 1)
}

// Even where every support is enough, what cites nothing valid has none.
func TestThresholdZero(t *testing.T) {
	row := judgedRow([]float64{0, 0}, says(0, 0), says(0, 1), says(0))
	row.Citations[1].Status = span.DocumentNotFound
	o := judgedOptions()
	o.Supported, o.Consistent = 0, 0
	s := score(t, o, row)
	wantValue(t, s, CitationCorrectness, 0.5)
	wantValue(t, s, SupportedCompleteness, 1.0/3)
	wantValue(t, s, CitedClaimPrecision, 0.5)
	wantValue(t, s, FactualConsistency, 1.0/3)
	wantCount(t, s, ConsistentCitations, 1)
}
