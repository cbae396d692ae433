package presence

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"ibid"
)

func newDetector(t *testing.T, o Options) *Detector {
	t.Helper()
	d, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// passes decides one answer.
func passes(t *testing.T, d *Detector, answer string) bool {
	t.Helper()
	var r Result
	if err := d.Detect(t.Context(), Input{Answer: answer, HasAnswer: true}, &r); err != nil {
		t.Fatal(err)
	}
	return r.Score() == 1
}

func TestDetectResourceSection(t *testing.T) {
	tests := []struct {
		name, text string
		want       bool
	}{
		{"heading", "Answer.\n\nReferences:\n- https://x.org", true},
		{"heading of Markdown", "Answer.\n\n## Works Cited\n\n(Smith, 2020)", true},
		{"heading in bold", "Answer.\n**Additional Resources:**\nhttps://x.org", true},
		{"short line without a colon", "Answer.\n\nKey Sources\n\n1. https://x.org", true},
		{"numbered heading", "5. Bibliography\nhttps://x.org", true},
		{"one line", "Sources - https://x.org", true},
		{"same line", "Done. References https://x.org", true},
		{"a place is a citation", "Sources:\n[a.pdf:1:0-5]", true},
		{"default phrase", "For additional information, see these resources: https://x.org", true},
		{"announced", "For more information about it visit https://x.org", true},
		{"custom phrase", "Schau hier nach: https://x.org", true},
		{"prose", "According to several sources, see https://x.org for details.", false},
		{"prose at the beginning", "Sources say that https://x.org is down.", false},
		{"prose at the end of a line", "This is what I was told by my various sources\nhttps://x.org", false},
		{"noun inside a word", "It outsources: https://x.org", false},
		{"citation before the section", "https://x.org\nReferences:\n- none", false},
		{"no section", "See https://x.org.", false},
		{"bare numbers", "References:\n[1] [2]", false},
		{"empty", "", false},
	}
	d := newDetector(t, Options{Mode: ResourceSection, CustomPhrases: []string{"schau hier nach:"}})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := passes(t, d, tt.text); got != tt.want {
				t.Errorf("%q passes: %v, want %v", tt.text, got, tt.want)
			}
		})
	}
}

func TestMention(t *testing.T) {
	tests := []struct{ text, want string }{
		{"Several sources, see x", "sources, see x"},
		{"a References b SOURCES", "References b SOURCES"},
		{"References: b. Look here: c", "Look here: c"},
		{"outsources References_list 参考References Bibliography:", ""},
	}
	for _, tt := range tests {
		if got, ok := mention(tt.text, []string{"look HERE:"}); got != tt.want || ok != (tt.want != "") {
			t.Errorf("mention(%q) = %q, %v, want %q", tt.text, got, ok, tt.want)
		}
	}
}

func TestDetectConversation(t *testing.T) {
	d := newDetector(t, Options{})
	user, tool := ibid.Message{Role: "user", Content: "see https://u.org"}, ibid.Message{Role: "tool", Content: "https://t.org"}
	quiet, empty, citing := ibid.Message{Role: "assistant", Content: " "}, ibid.Message{Role: "assistant", Content: ""}, ibid.Message{Role: "assistant", Content: "https://x.org"}
	tests := []struct {
		name string
		in   Input
		want string
	}{
		{
			"indices are of the conversation",
			Input{Messages: []ibid.Message{user, empty, tool, citing, quiet, citing}},
			`{true {"passes_presence_check":true,"total_assistant_messages":3,"messages_with_citations":[3,5]}}`,
		},
		{
			"only the assistant is read",
			Input{Messages: []ibid.Message{user, tool, quiet}, Answer: "https://x.org", HasAnswer: true},
			`{true {"passes_presence_check":false,"total_assistant_messages":1,"messages_with_citations":[]}}`,
		},
		{
			"the answer comes last",
			Input{Messages: []ibid.Message{user, empty}, Answer: "https://x.org", HasAnswer: true},
			`{true {"passes_presence_check":true,"total_assistant_messages":1,"messages_with_citations":[2]}}`,
		},
		{
			"an answer alone",
			Input{Answer: "(Kim, 2020)", HasAnswer: true},
			`{true {"passes_presence_check":true,"total_assistant_messages":1,"messages_with_citations":[0]}}`,
		},
		{
			"an empty answer",
			Input{HasAnswer: true},
			`{true {"passes_presence_check":false,"total_assistant_messages":1,"messages_with_citations":[]}}`,
		},
		{
			"no answer",
			Input{Messages: []ibid.Message{user}},
			`{false {"passes_presence_check":false,"total_assistant_messages":0,"messages_with_citations":[]}}`,
		},
	}
	out := Result{Signals: Signals{MessagesWithCitations: []int{7, 8, 9}}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := d.Detect(t.Context(), tt.in, &out); err != nil {
				t.Fatal(err)
			}
			signals, err := json.Marshal(out.Signals)
			if err != nil {
				t.Fatal(err)
			}
			evaluated := map[bool]string{true: "true", false: "false"}[out.Evaluated]
			if got := "{" + evaluated + " " + string(signals) + "}"; got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// countingChecker finds the URLs with "live" in them alive and cannot check
// those with "down".
type countingChecker map[string]int

var errDown = errors.New("network is down")

func (c countingChecker) Live(_ context.Context, url string) (bool, error) {
	c[url]++
	if strings.Contains(url, "down") {
		return false, errDown
	}
	return strings.Contains(url, "live"), nil
}

func TestDetectStrict(t *testing.T) {
	tests := []struct {
		name, text string
		mode       Mode
		want       bool
		fails      bool
	}{
		{"live", "https://dead.org https://live.org", AnyCitation, true, false},
		{"live without a scheme", "www.live.org", AnyCitation, true, false},
		{"dead", "https://dead.org https://dead.org", AnyCitation, false, false},
		{"not to be checked", "(Smith, 2020) doi:10.1/live [live.pdf:1:0-2]", AnyCitation, false, false},
		{"one live is enough", "https://down.org https://live.org", AnyCitation, true, false},
		{"not found out", "https://down.org https://dead.org", AnyCitation, false, true},
		{"live before the section", "https://live.org\nSources:\nhttps://dead.org", ResourceSection, false, false},
		{"live in the section", "https://dead.org\nSources:\nhttps://live.org", ResourceSection, true, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			checker := countingChecker{}
			d := newDetector(t, Options{Mode: tt.mode, Strict: true, URLs: checker})
			var r Result
			err := d.Detect(t.Context(), Input{Answer: tt.text, HasAnswer: true}, &r)
			if errors.Is(err, errDown) != tt.fails || (err != nil) != tt.fails {
				t.Fatalf("error %v, want one: %v", err, tt.fails)
			}
			if got := r.Score() == 1; got != tt.want || r.Evaluated == tt.fails {
				t.Errorf("passes: %v, want %v; result %+v", got, tt.want, r)
			}
			for url, n := range checker {
				if n > 1 {
					t.Errorf("%s was checked %d times", url, n)
				}
			}
		})
	}
}

func TestSemanticFallback(t *testing.T) {
	near := "You can find more details in the following: https://x.org"
	far := "You can find additional documentation at these locations: https://x.org"
	lexical := newDetector(t, Options{Mode: ResourceSection, Semantic: &Semantic{Embedder: Lexical{}}})
	// The first sentence is near, the reference only before it.
	behind := "https://x.org\nYou can find even more details in the following."
	for text, want := range map[string]bool{near: true, far: false, behind: false, "Find details.": false} {
		if got := passes(t, lexical, text); got != want {
			t.Errorf("lexical: %q passes: %v, want %v", text, got, want)
		}
	}
	// The threshold is real: what is far by wording passes a lower one.
	low := newDetector(t, Options{Mode: ResourceSection, Semantic: &Semantic{Embedder: Lexical{}, Threshold: 0.2}})
	if !passes(t, low, far) {
		t.Errorf("%q does not pass at 0.2", far)
	}
	// An embedder that knows what words mean finds it at the default.
	if !passes(t, newDetector(t, Options{Mode: ResourceSection, Semantic: &Semantic{Embedder: topics{}}}), far) {
		t.Errorf("%q does not pass with an embedder that knows it", far)
	}
	// Strict holds for the fallback unless it is told otherwise.
	strict := Options{Mode: ResourceSection, Strict: true, URLs: countingChecker{}, Semantic: &Semantic{Embedder: Lexical{}}}
	if passes(t, newDetector(t, strict), near) {
		t.Error("a dead URL passes strict through the fallback")
	}
	if !passes(t, newDetector(t, strict), strings.ReplaceAll(near, "x.org", "live.org")) {
		t.Error("a live URL does not pass strict through the fallback")
	}
	strict.Semantic = &Semantic{Embedder: Lexical{}, SkipURLCheck: true}
	if !passes(t, newDetector(t, strict), near) {
		t.Error("SkipURLCheck checks URLs")
	}
}

// brokenEmbedder returns what it is made of for every text.
type brokenEmbedder struct {
	vectors [][]float32
	err     error
}

func (b brokenEmbedder) Embed(context.Context, []string) ([][]float32, error) {
	return b.vectors, b.err
}

func TestEmbedderErrors(t *testing.T) {
	nan := float32(math.NaN())
	tests := []struct {
		name     string
		embedder brokenEmbedder
		want     string
	}{
		{"its own", brokenEmbedder{err: errDown}, "answer: embedder: network is down"},
		{"too few", brokenEmbedder{vectors: [][]float32{{1}}}, "answer: embedder: 1 vectors for 3 texts"},
		{"ragged", brokenEmbedder{vectors: [][]float32{{1}, {1, 2}, {1}}}, "answer: embedder: vectors of 1 and of 2 components"},
		{"not finite", brokenEmbedder{vectors: [][]float32{{1}, {nan}, {1}}}, "answer: embedder: component NaN is not finite"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDetector(t, Options{Mode: ResourceSection, Semantic: &Semantic{Embedder: tt.embedder}})
			var r Result
			err := d.Detect(t.Context(), Input{Answer: "https://x.org", HasAnswer: true}, &r)
			if err == nil || err.Error() != tt.want {
				t.Errorf("error %v, want %s", err, tt.want)
			}
			if r.Evaluated || r.Signals.TotalAssistantMessages != 0 {
				t.Errorf("a failed check is decided: %+v", r)
			}
		})
	}
}

func TestLexical(t *testing.T) {
	vectors, err := Lexical{}.Embed(t.Context(), []string{
		"See the following resources", "see the following RESOURCES: https://x.org/see/the/moon", "Purple elephants dance", "…", "following the resources, see",
	})
	if err != nil {
		t.Fatal(err)
	}
	check := func(i, j int, low, high float64) {
		t.Helper()
		if got := cosine(vectors[i], vectors[j]); got < low || got > high {
			t.Errorf("cosine of %d and %d is %v, want %v to %v", i, j, got, low, high)
		}
	}
	check(0, 0, 1-1e-6, 1+1e-6)
	check(0, 1, 1-1e-6, 1+1e-6) // case, punctuation and URLs are no wording
	check(0, 4, 1-1e-6, 1+1e-6) // nor is the order
	check(0, 2, -0.15, 0.15)
	check(0, 3, 0, 0)
	// Words of 3 and 4 letters share 2 of 3 and 4 trigrams: of each word's square of length,
	// 1 is of the word and a quarter of all its trigrams.
	if vectors, err = (Lexical{}).Embed(t.Context(), []string{"cat", "cats"}); err != nil {
		t.Fatal(err)
	}
	want := 2 * (0.5 / math.Sqrt(3)) * (0.5 / math.Sqrt(4)) / 1.25
	check(0, 1, want-1e-6, want+1e-6)
}

// TestCosine: it has the sign of the product, and is 0 where a vector is.
func TestCosine(t *testing.T) {
	for _, tt := range []struct {
		a, b []float32
		want float64
	}{
		{[]float32{3, 0}, []float32{1, 0}, 1},
		{[]float32{3, 0}, []float32{-1, 0}, -1},
		{[]float32{1, 1}, []float32{1, 0}, math.Sqrt(0.5)},
		{[]float32{1, 2}, []float32{2, 1}, 0.8},
		{[]float32{0, 0}, []float32{1, 0}, 0},
		{[]float32{1, 0}, []float32{0, 0}, 0},
		{[]float32{0, 0}, []float32{0, 0}, 0},
	} {
		if got := cosine(tt.a, tt.b); !(math.Abs(got-tt.want) <= 1e-9) {
			t.Errorf("cosine of %v and %v: %v, want %v", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestNewErrors(t *testing.T) {
	tests := []struct {
		name string
		o    Options
		want string
	}{
		{"no embedder", Options{Semantic: &Semantic{}}, ErrNoEmbedder.Error()},
		{"no checker", Options{Strict: true}, ErrNoURLChecker.Error()},
		{"threshold", Options{Semantic: &Semantic{Embedder: Lexical{}, Threshold: 1.5}}, "presence: semantic threshold 1.5 is outside (0, 1]"},
		{"NaN", Options{Semantic: &Semantic{Embedder: Lexical{}, Threshold: math.NaN()}}, "presence: semantic threshold NaN is outside (0, 1]"},
		{"phrase", Options{CustomPhrases: []string{""}}, "presence: a custom phrase is empty"},
		{"mode", Options{Mode: 2}, "presence mode 2 is unknown"},
	}
	for _, tt := range tests {
		if _, err := New(tt.o); err == nil || err.Error() != tt.want {
			t.Errorf("%s: error %v, want %s", tt.name, err, tt.want)
		}
	}
	if _, err := ParseMode("any"); err == nil || err.Error() != `presence mode "any" is neither any_citation nor resource_section` {
		t.Errorf("ParseMode gives %v", err)
	}
}

func TestExplain(t *testing.T) {
	d := newDetector(t, Options{Strict: true, URLs: countingChecker{}})
	var r Result
	for text, want := range map[string]string{
		"https://live.org": "Mode: any_citation, Strict: True. SUCCESS: The citation requirement was met in 1 out of 1 assistant message(s).",
		"": "Mode: any_citation, Strict: True. FAILURE: No assistant message satisfied the citation requirement." +
			" Ensure citations are present and, if in strict mode, URLs are live.",
	} {
		if err := d.Detect(t.Context(), Input{Answer: text, HasAnswer: true}, &r); err != nil {
			t.Fatal(err)
		}
		if got := d.Explain(&r); got != want {
			t.Errorf("Explain of %q: %s", text, got)
		}
	}
	if got := d.Explain(&Result{}); got != "No actual output provided" {
		t.Errorf("Explain of nothing: %s", got)
	}
}

// The default options run on every row, so they must not allocate.
func TestDetectDoesNotAllocate(t *testing.T) {
	d := newDetector(t, Options{})
	in := Input{
		Messages: []ibid.Message{{Role: "user", Content: "q"}, {Role: "assistant", Content: "See https://x.org/a (and b)."}, {Role: "assistant", Content: "No (Table 3) (in 2020)."}},
		Answer:   "x", HasAnswer: true,
	}
	var out Result
	ctx := t.Context()
	allocs := testing.AllocsPerRun(100, func() {
		if err := d.Detect(ctx, in, &out); err != nil {
			t.Fatal(err)
		}
	})
	if allocs != 0 {
		t.Errorf("Detect allocates %v times", allocs)
	}
}

// TestReasoning: an address in what a model writes before its answer is no citation.
func TestReasoning(t *testing.T) {
	d, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{"<think>See https://a.org/b</think> It is so.": false, "<think>So?</think> See https://a.org/b": true} {
		var out Result
		if err := d.Detect(t.Context(), Input{Answer: text, HasAnswer: true}, &out); err != nil || out.Signals.PassesPresenceCheck != want {
			t.Errorf("%q: %+v, %v, want %v", text, out, err, want)
		}
	}
}
