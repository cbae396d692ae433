package judge

import (
	"reflect"
	"testing"
)

// TestNormal writes a verdict down and reads it for a request that has the same
// texts in other places.
func TestNormal(t *testing.T) {
	r := replyRequest()
	o := NewRoster(r)
	reply, err := Parse(goodReply, o)
	if err != nil {
		t.Fatal(err)
	}
	data, err := o.Encode(&reply.Verdict)
	if err != nil {
		t.Fatal(err)
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
	moved.Claims = append([]Claim{}, r.Claims...)
	last := len(moved.Evidence) - 1
	moved.Claims[0].Evidence = append(append([]int{}, r.Claims[0].Evidence...), last)
	m := NewRoster(&moved)
	if m.Key() != o.Key() {
		t.Fatal("the key has changed")
	}
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
