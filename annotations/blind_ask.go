package annotations

import (
	"slices"
	"strings"
)

// asks are the questions of the kinds of labels.
var asks = map[string]string{
	"support":        "How far is this supported by the place that it cites?",
	"relevant":       "Is the cited place about what is claimed at all?",
	"needs_citation": "Should this claim have a citation?",
	"factual":        "Is this a claim about facts, and not a courtesy or an opinion?",
}

// Ask puts a question of the item in words, with the claim and the cited places that
// it is about.
func (it *BlindItem) Ask(q BlindLabel) string {
	var b strings.Builder
	b.WriteString(asks[q.Kind])
	if q.ClaimID != "" {
		b.WriteString("\nClaim: " + it.claim(q.ClaimID))
	}
	if q.Kind == "needs_citation" || q.Kind == "factual" {
		return b.String() // which do not depend on what is cited
	}
	for i := range it.Citations {
		c := &it.Citations[i]
		if q.CitationID == "" && c.ClaimID == q.ClaimID && q.ClaimID != "" || q.CitationID != "" && c.CitationID == q.CitationID {
			b.WriteString("\nCited: " + it.cited(c) + " (" + c.Doc + ")")
		}
	}
	return b.String()
}

// claim is the text of a claim, or its id if that is all that is known.
func (it *BlindItem) claim(id string) string {
	i := slices.IndexFunc(it.Claims, func(c BlindClaim) bool { return c.ID == id })
	if i < 0 || it.Claims[i].Text == "" {
		return id
	}
	return it.Claims[i].Text
}

// cited is the text of a cited place.
func (it *BlindItem) cited(c *BlindPlace) string {
	i := slices.IndexFunc(it.Documents, func(d BlindDocument) bool { return d.Doc == c.Doc })
	if i < 0 || c.Start == nil || c.End == nil {
		return c.Text
	}
	text := []rune(it.Documents[i].Text)
	if lo, hi := *c.Start, *c.End; 0 <= lo && lo < hi && hi <= int64(len(text)) {
		return string(text[lo:hi])
	}
	return c.Text
}
