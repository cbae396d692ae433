package dataset

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzFlat reads tables of text, and compares the cells with those that encoding/csv and
// encoding/json read.
func FuzzFlat(f *testing.F) {
	f.Add(".csv", []byte("\ufeffitem,value\n1,\"a\"\"\n b\"\r\n2,\n"))
	f.Add(".csv", []byte("item\n\"1"))
	f.Add(".jsonl", []byte("{\"item\":\"\\u00e9\",\"value\":1.50}\n\n{\"item\":null,\"value\":true}\r\n"))
	f.Add(".jsonl", []byte(`{"item":[1]}`))
	f.Fuzz(func(t *testing.T, ext string, data []byte) {
		if ext != ".csv" && ext != ".jsonl" {
			t.Skip()
		}
		path := filepath.Join(t.TempDir(), "t"+ext)
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		var table *FlatTable
		var err error
		checkAllocated(t, len(data), 400, 4<<20, func() {
			if table, err = ReadFlat(path, nil); err == nil {
				table, err = ReadFlat(path, table.Columns)
			}
		})
		var want [][]string
		ok := true
		if ext == ".csv" {
			want, ok = slowCSV(data)
		} else {
			want, ok = slowObjects(data, table.Columns)
		}
		if (err == nil) != ok {
			t.Fatalf("error %v; want accepted %t", err, ok)
		}
		if err != nil {
			return
		}
		var got [][]string
		for _, r := range table.Rows {
			got = append(got, r.Cells)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}

// slowCSV reads a whole file, by columns of the first of those names.
func slowCSV(data []byte) (rows [][]string, ok bool) {
	all, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil || len(all) == 0 {
		return nil, false
	}
	header := all[0]
	header[0] = string(bytes.TrimPrefix([]byte(header[0]), []byte("\ufeff")))
	for _, record := range all[1:] {
		row := make([]string, len(header))
		for i := range header {
			row[i] = record[slices.Index(header, header[i])]
		}
		rows = append(rows, row)
	}
	return rows, true
}

func slowObjects(data []byte, columns []string) (rows [][]string, ok bool) {
	var first map[string]any
	if json.NewDecoder(bytes.NewReader(data)).Decode(&first) != nil {
		return nil, false
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<30)
	seen := make(map[string]bool)
	for lines.Scan() {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var o map[string]any
		d := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		d.UseNumber()
		if !json.Valid(lines.Bytes()) || d.Decode(&o) != nil {
			return nil, false
		}
		row := make([]string, len(columns))
		for i, name := range columns {
			v, there := o[name]
			seen[name] = seen[name] || there
			switch v := v.(type) {
			case nil:
			case string:
				row[i] = v
			case json.Number:
				row[i] = v.String()
			case bool:
				row[i] = map[bool]string{true: "true", false: "false"}[v]
			default:
				return nil, false
			}
		}
		rows = append(rows, row)
	}
	return rows, len(seen) == len(columns) && !slices.ContainsFunc(columns, func(c string) bool { return !seen[c] })
}

// checkAllocated runs f, which reads input bytes, and fails t if f allocates more than perByte
// bytes for each of them and budget bytes beside. Memory that is free again counts, too.
func checkAllocated(t testing.TB, input int, perByte, budget int64, f func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	if took, most := int64(after.TotalAlloc-before.TotalAlloc), perByte*int64(input)+budget; took > most {
		t.Errorf("%d bytes allocated for %d of input, more than %d for each and %d", took, input, perByte, budget)
	}
}
