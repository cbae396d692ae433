package cache_test

import (
	"path/filepath"
	"testing"
	"time"

	"ibid/judge/cache"
)

// TestBatches follows a batch from its intent to its end: lines settle once, whoever
// reads the results how often; what was not heard of has expired; lines whose
// questions are answered are tidied away.
func TestBatches(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "judge.sqlite"))
	ctx, now := t.Context(), time.UnixMilli(1_700_000_000_000).UTC()
	b := &cache.Batch{Token: cache.Key{1}, Endpoint: "e", Model: "m", Questions: 3, State: cache.BatchIntent, Created: now, ReservedNanoUSD: 50, Run: "r"}
	keys := []cache.Key{{10}, {11}, {12}}
	var lines []cache.BatchLine
	for _, k := range keys {
		lines = append(lines, cache.BatchLine{Key: k, MaxTokens: 600, Form: 5})
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	line := func(k cache.Key) (cache.BatchLine, int) {
		t.Helper()
		l, expired, err := s.Line(ctx, k)
		must(err)
		if l == nil {
			return cache.BatchLine{}, expired
		}
		return *l, expired
	}
	must(s.AddBatch(ctx, b, lines))
	must(s.OpenBatch(ctx, b.ID, "batch_1"))
	if l, _ := line(keys[0]); l.State != cache.LineSent || l.BatchState != cache.BatchOpen || l.MaxTokens != 600 || l.Form != 5 {
		t.Errorf("line %+v", l)
	}
	all, err := s.Batches(ctx, "e")
	must(err)
	if len(all) != 1 || all[0].ServiceID != "batch_1" || all[0].Token != b.Token || !all[0].Created.Equal(now) || all[0].ReservedNanoUSD != 50 {
		t.Fatalf("batches %+v", all)
	}
	for range 2 { // a crash, and again
		_, err := s.SettleLines(ctx, &all[0], []cache.BatchLine{
			{Key: keys[0], State: cache.LineAnswered, Raw: []byte("{}"), CostNanoUSD: 7},
			{Key: keys[1], State: cache.LineRefused, Error: "status 400"},
		}, now)
		must(err)
	}
	if spent, err := s.Spent(ctx, "r", now); spent != 7 || err != nil {
		t.Errorf("spent %d, %v", spent, err)
	}
	answered, err := s.EndBatch(ctx, b.ID)
	if answered != 1 || err != nil {
		t.Errorf("%d answered, %v", answered, err)
	}
	if l, expired := line(keys[2]); l.State != cache.LineExpired || l.BatchState != cache.BatchDone || expired != 1 {
		t.Errorf("line %+v, %d expired", l, expired)
	}
	must(s.Put(ctx, &cache.Entry{Key: keys[0], Status: cache.StatusOK, Verdict: []byte("{}"), Created: now}))
	must(s.TidyBatches(ctx))
	if l, _ := line(keys[0]); l.State != "" {
		t.Errorf("%+v is left although its question is answered", l)
	}
	if l, _ := line(keys[1]); l.State != cache.LineRefused {
		t.Errorf("line %+v", l)
	}
	if _, err := s.Prune(ctx, now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if l, _ := line(keys[1]); l.State != "" {
		t.Errorf("%+v is left of a pruned batch", l)
	}
}

// TestOpenBatchIsKept: what the service still has is paid for, so that pruning all
// does not forget it; what was dropped is free again.
func TestOpenBatchIsKept(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "judge.sqlite"))
	b := &cache.Batch{Token: cache.Key{1}, Endpoint: "e", State: cache.BatchOpen, Created: time.UnixMilli(1)}
	if err := s.AddBatch(t.Context(), b, []cache.BatchLine{{Key: cache.Key{9}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Prune(t.Context(), cache.Always); err != nil {
		t.Fatal(err)
	}
	if l, _, err := s.Line(t.Context(), cache.Key{9}); l == nil || err != nil {
		t.Errorf("line %v, %v", l, err)
	}
	if err := s.DropBatch(t.Context(), b.ID); err != nil {
		t.Fatal(err)
	}
	if l, _, err := s.Line(t.Context(), cache.Key{9}); l != nil || err != nil {
		t.Errorf("line %v, %v", l, err)
	}
}
