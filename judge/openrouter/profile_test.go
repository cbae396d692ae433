package openrouter

import (
	"errors"
	"testing"
)

// TestAdapt: what services say when they do not take a part of a request, and what
// becomes of the request.
func TestAdapt(t *testing.T) {
	tests := []struct {
		name   string
		status int
		words  string
		sent   shape
		budget int64
		want   shape
		most   int64
		ok     bool
	}{
		{name: "OpenAI, limit", status: 400, words: "max_tokens unsupported parameter: 'max_tokens' is not supported with this model. use 'max_completion_tokens' instead.", want: shape{completion: true}, ok: true},
		{name: "OpenAI, temperature", status: 400, words: "temperature unsupported value: 'temperature' does not support 0 with this model. only the default (1) value is supported.", want: shape{dropped: 1}, ok: true},
		{name: "OpenAI, room", status: 400, words: "max_tokens is too large: 41984. this model supports at most 16384 completion tokens, whereas you provided 41984.", budget: 41984, most: 16384, ok: true},
		{name: "FastAPI, the whole request", status: 422, words: `[{"loc":["body","response_format","type"],"msg":"unexpected value","input":{"temperature":0,"seed":1}}]`, want: shape{rung: rungObject}, ok: true},
		{name: "llama.cpp, grammar", status: 400, words: "failed to parse grammar", want: shape{rung: rungObject}, ok: true},
		{name: "last rung", status: 400, words: "schema", sent: shape{rung: rungText}, want: shape{rung: rungText}},
		{name: "effort", status: 400, words: "unrecognized request argument supplied: reasoning_effort", sent: shape{lowEffort: true}, want: shape{dropped: 1 << 2}, ok: true},
		{name: "effort that was not sent", status: 400, words: "reasoning is on", want: shape{}},
		{name: "another matter", status: 400, words: "messages: too many", want: shape{}},
		{name: "another status", status: 500, words: "schema", want: shape{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := &profile{note: func(string) {}, learnt: func(string, string, float64) {}, now: tt.sent}
			f := &failure{status: tt.status, words: tt.words, err: errors.New("refused")}
			if ok := p.adapt(tt.sent, tt.budget, f); ok != tt.ok || p.now != tt.want || p.most != tt.most {
				t.Errorf("%t, %+v, most %d; want %t, %+v, %d", ok, p.now, p.most, tt.ok, tt.want, tt.most)
			}
			// Another call that was sent before changes nothing more.
			before := p.now
			if p.adapt(tt.sent, tt.budget, f); p.now != before {
				t.Errorf("taken twice: %+v", p.now)
			}
		})
	}
}

// TestNoJSON steps down after two replies in a row that are no JSON, and not for
// replies to requests that were sent on the rung before.
func TestNoJSON(t *testing.T) {
	notes := 0
	p := &profile{note: func(string) { notes++ }, learnt: func(string, string, float64) {}}
	for _, step := range []struct {
		sent rung
		json bool
		want rung
	}{
		{rungSchema, false, rungSchema},
		{rungSchema, false, rungObject},
		{rungSchema, true, rungObject}, // of an earlier rung: says nothing
		{rungSchema, false, rungObject},
		{rungObject, false, rungObject},
		{rungObject, false, rungText},
		{rungText, false, rungText},
		{rungText, false, rungText},
	} {
		if p.replied(shape{rung: step.sent}, step.json); p.now.rung != step.want {
			t.Fatalf("%v, want %v", p.now.rung, step.want)
		}
	}
	if notes != 2 {
		t.Errorf("%d notes", notes)
	}
	p = &profile{learnt: func(string, string, float64) {}, note: func(string) { t.Error("a rung that brings JSON is left") }}
	p.replied(shape{}, false)
	p.replied(shape{}, true)
	for range 100 {
		p.replied(shape{}, false)
	}
}

// TestWindow: what a model reads is the least that was met, and the most that it has answered.
func TestWindow(t *testing.T) {
	kept := make(map[string]float64)
	p := &profile{note: func(string) {}, learnt: func(_, name string, value float64) { kept[name] = value }}
	read := func(prompt, completion amount) *usage { return &usage{Prompt: prompt, Completion: completion} }
	p.reads(4096)
	p.reads(6000)
	if p.window != 4096 || kept[learntWindow] != 4096 || !p.long(9000, 1000) || p.long(3000, 1000) {
		t.Errorf("window %d, kept %v", p.window, kept)
	}
	// A question that nobody could cut was answered all the same.
	if err := p.check(15_000, "ABCD", "ABCD", read(5000, 300)); err != nil || p.window != 5300 || kept[learntWindow] != 5300 {
		t.Errorf("window %d, kept %v, %v", p.window, kept, err)
	}
	p.reads(5000)
	if p.window != 5300 {
		t.Errorf("window %d is less than what was answered", p.window)
	}
	// A wrong word: of a shorter prompt it is the model's mistake, of a longer one the server's.
	if err := p.check(14_000, "", "ABCD", read(4900, 300)); err != nil {
		t.Error(err)
	}
	if err := p.check(40_000, "", "ABCD", read(5200, 90)); err == nil {
		t.Error("a prompt that was cut off is read")
	}
	// So is a prompt that counts as too few tokens, but for a count that nobody believes.
	if err := p.tokens(40_000, read(4000, 0)); err == nil {
		t.Error("a prompt that was cut off is counted")
	}
	if err := p.tokens(40_000, read(10, 0)); err != nil {
		t.Error(err)
	}
	if err := p.tokens(8000, read(2000, 0)); err != nil || kept[learntBytes] != 4 {
		t.Errorf("%v, kept %v", err, kept)
	}
}
