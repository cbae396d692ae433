package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/rle"
)

// slowLevels decodes one level at a time.
func slowLevels(n int, src []byte, highest int) ([]byte, bool) {
	width := 0
	for 1<<width <= highest {
		width++
	}
	var out []byte
	for len(out) < n {
		head, k := binary.Uvarint(src)
		if k <= 0 || head>>1 == 0 {
			return nil, false
		}
		src = src[k:]
		if head&1 == 0 {
			if len(src) == 0 && width > 0 {
				return nil, false
			}
			v := 0
			if width > 0 {
				v, src = int(src[0]), src[1:]
			}
			for ; head > 1 && len(out) < n; head -= 2 {
				out = append(out, byte(v))
			}
			continue
		}
		bits := int(min(head>>1, uint64(n))) * 8
		for i := range bits {
			if len(out) == n {
				break
			}
			v := 0
			for j := range width {
				at := i*width + j
				if at/8 >= len(src) {
					return nil, false
				}
				v |= int(src[at/8]>>(at%8)&1) << j
			}
			out = append(out, byte(v))
		}
		src = src[min(uint64(len(src)), head>>1*uint64(width)):]
	}
	return out, !slices.ContainsFunc(out, func(v byte) bool { return int(v) > highest })
}

func FuzzLevels(f *testing.F) {
	f.Add(uint16(20), byte(4), []byte{3, 0x88, 0xc6, 0xfa, 24, 2})
	f.Add(uint16(9), byte(1), []byte{5, 0xff, 0x01})
	f.Add(uint16(3), byte(15), []byte{6, 15})
	f.Add(uint16(100), byte(6), []byte{0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Fuzz(func(t *testing.T, n uint16, highest byte, src []byte) {
		highest = 1 + highest%15
		if n == 0 {
			return // no page has no levels
		}
		got, err := decodeLevels(nil, src, int(n), int(highest))
		want, ok := slowLevels(int(n), src, int(highest))
		if (err == nil) != ok || ok && !bytes.Equal(got, want) {
			t.Errorf("decodeLevels(%d of at most %d from %x) = %v, %v, want %v, %t", n, highest, src, got, err, want, ok)
		}
	})
}

func TestLevelsOfEncoder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for highest := 1; highest <= 15; highest++ {
		for range 50 {
			want := make([]byte, 1+rng.IntN(300))
			for i := range want {
				if i == 0 || rng.IntN(4) == 0 {
					want[i] = byte(rng.IntN(highest + 1))
				} else {
					want[i] = want[i-1]
				}
			}
			e := rle.Encoding{BitWidth: bits.Len(uint(highest))}
			src, err := e.EncodeLevels(nil, want)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := decodeLevels(nil, src, len(want), highest); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("decodeLevels of %v = %v, %v", want, got, err)
			}
		}
	}
}

func TestCodes(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	for _, size := range []int{1, 2, 3, 100, 1 << 20} {
		want := make([]int32, 1000)
		for i := range want {
			want[i] = rng.Int32N(int32(size))
		}
		src, err := new(rle.DictionaryEncoding).EncodeInt32(nil, want)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := decodeCodes(nil, slices.Clip(src), len(want), size); err != nil || !slices.Equal(got, want) {
			t.Errorf("codes below %d: %v", size, err)
		}
		if size > 1 {
			if _, err := decodeCodes(nil, src, len(want), int(slices.Max(want))); !errors.Is(err, ErrCorrupt) {
				t.Errorf("a code outside of the dictionary: %v", err)
			}
		}
	}
	for name, src := range map[string][]byte{
		"a run that claims 2^31 codes":             {9, 0xfe, 0xff, 0xff, 0xff, 0x0f, 5, 1},
		"packed codes that claim 2^31":             {9, 0xff, 0xff, 0xff, 0xff, 0x0f, 5, 3, 0x0a, 0x14},
		"packed codes of which 3 of 8 are there":   {9, 3, 5, 3, 0x0a, 0x14},
		"packed codes behind others, cut likewise": {9, 4, 5, 1, 3, 5, 1},
	} {
		got, err := decodeCodes(nil, src, 3, 300)
		if err != nil || len(got) != 3 || got[0] != 261 || cap(got) > 100 {
			t.Errorf("%s: %v with room for %d, %v", name, got, cap(got), err)
		}
		if _, err := decodeCodes(nil, src[:len(src)-2], 3, 300); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s, and two bytes less: %v", name, err)
		}
	}
	got, err := decodeCodes(nil, nil, 2, 1)
	if err != nil || !slices.Equal(got, []int32{0, 0}) {
		t.Errorf("no bytes for codes that are all zero: %v, %v", got, err)
	}
	if _, err := decodeCodes(nil, []byte{33, 4, 0}, 2, 1); !errors.Is(err, ErrCorrupt) {
		t.Errorf("codes of 33 bits: %v", err)
	}
}

func TestDeltas(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for _, n := range []int{0, 1, 2, 31, 32, 33, 127, 128, 129, 1000} {
		for _, spread := range []int64{1, 1000, 1 << 40, -1 << 63} {
			want := make([]int64, n)
			for i := range want {
				want[i] = rng.Int64()
				if spread > 0 {
					want[i] = rng.Int64N(spread) - spread/2
				}
			}
			src, err := new(delta.BinaryPackedEncoding).EncodeInt64(nil, want)
			if err != nil {
				t.Fatal(err)
			}
			deltas, rest, err := decodeDeltas(nil, append(src, 1, 2, 3), n)
			if err != nil || !slices.Equal(deltas, want) || !bytes.Equal(rest, []byte{1, 2, 3}) {
				t.Errorf("%d deltas below %d: rest %v, %v", n, spread, rest, err)
			}
			if _, _, err := decodeDeltas(nil, src, n+1); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%d deltas where %d are expected: %v", n, n+1, err)
			}
			if n > 1 {
				if _, _, err := decodeDeltas(nil, src[:len(src)/2], n); !errors.Is(err, ErrCorrupt) {
					t.Errorf("half of %d deltas: %v", n, err)
				}
			}
		}
	}
}

func TestStructLies(t *testing.T) {
	tests := []struct {
		name string
		b    []byte
		n    int
		ok   bool
	}{
		{"empty struct", []byte{0}, 1, true},
		{"integers", []byte{0x15, 0x80, 0x01, 0x16, 2, 0}, 6, true},
		{"true and false", []byte{0x11, 0x12, 0}, 3, true},
		{"long field number", []byte{0x05, 0x40, 2, 0}, 4, true},
		{"list", []byte{0x19, 0x25, 2, 4, 0}, 5, true},
		{"list of booleans", []byte{0x19, 0x21, 1, 2, 0}, 5, true},
		{"map, which Parquet has none of", []byte{0x1B, 1, 0x58, 2, 1, 'x', 0}, 7, false},
		{"nested", []byte{0x1C, 0x15, 2, 0, 0}, 5, true},
		{"no end", []byte{0x15, 2}, 2, false},
		{"string longer than the input", []byte{0x18, 0xff, 0xff, 0xff, 0xff, 0x07, 'x', 0}, 8, false},
		{"list longer than the input", []byte{0x19, 0xfC, 0xff, 0xff, 0xff, 0xff, 0x07, 0}, 8, false},
		{"map longer than the input", []byte{0x1B, 0xff, 0xff, 0xff, 0x07, 0x88, 0}, 7, false},
		{"unknown type", []byte{0x1F, 0}, 2, false},
		{"nested too deep", append(bytes.Repeat([]byte{0x1C}, 100), make([]byte, 101)...), 0, false},
		{"nested as deep as may be", append(bytes.Repeat([]byte{0x1C}, 31), make([]byte, 32)...), 63, true},
		{"structs one after the other", append(bytes.Repeat([]byte{0x1C, 0}, 1000), 0), 2001, true},
		{"lists of structs one after the other", append(bytes.Repeat([]byte{0x19, 0x2C, 0, 0}, 1000), 0), 4001, true},
		{"lists nested too deep", append(bytes.Repeat([]byte{0x19, 0x1C}, 100), make([]byte, 101)...), 0, false},
		{"list of lists", []byte{0x19, 0x19, 0x15, 2, 0}, 0, false},
		{"set", []byte{0x1A, 0x15, 2, 0}, 0, false},
		{"field that is skipped", []byte{0x18, 3, 'a', 'b', 'c', 0}, 6, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if n, ok := decodeStruct(tt.b, new(struct{})); ok != tt.ok || ok && n != tt.n {
				t.Errorf("decodeStruct(%x) ends at %d, %t, want %d, %t", tt.b, n, ok, tt.n, tt.ok)
			}
		})
	}
}
