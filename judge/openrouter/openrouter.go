// Package openrouter judges with language models behind OpenRouter, or behind
// any endpoint that speaks the chat API of OpenAI.
//
// One request to a model holds all claims and citations of a row. Every reply is
// validated against the request and
// kept in a [cache.SQLite] under the digest of the exact bytes that were sent, so
// that nothing is paid for twice: not on a rerun, not after a crash, not by
// several processes at once. Claims that it leaves open are asked again once, as a part of the
// row; a reply of no use is told of its defect. What fails is retried by its kind;
// a row of which nothing can be answered is a [*judge.RowFailure], and what no retry of any row
// can mend is a [*judge.StopError].
//
// Amounts of money are int64 billionths of a US dollar.
package openrouter

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	openai "github.com/sashabaranov/go-openai"
	"golang.org/x/sync/singleflight"

	"ibid/judge"
	"ibid/judge/cache"
	"ibid/judge/prompts"
)

// A Judge asks models. It implements [judge.Live] and [judge.Splitter].
type Judge struct {
	config  Config
	members []*member
	prompts *prompts.Set
	client  *openai.Client
	wire    *doer
	store   *cache.SQLite
	owner   string // of leases
	budget  *budget
	asked   singleflight.Group // by key
	counts  counters
	began   time.Time  // of this process, in milliseconds as the store has them
	before  sync.Map   // keys of answers that earlier processes of the run paid for, taken by some row
	leaving sync.Mutex // while a model is left out
	stopped atomic.Pointer[judge.StopError]
	halted  context.Context // ends when the judge stops
	halt    context.CancelFunc

	// Of small verifiers; verifier is nil for others.
	verifier   *verifier
	serverOnce sync.Once
	serverSaid serverInfo

	listing    atomic.Pointer[map[string]ModelInfo] // what the endpoint says of its models; nil until it does
	modelsOnce sync.Once
}

// A member is one model that is asked; a panel has several.
type member struct {
	model string
	head  *requestHead // of matrix requests
	split *requestHead // of requests for claims
	small *requestHead // of one claim and one text

	profile *profile
	gate    *gate
	stopped atomic.Pointer[judge.StopError] // why it is asked no more
	halted  context.Context                 // ends then
	halt    context.CancelFunc
}

// New returns a judge. It does not go over the network.
func New(config Config) (*Judge, error) {
	set, err := config.prepare()
	if err != nil {
		return nil, err
	}
	j := &Judge{
		config: config, prompts: set, store: config.Store, owner: cmp.Or(config.Owner, rand.Text()),
		budget: newBudget(config.MaxCostNanoUSD, config.SpentNanoUSD),
	}
	j.began = time.Now().Truncate(time.Millisecond)
	j.halted, j.halt = context.WithCancel(context.Background())
	j.wire = &doer{
		client: newClient(config.Concurrency), at: newEndpoint(config.BaseURL, config.Azure),
		key: config.Key, headers: config.Headers, secrets: newScrubber(config.Key, config.Headers),
	}
	if config.HTTP != nil {
		j.wire.client.Transport = config.HTTP.Transport
	}
	clientConfig := j.wire.at.client(config.Key)
	clientConfig.HTTPClient = j.wire
	j.client = openai.NewClientWithConfig(clientConfig)
	for _, model := range config.Models {
		m := &member{
			model:   model,
			head:    &requestHead{config: &j.config, model: model, system: set.Text(prompts.MatrixSystem), schema: config.schema()},
			small:   &requestHead{config: &j.config, model: model},
			split:   &requestHead{config: &j.config, model: model, system: set.Text(prompts.ClaimsSystem), schema: judge.SplitSchema},
			profile: &profile{model: model, note: j.counts.note, learnt: j.learn},
			gate:    newGate(&j.config, model),
		}
		m.halted, m.halt = context.WithCancel(j.halted)
		j.members = append(j.members, m)
	}
	if config.small() {
		if j.verifier, err = newVerifier(config.Protocol, config.Verifier); err != nil {
			return nil, err
		}
		small := j.members[0].small
		small.system, small.logprobs, small.reading = j.verifier.System, config.Protocol == YesNo, j.verifier.version()
	}
	return j, nil
}

// Close closes connections; every answer that the judge has given is durable. The store
// stays open: it is the caller's.
func (j *Judge) Close() error {
	for _, m := range j.members {
		m.profile.close()
	}
	j.wire.client.CloseIdleConnections()
	return nil
}

// Format names the judge, whatever the verb; the key is not part of it.
func (j *Judge) Format(s fmt.State, _ rune) { fmt.Fprint(s, j.config.Kind, " ", j.Info().Model) }

// Info names the model that is asked for, "" for a panel. Who answered stands
// in each call.
func (j *Judge) Info() judge.Info {
	info := judge.Info{Kind: j.config.Kind, Prompt: j.prompts.Version()}
	if j.config.Claims {
		info.Prompt += "+" + j.prompts.ClaimsVersion()
	}
	if len(j.members) == 1 {
		info.Model = j.members[0].model
	}
	if j.verifier != nil {
		info.Prompt = j.verifier.version()
	}
	return info
}

// Judge gives a verdict on r. Claims that no model needs to see are settled
// without one; a row of such claims costs nothing.
func (j *Judge) Judge(ctx context.Context, r *judge.Request) (*judge.Verdict, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if j.config.Protocol == Verdicts {
		return j.judgeMatrix(ctx, r)
	}
	return j.judgeSmall(ctx, r)
}

// counters are what has happened so far.
type counters struct {
	asked, cached, retries, failed       atomic.Int64
	answered, answerCost, listed, hidden atomic.Int64

	mu    sync.Mutex
	notes []string
}

// Notes say what was learnt of the models and changed about requests.
func (j *Judge) Notes() []string {
	j.counts.mu.Lock()
	defer j.counts.mu.Unlock()
	return slices.Clone(j.counts.notes)
}

// Usage is what the judge has done so far.
func (j *Judge) Usage() judge.Usage {
	c := &j.counts
	u := judge.Usage{
		Asked: c.asked.Load(), Cached: c.cached.Load(), Retries: c.retries.Load(), Failed: c.failed.Load(),
		CostNanoUSD: j.budget.total() - j.config.SpentNanoUSD,
		Answered:    c.answered.Load(), AnswerNanoUSD: c.answerCost.Load(), ListNanoUSD: c.listed.Load(), HiddenTokens: c.hidden.Load(),
	}
	for _, m := range j.members {
		inFlight, _ := m.gate.state()
		u.InFlight += inFlight
	}
	return u
}

// note takes note of what was learnt of a model.
func (c *counters) note(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.notes = append(c.notes, text)
}

// newClient keeps a connection for every call that can be under way, which
// the default of two would open anew each time. There is no limit on the time
// to the headers: answers that are not streamed send them late. It follows no
// redirect: what a request says, and its key, are for its endpoint alone.
func newClient(concurrency int) *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost, t.MaxConnsPerHost = 0, concurrency, 0
	t.IdleConnTimeout = 90 * time.Second
	t.TLSHandshakeTimeout = 10 * time.Second
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &http.Client{Transport: t, CheckRedirect: stay}
}

// The kinds of endpoints.
const (
	KindOpenRouter = "openrouter"
	KindOpenAI     = "openai" // any that is compatible: what only OpenRouter knows is left out
)

// A Config says whom a [Judge] asks and how. Only Models must be
// given.
type Config struct {
	Kind    string   // KindOpenRouter or KindOpenAI; "" for the first
	BaseURL string   // "" for OpenRouter's, or with KindOpenAI for OpenAI's own
	Azure   bool     // BaseURL takes keys and models as Azure does
	Key     string   // API key; it is sent to BaseURL and shown nowhere
	Models  []string // that are asked together; one is usual

	// Request are members of every request, as they are. max_tokens is raised to the need
	// of each request; service_tier is no part of a question's key, and each vote adds 1 to
	// seed.
	Request map[string]any
	// Headers are sent with every request. Their values are shown nowhere.
	Headers map[string]string
	// Batch: questions go out in batches, by a [Batcher], at about half the price. It
	// changes what is estimated, and no answer. Resubmit: what was to be answered by a
	// batch whose fate nobody can tell is asked again.
	Batch      bool
	Resubmit   bool
	batchLines int // most questions of a batch, 0 for as many as the service takes; of tests

	// Protocol is Verdicts, "" for it, or Score, or YesNo or Classify of small verifiers,
	// which are asked about one claim and one text. They are not asked about passages that
	// a claim does not cite. Verifier is the file that says how they are asked; nil for
	// what they have built in.
	Protocol string
	Verifier map[string]any

	Claims    bool // sentences will be split, too
	Necessity bool // ask which citations suffice; Verdicts only
	// Votes is how many times each request is asked, with claims and evidence
	// in another order; the middle verdict counts. 0 for 1.
	Votes int
	// FallbackScore is the support of a pair whose answer is no number, with
	// protocol Score; nil leaves it unscored.
	FallbackScore *float64
	// MaxPairs is how many claims with citations go into one request, 0 for 24;
	// MaxClaims how many claims, 0 for no limit; MaxPromptTokens how many
	// estimated tokens, 0 for 100,000. Rows with more are asked in parts.
	MaxPairs, MaxClaims int
	MaxPromptTokens     int64

	Retries int           // of failed calls, for each request
	Timeout time.Duration // of one call; 0 = none
	// MaxOutage is how long no call may be answered before the judge stops, at the next
	// call that fails; 0 = no limit.
	MaxOutage time.Duration
	// Backoff bounds the first random wait after a failure that does not say
	// when to come again; the bound doubles each time. 0 for 1 s.
	Backoff     time.Duration
	RPM, TPM    int // most calls, and tokens, a minute; 0 = no limit, but 20 calls of a model whose name ends in :free
	Concurrency int // most calls under way to one model; 0 for 48
	// MaxCostNanoUSD stops the judge when that much is spent, with SpentNanoUSD
	// by earlier parts of the run; 0 = no limit.
	MaxCostNanoUSD, SpentNanoUSD int64
	// Prices by model, for endpoints that do not tell; they win over what an
	// endpoint tells.
	Prices map[string]Price

	PromptDir string        // of the user's own prompts; "" for the built-in ones
	Store     *cache.SQLite // of answers; nil for a judge that is only asked for a plan
	Run       string        // id of the run, for the store's audit
	// Owner names who asks. Leases that a crashed process held under the same
	// name are taken over at once; "" for a name of its own. Two processes that
	// run at the same time must not share it.
	Owner string

	HTTP *http.Client // gives the transport; nil makes one for Concurrency calls at once
}

// A Price is in US dollars a token.
type Price struct {
	Prompt, Completion float64
	Cached             float64 // of the part of a prompt that the provider remembers
	Request            float64 // for each call
}

const (
	defaultConcurrency     = 48
	defaultMaxPairs        = 24
	defaultMaxPromptTokens = 100_000
	defaultBackoff         = time.Second
	openRouterBaseURL      = "https://openrouter.ai/api/v1"
	openAIBaseURL          = "https://api.openai.com/v1"
)

// prepare fills in defaults and reads the prompts. Package configs has checked the settings.
func (c *Config) prepare() (*prompts.Set, error) {
	c.Kind = cmp.Or(c.Kind, KindOpenRouter)
	c.Protocol = cmp.Or(c.Protocol, Verdicts)
	if c.BaseURL == "" {
		c.BaseURL = openRouterBaseURL
		if c.Kind == KindOpenAI {
			c.BaseURL = openAIBaseURL
		}
	}
	c.BaseURL = strings.TrimRight(c.BaseURL, "/")
	c.Votes = cmp.Or(c.Votes, 1)
	c.MaxPairs = cmp.Or(c.MaxPairs, defaultMaxPairs)
	c.MaxPromptTokens = cmp.Or(c.MaxPromptTokens, defaultMaxPromptTokens)
	c.Concurrency = cmp.Or(c.Concurrency, defaultConcurrency)
	c.Backoff = cmp.Or(c.Backoff, defaultBackoff)
	if c.PromptDir == "" {
		return prompts.Builtin(), nil
	}
	return prompts.Load(c.PromptDir)
}

// small reports whether the judge is a small verifier.
func (c *Config) small() bool { return c.Protocol == YesNo || c.Protocol == Classify }

// Format names kind and models, whatever the verb; it keeps the key out of what is printed.
func (c Config) Format(s fmt.State, _ rune) { fmt.Fprint(s, c.Kind, " ", strings.Join(c.Models, ", ")) }

// seed is the seed of the first vote; 0 if none is sent.
func (c *Config) seed() int64 {
	n, _ := c.Request["seed"].(int64)
	return n
}

// room is how many tokens a reply that needs so many may have by the settings.
func (c *Config) room(need int64) int64 {
	for _, name := range limitNames {
		if n, ok := c.Request[name].(int64); ok {
			need = max(need, n)
		}
	}
	return need
}

// limitNames are the names of the limit of a reply.
var limitNames = []string{"max_tokens", "max_completion_tokens"}

// thinks reports whether the settings ask for reasoning.
func (c *Config) thinks() bool {
	reasoning, _ := c.Request["reasoning"].(map[string]any)
	effort, _ := c.Request["reasoning_effort"].(string)
	return len(reasoning) > 0 && reasoning["effort"] != "none" && reasoning["enabled"] != false || effort != "" && effort != "none"
}

func (c *Config) schema() string {
	if c.Necessity {
		return judge.SchemaNecessity
	}
	return judge.Schema
}

// loopback reports whether requests stay on this machine.
func (c *Config) loopback() bool {
	u, err := url.Parse(c.BaseURL)
	return err == nil && (u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback())
}

// endpoint is where requests go.
func (c *Config) endpoint() string { return c.BaseURL + "/chat/completions" }
