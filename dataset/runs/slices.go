package runs

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"ibid"
)

// SourceTypeSlice is the slice key whose values are not of the answer but of its
// citations: an answer is in the slice of every kind of source that one of its
// citations has, and in none if no citation says its kind. Such slices overlap.
// Numbers over citations are over those of the kind alone; others are of the whole
// answer in each of its slices, and say how answers that cite this kind do.
const SourceTypeSlice = "source_type"

// SourceStatusSlice is the same for what providers say of the state of the sources that
// are cited, such as active or archived (see [SourceOf]).
const SourceStatusSlice = "source_status"

// columnSlices are the slice keys that are no tags, and the columns of rows.parquet that have
// their values.
var columnSlices = map[string]string{
	"system": "system", "provider": "provider", "model": "model", SourceTypeSlice: "source_types", SourceStatusSlice: "source_statuses",
}

// sourceSlices maps the slice keys that group by a property of citations to that property.
var sourceSlices = map[string]func(*ibid.Citation) string{
	SourceTypeSlice:   func(c *ibid.Citation) string { return c.SourceType },
	SourceStatusSlice: func(c *ibid.Citation) string { return SourceOf(c).Status },
}

// IsKind reports whether a slice KEY=VALUE is by the kind or state of sources.
func IsKind(slice string) bool {
	key, _, _ := strings.Cut(slice, "=")
	return sourceSlices[key] != nil
}

// EachKind calls yield with each slice KEY=VALUE by kind or state of sources that some citations are
// in and others are not, and with the indices of those that are.
func EachKind(citations []ibid.Citation, yield func(slice string, part []int32)) {
	for _, key := range [...]string{SourceTypeSlice, SourceStatusSlice} {
		value := sourceSlices[key]
		of, first := map[string][]int32(nil), ""
		for i := range citations {
			v := value(&citations[i])
			switch {
			case i == 0:
				first = v
			case of == nil && v != first: // in few rows
				of = make(map[string][]int32)
				for k := range i {
					of[first] = append(of[first], int32(k))
				}
			}
			if of != nil {
				of[v] = append(of[v], int32(i))
			}
		}
		if of == nil {
			continue
		}
		delete(of, "")
		for _, kind := range slices.Sorted(maps.Keys(of)) {
			yield(key+"="+kind, of[kind])
		}
	}
}

// ColumnSlices lists the slice keys that are no tags but columns, sorted.
func ColumnSlices() []string { return slices.Sorted(maps.Keys(columnSlices)) }

// IsColumnSlice reports whether a slice key is no tag but a column: such a key is never
// a slip, whatever the rows have.
func IsColumnSlice(key string) bool { return columnSlices[key] != "" }

// AppendSlices appends the values that an answer of the input has for a slice
// key: source_type, source_status, provider, model, system or a tag. An answer without any is in no
// slice of that key.
func AppendSlices(dst []string, a *ibid.Answer, key string) []string {
	switch key {
	case "system":
		return appendNamed(dst, a.System)
	case "provider":
		return appendNamed(dst, a.Provider)
	case "model":
		return appendNamed(dst, a.Model)
	}
	if of := sourceSlices[key]; of != nil {
		return appendOfCitations(dst, a, of)
	}
	if value, ok := a.Tag(key); ok {
		dst = append(dst, value)
	}
	return dst
}

func appendNamed(dst []string, name string) []string {
	if name == "" {
		return dst
	}
	return append(dst, name)
}

// AppendDocuments appends the distinct documents that an answer touches, sorted: those
// of its truth, or of its citations if it has no truth. One that the row brings along has a
// digest of its text behind its name: the first document of two rows may be two documents.
func AppendDocuments(dst []string, a *ibid.Answer) []string {
	first := len(dst)
	add := func(doc string, null bool) {
		if null {
			return
		}
		if k := slices.IndexFunc(a.Documents, func(d ibid.Document) bool { return d.Doc == doc }); k >= 0 {
			doc += a.Documents[k].TextDigest()
		}
		if !slices.Contains(dst[first:], doc) {
			dst = append(dst, doc)
		}
	}
	for i := range a.Truth {
		add(a.Truth[i].Doc, a.Truth[i].DocNull)
	}
	if len(dst) == first {
		for i := range a.Citations {
			add(a.Citations[i].Doc, a.Citations[i].DocNull)
		}
	}
	slices.Sort(dst[first:])
	return dst
}

// appendOfCitations appends the distinct values of the citations, sorted.
func appendOfCitations(dst []string, a *ibid.Answer, of func(*ibid.Citation) string) []string {
	first := len(dst)
	for i := range a.Citations {
		if value := of(&a.Citations[i]); value != "" && !slices.Contains(dst[first:], value) {
			dst = append(dst, value)
		}
	}
	slices.Sort(dst[first:])
	return dst
}

// A Source is what a provider says of a source in source_reference; "" is not said.
type Source struct {
	Status  string // such as active, draft or archived
	Version string
	URL     string // a page about the source
}

// SourceOf reads the state (promotion_status, else source_status), the version (asset_version, else source_version)
// and the page (asset_detail_url, else source_url) of a citation's source_reference.
func SourceOf(c *ibid.Citation) Source { return sourceOf(c.SourceReference) }

func sourceOf(reference string) Source {
	known := slices.ContainsFunc(sourceMembers, func(name string) bool { return strings.Contains(reference, name) })
	var ref map[string]any
	if !known || json.Unmarshal([]byte(reference), &ref) != nil {
		return Source{}
	}
	first := func(names ...string) string {
		for _, name := range names {
			switch v := ref[name].(type) {
			case string:
				return v
			case float64:
				return strconv.FormatFloat(v, 'f', -1, 64)
			}
		}
		return ""
	}
	return Source{first(sourceMembers[:2]...), first(sourceMembers[2:4]...), first(sourceMembers[4:]...)}
}

// SourceRef is what the input says of a citation and its source beside what columns have, as a
// JSON object; "" if it says nothing.
func SourceRef(c *ibid.Citation) string {
	if c.SourceReference == "" && c.Title == "" && c.Method == "" && !c.Confidence.Known() && !c.Relevance.Known() && !c.TokenContribution.Known() {
		return ""
	}
	ref := make(map[string]any)
	if given := []byte(c.SourceReference); len(given) > 0 {
		var members map[string]json.RawMessage
		if json.Unmarshal(given, &members) != nil {
			ref["source_reference"] = c.SourceReference
		}
		for name, value := range members {
			ref[name] = value
		}
	}
	add := func(name string, known bool, value any) {
		if _, taken := ref[name]; known && !taken {
			ref[name] = value
		}
	}
	add("title", c.Title != "", c.Title)
	add("method", c.Method != "", c.Method)
	add("confidence", c.Confidence.Known(), c.Confidence.Value)
	add("relevance", c.Relevance.Known(), c.Relevance.Value)
	add("token_contribution", c.TokenContribution.Known(), c.TokenContribution.Value)
	text, err := json.Marshal(ref)
	if err != nil {
		return "" // a number that JSON does not have, which no input holds
	}
	return string(text)
}

var sourceMembers = []string{"promotion_status", "source_status", "asset_version", "source_version", "asset_detail_url", "source_url"}

// AppendSlices appends the values that row i of the block has for a slice key, as the
// function of that name does for an answer of the input.
func (b *Block) AppendSlices(dst []string, key string, i int) []string {
	name := cmp.Or(columnSlices[key], "tags")
	v := b.Column(name)
	switch {
	case !v.Valid[i]:
		return dst
	case sourceSlices[key] != nil:
		return append(dst, v.Strings[v.Offsets[i]:v.Offsets[i+1]]...)
	case name != "tags":
		return appendNamed(dst, v.Strings[i])
	}
	for k := v.Offsets[i]; k < v.Offsets[i+1]; k++ {
		if v.Keys[k] == key {
			return append(dst, v.Strings[k])
		}
	}
	return dst
}

// ScanSlices calls yield with every value that the rows of a finished run have for a
// slice key, each value of a row once, and with the position of the row in the file; f has
// the rows of the run in dir. Rows come in file order, but where a run that was
// not sliced by source_type or source_status leaves them to its citations: then their
// values come in the order of those. The value is good until yield returns.
func ScanSlices(dir string, f *Frame, key string, yield func(row int, value string)) error {
	found := false
	var values []string
	err := f.Each(func(b *Block) error {
		for i := range b.Len() {
			values = b.AppendSlices(values[:0], key, i)
			for _, value := range values {
				found = true
				yield(int(b.First)+i, value)
			}
		}
		return nil
	})
	if err != nil || found || sourceSlices[key] == nil || !f.Has("row") {
		return err
	}
	return scanSourceSlices(dir, f, key, yield)
}

// scanSourceSlices is ScanSlices of what citations say of their sources.
func scanSourceSlices(dir string, f *Frame, key string, yield func(row int, value string)) error {
	at := make(map[int64]int)
	err := f.Each(func(b *Block) error {
		for _, row := range b.Column("row").Ints {
			at[row] = len(at)
		}
		return nil
	})
	if err != nil {
		return err
	}
	row, seen := int64(-1), []string(nil) // citations of a row follow each other
	columns := []string{"row", SourceTypeSlice}
	if key == SourceStatusSlice {
		columns[1] = "source_ref" // which it is read from
	}
	err = Citations.Scan(dir, columns, func(_ int64, c *Citation) error {
		value := c.SourceType
		if key == SourceStatusSlice {
			value = c.SourceStatus
		}
		if c.Row != row {
			row, seen = c.Row, seen[:0]
		}
		if k, ok := at[c.Row]; ok && value != "" && !slices.Contains(seen, value) {
			seen = append(seen, value)
			yield(k, value)
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return err
}
