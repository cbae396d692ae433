package judgetest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"
)

// Logprobs says what a chat server makes of a request for the probabilities of tokens.
type Logprobs int

// The kinds of chat servers.
const (
	LogprobsGiven   Logprobs = iota // it gives them
	LogprobsIgnored                 // it answers without them
	LogprobsRefused                 // it refuses the request
)

// A VerifierConfig says how a [Verifier] behaves. The zero value reads inputs of any
// length, 32 to a call, and has the classes of an NLI model.
type VerifierConfig struct {
	Model     string   // its name, "" for "fake/verifier"
	Labels    []string // of the classes in order; nil for entailment, neutral, contradiction
	MaxTokens int      // of one input; more are refused. 0 = any
	MaxBatch  int      // inputs of one call; more are refused. 0 for 32
	Logprobs  Logprobs
	NoInfo    bool // there is no /info
	// Support is how far a document supports a claim, in [0, 1]; nil for the share of the
	// claim's words that the document has. Contradiction is how far it says the opposite,
	// nil for never.
	Support, Contradiction func(document, claim string) float64
	Latency                time.Duration
	// FirstFaults is how many calls are answered with 503 before any other.
	FirstFaults int
}

// A Verifier imitates servers of small models that say whether a document supports a
// claim, each at its own path: GET /info and POST /predict of text-embeddings-inference,
// POST /classify and /score of vLLM, and POST /v1/chat/completions of a server that gives
// one token after another. It reads requests as those servers do, and refuses what they
// refuse. It is safe for concurrent use.
type Verifier struct {
	config VerifierConfig
	http   *httptest.Server

	mu     sync.Mutex
	calls  []VerifierCall
	faults int
	flying int
}

// A VerifierCall is one request and what became of it.
type VerifierCall struct {
	Path   string
	Body   []byte
	Inputs []string // what was read, each as text; of a pair with a tab between
	Status int
	Most   int // requests under way with it
}

// NewVerifier starts a server; Close ends it.
func NewVerifier(config VerifierConfig) *Verifier {
	if config.Model == "" {
		config.Model = "fake/verifier"
	}
	if config.Labels == nil {
		config.Labels = []string{"entailment", "neutral", "contradiction"}
	}
	if config.MaxBatch == 0 {
		config.MaxBatch = 32
	}
	if config.Support == nil {
		config.Support = wordShare
	}
	if config.Contradiction == nil {
		config.Contradiction = func(string, string) float64 { return 0 }
	}
	v := &Verifier{config: config}
	mux := http.NewServeMux()
	if !config.NoInfo {
		mux.HandleFunc("GET /info", v.info)
	}
	mux.HandleFunc("POST /predict", v.serve(v.predict))
	mux.HandleFunc("POST /classify", v.serve(v.classify))
	mux.HandleFunc("POST /score", v.serve(v.score))
	mux.HandleFunc("POST /v1/chat/completions", v.serve(v.chat))
	v.http = httptest.NewUnstartedServer(mux)
	v.http.Config.ErrorLog = silent
	v.http.Start()
	return v
}

// URL is where the server is, without a path.
func (v *Verifier) URL() string { return v.http.URL }

// Close ends the server.
func (v *Verifier) Close() {
	v.http.CloseClientConnections()
	v.http.Close()
}

// Calls are the requests so far, but for those to /info.
func (v *Verifier) Calls() []VerifierCall {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.calls)
}

// Reset forgets the requests so far.
func (v *Verifier) Reset() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.calls = nil
}

// AskedTwice are the inputs that were answered more than once.
func AskedTwice(calls []VerifierCall) []string {
	answered := make(map[string]int)
	var twice []string
	for _, c := range calls {
		for _, input := range c.Inputs {
			if c.Status != http.StatusOK {
				continue
			}
			if answered[input]++; answered[input] == 2 {
				twice = append(twice, input)
			}
		}
	}
	return twice
}

// serve reads the body and keeps what happens.
func (v *Verifier) serve(answer func(body []byte) (status int, inputs []string, reply any)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client has gone
		}
		v.mu.Lock()
		v.flying++
		most, fault := v.flying, v.faults < v.config.FirstFaults
		if fault {
			v.faults++
		}
		v.mu.Unlock()
		time.Sleep(v.config.Latency)
		status, inputs, reply := http.StatusServiceUnavailable, []string(nil), any(map[string]any{"error": "Model is not ready", "error_type": "Unhealthy"})
		if !fault {
			status, inputs, reply = answer(body)
		}
		v.mu.Lock()
		v.flying--
		v.calls = append(v.calls, VerifierCall{r.URL.Path, body, inputs, status, most})
		v.mu.Unlock()
		writeJSON(w, status, reply)
	}
}

func (v *Verifier) info(w http.ResponseWriter, _ *http.Request) {
	ids, labels := make(map[string]string), make(map[string]int)
	for i, label := range v.config.Labels {
		ids[fmt.Sprint(i)], labels[label] = label, i
	}
	info := map[string]any{
		"model_id": v.config.Model, "model_sha": nil, "model_dtype": "float32", "version": "1.8.3",
		"model_type":              map[string]any{"classifier": map[string]any{"id2label": ids, "label2id": labels}},
		"max_concurrent_requests": 512, "max_batch_tokens": 16384, "max_batch_requests": nil, "auto_truncate": false,
		"max_client_batch_size": v.config.MaxBatch, "tokenization_workers": 2,
	}
	if v.config.MaxTokens > 0 {
		info["max_input_length"] = v.config.MaxTokens
	}
	writeJSON(w, http.StatusOK, info)
}

// tooLong is the length of an input that is too long, 0 if it is not.
func (v *Verifier) tooLong(input ...string) int {
	n := 0
	for _, text := range input {
		n += len(strings.Fields(text)) + strings.Count(text, ".") + strings.Count(text, ",") + 1
	}
	if v.config.MaxTokens == 0 || n <= v.config.MaxTokens {
		return 0
	}
	return n
}

func teiError(status int, kind, format string, args ...any) (int, []string, any) {
	return status, nil, map[string]any{"error": fmt.Sprintf(format, args...), "error_type": kind}
}

// predict serves POST /predict. A list of one or two texts is one input, a list of such
// lists several.
func (v *Verifier) predict(body []byte) (int, []string, any) {
	var q struct {
		Inputs    json.RawMessage `json:"inputs"`
		Truncate  bool            `json:"truncate"`
		RawScores bool            `json:"raw_scores"`
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return teiError(http.StatusUnprocessableEntity, "Tokenizer", "Failed to deserialize the JSON body: %v", err)
	}
	var inputs [][]string
	single := []string{}
	batch := json.Unmarshal(q.Inputs, &inputs) == nil
	if !batch {
		if err := json.Unmarshal(q.Inputs, &single); err != nil {
			return teiError(http.StatusUnprocessableEntity, "Tokenizer", "Failed to deserialize the JSON body: inputs: %v", err)
		}
		inputs = [][]string{single}
	}
	if len(inputs) == 0 {
		return teiError(http.StatusBadRequest, "Empty", "`inputs` cannot be empty")
	}
	if len(inputs) > v.config.MaxBatch {
		return teiError(http.StatusRequestEntityTooLarge, "Validation", "batch size %d > maximum allowed batch size %d", len(inputs), v.config.MaxBatch)
	}
	type prediction struct {
		Score float64 `json:"score"`
		Label string  `json:"label"`
	}
	var out [][]prediction
	var read []string
	for _, input := range inputs {
		if len(input) < 1 || len(input) > 2 {
			return teiError(http.StatusUnprocessableEntity, "Tokenizer", "invalid length %d, expected 1 or 2 elements", len(input))
		}
		if n := v.tooLong(input...); n > 0 && !q.Truncate {
			return teiError(http.StatusRequestEntityTooLarge, "Validation", "`inputs` must have less than %d tokens. Given: %d", v.config.MaxTokens, n)
		}
		read = append(read, strings.Join(input, "\t"))
		var one []prediction
		for class, p := range v.classes(documentAndClaim(input)) {
			if q.RawScores {
				p = math.Log(max(p, 1e-9))
			}
			one = append(one, prediction{p, v.config.Labels[class]})
		}
		slices.SortStableFunc(one, func(a, b prediction) int { return cmp.Compare(b.Score, a.Score) }) // the likeliest first
		out = append(out, one)
	}
	if !batch {
		return http.StatusOK, read, out[0]
	}
	return http.StatusOK, read, out
}

// classes are the probabilities of the classes. The first of two is "no", as models
// with LABEL_0 and LABEL_1 have it; of three it is entailment.
func (v *Verifier) classes(document, claim string) []float64 {
	support := v.config.Support(document, claim)
	switch len(v.config.Labels) {
	case 1:
		return []float64{support}
	case 2:
		return []float64{1 - support, support}
	}
	against := min(v.config.Contradiction(document, claim), 1-support)
	return []float64{support, 1 - support - against, against}
}

func vllmError(status int, kind, format string, args ...any) (int, []string, any) {
	return status, nil, map[string]any{"error": map[string]any{"message": fmt.Sprintf(format, args...), "type": kind, "param": nil, "code": status}}
}

func (v *Verifier) refuseModel(model string) (int, []string, any) {
	return vllmError(http.StatusNotFound, "NotFoundError", "The model `%s` does not exist.", model)
}

func (v *Verifier) refuseLength(n int, what string) (int, []string, any) {
	return vllmError(http.StatusBadRequest, "BadRequestError", "This model's maximum context length is %d tokens. However, you requested %d tokens in the input for %s. Please reduce the length of the input.", v.config.MaxTokens, n, what)
}

// classify serves POST /classify.
func (v *Verifier) classify(body []byte) (int, []string, any) {
	var q struct {
		Model string   `json:"model"`
		Input []string `json:"input"`
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return vllmError(http.StatusBadRequest, "BadRequestError", "%v", err)
	}
	if q.Model != v.config.Model {
		return v.refuseModel(q.Model)
	}
	var data []map[string]any
	for i, input := range q.Input {
		if n := v.tooLong(input); n > 0 {
			return v.refuseLength(n, "classification")
		}
		probs := v.classes(documentAndClaim([]string{input}))
		best := slices.Index(probs, slices.Max(probs))
		data = append(data, map[string]any{"index": i, "label": v.config.Labels[best], "probs": probs, "num_classes": len(probs)})
	}
	return http.StatusOK, q.Input, map[string]any{
		"id": "classify-1", "object": "list", "created": 1, "model": v.config.Model, "data": data,
		"usage": map[string]any{"prompt_tokens": 10 * len(data), "total_tokens": 10 * len(data), "completion_tokens": 0, "prompt_tokens_details": nil},
	}
}

// score serves POST /score.
func (v *Verifier) score(body []byte) (int, []string, any) {
	var q struct {
		Model     string   `json:"model"`
		Queries   []string `json:"queries"`
		Documents []string `json:"documents"`
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return vllmError(http.StatusBadRequest, "BadRequestError", "%v", err)
	}
	if q.Model != v.config.Model {
		return v.refuseModel(q.Model)
	}
	if len(q.Queries) != len(q.Documents) {
		return vllmError(http.StatusBadRequest, "BadRequestError", "Input lengths must be either 1:1, 1:N or N:N")
	}
	var data []map[string]any
	var read []string
	for i := range q.Queries {
		if n := v.tooLong(q.Queries[i], q.Documents[i]); n > 0 {
			return v.refuseLength(n, "score")
		}
		data = append(data, map[string]any{"index": i, "object": "score", "score": v.config.Support(q.Queries[i], q.Documents[i])})
		read = append(read, q.Queries[i]+"\t"+q.Documents[i])
	}
	slices.Reverse(data) // the index counts, not the place
	return http.StatusOK, read, map[string]any{
		"id": "score-1", "object": "list", "created": 1, "model": v.config.Model, "data": data,
		"usage": map[string]any{"prompt_tokens": 10 * len(data), "total_tokens": 10 * len(data)},
	}
}

// documentAndClaim are those in an input of a pair, or of one text that has both.
func documentAndClaim(input []string) (document, claim string) {
	if len(input) == 2 {
		return input[0], input[1]
	}
	for _, form := range [][3]string{
		{"Document: ", "\nClaim: ", ""},
		{"", "\n\nChoose your answer: based on the paragraph above can we conclude that \"", "\"?"},
		{"DOCUMENT:\n", "\n--\nANSWER:\n", "\n\n--"},
	} {
		before, after, ok := strings.Cut(input[0], form[1])
		if !ok {
			continue
		}
		if form[0] != "" {
			if _, before, ok = strings.Cut(before, form[0]); !ok {
				continue
			}
		}
		if form[2] != "" {
			after, _, _ = strings.Cut(after, form[2])
		}
		return before, after
	}
	return input[0], ""
}

// wordShare is the share of a claim's words that a document has.
func wordShare(document, claim string) float64 { return shareOf(wordsOf(claim), document) }
