package openrouter

import (
	"cmp"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// A rung is how strictly an endpoint is told the shape of a reply. Calls begin at
// the first and step down where a service does not take it.
type rung uint8

const (
	rungSchema rung = iota // response_format json_schema
	rungObject             // response_format json_object
	rungText               // the prompt alone
)

var rungNames = [...]string{rungSchema: "json_schema", rungObject: "json_object", rungText: "text"}

func (r rung) String() string { return rungNames[r] }

// A shape is how requests to a model are written where that depends on what the
// model takes. It changes nothing of what is asked, and it never enters a key. The
// zero shape is what the settings say.
type shape struct {
	rung       rung
	dropped    uint8 // of droppable, a bit each
	lowEffort  bool  // reasoning effort low, where the settings have none
	completion bool  // the limit is called max_completion_tokens
}

// droppable are the members that a request may do without. Their order is kept in stores.
var droppable = [][]string{{"temperature"}, {"seed"}, {"reasoning", "reasoning_effort"}, {"logprobs", "top_logprobs"}}

// Places of droppable.
const (
	dropSeed   = 1
	dropEffort = 2
)

// String lists what a shape has beside the zero one.
func (s shape) String() string {
	out := []string{s.rung.String()}
	for i := range droppable {
		if s.dropped&(1<<i) != 0 {
			out = append(out, "no "+droppable[i][0])
		}
	}
	if s.lowEffort {
		out = append(out, "effort low")
	}
	return strings.Join(out, ", ")
}

// form is a shape as a store keeps it with the lines of a batch.
func (s shape) form() int64 {
	out := int64(s.rung) | int64(s.dropped)<<16
	if s.lowEffort {
		out |= 1 << 8
	}
	if s.completion {
		out |= 1 << 9
	}
	return out
}

// shapeOf is the shape that a store has kept.
func shapeOf(form int64) shape {
	return shape{rung: rung(form & 0xff % int64(len(rungNames))), dropped: uint8(form >> 16), lowEffort: form&(1<<8) != 0, completion: form&(1<<9) != 0}
}

// Budgets for replies of models that reason where nobody sees it.
const (
	reasoningShare = 2       // of the most that was seen, in the next budget
	budgetGrowth   = 4       // least growth after a reply that was cut off
	budgetMost     = 1 << 17 // where nobody knows what the model may write
	noJSONInRow    = 2       // replies that are no JSON before a step down from a rung without any that is
)

// A profile is what is known of a model: what its endpoint said, and what its
// replies have shown. It is safe for concurrent use.
type profile struct {
	model  string
	note   func(string)                            // what is said in log and report
	learnt func(model, name string, value float64) // what later runs begin with

	mu        sync.Mutex
	now       shape
	reasoning int64 // most hidden tokens of a reply
	most      int64 // most tokens that a reply may have; 0 if nobody knows
	noJSON    int   // replies in a row
	json      bool  // the rung has brought some

	window  int64   // tokens of a prompt and its reply together; 0 if nobody knows
	least   float64 // bytes of a prompt to a token: the fewest that were seen; 0 if none were
	short   float64 // the most, in prompts of less than shortPrompt tokens
	checked int     // bytes of the longest prompt whose check word came back
	seen    int64   // most tokens of a prompt and a whole reply together

	hidden, rate         float64 // as earlier runs have learnt: learntHidden, learntRate
	calls, thought, paid int64   // replies of use, their hidden tokens, and what they cost in nano-USD
	counted              int64   // all tokens of them
}

// Lengths of prompts.
const (
	shortPrompt  = 1000
	bytesAtFirst = 3.0 // bytes to a token, before any were seen
	bytesMost    = 8.0 // no tokeniser takes more on texts: the server did not read all
	bytesGrowth  = 1.4 // over the most in short prompts, likewise
	windowShare  = 0.9 // of the window that a question may take by estimate
	fullShare    = 0.9 // of its limit: a reply that ends before at its limit has met the end of the window
	leastWindow  = 256
)

// Names of what is learnt of a model.
const (
	learntWindow    = "context"
	learntBytes     = "bytes_per_token"
	learntReasoning = "reasoning_tokens" // the most of a reply
	learntHidden    = "hidden_tokens"    // their mean over replies
	learntRate      = "nano_usd_per_token"
	learntShape     = "shape"
)

// recall takes over what earlier runs have learnt.
func (p *profile) recall(name string, value float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch name {
	case learntWindow:
		p.window = int64(value)
	case learntBytes:
		p.least = value
	case learntReasoning:
		p.reasoning = int64(value)
	case learntHidden:
		p.hidden = value
	case learntRate:
		p.rate = value
	case learntShape:
		p.now = shapeOf(int64(value))
	}
}

// cost takes note of what a call with a reply of use took.
func (p *profile) cost(nanoUSD, tokens, hidden int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls, p.thought, p.paid, p.counted = p.calls+1, p.thought+hidden, p.paid+nanoUSD, p.counted+tokens
}

// close keeps what the calls have cost for a plan.
func (p *profile) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls > 0 {
		p.learnt(p.model, learntHidden, float64(p.thought)/float64(p.calls))
	}
	if p.paid > 0 && p.counted > 0 {
		p.learnt(p.model, learntRate, float64(p.paid)/float64(p.counted))
	}
}

// takes is what earlier runs have learnt that a call takes beside its prompt and its answer: hidden
// tokens, and what a token costs in nano-USD. They are 0 if none have.
func (p *profile) takes() (hidden int64, rate float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return int64(p.hidden), p.rate
}

// reads takes note of how many tokens a prompt and its reply can have together.
func (p *profile) reads(tokens int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.narrow(tokens)
}

// narrow takes over a window that is narrower than the one that is known; a reply may have shown
// that it is wider. The caller holds the lock.
func (p *profile) narrow(tokens int64) bool {
	if tokens < leastWindow || tokens <= p.seen || p.window > 0 && tokens >= p.window {
		return false
	}
	p.window = tokens
	p.learnt(p.model, learntWindow, float64(tokens))
	return true
}

// long reports whether a prompt of so many bytes, with a reply of so many tokens, is longer than
// the model is known to read.
func (p *profile) long(bytes int, need int64) bool {
	need = p.budget(need, 0)
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.window > 0 && float64(bytes)/cmp.Or(p.least, bytesAtFirst)+float64(need) > windowShare*float64(p.window)
}

// errCut: the server has read a part of the prompt.
type errCut struct{ error }

// cut takes note of a prompt of which the server has read a part. The caller holds the lock.
func (p *profile) cut(u *usage, why string) error {
	if tokens := int64(u.Prompt + u.Completion); p.narrow(tokens) {
		p.note(fmt.Sprintf("%s: the server cuts prompts off at about %d tokens without saying so: raise its limit (num_ctx of Ollama); rows are asked in smaller parts", p.model, tokens))
	}
	return errCut{fmt.Errorf("%s has read a part of the prompt alone: %s", p.model, why)}
}

// tokens takes note of how many tokens a prompt of so many bytes had. The error is that the
// server did not read all of it.
func (p *profile) tokens(bytes int, u *usage) error {
	read := float64(u.Prompt + u.Prompts.Cached) // some count them apart
	if read < leastWindow {
		return nil // no model reads so little: it is not told, or wrong
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	ratio := float64(bytes) / read
	if ratio > bytesMost || p.short > 0 && ratio > bytesGrowth*p.short {
		return p.cut(u, fmt.Sprintf("%d bytes count as %d tokens", bytes, u.Prompt))
	}
	if u.Prompt < shortPrompt {
		p.short = max(p.short, ratio)
	}
	if before := p.least; before == 0 || ratio < before {
		p.least = ratio
		if ratio < 0.98*before || before == 0 {
			p.learnt(p.model, learntBytes, ratio)
		}
	}
	return nil
}

// check compares the check word of a whole reply to a prompt of so many bytes. The error is that the
// server has cut off the beginning of the prompt. A word that is wrong says nothing of the server
// where one of a longer prompt was right, or where the model is known to read more.
func (p *profile) check(bytes int, said, want string, u *usage) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	fits := u.Prompt > 0 && float64(u.Prompt+u.Completion) < fullShare*float64(p.window)
	switch {
	case said == want:
		p.checked, p.seen = max(p.checked, bytes), max(p.seen, int64(u.Prompt+u.Completion))
		if p.window > 0 && p.seen > p.window { // it is wider than was thought
			p.window = p.seen
			p.learnt(p.model, learntWindow, float64(p.window))
		}
	case bytes > p.checked && !fits:
		return p.cut(u, fmt.Sprintf("its reply has the check word %q, the prompt %q", excerpt(said), want))
	}
	return nil
}

// shape is how the next request is written.
func (p *profile) shape() shape {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now
}

// describe takes over what an endpoint says of the model. Where the settings demand providers
// that take all parameters, what none takes is left out: such a request would find no provider.
// The key of the request stays that of the full one.
func (p *profile) describe(m *ModelInfo, demanding bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.most = m.MaxCompletion
	if m.ContextLength >= leastWindow && (p.window == 0 || m.ContextLength < p.window) {
		p.window = m.ContextLength
	}
	p.now.lowEffort = p.now.lowEffort || m.Reasons
	if m.Reasons {
		p.reasoning = max(p.reasoning, needThinking/reasoningShare)
	}
	if !m.Supports("max_tokens") && m.Supports("max_completion_tokens") {
		p.now.completion = true
	}
	for i, name := range []string{"temperature", "seed", "response_format"} { // as droppable begins
		if !demanding || m.Supports(name) {
			continue
		}
		if name == "response_format" {
			p.now.rung = rungText
		} else {
			p.now.dropped |= 1 << i
		}
		p.note("left out, since no provider takes it: " + p.model + ": " + name)
	}
}

// budget is how many tokens a reply may have that needs so many: at least as many as
// before, if the model may write them.
func (p *profile) budget(need, before int64) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	budget := max(need+reasoningShare*p.reasoning, before)
	if p.most > 0 {
		return min(budget, p.most)
	}
	return max(1, min(budget, budgetMost))
}

// reasoned takes note of the hidden tokens of a reply.
func (p *profile) reasoned(tokens int64) {
	if tokens <= 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if tokens > p.reasoning {
		p.reasoning = tokens
		p.learnt(p.model, learntReasoning, float64(tokens))
	}
	p.now.lowEffort = p.now.dropped&(1<<dropEffort) == 0
}

// replied takes note of whether a reply to a request of that shape was JSON at all. A rung
// that has brought JSON is kept: what came then is the fault of a call, not of the rung.
func (p *profile) replied(sent shape, isJSON bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case sent.rung != p.now.rung || p.json:
	case isJSON:
		p.json = true
	default:
		if p.noJSON++; p.noJSON >= noJSONInRow && p.now.rung < rungText {
			p.stepDown("replies are no JSON")
		}
	}
}

// stepDown goes to the next rung. The caller holds the lock.
func (p *profile) stepDown(why string) {
	p.noJSON, p.json = 0, false
	before := p.now.rung
	p.now.rung++
	p.learnt(p.model, learntShape, float64(p.now.form()))
	p.note(fmt.Sprintf("%s: replies are asked for as %v instead of %v: %s", p.model, p.now.rung, before, why))
}

// The names by which services refuse what a request may do without, and the member that
// is dropped then: -1 for a step down the rungs, -2 for the other name of the limit. The
// first that stands in a message counts: some repeat the whole request after it.
var refusedNames = []struct {
	name *regexp.Regexp
	drop int
}{
	{regexp.MustCompile(`response_format|json_schema|schema|grammar|structured[ _]output|guided`), dropRung},
	{regexp.MustCompile(`max_tokens|max_completion_tokens`), renameLimit},
	{regexp.MustCompile(`temperature`), 0},
	{regexp.MustCompile(`\bseed\b`), 1},
	{regexp.MustCompile(`reasoning|effort`), 2},
	{regexp.MustCompile(`logprobs`), 3},
}

const (
	dropRung    = -1
	renameLimit = -2
)

// without is the shape after a refusal of what a name means.
func (s shape) without(drop int) shape {
	switch {
	case drop == renameLimit:
		s.completion = true
	case drop == dropEffort && !s.lowEffort: // the user's own, or none
	case drop != dropRung:
		s.dropped |= 1 << drop
		s.lowEffort = s.lowEffort && drop != dropEffort
	case s.rung < rungText:
		s.rung++
	}
	return s
}

var (
	tooLarge   = regexp.MustCompile(`too (large|high|big|many)|at most|less than or equal|maximum|exceed`)
	wholeCount = regexp.MustCompile(`\d+`)
)

// adapt learns from a request that was refused for what it could do without. It
// reports whether the same question may be asked in another form. Several calls may
// meet the same refusal: it is taken once, by the first.
func (p *profile) adapt(sent shape, budget int64, f *failure) bool {
	switch f.status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusUnprocessableEntity:
	default:
		return false
	}
	next, at, drop := sent, -1, 0
	for i := range refusedNames {
		found := refusedNames[i].name.FindStringIndex(f.words)
		if found == nil || at >= 0 && found[0] >= at {
			continue
		}
		at, drop = found[0], refusedNames[i].drop
		next = sent.without(drop)
		if strings.HasPrefix(f.words[found[0]:], "max_") && tooLarge.MatchString(f.words) && p.limit(f.words, budget) {
			return true
		}
	}
	if next == sent {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now != sent {
		return true // another call has learnt already
	}
	if next.rung != sent.rung {
		p.stepDown(excerpt(f.err.Error()))
		return true
	}
	p.now = next
	p.learnt(p.model, learntShape, float64(p.now.form()))
	if drop >= 0 {
		p.note(fmt.Sprintf("%s: %s is left out: %s", p.model, droppable[drop][0], excerpt(f.err.Error())))
	}
	return true
}

// limit learns the most tokens of a reply from a refusal that names it: the largest
// number below what was asked for.
func (p *profile) limit(words string, budget int64) bool {
	most := int64(0)
	for _, digits := range wholeCount.FindAllString(words, -1) {
		if n, err := strconv.ParseInt(digits, 10, 64); err == nil && n < budget && n >= needLeast/2 {
			most = max(most, n)
		}
	}
	if most == 0 {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.most == 0 || most < p.most {
		p.most = most
	}
	return true
}
