package dataset

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"
)

// TestDeepMembers opens files whose lists hold structs with lists, and structs in structs, that are
// no columns of ours.
func TestDeepMembers(t *testing.T) {
	list := func(of pq.Node) pq.Node { return pq.Optional(pq.List(pq.Optional(of))) }
	text := pq.Optional(pq.String())
	deep := text
	for range 20 {
		deep = pq.Optional(pq.Group{"in": deep})
	}
	for name, c := range map[string]struct {
		documents pq.Node
		want      string // in the error, "" if there is none
	}{
		"a list in a struct":  {list(pq.Group{"a": list(pq.Group{"b": text})}), "documents: the struct has no plain member"},
		"with a text":         {list(pq.Group{"z": text, "a": list(pq.Group{"b": list(pq.Group{"c": text})})}), ""},
		"with a name":         {list(pq.Group{"doc": text, "pages": list(text), "a": list(pq.Group{"b": list(text)})}), ""},
		"structs for pages":   {list(pq.Group{"doc": text, "pages": list(pq.Group{"b": list(text)})}), "documents.pages: struct instead of string"},
		"structs in structs":  {list(pq.Group{"a": deep}), "documents: 24 levels of optional and repeated fields are too many"},
		"a list of structs":   {list(pq.Group{"doc": text, "pages": list(deep)}), "documents.pages: struct instead of string"},
		"a deep name":         {list(pq.Group{"doc": deep}), "documents.doc: struct instead of string"},
		"lists of lists":      {list(list(list(list(text)))), "documents: the struct has no plain member"},
		"a struct of a list ": {list(pq.Group{"a": pq.Optional(pq.Group{"b": list(text)})}), "documents: the struct has no plain member"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "deep.parquet")
			f, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := pq.NewWriter(f, pq.NewSchema("rows", pq.Group{"id": pq.String(), "query": text, "answer": text, "documents": c.documents})).Close(); err != nil {
				t.Fatal(err)
			}
			_, err = Open(path, ReadOptions{})
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
