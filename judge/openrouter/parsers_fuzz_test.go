package openrouter

import (
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"testing"

	"ibid"
)

// FuzzEnvelope reads any bytes as the response of a chat model: what is JSON is read,
// whatever its members are, and what was read of it is read again from what it says.
func FuzzEnvelope(f *testing.F) {
	f.Add([]byte(`{"id":"gen-1","model":"m/m","choices":[{"finish_reason":"stop","message":{"content":"yes"}}],"usage":{"prompt_tokens":10.0,"completion_tokens":"7","cost":0.001}}`))
	f.Add([]byte(`{"choices":[{"message":{"content":[{"type":"text","text":"a"},{"text":"b"}]}}],"usage":{"cost":-1,"is_byok":true,"cost_details":{"upstream_inference_cost":"1e308"}}}`))
	f.Add([]byte(`{"error":{"code":"429","message":["x"],"metadata":{"retry_after_seconds":1e400}}}`))
	f.Add([]byte(` [1] `))
	f.Fuzz(func(t *testing.T, data []byte) {
		var e envelope
		var err error
		checkAllocated(t, len(data), 400, 1<<20, func() { err = e.read(data) })
		if (err == nil) != json.Valid(data) {
			t.Fatalf("%q: %v, valid is %t", data, err, json.Valid(data))
		}
		if err != nil {
			return
		}
		if failure := (&exchange{envelope: e}).failure(); failure != nil {
			if failure.text() == "" || failure.status() < 400 || failure.status() > 599 {
				t.Errorf("%q: an error %q with status %d", data, failure.text(), failure.status())
			}
			return
		}
		nano, told := e.Usage.cost()
		if nano < 0 || nano > 0 && !told {
			t.Errorf("%q cost %d, told is %t", data, nano, told)
		}
		text, ok := e.Choices[0].Message.content()
		said, err := json.Marshal(map[string]any{
			"id": string(e.ID), "model": string(e.Model),
			"choices": []any{map[string]any{"message": map[string]any{"content": text}}},
			"usage":   map[string]any{"prompt_tokens": int64(e.Usage.Prompt), "completion_tokens": int64(e.Usage.Completion)},
		})
		if err != nil {
			t.Fatal(err)
		}
		var again envelope
		if err := again.read(said); err != nil {
			t.Fatalf("%s: %v", said, err)
		}
		textAgain, okAgain := again.Choices[0].Message.content()
		if again.ID != e.ID || again.Model != e.Model || textAgain != text || okAgain != ok ||
			again.Usage.Prompt != e.Usage.Prompt || again.Usage.Completion != e.Usage.Completion {
			t.Errorf("%q was read as %+v, which is read as %+v", data, e, again)
		}
	})
}

// FuzzScores reads any bytes as the response of a classifier. What is accepted is a
// probability.
func FuzzScores(f *testing.F) {
	f.Add([]byte(`[[{"score":0.9,"label":"entailment"},{"score":0.1,"label":"neutral"}]]`))
	f.Add([]byte(`[{"score":0.9,"label":"entailment"},{"score":0.1,"label":"contradiction"},{"score":0,"label":"x"}]`))
	v, err := newVerifier(Classify, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var out rating
		var err error
		checkAllocated(t, len(data), 1000, 1<<20, func() { out, err = v.ofBody(data) })
		if err == nil && !(out.Support >= 0 && out.Support <= 1) || out.Contradicts != nil && !(*out.Contradicts >= 0 && *out.Contradicts <= 1) {
			t.Errorf("%q became %+v", data, out)
		}
	})
}

// FuzzVerifier reads any object as the file of a verifier. One that is accepted reads the
// same again from what it says.
func FuzzVerifier(f *testing.F) {
	f.Add([]byte(`{"message":"{document} {claim}","yes":["PASS",1]}`))
	f.Add([]byte(`{"positive":1,"inverted":true}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var file map[string]any
		if json.Unmarshal(data, &file) != nil || len(file) == 0 {
			return
		}
		for _, protocol := range []string{YesNo, Classify} {
			v, err := newVerifier(protocol, file)
			if err != nil {
				if refused, ok := errors.AsType[*ibid.Error](err); !ok || refused.Hint == "" {
					t.Errorf("%s: %v", data, err)
				}
				continue
			}
			said, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			var same map[string]any
			if err := json.Unmarshal(said, &same); err != nil {
				t.Fatal(err)
			}
			if again, err := newVerifier(protocol, same); err != nil || again.version() != v.version() {
				t.Errorf("%s says %s, which is read as %+v, %v", data, said, again, err)
			}
		}
	})
}

// FuzzBatch reads any bytes as a batch with its results: what is accepted is JSON, and each
// of its results is listed, as encoding/json counts them.
func FuzzBatch(f *testing.F) {
	f.Add([]byte(`{"id":"b","status":"completed","results":[{"custom_id":"00"},3,{"response":{"body":{}}}],"request_counts":{"completed":2}}`))
	f.Add([]byte(`{"results":null}`))
	f.Add([]byte(`{"results":{"a":[1]}}`))
	service := &batchService{judge: &Judge{config: Config{Kind: KindOpenRouter}}}
	f.Fuzz(func(t *testing.T, data []byte) {
		var o batchObject
		var handed []batchResult
		var bad error
		checkAllocated(t, len(data), 400, 1<<20, func() {
			if lenient(json.Unmarshal(data, &o)) == nil {
				handed, _, bad = service.results(t.Context(), &o, 1)
			}
		})
		var object map[string]json.RawMessage
		if json.Unmarshal(data, &object) != nil || object == nil || strings.Count(string(data), `"results"`) != 1 || strings.Contains(string(data), `\`) {
			return // names may be said twice
		}
		var want []json.RawMessage
		if raw := object["results"]; json.Unmarshal(raw, &want) != nil {
			if bad == nil {
				t.Errorf("%q is accepted, with results that are no list", data)
			}
			return
		}
		if bad != nil || len(handed) > len(want) {
			t.Errorf("%q has %d results, handed on %d: %v", data, len(want), len(handed), bad)
		}
	})
}

// checkAllocated runs f, which reads input bytes, and fails t if f allocates more than perByte
// bytes for each of them and budget bytes beside. Memory that is free again counts, too.
func checkAllocated(t testing.TB, input int, perByte, budget int64, f func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	if took, most := int64(after.TotalAlloc-before.TotalAlloc), perByte*int64(input)+budget; took > most {
		t.Errorf("%d bytes allocated for %d of input, more than %d for each and %d", took, input, perByte, budget)
	}
}
