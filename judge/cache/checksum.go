package cache

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum is a CRC-32C over all that a store keeps of an entry. SQLite notices
// damage to its own structure only, and a verdict with one letter changed may
// still be a verdict.
func (e *Entry) checksum() uint32 {
	b := make([]byte, 0, 512)
	b = append(b, e.Key[:]...)
	for _, s := range []string{
		e.Status, e.ModelRequested, e.ModelResolved, e.Provider, e.GenerationID, e.Template, e.Schema, e.FinishReason, e.Run,
	} {
		b = binary.AppendUvarint(b, uint64(len(s))) // so that no text runs into the next
		b = append(b, s...)
	}
	for _, n := range []int64{
		e.Created.UnixMilli(), e.PromptTokens, e.CompletionTokens, e.ReasoningTokens, e.CachedTokens, e.CostNanoUSD, e.LatencyMillis,
		int64(e.Attempts), int64(len(e.Verdict)),
	} {
		b = binary.AppendVarint(b, n)
	}
	sum := crc32.Checksum(b, castagnoli)
	return crc32.Update(crc32.Update(sum, castagnoli, e.Verdict), castagnoli, e.Raw)
}

// verify compares an entry with the checksum that it was stored with.
func (e *Entry) verify(sum uint32) error {
	if e.checksum() != sum {
		return fmt.Errorf("%w: entry %s is not what was stored", ErrCorrupt, e.Key)
	}
	return nil
}
