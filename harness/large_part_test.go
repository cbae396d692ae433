package harness_test

import (
	"testing"

	"ibid"
	"ibid/configs"
	"ibid/harness"
)

// Workers let go of what they used for a large part: the next part has the same results
// as with a worker that has seen none.
func TestLargeParts(t *testing.T) {
	rows := questions(3, "a")
	rows[1].Citations = nil
	for i := range int64(140_000) {
		rows[1].Citations = append(rows[1].Citations, ibid.Citation{Doc: "doc", Start: ibid.Some(i), End: ibid.Some(i + 3)})
	}
	path := writeRows(t, rows)
	var want map[string]string
	for _, workers := range []int{1, 3} {
		config, err := configs.Load(configs.Options{Set: []string{
			"dataset=" + path, "judge=none", "out=" + t.TempDir(), "rows_per_part=1",
		}})
		if err != nil {
			t.Fatal(err)
		}
		plan, err := (&harness.Job{Config: config, Source: path, ID: "run", Workers: workers}).Plan(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		o, err := plan.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := results(t, o.Dir)
		if want == nil {
			want = got
		}
		for name, data := range got {
			if data != want[name] {
				t.Errorf("%d workers: %s differs", workers, name)
			}
		}
	}
}
