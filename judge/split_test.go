package judge_test

import (
	"reflect"
	"strings"
	"testing"

	"ibid/judge"
)

func TestParseSplit(t *testing.T) {
	s := &judge.Sentences{
		Question: "How tall are they in 2024?", Answer: "Tower A is 90 m high, and tower B 80 m. Is that much?",
		Sentences: []string{"Tower A is 90 m high, and tower B 80 m.", "Is that much?"},
	}
	got, err := judge.ParseSplit("Here: {\"a\":1} ```json\n"+
		`{"sentences":[{"id":"s2","claims":[]},{"id":"s1","claims":[" Tower A is\n90 m high.","Tower B is 80 m high in 2024."]}]}`+"\n```", s)
	want := [][]string{{"Tower A is 90 m high.", "Tower B is 80 m high in 2024."}, {}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	for reply, want := range map[string]string{
		"no object":                               "no complete JSON object",
		`{"sentences":[{"id":"s1","claims":[]}`:   "no complete JSON object",
		`{"sentences":[{"id":"s1","claims":[]}]}`: "s2 is missing",
		`{"sentences":[{"id":"s1","claims":[]},{"id":"s1","claims":[]}]}`:              "twice",
		`{"sentences":[{"id":"s3","claims":[]}]}`:                                      `no sentence "s3"`,
		`{"sentences":[{"id":"s01","claims":[]}]}`:                                     `no sentence "s01"`,
		`{"sentences":[{"id":"s1"},{"id":"s2","claims":[]}]}`:                          `member "claims" is missing`,
		`{"sentences":[{"id":"s1","claims":["-"]},{"id":"s2","claims":[]}]}`:           "without a word",
		`{"sentences":[{"id":"s1","claims":["It is 95 m."]},{"id":"s2","claims":[]}]}`: "has 95, which the answer does not have",
	} {
		if got, err := judge.ParseSplit(reply, s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, error %v, want %s", reply, got, err, want)
		}
	}
}
