package openrouter

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"ibid"
	"ibid/judge"
	"ibid/judge/cache"
)

// defaultBatch is how many inputs a call to a classifier has, where its server does not
// say how many it takes. It is the default of text-embeddings-inference.
const defaultBatch = 32

// A serverInfo is what a server of a classifier says of itself.
type serverInfo struct {
	maxInput int      // tokens of an input; 0 if it does not say
	maxBatch int      // inputs of a call
	labels   []string // of the classes, in order; nil if it does not say
}

// classifierRoot is where the server of a classifier is: base_url without the /v1 that
// chat APIs have.
func (j *Judge) classifierRoot() string { return strings.TrimSuffix(j.config.BaseURL, "/v1") }

func (j *Judge) classifierURL() string { return j.classifierRoot() + "/predict" }

// server asks a server of text-embeddings-inference what it takes, once. One that says
// nothing is taken to have its defaults: the first call shows whether it is there.
func (j *Judge) server(ctx context.Context) serverInfo {
	j.serverOnce.Do(func() {
		j.serverSaid = serverInfo{maxBatch: defaultBatch}
		status, body, err := j.get(ctx, j.classifierRoot()+"/info")
		if err == nil && status == http.StatusOK {
			j.serverSaid.read(body)
		}
	})
	return j.serverSaid
}

func (s *serverInfo) read(body []byte) {
	var info struct {
		MaxInput amount `json:"max_input_length"`
		MaxBatch amount `json:"max_client_batch_size"`
		Type     struct {
			Classifier struct {
				Labels map[string]string `json:"id2label"`
			} `json:"classifier"`
		} `json:"model_type"`
	}
	if lenient(json.Unmarshal(body, &info)) != nil {
		return
	}
	s.maxInput = int(info.MaxInput)
	if info.MaxBatch > 0 {
		s.maxBatch = int(info.MaxBatch)
	}
	labels := info.Type.Classifier.Labels
	for _, id := range slices.SortedFunc(maps.Keys(labels), func(a, b string) int {
		x, _ := strconv.Atoi(a)
		y, _ := strconv.Atoi(b)
		return x - y
	}) {
		s.labels = append(s.labels, labels[id])
	}
}

// Ready asks the server of a classifier for its labels, and is an error with a hint if none of
// them is known to mean support. A server that does not say them, or does not answer, is
// no error. Other judges ask nothing.
func (j *Judge) Ready(ctx context.Context) error {
	if j.template == nil || j.template.protocol != Classify {
		return nil
	}
	labels := j.server(ctx).labels
	if len(labels) == 0 {
		return nil
	}
	scores := make(map[string]float64, len(labels))
	for _, label := range labels {
		scores[label] = 0
	}
	if _, err := j.template.rate(scores); err != nil {
		return &ibid.Error{Err: err, Hint: positiveLabelHint}
	}
	return nil
}

// chatMembers are the members of requests that mean nothing to a classifier.
var chatMembers = append(slices.Concat(droppable...), append(limitNames, "service_tier", "provider")...)

// classifierBody is a call with so many inputs, each of one text or two.
func (j *Judge) classifierBody(inputs [][]string) []byte {
	body := map[string]any{"inputs": inputs, "truncate": false, "raw_scores": false}
	for name, v := range j.config.Request {
		if !slices.Contains(chatMembers, name) {
			body[name] = v
		}
	}
	b, err := json.Marshal(body) // keys in sorted order
	if err != nil {
		panic(err) // texts, and settings from YAML, which has nothing that JSON has not
	}
	return b
}

// wholeKey identifies the question that a body of one input asks.
func (q *request) wholeKey() cache.Key {
	return sha256.Sum256([]byte(keyVersion + "\x00" + q.path + "\x00" + q.head.model + "\x00" + string(q.whole)))
}

// readScores reads a response to n inputs, a list of scores by label for each: one verdict
// of each, as a list. Of one input it takes also the bare list.
func readScores(raw []byte, n int) ([]byte, error) {
	type prediction struct {
		Score *float64 `json:"score"`
		Label string   `json:"label"`
	}
	var all [][]prediction
	if err := json.Unmarshal(raw, &all); err != nil {
		var one []prediction
		if n != 1 || json.Unmarshal(raw, &one) != nil {
			return nil, fmt.Errorf("the response is no list of scores: %w", err)
		}
		all = [][]prediction{one}
	}
	if len(all) != n {
		return nil, fmt.Errorf("the response has scores of %d inputs, want %d", len(all), n)
	}
	out := make([]smallVerdict, n)
	for i, predictions := range all {
		out[i].Scores = make(map[string]float64, len(predictions))
		for _, p := range predictions {
			if p.Score == nil {
				return nil, errors.New("the response has a label without a score")
			}
			out[i].Scores[p.Label] = *p.Score
		}
		if len(predictions) == 0 {
			return nil, fmt.Errorf("the response has no scores of input %d of %d", i+1, n)
		}
	}
	return json.Marshal(out)
}

// A together is some questions that go into one call.
type together struct {
	judge     *Judge
	questions []*question // sorted by key, each key once
	keys      []cache.Key
	answers   []*answer
	open      []int // that nobody else answers
	alone     bool  // as in conversation
}

// askTogether answers questions that one call can hold. Each has an entry of its own in
// the store, is waited for where somebody else is asking it, and is asked once. Keys are
// taken in their order, so that nobody waits in a circle.
func (j *Judge) askTogether(ctx context.Context, questions []*question) ([]*answer, error) {
	order := make([]int, len(questions))
	keys := make([]cache.Key, len(questions))
	for i := range order {
		order[i], keys[i] = i, questions[i].request.key()
	}
	slices.SortFunc(order, func(a, b int) int { return slices.Compare(keys[a][:], keys[b][:]) })
	t := &together{judge: j, answers: make([]*answer, len(questions))}
	for _, i := range order {
		t.questions, t.keys = append(t.questions, questions[i]), append(t.keys, keys[i])
	}
	waits, cancel := j.waiting(ctx)
	defer cancel()
	alone, err := questions[0].member.opening.enter(waits)
	if err != nil {
		return nil, j.ended(err)
	}
	if alone {
		t.alone = true
		defer questions[0].member.opening.leave()
	}
	if err := t.gather(ctx, waits, 0); err != nil {
		return nil, j.ended(err)
	}
	answers := make([]*answer, len(questions))
	for at, i := range order {
		answers[i] = t.answers[at]
	}
	return answers, nil
}

// gather takes the right to ask questions from i on, and asks once it has all.
func (t *together) gather(ctx, waits context.Context, i int) error {
	j := t.judge
	if i == len(t.questions) {
		return t.ask(ctx, waits)
	}
	var failed error
	a, first, err := j.flights.do(ctx, t.keys[i], func() (*answer, error) {
		e, err := j.leases.hold(waits, t.keys[i])
		if err != nil {
			return nil, err
		}
		if e != nil {
			t.answers[i] = j.fromEntry(e)
			failed = t.gather(ctx, waits, i+1)
			return t.answers[i], nil
		}
		defer j.leases.release(t.keys[i])
		t.open = append(t.open, i)
		if err := t.gather(ctx, waits, i+1); err != nil {
			return nil, err
		}
		return t.answers[i], nil
	})
	switch {
	case err != nil:
		return err
	case first:
		return failed
	}
	t.answers[i] = j.sharedAnswer(a)
	return t.gather(ctx, waits, i+1)
}

// ask makes one call for the questions that are open.
func (t *together) ask(ctx, waits context.Context) error {
	if len(t.open) == 0 {
		return nil
	}
	j := t.judge
	inputs := make([][]string, len(t.open))
	members := make([]cache.Key, len(t.open))
	for k, i := range t.open {
		inputs[k], members[k] = t.questions[i].inputs, t.keys[i]
	}
	q := *t.questions[t.open[0]]
	q.request.whole = j.classifierBody(inputs)
	q.readBody = func(raw []byte) ([]byte, error) { return readScores(raw, len(inputs)) }
	wire, cancel := underWay(ctx)
	defer cancel()
	a, err := j.converse(waits, &conversation{judge: j, question: &q, key: members[0], together: members, alone: t.alone, wire: wire})
	if err != nil {
		return err
	}
	var verdicts []json.RawMessage
	if err := json.Unmarshal(a.verdict, &verdicts); err != nil {
		return err
	}
	for k, i := range t.open {
		// One call: it is told once.
		call := a.call
		if k > 0 {
			call = judge.Call{}
		}
		t.answers[i] = &answer{verdict: verdicts[k], call: call}
	}
	return nil
}

// keepTogether keeps the answer to several questions: each has its own, and its share of
// what the call took.
func (c *conversation) keepTogether(ctx context.Context, e *cache.Entry) error {
	var verdicts []json.RawMessage
	if err := json.Unmarshal(e.Verdict, &verdicts); err != nil {
		return err
	}
	n := int64(len(verdicts))
	for i, key := range c.together {
		own := *e
		own.Key, own.Verdict, own.Raw = key, verdicts[i], verdicts[i]
		for _, share := range []*int64{&own.CostNanoUSD, &own.PromptTokens, &own.CompletionTokens} {
			whole := *share
			*share = whole / n
			if i == 0 {
				*share += whole % n
			}
		}
		if err := c.judge.store.Put(context.WithoutCancel(ctx), &own); err != nil {
			return err
		}
		verdicts[i] = own.Verdict // or that of whoever was first
	}
	var err error
	e.Verdict, err = json.Marshal(verdicts)
	return err
}

// post makes one call that is no chat.
func (j *Judge) post(ctx context.Context, x *exchange) error {
	q, err := http.NewRequestWithContext(withExchange(ctx, x), http.MethodPost, x.path, nil)
	if err != nil {
		return err
	}
	q.Header.Set("Content-Type", "application/json")
	j.sign(q)
	resp, err := j.wire.Do(q)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", resp.StatusCode)
	}
	return nil
}
