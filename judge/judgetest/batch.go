package judgetest

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A BatchForm is the API by which batches come and go.
type BatchForm string

// The forms.
const (
	OpenRouterBatches BatchForm = "openrouter" // POST /api/v1/batches, requests inline
	OpenAIBatches     BatchForm = "openai"     // POST /api/v1/files, then /api/v1/batches
)

// A BatchConfig says how a service answers batches, at half the price of calls. A batch moves on
// one status with every look at it, alone or in a listing: validating, in_progress, finalizing,
// and completed or expired. It is charged when it ends.
type BatchConfig struct {
	Form     BatchForm // "" for OpenRouterBatches
	MaxLines int       // of a batch, 0 for 5,000
	// Shares of the lines that expire, that fail at the provider with 503, and that have replies
	// of no use, one of BadReplies each. Seed, body and how often it came decide.
	ExpiredShare, FailedShare, BadShare float64
	BadReplies                          []Fault
	// Silent is how many submissions are accepted and never answered; Broken after them, how many
	// are accepted and the connection cut; Dropped after those, how many are lost before.
	Silent, Broken, Dropped int
	Unlisted, Endless       bool   // there is no listing; it has no end
	Fileless                bool   // files of results are not found
	MaxPage                 int    // batches on a page of the listing, 0 for 100
	Invalid                 string // why every batch fails in validation, "" if none does
}

// A Batch is what a server knows of a batch.
type Batch struct {
	ID, Model, Status string
	Lines             int
	Answered, Expired int // lines, once it has ended
	Looks             int // at it alone, not in a listing

	metadata map[string]string
	lines    []batchLine
	created  time.Time
	nanoUSD  int64
}

type batchLine struct {
	CustomID    string `json:"custom_id"`
	Body        json.RawMessage
	Method, URL string
}

const chatEndpoint = "/v1/chat/completions"

// routeBatches adds the paths of the form.
func (s *Server) routeBatches() {
	c := s.config.Batches
	if c == nil {
		return
	}
	s.route("POST /api/v1/batches", s.submitBatch)
	s.route("GET /api/v1/batches/{id}", s.getBatch)
	if !c.Unlisted {
		s.route("GET /api/v1/batches", s.listBatches)
	}
	if c.Form == OpenAIBatches {
		s.route("POST /api/v1/files", s.uploadFile)
		s.route("GET /api/v1/files/{id}/content", s.fileContent)
	}
}

// Batches returns what the server knows of its batches, oldest first.
func (s *Server) Batches() (out []Batch) {
	s.locked(func() {
		for _, b := range s.batches {
			out = append(out, *b)
		}
	})
	return out
}

// HoldBatches keeps all batches in their status, or lets them go on.
func (s *Server) HoldBatches(hold bool) { s.locked(func() { s.held = hold }) }

// ForgetBatches makes the server know none of its batches any more.
func (s *Server) ForgetBatches() { s.locked(func() { s.batches = nil }) }

// EndBatches ends and charges all batches, or cancels them, without results.
func (s *Server) EndBatches(cancel bool) {
	s.locked(func() {
		s.held = false
		for _, b := range s.batches {
			if cancel {
				b.Status = "cancelled"
			}
			for !b.ended() {
				s.advance(b)
			}
		}
	})
}

// uploadFile keeps a file for a batch.
func (s *Server) uploadFile(w http.ResponseWriter, r *http.Request) {
	file, head, err := r.FormFile("file")
	if err != nil || r.FormValue("purpose") != "batch" || !strings.HasSuffix(head.Filename, ".jsonl") {
		writeJSON(w, 400, failure(400, "want purpose batch and a file of the form .jsonl"))
		return
	}
	content, _ := io.ReadAll(file) // it is in memory, or the client has gone
	s.locked(func() {
		id := "file-" + strconv.Itoa(len(s.files)+1)
		s.files[id] = content
		writeJSON(w, 200, object{"id": id, "object": "file", "bytes": len(content)})
	})
}

// submitBatch takes a batch.
func (s *Server) submitBatch(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	c, n, said := s.config.Batches, -1, object(nil)
	s.locked(func() {
		b := &Batch{created: time.Now()}
		if s.broke() {
			writeJSON(w, 402, failure(402, "Insufficient credits"))
		} else if problem := s.readBatch(b, body); problem != "" {
			writeJSON(w, 400, failure(400, problem))
		} else {
			n = s.submissions
			s.submissions++
			b.ID, b.Status, b.Lines = "batch-"+strconv.Itoa(1000+n), "validating", len(b.lines)
			said = s.describe(b)
			if n < c.Silent+c.Broken || n >= c.Silent+c.Broken+c.Dropped {
				s.batches = append(s.batches, b)
			}
		}
	})
	if n >= 0 && n < c.Silent {
		<-r.Context().Done()
	}
	if n >= 0 && n < c.Silent+c.Broken+c.Dropped {
		panic(http.ErrAbortHandler)
	}
	if n >= 0 {
		writeJSON(w, http.StatusAccepted, said)
	}
}

// readBatch reads the requests of a batch, and says what is wrong with them. Inline requests
// come last, because services read them as they stream in.
func (s *Server) readBatch(b *Batch, body []byte) (problem string) {
	var q struct {
		Endpoint, Model string
		Requests        []batchLine
		Input           string `json:"input_file_id"`
		Window          string `json:"completion_window"`
		Metadata        map[string]string
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&q); err != nil {
		return err.Error()
	}
	b.lines, b.metadata, b.Model = q.Requests, q.Metadata, q.Model
	for line := range bytes.Lines(s.files[q.Input]) {
		var l batchLine
		if json.Unmarshal(line, &l) != nil || l.Method != "POST" || l.URL != chatEndpoint {
			return "a line of the file is no request to the endpoint"
		}
		b.lines = append(b.lines, l)
	}
	most := cmp.Or(s.config.Batches.MaxLines, 5000)
	at := func(member string) int { return bytes.Index(body, []byte(`"`+member+`":`)) }
	if n := len(b.lines); n == 0 || n > most || q.Endpoint != chatEndpoint || q.Requests != nil && at("requests") < max(at("endpoint"), at("model")) {
		return fmt.Sprintf("a batch has an endpoint, a model, and then 1 to %d requests, this one has %d", most, n)
	}
	seen := make(map[string]bool)
	for _, l := range b.lines {
		var body chatRequest
		err := json.Unmarshal(l.Body, &body)
		b.Model = cmp.Or(b.Model, body.Model)
		if err != nil || l.CustomID == "" || len(l.CustomID) > 64 || seen[l.CustomID] || body.Model != b.Model || s.models[b.Model] == nil {
			return "request " + l.CustomID + ": want a name of its own and the model of all others"
		}
		seen[l.CustomID] = true
	}
	return ""
}

func (b *Batch) ended() bool {
	return slices.Contains([]string{"completed", "expired", "failed", "cancelled"}, b.Status)
}

// advance moves a batch to its next status, unless batches are held. The caller holds the lock.
func (s *Server) advance(b *Batch) {
	switch {
	case s.held:
	case b.Status == "validating" && s.config.Batches.Invalid != "":
		b.Status = "failed"
	case b.Status == "validating":
		b.Status = "in_progress"
	case b.Status == "in_progress":
		b.Status = "finalizing"
	case b.Status == "finalizing":
		b.Status = "completed"
		for i := range slices.Backward(b.lines) { // in no order that clients may rely on
			s.answerLine(b, &b.lines[i])
		}
	}
}

// answerLine answers one line, or says why not. The caller holds the lock.
func (s *Server) answerLine(b *Batch, l *batchLine) {
	c, t := s.config.Batches, &turn{server: s, body: sha256.Sum256(append([]byte("batch"), l.Body...)), batch: true}
	t.attempt = s.attempts[t.body]
	s.attempts[t.body]++
	t.random = s.randomOf(t)
	share, f, file := t.random.Float64()-c.ExpiredShare, &fault{}, "error-"+b.ID
	status, body := 503, failure(503, "Provider returned error")
	if share >= c.FailedShare {
		status, body = t.read(l.Body)
	}
	if status == 0 {
		if share < c.FailedShare+c.BadShare {
			t.Fault = c.BadReplies[t.random.IntN(len(c.BadReplies))]
			f = faultOf(t.Fault)
		}
		status, body, file = 200, t.compose(f), "output-"+b.ID
		b.Answered++
		b.nanoUSD += t.NanoUSD
		s.counts.SpentNanoUSD += t.NanoUSD
		s.settle(t)
	}
	result := object{"id": "line", "custom_id": l.CustomID, "response": object{"status_code": status, "body": body}}
	if share < 0 {
		b.Status = "expired"
		b.Expired++
		result["response"], result["error"] = nil, object{"code": "batch_expired", "message": "This request could not be executed before the completion window expired."}
	}
	s.files[file] = append(append(s.files[file], mustMarshal(result)...), '\n')
}

// getBatch describes a batch, after it has moved on by one status.
func (s *Server) getBatch(w http.ResponseWriter, r *http.Request) {
	s.locked(func() {
		i := slices.IndexFunc(s.batches, func(b *Batch) bool { return b.ID == r.PathValue("id") })
		if i < 0 {
			writeJSON(w, 404, failure(404, "No batch found with id '"+r.PathValue("id")+"'."))
			return
		}
		b := s.batches[i]
		b.Looks++
		s.advance(b)
		said := s.describe(b)
		if b.ended() && s.config.Batches.Form != OpenAIBatches {
			lines := strings.TrimSpace(string(s.files["output-"+b.ID]) + string(s.files["error-"+b.ID]))
			said["results"] = json.RawMessage("[" + strings.ReplaceAll(lines, "\n", ",") + "]")
		}
		writeJSON(w, 200, said)
	})
}

// listBatches lists them, newest first.
func (s *Server) listBatches(w http.ResponseWriter, r *http.Request) {
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit")) // clients say how many
	s.locked(func() {
		all := []object{}
		for _, b := range slices.Backward(s.batches) {
			s.advance(b)
			all = append(all, s.describe(b))
		}
		if !s.config.Batches.Endless {
			all = all[1+slices.IndexFunc(all, func(o object) bool { return o["id"] == r.URL.Query().Get("after") }):]
		}
		n := min(limit, cmp.Or(s.config.Batches.MaxPage, 100), len(all))
		writeJSON(w, 200, object{"object": "list", "data": all[:n], "has_more": n < len(all) || s.config.Batches.Endless})
	})
}

// describe is a batch as its form writes it, without results. The caller holds the lock.
func (s *Server) describe(b *Batch) object {
	counts := object{"total": b.Lines, "completed": 0, "failed": 0}
	if b.Status == "validating" {
		counts["total"] = 0 // they are not counted yet
	}
	o := object{"id": b.ID, "status": b.Status, "created_at": b.created.Unix(), "request_counts": counts, "model": b.Model, "metadata": b.metadata}
	if !b.ended() {
		return o
	}
	counts["completed"], counts["failed"] = b.Answered, b.Lines-b.Answered
	why := object{"message": s.config.Batches.Invalid}
	switch {
	case s.config.Batches.Form != OpenAIBatches:
		o["usage"] = object{"cost": usd(b.nanoUSD)}
		if b.Status == "failed" {
			o["error"] = why
		}
	case b.Status == "failed":
		o["errors"] = object{"data": []object{why}}
	default:
		for _, kind := range []string{"output", "error"} {
			if id := kind + "-" + b.ID; s.files[id] != nil {
				o[kind+"_file_id"] = id
			}
		}
	}
	return o
}

// fileContent hands out a file: what was uploaded, or the results of a batch, a line each.
func (s *Server) fileContent(w http.ResponseWriter, r *http.Request) {
	if s.config.Batches.Fileless {
		writeJSON(w, 404, failure(404, "No such File object: "+r.PathValue("id")))
		return
	}
	s.locked(func() { writeBody(w, 200, s.files[r.PathValue("id")]) })
}
