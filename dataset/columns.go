package dataset

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"ibid"
	"ibid/dataset/parquet"
)

// A Want is a set of column groups that a reader decodes; the others stay null
// in its rows and cost nothing.
type Want uint16

// The column groups.
const (
	WantKeys      Want = 1 << iota // id, system, provider, model
	WantSpans                      // doc, page, start, end, unit of citations and truth; annotator
	WantAnswers                    // query, answer; answer_start, answer_end of citations
	WantQuotes                     // cited_text of citations and truth
	WantDetails                    // what else citations and truth have; what answers took
	WantClaims                     // claims
	WantLabels                     // labels
	WantDocuments                  // documents
	WantMessages                   // messages
	WantTags                       // tags

	WantAll Want = 1<<iota - 1
)

// A valueKind is what a column's values become.
type valueKind uint8

const (
	textValue  valueKind = iota // string, must be UTF-8
	intValue                    // int64
	pageValue                   // int64 that fits int32
	floatValue                  // float64
	flagValue                   // int64, 0 or 1; of tables of results
)

var valueKindNames = [...]string{"string", "integer", "page number", "double", "bool"}

// stored is what the values are in a file.
func (k valueKind) stored() parquet.ValueKind {
	switch k {
	case textValue:
		return parquet.Text
	case floatValue:
		return parquet.Float
	case flagValue:
		return parquet.Flag
	}
	return parquet.Integer
}

func (k valueKind) String() string { return valueKindNames[k] }

// A columnSpec is one column that ibid knows. Its place in the list of columns
// is its number.
type columnSpec struct {
	member   string // name within the group, the column's name if it has no group
	group    int    // number of the group, -1 for a plain column
	kind     valueKind
	want     Want
	required bool
	nested   bool     // the member is itself a list of values
	aliases  []string // other names that are known without being told
}

// short reports whether a batch may have fewer values of the column than entries: whoever
// reads one asks whether it is there. Lists of plain values are read whole.
func (c *columnSpec) short() bool { return !c.nested && c.member != "" }

// A schemaSpec lists the columns of one kind of file.
type schemaSpec struct {
	rows    bool // of rows of answers, or of what is said of them
	whole   bool // all columns must be there: of results
	columns []columnSpec
	groups  []string // names of the list columns
}

// path is the dotted name of column c.
func (s *schemaSpec) path(c int) string {
	switch spec := &s.columns[c]; {
	case spec.group < 0:
		return spec.member
	case spec.member == "":
		return s.groups[spec.group]
	default:
		return s.groups[spec.group] + "." + spec.member
	}
}

// Groups of a DATASET file.
const (
	groupCitations = iota
	groupTruth
	groupClaims
	groupLabels
	groupDocuments
	groupMessages
	groupTags
)

// Columns of a DATASET file.
const (
	colID = iota
	colSystem
	colProvider
	colModel
	colQuery
	colAnswer
	colCost
	colTokens
	colLatency

	citDoc
	citPage
	citStart
	citEnd
	citUnit
	citCitedText
	citTitle
	citAnswerStart
	citAnswerEnd
	citAnswerRole
	citCitationID
	citClaimID
	citSourceType
	citMethod
	citConfidence
	citRelevance
	citTokenContribution
	citSourceReference

	truAnnotator
	truDoc
	truPage
	truStart
	truEnd
	truUnit
	truCitedText
	truClaimID

	claClaimID
	claText
	claStart
	claEnd

	labAnnotator
	labClaimID
	labCitationID
	labKind
	labValue

	docDoc
	docTitle
	docText
	docSourceType
	docPages
	docBlocks
	docDigest

	msgRole
	msgContent

	tagKey
	tagValue
)

// The names of the specification, which are known without a mapping.
var (
	docNames   = []string{"file_name"}
	pageNames  = []string{"page_number"}
	startNames = []string{"start_char"}
	endNames   = []string{"end_char"}
)

var rowSpec = schemaSpec{
	rows:   true,
	groups: []string{"citations", "truth", "claims", "labels", "documents", "messages", "tags"},
	columns: []columnSpec{
		colID:       {member: "id", group: -1, want: WantKeys, required: true},
		colSystem:   {member: "system", group: -1, want: WantKeys},
		colProvider: {member: "provider", group: -1, want: WantKeys},
		colModel:    {member: "model", group: -1, want: WantKeys},
		colQuery:    {member: "query", group: -1, want: WantAnswers, required: true},
		colAnswer:   {member: "answer", group: -1, want: WantAnswers, required: true},
		colCost:     {member: "answer_cost_usd", group: -1, want: WantDetails, kind: floatValue},
		colTokens:   {member: "answer_tokens", group: -1, want: WantDetails, kind: intValue},
		colLatency:  {member: "answer_latency_ms", group: -1, want: WantDetails, kind: floatValue},

		citDoc:               {member: "doc", group: groupCitations, want: WantSpans, aliases: docNames},
		citPage:              {member: "page", group: groupCitations, want: WantSpans, kind: pageValue, aliases: pageNames},
		citStart:             {member: "start", group: groupCitations, want: WantSpans, kind: intValue, aliases: startNames},
		citEnd:               {member: "end", group: groupCitations, want: WantSpans, kind: intValue, aliases: endNames},
		citUnit:              {member: "unit", group: groupCitations, want: WantSpans},
		citCitedText:         {member: "cited_text", group: groupCitations, want: WantQuotes, aliases: []string{"context_text"}},
		citTitle:             {member: "title", group: groupCitations, want: WantDetails},
		citAnswerStart:       {member: "answer_start", group: groupCitations, want: WantAnswers, kind: intValue},
		citAnswerEnd:         {member: "answer_end", group: groupCitations, want: WantAnswers, kind: intValue},
		citAnswerRole:        {member: "answer_role", group: groupCitations, want: WantAnswers},
		citCitationID:        {member: "citation_id", group: groupCitations, want: WantDetails},
		citClaimID:           {member: "claim_id", group: groupCitations, want: WantDetails},
		citSourceType:        {member: "source_type", group: groupCitations, want: WantDetails},
		citMethod:            {member: "method", group: groupCitations, want: WantDetails, aliases: []string{"extraction_method"}},
		citConfidence:        {member: "confidence", group: groupCitations, want: WantDetails, kind: floatValue, aliases: []string{"confidence_score"}},
		citRelevance:         {member: "relevance", group: groupCitations, want: WantDetails, kind: floatValue, aliases: []string{"relevance_score"}},
		citTokenContribution: {member: "token_contribution", group: groupCitations, want: WantDetails, kind: intValue},
		citSourceReference:   {member: "source_reference", group: groupCitations, want: WantDetails},

		truAnnotator: {member: "annotator", group: groupTruth, want: WantSpans},
		truDoc:       {member: "doc", group: groupTruth, want: WantSpans, aliases: docNames},
		truPage:      {member: "page", group: groupTruth, want: WantSpans, kind: pageValue, aliases: pageNames},
		truStart:     {member: "start", group: groupTruth, want: WantSpans, kind: intValue, aliases: startNames},
		truEnd:       {member: "end", group: groupTruth, want: WantSpans, kind: intValue, aliases: endNames},
		truUnit:      {member: "unit", group: groupTruth, want: WantSpans},
		truCitedText: {member: "cited_text", group: groupTruth, want: WantQuotes, aliases: []string{"context_text"}},
		truClaimID:   {member: "claim_id", group: groupTruth, want: WantDetails},

		claClaimID: {member: "claim_id", group: groupClaims, want: WantClaims},
		claText:    {member: "text", group: groupClaims, want: WantClaims},
		claStart:   {member: "start", group: groupClaims, want: WantClaims, kind: intValue},
		claEnd:     {member: "end", group: groupClaims, want: WantClaims, kind: intValue},

		labAnnotator:  {member: "annotator", group: groupLabels, want: WantLabels},
		labClaimID:    {member: "claim_id", group: groupLabels, want: WantLabels},
		labCitationID: {member: "citation_id", group: groupLabels, want: WantLabels},
		labKind:       {member: "kind", group: groupLabels, want: WantLabels},
		labValue:      {member: "value", group: groupLabels, want: WantLabels, kind: floatValue},

		docDoc:        {member: "doc", group: groupDocuments, want: WantDocuments, aliases: docNames},
		docTitle:      {member: "title", group: groupDocuments, want: WantDocuments},
		docText:       {member: "text", group: groupDocuments, want: WantDocuments},
		docSourceType: {member: "source_type", group: groupDocuments, want: WantDocuments},
		docPages:      {member: "pages", group: groupDocuments, want: WantDocuments, nested: true},
		docBlocks:     {member: "blocks", group: groupDocuments, want: WantDocuments, nested: true},
		docDigest:     {member: "digest", group: groupDocuments, want: WantDocuments},

		msgRole:    {member: "role", group: groupMessages, want: WantMessages},
		msgContent: {member: "content", group: groupMessages, want: WantMessages},

		tagKey:   {member: "key", group: groupTags, want: WantTags},
		tagValue: {member: "value", group: groupTags, want: WantTags},
	},
}

// Groups and columns of a DOCUMENTS file.
const (
	groupPages = iota
	groupBlocks
)

const (
	fileDoc = iota
	fileTitle
	fileText
	fileSourceType
	fileMetadata
	filePages
	fileBlocks
)

var documentSpec = schemaSpec{
	groups: []string{"pages", "blocks"},
	columns: []columnSpec{
		fileDoc:        {member: "doc", group: -1, want: WantDocuments | WantKeys, required: true, aliases: docNames},
		fileTitle:      {member: "title", group: -1, want: WantDocuments},
		fileText:       {member: "text", group: -1, want: WantDocuments},
		fileSourceType: {member: "source_type", group: -1, want: WantDocuments},
		fileMetadata:   {member: "metadata", group: -1, want: WantDocuments},
		filePages:      {group: groupPages, want: WantDocuments},
		fileBlocks:     {group: groupBlocks, want: WantDocuments},
	},
}

// foreignNames maps a dotted name of ours to the dotted name that the file has
// for it.
type foreignNames map[string]string

// owner reports whether the file's column name, found where ours is expected,
// can be ours: it is not mapped to something else.
func (f foreignNames) owner(ours, name string) bool {
	group, _, member := strings.Cut(ours, ".")
	for other, foreign := range f {
		if other == ours {
			continue
		}
		if member {
			if g, m, ok := strings.Cut(foreign, "."); ok && m == name && (g == group || g == f[group]) {
				return false
			}
		} else if foreign == name {
			return false
		}
	}
	return true
}

// of is the file's name for a plain column or a list of ours.
func (f foreignNames) of(ours string) string {
	if foreign, ok := f[ours]; ok {
		return foreign
	}
	return ours
}

// knows reports whether some column of group g (-1 for none), whose members are
// prefixed so, is called name in the file.
func (s *schemaSpec) knows(g int, prefix, name string, names foreignNames) bool {
	for c := range s.columns {
		if s.columns[c].group != g {
			continue
		}
		if foreign, ok := names[prefix+s.columns[c].member]; ok {
			if foreign[strings.LastIndexByte(foreign, '.')+1:] == name {
				return true
			}
		} else if s.named(c, name) {
			return true
		}
	}
	return false
}

// foreignNames turns the mapping of the run file (foreign name to ours) around.
// Names that belong to the other kind of file are left out. A member that is
// mapped as a.b to group.c says that a is the file's name for group.
func (s *schemaSpec) foreignNames(columns map[string]string) (foreignNames, error) {
	names := foreignNames{}
	for _, foreign := range slices.Sorted(maps.Keys(columns)) {
		ours := columns[foreign]
		if !s.has(ours) {
			if !rowSpec.has(ours) && !documentSpec.has(ours) {
				return nil, columnError(ours, didYouMean(ours, append(rowSpec.names(), documentSpec.names()...)),
					"%w: %s is mapped to it", errUnknownColumn, foreign)
			}
			continue
		}
		if err := names.add(ours, foreign); err != nil {
			return nil, err
		}
		group, _, member := strings.Cut(ours, ".")
		foreignGroup, _, foreignMember := strings.Cut(foreign, ".")
		if member != foreignMember {
			return nil, columnError(ours, fmt.Sprintf("write the full name in the file, such as %s.%s", group, foreign),
				"mapped from %s: a member of a list and a column of its own", foreign)
		}
		if member && foreignGroup != group {
			if err := names.add(group, foreignGroup); err != nil {
				return nil, err
			}
		}
	}
	return names, nil
}

func (f foreignNames) add(ours, foreign string) error {
	if other, ok := f[ours]; ok && other != foreign {
		return columnError(ours, "", "mapped from both %s and %s", other, foreign)
	}
	f[ours] = foreign
	return nil
}

func (s *schemaSpec) has(name string) bool { return slices.Contains(s.names(), name) }

// names lists the dotted names of columns, groups and members.
func (s *schemaSpec) names() []string {
	names := slices.Clone(s.groups)
	for c := range s.columns {
		if s.columns[c].member != "" {
			names = append(names, s.path(c))
		}
	}
	return names
}

// members lists the columns of group g.
func (s *schemaSpec) members(g int) []int {
	var cols []int
	for c := range s.columns {
		if s.columns[c].group == g {
			cols = append(cols, c)
		}
	}
	return cols
}

// named reports whether column c goes by that member name.
func (s *schemaSpec) named(c int, name string) bool {
	return s.columns[c].member == name || slices.Contains(s.columns[c].aliases, name)
}

// missingHint says how to map a missing column, if a name in the file is close.
func missingHint(column string, names []string) string {
	if name := ibid.Nearest(column, names); name != "" {
		return fmt.Sprintf("the file has %s; map it with columns: {%s: %s}", name, name, column)
	}
	const listed = 12
	if more := len(names) - listed; more > 0 {
		names = append(slices.Clone(names[:listed]), fmt.Sprintf("and %d more", more))
	}
	switch {
	case column == "id" && slices.Contains(names, "doc"):
		return "it holds documents, not answers: ibid run ANSWERS --documents this file"
	case column == "doc" && slices.Contains(names, "answer"):
		return "it holds answers, not documents"
	}
	return fmt.Sprintf("map another name with columns: {name: %s}; the file has %s", column, strings.Join(names, ", "))
}

// didYouMean suggests the name closest to the one given, "" if none is close.
func didYouMean(name string, names []string) string {
	if n := ibid.Nearest(name, names); n != "" {
		return "did you mean " + n + "?"
	}
	return ""
}
