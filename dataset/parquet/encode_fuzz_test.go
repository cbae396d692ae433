package parquet

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/s2"
)

func FuzzBitWriter(f *testing.F) {
	f.Add(uint64(1), uint8(3), []byte{1, 2, 64, 63})
	f.Fuzz(func(t *testing.T, seed uint64, width uint8, steps []byte) {
		rng := rand.New(rand.NewPCG(seed, 0))
		var w bitWriter
		var slow []byte // one bit each
		slowly := func(v uint64, n uint) {
			for i := range n {
				slow = append(slow, byte(v>>i&1))
			}
		}
		n := uint(width)%32 + 1
		for _, s := range steps {
			v := rng.Uint64()
			switch s % 3 {
			case 0:
				k := uint(s/3)%64 + 1
				v >>= 64 - k
				w.put(v, k)
				slowly(v, k)
			case 1:
				v &= 1<<n - 1
				w.repeat(v, n, int(s))
				for range s {
					slowly(v, n)
				}
			default:
				words := []uint64{v, rng.Uint64(), rng.Uint64(), rng.Uint64(), rng.Uint64()}
				w.pattern(words, int(s))
				for i := range uint(s) {
					slowly(words[i/64]>>(i%64)&1, 1)
				}
			}
		}
		got := w.flush()
		if len(got) != (len(slow)+7)/8 {
			t.Fatalf("%d bytes for %d bits", len(got), len(slow))
		}
		for i, b := range slow {
			if got[i/8]>>(i%8)&1 != b {
				t.Fatalf("bit %d differs", i)
			}
		}
	})
}

func FuzzTranspose(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 0))
		var m, slow [64]uint64
		for i := range m {
			m[i] = rng.Uint64()
		}
		for i := range m {
			for j := range m {
				slow[j] |= m[i] >> j & 1 << i
			}
		}
		if transpose(&m); m != slow {
			t.Errorf("got %x, want %x", m, slow)
		}
	})
}

// FuzzHybrid reads back what the encoder's three kinds of runs hold.
func FuzzHybrid(f *testing.F) {
	f.Add(uint64(1), uint8(5), []byte{0, 9, 130, 255})
	f.Fuzz(func(t *testing.T, seed uint64, width uint8, runs []byte) {
		rng := rand.New(rand.NewPCG(seed, 0))
		n := uint(width)%20 + 1
		b := []byte{byte(n)}
		var want []int32
		for _, r := range runs {
			count := int(r%64)*8 + 8
			if r%2 == 0 {
				v := rng.Uint64() & (1<<n - 1)
				b = appendRLERun(b, v, n, count)
				for range count {
					want = append(want, int32(v))
				}
				continue
			}
			b = appendPackedHeader(b, count)
			start := len(b)
			w := bitWriter{b: b}
			for range count {
				v := rng.Uint64() & (1<<n - 1)
				w.put(v, n)
				want = append(want, int32(v))
			}
			b = padPacked(w.flush(), start, count, n)
		}
		got, err := decodeCodes(nil, b, len(want), 1<<n)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("value %d is %d, want %d", i, got[i], want[i])
			}
		}
	})
}

// FuzzWordPacker unpacks what it packs, of values far and near, with bytes before
// the first value.
func FuzzWordPacker(f *testing.F) {
	f.Add(uint64(1), uint8(3), uint8(4), uint16(300))
	f.Add(uint64(2), uint8(0), uint8(1), uint16(40_000))
	f.Add(uint64(3), uint8(7), uint8(255), uint16(20_000))
	f.Fuzz(func(t *testing.T, seed uint64, head, distinct uint8, n uint16) {
		rng := rand.New(rand.NewPCG(seed, 0))
		values := make([]uint64, int(distinct)+1)
		for i := range values {
			values[i] = rng.Uint64()
		}
		raw := make([]byte, head%8)
		for range n {
			v := values[rng.IntN(len(values))]
			if rng.IntN(4) == 0 {
				v = rng.Uint64()
			}
			raw = binary.LittleEndian.AppendUint64(raw, v)
		}
		var p wordPacker
		p.append(nil, bytes.Repeat(raw, 2)) // leaves places of another block behind
		got, err := s2.Decode(nil, p.append(nil, raw))
		if err != nil || !bytes.Equal(got, raw) {
			t.Errorf("%d values after %d bytes: %v", n, head%8, err)
		}
	})
}

// FuzzPutAll packs values one by one and all at once.
func FuzzPutAll(f *testing.F) {
	f.Add(uint64(1), uint8(3), uint8(0), uint8(77), int64(-5))
	f.Fuzz(func(t *testing.T, seed uint64, width, before, count uint8, base int64) {
		rng := rand.New(rand.NewPCG(seed, 0))
		n := uint(width)%16 + 1
		values := make([]int64, count)
		for i := range values {
			values[i] = base + rng.Int64N(1<<n)
		}
		var all, single bitWriter
		for range before % 8 {
			all.put(1, 1)
			single.put(1, 1)
		}
		putAll(&all, values, base, n)
		for _, v := range values {
			single.put(uint64(v-base), n)
		}
		if got, want := all.flush(), single.flush(); !bytes.Equal(got, want) {
			t.Errorf("%x, want %x", got, want)
		}
	})
}
