package dataset

import (
	"cmp"
	"fmt"
	"slices"

	"ibid"
)

// Row fills r with row i, reusing its slices. Columns that were not wanted are
// as if the file did not have them. What tables of their own say of the row is in
// it, see [Source.Join]. The row is valid until the batch is released.
func (b *Batch) Row(i int, r *ibid.Answer) {
	part := b.segment(i)
	r.Pos, r.File, r.FileRow = b.pos+int64(i), part.file, part.fileRow+int64(i-part.first)
	r.Err = nil
	if b.errs != nil {
		r.Err = b.errs[int32(i)]
	}
	if r.Err == nil && b.told != nil {
		r.Err = b.told[r.Pos]
	}
	query, answer := &b.leaves[colQuery], &b.leaves[colAnswer]
	r.ID, r.System, r.IDNull = b.Key(i)
	r.Query, r.QueryNull = query.plainText(i), !query.plain(i)
	r.Answer, r.AnswerNull = answer.plainText(i), !answer.plain(i)
	r.Provider, r.Model = b.leaves[colProvider].plainText(i), b.leaves[colModel].plainText(i)
	r.CostUSD, r.Tokens, r.LatencyMillis = b.leaves[colCost].plainFloat(i), b.leaves[colTokens].plainInt(i), b.leaves[colLatency].plainFloat(i)

	b.citations(i, r)
	b.truth(i, r)
	if b.others {
		b.claims(i, r)
		b.labels(i, r)
		b.documents(i, r)
		b.messages(i, r)
	} else {
		r.Claims, r.HasClaims = r.Claims[:0], false
		r.Labels, r.HasLabels = r.Labels[:0], false
		r.Documents, r.HasDocuments = r.Documents[:0], false
		r.Messages, r.HasMessages = r.Messages[:0], false
	}
	b.tags(i, r)
	b.joined.fill(r, b.want)
	if b.names != nil {
		b.names.apply(r)
	}
}

// Key returns the id and the system of row i, as Row does.
func (b *Batch) Key(i int) (id, system string, null bool) {
	if system = b.leaves[colSystem].plainText(i); system == "" {
		system = "default"
	}
	return b.leaves[colID].plainText(i), system, !b.leaves[colID].plain(i)
}

// member is the text of entry e, "" for null or for no such column.
func (d *leafData) member(e int) string {
	if e >= len(d.Texts) {
		return ""
	}
	return d.Texts[e]
}

func (d *leafData) memberNull(e int) bool { return len(d.Levels) == 0 || d.Levels[e] != codeValue }

func (d *leafData) memberInt(e int) ibid.Integer {
	if len(d.Levels) == 0 || d.Levels[e] != codeValue {
		return ibid.Integer{}
	}
	return ibid.Some(d.Ints[e])
}

func (d *leafData) memberFloat(e int) ibid.Number {
	if len(d.Levels) == 0 || d.Levels[e] != codeValue {
		return ibid.Number{}
	}
	return ibid.Some(d.Floats[e])
}

// plainInt is the integer of row i of a plain column.
func (d *leafData) plainInt(i int) ibid.Integer {
	if !d.plain(i) {
		return ibid.Integer{}
	}
	return ibid.Some(d.Ints[i])
}

// plainFloat is the number of row i of a plain column.
func (d *leafData) plainFloat(i int) ibid.Number {
	if !d.plain(i) {
		return ibid.Number{}
	}
	return ibid.Some(d.Floats[i])
}

// ofLength returns s with length n, keeping its memory if that is enough.
func ofLength[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

func (b *Batch) citations(i int, r *ibid.Answer) {
	lo, hi, has := b.groups[groupCitations].elements(i)
	r.HasCitations = has
	r.Citations = ofLength(r.Citations, hi-lo)
	clear(r.Citations)
	doc, page, start, end, unit := &b.leaves[citDoc], &b.leaves[citPage], &b.leaves[citStart], &b.leaves[citEnd], &b.leaves[citUnit]
	for k := range r.Citations {
		e, c := lo+k, &r.Citations[k]
		c.Doc, c.DocNull = doc.member(e), doc.memberNull(e)
		c.Page, c.Start, c.End = page.memberInt(e), start.memberInt(e), end.memberInt(e)
		c.Unit = unit.member(e)
	}
	if b.details {
		b.citationDetails(lo, r)
	}
}

// citationDetails fills what a run over spans alone does not read.
func (b *Batch) citationDetails(lo int, r *ibid.Answer) {
	leaf := b.leaves
	for k := range r.Citations {
		e, c := lo+k, &r.Citations[k]
		c.CitedText, c.Title = leaf[citCitedText].member(e), leaf[citTitle].member(e)
		c.AnswerStart, c.AnswerEnd = leaf[citAnswerStart].memberInt(e), leaf[citAnswerEnd].memberInt(e)
		role, err := ibid.ParseRole(leaf[citAnswerRole].member(e))
		if c.AnswerRole = role; err != nil && r.Err == nil {
			r.Err = fmt.Errorf("citations[%d]: %w", k, err)
		}
		c.CitationID, c.ClaimID = leaf[citCitationID].member(e), leaf[citClaimID].member(e)
		c.SourceType, c.Method = leaf[citSourceType].member(e), leaf[citMethod].member(e)
		c.Confidence, c.Relevance = leaf[citConfidence].memberFloat(e), leaf[citRelevance].memberFloat(e)
		c.TokenContribution = leaf[citTokenContribution].memberInt(e)
		c.SourceReference = leaf[citSourceReference].member(e)
	}
}

func (b *Batch) truth(i int, r *ibid.Answer) {
	lo, hi, has := b.groups[groupTruth].elements(i)
	r.HasTruth = has
	r.Truth = ofLength(r.Truth, hi-lo)
	doc, page, start, end, unit := &b.leaves[truDoc], &b.leaves[truPage], &b.leaves[truStart], &b.leaves[truEnd], &b.leaves[truUnit]
	annotator, claim, quoted := &b.leaves[truAnnotator], &b.leaves[truClaimID], &b.leaves[truCitedText]
	for k := range r.Truth {
		e, t := lo+k, &r.Truth[k]
		t.Annotator, t.ClaimID = annotator.member(e), claim.member(e)
		t.Doc, t.DocNull = doc.member(e), doc.memberNull(e)
		t.Page, t.Start, t.End = page.memberInt(e), start.memberInt(e), end.memberInt(e)
		t.Unit, t.CitedText = unit.member(e), quoted.member(e)
	}
}

func (b *Batch) claims(i int, r *ibid.Answer) {
	lo, hi, has := b.groups[groupClaims].elements(i)
	r.HasClaims = has
	r.Claims = ofLength(r.Claims, hi-lo)
	leaf := b.leaves
	for k := range r.Claims {
		e := lo + k
		r.Claims[k] = ibid.Claim{
			ClaimID: leaf[claClaimID].member(e), Text: leaf[claText].member(e),
			Start: leaf[claStart].memberInt(e), End: leaf[claEnd].memberInt(e),
		}
	}
}

func (b *Batch) labels(i int, r *ibid.Answer) {
	lo, hi, has := b.groups[groupLabels].elements(i)
	r.HasLabels = has
	r.Labels = ofLength(r.Labels, hi-lo)
	leaf := b.leaves
	for k := range r.Labels {
		e := lo + k
		r.Labels[k] = ibid.Label{
			Annotator: leaf[labAnnotator].member(e),
			ClaimID:   leaf[labClaimID].member(e), CitationID: leaf[labCitationID].member(e),
			Kind: leaf[labKind].member(e), Value: leaf[labValue].memberFloat(e),
		}
	}
}

func (b *Batch) documents(i int, r *ibid.Answer) {
	lo, hi, has := b.groups[groupDocuments].elements(i)
	r.HasDocuments = has
	r.Documents = ofLength(r.Documents, hi-lo)
	leaf := b.leaves
	for k := range r.Documents {
		e := lo + k
		d := &r.Documents[k]
		pages, blocks := d.Pages[:0], d.Blocks[:0]
		*d = ibid.Document{
			Doc: leaf[docDoc].member(e), Title: leaf[docTitle].member(e),
			Text: leaf[docText].member(e), HasText: !leaf[docText].memberNull(e),
			SourceType: leaf[docSourceType].member(e),
			Digest:     leaf[docDigest].member(e),
		}
		texts, has := leaf[docPages].inner(e)
		d.Pages, d.HasPages = append(pages, texts...), has
		texts, has = leaf[docBlocks].inner(e)
		d.Blocks, d.HasBlocks = append(blocks, texts...), has
	}
}

func (b *Batch) messages(i int, r *ibid.Answer) {
	lo, hi, has := b.groups[groupMessages].elements(i)
	r.HasMessages = has
	r.Messages = ofLength(r.Messages, hi-lo)
	for k := range r.Messages {
		r.Messages[k] = ibid.Message{Role: b.leaves[msgRole].member(lo + k), Content: b.leaves[msgContent].member(lo + k)}
	}
}

// tags fills the tags in the order of their keys. A tag without a value is left
// out; of two with one key the last counts.
func (b *Batch) tags(i int, r *ibid.Answer) {
	lo, hi, _ := b.groups[groupTags].elements(i)
	r.Tags = r.Tags[:0]
	for e := lo; e < hi; e++ {
		if b.leaves[tagKey].memberNull(e) || b.leaves[tagValue].memberNull(e) {
			continue
		}
		tag := ibid.Tag{Key: b.leaves[tagKey].Texts[e], Value: b.leaves[tagValue].Texts[e]}
		at, found := slices.BinarySearchFunc(r.Tags, tag.Key, func(t ibid.Tag, key string) int { return cmp.Compare(t.Key, key) })
		if found {
			r.Tags[at] = tag
		} else {
			r.Tags = slices.Insert(r.Tags, at, tag)
		}
	}
}
