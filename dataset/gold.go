package dataset

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"ibid"
	"ibid/dataset/parquet"
)

// A Gold is what people said of answers in a table of its own: truth, which belongs to
// the answers of every system to a question, or labels, which belong to one answer.
// See [Source.Join].
//
// It is kept encoded, in about the bytes of its texts, and found by hashes of 16 bytes
// an element.
type Gold struct {
	fileSet        // of which there is no spec: records, names, sizes and conventions of the files
	column  string // truth or labels
	group   int
	fields  []field[goldElement] // that an element is kept as: goldKeys, and those of its members
	seed    maphash.Seed
	texts   string // the encoded elements, one after the other
	entries []goldEntry
	claims  []string // of each entry of labels: the id of the claim it is about, once that is known
	lost    []bool   // of each entry: what it is about is not there

	replaces bool // every element stands for several opinions, which rows may have themselves
}

// A goldEntry says where an element is. Entries are in the order of their hashes, and
// those of one answer in the order of the table.
type goldEntry struct {
	hash uint64 // of id and system
	at   int    // of the element in texts
}

// A goldElement is one mark or one label.
type goldElement struct {
	id, system string // system is "" of a mark, which belongs to the answers of all
	mark       ibid.Mark
	label      ibid.Label
	empty      bool   // the truth is known, and nothing: there is no mark
	encoded    string // what was decoded

	// What a label is about where it has no id for it.
	claimText            string
	claimStart, claimEnd ibid.Integer
}

// within makes fields of a part of an element, which begins at a byte, those of the element.
func within[T any](part uintptr, fields []field[T]) []field[goldElement] {
	lifted := make([]field[goldElement], len(fields))
	for i, f := range fields {
		lifted[i] = field[goldElement]{f.columnSpec, f.role, part + f.at, f.null, part + f.flag}
	}
	return lifted
}

// goldKeys are the columns of the answer that an element belongs to.
var goldKeys = []field[goldElement]{
	column[goldElement]("id", "id", WantAll),
	column[goldElement]("system", "system", WantAll),
}

// goldFields are the columns of an element, by its group.
var goldFields = map[int][]field[goldElement]{
	groupTruth: within(unsafe.Offsetof(goldElement{}.mark), truthFields),
	groupLabels: append(within(unsafe.Offsetof(goldElement{}.label), labelFields),
		column[goldElement]("claim_text", "claimText", WantAll),
		column[goldElement]("claim_start", "claimStart", WantAll),
		column[goldElement]("claim_end", "claimEnd", WantAll),
	),
}

// OpenTruth reads a table of truth: Parquet, JSON Lines or CSV files, with an id and
// the column truth of a dataset (in CSV as JSON), or with one line a mark, its members
// being columns. A line with an empty doc says that the annotator marked nothing. A
// table that cannot be understood is an [*ibid.Error].
func OpenTruth(pattern string) (*Gold, error) { return openGold(pattern, groupTruth, nil) }

// OpenLabels reads a table of labels, as [OpenTruth] does. They belong to the answer of
// the id by the system, "default" if there is none. A label of a claim has its claim_id,
// or its claim_text, or claim_start and claim_end in the answer.
// Values are the numbers that words as labels stand for.
func OpenLabels(pattern string, values map[string]float64) (*Gold, error) {
	return openGold(pattern, groupLabels, values)
}

func openGold(pattern string, group int, values map[string]float64) (*Gold, error) {
	names, err := expand(pattern)
	if err != nil {
		return nil, err
	}
	r := newGoldReader(group)
	r.values = values
	g := r.gold
	for i, name := range names {
		r.rows = 0
		if err := r.read(name); err != nil {
			return nil, parquet.FileError(name, err)
		}
		read := inputFile{FileInfo: FileInfo{Name: name, Rows: r.rows}}
		if err := read.stat(); err != nil {
			return nil, err
		}
		g.files = append(g.files, read)
		if i == 0 {
			g.conventions = r.stated
		} else if err := g.conventions.agree(r.stated, names[0], name); err != nil {
			return nil, err
		}
	}
	if len(g.entries) == 0 {
		return nil, &ibid.Error{File: pattern, Err: fmt.Errorf("no %s in it", g.column)}
	}
	r.finish()
	return g, nil
}

// finish makes what was read ready to be looked up.
func (r *goldReader) finish() {
	g := r.gold
	g.texts = string(r.texts)
	slices.SortFunc(g.entries, func(a, b goldEntry) int {
		return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.at, b.at))
	})
	g.lost = make([]bool, len(g.entries))
	g.replaces = r.adjudicated && !r.others
}

// hash is that of the answer, or of the question, that an element belongs to.
func (g *Gold) hash(id, system string) uint64 {
	h := maphash.String(g.seed, id)
	if g.group == groupLabels {
		h = h*0x9E3779B97F4A7C15 ^ maphash.String(g.seed, system)
	}
	return h
}

// each calls yield with the elements of an answer, in the order of the table, and with
// their entries. The element is valid until the next call; its strings stay.
func (g *Gold) each(id, system string, yield func(entry int, e *goldElement)) {
	hash := g.hash(id, system)
	k, _ := slices.BinarySearchFunc(g.entries, hash, func(e goldEntry, hash uint64) int { return cmp.Compare(e.hash, hash) })
	for ; k < len(g.entries) && g.entries[k].hash == hash; k++ {
		e := g.element(k)
		if e.id == id && (g.group == groupTruth || e.system == system) {
			yield(k, &e)
		}
	}
}

// fillTruth adds the marks of the row's question to it.
func (g *Gold) fillTruth(r *ibid.Answer, want Want) {
	var seen []string
	first := true
	g.each(r.ID, "", func(_ int, e *goldElement) {
		if first {
			r.HasTruth, r.Truth, first = true, nil, false
		}
		if e.empty || slices.Contains(seen, e.encoded) { // a table of several systems repeats it
			return
		}
		seen = append(seen, e.encoded)
		if want&WantQuotes == 0 {
			e.mark.CitedText = ""
		}
		if want&WantDetails == 0 {
			e.mark.ClaimID = ""
		}
		r.Truth = append(r.Truth, e.mark)
	})
}

// fillLabels adds the row's labels to it: those about what is there.
func (g *Gold) fillLabels(r *ibid.Answer) {
	first := true
	g.each(r.ID, r.System, func(k int, e *goldElement) {
		if g.lost[k] || g.claims == nil && e.aboutText() {
			return
		}
		if first {
			r.Labels, first = nil, false
		}
		if g.claims != nil {
			e.label.ClaimID = g.claims[k]
		}
		if r.HasLabels = true; !slices.Contains(r.Labels, e.label) {
			r.Labels = append(r.Labels, e.label)
		}
	})
}

// aboutText reports whether a label says what claim it is about by text or interval.
func (e *goldElement) aboutText() bool { return e.claimText != "" || e.claimStart.Known() }

// encode appends an element: whether it is empty, and before each of its cells the length.
func (g *Gold) encode(to []byte, e *goldElement) []byte {
	if to = append(to, 0); e.empty {
		to[len(to)-1] = 1
	}
	for k := range g.fields {
		cell := g.fields[k].cell(e)
		to = append(binary.AppendUvarint(to, uint64(len(cell))), cell...)
	}
	return to
}

// element decodes the element of an entry.
func (g *Gold) element(entry int) (e goldElement) {
	all := g.texts[g.entries[entry].at:]
	e.empty, e.mark.DocNull = all[0] != 0, true
	rest := all[1:]
	for k := range g.fields {
		n, size := binary.Uvarint([]byte(rest[:min(len(rest), binary.MaxVarintLen64)]))
		end := size + int(n)
		_ = g.fields[k].set(&e, rest[size:end]) // it was set before
		rest = rest[end:]
	}
	e.encoded = all[:len(all)-len(rest)]
	return e
}

// cell is the value of a column of x as text, "" for null.
func (f *field[T]) cell(x *T) string {
	switch f.kind {
	case parquet.String:
		return *ref[string](x, f.at)
	case parquet.Double:
		if n := ref[ibid.Number](x, f.at); n.Known() {
			return strconv.FormatFloat(n.Value, 'g', -1, 64)
		}
	default:
		if n := ref[ibid.Integer](x, f.at); n.Known() {
			return strconv.FormatInt(n.Value, 10)
		}
	}
	return ""
}

// set sets a column of x, which has none, to a cell; an empty one is null.
func (f *field[T]) set(x *T, cell string) error {
	switch {
	case cell == "":
	case f.kind == parquet.String:
		*ref[string](x, f.at) = cell
		f.setNull(x, false)
	case f.kind != parquet.Double:
		n, ok := WholeNumber(cell)
		if !ok || f.kind == parquet.Int32 && !fitsInt32(n) {
			return columnError(f.member, "", "%.80q is not a whole number", cell)
		}
		*ref[ibid.Integer](x, f.at) = ibid.Some(n)
	default:
		v, err := strconv.ParseFloat(cell, 64)
		if truth, notBool := strconv.ParseBool(cell); notBool == nil {
			if v, err = 0, nil; truth {
				v = 1
			}
		}
		if err != nil {
			return columnError(f.member, "say what words stand for: values: {supported: 1, unsupported: 0} in the run file", "%.80q is not a number", cell)
		}
		*ref[ibid.Number](x, f.at) = ibid.SomeIf(v, !math.IsNaN(v))
	}
	return nil
}

// A goldReader reads the files of a table.
type goldReader struct {
	gold   *Gold
	texts  []byte
	rows   int64           // records of the current file
	stated FileConventions // by the current file
	values map[string]float64

	adjudicated, others bool // some element is of [ibid.Adjudicated], or of somebody else
}

func newGoldReader(group int) *goldReader {
	fields := slices.Concat(goldKeys, goldFields[group])
	return &goldReader{gold: &Gold{column: rowSpec.groups[group], group: group, fields: fields, seed: maphash.MakeSeed()}}
}

// add keeps an element.
func (r *goldReader) add(e *goldElement) error {
	g := r.gold
	if e.id == "" {
		return &ibid.Error{Column: "id", Err: errors.New("no id"), Hint: "every line needs the id of its question"}
	}
	e.system = cmp.Or(e.system, "default")
	if !e.empty {
		ours := cmp.Or(e.mark.Annotator, e.label.Annotator) == ibid.Adjudicated
		r.adjudicated, r.others = r.adjudicated || ours, r.others || !ours
	}
	if g.group == groupTruth {
		e.system = ""
		e.mark.Unit = cmp.Or(e.mark.Unit, r.stated.OffsetUnit)
	} else if err := e.checkLabel(); err != nil {
		return err
	}
	g.entries = append(g.entries, goldEntry{g.hash(e.id, e.system), len(r.texts)})
	r.texts = g.encode(r.texts, e)
	return nil
}

// checkLabel refuses a label that no judge could use.
func (e *goldElement) checkLabel() error {
	if !slices.Contains(ibid.LabelKinds(), e.label.Kind) {
		return columnError("kind", didYouMean(e.label.Kind, ibid.LabelKinds()), "%.80q is not one of %s", e.label.Kind, strings.Join(ibid.LabelKinds(), ", "))
	}
	if v := e.label.Value; v.Known() && !(v.Value >= 0 && v.Value <= 1) {
		return columnError("value", "", "%v is outside [0, 1]", v.Value)
	}
	return nil
}

// set sets a column to a cell, in which a word may stand for a number.
func (r *goldReader) set(e *goldElement, f *field[goldElement], cell string) error {
	if v, ok := r.values[cell]; ok && f.kind == parquet.Double {
		cell = strconv.FormatFloat(v, 'g', -1, 64)
	}
	return f.set(e, cell)
}

// WholeNumber reads an integer, also one that a data frame has written as a float, such as 12.0: not
// one so large that floats are not exact.
func WholeNumber(cell string) (n int64, ok bool) {
	if n, err := strconv.ParseInt(cell, 10, 64); err == nil {
		return n, true
	}
	v, err := strconv.ParseFloat(cell, 64)
	if err != nil || v != math.Trunc(v) || math.Abs(v) > 1<<53 {
		return 0, false
	}
	return int64(v), true
}

// field is the column that goes by a name, nil if none does.
func (r *goldReader) field(name string) *field[goldElement] {
	for k := range r.gold.fields {
		if f := &r.gold.fields[k]; f.named(name) {
			return f
		}
	}
	return nil
}

// members are the names of the columns of an element.
func (r *goldReader) members() (names []string) {
	for _, f := range r.gold.fields[len(goldKeys):] {
		names = append(names, f.member)
	}
	return names
}

// first is the member that every line of a table with one line an element has.
func (r *goldReader) first() string {
	if r.gold.group == groupTruth {
		return "doc"
	}
	return "value"
}

// neither is the error for a table that is of no shape.
func (r *goldReader) neither(have []string) error {
	return &ibid.Error{
		Err:  fmt.Errorf("neither a column %s nor a column %s, as in a table of id and %s", r.gold.column, r.first(), strings.Join(r.members(), ", ")),
		Hint: "it has " + strings.Join(have, ", "),
	}
}

// columns are those of a Parquet file that are read: flat ones or, if it has the column of a
// dataset, that.
func (r *goldReader) columns(f *parquet.File) []*parquet.Node {
	r.stated = conventions(f)
	list, _ := f.Root.Child(r.gold.column)
	if list == nil || list.IsLeaf() {
		return plainColumns(f)
	}
	return slices.DeleteFunc(slices.Clone(f.Root.Children), func(n *parquet.Node) bool {
		return n != list && n.Name != "id" && n.Name != "system"
	})
}

// read reads one file: records with the column of a dataset, or one record an element.
func (r *goldReader) read(name string) error {
	var have []string
	r.stated = FileConventions{}
	found := false
	err := eachRecord(name, r.columns, func(rec *record) error {
		if have == nil {
			have = rec.names
		}
		has, err := r.addRecord(rec)
		found = found || has
		return err
	})
	if err == nil && r.rows > 0 && !found {
		err = r.neither(have)
	}
	return err
}

// addRecord keeps what one record has. found is false if that is neither the column of
// a dataset, in JSON, nor the members of an element.
func (r *goldReader) addRecord(rec *record) (found bool, err error) {
	e := goldElement{mark: ibid.Mark{DocNull: true}}
	names, nested := rec.names, slices.Contains(rec.names, r.gold.column)
	if nested {
		names = []string{"id", "system"}
	}
	found, err = r.setMembers(&e, names, func(name string) (string, error) {
		if rec.line == 0 {
			return "", nil
		}
		return rec.cell(name, false)
	})
	switch {
	case err != nil:
		return false, err
	case !slices.Contains(rec.names, "id"):
		return false, noColumn("id", rec.names)
	case rec.line == 0:
		return false, nil
	}
	r.rows++
	if !nested {
		if found {
			err = r.add(&e)
		}
		return found, err
	}
	cell, err := rec.cell(r.gold.column, true)
	if err != nil || cell == "" {
		return true, err
	}
	var objects []map[string]json.RawMessage
	if err := json.Unmarshal([]byte(cell), &objects); err != nil {
		return true, columnError(r.gold.column, "", "not a list of objects: %v", err)
	}
	if objects != nil && len(objects) == 0 && r.gold.group == groupTruth {
		e.empty = true
		return true, r.add(&e)
	}
	for _, object := range objects {
		element := goldElement{mark: ibid.Mark{DocNull: true}}
		_, err := r.setMembers(&element, slices.Sorted(maps.Keys(object)), func(name string) (string, error) {
			return scalarText(name, object[name])
		})
		if element.id, element.system = e.id, e.system; err == nil {
			err = r.add(&element)
		}
		if err != nil {
			return true, err
		}
	}
	return true, nil
}

// setMembers sets the columns of an element to its members, and reports whether it has the first
// one. A name that is very probably a misspelt one of ours is an error.
func (r *goldReader) setMembers(e *goldElement, names []string, cell func(name string) (string, error)) (first bool, err error) {
	for _, name := range names {
		f := r.field(name)
		if f == nil {
			if meant := ibid.Slip(name, r.members()); meant != "" {
				return false, columnError(name, "did you mean "+meant+"?", "unknown column")
			}
			continue
		}
		text, err := cell(name)
		if err == nil {
			err = r.set(e, f, text)
		}
		if err != nil {
			return false, err
		}
		first = first || f.member == r.first()
	}
	return first, nil
}

// atLine names the line of a text file that an error is about.
func atLine(line int64, err error) error {
	if err == nil {
		return nil
	}
	var at *ibid.Error
	if errors.As(err, &at) {
		at.Err = fmt.Errorf("line %d: %w", line, at.Err)
		return at
	}
	return fmt.Errorf("line %d: %w", line, err)
}
