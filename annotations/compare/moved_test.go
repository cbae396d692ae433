package compare_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"ibid/annotations/compare"
	"ibid/dataset/runs"
)

// TestMoved: of two runs over the same answers, by the same judge, how many verdicts changed.
func TestMoved(t *testing.T) {
	judged := func(id, data, kind string, support ...float64) *compare.Run {
		var rows []row
		for k := range support {
			rows = append(rows, row{id: fmt.Sprintf("q%02d", k), system: "a", f1: new(0.5)})
		}
		r := write(t, id, rows, func(m *runs.Manifest) { m.Ingredients["dataset"], m.Judge.Kind = data, kind })
		var claims []runs.Claim
		for k, v := range support {
			claims = append(claims, runs.Claim{Key: runs.Key{ID: fmt.Sprintf("q%02d", k), System: "a", Row: int64(k)}, Support: &v})
		}
		claims[len(claims)-1].Support = nil // unscored
		if err := runs.Claims.Write(r.Dir, claims); err != nil {
			t.Fatal(err)
		}
		return r
	}
	base := judged("base", "d", "openai", 1, 1, 0.2, 0.3, 0.9, 1)
	for _, tt := range []struct {
		other *compare.Run
		want  *compare.Moved
		note  string
	}{
		{judged("moved", "d", "openai", 0.9, 0, 0.8, 0.75, 0.7, 1), &compare.Moved{Of: 5, ToYes: 2, ToNo: 1}, "the judge moved: 3 of 5 verdicts changed, 2 to yes, 1 to no"},
		{judged("same", "d", "openai", 0.8, 0.8, 0, 0, 1, 1), &compare.Moved{Of: 5}, ""},
		{judged("other answers", "e", "openai", 0, 0, 0, 0, 0, 0), nil, ""},
		{judged("other judge", "d", "lexical", 0, 0, 0, 0, 0, 0), nil, ""},
	} {
		r, err := compare.Runs(base, []*compare.Run{tt.other}, compare.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(r.Moved, tt.want) || slices.Contains(r.Notes, tt.note) != (tt.note != "") {
			t.Errorf("%s: %+v, %q, want %+v, %q", tt.other.Manifest.ID, r.Moved, r.Notes, tt.want, tt.note)
		}
	}
	none := write(t, "none", []row{{id: "q00", system: "a", f1: new(0.5)}}, func(m *runs.Manifest) { m.Ingredients["dataset"] = "d" })
	again := write(t, "again", []row{{id: "q00", system: "a", f1: new(0.5)}}, func(m *runs.Manifest) { m.Ingredients["dataset"] = "d" })
	if r, err := compare.Runs(none, []*compare.Run{again}, compare.Options{}); err != nil || r.Moved != nil {
		t.Errorf("without a judge: %+v, %v", r.Moved, err)
	}
}
