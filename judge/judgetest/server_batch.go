package judgetest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// A BatchForm is the API by which batches come and go.
type BatchForm string

// The forms.
const (
	OpenRouterBeta BatchForm = "openrouter beta" // POST /api/beta/batches, requests inline
	OpenRouterV1   BatchForm = "openrouter v1"   // the same at /api/v1/batches
	OpenAIBatches  BatchForm = "openai"          // POST /api/v1/files, then /api/v1/batches
)

// folder is where the form's batches are.
func (f BatchForm) folder() string {
	if f == OpenRouterV1 || f == OpenAIBatches {
		return "/api/v1"
	}
	return "/api/beta"
}

// A BatchConfig says how a service answers batches, at half the price of calls. A
// batch moves on one status with every look at it, alone or in a listing: validating,
// in_progress, finalizing, and completed or expired. What a line has cost is charged when its
// batch ends.
type BatchConfig struct {
	Form BatchForm // "" for OpenRouterBeta
	// MaxLines of a batch, 0 for 5,000 (OpenRouter) or 50,000 (OpenAI); MaxBytes of
	// all of it, 0 for 200 MB.
	MaxLines, MaxBytes int
	// Shares of the lines whose time runs out, that fail at the provider with 503,
	// and whose replies are of no use, one of BadReplies each. Seed, body and how often
	// it came decide.
	ExpiredShare, FailedShare, BadShare float64
	BadReplies                          []Fault
	// Silent is how many submissions are accepted and never answered, until the
	// client goes; Broken after them, how many are accepted and the connection cut.
	Silent, Broken int
	// Dropped is how many submissions after those are lost before they are accepted.
	Dropped int
	// Unlisted: there is no listing. MaxPage bounds a page of it, 0 for 100.
	Unlisted bool
	MaxPage  int
	// Invalid is why every batch fails in validation, "" for none.
	Invalid string
}

// A Batch is what a server knows of a batch.
type Batch struct {
	ID, Model, Status string
	Lines             int
	Answered, Expired int // lines, once it has ended
	Looks             int // at it alone, not in a listing
	Fetched           int // times that all of its results were handed out
	NanoUSD           int64
}

// A serverBatch is a batch with its lines.
type serverBatch struct {
	Batch
	metadata  map[string]string
	input     string // file
	lines     []batchLine
	results   [][]byte // of lines that were answered or refused
	failures  [][]byte // of the others
	created   time.Time
	prompts   int64 // tokens
	completed int64
}

type batchLine struct {
	CustomID string          `json:"custom_id"`
	Method   string          `json:"method"`
	URL      string          `json:"url"`
	Body     json.RawMessage `json:"body"`
}

// routeBatches adds the paths of the form.
func (s *Server) routeBatches(mux *http.ServeMux) {
	if s.config.Batches == nil {
		return
	}
	folder := s.config.Batches.Form.folder()
	mux.HandleFunc("POST "+folder+"/batches", s.authorized(s.submitBatch))
	mux.HandleFunc("GET "+folder+"/batches/{id}", s.authorized(s.getBatch))
	if !s.config.Batches.Unlisted {
		mux.HandleFunc("GET "+folder+"/batches", s.authorized(s.listBatches))
	}
	if s.config.Batches.Form == OpenAIBatches {
		mux.HandleFunc("POST /api/v1/files", s.authorized(s.uploadFile))
		mux.HandleFunc("GET /api/v1/files/{id}/content", s.authorized(s.fileContent))
	}
}

// Batches returns what the server knows of its batches, oldest first.
func (s *Server) Batches() []Batch {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Batch, len(s.batches))
	for i, b := range s.batches {
		out[i] = b.Batch
	}
	return out
}

// HoldBatches keeps all batches in their status, or lets them go on.
func (s *Server) HoldBatches(hold bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = hold
}

func refused(w http.ResponseWriter, format string, args ...any) {
	writeError(w, 400, apiError{Code: 400, Message: fmt.Sprintf(format, args...)})
}

// submitBatch takes a batch in either form.
func (s *Server) submitBatch(w http.ResponseWriter, r *http.Request) {
	s.turns.Add(1)
	defer s.turns.Done()
	c := s.config.Batches
	body, err := io.ReadAll(io.LimitReader(r.Body, int64(s.maxBatchBytes())+1))
	if err != nil {
		return // the client has gone
	}
	if s.broke() {
		writeError(w, 402, apiError{Code: 402, Message: "Insufficient credits"})
		return
	}
	b := &serverBatch{created: time.Now(), metadata: map[string]string{}}
	var problem string
	if c.Form == OpenAIBatches {
		problem = s.readUploaded(b, body)
	} else {
		problem = s.readInline(b, body)
	}
	if problem == "" {
		problem = s.checkLines(b)
	}
	if problem != "" {
		refused(w, "%s", problem)
		return
	}
	b.Status, b.Lines = "validating", len(b.lines)
	s.mu.Lock()
	n := s.submissions
	s.submissions++
	lost := n >= c.Silent+c.Broken && n < c.Silent+c.Broken+c.Dropped
	b.ID = "batch-" + strconv.Itoa(1000+n)
	if !lost {
		s.batches = append(s.batches, b)
	}
	s.mu.Unlock()
	switch {
	case n < c.Silent:
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	case n < c.Silent+c.Broken, lost:
		panic(http.ErrAbortHandler)
	}
	status := http.StatusAccepted
	if c.Form == OpenAIBatches {
		status = http.StatusOK
	}
	writeJSON(w, status, s.describe(b, false))
}

func (s *Server) maxBatchBytes() int { return cmp.Or(s.config.Batches.MaxBytes, 200_000_000) }

// readInline reads OpenRouter's form, whose requests come last because it is read as it
// streams in.
func (s *Server) readInline(b *serverBatch, body []byte) (problem string) {
	if len(body) > s.maxBatchBytes() {
		return "the batch is larger than 200 MB"
	}
	d := json.NewDecoder(bytes.NewReader(body))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return "Invalid JSON in request body"
	}
	var endpoint string
	for d.More() {
		name, _ := d.Token()
		var err error
		switch name {
		case "endpoint":
			err = d.Decode(&endpoint)
		case "model":
			err = d.Decode(&b.Model)
		case "requests":
			if endpoint == "" || b.Model == "" {
				return "endpoint and model must come before requests"
			}
			err = d.Decode(&b.lines)
		case "completion_window":
			var window string
			if err = d.Decode(&window); window != "24h" {
				return "completion_window: must be 24h"
			}
		default:
			return fmt.Sprintf("unrecognized key %q", name)
		}
		if err != nil {
			return "Invalid JSON in request body"
		}
	}
	if _, err := d.Token(); err != nil {
		return "Invalid JSON in request body"
	}
	if endpoint != "/v1/chat/completions" {
		return "endpoint: must be one of /v1/chat/completions"
	}
	return ""
}

// readUploaded reads OpenAI's form, whose requests are in a file.
func (s *Server) readUploaded(b *serverBatch, body []byte) (problem string) {
	var q struct {
		Input    string            `json:"input_file_id"`
		Endpoint string            `json:"endpoint"`
		Window   string            `json:"completion_window"`
		Metadata map[string]string `json:"metadata"`
	}
	if json.Unmarshal(body, &q) != nil {
		return "Invalid JSON in request body"
	}
	s.mu.Lock()
	file, ok := s.files[q.Input]
	s.mu.Unlock()
	switch {
	case !ok:
		return "No such File object: " + q.Input
	case q.Endpoint != "/v1/chat/completions":
		return "Invalid value: '" + q.Endpoint + "' for endpoint"
	case q.Window != "24h":
		return "Invalid value for completion_window"
	case len(q.Metadata) > 16:
		return "metadata has too many keys"
	}
	for name, value := range q.Metadata {
		if len(name) > 64 || len(value) > 512 {
			return "metadata is too long"
		}
	}
	b.input, b.metadata = q.Input, q.Metadata
	for line := range bytes.Lines(file) {
		var l batchLine
		if json.Unmarshal(line, &l) != nil {
			return fmt.Sprintf("line %d is not JSON", len(b.lines)+1)
		}
		if l.Method != "POST" || l.URL != q.Endpoint {
			return fmt.Sprintf("line %d: method and url do not fit the endpoint", len(b.lines)+1)
		}
		b.lines = append(b.lines, l)
	}
	return ""
}

// checkLines looks at what the lines have in common.
func (s *Server) checkLines(b *serverBatch) (problem string) {
	most := s.config.Batches.MaxLines
	if most == 0 && s.config.Batches.Form == OpenAIBatches {
		most = 50_000
	}
	if most = cmp.Or(most, 5000); len(b.lines) > most || len(b.lines) == 0 {
		return fmt.Sprintf("a batch has 1 to %d requests, this one has %d", most, len(b.lines))
	}
	seen := make(map[string]bool)
	for _, l := range b.lines {
		var body chatRequest
		switch {
		case l.CustomID == "" || len(l.CustomID) > 64:
			return "custom_id: must have 1 to 64 characters"
		case seen[l.CustomID]:
			return "custom_id " + l.CustomID + " is not unique"
		case json.Unmarshal(l.Body, &body) != nil:
			return "request " + l.CustomID + ": body is not valid"
		case body.Stream:
			return "request " + l.CustomID + ": stream is not supported"
		}
		seen[l.CustomID] = true
		if b.Model = cmp.Or(b.Model, body.Model); body.Model != "" && body.Model != b.Model {
			return "request " + l.CustomID + ": all requests of a batch have one model"
		}
	}
	if s.models[b.Model] == nil {
		return b.Model + " is not a valid model ID"
	}
	return ""
}
