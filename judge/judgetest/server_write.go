package judgetest

import (
	"encoding/json"
	"net/http"
	"strconv"
)

// An apiError is the error object of an answer.
type apiError struct {
	Code     any            `json:"code,omitempty"`
	Message  string         `json:"message,omitempty"`
	Metadata map[string]any `json:"metadata,omitempty"`

	// Of the newer shape, which has no code.
	HTTPStatus   int            `json:"http_status,omitempty"`
	ErrorType    string         `json:"error_type,omitempty"`
	Availability map[string]any `json:"availability,omitempty"`
}

func writeError(w http.ResponseWriter, status int, e apiError) {
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
