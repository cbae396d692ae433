package report

import (
	"fmt"
	"strings"

	"ibid"
	"ibid/dataset/runs"
)

// longText is how much of a quote or a reason is shown, in code points.
const longText = 1500

// A Remark is one thing that is known of a citation or a claim, as a sentence.
type Remark struct {
	About string // a word for what it is about, such as "status" or "reason"
	Text  string
}

// Sentence is the remark where nothing else says what it is about.
func (n Remark) Sentence() string {
	if n.About == "reason" {
		return "Reason: " + n.Text
	}
	return n.Text
}

// A Telling says how the remarks on a row are told.
type Telling struct {
	Judge     string // what verdicts are called, such as "Judge"
	Annotator string // whose truth the row is compared with; "" for that of all
	Parts     Parts
}

// CitationRemarks say what is right and wrong with a citation. Claims are those of its
// row.
func (t *Telling) CitationRemarks(c *runs.Citation, claims []runs.Claim) []Remark {
	var notes []Remark
	note := func(about, format string, args ...any) {
		notes = append(notes, Remark{about, fmt.Sprintf(format, args...)})
	}
	switch {
	case c.Status == ibid.StatusOK.String() && c.CitedText != "":
		note("status", "The place exists and holds the quoted text.")
	case c.Status == ibid.StatusOK.String():
		note("status", "The place exists.")
	case c.Status == ibid.StatusQuoteRepaired.String() && c.RepairedStart != nil && c.RepairedEnd != nil:
		note("status", "The quote does not stand at the place given, but exactly once elsewhere in the document: %s.", extent(*c.RepairedStart, *c.RepairedEnd))
	default:
		note("status", "%s", wordOf(statusWords, c.Status).Long)
	}
	if exact := c.ExactJaccard; exact != nil && !t.Parts.NoSpans {
		who := "an annotator"
		if t.Annotator != "" {
			who = shown(clip(t.Annotator, 100))
		}
		switch snapped := c.SnappedJaccard; {
		case *exact == 1:
			note("match", "It points exactly at what %s marked.", who)
		case *exact == 0:
			note("match", "It touches nothing that %s marked.", who)
		case snapped != nil && *snapped > *exact:
			note("match", "It overlaps what %s marked: Jaccard %s, %s when ends that miss by a few characters count as hits.",
				who, number(*exact), number(*snapped))
		default:
			note("match", "It overlaps what %s marked: Jaccard %s.", who, number(*exact))
		}
	}
	valid := validStatus(c.Status)
	if support := SupportOf(c); support.Short != "" && valid {
		note("support", "%s: %s.", t.Judge, support.Short)
	} else if support.Short != "" {
		note("support", "It was not judged: a citation that is not valid supports nothing.")
	}
	if c.Relevant != nil && !*c.Relevant && valid {
		note("relevance", "It is not relevant to its claim.")
	}
	if c.Necessary != nil && !*c.Necessary {
		note("necessity", "The claim is supported without it.")
	}
	for _, k := range c.Claims {
		if k < 0 || int(k) >= len(claims) {
			continue
		}
		o := &claims[k]
		if e := o.Elsewhere; o.Outcome == ibid.SupportedElsewhere.String() && e != nil && e.Doc != "" {
			note("claim", "Its claim is supported elsewhere: %s.", placeInWords(e.Doc, e.Page, e.Start, e.End, ""))
		}
	}
	if c.Precheck != "" && c.Precheck != c.Status {
		note("precheck", "Check before judging: %s.", strings.ToLower(label(shown(clip(c.Precheck, 200)))))
	}
	if c.Reason != "" {
		note("reason", "%s", shown(clip(c.Reason, longText)))
	}
	return notes
}

// SupportOf is the verdict on a citation in words, with the degree; empty if there is
// none.
func SupportOf(c *runs.Citation) Word {
	if c.Support == nil && c.Label == "" {
		return Word{}
	}
	w, ok := labelWords[c.Label]
	if !ok {
		w = Word{Short: "support", Tone: Neutral}
	}
	if c.Support != nil {
		w.Short += " " + number(*c.Support)
	}
	return w
}

// ClaimRemarks say what became of a claim.
func (t *Telling) ClaimRemarks(c *runs.Claim) []Remark {
	if t.Parts.NoHallucinations {
		return nil
	}
	var notes []Remark
	note := func(about, format string, args ...any) {
		notes = append(notes, Remark{about, fmt.Sprintf(format, args...)})
	}
	if long := wordOf(outcomeWords, c.Outcome).Long; long != "" {
		note("outcome", "%s", long)
	}
	if len(c.Citations) == 0 && c.Outcome != ibid.NotFactual.String() {
		note("citations", "It cites nothing.")
	}
	if c.Support != nil && len(c.Citations) > 0 {
		note("support", "%s: joined support of what it cites is %s.", t.Judge, number(*c.Support))
	}
	if MissedEvidence(c) {
		note("elsewhere", "The best evidence it does not cite: %s.", ElsewhereInWords(c.Elsewhere))
	}
	if c.Votes != nil && *c.Votes > 1 {
		note("votes", "%s votes.", Thousands(int64(*c.Votes)))
	}
	if c.Reason != "" {
		note("reason", "%s", shown(clip(c.Reason, longText)))
	}
	return notes
}

// MissedEvidence reports whether a claim has better evidence than what it cites.
func MissedEvidence(c *runs.Claim) bool {
	return c.Elsewhere != nil && c.Elsewhere.Doc != "" && c.Outcome != ibid.SupportedByCited.String()
}

// ElsewhereInWords is the place of evidence, with its support.
func ElsewhereInWords(e *runs.Elsewhere) string {
	text := placeInWords(e.Doc, e.Page, e.Start, e.End, "")
	if e.Support != nil {
		text += ", support " + number(*e.Support)
	}
	return text
}

// PlaceOf is where a citation points, in words.
func PlaceOf(c *runs.Citation) string { return placeInWords(c.Doc, c.Page, c.Start, c.End, c.Unit) }

func placeInWords(doc string, page *int32, start, end *int64, unit string) string {
	if doc == "" {
		return "no document named"
	}
	text := sourceName(doc, 0)
	if page != nil {
		text = sourceName(doc, *page)
	}
	if start != nil && end != nil {
		text += " " + extent(*start, *end)
		if unit != "" && unit != "codepoint" {
			text += " in " + shown(clip(unit, 40)) + "s"
		}
	}
	return text
}

// sourceName is a document, or a page of it, in words.
func sourceName(doc string, page int32) string {
	name := shown(clip(doc, 200))
	if page > 0 {
		name += fmt.Sprintf(", page %d", page)
	}
	return name
}

func extent(start, end int64) string {
	return fmt.Sprintf("[%s, %s)", Thousands(start), Thousands(end))
}
