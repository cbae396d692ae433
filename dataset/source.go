// Package dataset reads and writes the rows that ibid evaluates and the files
// it produces. It is the only package that knows Parquet and Arrow.
//
// It converts every foreign offset once, here, into half-open code points, and
// keeps null, empty and missing apart.
package dataset

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"ibid"
	"ibid/dataset/objects"
	"ibid/dataset/parquet"
)

// Keys of the file metadata in which a file states its conventions.
const (
	metaOffsetUnit = "ibid.offset_unit"
	metaSpanEnd    = "ibid.span_end"
	metaOffsetBase = "ibid.offset_base"
)

func corrupt(msg string, args ...any) error {
	return fmt.Errorf("%w: "+msg, append([]any{parquet.ErrCorrupt}, args...)...)
}

// ReadOptions say what to read.
type ReadOptions struct {
	// Columns maps names in the file to ours, dotted for members of lists:
	// "question" to "query", "cites.file" to "citations.doc".
	Columns map[string]string
	// Want chooses the column groups to decode; 0 is WantAll.
	Want Want
	// Limits bound rows and memory.
	Limits Limits
}

// FileConventions are what files state about their offsets; "" if they do not.
type FileConventions struct {
	OffsetUnit string // codepoint, utf16, byte
	SpanEnd    string // exclusive, inclusive
	OffsetBase string // document, page
}

// FileInfo describes one input file.
type FileInfo struct {
	Name string // as the user gave it, or as the directory or glob yielded it
	Doc  string // the document that the file is; "" for a file of rows
	Rows int64
	Size int64 // bytes

	Modified time.Time
}

// A Source is a DATASET: one or more Parquet files with one answer per row,
// read as if they were one.
type Source struct{ fileSet }

// Open finds the files of a DATASET (a file, a directory or a glob, in the
// order of their names) and checks the schema of each. A missing required
// column, a wrong type and an unreadable file are an [*ibid.Error].
func Open(pattern string, o ReadOptions) (*Source, error) {
	files, err := openFiles(pattern, &rowSpec, o)
	if err != nil {
		return nil, err
	}
	return &Source{*files}, nil
}

// A fileSet is what a pattern matched, checked against a schemaSpec.
type fileSet struct {
	spec        *schemaSpec
	options     ReadOptions
	files       []inputFile
	rows        int64
	present     []bool // columns that some file has, by number
	lists       []bool // list columns that some file has
	ignored     []string
	conventions FileConventions
	joined      joined
	names       *DocumentNames // nil if names are as they are written
}

type inputFile struct {
	FileInfo
	starts  []int64         // rows where reading can begin
	entries int64           // of all lists, as the footer says
	object  *objects.Object // that the file is, nil for a file of this machine
}

// stat fills in what the file system, or the store, says of the file.
func (f *inputFile) stat() (err error) {
	if objects.Is(f.Name) {
		if f.object, err = objects.Open(context.Background(), f.Name); err == nil {
			f.Size, f.Modified = f.object.Size, f.object.Modified
		}
		return err
	}
	info, err := os.Stat(f.Name)
	if err == nil {
		f.Size, f.Modified = info.Size(), info.ModTime()
	}
	return err
}

// openText opens a file, or an object, that is read from its beginning on.
func openText(name string) (io.ReadCloser, error) {
	if !objects.Is(name) {
		return os.Open(name)
	}
	o, err := objects.Open(context.Background(), name)
	if err != nil {
		return nil, err
	}
	o.Expect([][2]int64{{0, o.Size}})
	return struct {
		io.Reader
		io.Closer
	}{io.NewSectionReader(o, 0, o.Size), o}, nil
}

func openFiles(pattern string, spec *schemaSpec, o ReadOptions) (*fileSet, error) {
	names, err := expand(pattern)
	if err != nil {
		return nil, err
	}
	return openNamed(names, spec, o)
}

func openNamed(names []string, spec *schemaSpec, o ReadOptions) (*fileSet, error) {
	if o.Want == 0 {
		o.Want = WantAll
	}
	set := &fileSet{spec: spec, options: o, present: make([]bool, len(spec.columns)), lists: make([]bool, len(spec.groups))}
	for i, name := range names {
		f, err := set.open(name)
		if err != nil {
			return nil, err
		}
		set.files = append(set.files, inputFile{FileInfo{Name: name, Rows: f.Rows(), Size: f.Size, Modified: f.Modified}, f.Starts(), f.entries(), f.Object()})
		set.rows += f.Rows()
		for col := range set.present {
			leaf := f.binding.leaves[col].Column
			_, given := f.given[col]
			set.present[col] = set.present[col] || leaf >= 0 || given
		}
		for g := range set.lists {
			set.lists[g] = set.lists[g] || f.binding.groups[g].found
		}
		for _, name := range f.binding.ignored {
			if !slices.Contains(set.ignored, name) {
				set.ignored = append(set.ignored, name)
			}
		}
		c := conventions(f.File)
		if i == 0 {
			set.conventions = c
		} else if err := set.conventions.agree(c, names[0], name); err != nil {
			f.Close()
			return nil, err
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
	return set, nil
}

// Rows is the number of rows in all files.
func (s *fileSet) Rows() int64 { return s.rows }

// Files lists the files in reading order.
func (s *fileSet) Files() []FileInfo {
	infos := make([]FileInfo, len(s.files))
	for i := range s.files {
		infos[i] = s.files[i].FileInfo
	}
	return infos
}

// Conventions returns what the files state, in which they agree.
func (s *fileSet) Conventions() FileConventions { return s.conventions }

// Columns lists our names of the columns that were found and are wanted, dotted
// for members, in the order of the format.
func (s *fileSet) Columns() []string {
	var names []string
	for col, present := range s.present {
		if present {
			names = append(names, s.spec.path(col))
		}
	}
	return names
}

// Ignored lists the columns of the files that ibid does not know, dotted for
// members of lists that it knows, in the order of their first appearance. A
// misspelt name of an optional column shows up here.
func (s *fileSet) Ignored() []string { return s.ignored }

// Move says that the only file of the source is somewhere else now.
func (s *fileSet) Move(to string) { s.files[0].Name = to }

// An openFile is an input file ready to be read.
type openFile struct {
	*parquet.File
	binding *binding
	given   map[int]string // what the path says of plain columns that the file has not
}

// entries is how many entries the lists have.
func (f *openFile) entries() (n int64) {
	for g := range f.binding.groups {
		if group := &f.binding.groups[g]; group.found {
			n += f.Entries(group.skeleton.Column)
		}
	}
	return n
}

// open reads the footer of one file and binds its columns.
func (s *fileSet) open(name string) (*openFile, error) {
	file, err := parquet.Open(name)
	if err != nil {
		return nil, notParquet(name, s.spec == &documentSpec, err)
	}
	f := &openFile{File: file}
	if s.spec.whole {
		err = f.checkWhole(s.spec, name)
	}
	if err == nil {
		f.binding, err = bind(f.Root, s.spec, s.options.Columns, s.options.Want)
	}
	if err == nil {
		err = f.checkCodecs(s.spec)
	}
	if err != nil {
		f.Close()
		return nil, parquet.FileError(name, err)
	}
	return f, nil
}

// reopen opens a file again that openFiles has checked.
func (s *fileSet) reopen(i int) (*openFile, error) {
	f, err := s.open(s.files[i].Name)
	if err != nil {
		return nil, err
	}
	if f.Size != s.files[i].Size || !f.Modified.Equal(s.files[i].Modified) || f.Rows() != s.files[i].Rows {
		f.Close()
		return nil, &ibid.Error{File: f.Path, Err: errors.New("the file has changed while it was being read")}
	}
	return f, nil
}

// A readLeaf is a leaf of a file that is read.
type readLeaf struct {
	parquet.Leaf
	path string
	at   int // its column; behind these the list column that it gives the shape to
}

// leaves are those of the columns that are wanted, and of lists of which no column gives the
// shape.
func (f *openFile) leaves(spec *schemaSpec) (all []readLeaf) {
	for col := range f.binding.leaves {
		if leaf := f.binding.leaves[col].Leaf; leaf.Column >= 0 {
			all = append(all, readLeaf{leaf, spec.path(col), col})
		}
	}
	for g := range f.binding.groups {
		if group := &f.binding.groups[g]; group.found && group.column < 0 {
			all = append(all, readLeaf{group.skeleton.Leaf, spec.groups[g], len(spec.columns) + g})
		}
	}
	return all
}

// checkCodecs refuses what cannot be decompressed before any row is read.
func (f *openFile) checkCodecs(spec *schemaSpec) error {
	for _, leaf := range f.leaves(spec) {
		if err := f.CheckCodec(leaf.Column); err != nil {
			return &ibid.Error{Column: leaf.path, Err: err, Hint: "write the file with compression zstd, snappy, gzip, brotli, lz4_raw or none"}
		}
	}
	return nil
}

// conventions reads the file metadata.
func conventions(f *parquet.File) FileConventions {
	return FileConventions{OffsetUnit: f.Metadata[metaOffsetUnit], SpanEnd: f.Metadata[metaSpanEnd], OffsetBase: f.Metadata[metaOffsetBase]}
}

// agree compares what the file called name states with what the first one
// states. A file that says nothing where another speaks disagrees: its offsets
// would silently be taken for something they may not be.
func (c FileConventions) agree(other FileConventions, first, name string) error {
	for _, x := range [...]struct{ key, a, b string }{
		{metaOffsetUnit, c.OffsetUnit, other.OffsetUnit},
		{metaSpanEnd, c.SpanEnd, other.SpanEnd},
		{metaOffsetBase, c.OffsetBase, other.OffsetBase},
	} {
		if x.a != x.b {
			return &ibid.Error{File: name, Err: fmt.Errorf("file metadata %s is %q, but %q in %s", x.key, x.b, x.a, first)}
		}
	}
	return nil
}

// Select is the same source with fewer column groups to decode: want must be part
// of what the source was opened with. Where tables are joined, keys are decoded.
func (s *Source) Select(want Want) *Source {
	other := *s
	if j := other.fileSet.joined; j.truth != nil || j.labels != nil {
		want |= WantKeys
	}
	other.fileSet.options.Want = want
	return &other
}

// Like is the same source with what is joined to other, and its names of documents.
func (s *Source) Like(other *Source) *Source {
	out := *s
	out.fileSet.joined, out.fileSet.names = other.fileSet.joined, other.fileSet.names
	return &out
}

// HasDocuments reports whether some file has a documents column, so that rows
// may bring their own sources.
func (s *Source) HasDocuments() bool { return s.fileSet.lists[groupDocuments] }

// HasLabels reports whether some file has a labels column, or labels are joined.
func (s *Source) HasLabels() bool {
	return s.fileSet.lists[groupLabels] || s.fileSet.joined.labels != nil
}

// HasTruth reports whether some file has a truth column, or truth is joined.
func (s *Source) HasTruth() bool { return s.fileSet.lists[groupTruth] || s.fileSet.joined.truth != nil }

// A FileDigest identifies the content of one input file.
type FileDigest struct {
	FileInfo
	SHA256 string // 64 hex digits; "" for an object

	// Version is what the store of an object tells its contents apart by, its ETag; "" for
	// a file of this machine. With the size it stands for the content, which is not read.
	Version string

	// Unchecked is how many bytes the wanted columns have in pages without checksums; of an
	// object it is not counted.
	// Damage there may read as other values.
	Unchecked int64
}

// Content is what stands for the content of the file in a fingerprint.
func (d *FileDigest) Content() string {
	if d.Version != "" {
		return fmt.Sprintf("%s of %d bytes", d.Version, d.Size)
	}
	return d.SHA256
}

// Digest hashes the bytes of every file in reading order. progress, if not nil,
// is told now and then how many of all bytes are done.
func (s *fileSet) Digest(ctx context.Context, progress func(done, total int64)) ([]FileDigest, error) {
	var done, total int64
	for i := range s.files {
		total += s.files[i].Size
	}
	buf := make([]byte, 1<<20)
	digests := make([]FileDigest, 0, len(s.files))
	for i := range s.files {
		f := &s.files[i]
		d := FileDigest{FileInfo: f.FileInfo}
		if o := f.object; o != nil {
			d.Name, d.Version = o.Address, o.Version
			digests = append(digests, d)
			done += o.Size
			continue
		}
		var err error
		d.SHA256, err = f.hash(ctx, buf, func(n int) {
			done += int64(n)
			if progress != nil {
				progress(done, total)
			}
		})
		if err == nil && s.spec != nil && f.Doc == "" { // files of truth and labels have no spec
			d.Unchecked, err = s.unchecked(i)
		}
		if err != nil {
			return nil, parquet.FileError(f.Name, err)
		}
		digests = append(digests, d)
	}
	return digests, nil
}

// unchecked sums the bytes of wanted columns that have no checksums in file i.
func (s *fileSet) unchecked(i int) (sum int64, err error) {
	f, err := s.reopen(i)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for _, leaf := range f.leaves(s.spec) {
		n, err := f.Unchecked(leaf.Column)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// DigestFiles hashes the bytes of files.
func DigestFiles(ctx context.Context, names []string) ([]FileDigest, error) {
	var set fileSet
	for _, name := range names {
		f := inputFile{FileInfo: FileInfo{Name: name}}
		if err := f.stat(); err != nil {
			return nil, parquet.FileError(name, err)
		}
		set.files = append(set.files, f)
	}
	return set.Digest(ctx, nil)
}

// hash reads the file and calls read with how many bytes came.
func (f *inputFile) hash(ctx context.Context, buf []byte, read func(n int)) (string, error) {
	in, err := os.Open(f.Name)
	if err != nil {
		return "", err
	}
	defer in.Close()
	size, h := int64(0), sha256.New()
	for {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		n, err := in.Read(buf)
		h.Write(buf[:n])
		size += int64(n)
		read(n)
		switch {
		case err == io.EOF && size != f.Size:
			return "", errors.New("the file has changed while it was being read")
		case err == io.EOF:
			return hex.EncodeToString(h.Sum(nil)), nil
		case err != nil:
			return "", err
		}
	}
}
