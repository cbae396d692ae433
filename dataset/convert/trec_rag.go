package convert

import (
	"cmp"
	"strconv"

	"ibid"
)

// trecRAG is the runs of the RAG track of TREC, 2024 and 2025: a topic, references that are
// ids of segments, and an answer of sentences that cite them.
//
// A sentence is a claim, and the answer is the sentences with a space between them. A
// citation is the index of a reference, counted from 0, or the id of a segment (the
// second form of 2025). It points at a whole segment, whose text a run does not have:
// give the segments as documents, called by their ids. The id is topic_id (2025:
// metadata.narrative_id), the system run_id. The references, cited or not, are in
// source_reference.
var trecRAG = researchFormat{
	name:    "trec-rag",
	summary: "runs of the TREC RAG track, 2024 and 2025",
	fits:    func(o *object) bool { return o.isList("references") && o.isList("answer") },
	read:    trecRecord,
}.format()

func trecRecord(c *researchReader, o *object) {
	r := &c.row
	about := o
	if m := o.get("metadata").object(); m != nil {
		about = m
		c.more.add("metadata", m.raw())
	}
	id := cmp.Or(o.get("topic_id").label(), about.first("narrative_id", "topic_id").label())
	if id == "" {
		o.fail("neither topic_id nor metadata.narrative_id is given")
	}
	r.ID = id
	r.Query = cmp.Or(o.get("topic").string(), about.first("narrative", "topic", "title").string())
	r.System = cmp.Or(o.get("run_id").string(), about.get("run_id").string())
	r.HasCitations, r.HasClaims = true, true
	o.require("references", "answer")
	references, _ := o.get("references").texts()
	c.more.add("references", o.get("references").raw())
	for _, s := range o.get("answer").objects() {
		claim := *c.sentence(s.get("text").required())
		for _, v := range s.get("citations").elements() {
			to := ibid.Citation{Unit: "document"}
			if v.kind() == aString {
				to.Doc = v.string()
			} else if n := v.offset(); n >= 0 && n < int64(len(references)) {
				to.Doc = references[n]
			} else {
				to = ibid.Citation{DocNull: true, Title: "[" + strconv.FormatInt(n, 10) + "]"}
				c.say("%s: reference %d, and there are %d, counted from 0", v.path(), n, len(references))
			}
			c.cite(&claim, to)
		}
		s.unread(func(v value) { c.more.add(v.path(), v.raw()) })
	}
}
