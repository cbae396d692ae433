package judgetest

import (
	"fmt"
	"net/http"
	"time"
)

// stream sends an answer as events: comments first, as OpenRouter does while it
// waits, then the text in pieces, then what it took.
func (t *turn) stream(e *envelope) {
	text := *e.Choices[0].Message.Content
	t.w.Header().Set("Content-Type", "text/event-stream")
	t.w.Header().Set("X-Generation-Id", e.ID)
	t.x.Status, t.x.End = http.StatusOK, time.Now()
	fmt.Fprint(t.w, ": OPENROUTER PROCESSING\n\n")
	t.flush()
	cut := len(text)
	if t.x.Fault == StreamError || t.x.Fault == StreamCut {
		cut /= 2
		t.x.Whole = false
	}
	const piece = 256
	for at := 0; at < cut; at += piece {
		t.event(map[string]any{"id": e.ID, "model": e.Model, "provider": e.Provider, "choices": []any{
			map[string]any{"index": 0, "delta": map[string]any{"role": "assistant", "content": text[at:min(at+piece, cut)]}, "finish_reason": nil},
		}})
	}
	switch t.x.Fault {
	case StreamCut:
		return
	case StreamError:
		t.event(map[string]any{"id": e.ID, "model": e.Model, "error": apiError{Code: 502, Message: "Provider disconnected"}, "choices": []any{
			map[string]any{"index": 0, "delta": map[string]any{"content": ""}, "finish_reason": "error"},
		}})
		return
	}
	t.event(map[string]any{"id": e.ID, "model": e.Model, "provider": e.Provider, "usage": e.Usage, "choices": []any{
		map[string]any{"index": 0, "delta": map[string]any{"content": ""}, "finish_reason": e.Choices[0].FinishReason},
	}})
	fmt.Fprint(t.w, "data: [DONE]\n\n")
}

func (t *turn) event(v any) {
	fmt.Fprintf(t.w, "data: %s\n\n", mustMarshal(v))
	t.flush()
}

func (t *turn) flush() {
	if f, ok := t.w.(http.Flusher); ok {
		f.Flush()
	}
}
