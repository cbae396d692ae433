package report

import (
	"cmp"
	"fmt"
	"slices"
)

// answer splits the answer into stretches by claim, and says after which stretch
// each citation is named.
func (d *detailer) answer(v *rowShown, text string, citations []citation, claims []claim) {
	length := int64(len([]rune(text)))
	cuts := []int64{0, length}
	inside := func(at int64) bool { return at > 0 && at < length }
	for k := range claims {
		if c := &claims[k]; c.start.Valid && c.end.Valid {
			for _, at := range []int64{c.start.Value, c.end.Value} {
				if inside(at) {
					cuts = append(cuts, at)
				}
			}
		}
	}
	for k := range citations {
		if at := citations[k].answerEnd; at.Valid && inside(at.Value) {
			cuts = append(cuts, at.Value)
		}
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	units := unitsBefore(text, cuts)
	claimAt := func(start, end int64) int32 {
		for k := range claims {
			if c := &claims[k]; c.start.Valid && c.end.Valid && c.start.Value <= start && end <= c.end.Value {
				return int32(k)
			}
		}
		return -1
	}
	for i := 0; i+1 < len(cuts); i++ {
		v.Answer = append(v.Answer, units[i], units[i+1], claimAt(cuts[i], cuts[i+1]))
	}
	for k := range citations {
		if !d.display.Markers {
			break
		}
		end := citations[k].answerEnd
		i, found := slices.BinarySearch(cuts, end.Value)
		if !end.Valid || !found || i == 0 {
			v.Loose = append(v.Loose, int32(k))
			continue
		}
		v.Markers = append(v.Markers, []int32{int32(i - 1), int32(k)})
	}
	slices.SortStableFunc(v.Markers, func(a, b []int32) int { return cmp.Compare(a[0], b[0]) })
}

// claim says in words what became of a claim.
func (d *detailer) claim(c *claim) claimShown {
	out := claimShown{
		Outcome:   slices.IndexFunc(outcomeWords, func(w Word) bool { return w.Code == c.outcome }),
		Citations: c.citations,
	}
	if !c.start.Valid || !c.end.Valid {
		out.Text = shown(clip(c.text, longText))
	}
	if d.parts.NoHallucinations {
		out.Outcome = -1
		return out
	}
	out.Missed = missed(c) && c.outcome != "not_factual"
	note := func(format string, args ...any) { out.Notes = append(out.Notes, fmt.Sprintf(format, args...)) }
	if c.outcome != "" && out.Outcome >= 0 {
		note("%s", outcomeWords[out.Outcome].Long)
	}
	if len(c.citations) == 0 && c.outcome != "not_factual" {
		note("It cites nothing.")
	}
	if c.support.Valid && len(c.citations) > 0 {
		note("%s: joined support of what it cites is %s.", d.judge, number(c.support.Value))
	}
	if missed(c) {
		text := "The best evidence it does not cite: " + sourceName(c.elsewhereDoc, int32(c.elsewherePage.Value))
		if c.elsewhereStart.Valid && c.elsewhereEnd.Valid {
			text += " " + extent(c.elsewhereStart.Value, c.elsewhereEnd.Value)
		}
		if c.elsewhere.Valid {
			text += ", support " + number(c.elsewhere.Value)
		}
		note("%s.", text)
	}
	if c.votes.Valid && c.votes.Value > 1 {
		note("%s votes.", Thousands(c.votes.Value))
	}
	if c.reason != "" {
		note("Reason: %s", shown(clip(c.reason, longText)))
	}
	return out
}
