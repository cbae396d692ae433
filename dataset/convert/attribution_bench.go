package convert

import (
	"strconv"
	"strings"

	"ibid"
)

// attributionBench is AttributionBench (Li et al., Findings of ACL 2024): one claim of a
// response, the texts that it refers to, and whether they bear it out.
//
// The row has the one claim, 0, with a citation for every reference. Its label is support
// of 1 (attributable) or 0 by the annotator src_dataset, which is a tag, too. So the
// human judge works, and other judges can be compared with it. A reference is a document, called by
// its link where citation_links has one for each, else ID[1], ID[2] and so on.
var attributionBench = researchFormat{
	name:    "attributionbench",
	summary: "AttributionBench: claims with their references and a label",
	fits:    func(o *object) bool { return o.has("attribution_label") && o.isList("references") },
	read:    attributionRecord,
}.format()

var attributionLabels = map[string]float64{"attributable": 1, "not attributable": 0}

func attributionRecord(c *researchReader, o *object) {
	r := &c.row
	if r.ID = o.get("id").label(); r.ID == "" {
		o.fail("id is missing")
	}
	r.Query, r.Answer = o.get("question").string(), o.get("response").required()
	text := o.get("claim").required()
	start := -1
	if at := strings.Index(r.Answer, text); at >= 0 && strings.Count(r.Answer, text) == 1 {
		start = len([]rune(r.Answer[:at]))
	}
	id := c.claim(text, start)
	claim := r.Claims[0]
	r.HasCitations, r.HasLabels = true, true
	references, _ := o.get("references").texts()
	links, _ := o.get("citation_links").texts()
	for i, reference := range references {
		name := r.ID + "[" + strconv.Itoa(i+1) + "]"
		if len(links) == len(references) {
			name = links[i]
		}
		c.cite(&claim, ibid.Citation{Doc: c.source(ibid.Document{Doc: name, Text: reference, HasText: true}), Unit: "document"})
	}
	if len(links) != len(references) && len(links) > 0 {
		c.more.add("citation_links", o.get("citation_links").raw())
	}
	dataset := o.get("src_dataset").string()
	if dataset != "" {
		r.Tags = append(r.Tags, ibid.Tag{Key: "src_dataset", Value: dataset})
	}
	label := o.get("attribution_label")
	value, known := attributionLabels[label.required()]
	if !known {
		label.fail("neither attributable nor not attributable")
	}
	r.Labels = append(r.Labels, ibid.Label{Annotator: dataset, ClaimID: id, Kind: ibid.SupportLabel, Value: ibid.Some(value)})
	if o.peek("claim_raw_string") == text {
		o.get("claim_raw_string") // says nothing more
	}
}
