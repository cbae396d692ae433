package convert

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// divided returns the records of a JSON text and why it could not be divided to
// its end.
func divided(t *testing.T, data []byte) (all []string, reason string) {
	t.Helper()
	last := 0
	_ = jsonRecords(data, func(start, end int, why string) error {
		if start < last || end < start || end > len(data) || reason != "" || start == end && why == "" {
			t.Fatalf("%q: record at %d-%d after %d, %q after %q", data, start, end, last, why, reason)
		}
		if reason = why; why == "" {
			all, last = append(all, string(data[start:end])), end
		}
		return nil
	})
	return all, reason
}

func TestJSONRecords(t *testing.T) {
	tests := []struct {
		name, data string
		want       []string
		reason     string
	}{
		{"nothing", " ", nil, ""},
		{"one", ` {"a":[1]} `, []string{`{"a":[1]}`}, ""},
		{"several", `{"a":1}{"b":2} 3`, []string{`{"a":1}`, `{"b":2}`, `3`}, ""},
		{"list", `[{"a":"]"} , "x,\\\"]", [[]],null]`, []string{`{"a":"]"}`, `"x,\\\"]"`, `[[]]`, `null`}, ""},
		{"empty list", ` [ ] `, nil, ""},
		{"bad record", `[{"a":tru]},2]`, []string{`{"a":tru]`}, "want ',' or ']' after a record"},
		{"list not ended", `[1`, []string{`1`}, "truncated: the list of records does not end"},
		{"comma at the end", `[1,]`, []string{`1`}, "want a record"},
		{"after the list", `[1] 2`, []string{`1`}, "something follows the list of records"},
		{"string not ended", `["a\"`, []string{`"a\"`}, "truncated: the list of records does not end"},
		{"stray bracket", `}`, nil, "want a record"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, reason := divided(t, []byte(tt.data))
			if diff := cmp.Diff(tt.want, got); diff != "" || reason != tt.reason {
				t.Errorf("reason %q, want %q; records (-want +got):\n%s", reason, tt.reason, diff)
			}
		})
	}
}

// FuzzJSONRecords compares with encoding/json on every list that is valid.
func FuzzJSONRecords(f *testing.F) {
	f.Add([]byte(`[{"a":"]\\\""}, [1,[2]] ,"x",-1e5,null]`))
	f.Add([]byte(`[{"a":1}`))
	f.Add([]byte(`{"a":{}} 1`))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, reason := divided(t, data)
		var values []json.RawMessage
		if err := json.Unmarshal(data, &values); err != nil || values == nil {
			return
		}
		var want []string
		for _, v := range values {
			want = append(want, string(v))
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || reason != "" {
			t.Errorf("%q: reason %q; records (-want +got):\n%s", data, reason, diff)
		}
	})
}
