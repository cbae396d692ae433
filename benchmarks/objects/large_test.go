package objects

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"
)

var filesFlag = flag.Int("files", 2, "files of 64 MB that the dataset of TestLarge has; 32 have 2 GB")

// A largeRow is a row with a document of random letters, and a column that ibid does not know.
type largeRow struct {
	ID        string          `parquet:"id"`
	System    string          `parquet:"system"`
	Query     string          `parquet:"query"`
	Answer    string          `parquet:"answer"`
	Documents []largeDocument `parquet:"documents,list"`
	Citations []largeCitation `parquet:"citations,list"`
	Vector    string          `parquet:"vector"`
}

type largeDocument struct {
	Doc  string `parquet:"doc"`
	Text string `parquet:"text"`
}

type largeCitation struct {
	Doc   string `parquet:"doc"`
	Start int64  `parquet:"start"`
	End   int64  `parquet:"end"`
}

// writeLarge writes a file of 64 MB and returns the bytes of its columns that ibid knows.
func writeLarge(path string, number int) (needed int64, err error) {
	f, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	w := parquet.NewGenericWriter[largeRow](f)
	random := rand.New(rand.NewPCG(uint64(number), 1))
	letters := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = 'a' + byte(random.Uint32()%26)
		}
		return string(b)
	}
	for group := range 5 {
		for k := range 1000 {
			row := largeRow{
				ID: fmt.Sprintf("%d-%d-%d", number, group, k), System: "s", Query: letters(40), Answer: letters(200) + ".",
				Documents: []largeDocument{{"d", letters(10_000)}}, Citations: []largeCitation{{"d", 10, 200}}, Vector: letters(2_500),
			}
			if _, err := w.Write([]largeRow{row}); err != nil {
				return 0, err
			}
		}
		if err := w.Flush(); err != nil {
			return 0, err
		}
	}
	if err := w.Close(); err != nil {
		return 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	file, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		return 0, err
	}
	for _, g := range file.Metadata().RowGroups {
		for _, c := range g.Columns {
			if c.MetaData.PathInSchema[0] != "vector" {
				needed += c.MetaData.TotalCompressedSize
			}
		}
	}
	return needed, nil
}

// TestLarge: of a dataset with a column that nobody needs hardly more is transferred than the
// columns that a run needs, each once, although a run reads the dataset several times.
func TestLarge(t *testing.T) {
	s, dir := serve(t), t.TempDir()
	var needed, all int64
	for k := range *filesFlag {
		path := filepath.Join(dir, "file.parquet")
		n, err := writeLarge(path, k)
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		needed, all = needed+n, all+info.Size()
		s.put(fmt.Sprintf("/data/large/%03d.parquet", k), path)
	}
	requests, before := s.counts()
	s.ibid(0, dir, nil, "run", "s3://data/large", "--judge", "none", "--out", "far", "--id", "a", "-q", "--report", "page.html")
	after, sent := s.counts()
	share := float64(sent-before) / float64(needed)
	t.Logf("dataset %d bytes, columns needed %d, transferred %d in %d requests: %.4f of what is needed", all, needed, sent-before, after-requests, share)
	if share > 1.1 {
		t.Errorf("%.3f times the needed bytes were transferred", share)
	}
}
