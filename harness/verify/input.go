package verify

import (
	"fmt"
	"slices"
	"strings"

	"ibid"
	"ibid/configs"
	"ibid/dataset/runs"
)

// The specification's names of members, by ours.
var specNames = map[string]string{
	"doc": "file_name", "page": "page_number", "start": "start_char", "end": "end_char",
	"confidence": "confidence_score", "method": "extraction_method", "cited_text": "context_text", "relevance": "relevance_score",
}

// An inputs is the data that a run read.
type inputs struct {
	files     []string // of the dataset
	documents map[string]*document
	given     bool // the run has documents
	truth     bool // some row has truth
	inline    bool // some row has documents of its own

	unit, end, base string // the conventions that hold
	columns         map[string]string
}

// openInputs reads the documents of a run, and finds out what its rows have.
func openInputs(m *runs.Manifest, s *configs.Settings) (*inputs, error) {
	in := &inputs{unit: s.OffsetUnit, end: s.SpanEnd, base: s.OffsetBase, documents: make(map[string]*document), columns: s.Columns, given: m.Documents != ""}
	for _, file := range m.Inputs {
		switch file.Kind {
		case "dataset":
			in.files = append(in.files, file.Path)
		case "documents":
			in.given = true
			_, err := readTable(file.Path, func(r record) error {
				d := in.document(r)
				if _, taken := in.documents[d.Doc]; !taken {
					in.documents[d.Doc] = newDocument(&d)
				}
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
	}
	return in, in.each(func(a *ibid.Answer) error {
		in.truth, in.inline = in.truth || a.HasTruth, in.inline || a.HasDocuments
		return nil
	})
}

// each calls yield with every row of the dataset, in order.
func (in *inputs) each(yield func(*ibid.Answer) error) error {
	pos := int64(0)
	for _, file := range in.files {
		meta, err := readTable(file, func(r record) error {
			a := in.answer(r)
			a.Pos = pos
			pos++
			return yield(&a)
		})
		if err != nil {
			return err
		}
		in.convene(meta)
	}
	return nil
}

// convene takes the conventions that a file states.
func (in *inputs) convene(meta map[string]string) {
	for key, to := range map[string]*string{"ibid.offset_unit": &in.unit, "ibid.span_end": &in.end, "ibid.offset_base": &in.base} {
		if v := meta[key]; v != "" {
			*to = v
		}
	}
}

// member is the value of a member in one of its names; list is the column that it is a
// member of, "" of a column of its own.
func (in *inputs) member(r record, list, name string) any {
	path := name
	if list != "" {
		path = list + "." + name
	}
	for foreign, ours := range in.columns {
		if ours != path {
			continue
		}
		if at := strings.LastIndexByte(foreign, '.'); list != "" && at >= 0 {
			foreign = foreign[at+1:]
		}
		if v, ok := r[foreign]; ok {
			return v
		}
	}
	if v, ok := r[name]; ok {
		return v
	}
	if list != "" {
		return r[specNames[name]]
	}
	return nil
}

func (in *inputs) list(r record, name string) (list []record, known bool) {
	all, known := in.member(r, "", name).([]any)
	for _, e := range all {
		x, _ := e.(record)
		list = append(list, x)
	}
	return list, known
}

func textOf(v any) string {
	s, _ := v.(string)
	return s
}

func integerOf(v any) ibid.Integer {
	switch n := v.(type) {
	case int64:
		return ibid.Some(n)
	case float64:
		return ibid.SomeIf(int64(n), n == float64(int64(n)))
	}
	return ibid.Integer{}
}

func numberOf(v any) ibid.Number {
	switch n := v.(type) {
	case int64:
		return ibid.Some(float64(n))
	case float64:
		return ibid.Some(n)
	}
	return ibid.Number{}
}

func textsOf(v any) (texts []string, known bool) {
	all, known := v.([]any)
	for _, t := range all {
		texts = append(texts, textOf(t))
	}
	return texts, known
}

// answer is a row of a dataset.
func (in *inputs) answer(r record) ibid.Answer {
	get := func(name string) any { return in.member(r, "", name) }
	a := ibid.Answer{
		ID: textOf(get("id")), Query: textOf(get("query")), Answer: textOf(get("answer")),
		QueryNull: get("query") == nil, AnswerNull: get("answer") == nil,
		System: textOf(get("system")), Provider: textOf(get("provider")), Model: textOf(get("model")),
		CostUSD: numberOf(get("answer_cost_usd")), Tokens: integerOf(get("answer_tokens")), LatencyMillis: numberOf(get("answer_latency_ms")),
	}
	if a.System == "" {
		a.System = "default"
	}
	in.fillLists(r, &a)
	if tags, ok := get("tags").(map[string]any); ok {
		for key, v := range tags {
			if value, ok := v.(string); ok {
				a.Tags = append(a.Tags, ibid.Tag{Key: key, Value: value})
			}
		}
		slices.SortFunc(a.Tags, func(x, y ibid.Tag) int { return strings.Compare(x.Key, y.Key) })
	}
	return a
}

func (in *inputs) fillLists(r record, a *ibid.Answer) {
	var list []record
	list, a.HasCitations = in.list(r, "citations")
	for i, e := range list {
		get := func(name string) any { return in.member(e, "citations", name) }
		role, err := ibid.ParseRole(textOf(get("answer_role")))
		if err != nil && a.Err == nil {
			a.Err = fmt.Errorf("citations[%d]: %w", i, err)
		}
		a.Citations = append(a.Citations, ibid.Citation{
			Doc: textOf(get("doc")), DocNull: get("doc") == nil, Page: integerOf(get("page")), Start: integerOf(get("start")), End: integerOf(get("end")),
			Unit: textOf(get("unit")), CitedText: textOf(get("cited_text")), Title: textOf(get("title")),
			AnswerStart: integerOf(get("answer_start")), AnswerEnd: integerOf(get("answer_end")), AnswerRole: role,
			CitationID: textOf(get("citation_id")), ClaimID: textOf(get("claim_id")), SourceType: textOf(get("source_type")), Method: textOf(get("method")),
			SourceReference: textOf(get("source_reference")),
		})
	}
	list, a.HasTruth = in.list(r, "truth")
	for _, e := range list {
		get := func(name string) any { return in.member(e, "truth", name) }
		a.Truth = append(a.Truth, ibid.Mark{
			Annotator: textOf(get("annotator")), Doc: textOf(get("doc")), DocNull: get("doc") == nil, Page: integerOf(get("page")),
			Start: integerOf(get("start")), End: integerOf(get("end")), Unit: textOf(get("unit")), CitedText: textOf(get("cited_text")),
		})
	}
	list, a.HasClaims = in.list(r, "claims")
	for _, e := range list {
		get := func(name string) any { return in.member(e, "claims", name) }
		a.Claims = append(a.Claims, ibid.Claim{ClaimID: textOf(get("claim_id")), Text: textOf(get("text")), Start: integerOf(get("start")), End: integerOf(get("end"))})
	}
	list, a.HasDocuments = in.list(r, "documents")
	for _, e := range list {
		a.Documents = append(a.Documents, in.document(e))
	}
	list, a.HasMessages = in.list(r, "messages")
	for _, e := range list {
		a.Messages = append(a.Messages, ibid.Message{Role: textOf(e["role"]), Content: textOf(e["content"])})
	}
}

func (in *inputs) document(r record) ibid.Document {
	d := ibid.Document{Doc: textOf(in.member(r, "", "doc")), Title: textOf(in.member(r, "", "title"))}
	d.Text, d.HasText = r.text("text")
	d.Pages, d.HasPages = textsOf(in.member(r, "", "pages"))
	d.Blocks, d.HasBlocks = textsOf(in.member(r, "", "blocks"))
	return d
}
