package dataset

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

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
	column  string // truth or labels
	group   int
	set     fileSet // of the files: their names, sizes and conventions
	seed    maphash.Seed
	texts   string // the encoded elements, one after the other
	entries []goldEntry
	claims  []string // of each entry of labels: the id of the claim it is about, once that is known
	lost    []bool   // of each entry: what it is about is not there
}

// A goldEntry says where an element is. Entries are in the order of their hashes, and
// those of one answer in the order of the table.
type goldEntry struct {
	hash uint64 // of id and system
	at   int    // of the element in texts
}

// A goldElement is one mark or one label.
type goldElement struct {
	id, system string
	mark       ibid.Mark
	label      ibid.Label
	values     map[string]float64 // what words as labels stand for
	empty      bool               // the truth is known, and nothing: there is no mark
	encoded    string             // what was decoded

	// What a label is about where it has no id for it.
	claimText            string
	claimStart, claimEnd ibid.Integer
}

// Columns that labels have in a table of their own, besides those of a dataset.
const (
	goldClaimText = tagValue + 1 + iota
	goldClaimStart
	goldClaimEnd
	goldProposedBy
)

// goldSpec is rowSpec for a table of truth or labels.
var goldSpec = func() schemaSpec {
	s := schemaSpec{rows: true, groups: rowSpec.groups, columns: slices.Clone(rowSpec.columns)}
	s.columns[colQuery].required, s.columns[colAnswer].required = false, false
	s.columns = append(s.columns,
		columnSpec{member: "claim_text", group: groupLabels, want: WantLabels},
		columnSpec{member: "claim_start", group: groupLabels, want: WantLabels, kind: intValue},
		columnSpec{member: "claim_end", group: groupLabels, want: WantLabels, kind: intValue},
		columnSpec{member: "proposed_by", group: groupLabels, want: WantLabels},
	)
	return s
}()

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
		g.set.files = append(g.set.files, read)
		if i == 0 {
			g.set.conventions = r.stated
		} else if err := g.set.conventions.agree(r.stated, names[0], name); err != nil {
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
}

// Files lists the files in reading order; Rows are their records.
func (g *Gold) Files() []FileInfo { return g.set.infos() }

// Digest is as for [Source].
func (g *Gold) Digest(ctx context.Context, progress func(done, total int64)) ([]FileDigest, error) {
	return g.set.digest(ctx, progress)
}

// Conventions returns what Parquet files of the table state of their offsets.
func (g *Gold) Conventions() FileConventions { return g.set.conventions }

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
	g.each(r.ID, "", func(_ int, e *goldElement) {
		r.HasTruth = true
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
	g.each(r.ID, r.System, func(k int, e *goldElement) {
		if g.lost[k] || g.claims == nil && e.aboutText() {
			return
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

// An element is encoded as strings with their length and integers after a byte that says
// whether they are known. Of truth a byte says what it is.
const (
	emptyTruth byte = iota
	nothingMarked
	somethingMarked
)

func (g *Gold) encode(to []byte, e *goldElement) []byte {
	text := func(s string) { to = append(binary.AppendUvarint(to, uint64(len(s))), s...) }
	integer := func(n ibid.Integer) {
		if !n.Known() {
			to = append(to, 0)
			return
		}
		to = binary.AppendVarint(append(to, 1), n.Value)
	}
	text(e.id)
	if g.group == groupTruth {
		m := &e.mark
		switch {
		case e.empty:
			return append(to, emptyTruth)
		case m.DocNull:
			to = append(to, nothingMarked)
		default:
			to = append(to, somethingMarked)
			text(m.Doc)
		}
		text(m.Annotator)
		integer(m.Page)
		integer(m.Start)
		integer(m.End)
		text(m.Unit)
		text(m.CitedText)
		text(m.ClaimID)
		return to
	}
	l := &e.label
	text(e.system)
	text(l.Annotator)
	text(l.ClaimID)
	text(l.CitationID)
	text(l.Kind)
	value := ibid.Integer{}
	if l.Value.Known() {
		value = ibid.Some(int64(math.Float64bits(l.Value.Value)))
	}
	integer(value)
	text(e.claimText)
	integer(e.claimStart)
	integer(e.claimEnd)
	text(l.ProposedBy)
	return to
}

// element decodes the element of an entry.
func (g *Gold) element(entry int) (e goldElement) {
	all := g.texts[g.entries[entry].at:]
	rest := all
	defer func() { e.encoded = all[:len(all)-len(rest)] }()
	head := func() []byte { return []byte(rest[:min(len(rest), binary.MaxVarintLen64)]) }
	text := func() string {
		n, k := binary.Uvarint(head())
		s := rest[k : k+int(n)]
		rest = rest[k+int(n):]
		return s
	}
	flag := func() byte {
		f := rest[0]
		rest = rest[1:]
		return f
	}
	integer := func() ibid.Integer {
		if flag() == 0 {
			return ibid.Integer{}
		}
		n, k := binary.Varint(head())
		rest = rest[k:]
		return ibid.Some(n)
	}
	e.id = text()
	if g.group == groupTruth {
		m := &e.mark
		switch flag() {
		case emptyTruth:
			e.empty = true
			return e
		case nothingMarked:
			m.DocNull = true
		default:
			m.Doc = text()
		}
		m.Annotator = text()
		m.Page, m.Start, m.End = integer(), integer(), integer()
		m.Unit, m.CitedText, m.ClaimID = text(), text(), text()
		return e
	}
	l := &e.label
	e.system = text()
	l.Annotator, l.ClaimID, l.CitationID, l.Kind = text(), text(), text(), text()
	if value := integer(); value.Known() {
		l.Value = ibid.Some(math.Float64frombits(uint64(value.Value)))
	}
	e.claimText, e.claimStart, e.claimEnd = text(), integer(), integer()
	l.ProposedBy = text()
	return e
}

// A goldReader reads the files of a table.
type goldReader struct {
	gold   *Gold
	texts  []byte
	rows   int64           // records of the current file
	stated FileConventions // by the current file
	values map[string]float64
}

func newGoldReader(group int) *goldReader {
	return &goldReader{gold: &Gold{column: goldSpec.groups[group], group: group, seed: maphash.MakeSeed()}}
}

// add keeps an element.
func (r *goldReader) add(e *goldElement) error {
	g := r.gold
	if e.id == "" {
		return &ibid.Error{Column: "id", Err: errors.New("no id"), Hint: "every line needs the id of its question"}
	}
	e.system = cmp.Or(e.system, "default")
	if g.group == groupTruth {
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

// set sets the member col to a cell; an empty one is null.
func (e *goldElement) set(col int, cell string) error {
	if cell == "" {
		return nil
	}
	texts := map[int]*string{
		colID: &e.id, colSystem: &e.system,
		truAnnotator: &e.mark.Annotator, truUnit: &e.mark.Unit, truCitedText: &e.mark.CitedText, truClaimID: &e.mark.ClaimID,
		labAnnotator: &e.label.Annotator, labClaimID: &e.label.ClaimID, labCitationID: &e.label.CitationID, labKind: &e.label.Kind,
		goldClaimText: &e.claimText, goldProposedBy: &e.label.ProposedBy,
	}
	integers := map[int]*ibid.Integer{
		truPage: &e.mark.Page, truStart: &e.mark.Start, truEnd: &e.mark.End, goldClaimStart: &e.claimStart, goldClaimEnd: &e.claimEnd,
	}
	switch {
	case col == truDoc:
		e.mark.Doc, e.mark.DocNull = cell, false
	case texts[col] != nil:
		*texts[col] = cell
	case integers[col] != nil:
		n, ok := wholeNumber(cell)
		if !ok || col == truPage && !fitsInt32(n) {
			return columnError(goldSpec.columns[col].member, "", "%.80q is not a whole number", cell)
		}
		*integers[col] = ibid.Some(n)
	case col == labValue:
		if v, ok := e.values[cell]; ok {
			e.label.Value = ibid.Some(v)
			return nil
		}
		v, err := strconv.ParseFloat(cell, 64)
		if truth, e := strconv.ParseBool(cell); e == nil {
			v, err = 0, nil
			if truth {
				v = 1
			}
		}
		if err != nil {
			return columnError("value", "say what words stand for: values: {supported: 1, unsupported: 0} in the run file", "%.80q is not a number", cell)
		}
		e.label.Value = ibid.SomeIf(v, !math.IsNaN(v))
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

// member is the column of the group, or of id and system, that goes by a name; -1 if
// none does.
func (g *Gold) member(name string) int {
	for _, col := range append([]int{colID, colSystem}, goldSpec.members(g.group)...) {
		if goldSpec.named(col, name) {
			return col
		}
	}
	return -1
}

// checkName refuses a name that is very probably a misspelt one of ours.
func (g *Gold) checkName(name string) error {
	var names []string
	for _, col := range goldSpec.members(g.group) {
		names = append(names, goldSpec.columns[col].member)
	}
	if meant := ibid.Slip(name, names); meant != "" {
		return columnError(name, "did you mean "+meant+"?", "unknown column")
	}
	return nil
}

// first is the member that every line of a table with one line an element has.
func (g *Gold) first() int {
	if g.group == groupTruth {
		return truDoc
	}
	return labValue
}

// neither is the error for a table that is of no shape.
func (g *Gold) neither(have []string) error {
	var members []string
	for _, col := range goldSpec.members(g.group) {
		members = append(members, goldSpec.columns[col].member)
	}
	hint := "it has " + strings.Join(have, ", ")
	return &ibid.Error{Err: fmt.Errorf("neither a column %s nor a column %s, as in a table of id and %s", g.column, goldSpec.columns[g.first()].member, strings.Join(members, ", ")), Hint: hint}
}

// read reads one file.
func (r *goldReader) read(name string) error {
	r.stated = FileConventions{}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".jsonl", ".ndjson":
		return r.readObjects(name)
	case ".csv":
		return r.readCells(name)
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
	return r.readCells(name)
}

// readLists reads a Parquet file with the column of a dataset.
func (r *goldReader) readLists(name string) error {
	g := r.gold
	want := WantKeys | WantSpans | WantQuotes | WantDetails
	if g.group == groupLabels {
		want = WantKeys | WantLabels
	}
	files, err := openFiles(name, &goldSpec, ReadOptions{Want: want})
	if err != nil {
		return err
	}
	source := &Source{*files}
	r.rows = source.Rows()
	var row ibid.Answer
	return source.Read(context.Background(), 0, 1024, func(b *Batch) error {
		defer b.Release()
		for i := range b.Len() {
			b.Row(i, &row)
			if err := r.addRow(b, i, &row); err != nil {
				var at *ibid.Error
				if errors.As(err, &at) {
					at.Row = ibid.Some(row.FileRow)
				}
				return err
			}
		}
		return nil
	})
}

// addRow keeps the elements of row i of a batch.
func (r *goldReader) addRow(b *Batch, i int, row *ibid.Answer) error {
	if row.Err != nil {
		return row.Err
	}
	if row.HasTruth && len(row.Truth) == 0 && r.gold.group == groupTruth {
		return r.add(&goldElement{id: row.ID, empty: true})
	}
	for k := range row.Truth {
		if err := r.add(&goldElement{id: row.ID, mark: row.Truth[k]}); err != nil {
			return err
		}
	}
	lo, _, _ := b.groups[groupLabels].elements(i)
	for k := range row.Labels {
		at := lo + k
		row.Labels[k].ProposedBy = b.leaves[goldProposedBy].member(at)
		err := r.add(&goldElement{
			id: row.ID, system: row.System, label: row.Labels[k], claimText: b.leaves[goldClaimText].member(at),
			claimStart: b.leaves[goldClaimStart].memberInt(at), claimEnd: b.leaves[goldClaimEnd].memberInt(at),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// readCells reads a table of plain columns: CSV, or a flat Parquet file.
func (r *goldReader) readCells(name string) error {
	g := r.gold
	have, err := FlatColumns(name)
	if err != nil {
		return err
	}
	list := slices.Contains(have, g.column)
	var columns []string
	var members []int
	for _, column := range have {
		col := g.member(column)
		if list && column == g.column {
			col = math.MaxInt
		} else if list && col != colID && col != colSystem || col < 0 {
			if err := g.checkName(column); err != nil && !list {
				return err
			}
			continue
		}
		columns, members = append(columns, column), append(members, col)
	}
	if !slices.Contains(members, colID) {
		return noColumn("id", have)
	}
	if !list && !slices.Contains(members, g.first()) {
		return g.neither(have)
	}
	rows, err := ReadFlat(name, columns)
	if err != nil {
		return err
	}
	r.rows = int64(len(rows))
	for _, row := range rows {
		if err := r.addCells(members, row.Cells); err != nil {
			return atLine(row.Line, err)
		}
	}
	return nil
}

// addCells keeps what one line of a table of plain columns has.
func (r *goldReader) addCells(members []int, cells []string) error {
	e := goldElement{mark: ibid.Mark{DocNull: true}, values: r.values}
	list, isList := "", false
	for i, col := range members {
		if col == math.MaxInt {
			list, isList = cells[i], true
		} else if err := e.set(col, cells[i]); err != nil {
			return err
		}
	}
	if !isList {
		return r.add(&e)
	}
	if list == "" {
		return nil
	}
	return r.addList(&e, json.RawMessage(list))
}

// addList keeps the elements of a list in JSON. of has the id and the system.
func (r *goldReader) addList(of *goldElement, list json.RawMessage) error {
	var elements []map[string]json.RawMessage
	if err := json.Unmarshal(list, &elements); err != nil {
		return columnError(r.gold.column, "", "not a list of objects: %v", err)
	}
	if elements != nil && len(elements) == 0 && r.gold.group == groupTruth {
		return r.add(&goldElement{id: of.id, empty: true})
	}
	for _, members := range elements {
		e := goldElement{id: of.id, system: of.system, mark: ibid.Mark{DocNull: true}, values: r.values}
		if err := r.setMembers(&e, members); err != nil {
			return err
		}
		if err := r.add(&e); err != nil {
			return err
		}
	}
	return nil
}

// setMembers sets the members of an element that an object has.
func (r *goldReader) setMembers(e *goldElement, members map[string]json.RawMessage) error {
	for _, name := range slices.Sorted(maps.Keys(members)) {
		col := r.gold.member(name)
		if col < 0 {
			if err := r.gold.checkName(name); err != nil {
				return err
			}
			continue
		}
		cell, err := scalarText(members[name])
		if err != nil {
			return columnError(name, "", "%w", err)
		}
		if err := e.set(col, cell); err != nil {
			return err
		}
	}
	return nil
}

// readObjects reads JSON Lines: objects with the column of a dataset, or one object an
// element.
func (r *goldReader) readObjects(name string) error {
	f, err := openText(name)
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 1<<16)
	found := false
	for line := int64(1); ; line++ {
		text, err := in.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return err
		}
		text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff")))
		if len(text) > 0 {
			r.rows++
			has, bad := r.addObject(text)
			if bad != nil {
				return atLine(line, bad)
			}
			found = found || has
		}
		if err == io.EOF {
			break
		}
	}
	if !found {
		have, err := FlatColumns(name)
		if err != nil {
			return err
		}
		return r.gold.neither(have)
	}
	return nil
}

// addObject keeps what one object has. found is false if that is neither the column of
// a dataset nor the members of an element.
func (r *goldReader) addObject(text []byte) (found bool, err error) {
	g := r.gold
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil {
		return false, err
	}
	e := goldElement{mark: ibid.Mark{DocNull: true}, values: r.values}
	list, isList := object[g.column]
	if isList {
		keys := map[string]json.RawMessage{"id": object["id"], "system": object["system"]}
		if err := r.setMembers(&e, keys); err != nil {
			return true, err
		}
		return true, r.addList(&e, list)
	}
	if err := r.setMembers(&e, object); err != nil {
		return false, err
	}
	for name := range object {
		if g.member(name) == g.first() {
			return true, r.add(&e)
		}
	}
	return false, nil
}

// atLine names the line of a text file that an error is about.
func atLine(line int64, err error) error {
	var at *ibid.Error
	if errors.As(err, &at) {
		at.Err = fmt.Errorf("line %d: %w", line, at.Err)
		return at
	}
	return fmt.Errorf("line %d: %w", line, err)
}
