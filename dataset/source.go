package dataset

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/parquet-go/parquet-go/format"
)

// Keys of the file metadata in which a file states its conventions.
const (
	metaOffsetUnit = "ibid.offset_unit"
	metaSpanEnd    = "ibid.span_end"
	metaOffsetBase = "ibid.offset_base"
)

// ReadOptions say what to read.
type ReadOptions struct {
	// Columns maps names in the file to ours, dotted for members of lists:
	// "question" to "query", "cites.file" to "citations.doc".
	Columns map[string]string
	// Want chooses the column groups to decode; 0 is WantAll.
	Want Want
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
	Rows int64
	Size int64 // bytes
}

// A Source is a DATASET: one or more Parquet files with one answer per row,
// read as if they were one.
type Source struct{ files fileSet }

// Open finds the files of a DATASET (a file, a directory or a glob, in the
// order of their names) and checks the schema of each. A missing required
// column, a wrong type and an unreadable file are an [*Error].
func Open(pattern string, o ReadOptions) (*Source, error) {
	files, err := openFiles(pattern, &rowSpec, o)
	if err != nil {
		return nil, err
	}
	return &Source{*files}, nil
}

// Rows is the number of rows in all files.
func (s *Source) Rows() int64 { return s.files.rows }

// Files lists the files in reading order.
func (s *Source) Files() []FileInfo { return s.files.infos() }

// Conventions returns what the files state; Open has checked that they agree.
func (s *Source) Conventions() FileConventions { return s.files.conventions }

// Columns lists our names of the columns that were found and are wanted, dotted
// for members, in the order of the format.
func (s *Source) Columns() []string { return s.files.columns() }

// Ignored lists the columns of the files that ibid does not know, dotted for
// members of lists that it knows, in the order of their first appearance. A
// misspelt name of an optional column shows up here.
func (s *Source) Ignored() []string { return s.files.ignored }

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
}

type inputFile struct {
	FileInfo
	modified time.Time
}

func openFiles(pattern string, spec *schemaSpec, o ReadOptions) (*fileSet, error) {
	if o.Want == 0 {
		o.Want = WantAll
	}
	names, err := expand(pattern)
	if err != nil {
		return nil, err
	}
	set := &fileSet{spec: spec, options: o, present: make([]bool, len(spec.columns)), lists: make([]bool, len(spec.groups))}
	for i, name := range names {
		f, err := set.open(name)
		if err != nil {
			return nil, err
		}
		set.files = append(set.files, inputFile{FileInfo{name, f.meta.NumRows, f.size}, f.modified})
		set.rows += f.meta.NumRows
		for col := range set.present {
			set.present[col] = set.present[col] || f.binding.leaves[col].leaf >= 0
		}
		for g := range set.lists {
			set.lists[g] = set.lists[g] || f.binding.groups[g].found
		}
		for _, name := range f.binding.ignored {
			if !slices.Contains(set.ignored, name) {
				set.ignored = append(set.ignored, name)
			}
		}
		c := conventions(f.meta)
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

func (s *fileSet) infos() []FileInfo {
	infos := make([]FileInfo, len(s.files))
	for i := range s.files {
		infos[i] = s.files[i].FileInfo
	}
	return infos
}

func (s *fileSet) columns() []string {
	var names []string
	for col, present := range s.present {
		if present {
			names = append(names, s.spec.path(col))
		}
	}
	return names
}

// An openFile is an input file ready to be read.
type openFile struct {
	*os.File
	name     string
	size     int64
	modified time.Time
	meta     *format.FileMetaData
	binding  *binding
}

// open reads the footer of one file and binds its columns.
func (s *fileSet) open(name string) (f *openFile, err error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fileError(name, err)
	}
	defer func() {
		if p := recover(); p != nil {
			err = corrupt("%v", p)
		}
		if err != nil {
			f, err = nil, fileError(name, err)
			file.Close()
		}
	}()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, errors.New("is a directory")
	}
	f = &openFile{File: file, name: name, size: info.Size(), modified: info.ModTime()}
	if f.meta, err = readFooter(file, f.size); err != nil {
		return nil, err
	}
	root, err := schemaTree(f.meta.Schema)
	if err != nil {
		return nil, err
	}
	if f.binding, err = bind(root, s.spec, s.options.Columns, s.options.Want); err != nil {
		return nil, err
	}
	return f, f.checkCodecs(s.spec)
}

// reopen opens a file again that openFiles has checked.
func (s *fileSet) reopen(i int) (*openFile, error) {
	f, err := s.open(s.files[i].Name)
	if err != nil {
		return nil, err
	}
	if f.size != s.files[i].Size || !f.modified.Equal(s.files[i].modified) || f.meta.NumRows != s.files[i].Rows {
		f.Close()
		return nil, &Error{File: f.name, Row: -1, Err: errors.New("the file has changed while it was being read")}
	}
	return f, nil
}

// checkCodecs refuses what cannot be decompressed before any row is read.
func (f *openFile) checkCodecs(spec *schemaSpec) error {
	for i := range f.meta.RowGroups {
		chunks := f.meta.RowGroups[i].Columns
		for col := range f.binding.leaves {
			if leaf := f.binding.leaves[col].leaf; leaf >= 0 {
				if err := checkCodec(chunks[leaf].MetaData.Codec); err != nil {
					return &Error{Row: -1, Column: spec.path(col), Err: err, Hint: codecHint}
				}
			}
		}
		for g := range f.binding.groups {
			if group := &f.binding.groups[g]; group.found {
				if err := checkCodec(chunks[group.skeleton.leaf].MetaData.Codec); err != nil {
					return &Error{Row: -1, Column: spec.groups[g], Err: err, Hint: codecHint}
				}
			}
		}
	}
	return nil
}

const codecHint = "write the file with compression zstd, snappy, gzip, brotli or none"

func checkCodec(c format.CompressionCodec) error {
	switch c {
	case format.Uncompressed, format.Snappy, format.Gzip, format.Brotli, format.Zstd:
		return nil
	}
	return fmt.Errorf("compression %s is not supported", c)
}

// conventions reads the file metadata.
func conventions(meta *format.FileMetaData) FileConventions {
	var c FileConventions
	for i := range meta.KeyValueMetadata {
		kv := &meta.KeyValueMetadata[i]
		switch kv.Key {
		case metaOffsetUnit:
			c.OffsetUnit = kv.Value
		case metaSpanEnd:
			c.SpanEnd = kv.Value
		case metaOffsetBase:
			c.OffsetBase = kv.Value
		}
	}
	return c
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
			return &Error{File: name, Row: -1, Err: fmt.Errorf("file metadata %s is %q, but %q in %s", x.key, x.b, x.a, first)}
		}
	}
	return nil
}

// fileError puts the name of the file into err.
func fileError(name string, err error) error {
	var e *Error
	if errors.As(err, &e) {
		if e.File == "" {
			e.File = name
		}
		return err
	}
	var p *os.PathError
	if errors.As(err, &p) {
		err = p.Err // the name comes first anyway
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = corrupt("the file ends too early")
	}
	return &Error{File: name, Row: -1, Err: err}
}
