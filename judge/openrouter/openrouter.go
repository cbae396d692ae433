// Package openrouter judges with language models behind OpenRouter, or behind
// any endpoint that speaks the chat API of OpenAI.
//
// One request to a model holds all claims and citations of a row. Every reply is
// validated against the request, told of its defect once if it has one, and
// kept in a [cache.Store] under the digest of the exact bytes that were sent, so
// that nothing is paid for twice: not on a rerun, not after a crash, not by
// several processes at once. What fails is retried by its kind (see [Class]);
// what cannot be answered is a [*judge.RowFailure], and what no retry of any row
// can mend is a [*judge.StopError].
//
// Amounts of money are int64 billionths of a US dollar.
package openrouter

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	openai "github.com/sashabaranov/go-openai"

	"ibid/judge"
	"ibid/judge/cache"
	"ibid/judge/prompts"
)

// A Judge asks models. It implements [judge.Live].
type Judge struct {
	config  Config
	members []*member
	prompts *prompts.Set
	client  *openai.Client
	http    *http.Client
	store   cache.Store // nil if nothing is kept
	owner   string      // of leases
	limiter *limiter
	pace    pace
	circuit *circuit
	budget  *budget
	flights flights
	leases  *leases
	counts  counters
	stopped atomic.Pointer[judge.StopError]

	modelsOnce sync.Once
	catalogue  atomic.Pointer[catalogue] // nil until it is asked for
}

// A member is one model that is asked; a panel has several.
type member struct {
	model string
	head  *requestHead // of matrix requests
	pair  *requestHead // of pairwise requests
}

// New returns a judge. It does not go over the network. Settings that cannot
// be used are an error.
func New(config Config) (*Judge, error) {
	set, err := config.prepare()
	if err != nil {
		return nil, err
	}
	owner := config.Owner
	if owner == "" {
		var b [16]byte
		_, _ = rand.Read(b[:]) // it never fails
		owner = hex.EncodeToString(b[:])
	}
	j := &Judge{
		config: config, prompts: set, store: config.Store, owner: owner,
		limiter: newLimiter(config.Concurrency, config.Now), pace: newPace(config.RPM),
		circuit: newCircuit(config.CircuitFailures, config.CircuitPause, config.Now),
		budget:  newBudget(config.MaxCostNanoUSD, config.SpentNanoUSD),
	}
	j.http = config.HTTP
	if j.http == nil {
		j.http = &http.Client{Transport: newTransport(config.Concurrency)}
	}
	clientConfig := openai.DefaultConfig(config.Key)
	clientConfig.BaseURL = config.BaseURL
	clientConfig.HTTPClient = &doer{client: j.http}
	j.client = openai.NewClientWithConfig(clientConfig)
	for _, model := range config.models() {
		j.members = append(j.members, &member{
			model: model,
			head:  newRequestHead(&j.config, model, set.Text(prompts.MatrixSystem), config.schema()),
			pair:  newRequestHead(&j.config, model, "", ""),
		})
	}
	j.leases = newLeases(j.store, owner)
	return j, nil
}

// Close ends what the judge does in the background; every answer that it has
// given is durable by then. The store stays open: it is the caller's.
func (j *Judge) Close() error {
	j.leases.close()
	if j.config.HTTP == nil {
		j.http.CloseIdleConnections()
	}
	return nil
}

// String names the judge; the key is not part of it.
func (j *Judge) String() string { return j.config.Kind + " " + j.Info().Model }

// GoString is String: what %#v prints has no key either.
func (j *Judge) GoString() string { return j.String() }

// Info names the model that is asked for, "" for a panel. Who answered stands
// in each call.
func (j *Judge) Info() judge.Info {
	info := judge.Info{Kind: j.config.Kind, Prompt: j.prompts.Version()}
	if len(j.members) == 1 {
		info.Model = j.members[0].model
	}
	return info
}

// Judge gives a verdict on r. Claims that no model needs to see are settled
// without one; a row of such claims costs nothing.
func (j *Judge) Judge(ctx context.Context, r *judge.Request) (*judge.Verdict, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	j.counts.rows.Add(1)
	if j.config.Mode == Pairwise {
		return j.judgePairs(ctx, r)
	}
	return j.judgeMatrix(ctx, r)
}

// newTransport keeps a connection for every call that can be under way, which
// the default of two would open anew each time. There is no limit on the time
// to the headers: answers that are not streamed send them late.
func newTransport(concurrency int) *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost, t.MaxConnsPerHost = 0, concurrency, 0
	t.IdleConnTimeout = 90 * time.Second
	t.TLSHandshakeTimeout = 10 * time.Second
	return t
}
