package verify

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/parquet-go/parquet-go"
)

// A record is one row of a Parquet file, or a struct in it, by the names of its members:
// string, int64, float64, bool, a list ([]any), a struct (record), a map (map[string]any),
// or nil for null.
type record map[string]any

// readTable reads a file with parquet-go's own reader, row after row, and calls yield with
// each. meta is the file's own metadata.
func readTable(path string, yield func(record) error) (meta map[string]string, err error) {
	defer func() {
		if p := recover(); p != nil { // parquet-go panics on damaged pages
			err = fmt.Errorf("%s: damaged: %v", path, p)
		}
	}()
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	file, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	meta = make(map[string]string)
	for _, kv := range file.Metadata().KeyValueMetadata {
		meta[kv.Key] = kv.Value
	}
	derived, err := derivedOf(meta)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	columns := 0
	root := layOut(file.Schema(), &columns, 0, 0)
	for _, group := range file.RowGroups() {
		if err := readGroup(group, root, columns, derived.then(yield)); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return meta, nil
}

// derivedColumns are the columns that a file leaves out, because they are quotients of sums
// of others: its metadata says which.
type derivedColumns []struct {
	Name     string
	Num, Den []struct {
		Column string
		Factor float64
	}
}

func derivedOf(meta map[string]string) (d derivedColumns, err error) {
	if text, ok := meta["ibid.derived"]; ok {
		err = json.Unmarshal([]byte(text), &d)
	}
	return d, err
}

// then is yield of records with the derived columns.
func (d derivedColumns) then(yield func(record) error) func(record) error {
	if len(d) == 0 {
		return yield
	}
	return func(r record) error {
		for _, c := range d {
			sums, known := [2]float64{}, true
			for side, terms := range [2][]struct {
				Column string
				Factor float64
			}{c.Num, c.Den} {
				for _, t := range terms {
					switch v := r[t.Column].(type) {
					case int64:
						sums[side] += t.Factor * float64(v)
					case float64:
						sums[side] += t.Factor * v
					default:
						known = false
					}
				}
			}
			if r[c.Name] = nil; known && sums[1] != 0 {
				r[c.Name] = sums[0] / sums[1]
			}
		}
		return yield(r)
	}
}

// readGroup reads one row group.
func readGroup(group parquet.RowGroup, root *column, columns int, yield func(record) error) error {
	rows := group.Rows()
	defer rows.Close()
	buffer := make([]parquet.Row, 64)
	leaves := make([][]parquet.Value, columns)
	for {
		n, err := rows.ReadRows(buffer)
		for _, row := range buffer[:n] {
			clear(leaves)
			for _, v := range row {
				leaves[v.Column()] = append(leaves[v.Column()], v)
			}
			r, _ := root.body(leaves).(record)
			if err := yield(r); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// A column is a node of a file's schema, in the words of Dremel: a value is present from
// its definition level on, and begins an element of its list at its repetition level.
type column struct {
	name               string
	optional, repeated bool
	text               bool // a leaf that holds bytes
	definition         int  // from which it is present
	repetition         int
	leaf               int // number of the first leaf below it
	leaves             int
	members            []*column // nil of a leaf
}

// layOut lays out a node whose parents have these levels. leaf counts leaves.
func layOut(n parquet.Node, leaf *int, definition, repetition int) *column {
	c := &column{optional: n.Optional(), repeated: n.Repeated(), leaf: *leaf}
	if c.optional || c.repeated {
		definition++
	}
	if c.repeated {
		repetition++
	}
	c.definition, c.repetition = definition, repetition
	if n.Leaf() {
		*leaf++
		c.text = n.Type().Kind() == parquet.ByteArray || n.Type().Kind() == parquet.FixedLenByteArray
	} else {
		for _, f := range n.Fields() {
			m := layOut(f, leaf, definition, repetition)
			m.name = f.Name()
			c.members = append(c.members, m)
		}
	}
	c.leaves = *leaf - c.leaf
	return c
}

// read takes the value of the column off the leaves.
func (c *column) read(leaves [][]parquet.Value) any {
	if !c.optional && !c.repeated {
		return c.body(leaves)
	}
	if len(leaves[c.leaf]) == 0 || leaves[c.leaf][0].DefinitionLevel() < c.definition {
		for i := range c.leaves {
			if at := c.leaf + i; len(leaves[at]) > 0 {
				leaves[at] = leaves[at][1:]
			}
		}
		if c.repeated {
			return []any{}
		}
		return nil
	}
	if !c.repeated {
		return c.body(leaves)
	}
	list := []any{c.body(leaves)}
	for len(leaves[c.leaf]) > 0 && leaves[c.leaf][0].RepetitionLevel() == c.repetition {
		list = append(list, c.body(leaves))
	}
	return list
}

// body takes a value that is present.
func (c *column) body(leaves [][]parquet.Value) any {
	if c.members == nil {
		v := leaves[c.leaf][0]
		leaves[c.leaf] = leaves[c.leaf][1:]
		return c.scalar(v)
	}
	r := make(record, len(c.members))
	for _, m := range c.members {
		r[m.name] = m.read(leaves)
	}
	if len(c.members) != 1 || !c.members[0].repeated {
		return r
	}
	return unwrap(r[c.members[0].name].([]any), c.members[0])
}

// unwrap takes the wrapping off a list or a map, which has one repeated member.
func unwrap(list []any, inner *column) any {
	switch {
	case len(inner.members) == 2 && inner.members[0].name == "key":
		out := make(map[string]any, len(list))
		for _, entry := range list {
			e := entry.(record)
			key, _ := e["key"].(string)
			out[key] = e[inner.members[1].name]
		}
		return out
	case len(inner.members) == 1 && inner.name != "array" && !inner.members[0].repeated:
		for i := range list {
			list[i] = list[i].(record)[inner.members[0].name]
		}
	}
	return list
}

func (c *column) scalar(v parquet.Value) any {
	switch v.Kind() {
	case parquet.Boolean:
		return v.Boolean()
	case parquet.Int32:
		return int64(v.Int32())
	case parquet.Int64:
		return v.Int64()
	case parquet.Float:
		return float64(v.Float())
	case parquet.Double:
		return v.Double()
	}
	if v.IsNull() {
		return nil
	}
	return string(v.ByteArray())
}

// Members of a record; ok or known is false for null and for what is absent.

func (r record) text(name string) (string, bool) {
	v, ok := r[name].(string)
	return v, ok
}

func (r record) list(name string) ([]any, bool) {
	v, ok := r[name].([]any)
	return v, ok
}
