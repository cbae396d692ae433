package parquet

import (
	"errors"

	"github.com/parquet-go/parquet-go/encoding/thrift"
)

const (
	mostDepth   = 32       // of structs and lists in each other; Parquet needs about seven
	mostStructs = 64 << 10 // in lists, beside one for each leastStruct bytes
	leastStruct = 16       // fewer bytes than describe one column of one row group
)

// A guard reads the compact Thrift protocol, in which Parquet writes its footer and its page
// headers, for the library's decoder. That makes a list as long as it claims to be and follows
// structs however deep they are nested. So every element of a list must have its bytes, and
// neither structs nor their nesting are without end.
type guard struct {
	thrift.BytesReader
	size    int
	structs int   // in lists
	open    []int // structs that have not ended, of each list or field that is open
}

var errThrift = errors.New("list or nesting that Parquet does not have")

// Discard passes over n bytes. The decoder finds this method beside those of its interface.
func (g *guard) Discard(n int) (int, error) {
	return g.BytesReader.(interface{ Discard(int) (int, error) }).Discard(n)
}

// enter begins n structs, which follow each other.
func (g *guard) enter(n int) error {
	if g.open = append(g.open, n); len(g.open) > mostDepth {
		return errThrift
	}
	return nil
}

func (g *guard) ReadField() (thrift.Field, error) {
	f, err := g.BytesReader.ReadField()
	switch last := len(g.open) - 1; {
	case err != nil:
	case f.Type == thrift.STRUCT:
		err = g.enter(1)
	case f.Type == thrift.STOP:
		if g.open[last]--; g.open[last] == 0 {
			g.open = g.open[:last]
		}
	}
	return f, err
}

func (g *guard) ReadList() (thrift.List, error) {
	l, err := g.BytesReader.ReadList()
	switch n := int(l.Size); {
	case err != nil || n == 0:
	case n > g.size-g.BytesRead() || l.Type == thrift.LIST:
		err = errThrift
	case l.Type == thrift.STRUCT:
		if g.structs += n; g.structs > mostStructs+g.size/leastStruct {
			return l, errThrift
		}
		err = g.enter(n)
	}
	return l, err
}

// Parquet has neither sets nor maps.
func (g *guard) ReadSet() (thrift.Set, error) { return thrift.Set{}, errThrift }
func (g *guard) ReadMap() (thrift.Map, error) { return thrift.Map{}, errThrift }

// decodeStruct decodes the Thrift struct that b begins with into v and returns its length. ok
// is false if b does not begin with a complete one. Texts of v lie in b.
func decodeStruct(b []byte, v any) (n int, ok bool) {
	g := &guard{BytesReader: new(thrift.CompactProtocol).NewReaderFromBytes(b), size: len(b), open: []int{1}}
	err := thrift.NewDecoder(g).Decode(v)
	return g.BytesRead(), err == nil
}
