package verify

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"ibid"
)

func optional(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func integer(n ibid.Integer) any {
	if !n.Known() {
		return nil
	}
	return n.Value
}

func number(n ibid.Number) any {
	if !n.Known() {
		return nil
	}
	return n.Value
}

func tri(t ibid.Tri) any {
	if t == ibid.Unset {
		return nil
	}
	return t == ibid.Yes
}

// describe fills in what the input says of the row.
func (w *rowWork) describe(r record) {
	a := w.row
	r["id"], r["system"], r["row"] = a.ID, a.System, a.Pos
	r["provider"], r["model"] = optional(a.Provider), optional(a.Model)
	r["answer_cost_usd"], r["answer_tokens"], r["answer_latency_ms"] = number(a.CostUSD), integer(a.Tokens), number(a.LatencyMillis)
	tags := make(map[string]any)
	for _, t := range a.Tags {
		tags[t.Key] = t.Value
	}
	r["tags"] = tags
	r["cluster"] = optional(w.cluster())
	r["source_types"], r["source_statuses"] = nil, nil
	if w.s.Statistics.Cluster == "auto" {
		r["documents"] = w.touched()
	}
	for column, of := range map[string]func(*ibid.Citation) string{
		"source_type":   func(c *ibid.Citation) string { return c.SourceType },
		"source_status": func(c *ibid.Citation) string { return sourceOf(c, "promotion_status", "source_status") },
	} {
		if !slices.Contains(w.s.Slices, column) {
			continue
		}
		all := []string{}
		for i := range a.Citations {
			if v := of(&a.Citations[i]); v != "" && !slices.Contains(all, v) {
				all = append(all, v)
			}
		}
		slices.Sort(all)
		list := []any{}
		for _, v := range all {
			list = append(list, v)
		}
		r[map[string]string{"source_type": "source_types", "source_status": "source_statuses"}[column]] = list
	}
}

// touched are the documents that the row touches, sorted: those of truth, else of citations.
// One that the row brings along has a digest of its text behind its name.
func (w *rowWork) touched() []any {
	var all []string
	for i := range w.row.Truth {
		if !w.row.Truth[i].DocNull {
			all = append(all, w.row.Truth[i].Doc)
		}
	}
	if len(all) == 0 {
		for i := range w.row.Citations {
			if !w.row.Citations[i].DocNull {
				all = append(all, w.row.Citations[i].Doc)
			}
		}
	}
	for i, name := range all {
		if k := slices.IndexFunc(w.row.Documents, func(d ibid.Document) bool { return d.Doc == name }); k >= 0 {
			all[i] += textDigest(&w.row.Documents[k])
		}
	}
	slices.Sort(all)
	list := []any{}
	for _, name := range slices.Compact(all) {
		list = append(list, name)
	}
	return list
}

// textDigest is "#" and two checksums in hexadecimal, CRC-32C and CRC-32, of the text of a
// document and of its pages and blocks with the byte 255 after each; nothing of one without text.
func textDigest(d *ibid.Document) string {
	if d.Digest != "" || !d.HasText && !d.HasPages && !d.HasBlocks {
		return d.Digest
	}
	text := d.Text
	for _, part := range slices.Concat(d.Pages, d.Blocks) {
		text += part + "\xff"
	}
	return fmt.Sprintf("#%08x%08x", crc32.Checksum([]byte(text), crc32.MakeTable(crc32.Castagnoli)), crc32.ChecksumIEEE([]byte(text)))
}

// sourceOf is the first of some members of a citation's source_reference.
func sourceOf(c *ibid.Citation, names ...string) string {
	var all map[string]any
	if json.Unmarshal([]byte(c.SourceReference), &all) != nil {
		return ""
	}
	for _, name := range names {
		switch v := all[name].(type) {
		case string:
			return v
		case float64:
			return strconv.FormatFloat(v, 'f', -1, 64)
		}
	}
	return ""
}

// enter puts the numbers of a row into its columns.
func (w *rowWork) enter(out *computed) {
	n := out.numbers
	for _, names := range []string{summaryCounts, poolCounts} {
		for name := range strings.FieldsSeq(names) {
			out.row[name] = nil
			if v, ok := n.counts[name]; ok {
				out.row[name] = v
			}
		}
	}
	put := func(name string, from map[string]float64) {
		out.row[name] = nil
		if v, ok := from[strings.TrimSuffix(strings.TrimSuffix(name, "_low"), "_high")]; ok {
			out.row[name] = v
		}
	}
	for name := range strings.FieldsSeq(poolSums) {
		put(name, n.values)
	}
	undefined := make(map[string]any)
	for i := range metrics {
		m := &metrics[i]
		put(m.name, n.values)
		if _, has := n.values[m.name]; !has {
			undefined[m.name] = n.undefined[m.name]
		}
		if m.bounded || m.name == "citation_coverage" {
			put(m.name+"_low", n.low)
			put(m.name+"_high", n.high)
		}
	}
	delete(out.row, "citation_presence")
	out.row["undefined"] = undefined
	if w.unpaired {
		for _, c := range []string{"sum_boundary_start", "sum_boundary_end", "boundary_error_start", "boundary_error_end"} {
			delete(out.row, c)
		}
	}
	if w.s.Judge.Necessity && w.judged {
		for name := range out.row {
			if strings.HasPrefix(name, "necess") || strings.HasPrefix(name, "unscored_necessity") || strings.HasPrefix(name, "alce_precision") {
				delete(out.row, name)
			}
		}
		delete(out.row, "undefined")
	}
}

// citation is what citations.parquet should have of citation i.
func (w *rowWork) citation(i int, at *citedPlace) record {
	a, c := w.row, &w.row.Citations[i]
	p := &c.Place
	status := p.Status
	if c.NoClaim && status.Valid() {
		status = ibid.StatusNoClaim
	}
	r := record{
		"id": a.ID, "system": a.System, "row": a.Pos, "citation": int64(i), "citation_id": optional(c.CitationID), "page": integer(c.Page),
		"answer_start": integer(c.AnswerStart), "answer_end": integer(c.AnswerEnd), "answer_role": optional(c.AnswerRole.String()),
		"status": status.String(), "repaired_start": integer(c.Repaired.Start), "repaired_end": integer(c.Repaired.End),
		"cited_text": optional(c.CitedText), "source_type": optional(c.SourceType),
		"source_status":  optional(sourceOf(c, "promotion_status", "source_status")),
		"source_version": optional(sourceOf(c, "asset_version", "source_version")),
		"source_url":     optional(sourceOf(c, "asset_detail_url", "source_url")),
		"doc":            nil, "cited_length": nil, "start": integer(c.Start), "end": integer(c.End), "unit": optional(c.Unit),
		"best_truth": nil, "exact_jaccard": nil, "tolerance_jaccard": nil, "snapped_jaccard": nil,
	}
	if !c.DocNull {
		r["doc"] = c.Doc
	}
	given := c.Given
	if !c.Repaired.Known() && p.Level == ibid.LevelCharacters {
		given = ibid.Between(p.Start, p.End)
	}
	if given.Known() {
		r["start"], r["end"], r["unit"] = given.Start.Value, given.End.Value, "codepoint"
	}
	if p.Level == ibid.LevelCharacters && p.End >= p.Start {
		r["cited_length"] = lengthOf(p)
	}
	if at.known {
		if at.truth >= 0 {
			r["best_truth"] = int64(at.truth)
		}
		r["exact_jaccard"], r["tolerance_jaccard"], r["snapped_jaccard"] = at.exact.float(), at.tolerance.float(), at.snapped.float()
	}
	w.citationVerdict(r, i)
	return r
}

// citationVerdict fills in what the judge says of citation i.
func (w *rowWork) citationVerdict(r record, i int) {
	for _, name := range strings.Fields("claims claim_length support label relevant necessary precheck reason quote quote_start quote_end concision") {
		r[name] = nil
	}
	if !w.judged {
		return
	}
	c := &w.citations[i]
	valid := w.row.Citations[i].Place.Status.Valid()
	list, length := []any{}, int64(0)
	for _, k := range c.claims {
		list = append(list, int64(k))
		length += int64(utf8.RuneCountInString(w.claims[k].Text))
	}
	r["claims"] = list
	if len(list) > 0 {
		r["claim_length"] = length
	}
	switch {
	case !w.human && !valid && !c.noClaim:
		r["support"], r["relevant"] = 0.0, false
	default:
		r["support"], r["relevant"] = number(c.support), tri(c.relevant)
	}
	if c.judged {
		r["label"], r["precheck"] = optional(c.label), optional(c.settled)
		if c.label == "" {
			delete(r, "label")
		}
	} else if !w.human && !valid && !c.noClaim {
		r["precheck"] = w.row.Citations[i].Place.Status.String()
	}
	r["reason"], r["quote"] = optional(c.why), optional(c.quote)
	if c.quote != "" && c.placed && c.at.end > c.at.start {
		r["quote_start"], r["quote_end"] = c.start+c.at.start, c.start+c.at.end
	}
	if c.concision > 0 {
		r["concision"] = c.concision
	}
	if w.s.Judge.Necessity {
		delete(r, "necessary")
	}
}

// claim is what claims.parquet should have of claim k.
func (w *rowWork) claim(k int) record {
	a, c := w.row, &w.claims[k]
	r := record{
		"id": a.ID, "system": a.System, "row": a.Pos, "claim": int64(k), "factual": c.Factual != ibid.No,
		"needs_citation": c.NeedsCitation == ibid.Yes || c.NeedsCitation == ibid.Unset && c.Factual != ibid.No,
		"outcome":        c.outcome.String(), "support": nil, "contradicted": nil, "label": nil, "votes": nil, "reason": optional(c.why),
		"elsewhere_support": nil, "elsewhere_doc": nil, "elsewhere_page": nil, "elsewhere_start": nil, "elsewhere_end": nil,
	}
	if w.row.HasClaims && w.s.Claims != "sentences" && w.s.Claims != "model" && k < len(a.Claims) {
		given := &a.Claims[k]
		r["claim_id"] = optional(given.ClaimID)
		if e := given.Extent; e.Known() && 0 <= e.Start.Value && e.Start.Value < e.End.Value && e.End.Value <= int64(utf8.RuneCountInString(a.Answer)) {
			r["start"], r["end"] = e.Start.Value, e.End.Value
		}
	}
	if w.failed {
		r["votes"] = int64(0)
		delete(r, "reason")
		return r
	}
	if c.Joint.Known() {
		r["support"], r["contradicted"] = c.Joint.Value, tri(c.Contradicted)
	}
	if c.votes.Known() && c.votes.Value > 0 {
		r["votes"], r["label"] = c.votes.Value, optional(c.label)
		if c.label == "" {
			delete(r, "label")
		}
	}
	if c.Elsewhere.Known() {
		r["elsewhere_support"] = c.Elsewhere.Value
		if at := c.elsewhereAt; c.Elsewhere.Value != 0 {
			r["elsewhere_doc"], r["elsewhere_page"], r["elsewhere_start"], r["elsewhere_end"] = at["doc"], at["page"], at["start"], at["end"]
		}
	}
	return r
}
