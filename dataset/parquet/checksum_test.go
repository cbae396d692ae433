package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ibid"
)

// Every bit of a file is covered by its checksum, that of the footer, or the form of its
// last bytes.
func TestVerifySeesEveryBit(t *testing.T) {
	fields := []Field{{Name: "n", Kind: Int64}, {Name: "s", Kind: String, Required: true}, {Name: "l", Kind: ListInt32}}
	rows := randomResult(rand.New(rand.NewPCG(1, 1)), fields, 20, 5, 3)
	whole := encodeTable(t, rows.table(t))
	path := filepath.Join(t.TempDir(), "a.parquet")
	verify := func(data []byte) error {
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		f, err := OpenResult(path)
		if err != nil {
			return err
		}
		defer f.Close()
		return f.Verify()
	}
	if err := verify(whole); err != nil {
		t.Fatalf("Verify of a file as written: %v", err)
	}
	for i := range whole {
		for bit := range 8 {
			whole[i] ^= 1 << bit
			if verify(whole) == nil {
				t.Errorf("bit %d of byte %d of %d is changed, and Verify sees nothing", bit, i, len(whole))
			}
			whole[i] ^= 1 << bit
		}
	}
}

func TestDamageHasAHint(t *testing.T) {
	path := writeResult(t, "a.parquet", encodeTable(t, randomResult(rand.New(rand.NewPCG(1, 1)), everyKind(), 20, 5, 3).table(t)))
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)-20] ^= 1
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	_, err = OpenResult(path)
	var e *ibid.Error
	if !errors.As(err, &e) || !errors.Is(err, ErrCorrupt) || !strings.Contains(e.Hint, "restore it from a copy") {
		t.Errorf("OpenResult = %v, want a damaged file with its hint", err)
	}
}

// A result of another version is refused: its columns may mean something else.
func TestFilesOfOtherVersions(t *testing.T) {
	file := encodeTable(t, randomResult(rand.New(rand.NewPCG(1, 2)), everyKind(), 20, 5, 3).table(t))
	file = bytes.ReplaceAll(file, []byte(createdBy), []byte("ibid version 1"))
	n := len(file) - 8
	footer := file[n-int(binary.LittleEndian.Uint32(file[n:])) : n]
	copy(sumIn(footer, footerKey), noSum)
	copy(sumIn(footer, footerKey), fmt.Sprintf("%08x", crc32.ChecksumIEEE(footer)))
	path := writeResult(t, "old.parquet", file)
	_, err := OpenResult(path)
	if hint, _ := ibid.Advice(err); err == nil || err.Error() != path+": another version of ibid wrote it (ibid version 1)" || hint == "" {
		t.Errorf("OpenResult: %v (%s)", err, hint)
	}
	copy(sumIn(footer, footerKey), noSum)
	if _, err := OpenResult(writeResult(t, "damaged.parquet", file)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("another checksum: %v", err)
	}
}
