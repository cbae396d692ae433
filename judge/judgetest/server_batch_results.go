package judgetest

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// getBatch describes a batch, after it has moved on by one status.
func (s *Server) getBatch(w http.ResponseWriter, r *http.Request) {
	s.turns.Add(1)
	defer s.turns.Done()
	b := s.batchOf(r.PathValue("id"))
	if b == nil {
		writeError(w, 404, apiError{Code: 404, Message: "No batch found with id '" + r.PathValue("id") + "'."})
		return
	}
	s.mu.Lock()
	b.Looks++
	if !s.held {
		s.advance(b)
	}
	whole := s.config.Batches.Form != OpenAIBatches && b.ended()
	if whole {
		b.Fetched++
	}
	s.mu.Unlock()
	writeJSON(w, http.StatusOK, s.describe(b, whole))
}

func (s *Server) batchOf(id string) *serverBatch {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.batches {
		if b.ID == id {
			return b
		}
	}
	return nil
}

func (b *serverBatch) ended() bool {
	return slices.Contains([]string{"completed", "expired", "failed", "cancelled"}, b.Status)
}

// advance moves a batch to its next status. The caller holds the lock.
func (s *Server) advance(b *serverBatch) {
	switch b.Status {
	case "validating":
		b.Status = "in_progress"
		if s.config.Batches.Invalid != "" {
			b.Status = "failed"
		}
	case "in_progress":
		b.Status = "finalizing"
	case "finalizing":
		b.Status = "completed"
		for i := len(b.lines) - 1; i >= 0; i-- { // in no order that anybody should rely on
			s.answerLine(b, &b.lines[i])
		}
		if b.Expired > 0 {
			b.Status = "expired"
		}
	}
}

// answerLine answers one line, or says why not. The caller holds the lock.
func (s *Server) answerLine(b *serverBatch, l *batchLine) {
	c := s.config.Batches
	t := &turn{server: s, x: &Exchange{Start: b.created, End: time.Now(), Body: sha256.Sum256(l.Body), Batch: b.ID, Status: http.StatusOK}}
	_ = json.Unmarshal(l.Body, &t.request) // it could be when it came
	t.model = s.models[b.Model]
	t.x.ask(&t.request)
	seen := sha256.Sum256(append([]byte("batch"), l.Body...))
	t.x.Attempt = s.attempts[seen]
	s.attempts[seen]++
	t.random = s.batchRandom(t.x)
	result := func(response, err any) []byte {
		return append(mustMarshal(object{"id": "line-" + l.CustomID[:8], "custom_id": l.CustomID, "response": response, "error": err}), '\n')
	}
	respond := func(status int, body any) []byte {
		return result(object{"status_code": status, "request_id": "req-" + l.CustomID[:8], "body": body}, nil)
	}
	share := t.random.Float64()
	switch {
	case share < c.ExpiredShare:
		b.Expired++
		b.failures = append(b.failures, result(nil, object{"code": "batch_expired", "message": "This request could not be executed before the completion window expired."}))
		return
	case share < c.ExpiredShare+c.FailedShare:
		b.failures = append(b.failures, respond(503, object{"error": apiError{Code: 503, Message: "Provider returned error"}}))
		return
	}
	if status, e := s.refuse(&t.request); status != 0 {
		b.failures = append(b.failures, respond(status, object{"error": e}))
		return
	}
	var e *envelope
	if share < c.ExpiredShare+c.FailedShare+c.BadShare {
		t.x.Fault = c.BadReplies[t.random.IntN(len(c.BadReplies))]
		e = t.useless(t.x.Fault)
	} else {
		e = t.envelopeOf(t.reply())
	}
	t.x.NanoUSD /= 2
	e.Usage.Cost, e.Usage.Costs = nil, costDetails{} // told for the batch
	t.x.Paid, t.x.Whole = true, e.Choices[0].FinishReason == "stop" && t.x.Fault == ""
	s.spent += t.x.NanoUSD
	b.NanoUSD += t.x.NanoUSD
	b.prompts += e.Usage.Prompt
	b.completed += e.Usage.Completion
	b.Answered++
	s.log = append(s.log, *t.x)
	b.results = append(b.results, respond(http.StatusOK, e))
}

// batchRandom depends on the body and on how often it came in batches.
func (s *Server) batchRandom(x *Exchange) *rand.Rand {
	b := binary.BigEndian.AppendUint64(append([]byte("batch"), x.Body[:]...), s.config.Seed)
	h := sha256.Sum256(binary.BigEndian.AppendUint64(b, uint64(x.Attempt)))
	return rand.New(rand.NewPCG(binary.BigEndian.Uint64(h[:]), binary.BigEndian.Uint64(h[8:])))
}

// describe is a batch as its form writes it.
func (s *Server) describe(b *serverBatch, results bool) object {
	s.mu.Lock()
	defer s.mu.Unlock()
	counts := object{"total": b.Lines, "completed": 0, "failed": 0}
	if b.Status == "validating" {
		counts["total"] = 0 // nobody has counted them yet
	}
	if b.ended() {
		counts["completed"], counts["failed"] = len(b.results), b.Lines-len(b.results)
	} else if b.Status == "finalizing" {
		counts["completed"] = b.Lines / 2
	}
	o := object{
		"id": b.ID, "object": "batch", "endpoint": "/v1/chat/completions", "completion_window": "24h", "status": b.Status,
		"created_at": b.created.Unix(), "request_counts": counts,
	}
	if s.config.Batches.Form == OpenAIBatches {
		o["input_file_id"], o["metadata"], o["errors"], o["output_file_id"], o["error_file_id"] = b.input, b.metadata, nil, nil, nil
		if b.Status == "failed" {
			o["errors"] = object{"object": "list", "data": []object{{"code": "invalid", "message": s.config.Batches.Invalid, "line": 1}}}
		}
		if b.ended() && len(b.results) > 0 {
			o["output_file_id"] = "out-" + b.ID
		}
		if b.ended() && len(b.failures) > 0 {
			o["error_file_id"] = "err-" + b.ID
		}
		return o
	}
	o["model"], o["results"], o["usage"], o["error"] = b.Model, nil, nil, nil
	if b.Status == "failed" {
		o["error"] = object{"message": s.config.Batches.Invalid}
	} else if b.ended() {
		o["usage"] = object{"prompt_tokens": b.prompts, "completion_tokens": b.completed, "cost": usd(b.NanoUSD), "is_byok": false}
	}
	if results {
		list := []json.RawMessage{}
		for _, line := range slices.Concat(b.results, b.failures) {
			list = append(list, json.RawMessage(line))
		}
		o["results"] = list
	}
	return o
}

// listBatches lists them, newest first.
func (s *Server) listBatches(w http.ResponseWriter, r *http.Request) {
	limit, err := strconv.Atoi(cmp.Or(r.URL.Query().Get("limit"), "20"))
	if err != nil || limit < 1 || limit > 100 {
		refused(w, "limit: must be between 1 and 100")
		return
	}
	s.mu.Lock()
	all := slices.Clone(s.batches)
	for _, b := range all {
		if !s.held {
			s.advance(b)
		}
	}
	s.mu.Unlock()
	slices.Reverse(all)
	if after := r.URL.Query().Get("after"); after != "" {
		at := slices.IndexFunc(all, func(b *serverBatch) bool { return b.ID == after })
		all = all[at+1:]
	}
	limit = min(limit, cmp.Or(s.config.Batches.MaxPage, 100))
	page := []object{}
	for _, b := range all[:min(limit, len(all))] {
		page = append(page, s.describe(b, false))
	}
	out := object{"object": "list", "data": page, "has_more": len(all) > limit, "first_id": nil, "last_id": nil}
	if len(page) > 0 {
		out["first_id"], out["last_id"] = page[0]["id"], page[len(page)-1]["id"]
	}
	writeJSON(w, http.StatusOK, out)
}

// uploadFile keeps a file for a batch.
func (s *Server) uploadFile(w http.ResponseWriter, r *http.Request) {
	s.turns.Add(1)
	defer s.turns.Done()
	_, form, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		refused(w, "want multipart/form-data")
		return
	}
	parts, purpose := multipart.NewReader(r.Body, form["boundary"]), ""
	var content []byte
	for {
		part, err := parts.NextPart()
		if err == io.EOF {
			break
		}
		if err != nil {
			return // the client has gone
		}
		data, err := io.ReadAll(io.LimitReader(part, int64(s.maxBatchBytes())+1))
		if err != nil {
			return
		}
		switch part.FormName() {
		case "purpose":
			purpose = string(data)
		case "file":
			content = data
			if !strings.HasSuffix(part.FileName(), ".jsonl") {
				refused(w, "Invalid file format: want .jsonl")
				return
			}
		}
	}
	if purpose != "batch" || content == nil || len(content) > s.maxBatchBytes() {
		refused(w, "want purpose batch and a file of at most 200 MB")
		return
	}
	s.mu.Lock()
	id := "file-" + strconv.Itoa(len(s.files)+1)
	s.files[id] = content
	s.counts.Uploads++
	s.mu.Unlock()
	writeJSON(w, http.StatusOK, object{"id": id, "object": "file", "bytes": len(content), "purpose": purpose})
}

// fileContent hands out the results of a batch, a line each.
func (s *Server) fileContent(w http.ResponseWriter, r *http.Request) {
	kind, id, _ := strings.Cut(r.PathValue("id"), "-")
	b := s.batchOf(id)
	if b == nil || kind != "out" && kind != "err" {
		writeError(w, 404, apiError{Code: 404, Message: "No such File object: " + r.PathValue("id")})
		return
	}
	s.mu.Lock()
	lines := b.results
	if kind == "err" {
		lines = b.failures
	} else {
		b.Fetched++
	}
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/octet-stream")
	_, _ = w.Write(bytes.Join(lines, nil)) // an error means that the client has gone
}

// ask notes what is asked: the model, the seed and the messages before any repair.
func (x *Exchange) ask(q *chatRequest) {
	h := sha256.New()
	_, _ = io.WriteString(h, q.Model)
	if q.Seed != nil {
		_, _ = fmt.Fprint(h, "\x00", *q.Seed)
	}
	for i := range q.Messages {
		if q.Messages[i].Role == "assistant" {
			x.Repair = true
			break
		}
		_, _ = io.WriteString(h, "\x00"+q.Messages[i].Content)
	}
	copy(x.Question[:], h.Sum(nil))
}

// Bill is what was charged for questions: how many have a reply that was paid, and
// those that have more than one good one. A reply of no use calls for another.
func Bill(log []Exchange) (questions int, twice []string) {
	paid := make(map[[32]byte]int)
	for i := range log {
		if x := &log[i]; x.Paid {
			paid[x.Question] += 0
			if !x.Whole {
				continue
			}
			if paid[x.Question]++; paid[x.Question] > 1 {
				twice = append(twice, fmt.Sprintf("question %x: reply number %d, batch %q", x.Question[:4], paid[x.Question], x.Batch))
			}
		}
	}
	return len(paid), twice
}

// EndBatches lets the day pass: all batches end and are charged, also those that nobody
// looks at.
func (s *Server) EndBatches() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.batches {
		for !b.ended() {
			s.advance(b)
		}
	}
}

// CancelBatches ends all batches with what they have, which is nothing.
func (s *Server) CancelBatches() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.batches {
		b.Status = "cancelled"
	}
}

// ForgetBatches makes the server know none of its batches any more.
func (s *Server) ForgetBatches() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.batches = nil
}
