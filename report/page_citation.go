package report

import (
	"fmt"
	"slices"
	"strings"
)

// citation says in words what is right and wrong with a citation.
func (d *detailer) citation(r *results, i int, c *citation, in *rowTexts, k int) citationShown {
	out := citationShown{
		Status:  slices.IndexFunc(statusWords, func(w Word) bool { return w.Code == c.status }),
		Problem: int(d.limits.ofCitation(r, i, c)),
		Place:   c.place(),
		Why:     []string{},
	}
	out.More = out.Problem != int(fine) && problem(out.Problem) != problemOfStatus[c.status]
	if in != nil && k < len(in.row.Citations) {
		if o := originOf(&in.row.Citations[k], c.sourceType, &d.display, d.started); o.Type != "" || o.text() != "" {
			out.Origin = &o
		}
	}
	why := func(format string, args ...any) { out.Why = append(out.Why, fmt.Sprintf(format, args...)) }
	d.whyStatus(c, &out, why)
	if !d.parts.NoSpans {
		whyMatch(r.annotator[i], c, why)
	}
	d.whySupport(r, i, c, &out, why)
	return out
}

// place is where a citation points, in words.
func (c *citation) place() string {
	if c.docNull {
		return "no document named"
	}
	s := shown(clip(c.doc, 200))
	if c.page.Valid {
		s += fmt.Sprintf(", page %d", c.page.Value)
	}
	if c.start.Valid && c.end.Valid {
		s += " " + extent(c.start.Value, c.end.Value)
		if c.unit != "" && c.unit != "codepoint" {
			s += " in " + shown(clip(c.unit, 40)) + "s"
		}
	}
	return s
}

func (d *detailer) whyStatus(c *citation, out *citationShown, why func(string, ...any)) {
	switch c.status {
	case "ok":
		if c.citedText != "" {
			why("The place exists and holds the quoted text.")
		} else {
			why("The place exists.")
		}
		return
	case "quote_repaired":
		if c.repairedStart.Valid && c.repairedEnd.Valid {
			why("The quote does not stand at the place given, but exactly once elsewhere in the document: %s.",
				extent(c.repairedStart.Value, c.repairedEnd.Value))
			break
		}
		fallthrough
	default:
		why("%s", wordOf(statusWords, c.status).Long)
	}
	if c.citedText != "" {
		out.Quote = shown(clip(c.citedText, longText))
	}
}

// whyMatch compares the place with the truth.
func whyMatch(annotator string, c *citation, why func(string, ...any)) {
	if !c.exact.Valid {
		return
	}
	who := "an annotator"
	if annotator != "" {
		who = shown(clip(annotator, 100))
	}
	switch {
	case c.exact.Value == 1:
		why("It points exactly at what %s marked.", who)
	case c.exact.Value == 0:
		why("It touches nothing that %s marked.", who)
	case c.snapped.Valid && c.snapped.Value > c.exact.Value:
		why("It overlaps what %s marked: Jaccard %s, %s when ends that miss by a few characters count as hits.",
			who, number(c.exact.Value), number(c.snapped.Value))
	default:
		why("It overlaps what %s marked: Jaccard %s.", who, number(c.exact.Value))
	}
}

// whySupport tells the verdict on the citation and on its claims.
func (d *detailer) whySupport(r *results, i int, c *citation, out *citationShown, why func(string, ...any)) {
	if c.support.Valid || c.label != "" {
		w, ok := labelWords[c.label]
		if !ok {
			w = Word{Short: "support", Tone: Neutral}
		}
		out.Support, out.Tone = w.Short, w.Tone
		if c.support.Valid {
			out.Support += " " + number(c.support.Value)
		}
		if validStatus(c.status) {
			why("%s: %s.", d.judge, out.Support)
		} else {
			why("It was not judged: a citation that is not valid supports nothing.")
		}
	}
	if c.relevant.Valid && c.relevant.Value == 0 && validStatus(c.status) {
		why("It is not relevant to its claim.")
	}
	if c.necessary.Valid && c.necessary.Value == 0 {
		why("The claim is supported without it.")
	}
	claims := r.claimsOf(i)
	for _, k := range c.claims {
		if k < 0 || k >= int64(len(claims)) {
			continue
		}
		if o := &claims[k]; o.outcome == "supported_elsewhere" && o.elsewhereDoc != "" {
			place := sourceName(o.elsewhereDoc, int32(o.elsewherePage.Value))
			if o.elsewhereStart.Valid && o.elsewhereEnd.Valid {
				place += " " + extent(o.elsewhereStart.Value, o.elsewhereEnd.Value)
			}
			why("Its claim is supported elsewhere: %s.", place)
		}
	}
	if c.precheck != "" && c.precheck != c.status {
		why("Check before judging: %s.", strings.ToLower(label(shown(clip(c.precheck, 200)))))
	}
	if c.reason != "" {
		why("Reason: %s", shown(clip(c.reason, longText)))
	}
}
