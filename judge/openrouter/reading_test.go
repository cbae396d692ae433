package openrouter

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	openai "github.com/sashabaranov/go-openai"

	"ibid"
)

func mustVerifier(t *testing.T, protocol string, file map[string]any) *verifier {
	t.Helper()
	out, err := newVerifier(protocol, file)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestYes works out probabilities of replies by hand: those of tokens are e to the
// power of what stands there.
func TestYes(t *testing.T) {
	t.Parallel()
	ln := func(p float64) string { return strings.TrimSuffix(string(mustJSON(math.Log(p))), "\n") }
	top := func(tokens ...string) string { return "[" + strings.Join(tokens, ",") + "]" }
	tok := func(token string, p float64) string {
		return `{"token":` + string(mustJSON(token)) + `,"logprob":` + ln(p) + `}`
	}
	at := func(token string, p float64, alternatives ...string) string {
		return `{"token":` + string(mustJSON(token)) + `,"logprob":` + ln(p) + `,"top_logprobs":` + top(alternatives...) + `}`
	}
	content := func(tokens ...string) string { return `{"content":` + top(tokens...) + `}` }
	both := "{document} {claim}"
	inverted := map[string]any{"message": both, "inverted": true}
	for _, tt := range []struct {
		name     string
		template map[string]any
		reply    string
		logprobs string
		want     float64 // of support; -1: the reply says nothing
	}{
		{"yes, no logprobs", nil, "Yes", "", 1},
		{"no, no logprobs", nil, "no.", "", 0},
		{"something else", nil, "Perhaps", "", -1},
		{"nothing", nil, "  ", "", -1},
		{"the sum of yes in any case", nil, "Yes", content(at("Yes", 0.6, tok("Yes", 0.6), tok("yes", 0.2), tok(" YES", 0.05), tok("No", 0.1), tok("Maybe", 0.05))), 0.85},
		{"no is said, yes has its share", nil, "No", content(at("No", 0.7, tok("No", 0.7), tok("Yes", 0.3))), 0.3},
		{"yes is not among the likeliest", nil, "No", content(at("No", 0.999, tok("No", 0.999))), 0},
		{"the token itself is not listed", nil, "Yes", content(at("Yes", 0.8)), 0.8},
		{"white space before", nil, "\nYes", content(at("\n", 1), at("Yes", 0.9, tok("Yes", 0.9))), 0.9},
		{"tokens of something else", nil, "Yes", content(at("Ja", 0.5, tok("Ja", 0.5))), 1},
		{"neither word among the tokens", nil, "Yes", content(at("Yes, indeed", 0.5)), 1},
		{"more than 1 by rounding", nil, "Yes", content(at("Yes", 1, tok("Yes", 1), tok("yes", 0.0001))), 1},
		{"behind a draft", nil, "<think>No, no.</think>\nYes", "", 1},

		{"yes means ungrounded", inverted, "yes", "", 0},
		{"no means grounded", inverted, "<think>yes?</think>no", "", 1},
		{"inverted, of tokens", inverted, " no", content(at(" no", 0.75, tok(" no", 0.75), tok(" yes", 0.25))), 0.75},
		{"words of the user's", map[string]any{"message": both, "yes": []any{"wahr", "richtig"}, "no": []any{"falsch", 0}}, "Falsch", "", 0},
	} {
		var logprobs *openai.LogProbs
		if tt.logprobs != "" {
			logprobs = new(openai.LogProbs)
			if err := json.Unmarshal([]byte(tt.logprobs), logprobs); err != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
		}
		got := -1.0
		if r, err := mustVerifier(t, YesNo, tt.template).ofReply(tt.reply, logprobs); err == nil {
			got = r.Support
		}
		if math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// TestRate works out what scores of classes mean.
func TestRate(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name      string
		template  map[string]any
		scores    map[string]float64
		want      float64
		opposes   ibid.Tri
		wantError string
	}{
		{"nli", nil, map[string]float64{"ENTAILMENT": 0.7, "neutral": 0.2, "contradiction": 0.1}, 0.7, ibid.No, ""},
		{"nli, contradicted", nil, map[string]float64{"entailment": 0.1, "neutral": 0.4, "contradiction": 0.5}, 0.1, ibid.Yes, ""},
		{"two classes never contradict", nil, map[string]float64{"entailment": 0.1, "not_entailment": 0.9}, 0.1, ibid.Unset, ""},
		{"named", map[string]any{"positive": "label_1"}, map[string]float64{"LABEL_0": 0.2, "LABEL_1": 0.8}, 0.8, ibid.Unset, ""},
		{"by number", map[string]any{"positive": 1}, map[string]float64{"LABEL_0": 0.2, "LABEL_1": 0.8}, 0.8, ibid.Unset, ""},
		{"against support", map[string]any{"positive": "hallucinated", "inverted": true}, map[string]float64{"hallucinated": 0.9, "ok": 0.1}, 0.1, ibid.Unset, ""},
		{"three by number", map[string]any{"positive": 0}, map[string]float64{"0": 0.8, "1": 0.15, "2": 0.05}, 0.8, ibid.Unset, ""},
		{"no guess", nil, map[string]float64{"LABEL_0": 0.2, "LABEL_1": 0.8}, 0, 0, "none of the labels is known to mean support: LABEL_0, LABEL_1"},
		{"two that speak", nil, map[string]float64{"supported": 0.2, "entailment": 0.8}, 0, 0, "none of the labels"},
		{"not there", map[string]any{"positive": "yes"}, map[string]float64{"LABEL_0": 0.2, "LABEL_1": 0.8}, 0, 0, "no label yes: it has LABEL_0, LABEL_1"},
		{"no probability", map[string]any{"positive": 1}, map[string]float64{"LABEL_0": -3, "LABEL_1": 3}, 0, 0, "-3, which is no probability"},
	} {
		r, err := mustVerifier(t, Classify, tt.template).ofScores(tt.scores)
		if tt.wantError != "" {
			if err == nil || !strings.Contains(err.Error(), tt.wantError) {
				t.Errorf("%s: %v, want %q", tt.name, err, tt.wantError)
			}
			continue
		}
		if err != nil || math.Abs(r.Support-tt.want) > 1e-6 || r.contradicted() != tt.opposes {
			t.Errorf("%s: %v, contradicted %q, %v; want %v, %q", tt.name, r.Support, r.contradicted(), err, tt.want, tt.opposes)
		}
	}
}

// TestBest: of several texts the best counts, and one that supports the claim outweighs
// one that contradicts it.
func TestBest(t *testing.T) {
	t.Parallel()
	against := func(support, p float64) rating { return rating{support, &p} }
	low, high := against(0.2, 0.7), against(0.9, 0.05)
	for _, tt := range []struct {
		a, b    rating
		want    float64
		opposes ibid.Tri
	}{
		{low, low, 0.2, ibid.Yes},
		{low, high, 0.9, ibid.No},
		{high, low, 0.9, ibid.No},
		{rating{Support: 0.3}, low, 0.3, ibid.Yes},
		{rating{Support: 0.3}, rating{Support: 0.2}, 0.3, ibid.Unset},
	} {
		if got := tt.a.best(tt.b); got.Support != tt.want || got.contradicted() != tt.opposes {
			t.Errorf("%+v, contradicted %q; want %v, %q", got, got.contradicted(), tt.want, tt.opposes)
		}
	}
}

func TestHalves(t *testing.T) {
	t.Parallel()
	for _, tt := range [][2]string{
		{"One two. Three four. Five six. Seven.", "One two. Three four.|Five six. Seven."},
		{"no sentence end here at all", "no sentence end|here at all"},
		{"Über den Fluß. Ärger.", "Über den Fluß.|Ärger."},
		{"unspaced", ""},
		{"", ""},
	} {
		if got := strings.Join(halvesOf(tt[0]), "|"); got != tt[1] {
			t.Errorf("halves of %q: %q, want %q", tt[0], got, tt[1])
		}
	}
}

// TestVerifierErrors: what cannot be asked or read is refused before anything is asked.
func TestVerifierErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		protocol string
		file     map[string]any
		want     string
	}{
		{YesNo, map[string]any{"inverted": true}, "has to show {claim} and {document}"},
		{YesNo, map[string]any{"yess": "x"}, `unknown field "yess"`},
		{YesNo, map[string]any{"message": 3}, "message: want string, not number"},
		{YesNo, map[string]any{"message": "{claim}"}, "has to show {claim} and {document}"},
		{YesNo, map[string]any{"message": "{claim} {document}", "yes": []any{"No"}}, "a word in common"},
		{YesNo, map[string]any{"message": "{claim} {document}", "yes": []any{true}}, "a text or a number"},
		{YesNo, map[string]any{"message": "{claim} {document}", "positive": "yes"}, "label of a classifier"},
		{Classify, map[string]any{"message": "{claim} {document}"}, "positive and inverted alone"},
	} {
		if _, err := newVerifier(tt.protocol, tt.file); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %v: %v, want %q", tt.protocol, tt.file, err, tt.want)
		}
	}
}
