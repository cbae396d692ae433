package dataset

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
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
// Its elements are kept in one table, in the order of the files.
type Gold struct {
	fileSet        // of which there is no spec: records, names, sizes and conventions of the files
	column  string // truth or labels
	group   int
	fields  []field[goldElement]    // that an element is kept as: goldKeys, those of its members, and empty
	kept    fileWriter              // the table
	columns []*parquet.ColumnValues // of the table
	of      map[goldKey][]int32     // elements, by what they belong to
	claims  []string                // of each element of labels: the id of the claim it is about, once that is known
	lost    []bool                  // of each element: what it is about is not there

	replaces bool // every element stands for several opinions, which rows may have themselves
}

// A goldKey is an answer, or a question: then system is "".
type goldKey struct{ id, system string }

// name is the key as people read it.
func (k goldKey) name() string {
	if k.system == "" {
		return strings.Clone(k.id)
	}
	return k.id + "/" + k.system
}

// A goldElement is one mark or one label.
type goldElement struct {
	goldKey
	mark  ibid.Mark
	label ibid.Label
	empty bool // the truth is known, and nothing: there is no mark

	// What a label is about where it has no id for it.
	claimText            string
	claimStart, claimEnd ibid.Integer
}

// within makes fields of a part of an element, which begins at a byte, those of the element.
func within[T any](part uintptr, fields []field[T]) []field[goldElement] {
	lifted := make([]field[goldElement], len(fields))
	for i, f := range fields {
		lifted[i] = field[goldElement]{f.columnSpec, f.role, part + f.at, f.null, part + f.flag}
		lifted[i].want = WantAll
	}
	return lifted
}

// goldKeys are the columns of the answer that an element belongs to.
var goldKeys = []field[goldElement]{
	column[goldElement]("id", "id", WantAll).must(),
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
	if g.len() == 0 {
		return nil, &ibid.Error{File: pattern, Err: fmt.Errorf("no %s in it", g.column)}
	}
	r.finish()
	return g, nil
}

// finish makes what was read ready to be looked up.
func (r *goldReader) finish() {
	g := r.gold
	for c := range g.fields {
		g.columns = append(g.columns, g.kept.table.Column(c))
	}
	for k, id := range g.columns[0].Strings {
		key := goldKey{id, g.columns[1].Strings[k]}
		g.of[key] = append(g.of[key], int32(k))
	}
	g.lost = make([]bool, g.len())
	g.replaces = r.adjudicated && !r.others
}

// len is the number of elements.
func (g *Gold) len() int { return g.kept.table.Rows() }

// key is what the elements of an answer belong to.
func (g *Gold) key(id, system string) goldKey {
	if g.group == groupTruth {
		system = ""
	}
	return goldKey{id, system}
}

// each calls yield with the elements of an answer, in the order of the table, and with
// their numbers. The element is valid until the next call; its strings stay.
func (g *Gold) each(id, system string, yield func(k int, e *goldElement)) {
	for _, k := range g.of[g.key(id, system)] {
		e := g.element(int(k))
		yield(int(k), &e)
	}
}

// element is element k.
func (g *Gold) element(k int) (e goldElement) {
	readFields(g.columns, k, g.fields, &e)
	return e
}

// fillTruth adds the marks of the row's question to it.
func (g *Gold) fillTruth(r *ibid.Answer, want Want) {
	var seen []ibid.Mark
	first := true
	g.each(r.ID, "", func(_ int, e *goldElement) {
		if first {
			r.HasTruth, r.Truth, first = true, nil, false
		}
		if e.empty || slices.ContainsFunc(seen, func(m ibid.Mark) bool { return sameMark(&m, &e.mark) }) { // a table of several systems repeats it
			return
		}
		seen = append(seen, e.mark)
		if want&WantQuotes == 0 {
			e.mark.CitedText = ""
		}
		if want&WantDetails == 0 {
			e.mark.ClaimID = ""
		}
		r.Truth = append(r.Truth, e.mark)
	})
}

// sameMark reports whether two marks say the same.
func sameMark(a, b *ibid.Mark) bool {
	return a.Annotator == b.Annotator && a.Doc == b.Doc && a.DocNull == b.DocNull && a.Page == b.Page && a.Start == b.Start &&
		a.End == b.End && a.Unit == b.Unit && a.CitedText == b.CitedText && a.ClaimID == b.ClaimID
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

// A goldReader reads the files of a table.
type goldReader struct {
	gold   *Gold
	fields []field[goldElement] // goldKeys, and the members of an element
	rows   int64                // records of the current file
	stated FileConventions      // by the current file
	values map[string]float64

	adjudicated, others bool // some element is of [ibid.Adjudicated], or of somebody else
}

func newGoldReader(group int) *goldReader {
	fields := slices.Concat(goldKeys, goldFields[group])
	g := &Gold{column: rowSpec.groups[group], group: group, of: make(map[goldKey][]int32)}
	g.fields = append(slices.Clip(fields), column[goldElement]("empty", "empty", WantAll))
	var spec schemaSpec
	addFields(&spec, -1, g.fields)
	g.kept.table = parquet.NewTable(spec.fields())
	return &goldReader{gold: g, fields: fields}
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
	writeFields(&g.kept, g.kept.table, g.fields, e)
	g.kept.table.EndRow()
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

// set sets a column to a cell; an empty one is null.
func (r *goldReader) set(e *goldElement, f *field[goldElement], cell string) error {
	switch {
	case cell == "":
	case f.kind == parquet.String:
		*ref[string](e, f.at) = cell
		f.setNull(e, false)
	case f.kind != parquet.Double:
		n, ok := wholeNumber(cell)
		if !ok || f.kind == parquet.Int32 && !fitsInt32(n) {
			return columnError(f.member, "", "%.80q is not a whole number", cell)
		}
		*ref[ibid.Integer](e, f.at) = ibid.Some(n)
	default:
		v, ok := r.values[cell]
		if !ok {
			truth, err := strconv.ParseBool(cell)
			if v, ok = 0, err == nil; truth {
				v = 1
			}
		}
		if !ok {
			var err error
			if v, err = strconv.ParseFloat(cell, 64); err != nil {
				return columnError(f.member, "say what words stand for: values: {supported: 1, unsupported: 0} in the run file", "%.80q is not a number", cell)
			}
		}
		*ref[ibid.Number](e, f.at) = ibid.SomeIf(v, !math.IsNaN(v))
	}
	return nil
}

// wholeNumber reads an integer, also where a data frame wrote it as a float.
func wholeNumber(cell string) (n int64, ok bool) {
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
	for k := range r.fields {
		if f := &r.fields[k]; f.named(name) {
			return f
		}
	}
	return nil
}

// members are the names of the columns of an element.
func (r *goldReader) members() (names []string) {
	for _, f := range r.fields[len(goldKeys):] {
		names = append(names, f.member)
	}
	return names
}

// checkName refuses a name that is very probably a misspelt one of ours.
func (r *goldReader) checkName(name string) error {
	if meant := ibid.Slip(name, r.members()); meant != "" {
		return columnError(name, "did you mean "+meant+"?", "unknown column")
	}
	return nil
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

// read reads one file.
func (r *goldReader) read(name string) error {
	r.stated = FileConventions{}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".jsonl", ".ndjson", ".csv":
		return r.readRecords(name)
	}
	f, err := parquet.Open(name)
	if err != nil {
		return err
	}
	r.stated = conventions(f)
	list, _ := f.Root.Child(r.gold.column)
	nested := list != nil && !list.IsLeaf()
	if err := f.Close(); err != nil {
		return err
	}
	if nested {
		return r.readLists(name)
	}
	return r.readRecords(name)
}

// readLists reads a Parquet file with the column of a dataset.
func (r *goldReader) readLists(name string) error {
	fields := r.fields[len(goldKeys):]
	spec := &schemaSpec{groups: []string{r.gold.column}}
	addFields(spec, -1, goldKeys)
	addFields(spec, 0, fields)
	files, err := openFiles(name, spec, ReadOptions{})
	if err != nil {
		return err
	}
	r.rows = files.rows
	var elements []goldElement
	return files.read(context.Background(), 0, 1024, func(b *Batch) error {
		defer b.Release()
		for i := range b.Len() {
			var of goldElement
			fillFields(b, i, goldKeys, &of)
			has := false
			err := cmp.Or(b.errs[int32(i)], fillList(b, 0, len(goldKeys), i, fields, &elements, &has))
			if err == nil {
				err = r.addAll(&of, elements, has)
			}
			if err != nil {
				if at, ok := errors.AsType[*ibid.Error](err); ok {
					_, row := b.Place(i)
					at.Row = ibid.Some(row)
				}
				return err
			}
		}
		return nil
	})
}

// addAll keeps the list of an answer, whose id and system of has.
func (r *goldReader) addAll(of *goldElement, elements []goldElement, known bool) error {
	if known && len(elements) == 0 && r.gold.group == groupTruth {
		return r.add(&goldElement{goldKey: of.goldKey, empty: true})
	}
	for k := range elements {
		elements[k].goldKey = of.goldKey
		if err := r.add(&elements[k]); err != nil {
			return err
		}
	}
	return nil
}

// readRecords reads a plain table: records with the column of a dataset as JSON, or one record
// an element.
func (r *goldReader) readRecords(name string) error {
	var have []string
	found := false
	err := eachRecord(name, func(rec *record) error {
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
// a dataset, in JSON, nor the members of an element. A name that is very probably a misspelt one
// of ours is an error.
func (r *goldReader) addRecord(rec *record) (found bool, err error) {
	e := goldElement{mark: ibid.Mark{DocNull: true}}
	list := slices.Index(rec.names, r.gold.column)
	found, err = r.fill(&e, rec.names, func(k int) (string, error) {
		if rec.line == 0 || list >= 0 && rec.names[k] != "id" && rec.names[k] != "system" {
			return "", nil
		}
		return rec.cell(k, false)
	}, list >= 0)
	switch {
	case err != nil:
		return false, err
	case !slices.Contains(rec.names, "id"):
		return false, noColumn("id", rec.names)
	case rec.line == 0:
		return false, nil
	}
	r.rows++
	if list < 0 {
		if found {
			err = r.add(&e)
		}
		return found, err
	}
	cell, err := rec.cell(list, true)
	if err != nil || cell == "" {
		return true, err
	}
	var objects []map[string]json.RawMessage
	if err := json.Unmarshal([]byte(cell), &objects); err != nil {
		return true, columnError(r.gold.column, "", "not a list of objects: %v", err)
	}
	elements := make([]goldElement, len(objects))
	for k, object := range objects {
		elements[k].mark.DocNull = true
		names := slices.Sorted(maps.Keys(object))
		if _, err := r.fill(&elements[k], names, func(i int) (string, error) { return scalarText(names[i], object[names[i]]) }, false); err != nil {
			return true, err
		}
	}
	return true, r.addAll(&e, elements, objects != nil)
}

// fill sets the fields of an element to the cells of these names. found says that there is the
// member that every element has. With others, names may be unknown.
func (r *goldReader) fill(e *goldElement, names []string, cell func(k int) (string, error), others bool) (found bool, err error) {
	for k, name := range names {
		f := r.field(name)
		if f == nil {
			if err := r.checkName(name); err != nil && !others {
				return false, err
			}
			continue
		}
		text, err := cell(k)
		if err == nil {
			err = r.set(e, f, text)
		}
		if err != nil {
			return false, err
		}
		found = found || f.member == r.first()
	}
	return found, nil
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
