package openrouter

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"ibid/judge"
	"ibid/judge/cache"
)

// An Embedder asks an endpoint that speaks OpenAI's embeddings for vectors of
// texts, and keeps them in the store of a judge's answers: a text is paid for once.
// It implements the embedder of package presence and is safe for concurrent use.
type Embedder struct {
	// Model and BaseURL say whom to ask; Key is sent to BaseURL and shown nowhere, ""
	// for none.
	Model, BaseURL, Key string
	Azure               bool          // BaseURL takes keys and models as Azure does
	Store               *cache.SQLite // nil to keep nothing
	Run                 string        // id of the run, for the store's audit
	Retries             int           // of failed calls
	Timeout             time.Duration // of one call; 0 = none
	Offline             bool          // ask nothing: what the store does not have is an error
}

// ErrNotKept is the error of an offline [Embedder] that has no vector of a text.
var ErrNotKept = errors.New("no vector of the text is kept")

// embedTemplate names what is kept of a vector in the store.
const embedTemplate = "embedding-1"

// mostEmbedded is how many texts go into one call, of which some endpoints take no
// more.
const mostEmbedded = 64

// Embed returns one vector per text. The error is the context's, [ErrNotKept], the
// store's, or a [*judge.StopError] once the endpoint has failed for good.
func (e *Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	var open []int
	for i, text := range texts {
		if e.Store != nil {
			entry, err := e.Store.Get(ctx, e.key(text))
			if entry != nil && err == nil {
				err = json.Unmarshal(entry.Verdict, &vectors[i])
			}
			if err != nil {
				return nil, err
			}
		}
		if vectors[i] == nil {
			open = append(open, i)
		}
	}
	if len(open) > 0 && e.Offline {
		return nil, ErrNotKept
	}
	for part := range slices.Chunk(open, mostEmbedded) {
		asked := make([]string, len(part))
		for k, i := range part {
			asked[k] = texts[i]
		}
		got, err := e.ask(ctx, asked)
		if err != nil {
			return nil, err
		}
		for k, i := range part {
			vectors[i] = got[k]
		}
	}
	return vectors, nil
}

// key is what an answer depends on: whom is asked, and for what text.
func (e *Embedder) key(text string) cache.Key {
	return sha256.Sum256(quoted([]string{embedTemplate, strings.TrimRight(e.BaseURL, "/"), e.Model, text}))
}

// embedded is the body of a response.
type embedded struct {
	Model string `json:"model"`
	Data  []struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	} `json:"data"`
	Usage usage `json:"usage"`

	vectors [][]float32 // those of Data, by the index of their texts
}

// ask makes a call, and again if it fails. Each call is in the store's audit, under the
// key of its first text; one that cannot be written there is not asked again.
func (e *Embedder) ask(ctx context.Context, texts []string) ([][]float32, error) {
	body := quoted(map[string]any{"model": e.Model, "input": texts, "encoding_format": "float"})
	for try := 0; ; try++ {
		began := time.Now()
		x := &exchange{body: body}
		out, err := e.call(ctx, x, len(texts))
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		cost, _ := out.Usage.cost()
		a := cache.Attempt{Key: e.key(texts[0]), N: try + 1, HTTPStatus: x.status, Class: string(classOK), Millis: time.Since(began).Milliseconds(), CostNanoUSD: cost, At: began.UTC(), Run: e.Run}
		if err != nil {
			a.Class, a.Error = string(classTransient), excerpt(err.Error())
		}
		if e.Store != nil {
			_ = e.Store.Record(context.WithoutCancel(ctx), a)
		}
		if err == nil {
			return out.vectors, e.keep(ctx, texts, &out, &a)
		}
		mendable := x.status == 0 || x.status == http.StatusTooManyRequests || x.status == http.StatusRequestTimeout || x.status >= 500
		if !mendable || try >= e.Retries {
			return nil, &judge.StopError{Reason: judge.StopEmbedder, Err: err, Hint: "see presence.embed_model; vectors so far are kept"}
		}
		wait, _ := delayOf(x.header, &wireError{}, time.Now())
		if err := sleep(ctx, max(wait, defaultBackoff<<min(try, 10))); err != nil {
			return nil, err
		}
	}
}

// mostVectors is the longest response that is read, in bytes.
const mostVectors = 64 << 20

// call makes a call for n texts. The status of the exchange is 0 if there is no whole response.
func (e *Embedder) call(ctx context.Context, x *exchange, n int) (out embedded, err error) {
	if e.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, e.Timeout)
		defer cancel()
	}
	at := newEndpoint(e.BaseURL, e.Azure)
	wire := &doer{client: embedClient, at: at, key: e.Key, secrets: new(scrubber)}
	err = wire.transfer(ctx, http.MethodPost, at.url("/embeddings", e.Model), "application/json", x, mostVectors)
	if of, ok := errors.AsType[*url.Error](err); ok {
		err = of.Err // without the address, which may hold a secret
	}
	if err != nil && !x.moved {
		x.status, x.header = 0, nil
		return out, err
	}
	if x.status != http.StatusOK {
		return out, fmt.Errorf("HTTP %d: %s", x.status, excerpt(newScrubber(e.Key, nil).text(string(x.raw))))
	}
	if err := json.Unmarshal(x.raw, &out); err != nil {
		return out, fmt.Errorf("a response that is no list of embeddings: %w", err)
	}
	out.vectors = make([][]float32, n)
	for _, d := range out.Data {
		if 0 <= d.Index && d.Index < n {
			out.vectors[d.Index] = d.Embedding
		}
	}
	if len(out.Data) != n || slices.ContainsFunc(out.vectors, func(v []float32) bool { return len(v) == 0 }) {
		return out, fmt.Errorf("embeddings of %d texts, and not one of each of %d", len(out.Data), n)
	}
	return out, nil
}

var embedClient = newClient(8)

// keep puts the vectors into the store, where each text has its share of tokens and
// cost.
func (e *Embedder) keep(ctx context.Context, texts []string, out *embedded, a *cache.Attempt) error {
	n := int64(len(texts))
	for i, vector := range out.vectors {
		if e.Store == nil {
			break
		}
		if err := e.Store.Put(context.WithoutCancel(ctx), &cache.Entry{
			Key: e.key(texts[i]), Status: cache.StatusOK, Verdict: quoted(vector),
			ModelRequested: e.Model, ModelResolved: cmp.Or(out.Model, e.Model), Template: embedTemplate,
			PromptTokens: int64(out.Usage.Prompt) / n, CostNanoUSD: a.CostNanoUSD / n,
			LatencyMillis: a.Millis, Attempts: a.N, Created: time.Now().UTC(), Run: e.Run,
		}); err != nil {
			return err
		}
	}
	return nil
}
