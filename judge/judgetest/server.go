// Package judgetest has a fake of the services that live judges ask.
//
// [NewServer] starts a service on the loopback that speaks OpenRouter's API, with its faults and
// its limits and a count of what was paid: point a judge's base URL at [Server.URL].
package judgetest

import (
	"encoding/json"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// DefaultKey is the API key that a [Server] takes if its configuration has no other.
const DefaultKey = "sk-or-v1-of-the-fake-server"

// A ServerConfig says how a fake service behaves. The zero value is a healthy service without
// limits that answers at once.
type ServerConfig struct {
	Key    string  // API key, "" for [DefaultKey]
	Models []Model // nil for [DefaultModels]
	// Reply answers a prompt with the text of the message, nil for [Overlap].
	Reply func(*Prompt) string
	// Verifier is the small model that answers instead, nil for none.
	Verifier *VerifierConfig
	Batches  *BatchConfig // nil if it takes no batches

	// Seed, the body of a request and how often it came decide about faults and latency, so
	// that a run repeats in whatever order requests come.
	Seed    uint64
	Latency Latency // nil for none
	// Faults are spread over FaultShare, a fraction, of all attempts. MaxFaults is how many
	// there are in all, 0 for no limit; with it, the order of requests matters.
	Faults     []Fault
	FaultShare float64
	MaxFaults  int
	// RetryAfter is the delay that faults ask for, 0 for 100 ms. Forms that know only whole
	// seconds round it up.
	RetryAfter time.Duration
	// HangTime is after how long the fault hang breaks the connection, 0 for never.
	HangTime time.Duration

	// Rate is how many requests a second are let in, in bursts of 10, and MaxInFlight how many
	// at once; more get 429. 0 = no limit.
	Rate        float64
	MaxInFlight int
	// CreditNanoUSD is what may be spent; then comes 402. 0 = no limit.
	CreditNanoUSD int64

	// NoNetwork serves no port: requests come by [Server.Client] alone, and all runs in the
	// bubble of testing/synctest, where time is simulated.
	NoNetwork bool
	// KeepBodies keeps the bodies of requests in the log.
	KeepBodies bool
}

// Latency draws how long an answer takes.
type Latency func(*rand.Rand) time.Duration

// Constant is the same latency for all answers.
func Constant(d time.Duration) Latency { return func(*rand.Rand) time.Duration { return d } }

// Lognormal is a latency with that median and that standard deviation of its logarithm.
func Lognormal(median time.Duration, sigma float64) Latency {
	return func(r *rand.Rand) time.Duration {
		return time.Duration(float64(median) * math.Exp(sigma*r.NormFloat64()))
	}
}

// A Server imitates the chat API of OpenRouter: POST /chat/completions, GET /models and /key
// under [Server.URL], and batches. It is safe for concurrent use.
type Server struct {
	config ServerConfig
	http   *httptest.Server // nil without network
	routes *http.ServeMux
	models map[string]*Model
	limit  *rate.Limiter
	turns  sync.WaitGroup // handlers under way, which may outlive their connection

	mu          sync.Mutex
	bodies      map[[32]byte]*bodyState
	answers     map[string]int // whole ones, by question
	inFlight    int
	faults      int // so far
	counts      Counts
	log         []Exchange
	batches     []*serverBatch
	files       map[string][]byte // that were uploaded
	held        bool              // no batch moves on
	submissions int               // of batches
}

// A bodyState is how often a body was let in, and when it may come again.
type bodyState struct {
	attempts  int
	notBefore time.Time
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
	s := &Server{
		config: config, routes: http.NewServeMux(), models: make(map[string]*Model), limit: rate.NewLimiter(rate.Inf, 10),
		bodies: make(map[[32]byte]*bodyState), answers: make(map[string]int), files: make(map[string][]byte),
	}
	for i := range config.Models {
		s.models[config.Models[i].ID] = &config.Models[i]
	}
	if config.Rate > 0 {
		s.limit.SetLimit(rate.Limit(config.Rate))
	}
	s.route("POST /api/v1/chat/completions", s.exchange)
	s.route("GET /api/v1/key", s.keyInfo)
	s.routes.HandleFunc("GET /api/v1/models", s.listModels)
	s.routeBatches()
	s.routeVerifier()
	if config.NoNetwork {
		return s
	}
	s.http = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.locked(func() { s.counts.Served++ })
		s.routes.ServeHTTP(w, r)
	}))
	s.http.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.locked(func() { s.counts.Connections++ })
		}
	}
	s.http.Config.ErrorLog = log.New(io.Discard, "", 0) // of connections that faults break
	s.http.Start()
	return s
}

// route serves a pattern to requests with the key. Small models know no keys.
func (s *Server) route(pattern string, handle http.HandlerFunc) {
	s.routes.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		if s.config.Verifier == nil && r.Header.Get("Authorization") != "Bearer "+s.config.Key {
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
	s.locked(func() {
		c = s.counts
		c.Questions = len(s.answers)
	})
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
