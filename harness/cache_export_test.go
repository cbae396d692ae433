package harness_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"ibid/dataset/disk"
	"ibid/dataset/parquet"
	"ibid/harness"
	"ibid/judge/cache"
	"ibid/judge/cache/cachetest"
)

// TestExport reads back what was exported, from more than one row group.
func TestExport(t *testing.T) {
	dir := t.TempDir()
	store := cacheOf(t, filepath.Join(dir, "judge.sqlite"), 5000)
	path := filepath.Join(dir, "answers.parquet")
	if n, err := harness.ExportEntries(t.Context(), path, store); n != 5000 || err != nil {
		t.Fatalf("ExportEntries = %d, %v, want 5000", n, err)
	}
	f, err := parquet.OpenResult(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Rows() != 5000 || f.RowGroups() != 2 {
		t.Errorf("%d rows in %d groups, want 5000 in 2", f.Rows(), f.RowGroups())
	}
	n := int64(0)
	for e, err := range store.Entries(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 || n == 4999 {
			wantRow(t, f, n, map[string]any{
				"key": e.Key.String(), "created": e.Created.Format(time.RFC3339Nano), "status": e.Status,
				"model_requested": e.ModelRequested, "model_resolved": e.ModelResolved, "provider": e.Provider,
				"generation_id": e.GenerationID, "template": e.Template, "schema": e.Schema, "finish_reason": e.FinishReason,
				"prompt_tokens": e.PromptTokens, "completion_tokens": e.CompletionTokens, "reasoning_tokens": e.ReasoningTokens,
				"cached_tokens": e.CachedTokens, "cost_usd": float64(e.CostNanoUSD) / 1e9, "latency_ms": e.LatencyMillis,
				"attempts": int64(e.Attempts), "run": e.Run, "verdict": string(e.Verdict), "raw": string(e.Raw),
			})
		}
		n++
	}

	// Nothing is left beside the file, which replaces the one before.
	if n, err := harness.ExportAttempts(t.Context(), path, store); n != 1 || err != nil {
		t.Fatalf("ExportAttempts = %d, %v, want 1", n, err)
	}
	g, err := parquet.OpenResult(path)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	wantRow(t, g, 0, map[string]any{
		"key": cachetest.Key(7).String(), "at": "2026-03-04T05:06:07.089Z", "n": int64(2), "http_status": int64(502), "class": "transient",
		"ms": int64(31), "cost_usd": 0.0025, "generation_id": "gen-7", "error": "bad gateway", "run": "run-1",
	})
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestExportStops(t *testing.T) {
	dir := t.TempDir()
	store := cacheOf(t, filepath.Join(dir, "judge.sqlite"), 3)
	path := filepath.Join(dir, "answers.parquet")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := harness.ExportEntries(ctx, path, store); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want %v", err, context.Canceled)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("half an export is there: %v", err)
	}
}

// cacheOf makes a cache of n answers and one call.
func cacheOf(t *testing.T, path string, n int) *cache.SQLite {
	t.Helper()
	store, err := cache.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	var all sync.WaitGroup
	for g := range 64 {
		all.Go(func() {
			for i := g; i < n; i += 64 {
				if err := store.Put(t.Context(), cachetest.Entry(i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	err = store.Record(t.Context(), cache.Attempt{
		Key: cachetest.Key(7), N: 2, HTTPStatus: 502, Class: "transient", Millis: 31, CostNanoUSD: 2_500_000, GenerationID: "gen-7",
		Error: "bad gateway", At: time.Date(2026, 3, 4, 5, 6, 7, 89e6, time.UTC), Run: "run-1",
	})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// wantRow wants exactly the given values, each in its column.
func wantRow(t *testing.T, f *parquet.ResultFile, n int64, want map[string]any) {
	t.Helper()
	cells, err := f.ReadRow(n)
	if err != nil {
		t.Fatal(err)
	}
	if len(cells) != len(want) {
		t.Errorf("%d columns, want %d", len(cells), len(want))
	}
	for i, field := range f.Fields() {
		var got any = cells[i].Text
		switch field.Kind {
		case parquet.Int64:
			got = cells[i].Int
		case parquet.Double:
			got = cells[i].Double
		}
		if cells[i].Null || fmt.Sprint(got) != fmt.Sprint(want[field.Name]) {
			t.Errorf("row %d, %s = %v (null %t), want %v", n, field.Name, got, cells[i].Null, want[field.Name])
		}
	}
}

// What a killed export has left is removed by the next one into the same folder, unless
// a process is at work in it.
func TestExportRemovesLeftovers(t *testing.T) {
	dir := t.TempDir()
	store := cacheOf(t, filepath.Join(dir, "judge.sqlite"), 3)
	left, busy := filepath.Join(dir, ".ibid-export-1.tmp"), filepath.Join(dir, ".ibid-export-2.tmp")
	for _, folder := range []string{left, busy} {
		if err := os.MkdirAll(folder, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "00000000.parquet"), []byte("half"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	lock, err := disk.Open(filepath.Join(busy, "lock"), os.O_WRONLY|os.O_CREATE)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := disk.TryLock(lock); err != nil {
		t.Fatal(err)
	}
	if _, err := harness.ExportEntries(t.Context(), filepath.Join(dir, "answers.parquet"), store); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there: %v", left, err)
	}
	if _, err := os.Stat(busy); err != nil {
		t.Errorf("the folder of another process is gone: %v", err)
	}
	all, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil || len(all) != 1 {
		t.Errorf("hidden files: %v, %v, want the other process's alone", all, err)
	}
}
