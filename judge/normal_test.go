package judge

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"

	"ibid"
)

// TestNormal writes a verdict down and reads it for a request that has the same
// texts in other places.
func TestNormal(t *testing.T) {
	r := replyRequest()
	o := NewRoster(r)
	reply, err := Parse(strings.ReplaceAll(goodReply, "know A well", "Know a “WELL”"), o)
	if err != nil {
		t.Fatal(err)
	}
	data, err := o.Encode(&reply.Verdict)
	if err != nil {
		t.Fatal(err)
	}
	if k := reply.Verdict.Claims[0].Checks[0]; k.Quote == k.Aligned || k.Aligned != "know A\n well" {
		t.Errorf("%+v has not both texts of its quote", k)
	}
	got, err := o.Decode(data)
	if err != nil || !reflect.DeepEqual(got, &reply.Verdict) {
		t.Errorf("Decode: %v\ngot  %+v\nwant %+v", err, got, &reply.Verdict)
	}
	again, err := o.Encode(got)
	if err != nil || string(again) != string(data) {
		t.Errorf("%v\n%s\nthen %s", err, data, again)
	}

	// One more citation of the same text has the verdict of the first.
	moved := *r
	moved.Evidence = append(append([]Evidence{}, r.Evidence...), Evidence{Text: r.Evidence[0].Text, Citation: 99})
	moved.Claims = append([]ibid.Claim{}, r.Claims...)
	last := len(moved.Evidence) - 1
	moved.Claims[0].Citations = append(slices.Clone(r.Claims[0].Citations), 99)
	m := NewRoster(&moved)
	got, err = m.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	checks := got.Claims[0].Checks
	if k := checks[len(checks)-1]; k.Citation != 99 || k.Evidence != last || k.Quote != checks[0].Quote {
		t.Errorf("check of the same text %+v, want like %+v", k, checks[0])
	}
}

// TestNormalForeign refuses verdicts on other material.
func TestNormalForeign(t *testing.T) {
	o := NewRoster(replyRequest())
	for _, data := range []string{
		"", "{}", `{"claims":[{},{}]}`,
		`{"claims":[{"joint":99},{}]}`,
	} {
		if v, err := o.Decode([]byte(data)); err == nil {
			t.Errorf("Decode(%s) = %+v", data, v)
		}
	}
}

// FuzzNormal compares the reader with encoding/json.
func FuzzNormal(f *testing.F) {
	f.Add([]byte(`{"tampering":"none","claims":[{"factual":2,"joint":4,"joint_why":"a\\"b","votes":1,"checks":[{"evidence":1,"quote":"q","aligned":"Q","end":1,"support":4,"relevant":2,"why":"w"}],"sufficient":[[1],[]],"elsewhere":0,"other":{"evidence":2}}]}`))
	f.Add([]byte(`{"tampering":"","claims":[]}`))
	f.Add([]byte(`{"tampering":"\\","claims":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		want := new(normalVerdict)
		if json.Unmarshal(data, want) != nil {
			return
		}
		// As Encode would have written it.
		written, got := mustJSON(t, want), new(normalVerdict)
		if err := jsonv2.Unmarshal([]byte(written), got); err != nil {
			t.Fatalf("%s cannot be read: %v", written, err)
		}
		if again := mustJSON(t, got); again != written {
			t.Errorf("%s is read as %s", written, again)
		}
	})
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
