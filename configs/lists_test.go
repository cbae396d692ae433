package configs

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// TestListsOfAnEmptyFile checks that a run file without settings gives each list and
// mapping the default that the documents show, and that null in a run file is that, too.
func TestListsOfAnEmptyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ibid.yaml")
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	c, err := Load(Options{File: path})
	if err != nil {
		t.Fatal(err)
	}
	lists := 0
	for _, s := range table {
		kind := s.field.Type.Kind()
		if kind != reflect.Slice {
			continue
		}
		lists++
		got := reflect.ValueOf(c.Settings).FieldByIndex(s.field.Index).Interface()
		if !reflect.DeepEqual(got, s.def) {
			t.Errorf("%s is %#v without a run file, its default is %#v", s.name, got, s.def)
		}
		if v := decodeFlow(t, s, "null"); !reflect.DeepEqual(v, s.def) {
			t.Errorf("%s: null is read as %#v, the default is %#v", s.name, v, s.def)
		}
	}
	if lists < 5 {
		t.Errorf("%d settings are lists, want all", lists)
	}
}
