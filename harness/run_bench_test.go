package harness_test

import (
	"context"
	"os"
	"testing"

	"ibid/configs"
	"ibid/harness"
)

// BenchmarkRun evaluates the dataset that IBID_BENCH_DATASET names, whole: what a
// profile of the program is made with. benchmarks/peers -keep makes such datasets.
func BenchmarkRun(b *testing.B) {
	path := os.Getenv("IBID_BENCH_DATASET")
	if path == "" {
		b.Skip("IBID_BENCH_DATASET names no dataset")
	}
	b.ReportAllocs()
	rows := int64(0)
	for b.Loop() {
		config, err := configs.Load(configs.Options{Set: []string{"dataset=" + path, "judge=none", "out=" + b.TempDir()}})
		if err != nil {
			b.Fatal(err)
		}
		plan, err := (&harness.Job{Config: config, Source: path, Fresh: true}).Plan(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		if _, err := plan.Run(context.Background()); err != nil {
			b.Fatal(err)
		}
		rows += plan.Rows
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(rows), "ns/row")
}
