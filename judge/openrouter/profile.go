package openrouter

import (
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
	rung          rung
	noTemperature bool
	noSeed        bool
	lowEffort     bool // reasoning effort low, where the settings have none
	noEffort      bool // nothing about reasoning is taken
	completion    bool // the limit is called max_completion_tokens
	noLogprobs    bool
}

// String lists what a shape has beside the zero one.
func (s shape) String() string {
	out := []string{s.rung.String()}
	if s.noTemperature {
		out = append(out, "no temperature")
	}
	if s.noSeed {
		out = append(out, "no seed")
	}
	if s.lowEffort && !s.noEffort {
		out = append(out, "effort low")
	}
	if s.noLogprobs {
		out = append(out, "no logprobs")
	}
	return strings.Join(out, ", ")
}

// form is a shape as a store keeps it with the lines of a batch.
func (s shape) form() int64 {
	out := int64(s.rung)
	for i, set := range []bool{s.noTemperature, s.noSeed, s.lowEffort, s.noEffort, s.completion} {
		if set {
			out |= 1 << (8 + i)
		}
	}
	return out
}

// shapeOf is the shape that a store has kept.
func shapeOf(form int64) shape {
	has := func(i int) bool { return form&(1<<(8+i)) != 0 }
	return shape{rung: rung(form & 0xff % int64(len(rungNames))), noTemperature: has(0), noSeed: has(1), lowEffort: has(2), noEffort: has(3), completion: has(4)}
}

// Budgets for replies of models that reason where nobody sees it.
const (
	reasoningShare = 2       // of the most that was seen, in the next budget
	budgetGrowth   = 4       // least growth after a reply that was cut off
	budgetMost     = 1 << 17 // where nobody knows what the model may write
	noJSONInRow    = 2       // replies that are no JSON before a step down
)

// A profile is what is known of a model: what its endpoint said, and what its
// replies have shown. It is safe for concurrent use.
type profile struct {
	model string
	note  func(string) // what is said in log and report

	mu        sync.Mutex
	now       shape
	reasoning int64 // most hidden tokens of a reply
	most      int64 // most tokens that a reply may have; 0 if nobody knows
	noJSON    int   // replies in a row
}

// shape is how the next request is written.
func (p *profile) shape() shape {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now
}

// describe takes over what an endpoint says of the model.
func (p *profile) describe(m *ModelInfo) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.most = m.MaxCompletion
	p.now.lowEffort = p.now.lowEffort || m.Reasons
	if m.Reasons {
		p.reasoning = max(p.reasoning, needThinking/reasoningShare)
	}
	if !m.Supports("max_tokens") && m.Supports("max_completion_tokens") {
		p.now.completion = true
	}
}

// drop leaves out parameters that no provider takes.
func (p *profile) drop(names []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, name := range names {
		switch name {
		case "response_format":
			p.now.rung = rungText
		case "temperature":
			p.now.noTemperature = true
		case "seed":
			p.now.noSeed = true
		}
	}
}

// budget is how many tokens a reply may have that needs so many: at least as many as
// before, if the model may write them.
func (p *profile) budget(need, before int64) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cap(max(need+reasoningShare*p.reasoning, before))
}

func (p *profile) cap(budget int64) int64 {
	if p.most > 0 {
		return min(budget, p.most)
	}
	return max(1, min(budget, budgetMost))
}

// grown is the budget after a reply that was cut off at the last one; ok is false
// if the model may not write more.
func (p *profile) grown(need, last int64) (budget int64, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	budget = p.cap(max(need+reasoningShare*p.reasoning, budgetGrowth*last))
	return budget, budget > last
}

// reasoned takes note of the hidden tokens of a reply.
func (p *profile) reasoned(tokens int64) {
	if tokens <= 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reasoning = max(p.reasoning, tokens)
	p.now.lowEffort = true
}

// replied takes note of whether a reply to a request of that shape was JSON at all.
func (p *profile) replied(sent shape, isJSON bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case isJSON:
		p.noJSON = 0
	case sent.rung != p.now.rung:
	default:
		if p.noJSON++; p.noJSON >= noJSONInRow && p.now.rung < rungText {
			p.stepDown("replies are no JSON")
		}
	}
}

// stepDown goes to the next rung. The caller holds the lock.
func (p *profile) stepDown(why string) {
	p.noJSON = 0
	before := p.now.rung
	p.now.rung++
	p.note(fmt.Sprintf("%s: replies are asked for as %v instead of %v: %s", p.model, p.now.rung, before, why))
}

// The names by which services refuse what a request may do without, and what to do.
// The first that stands in a message counts: some repeat the whole request after it.
var refusedNames = []struct {
	name *regexp.Regexp
	step func(*profile, *shape) (what string)
}{
	{regexp.MustCompile(`response_format|json_schema|schema|grammar|structured[ _]output|guided`), func(_ *profile, s *shape) string {
		if s.rung < rungText {
			s.rung++
		}
		return ""
	}},
	{regexp.MustCompile(`max_tokens|max_completion_tokens`), func(_ *profile, s *shape) string {
		s.completion = true
		return ""
	}},
	{regexp.MustCompile(`temperature`), func(_ *profile, s *shape) string {
		s.noTemperature = true
		return "temperature"
	}},
	{regexp.MustCompile(`\bseed\b`), func(_ *profile, s *shape) string {
		s.noSeed = true
		return "seed"
	}},
	{regexp.MustCompile(`logprobs`), func(_ *profile, s *shape) string {
		s.noLogprobs = true
		return "logprobs"
	}},
	{regexp.MustCompile(`reasoning|effort`), func(_ *profile, s *shape) string {
		s.noEffort = s.lowEffort
		return "reasoning effort"
	}},
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
	next, at, what := sent, -1, ""
	for i := range refusedNames {
		found := refusedNames[i].name.FindStringIndex(f.words)
		if found == nil || at >= 0 && found[0] >= at {
			continue
		}
		tried := sent
		tell := refusedNames[i].step(p, &tried)
		next, at, what = tried, found[0], tell
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
	switch {
	case next.rung != sent.rung:
		p.stepDown(excerpt(f.err.Error()))
	case what != "":
		p.now = next
		p.note(fmt.Sprintf("%s: %s is left out: %s", p.model, what, excerpt(f.err.Error())))
	default:
		p.now = next
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
