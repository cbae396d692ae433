package report

import (
	"fmt"

	"ibid/annotations/compare"
	"ibid/dataset/runs"
)

// A DriftView is whether the judge moved between two runs, by its verdicts on the
// same anchors.
type DriftView struct {
	Title   string
	Word    Word
	Says    string
	Facts   [][2]string
	Flipped []FlippedLine // the first of them
	More    string        // how many others there are, "" if none
}

// A FlippedLine is a verdict that only one of the runs calls supported.
type FlippedLine struct{ Anchor, Before, After, Text string }

// shownFlips is how many flipped verdicts a page lists: JSON has all.
const shownFlips = 50

// drifts tells whether the judge moved between the runs of the page.
func (b *pageBuilder) drifts() {
	all := b.options.Drifts
	if r := b.options.Comparison; r != nil {
		all = r.Drifts
	}
	for _, d := range all {
		v := DriftView{
			Title: line(d.New, 80) + " against " + line(d.Base, 80), Word: driftWord(d), Says: capital(shown(d.Sentence())), Facts: driftFacts(d),
		}
		for i := range d.Flipped[:min(len(d.Flipped), shownFlips)] {
			c := flipCells(&d.Flipped[i])
			v.Flipped = append(v.Flipped, FlippedLine{c[0], c[1], c[2], c[3]})
		}
		if n := int64(len(d.Flipped) - len(v.Flipped)); n > 0 {
			v.More = Thousands(n) + " more in ibid compare --json"
		}
		b.page.Drifts = append(b.page.Drifts, v)
	}
}

func driftWord(d *compare.Drift) Word {
	switch {
	case d.Unchecked != "":
		return Word{"unchecked", "not checked", "Whether the judge moved was not checked.", Neutral}
	case d.Moved:
		return Word{"moved", "moved", "More verdicts on the same anchors flipped one way than chance explains.", Bad}
	}
	return Word{"steady", "steady", "Chance may explain the verdicts on the same anchors that flipped.", Good}
}

// driftFacts are the figures of the test, and how the judge agrees with people.
func driftFacts(d *compare.Drift) [][2]string {
	if d.Unchecked != "" {
		return nil
	}
	facts := [][2]string{
		{"verdicts on anchors", fmt.Sprintf("%s on %s", Thousands(d.Verdicts), Thousands(d.Rows))},
		{"became supported", Thousands(d.Gained)},
		{"became unsupported", Thousands(d.Lost)},
		{"flipped", percent(d.Gained+d.Lost, d.Verdicts)},
	}
	if d.OneSided > 0 {
		facts = append(facts, [2]string{"judged in one run only", Thousands(d.OneSided)})
	}
	for i := range d.Agreement {
		a := &d.Agreement[i]
		facts = append(facts,
			[2]string{a.Kind + ", sensitivity", Number(a.Before.Sensitivity) + " → " + Number(a.After.Sensitivity)},
			[2]string{a.Kind + ", specificity", Number(a.Before.Specificity) + " → " + Number(a.After.Specificity)})
	}
	return facts
}

// anchorFacts say what the anchors of a run are, and how the judge agrees on them
// with people.
func anchorFacts(a *runs.AnchorsRecord) [][2]string {
	if a == nil {
		return nil
	}
	facts := [][2]string{{"anchors", fmt.Sprintf("%s with %s", plural(a.Rows, "row", "rows"), plural(a.Claims, "claim", "claims"))}}
	if a.SpentUSD != nil {
		facts = append(facts, [2]string{"cost of the anchors", fmt.Sprintf("$%.4f", *a.SpentUSD)})
	}
	for i := range a.Agreement {
		of := compare.RatesOf(a.Agreement[i].Counts())
		facts = append(facts, [2]string{
			"anchors, " + a.Agreement[i].Kind,
			fmt.Sprintf("sensitivity %s, specificity %s (%s)", Number(of.Sensitivity), Number(of.Specificity), plural(of.Items, "label", "labels")),
		})
	}
	return facts
}
