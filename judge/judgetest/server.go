// Package judgetest has a fake of the services that live judges ask.
//
// [NewServer] starts a service on the loopback that speaks OpenRouter's API, with its faults and
// its limits and a count of what was paid: point a judge's base URL at [Server.URL].
package judgetest

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// DefaultKey is the API key that a [Server] takes if its configuration has no other.
const DefaultKey = "sk-or-v1-of-the-fake-server"

// A ServerConfig says how a fake service behaves. The zero value is a healthy service without
// limits that answers at once.
type ServerConfig struct {
	Key      string                // API key, "" for [DefaultKey]
	Models   []Model               // nil for [DefaultModels]
	Reply    func(*Prompt) string  // the text of the message to a prompt, nil for [Overlap]
	Cut      func(*Prompt) float64 // the share of a reply after which it ends at its limit, nil for all of it
	Verifier *VerifierConfig       // the small model that answers instead, nil for none
	Batches  *BatchConfig          // nil if it takes no batches

	// Seed, the body of a request and how often it came decide about faults and latency, so
	// that a run repeats in whatever order requests come.
	Seed    uint64
	Latency func(*rand.Rand) time.Duration // of an answer, nil for none

	Faults     []Fault       // of which one is drawn
	FaultShare float64       // how many of all attempts have one, a fraction
	MaxFaults  int           // most of them, 0 for no limit; with it, the order of requests matters
	RetryAfter time.Duration // the delay that faults ask for, 0 for 100 ms; up to the next second in some forms
	HangTime   time.Duration // after it the fault hang breaks the connection; 0 = never

	Rate          float64 // requests a second that are let in, in bursts of 10; more get 429. 0 = no limit
	MaxInFlight   int     // requests at once; more get 429. 0 = no limit
	CreditNanoUSD int64   // that may be spent; then comes 402. 0 = no limit

	NoNetwork  bool // it serves no port, so that all runs in a bubble of testing/synctest: see [Server.Client]
	KeepBodies bool // the log has the bodies of requests
}

// Constant is the same latency for all answers.
func Constant(d time.Duration) func(*rand.Rand) time.Duration {
	return func(*rand.Rand) time.Duration { return d }
}

// A Server imitates the chat API of OpenRouter: POST /chat/completions, GET /models
// under [Server.URL], and batches. It is safe for concurrent use.
type Server struct {
	config ServerConfig
	http   *httptest.Server // nil without network
	routes *http.ServeMux
	models map[string]*Model
	limit  *rate.Limiter
	turns  sync.WaitGroup // handlers under way, which may outlive their connection

	mu          sync.Mutex
	attempts    map[[32]byte]int       // by body: how often it was let in
	notBefore   map[[32]byte]time.Time // by body: when it may come again
	answers     map[string]int         // whole ones, by question
	inFlight    int
	faults      int // so far
	counts      Counts
	log         []Exchange
	batches     []*Batch
	files       map[string][]byte // that were uploaded
	held        bool              // no batch moves on
	submissions int               // of batches
}

// Counts are totals of a server.
type Counts struct {
	Requests       int // for answers, whatever became of them
	Answers        int // whole answers handed out
	Faults         int
	Early          int // requests that came again before they were allowed to
	Questions      int // with a reply that was paid
	Twice          int // whole answers to questions that had one; TwiceInBatches: in a batch
	TwiceInBatches int
	Connections    int
	Served         int // requests of any kind
	MaxInFlight    int // most requests served at once
	SpentNanoUSD   int64
}

// An Exchange is one request for an answer and what became of it.
type Exchange struct {
	Text     []byte // its body, if kept
	Fault    Fault  // "" if none
	Prompt   int64  // tokens of the prompt, estimated
	Whole    bool   // a whole and valid answer was handed out
	NanoUSD  int64
	InFlight int // requests served at the same time when it came, with it
}

// NewServer starts a server; Close ends it.
func NewServer(config ServerConfig) *Server {
	config.Key = cmp.Or(config.Key, DefaultKey)
	config.RetryAfter = cmp.Or(config.RetryAfter, 100*time.Millisecond)
	if config.Models == nil {
		config.Models = DefaultModels()
	}
	if config.Reply == nil {
		config.Reply = Overlap
	}
	s := &Server{
		config: config, routes: http.NewServeMux(), models: make(map[string]*Model), limit: rate.NewLimiter(rate.Limit(cmp.Or(config.Rate, float64(rate.Inf))), 10),
		attempts: make(map[[32]byte]int), notBefore: make(map[[32]byte]time.Time), answers: make(map[string]int), files: make(map[string][]byte),
	}
	for i := range config.Models {
		s.models[config.Models[i].ID] = &config.Models[i]
	}
	s.route("POST /api/v1/chat/completions", s.exchange)
	s.route("POST "+azurePath+"{model}/chat/completions", s.exchange)
	s.route("GET /api/v1/models", s.listModels)
	s.routeBatches()
	s.routeVerifier()
	if config.NoNetwork {
		return s
	}
	s.http = httptest.NewUnstartedServer(s.routes)
	s.http.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.locked(func() { s.counts.Connections++ })
		}
	}
	s.http.Config.ErrorLog = log.New(io.Discard, "", 0) // of connections that faults break
	s.http.Start()
	return s
}

// azurePath is where models of Azure are, each called a deployment. It wants the key in a header
// of its own, and the version of the API.
const azurePath = "/openai/deployments/"

// route serves a pattern to requests with the key. Small models, and the list of models, need none.
func (s *Server) route(pattern string, handle http.HandlerFunc) {
	s.routes.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		s.locked(func() { s.counts.Served++ })
		authorized := r.Header.Get("Authorization") == "Bearer "+s.config.Key
		if strings.Contains(pattern, azurePath) {
			authorized = r.Header.Get("api-key") == s.config.Key && r.Header.Get("Authorization") == "" && r.URL.Query().Get("api-version") != ""
		}
		if s.config.Verifier == nil && !strings.HasSuffix(pattern, "/models") && !authorized {
			writeJSON(w, 401, failure(401, "No auth credentials found"))
			return
		}
		s.turns.Add(1)
		defer s.turns.Done()
		handle(w, r)
	})
}

// URL is the base URL that clients take, without a slash at its end.
func (s *Server) URL() string {
	if s.http == nil {
		return "http://fake.invalid/api/v1"
	}
	return s.http.URL + "/api/v1"
}

// Client returns a client that hands its requests to the server without a network.
func (s *Server) Client() *http.Client { return &http.Client{Transport: (*direct)(s)} }

// direct is the transport of [Server.Client].
type direct Server

// RoundTrip serves the request in the goroutine of the caller. A connection that the server
// would break is an error.
func (d *direct) RoundTrip(q *http.Request) (resp *http.Response, err error) {
	defer func() {
		if broken := recover(); broken == http.ErrAbortHandler {
			resp, err = nil, io.ErrUnexpectedEOF
		} else if broken != nil {
			panic(broken)
		}
	}()
	w := httptest.NewRecorder()
	d.routes.ServeHTTP(w, q)
	if err := q.Context().Err(); err != nil {
		return nil, err
	}
	return w.Result(), nil
}

// Close ends the server and the connections to it. Log and totals are complete after it.
func (s *Server) Close() {
	if s.http != nil {
		s.http.CloseClientConnections()
		s.http.Close()
	}
	s.turns.Wait()
}

// locked calls f while it holds the lock.
func (s *Server) locked(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// Counts returns the totals so far.
func (s *Server) Counts() (c Counts) {
	s.locked(func() { c = s.counts; c.Questions = len(s.answers) })
	return c
}

// Log returns what has ended so far. An exchange enters it just before its answer is sent.
func (s *Server) Log() (log []Exchange) {
	s.locked(func() { log = slices.Clone(s.log) })
	return log
}

type object = map[string]any

// failure is a body with an error.
func failure(code any, message string) object {
	return object{"error": object{"code": code, "message": message}, "user_id": "user_fake"}
}

func writeJSON(w http.ResponseWriter, status int, v any) { writeBody(w, status, mustMarshal(v)) }

func writeBody(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // an error means that the client has gone, which is its right
}

// mustMarshal encodes values of this package, which can be encoded.
func mustMarshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// usd is an amount as answers give it.
func usd(nano int64) float64 { return float64(nano) / 1e9 }

// A Model is what a [Server] says of one model.
type Model struct {
	ID, Provider                     string
	ContextLength                    int64
	Parameters                       []string // that it supports
	PromptNanoUSD, CompletionNanoUSD int64    // prices of a token; -1e9: it depends
	TellsNoCost                      bool     // neither /models nor answers have the prices
	BYOK                             bool     // the user's own key pays the provider, and answers say so
	ReasoningTokens                  int64    // that it spends on every answer, within max_tokens
	MaxCompletion                    int64    // most tokens of a reply that /models says, 0 for none
	IgnoresFormat                    bool     // it heeds no response_format
	Gone                             bool     // requests get 404
	Refuses                          bool     // every reply is a refusal
	Resolves                         string   // the model that answers in its place, as for a router
	Window                           int64    // tokens of a prompt and its reply together: a reply ends there, as llama.cpp's. 0 = any
	Reads                            int64    // tokens of a prompt: what the user said before them is lost, and nobody says so, as Ollama does. 0 = all
	// Refuse is the body of the 400 with which it refuses a request with those members and that
	// many tokens, nil if it takes it.
	Refuse func(members map[string]json.RawMessage, tokens int64) map[string]any
}

// DefaultModels are two plain models, one that reasons and takes no temperature, one without
// structured outputs, and a router.
func DefaultModels() []Model {
	plain := []string{"max_tokens", "temperature", "seed", "response_format", "structured_outputs"}
	reasons := []string{"max_tokens", "seed", "response_format", "structured_outputs", "reasoning"}
	return []Model{
		{ID: "fake/judge", Provider: "Fake", ContextLength: 128_000, PromptNanoUSD: 150, CompletionNanoUSD: 600, Parameters: plain},
		{ID: "other/judge", Provider: "Other", ContextLength: 128_000, PromptNanoUSD: 300, CompletionNanoUSD: 1200, Parameters: plain},
		{ID: "fake/thinker", Provider: "Fake", ContextLength: 200_000, PromptNanoUSD: 1000, CompletionNanoUSD: 4000, Parameters: reasons, ReasoningTokens: 200},
		{ID: "fake/plain", Provider: "Fake", ContextLength: 16_000, PromptNanoUSD: 50, CompletionNanoUSD: 50, Parameters: plain[:3]},
		{ID: "openrouter/auto", Provider: "Fake", ContextLength: 2_000_000, PromptNanoUSD: -1e9, CompletionNanoUSD: -1e9, Parameters: append(reasons, "temperature"), Resolves: "fake/judge"},
	}
}

func (s *Server) listModels(w http.ResponseWriter, _ *http.Request) {
	list, decimal := []object{}, func(nano int64) string { return strconv.FormatFloat(usd(nano), 'f', -1, 64) }
	for _, m := range s.config.Models {
		o := object{"id": m.ID, "context_length": m.ContextLength, "supported_parameters": m.Parameters, "top_provider": object{"max_completion_tokens": m.MaxCompletion}}
		if !m.TellsNoCost {
			o["pricing"] = object{"prompt": decimal(m.PromptNanoUSD), "completion": decimal(m.CompletionNanoUSD), "request": "0"}
		}
		list = append(list, o)
	}
	writeJSON(w, 200, object{"data": list})
}

// broke reports whether the credits are used up. The caller holds the lock.
func (s *Server) broke() bool {
	return s.config.CreditNanoUSD > 0 && s.counts.SpentNanoUSD >= s.config.CreditNanoUSD
}

// A chatRequest is what the server reads of a request.
type chatRequest struct {
	Model               string
	Messages            []chatMessage
	MaxTokens           int64 `json:"max_tokens"`
	MaxCompletionTokens int64 `json:"max_completion_tokens"`
	ResponseFormat      *struct {
		Type       string
		JSONSchema struct{ Schema json.RawMessage } `json:"json_schema"`
	} `json:"response_format"`
	ServiceTier string `json:"service_tier"`
}

type chatMessage struct{ Role, Content string }

// tokens estimates how many tokens a text has.
func tokens(text string) int64 { return int64(len(text)+3) / 4 }

// A turn is one exchange while it lasts.
type turn struct {
	Exchange
	server    *Server
	w         http.ResponseWriter
	r         *http.Request
	request   chatRequest
	model     *Model
	body      [32]byte // SHA-256
	attempt   int      // how often the body was let in before
	random    *rand.Rand
	questions []string // hash of model, seed and messages before a repair
	batch     bool     // it is a line of one
	paid      bool
	settled   bool // it is in the log
}

// exchange serves one request for an answer.
func (s *Server) exchange(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	t := &turn{server: s, w: w, r: r, body: sha256.Sum256(body)}
	if s.config.KeepBodies {
		t.Text = body
	}
	s.locked(func() { s.counts.Requests++ })
	defer s.locked(func() { s.settle(t) })
	if status, e := t.read(body); status != 0 {
		writeJSON(w, status, e)
	} else if t.enter() {
		defer s.locked(func() { s.inFlight-- })
		t.serve(body)
	}
}

// settle enters a turn into log and totals, once. The caller holds the lock.
func (s *Server) settle(t *turn) {
	if t.settled {
		return
	}
	t.settled = true
	s.log = append(s.log, t.Exchange)
	if t.Fault != "" {
		s.counts.Faults++
	}
	if t.Whole && !t.batch {
		s.counts.Answers++
	}
	for _, q := range t.questions {
		switch {
		case !t.paid:
		case !t.Whole:
			s.answers[q] += 0
		case s.answers[q] > 0:
			s.counts.Twice++
			if t.batch {
				s.counts.TwiceInBatches++
			}
		default:
			s.answers[q] = 1
		}
	}
}

// read reads a request, and returns what the API finds wrong with it: status 0 if nothing.
func (t *turn) read(body []byte) (status int, e object) {
	if t.server.config.Verifier != nil {
		return 0, nil // it has not one form of requests
	}
	q, sent := &t.request, map[string]json.RawMessage{}
	if json.Unmarshal(body, q) != nil || json.Unmarshal(body, &sent) != nil || len(q.Messages) == 0 {
		return 400, failure(400, "Invalid JSON in request body")
	}
	asked := q.Model + "\x00" + string(sent["seed"])
	repair := false
	for _, m := range q.Messages {
		t.Prompt += tokens(m.Content) + 4
		if repair = repair || m.Role == "assistant"; !repair {
			asked += "\x00" + m.Content
		}
	}
	hash := sha256.Sum256([]byte(asked))
	t.questions = []string{string(hash[:])}
	t.model = t.server.models[q.Model]
	switch {
	case t.model == nil:
		return 400, failure(400, q.Model+" is not a valid model ID")
	case t.model.Gone:
		return 404, failure(404, "No endpoints found for "+q.Model+".")
	case t.model.Window > 0 && t.Prompt >= t.model.Window:
		return 400, failure(400, fmt.Sprintf("the request (%d tokens) exceeds the available context size (%d tokens), try increasing it", t.Prompt, t.model.Window))
	case t.model.Reads > 0 && t.Prompt > t.model.Reads:
		lost := 4 * (t.Prompt - t.model.Reads)
		for i := range q.Messages {
			m := &q.Messages[i]
			if m.Role == "system" {
				continue
			}
			n := min(lost, int64(len(m.Content)))
			m.Content, lost = strings.ToValidUTF8(m.Content[n:], ""), lost-n
		}
		t.Prompt = t.model.Reads
	case t.model.Refuse != nil:
		if e := t.model.Refuse(sent, t.Prompt); e != nil {
			return 400, e
		}
	}
	return 0, nil
}

// enter lets the request in, or answers 429 with a delay in whole seconds.
func (t *turn) enter() (ok bool) {
	s, place := t.server, t.server.limit.Reserve()
	wait := place.Delay()
	if wait > 0 {
		place.Cancel()
	}
	seconds := max(time.Second, (wait + time.Second - 1).Truncate(time.Second))
	s.locked(func() {
		if time.Now().Before(s.notBefore[t.body]) {
			s.counts.Early++
		}
		if ok = wait == 0 && (s.config.MaxInFlight == 0 || s.inFlight < s.config.MaxInFlight); !ok {
			s.notBefore[t.body] = time.Now().Add(seconds)
			return
		}
		s.inFlight++
		s.counts.MaxInFlight = max(s.counts.MaxInFlight, s.inFlight)
		t.InFlight, t.attempt = s.inFlight, s.attempts[t.body]
		s.attempts[t.body]++
	})
	if !ok {
		t.w.Header().Set("Retry-After", strconv.Itoa(int(seconds/time.Second)))
		writeJSON(t.w, 429, failure(429, "Rate limit exceeded"))
	}
	return ok
}

// serve answers a request that was let in, with a fault if it is its turn.
func (t *turn) serve(body []byte) {
	s := t.server
	t.random = s.randomOf(t)
	share, kind := t.random.Float64(), t.random.IntN(max(1, len(s.config.Faults)))
	f, broke := &fault{}, false
	s.locked(func() {
		if broke = s.broke(); len(s.config.Faults) > 0 && share < s.config.FaultShare && (s.config.MaxFaults == 0 || s.faults < s.config.MaxFaults) {
			s.faults++
			t.Fault = s.config.Faults[kind]
			f = faultOf(t.Fault)
		}
	})
	switch {
	case broke:
		writeJSON(t.w, 402, failure(402, "Insufficient credits. Add more using https://openrouter.ai/settings/credits"))
	case f.status != 0:
		t.fail(f)
	case s.config.Verifier != nil:
		t.think()
		status, inputs, reply := s.config.Verifier.answer(t.r.URL.Path, body)
		t.questions, t.paid, t.Whole = inputs, true, status == 200
		s.locked(func() { s.settle(t) })
		writeJSON(t.w, status, reply)
	default:
		t.think()
		body := mustMarshal(t.compose(f))
		s.locked(func() { s.counts.SpentNanoUSD += t.NanoUSD })
		if f.send != nil {
			f.send(t, body)
		} else {
			t.send(body)
		}
	}
}

// randomOf depends on the body and the attempt, not on when they came.
func (s *Server) randomOf(t *turn) *rand.Rand {
	b := append(binary.BigEndian.AppendUint64(nil, s.config.Seed), t.body[:]...)
	h := sha256.Sum256(binary.BigEndian.AppendUint64(b, uint64(t.attempt)))
	return rand.New(rand.NewPCG(binary.BigEndian.Uint64(h[:]), binary.BigEndian.Uint64(h[8:])))
}

// think takes the time of an answer, unless the client goes.
func (t *turn) think() {
	if t.server.config.Latency == nil {
		return
	}
	select {
	case <-time.After(t.server.config.Latency(t.random)):
	case <-t.r.Context().Done():
	}
}

// send sends a body as it is, with status 200.
func (t *turn) send(body []byte) {
	if t.r.Context().Err() != nil {
		t.Whole = false // paid, and the client has gone
		return
	}
	t.server.locked(func() { t.server.settle(t) })
	writeBody(t.w, 200, body)
}

// compose makes an answer, cut where max_tokens ends, and what it costs.
func (t *turn) compose(f *fault) object {
	text, finish, reasoning := t.reply(), "stop", t.model.ReasoningTokens
	if f.text != nil {
		text = f.text(text)
	}
	limit := cmp.Or(t.request.MaxCompletionTokens, t.request.MaxTokens, 1<<20)
	if t.model.Window > 0 {
		limit = min(limit, t.model.Window-t.Prompt)
	}
	if reasoning+tokens(text) > limit {
		finish, reasoning = "length", min(reasoning, limit)
		text = text[:min(int64(len(text)), 4*(limit-reasoning))]
	}
	model := cmp.Or(t.server.models[t.model.Resolves], t.model)
	completion := reasoning + tokens(text)
	if cut := t.server.config.Cut; cut != nil {
		if share := cut(readPrompt(&t.request)); share < 1 {
			text, finish, completion = text[:int(share*float64(len(text)))], "length", limit
		}
	}
	if f.name == "truncated_content" {
		completion = limit
	}
	t.NanoUSD = t.Prompt*model.PromptNanoUSD + completion*model.CompletionNanoUSD
	if t.request.ServiceTier == "flex" || t.batch {
		t.NanoUSD /= 2
	}
	usage := object{"prompt_tokens": t.Prompt, "completion_tokens": completion, "completion_tokens_details": object{"reasoning_tokens": reasoning}}
	switch cost := usd(t.NanoUSD); {
	case t.batch: // said for the whole batch
	case model.BYOK:
		usage["is_byok"], usage["cost"], usage["cost_details"] = true, 0.0, object{"upstream_inference_cost": cost}
	case !model.TellsNoCost:
		usage["cost"] = cost
	}
	choice := object{"index": 0, "finish_reason": finish, "native_finish_reason": finish, "message": object{"role": "assistant", "content": text}}
	e := object{
		"id": "gen-" + hex.EncodeToString(t.body[:6]) + "-" + strconv.Itoa(t.attempt), "provider": model.Provider, "model": model.ID,
		"object": "chat.completion", "created": time.Now().Unix(), "choices": []object{choice}, "usage": usage,
	}
	if t.model.Refuses {
		faultOf("refusal").change(e, choice)
	}
	if f.change != nil {
		f.change(e, choice)
	}
	if t.paid = !f.free; f.free {
		t.NanoUSD = 0
	}
	t.Whole = finish == "stop" && (f.name == "" || f.group == "harmless")
	return e
}

// reply is the text of a good answer. A model that nothing holds to a shape replies in it if the
// messages have its members, with words around it, else in prose.
func (t *turn) reply() string {
	p := readPrompt(&t.request)
	text, format := t.server.config.Reply(p), t.request.ResponseFormat
	held := format != nil && !t.model.IgnoresFormat
	switch shaped := strings.Contains(p.System+p.User, `"joint_why"`); {
	case p.Pair != nil || held && (shaped || format.Type == "json_schema"):
		return text
	case held:
		return `{"answer":"The first claim is supported, the others are not."}`
	case !shaped:
		return "The first claim is supported by the passage, the others are not."
	}
	return "Here is the review.\n\n```json\n" + text + "\n```"
}
