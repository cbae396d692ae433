package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestArchive: the same program makes the same bytes, with its licences.
func TestArchive(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	when := time.Unix(1_700_000_000, 0).UTC()
	first, err := tarGz("ibid_1", []byte("program"), when)
	if err != nil {
		t.Fatal(err)
	}
	if second, err := tarGz("ibid_1", []byte("program"), when); err != nil || !bytes.Equal(first, second) {
		t.Errorf("two archives differ, %v", err)
	}
	z, err := gzip.NewReader(bytes.NewReader(first))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
	}
	if want := []string{"ibid_1/ibid", "ibid_1/LICENSE", "ibid_1/README.md", "ibid_1/CHANGELOG.md", "ibid_1/NOTICES.md"}; !slices.Equal(names, want) {
		t.Errorf("got %v, want %v", names, want)
	}
}

// TestBill: the bill of a program has the modules that the linker noted; here those of the
// test itself, which has none.
func TestBill(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := billOf(self, "v1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	var bill struct {
		Format   string `json:"bomFormat"`
		Metadata struct {
			Component component `json:"component"`
		} `json:"metadata"`
		Components []component `json:"components"`
	}
	if err := json.Unmarshal(text, &bill); err != nil {
		t.Fatal(err)
	}
	if bill.Format != "CycloneDX" || bill.Metadata.Component.Version != "v1.2.3" || len(bill.Metadata.Component.Hashes[0].Content) != 64 {
		t.Errorf("%s", text)
	}
	if len(bill.Components) != 1 || bill.Components[0].Name != "std" {
		t.Errorf("components: %v", bill.Components)
	}
}
