package dataset

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"ibid"
	"ibid/dataset/parquet"
)

// A field is a column of things of one type, rows or elements of a list, and where its value
// is in one of them: a string or [ibid.Role], an [ibid.Integer], an [ibid.Number], a bool of
// which null is false, or strings.
// The readers and writers of all formats walk fields.
type field[T any] struct {
	columnSpec
	role bool
	at   uintptr  // bytes from the beginning of a T
	null nullness // of a text or list of texts
	flag uintptr  // bytes to the bool that says so
}

// A nullness is how a field says that it has no value.
type nullness uint8

const (
	emptyIsNull nullness = iota
	flagIsNull           // a bool is set where there is none
	flagIsThere          // a bool is set where there is one
)

// ref is where a field of x is.
func ref[V, T any](x *T, at uintptr) *V { return (*V)(unsafe.Add(unsafe.Pointer(x), at)) }

// column describes the field of a T called name. A bool field called nameNull or Hasname says
// whether there is a value.
func column[T any](member, name string, want Want) field[T] {
	t := reflect.TypeFor[T]()
	v, ok := t.FieldByName(name)
	if !ok {
		panic("dataset: no field " + name)
	}
	f := field[T]{columnSpec: columnSpec{member: member, kind: parquet.String, want: want}, at: v.Offset}
	switch v.Type {
	case reflect.TypeFor[string]():
	case reflect.TypeFor[ibid.Integer]():
		f.kind = parquet.Int64
	case reflect.TypeFor[ibid.Number]():
		f.kind = parquet.Double
	case reflect.TypeFor[ibid.Role]():
		f.role = true
	case reflect.TypeFor[bool]():
		f.kind = parquet.Bool
	case reflect.TypeFor[[]string]():
		f.kind = parquet.ListString
	default:
		panic("dataset: no column for " + name)
	}
	if flag, ok := t.FieldByName(name + "Null"); ok {
		f.null, f.flag = flagIsNull, flag.Offset
	}
	if flag, ok := t.FieldByName("Has" + name); ok {
		f.null, f.flag = flagIsThere, flag.Offset
	}
	return f
}

// also adds a name of the specification, which is known without a mapping.
func (f field[T]) also(name string) field[T] {
	f.aliases = append(f.aliases, name)
	return f
}

// must says that a file has to have the column.
func (f field[T]) must() field[T] {
	f.required = true
	return f
}

// naming says that results repeat the text wherever they name a row or a document.
func (f field[T]) naming() field[T] {
	f.name = true
	return f
}

// isNull reports whether the text, or the list of texts, of x is null.
func (f *field[T]) isNull(x *T) bool {
	if f.null == emptyIsNull {
		return *ref[string](x, f.at) == ""
	}
	return *ref[bool](x, f.flag) == (f.null == flagIsNull)
}

// setNull says whether it is.
func (f *field[T]) setNull(x *T, null bool) {
	if f.null != emptyIsNull {
		*ref[bool](x, f.flag) = null == (f.null == flagIsNull)
	}
}

// placeFields are the columns that citations and marks have in common.
func placeFields[T any]() []field[T] {
	page := column[T]("page", "Page", WantSpans).also("page_number")
	page.kind = parquet.Int32
	return []field[T]{
		column[T]("doc", "Doc", WantSpans).also("file_name").naming(),
		page,
		column[T]("start", "Start", WantSpans).also("start_char"),
		column[T]("end", "End", WantSpans).also("end_char"),
		column[T]("unit", "Unit", WantSpans),
		column[T]("cited_text", "CitedText", WantQuotes),
	}
}

var rowFields = []field[ibid.Answer]{
	column[ibid.Answer]("id", "ID", WantKeys).must().naming(),
	column[ibid.Answer]("system", "System", WantKeys).naming(),
	column[ibid.Answer]("provider", "Provider", WantKeys),
	column[ibid.Answer]("model", "Model", WantKeys),
	column[ibid.Answer]("query", "Query", WantAnswers|WantQueries).must(),
	column[ibid.Answer]("answer", "Answer", WantAnswers).must(),
	column[ibid.Answer]("answer_cost_usd", "CostUSD", WantDetails),
	column[ibid.Answer]("answer_tokens", "Tokens", WantDetails),
	column[ibid.Answer]("answer_latency_ms", "LatencyMillis", WantDetails),
	column[ibid.Answer]("unread_marks", "UnreadMarks", WantDetails),
	column[ibid.Answer]("source_record", "SourceRecord", 0),
}

// Numbers of columns of rowSpec, and of labels and documents in files of their own.
const (
	colID     = 0
	colSystem = 1
	colQuery  = 4
)

var citationFields = append(placeFields[ibid.Citation](),
	column[ibid.Citation]("title", "Title", WantDetails),
	column[ibid.Citation]("answer_start", "AnswerStart", WantAnswers),
	column[ibid.Citation]("answer_end", "AnswerEnd", WantAnswers),
	column[ibid.Citation]("answer_role", "AnswerRole", WantAnswers),
	column[ibid.Citation]("citation_id", "CitationID", WantDetails),
	column[ibid.Citation]("claim_id", "ClaimID", WantDetails),
	column[ibid.Citation]("source_type", "SourceType", WantDetails),
	column[ibid.Citation]("method", "Method", WantDetails).also("extraction_method"),
	column[ibid.Citation]("confidence", "Confidence", WantDetails).also("confidence_score"),
	column[ibid.Citation]("relevance", "Relevance", WantDetails).also("relevance_score"),
	column[ibid.Citation]("token_contribution", "TokenContribution", WantDetails),
	column[ibid.Citation]("source_reference", "SourceReference", WantDetails),
)

var truthFields = slices.Concat(
	[]field[ibid.Mark]{column[ibid.Mark]("annotator", "Annotator", WantSpans)},
	placeFields[ibid.Mark](),
	[]field[ibid.Mark]{column[ibid.Mark]("claim_id", "ClaimID", WantDetails)},
)

var claimFields = []field[ibid.Claim]{
	column[ibid.Claim]("claim_id", "ClaimID", WantClaims),
	column[ibid.Claim]("text", "Text", WantClaims),
	column[ibid.Claim]("start", "Start", WantClaims),
	column[ibid.Claim]("end", "End", WantClaims),
}

var labelFields = []field[ibid.Label]{
	column[ibid.Label]("annotator", "Annotator", WantLabels),
	column[ibid.Label]("claim_id", "ClaimID", WantLabels),
	column[ibid.Label]("citation_id", "CitationID", WantLabels),
	column[ibid.Label]("kind", "Kind", WantLabels),
	column[ibid.Label]("value", "Value", WantLabels),
}

// documentFields are the columns that inline documents and DOCUMENTS files have in common.
var documentFields = []field[ibid.Document]{
	column[ibid.Document]("doc", "Doc", WantDocuments|WantSources).also("file_name").naming(),
	column[ibid.Document]("title", "Title", WantDocuments),
	column[ibid.Document]("text", "Text", WantDocuments),
	column[ibid.Document]("source_type", "SourceType", WantDocuments),
	column[ibid.Document]("partial", "Partial", WantDocuments),
}

var documentLists = []field[ibid.Document]{
	column[ibid.Document]("pages", "Pages", WantDocuments),
	column[ibid.Document]("blocks", "Blocks", WantDocuments),
}

var inlineFields = slices.Concat(documentFields, documentLists)

var messageFields = []field[ibid.Message]{
	column[ibid.Message]("role", "Role", WantMessages),
	column[ibid.Message]("content", "Content", WantMessages),
}

// Lists of a DATASET file, by their place in rowLists; tags follow them.
const (
	groupCitations = iota
	groupTruth
	groupClaims
	groupLabels
	groupDocuments
	groupMessages
	groupTags
)

var rowLists = []rowList{
	&listOf[ibid.Citation]{name: "citations", fields: citationFields, at: func(r *ibid.Answer) (*[]ibid.Citation, *bool) { return &r.Citations, &r.HasCitations }},
	&listOf[ibid.Mark]{name: "truth", fields: truthFields, at: func(r *ibid.Answer) (*[]ibid.Mark, *bool) { return &r.Truth, &r.HasTruth }},
	&listOf[ibid.Claim]{name: "claims", fields: claimFields, at: func(r *ibid.Answer) (*[]ibid.Claim, *bool) { return &r.Claims, &r.HasClaims }},
	&listOf[ibid.Label]{name: "labels", fields: labelFields, at: func(r *ibid.Answer) (*[]ibid.Label, *bool) { return &r.Labels, &r.HasLabels }},
	&listOf[ibid.Document]{name: "documents", fields: inlineFields, at: func(r *ibid.Answer) (*[]ibid.Document, *bool) { return &r.Documents, &r.HasDocuments }},
	&listOf[ibid.Message]{name: "messages", fields: messageFields, at: func(r *ibid.Answer) (*[]ibid.Message, *bool) { return &r.Messages, &r.HasMessages }},
}

// rowSpec has the columns of a DATASET file, and tagKey and tagValue are the last two.
var (
	rowSpec = func() schemaSpec {
		s := schemaSpec{rows: true}
		addFields(&s, -1, rowFields)
		for _, l := range rowLists {
			l.describe(&s)
		}
		s.columns = append(s.columns, columnSpec{member: "key", group: groupTags, kind: parquet.String, want: WantTags}, columnSpec{member: "value", group: groupTags, kind: parquet.String, want: WantTags})
		s.groups = append(s.groups, "tags")
		return s
	}()
	tagKey   = len(rowSpec.columns) - 2
	tagValue = tagKey + 1
)

var (
	fileFields = slices.Concat(documentFields, []field[ibid.Document]{column[ibid.Document]("metadata", "Metadata", WantDocuments)}, documentLists)

	documentSpec = func() (s schemaSpec) {
		addFields(&s, -1, fileFields)
		s.columns[0].want, s.columns[0].required = WantDocuments|WantKeys, true
		return s
	}()
)

// addFields adds the columns of a group, -1 for none, and returns the number of the first.
// Texts of a list that is in no other are a group of their own.
func addFields[T any](s *schemaSpec, group int, fields []field[T]) (first int) {
	first = len(s.columns)
	for i := range fields {
		c := fields[i].columnSpec
		if c.group = group; group < 0 && c.nested() {
			c.group = len(s.groups)
			s.groups = append(s.groups, c.member)
			c.member, c.kind = "", parquet.String
		}
		s.columns = append(s.columns, c)
	}
	return first
}

// A rowList is a list column of rows.
type rowList interface {
	describe(s *schemaSpec)
	fill(b *Batch, i int, r *ibid.Answer)
	write(f *fileWriter, r *ibid.Answer)
	check(r *ibid.Answer) error
}

// A listOf is a list column whose elements are a T.
type listOf[T any] struct {
	name         string
	fields       []field[T]
	at           func(*ibid.Answer) (list *[]T, has *bool)
	group, first int // its number, and that of its first column
}

func (l *listOf[T]) describe(s *schemaSpec) {
	l.group = len(s.groups)
	s.groups = append(s.groups, l.name)
	l.first = addFields(s, l.group, l.fields)
}

func (l *listOf[T]) fill(b *Batch, i int, r *ibid.Answer) {
	list, has := l.at(r)
	err := fillList(b, l.group, l.first, i, l.fields, list, has)
	if err != nil && r.Err == nil {
		r.Err = fmt.Errorf("%s%w", l.name, err)
	}
}

func (l *listOf[T]) write(f *fileWriter, r *ibid.Answer) {
	if list, has := l.at(r); *has {
		column := len(rowFields) + l.group
		f.bytes += 8 * (1 + len(*list))
		f.table.At(column).AppendStructs(len(*list))
		structs := f.table.At(column).Structs
		for i := range *list {
			writeFields(f, structs, l.fields, &(*list)[i])
			structs.EndRow()
		}
	}
}

func (l *listOf[T]) check(r *ibid.Answer) error {
	list, _ := l.at(r)
	for k := range l.fields {
		if f := &l.fields[k]; f.kind == parquet.Int32 {
			for i := range *list {
				if page := ref[ibid.Integer](&(*list)[i], f.at); page.Known() && !fitsInt32(page.Value) {
					return columnError(l.name+"."+f.member, "", "element %d: %d is no page number", i, page.Value)
				}
			}
		}
	}
	return nil
}

// fillList makes list that of row i, and has whether it is known.
func fillList[T any](b *Batch, group, first, i int, fields []field[T], list *[]T, has *bool) (err error) {
	lo, hi, known := b.groups[group].elements(i)
	*has = known
	*list = slices.Grow((*list)[:0], hi-lo)[:hi-lo]
	clear(*list)
	if lo == hi {
		return nil
	}
	for k := range fields {
		if bad := fields[k].fill(&b.leaves[first+k], lo, codeValue, *list); err == nil {
			err = bad
		}
	}
	return err
}

// fill sets the field of each of list to what d has from entry lo on; there is the code of a
// value. The error says which element cannot have its value.
func (f *field[T]) fill(d *leafData, lo int, there byte, list []T) (err error) {
	if !d.some {
		if f.null == flagIsNull {
			for e := range list {
				*ref[bool](&list[e], f.flag) = true
			}
		}
		return nil
	}
	switch f.kind {
	case parquet.String:
		if f.role {
			return f.fillRoles(d, lo, list)
		}
		var texts []string
		if lo < len(d.Texts) {
			texts = d.Texts[lo:] // fewer than elements, perhaps
		}
		for e := range list {
			if e < len(texts) {
				*ref[string](&list[e], f.at) = texts[e]
			}
			if f.null != emptyIsNull {
				f.setNull(&list[e], d.Levels[lo+e] != there)
			}
		}
	case parquet.Int64, parquet.Int32:
		for e := range list {
			if d.Levels[lo+e] == there {
				*ref[ibid.Integer](&list[e], f.at) = ibid.Some(d.Ints[lo+e])
			}
		}
	case parquet.Double:
		for e := range list {
			if d.Levels[lo+e] == there {
				*ref[ibid.Number](&list[e], f.at) = ibid.Some(d.Floats[lo+e])
			}
		}
	case parquet.Bool:
		for e := range list {
			*ref[bool](&list[e], f.at) = d.Levels[lo+e] == there && d.Ints[lo+e] != 0
		}
	case parquet.ListString:
		for e := range list {
			texts, has := d.inner(lo + e)
			*ref[[]string](&list[e], f.at) = texts
			f.setNull(&list[e], !has)
		}
	}
	return nil
}

func (f *field[T]) fillRoles(d *leafData, lo int, list []T) (err error) {
	for e := range list {
		role, bad := ibid.ParseRole(d.textAt(lo + e))
		if *ref[ibid.Role](&list[e], f.at) = role; bad != nil && err == nil {
			err = fmt.Errorf("[%d]: %w", e, bad)
		}
	}
	return err
}

// fillFields sets the fields of x to what the columns of a file have in row i.
func fillFields[T any](b *Batch, i int, fields []field[T], x *T) {
	for k := range fields {
		f, d := &fields[k], &b.leaves[k]
		switch f.kind {
		case parquet.String:
			*ref[string](x, f.at) = ""
			f.setNull(x, true)
		case parquet.Int64:
			*ref[ibid.Integer](x, f.at) = ibid.Integer{}
		case parquet.Double:
			*ref[ibid.Number](x, f.at) = ibid.Number{}
		case parquet.Bool:
			*ref[bool](x, f.at) = false
		case parquet.ListString:
			lo, hi, has := b.groups[b.spec.columns[k].group].elements(i)
			list := ref[[]string](x, f.at)
			*list = append((*list)[:0], part(d.Texts, lo, hi)...)
			f.setNull(x, !has)
			continue
		}
		if d.some {
			_ = f.fill(d, i, codePlain, unsafe.Slice(x, 1)) // roles, which can be wrong, are in lists
		}
	}
}

// Row fills r with row i, reusing its slices. Columns that were not wanted are
// as if the file did not have them. What tables of their own say of the row is in
// it, see [Source.Join]. The row is valid until the batch is released.
func (b *Batch) Row(i int, r *ibid.Answer) {
	r.Pos, r.Err = b.pos+int64(i), nil
	r.File, r.FileRow = b.Place(i)
	if b.errs != nil {
		r.Err = b.errs[int32(i)]
	}
	fillFields(b, i, rowFields, r)
	r.System = cmp.Or(r.System, "default")
	for _, l := range rowLists {
		l.fill(b, i, r)
	}
	b.tags(i, r)
	b.joined.fill(r, b.want)
	if b.names != nil {
		b.names.apply(r)
	}
}

// Key returns the id and the system of row i, as Row does.
func (b *Batch) Key(i int) (id, system string, null bool) {
	return b.leaves[colID].textAt(i), cmp.Or(b.leaves[colSystem].textAt(i), "default"), !b.leaves[colID].is(i, codePlain)
}

// Query returns the question of row i, as Row does.
func (b *Batch) Query(i int) string { return b.leaves[colQuery].textAt(i) }

// tags fills the tags in the order of their keys. A tag without a value is left
// out; of two with one key the last counts.
func (b *Batch) tags(i int, r *ibid.Answer) {
	lo, hi, _ := b.groups[groupTags].elements(i)
	r.Tags = r.Tags[:0]
	for e := lo; e < hi; e++ {
		key, value := &b.leaves[tagKey], &b.leaves[tagValue]
		if !key.is(e, codeValue) || !value.is(e, codeValue) {
			continue
		}
		tag := ibid.Tag{Key: key.Texts[e], Value: value.Texts[e]}
		at, found := slices.BinarySearchFunc(r.Tags, tag.Key, func(t ibid.Tag, key string) int { return cmp.Compare(t.Key, key) })
		if found {
			r.Tags[at] = tag
		} else {
			r.Tags = slices.Insert(r.Tags, at, tag)
		}
	}
}

// writeFields writes the columns of x to a table of them; a null is left out.
func writeFields[T any](f *fileWriter, to *parquet.Table, fields []field[T], x *T) {
	for k := range fields {
		switch c := &fields[k]; {
		case c.role:
			if role := *ref[ibid.Role](x, c.at); role != ibid.NoRole {
				to.At(k).AppendString(role.String())
			}
		case c.kind == parquet.String:
			if !c.isNull(x) {
				to.At(k).AppendString(f.copied(*ref[string](x, c.at)))
			}
		case c.kind == parquet.Bool:
			if *ref[bool](x, c.at) {
				f.bytes++
				to.At(k).AppendBool(true)
			}
		case c.kind == parquet.Double:
			if v := ref[ibid.Number](x, c.at); v.Known() {
				f.bytes += 8
				to.At(k).AppendDouble(v.Value)
			}
		case c.kind == parquet.ListString:
			if !c.isNull(x) {
				list := *ref[[]string](x, c.at)
				copies := make([]string, len(list))
				for i, s := range list {
					copies[i] = f.copied(s)
				}
				to.At(k).AppendStrings(copies)
			}
		default:
			if v := ref[ibid.Integer](x, c.at); v.Known() {
				f.bytes += 8
				to.At(k).AppendInt(v.Value)
			}
		}
	}
}
