package judgetest

import (
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
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

	// Rate is how many requests a second are let in, in bursts of Burst (0 for
	// 10); more get 429. 0 = no limit.
	Rate  float64
	Burst int
	// MaxInFlight is how many requests are served at once; more get 429. 0 = no
	// limit.
	MaxInFlight int
	// CreditNanoUSD is what may be spent; then comes 402. 0 = no limit.
	CreditNanoUSD int64

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
// It serves POST /chat/completions and GET /models, /key, /credits and
// /generation under [Server.URL].
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
	generations map[string]generation
	cached      map[[32]byte]stored // answers kept on X-OpenRouter-Cache
}

// Counts are totals of a server.
type Counts struct {
	Requests     int // for answers, whatever became of them
	Answers      int // whole answers handed out
	Refused      int // by 429 of a limit or a stray one
	Faults       int
	Connections  int
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
		generations: make(map[string]generation), cached: make(map[[32]byte]stored),
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
	mux.HandleFunc("GET /api/v1/credits", s.authorized(s.credits))
	mux.HandleFunc("GET /api/v1/generation", s.authorized(s.generation))
	s.routes = mux
	if config.NoNetwork {
		return s
	}
	s.http = httptest.NewUnstartedServer(mux)
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
