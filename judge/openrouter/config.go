package openrouter

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"ibid/judge"
	"ibid/judge/cache"
	"ibid/judge/prompts"
)

// The kinds of endpoints.
const (
	KindOpenRouter = "openrouter"
	KindOpenAI     = "openai" // any that is compatible: what only OpenRouter knows is left out
)

// The modes of asking.
const (
	Matrix   = "matrix"   // all claims and citations of a row in one request
	Pairwise = "pairwise" // one request for a claim and a citation, by the prompts of the specification
)

// DefaultBaseURL is OpenRouter's.
const DefaultBaseURL = "https://openrouter.ai/api/v1"

// A Config says whom a [Judge] asks and how. Only Model, or Panel, must be
// given.
type Config struct {
	Kind    string // KindOpenRouter or KindOpenAI; "" for the first
	BaseURL string // "" for [DefaultBaseURL], or with KindOpenAI for OpenAI's own
	Key     string // API key; it is sent to BaseURL and shown nowhere
	Model   string
	Panel   []string // models asked together, instead of Model

	Temperature float64
	Seed        int64
	// MaxTokens is raised to the need of each request; 0 = that need.
	MaxTokens int64
	// Provider and Reasoning are passed on to OpenRouter as they are.
	Provider, Reasoning map[string]any

	Mode      string // Matrix or Pairwise; "" for the first
	Necessity bool   // ask which citations suffice; Matrix only
	// Votes is how many times each request is asked, with claims and evidence
	// in another order; the middle verdict counts. 0 for 1.
	Votes int
	// NoEscalation leaves doubtful verdicts as they are. Otherwise a request
	// asked once whose verdict has an unsure label, or that reports tampering,
	// is asked up to twice more.
	NoEscalation bool
	// FallbackScore is the support of a pair whose answer is no number, in
	// Pairwise mode; nil leaves it unscored.
	FallbackScore *float64
	// MaxPairs is how many claims with citations go into one request, 0 for 24;
	// MaxClaims how many claims, 0 for no limit; MaxPromptTokens how many
	// estimated tokens, 0 for 100,000. Rows with more are asked in parts.
	MaxPairs, MaxClaims int
	MaxPromptTokens     int64

	Retries     int           // of failed calls, for each request
	Timeout     time.Duration // of one call; 0 = none
	MaxRateWait time.Duration // how long a request waits for rate limits in all; 0 = no limit
	// Backoff bounds the first random wait after a failure that does not say
	// when to come again; the bound doubles each time. 0 for 1 s.
	Backoff     time.Duration
	RPM         int // most calls a minute; 0 = no limit
	Concurrency int // most calls under way; 0 for 50
	// MaxCostNanoUSD stops the judge when that much is spent, with SpentNanoUSD
	// by earlier parts of the run; 0 = no limit.
	MaxCostNanoUSD, SpentNanoUSD int64
	// Prices by model, for endpoints that do not tell; they win over what an
	// endpoint tells.
	Prices map[string]Price
	// CircuitFailures is after how many failures of the server in a row all
	// calls pause for CircuitPause; 0 for 20 and 30 s.
	CircuitFailures int
	CircuitPause    time.Duration

	PromptDir string      // of the user's own prompts; "" for the built-in ones
	Store     cache.Store // of answers; nil to keep none
	Run       string      // id of the run, for the store's audit
	// Owner names who asks. Leases that a crashed process held under the same
	// name are taken over at once; "" for a name of its own. Two processes that
	// run at the same time must not share it.
	Owner string

	HTTP *http.Client     // "" for one that fits Concurrency
	Now  func() time.Time // nil for time.Now
}

// A Price is in US dollars a token.
type Price struct {
	Prompt, Completion float64
	Request            float64 // for each call
}

const (
	defaultConcurrency     = 50
	defaultMaxPairs        = 24
	defaultMaxPromptTokens = 100_000
	defaultBackoff         = time.Second
	defaultCircuitFailures = 20
	defaultCircuitPause    = 30 * time.Second
	openAIBaseURL          = "https://api.openai.com/v1"
)

// prepare checks the settings, fills in defaults and reads the prompts.
func (c *Config) prepare() (*prompts.Set, error) {
	switch c.Kind {
	case "":
		c.Kind = KindOpenRouter
	case KindOpenRouter, KindOpenAI:
	default:
		return nil, fmt.Errorf("judge kind %q: not one of %s, %s", c.Kind, KindOpenRouter, KindOpenAI)
	}
	switch c.Mode {
	case "":
		c.Mode = Matrix
	case Matrix, Pairwise:
	default:
		return nil, fmt.Errorf("judge mode %q: not one of %s, %s", c.Mode, Matrix, Pairwise)
	}
	if c.BaseURL == "" {
		c.BaseURL = DefaultBaseURL
		if c.Kind == KindOpenAI {
			c.BaseURL = openAIBaseURL
		}
	}
	c.BaseURL = strings.TrimRight(c.BaseURL, "/")
	if len(c.models()) == 0 {
		return nil, errors.New("no model to judge with")
	}
	if c.Necessity && c.Mode == Pairwise {
		return nil, errors.New("pairwise mode cannot ask which citations are needed")
	}
	setDefault(&c.Votes, 1)
	setDefault(&c.MaxPairs, defaultMaxPairs)
	setDefault(&c.MaxPromptTokens, defaultMaxPromptTokens)
	setDefault(&c.Concurrency, defaultConcurrency)
	setDefault(&c.Backoff, defaultBackoff)
	setDefault(&c.CircuitFailures, defaultCircuitFailures)
	setDefault(&c.CircuitPause, defaultCircuitPause)
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.PromptDir == "" {
		return prompts.Builtin(), nil
	}
	return prompts.Load(c.PromptDir)
}

func setDefault[T int | int64 | time.Duration](v *T, to T) {
	if *v == 0 {
		*v = to
	}
}

// String names kind and models; it keeps the key out of what is printed.
func (c Config) String() string { return c.Kind + " " + strings.Join(c.models(), ", ") }

// GoString is String.
func (c Config) GoString() string { return c.String() }

// models are those to ask.
func (c *Config) models() []string {
	if len(c.Panel) > 0 {
		return c.Panel
	}
	if c.Model == "" {
		return nil
	}
	return []string{c.Model}
}

func (c *Config) schema() string {
	if c.Necessity {
		return judge.SchemaNecessity
	}
	return judge.Schema
}

// endpoint is where requests go.
func (c *Config) endpoint() string { return c.BaseURL + "/chat/completions" }
