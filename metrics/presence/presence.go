// Package presence decides whether an answer cites anything at all.
//
// [References] finds what names its source by itself; a [Detector] gives the metric
// citation_presence. Offsets in results count Unicode code points. The package knows
// neither files nor networks: checking URLs and embedding texts are interfaces.
package presence

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"sync"

	"ibid"
	"ibid/metrics/claims"
)

// A Mode says where citations must stand.
type Mode uint8

const (
	AnyCitation     Mode = iota // anywhere in the message
	ResourceSection             // in a section of sources
)

var modeNames = [...]string{"any_citation", "resource_section"}

// String returns the mode's name in a run file.
func (m Mode) String() string { return modeNames[m] }

// ParseMode returns the mode of that name.
func ParseMode(name string) (Mode, error) {
	if i := slices.Index(modeNames[:], name); i >= 0 {
		return Mode(i), nil
	}
	return 0, fmt.Errorf("presence mode %q is neither %s nor %s", name, AnyCitation, ResourceSection)
}

// A URLChecker says whether a URL is live. The URL is as written in the text,
// so it may lack its scheme (www.…). A server that does not answer, or denies
// the page, is an answer: not live. An error means that it could not be found
// out; one that wraps [ErrNotFetched], that nobody has asked for the page. It must
// be safe for concurrent use.
type URLChecker interface {
	Live(ctx context.Context, url string) (bool, error)
}

// Options of a [Detector]. The zero Options look for any citation.
type Options struct {
	Mode Mode

	// Strict asks for at least one URL that URLs says is live, among the
	// citations that the mode counts. Nothing else can be checked, so a DOI, a
	// place, or author and year alone do not pass.
	Strict bool
	URLs   URLChecker // required if Strict

	CustomPhrases []string  // phrases that open a section of sources, besides [DefaultPhrases]
	Semantic      *Semantic // nil for no fallback
}

// ErrNotFetched is what a [URLChecker] says of a page that nobody has asked for.
var ErrNotFetched = errors.New("not among the fetched pages")

// Errors of [New].
var (
	ErrNoEmbedder   = errors.New("presence: the semantic fallback needs an embedder")
	ErrNoURLChecker = errors.New("presence: strict needs a URL checker")
)

// A Detector decides whether answers cite. It is safe for concurrent use.
type Detector struct {
	options   Options
	phrases   *regexp.Regexp
	threshold float64

	mu      sync.Mutex
	vectors [][]float32 // of the phrases
}

// New returns a Detector, or an error if the options ask for what they do not
// provide or a value is out of its range.
func New(o Options) (*Detector, error) {
	if int(o.Mode) >= len(modeNames) {
		return nil, fmt.Errorf("presence mode %d is unknown", o.Mode)
	}
	if o.Strict && o.URLs == nil {
		return nil, ErrNoURLChecker
	}
	if slices.Contains(o.CustomPhrases, "") {
		return nil, errors.New("presence: a custom phrase is empty")
	}
	o.CustomPhrases = slices.Clone(o.CustomPhrases)
	d := &Detector{options: o, threshold: DefaultThreshold}
	if o.Semantic != nil {
		if o.Semantic.Embedder == nil {
			return nil, ErrNoEmbedder
		}
		t := o.Semantic.Threshold
		if math.IsNaN(t) || t < 0 || t > 1 {
			return nil, fmt.Errorf("presence: semantic threshold %v is outside (0, 1]", t)
		}
		if t > 0 {
			d.threshold = t
		}
	}
	var quoted []string
	for _, p := range d.Phrases() {
		quoted = append(quoted, regexp.QuoteMeta(p))
	}
	d.phrases = foldPattern(quoted)
	return d, nil
}

// Phrases returns the custom phrases, then the default ones.
func (d *Detector) Phrases() []string {
	return slices.Concat(d.options.CustomPhrases, DefaultPhrases())
}

// An Input is one answer and the conversation that led to it. HasAnswer is
// false if the answer is not known; it can be known to be empty.
type Input struct {
	Messages  []ibid.Message
	Answer    string
	HasAnswer bool
}

// Signals are what the decision was taken from.
type Signals struct {
	PassesPresenceCheck    bool `json:"passes_presence_check"`
	TotalAssistantMessages int  `json:"total_assistant_messages"` // texts that were read
	// MessagesWithCitations are indices into Messages, ascending. An answer that
	// is read because no assistant message has a text counts as the message
	// after them.
	MessagesWithCitations []int `json:"messages_with_citations"`

	Explanation string `json:"explanation,omitempty"` // see [Detector.Explain]; Detect leaves it empty
}

// A Result is the presence of one answer. Evaluated is false, and Signals are
// zero, if there was no text at all to read, not even an empty one.
type Result struct {
	Evaluated bool
	Signals   Signals
}

// Score is the metric citation_presence: 1 if the check passes, else 0. Nothing
// to read scores 0.
func (r *Result) Score() float64 {
	if r.Signals.PassesPresenceCheck {
		return 1
	}
	return 0
}

// Detect reads the assistant messages or, if none has a text, the answer, and
// fills out, reusing its slice. It passes if one of the texts passes.
//
// The error is that of the URL checker or the embedder, and then out is not
// decided. Only strict and the semantic fallback can fail.
func (d *Detector) Detect(ctx context.Context, in Input, out *Result) error {
	indices := out.Signals.MessagesWithCitations[:0]
	if indices == nil {
		indices = []int{} // a list without elements, also in JSON
	}
	*out = Result{}
	for i := range in.Messages {
		m := &in.Messages[i]
		if m.Role != "assistant" || m.Content == "" {
			continue
		}
		out.Signals.TotalAssistantMessages++
		passes, err := d.passes(ctx, m.Content)
		if err != nil {
			*out = Result{}
			return fmt.Errorf("message %d: %w", i, err)
		}
		if passes {
			indices = append(indices, i)
		}
	}
	if out.Signals.TotalAssistantMessages == 0 && in.HasAnswer {
		out.Signals.TotalAssistantMessages = 1
		passes, err := d.passes(ctx, in.Answer)
		if err != nil {
			*out = Result{}
			return fmt.Errorf("answer: %w", err)
		}
		if passes {
			indices = append(indices, len(in.Messages))
		}
	}
	out.Evaluated = out.Signals.TotalAssistantMessages > 0
	out.Signals.MessagesWithCitations = indices
	out.Signals.PassesPresenceCheck = len(indices) > 0
	return nil
}

// passes decides one text, the reasoning of its model left out.
func (d *Detector) passes(ctx context.Context, text string) (bool, error) {
	text = text[claims.OwnStart(text):]
	if d.options.Mode == AnyCitation && !d.options.Strict {
		return hasReference(text), nil
	}
	refs := appendHits(nil, text)
	if len(refs) == 0 {
		return false, nil
	}
	if d.options.Mode == AnyCitation {
		return d.counts(ctx, text, refs)
	}
	if start, ok := d.sectionStart(text, refs); ok {
		if passes, err := d.counts(ctx, text, from(refs, start)); passes || err != nil {
			return passes, err
		}
	}
	if d.options.Semantic == nil {
		return false, nil
	}
	start, ok, err := d.semanticStart(ctx, text, refs)
	if !ok || err != nil {
		return false, err
	}
	if d.options.Semantic.SkipURLCheck {
		return true, nil
	}
	return d.counts(ctx, text, from(refs, start))
}

// from returns the references that begin at or after start.
func from(refs []hit, start int) []hit {
	i := slices.IndexFunc(refs, func(h hit) bool { return h.start >= start })
	if i < 0 {
		return nil
	}
	return refs[i:]
}

// counts reports whether refs are enough: one is, if not strict; else one whose
// URL is live. An error of the checker matters only if no other URL is live.
func (d *Detector) counts(ctx context.Context, text string, refs []hit) (bool, error) {
	if !d.options.Strict {
		return len(refs) > 0, nil
	}
	var failed error
	asked := make(map[string]bool)
	for _, h := range refs {
		url := text[h.start:h.end]
		if h.kind != URL || asked[url] {
			continue
		}
		asked[url] = true
		live, err := d.options.URLs.Live(ctx, url)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("check %s: %w", url, err))
		} else if live {
			return true, nil
		}
	}
	return false, failed
}

// Explain says in a sentence why r came out as it did.
func (d *Detector) Explain(r *Result) string {
	if !r.Evaluated {
		return "No actual output provided"
	}
	mode := "Mode: " + d.options.Mode.String()
	if d.options.Strict {
		mode += ", Strict: True"
	}
	if !r.Signals.PassesPresenceCheck {
		return mode + ". FAILURE: No assistant message satisfied the citation requirement." +
			" Ensure citations are present and, if in strict mode, URLs are live."
	}
	return fmt.Sprintf("%s. SUCCESS: The citation requirement was met in %d out of %d assistant message(s).",
		mode, len(r.Signals.MessagesWithCitations), r.Signals.TotalAssistantMessages)
}
