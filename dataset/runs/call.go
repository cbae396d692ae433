package runs

// CallsFile is the file with the calls of a run whose judge asks a model.
const CallsFile = "calls.parquet"

// A Call is one question to a model: a row of calls.parquet. Unlike the other
// results, calls differ from one run to the next: they say what this run asked,
// waited and paid.
type Call struct {
	Key
	Number   int32  `json:"call" doc:"position among the calls about the row, from 0"`
	Model    string `json:"model" doc:"model that answered" null:"not known"`
	Provider string `json:"provider,omitempty" doc:"who ran the model" null:"not known"`
	Cached   bool   `json:"cached" doc:"the answer was in the cache"`
	Repaired bool   `json:"repaired" doc:"the answer had to be mended to be read"`
	Attempts int32  `json:"attempts" doc:"requests that were sent, retries included"`

	PromptTokens     *int64   `json:"prompt_tokens" unit:"tokens" doc:"tokens of the question" null:"not known"`
	CompletionTokens *int64   `json:"completion_tokens" unit:"tokens" doc:"tokens of the answer" null:"not known"`
	CostUSD          *float64 `json:"cost_usd" unit:"US dollars" doc:"what the call cost; 0 if the cache answered" null:"not known"`
	LatencyMillis    *int64   `json:"latency_ms" unit:"milliseconds" doc:"time until the answer" null:"not known"`
	GenerationID     string   `json:"generation_id,omitempty" doc:"name of the answer at the provider" null:"not known"`
	Status           string   `json:"status" doc:"ok, or why there is no verdict"`
	Error            string   `json:"error,omitempty" doc:"what the last request met, in words" null:"there is an answer"`
}

// Calls is the table of calls.parquet.
var Calls = NewTable[Call](CallsFile, "one question to a model, of runs whose judge asks one")
