// Package alloctest tests that reading takes memory in proportion to what is read.
package alloctest

import (
	"runtime"
	"testing"
)

// Check runs f, which reads so many bytes of input, and fails t if f allocates more than
// perByte bytes for each of them and budget beside. All that is allocated counts, also
// what is free again. What else the process does meanwhile counts, too.
func Check(t testing.TB, input int, perByte, budget int64, f func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	if took, most := int64(after.TotalAlloc-before.TotalAlloc), perByte*int64(input)+budget; took > most {
		t.Errorf("%d bytes allocated for %d of input, more than %d for each and %d", took, input, perByte, budget)
	}
}
