package judgetest

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// DefaultKey is the API key that a [Server] takes unless told otherwise.
const DefaultKey = "sk-or-v1-of-the-fake-server"

// A ServerConfig says how a fake service behaves. The zero value is a healthy
// service without limits that answers at once.
type ServerConfig struct {
	// Key is the API key it takes, "" for [DefaultKey].
	Key string
	// Models it serves, nil for [DefaultModels].
	Models []Model
	// Reply answers a prompt with the text of the message, nil for [Overlap].
	Reply func(*Prompt) string

	// Seed, the body of a request and how often it came decide about faults and
	// latency, so that a run repeats whatever the interleaving.
	Seed uint64
	// Latency of an answer, nil for none.
	Latency Latency
	// Faults are spread over FaultShare, a fraction, of all attempts.
	Faults     []Fault
	FaultShare float64
	// MaxFaults is how many faults there are in all, 0 for no limit. With it, who
	// gets them depends on the order in which requests come.
	MaxFaults int
	// StrayShare is the fraction of attempts that get 429 for no reason, with a
	// Retry-After of RetryAfter.
	StrayShare float64
	// RetryAfter is the delay that faults ask for, 0 for 100 ms. Forms that
	// know only whole seconds round it up.
	RetryAfter time.Duration

	// HangTime is after how long the fault [Hang] breaks the connection, 0 for
	// never: the client has to give up.
	HangTime time.Duration

	// RedirectTo is the base URL that the fault [Redirect] points at.
	RedirectTo string

	// Rate is how many requests a second are let in, in bursts of Burst (0 for
	// 10); more get 429. 0 = no limit.
	Rate  float64
	Burst int
	// MaxInFlight is how many requests are served at once; more get 429. 0 = no
	// limit.
	MaxInFlight int
	// CreditNanoUSD is what may be spent; then comes 402. 0 = no limit.
	CreditNanoUSD int64

	// Batches is how it takes batches; nil if it has none.
	Batches *BatchConfig

	// NoNetwork serves no port: requests come by [Server.Client] alone. Then all
	// runs in the bubble of testing/synctest, where time is simulated, and no
	// connection can break halfway.
	NoNetwork bool

	// KeepBodies keeps the bodies of requests in the log.
	KeepBodies bool
	// Lean keeps counts instead of the log, for runs of many requests.
	Lean bool
}

// Latency draws how long an answer takes.
type Latency func(*rand.Rand) time.Duration

// Constant is the same latency for all answers.
func Constant(d time.Duration) Latency { return func(*rand.Rand) time.Duration { return d } }

// Lognormal is a latency with that median and that standard deviation of its
// logarithm, as answers of language models have.
func Lognormal(median time.Duration, sigma float64) Latency {
	return func(r *rand.Rand) time.Duration {
		return time.Duration(float64(median) * math.Exp(sigma*r.NormFloat64()))
	}
}

// A Server imitates the chat API of OpenRouter on a loopback port, with its
// faults and limits. It is safe for concurrent use.
//
// It serves POST /chat/completions and GET /models and /key under
// [Server.URL].
type Server struct {
	config ServerConfig
	http   *httptest.Server // nil without network
	routes *http.ServeMux
	models map[string]*Model
	bucket *bucket
	turns  sync.WaitGroup // handlers under way, which may outlive their connection

	mu          sync.Mutex
	attempts    map[[32]byte]int // by body: how often it was let in
	inFlight    int
	faults      int // so far
	spent       int64
	counts      Counts
	log         []Exchange
	batches     []*serverBatch
	files       map[string][]byte // that were uploaded
	held        bool              // no batch moves on
	submissions int               // of batches
}

// Counts are totals of a server.
type Counts struct {
	Requests     int // for answers, whatever became of them
	Answers      int // whole answers handed out
	Refused      int // by 429 of a limit or a stray one
	Faults       int
	Connections  int
	Served       int // requests of any kind
	Uploads      int // files for batches
	MaxInFlight  int // most requests served at once
	SpentNanoUSD int64
}

// NewServer starts a server; Close ends it.
func NewServer(config ServerConfig) *Server {
	if config.Key == "" {
		config.Key = DefaultKey
	}
	if config.Models == nil {
		config.Models = DefaultModels()
	}
	if config.Reply == nil {
		config.Reply = Overlap
	}
	if config.RetryAfter == 0 {
		config.RetryAfter = 100 * time.Millisecond
	}
	if config.Burst == 0 {
		config.Burst = 10
	}
	s := &Server{
		config: config, models: make(map[string]*Model), attempts: make(map[[32]byte]int),
		files: make(map[string][]byte),
	}
	for i := range config.Models {
		s.models[config.Models[i].ID] = &config.Models[i]
	}
	if config.Rate > 0 {
		s.bucket = newBucket(config.Rate, config.Burst)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/v1/chat/completions", s.authorized(s.chat))
	mux.HandleFunc("GET /api/v1/models", s.listModels)
	mux.HandleFunc("GET /api/v1/key", s.authorized(s.keyInfo))
	s.routeBatches(mux)
	s.routes = mux
	if config.NoNetwork {
		return s
	}
	s.http = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.counts.Served++
		s.mu.Unlock()
		mux.ServeHTTP(w, r)
	}))
	s.http.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.mu.Lock()
			s.counts.Connections++
			s.mu.Unlock()
		}
	}
	s.http.Config.ErrorLog = silent
	s.http.Start()
	return s
}

// URL is the base URL that clients take, without a slash at its end.
func (s *Server) URL() string {
	if s.http == nil {
		return "http://fake.invalid/api/v1"
	}
	return s.http.URL + "/api/v1"
}

// Client returns a client that hands its requests to the server without a
// network, whether it has one or not.
func (s *Server) Client() *http.Client { return &http.Client{Transport: (*direct)(s)} }

// direct is the transport of [Server.Client].
type direct Server

// RoundTrip serves the request in the goroutine of the caller. A connection
// that the server would break is an error.
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

// Close ends the server and the connections to it. Log and totals are complete
// after it.
func (s *Server) Close() {
	if s.http != nil {
		s.http.CloseClientConnections()
		s.http.Close()
	}
	s.turns.Wait()
}

// Counts returns the totals so far.
func (s *Server) Counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.counts
	c.SpentNanoUSD = s.spent
	return c
}

// authorized refuses requests without the key.
func (s *Server) authorized(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+s.config.Key {
			writeError(w, http.StatusUnauthorized, apiError{Code: 401, Message: "No auth credentials found"})
			return
		}
		next(w, r)
	}
}

// A bucket holds up to burst tokens and gains rate of them a second.
type bucket struct {
	mu     sync.Mutex
	rate   float64
	burst  float64
	tokens float64
	at     time.Time
}

func newBucket(rate float64, burst int) *bucket {
	return &bucket{rate: rate, burst: float64(burst), tokens: float64(burst), at: time.Now()}
}

// take takes a token, or says how long it is until there is one.
func (b *bucket) take() (wait time.Duration, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	b.tokens = min(b.burst, b.tokens+now.Sub(b.at).Seconds()*b.rate)
	b.at = now
	if b.tokens < 1 {
		return time.Duration((1 - b.tokens) / b.rate * float64(time.Second)), false
	}
	b.tokens--
	return 0, true
}

// A chatRequest is what the server reads of a request.
type chatRequest struct {
	Model               string          `json:"model"`
	Messages            []chatMessage   `json:"messages"`
	Temperature         *float64        `json:"temperature"`
	Seed                *int64          `json:"seed"`
	MaxTokens           *int64          `json:"max_tokens"`
	MaxCompletionTokens *int64          `json:"max_completion_tokens"`
	Stream              bool            `json:"stream"`
	ResponseFormat      *responseFormat `json:"response_format"`
	Provider            map[string]any  `json:"provider"`
	Reasoning           map[string]any  `json:"reasoning"`
	ReasoningEffort     *string         `json:"reasoning_effort"`
	ServiceTier         string          `json:"service_tier"`
}

type chatMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type responseFormat struct {
	Type       string `json:"type"`
	JSONSchema *struct {
		Name   string          `json:"name"`
		Strict bool            `json:"strict"`
		Schema json.RawMessage `json:"schema"`
	} `json:"json_schema"`
}

// limit is the longest answer in tokens.
func (q *chatRequest) limit() int64 {
	switch {
	case q.MaxCompletionTokens != nil:
		return *q.MaxCompletionTokens
	case q.MaxTokens != nil:
		return *q.MaxTokens
	}
	return 1 << 20
}

// tokens estimates the length of the prompt.
func (q *chatRequest) tokens() int64 {
	n := int64(0)
	for i := range q.Messages {
		n += tokens(q.Messages[i].Content) + 4
	}
	return n
}

// schema is the schema asked for, "" if there is none.
func (q *chatRequest) schema() string {
	if q.ResponseFormat == nil || q.ResponseFormat.JSONSchema == nil {
		return ""
	}
	return string(q.ResponseFormat.JSONSchema.Schema)
}

// The names that the API knows; it refuses others.
var (
	roles        = []string{"system", "developer", "user", "assistant", "tool"}
	providerKeys = []string{
		"order", "only", "ignore", "allow_fallbacks", "require_parameters", "data_collection", "zdr", "enforce_distillable_text",
		"quantizations", "sort", "preferred_min_throughput", "preferred_max_latency", "max_price",
	}
)

// refuse says what the API finds wrong with the request: status 0 if nothing.
func (s *Server) refuse(q *chatRequest) (status int, e apiError) {
	bad := func(format string, args ...any) (int, apiError) {
		return 400, apiError{Code: 400, Message: fmt.Sprintf(format, args...)}
	}
	m := s.models[q.Model]
	if m == nil {
		return bad("%s is not a valid model ID", q.Model)
	}
	if len(q.Messages) == 0 {
		return bad("Input required: specify \"prompt\" or \"messages\"")
	}
	for i := range q.Messages {
		if !slices.Contains(roles, q.Messages[i].Role) {
			return bad("messages.%d.role: invalid", i)
		}
	}
	if t := q.Temperature; t != nil && (*t < 0 || *t > 2) {
		return bad("temperature: must be between 0 and 2")
	}
	if tier := q.ServiceTier; !slices.Contains([]string{"", "auto", "default", "flex", "priority"}, tier) {
		return bad("service_tier: invalid value %q", tier)
	}
	for key := range q.Provider {
		if !slices.Contains(providerKeys, key) {
			return bad("provider: unrecognized key %q", key)
		}
	}
	for name, sent := range map[string]bool{
		"temperature": q.Temperature != nil, "seed": q.Seed != nil, "max_tokens": q.MaxTokens != nil,
		"reasoning_effort": q.ReasoningEffort != nil, "reasoning": q.Reasoning != nil,
	} {
		if !sent || !slices.Contains(m.Refuses, name) {
			continue
		}
		e := apiError{Code: "unsupported_parameter", Param: name, Message: fmt.Sprintf("Unsupported parameter: '%s' is not supported with this model.", name)}
		if name == "max_tokens" {
			e.Message += " Use 'max_completion_tokens' instead."
		}
		return 400, e
	}
	if n := q.tokens(); m.ContextError != "" && n > m.ContextLength {
		return 400, apiError{Code: 400, Message: fmt.Sprintf(m.ContextError, n, m.ContextLength), top: m.TopError}
	}
	if m.MaxCompletion > 0 && q.limit() > m.MaxCompletion && (q.MaxTokens != nil || q.MaxCompletionTokens != nil) {
		return bad("max_tokens is too large: %d. This model supports at most %d completion tokens, whereas you provided %d.", q.limit(), m.MaxCompletion, q.limit())
	}
	if f := q.ResponseFormat; f != nil && m.Formats != nil && !slices.Contains(m.Formats, f.Type) {
		return bad("'response_format.type' must be one of %s", strings.Join(append([]string{"text"}, m.Formats...), ", "))
	}
	if f := q.ResponseFormat; f != nil && f.Type == "json_schema" && (f.JSONSchema == nil || f.JSONSchema.Name == "" || len(f.JSONSchema.Schema) == 0) {
		return bad("response_format.json_schema: name and schema are required")
	}
	if q.Provider["require_parameters"] == true {
		for name, sent := range map[string]bool{"temperature": q.Temperature != nil, "response_format": q.ResponseFormat != nil, "seed": q.Seed != nil} {
			if sent && !slices.Contains(m.Parameters, name) {
				return 404, apiError{
					Code: 404, Message: "No endpoints found that can handle the requested parameters.",
					Metadata: map[string]any{"error_type": "constraint_filtered"},
				}
			}
		}
	}
	return 0, apiError{}
}

// An apiError is the error object of an answer.
type apiError struct {
	Code     any            `json:"code,omitempty"`
	Message  string         `json:"message,omitempty"`
	Param    string         `json:"param,omitempty"`
	top      bool           // it stands at the top of the body
	Metadata map[string]any `json:"metadata,omitempty"`

	// Of the newer shape, which has no code.
	HTTPStatus   int            `json:"http_status,omitempty"`
	ErrorType    string         `json:"error_type,omitempty"`
	Availability map[string]any `json:"availability,omitempty"`
}

func writeError(w http.ResponseWriter, status int, e apiError) {
	if e.top {
		writeJSON(w, status, map[string]any{"object": "error", "message": e.Message, "type": "BadRequestError", "param": nil, "code": e.Code})
		return
	}
	writeJSON(w, status, map[string]any{"error": e, "user_id": "user_fake"})
}

func writeJSON(w http.ResponseWriter, status int, v any) { writeBody(w, status, mustMarshal(v)) }

func writeBody(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// An error means that the client has gone, which is its right.
	_, _ = w.Write(body)
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

// decimal is a price in USD as /models writes it: a string.
func decimal(nano int64) string {
	if nano < 0 {
		return "-1" // of a router: it depends
	}
	return strconv.FormatFloat(usd(nano), 'f', -1, 64)
}

func (t *turn) flush() {
	if f, ok := t.w.(http.Flusher); ok {
		f.Flush()
	}
}

// silent takes what the HTTP server says of broken connections, which the
// faults break on purpose.
var silent = log.New(io.Discard, "", 0)

// An Exchange is one request for an answer and what became of it.
type Exchange struct {
	Start, End time.Time // when it came, and when its answer began to be sent
	Body       [32]byte  // SHA-256 of its body
	Question   [32]byte  // SHA-256 of what is asked, however it is put: model, messages, seed
	Repair     bool      // a turn after a reply of no use
	Batch      string    // that it was a line of; "" for a call
	Text       []byte    // the body itself, if kept
	Attempt    int       // how often this body was let in before, from 0; -1 if a limit kept it out
	Status     int       // of HTTP, 0 if the connection was cut
	Fault      Fault     // "" if none
	Prompt     int64     // tokens of the prompt, estimated
	Paid       bool      // it was charged
	Whole      bool      // a whole and valid answer was handed out
	NanoUSD    int64
	// NotBefore is when the same request may come again, zero if nothing was
	// said.
	NotBefore time.Time
}

// Log returns what has ended so far. An exchange enters it just after its
// answer is sent; after Close nothing is missing.
func (s *Server) Log() []Exchange {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log)
}

// ResetLog forgets what came so far, totals included; what was spent and how
// often bodies came stays.
func (s *Server) ResetLog() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log, s.counts = nil, Counts{}
}

// PaidTwice names the requests for which whole answers were handed out more
// than once.
func PaidTwice(log []Exchange) []string {
	whole := make(map[[32]byte]int)
	var twice []string
	for i := range log {
		if !log[i].Whole {
			continue
		}
		if whole[log[i].Body]++; whole[log[i].Body] > 1 {
			twice = append(twice, fmt.Sprintf("request %x: whole answer number %d", log[i].Body[:4], whole[log[i].Body]))
		}
	}
	return twice
}

// EarlyRetries names the requests that came again before they were allowed to.
func EarlyRetries(log []Exchange) []string {
	byStart := slices.Clone(log)
	slices.SortStableFunc(byStart, func(a, b Exchange) int { return a.Start.Compare(b.Start) })
	notBefore := make(map[[32]byte]time.Time)
	var early []string
	for i := range byStart {
		x := &byStart[i]
		if until := notBefore[x.Body]; x.Start.Before(until) {
			early = append(early, fmt.Sprintf("request %x: %v before its time", x.Body[:4], until.Sub(x.Start)))
		}
		if x.NotBefore.After(notBefore[x.Body]) {
			notBefore[x.Body] = x.NotBefore
		}
	}
	return early
}

// record adds a finished exchange to the log and the totals.
func (s *Server) record(x *Exchange) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts.Requests++
	if x.Whole {
		s.counts.Answers++
	}
	if x.Fault != "" {
		s.counts.Faults++
	}
	if x.Attempt < 0 || x.Fault == stray {
		s.counts.Refused++
	}
	if !s.config.Lean {
		s.log = append(s.log, *x)
	}
}
