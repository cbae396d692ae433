package openrouter

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	openai "github.com/sashabaranov/go-openai"

	"ibid"
	"ibid/judge"
	"ibid/judge/prompts"
	"ibid/metrics/token"
)

// The protocols of judges that ask models.
const (
	Verdicts = "verdicts" // one schema for all claims and citations of a row
	Score    = "score"    // a number for a claim and a text, by the prompts of the specification
	YesNo    = "yes-no"   // a claim and a text, to which a chat model says yes or no
	Classify = "classify" // a claim and a text, to which a sequence classifier gives a score
)

// A verifier says how a small verifier is asked whether a text supports a claim, and how
// its answer is read.
type verifier struct {
	// Of yes-no: a system message, "" for none, and the message of the user, with {document}
	// and {claim}. A reply begins with one of the words Yes or No, in any case.
	System  string `json:"system,omitempty"`
	Message string `json:"message,omitempty"`
	Yes     []word `json:"yes,omitempty"`
	No      []word `json:"no,omitempty"`
	// Of classify: the label, or the number of the class, that means support; "" takes the
	// one label that speaks for itself, such as entailment.
	Positive word `json:"positive,omitempty"`
	// Inverted: yes, or that class, speaks against support.
	Inverted bool `json:"inverted,omitempty"`

	protocol string
}

// A word may be written as a number.
type word string

// UnmarshalJSON takes a string, and a number as it is written.
func (w *word) UnmarshalJSON(b []byte) error {
	var s label
	if err := s.UnmarshalJSON(b); err != nil || s == "" {
		return errors.New("want a text or a number")
	}
	*w = word(s)
	return nil
}

// is reports whether text is the word, in any case and with space around it.
func (w word) is(text string) bool { return strings.EqualFold(strings.TrimSpace(text), string(w)) }

func isOneOf(words []word, text string) bool {
	return slices.ContainsFunc(words, func(w word) bool { return w.is(text) })
}

// minicheckSystem is the instruction of Bespoke-MiniCheck-7B, from its card.
const minicheckSystem = "Determine whether the provided claim is consistent with the corresponding document. Consistency in this context implies that all information presented in the claim is substantiated by the document. If not, it should be considered inconsistent. Please assess the claim's consistency with the document by responding with either \"Yes\" or \"No\"."

// newVerifier reads what a file says of a small verifier; nil for the request of
// Bespoke-MiniCheck-7B, or a pair of premise and hypothesis. An error has a hint.
func newVerifier(protocol string, file map[string]any) (*verifier, error) {
	v := &verifier{protocol: protocol}
	if protocol == YesNo {
		v.Yes, v.No = []word{"yes"}, []word{"no"}
		if len(file) == 0 {
			v.System, v.Message = minicheckSystem, "Document: {document}\nClaim: {claim}"
		}
	}
	err := v.read(file)
	switch {
	case err != nil:
	case protocol == Classify && (v.Message != "" || v.System != "" || v.Yes != nil || v.No != nil):
		err = errors.New("a classifier has positive and inverted alone")
	case protocol == YesNo && v.Positive != "":
		err = errors.New("positive is the label of a classifier; the words of replies are yes and no")
	case protocol == YesNo && !(strings.Contains(v.Message, "{claim}") && strings.Contains(v.Message, "{document}")):
		err = errors.New("message has to show {claim} and {document}")
	case slices.ContainsFunc(v.Yes, func(w word) bool { return isOneOf(v.No, string(w)) }):
		err = errors.New("yes and no have a word in common")
	}
	if err != nil {
		return nil, &ibid.Error{Err: fmt.Errorf("judge.prompts: %w", err), Hint: "ibid help verifiers has the members of the file"}
	}
	return v, nil
}

func (v *verifier) read(file map[string]any) error {
	text, err := json.Marshal(file)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err = d.Decode(v)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s: want %s, not %s", wrong.Field, wrong.Type, wrong.Value)
	}
	if err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// version names the protocol, and what the file says.
func (v *verifier) version() string {
	sum := sha256.Sum256(quoted(v))
	return v.protocol + ":" + hex.EncodeToString(sum[:])[:8]
}

// A rating is what a verifier says of a claim and a text. It is what is kept of an answer.
type rating struct {
	Support     float64  `json:"support"`
	Contradicts *float64 `json:"contradicts,omitempty"` // the probability of that class, if there is one
}

// best is the rating of two texts of which one was read at a time.
func (a rating) best(b rating) rating {
	if a.Contradicts == nil || b.Contradicts != nil && *b.Contradicts > *a.Contradicts {
		a.Contradicts = b.Contradicts
	}
	a.Support = max(a.Support, b.Support)
	return a
}

// contradicted says whether the texts contradict the claim: the class of contradiction
// has at least 0.5 for one of them, and none supports it as much.
func (a rating) contradicted() ibid.Tri {
	if a.Contradicts == nil {
		return ibid.Unset
	}
	return ibid.TriOf(*a.Contradicts >= 0.5 && a.Support < 0.5)
}

// supporting is the rating of a probability that the positive word or class has.
func (v *verifier) supporting(p float64) rating {
	if v.Inverted {
		p = 1 - p
	}
	return rating{Support: p}
}

var firstWord = regexp.MustCompile(`[\pL\p{Nd}]+`)

// ofReply reads the first word of a reply: the probability of yes is the sum over the
// tokens at its place that are such a word, where the endpoint gives them, else 1 or 0.
func (v *verifier) ofReply(reply string, logprobs *openai.LogProbs) (rating, error) {
	from := 0
	if i := strings.LastIndex(reply, "</think>"); i >= 0 {
		from = i + len("</think>")
	}
	at, said := from, ""
	if word := firstWord.FindStringIndex(reply[from:]); word != nil {
		at, said = from+word[0], reply[from+word[0]:from+word[1]]
	}
	if logprobs != nil {
		if p, ok := v.probability(reply, at, logprobs); ok {
			return v.supporting(p), nil
		}
	}
	switch {
	case isOneOf(v.Yes, said):
		return v.supporting(1), nil
	case isOneOf(v.No, said):
		return v.supporting(0), nil
	}
	return rating{}, fmt.Errorf("the reply says %q, neither %s nor %s", excerpt(said), v.Yes[0], v.No[0])
}

// probability sums over the tokens at byte at of the reply; ok is false if none of the
// words is one of them.
func (v *verifier) probability(reply string, at int, logprobs *openai.LogProbs) (p float64, ok bool) {
	begin := 0
	for _, token := range logprobs.Content {
		if !strings.HasPrefix(reply[begin:], token.Token) {
			return 0, false // the tokens are not those of the reply
		}
		if begin += len(token.Token); at >= begin {
			continue
		}
		top := token.TopLogProbs
		if !slices.ContainsFunc(top, func(o openai.TopLogProbs) bool { return o.Token == token.Token }) {
			top = append(top, openai.TopLogProbs{Token: token.Token, LogProb: token.LogProb})
		}
		for _, o := range top {
			yes := isOneOf(v.Yes, o.Token)
			if ok = ok || yes || isOneOf(v.No, o.Token); yes {
				p += math.Exp(min(o.LogProb, 0))
			}
		}
		return min(p, 1), ok
	}
	return 0, false
}

// speaking are labels that say by themselves what they mean.
var (
	speaking        = []string{"entailment", "entailed", "supported", "supports", "consistent", "grounded", "faithful"}
	speakingAgainst = []string{"contradiction", "contradicts", "contradicted", "refuted", "refutes"}
)

// errLabels: nobody knows which label means support.
type errLabels struct{ error }

const positiveLabelHint = "write the label of support into a file, such as positive: LABEL_1, and name it as judge.prompts; look at the model's card"

// classOf is the number of a class, if its label is one, or LABEL_ and one.
func classOf(label string) (n int, ok bool) {
	n, err := strconv.Atoi(strings.TrimPrefix(strings.ToUpper(label), "LABEL_"))
	return n, err == nil && n >= 0
}

// labelOf finds the label that is meant: the one that is named, or the one of those that
// speak for themselves.
func labelOf(named word, known, labels []string) (string, bool) {
	found := ""
	for _, label := range labels {
		switch {
		case named != "":
			n, number := classOf(string(named))
			own, numbered := classOf(label)
			if named.is(label) || number && numbered && n == own {
				return label, true
			}
		case slices.Contains(known, strings.ToLower(label)):
			if found != "" {
				return "", false
			}
			found = label
		}
	}
	return found, found != ""
}

// ofScores reads the scores of a classifier by label.
func (v *verifier) ofScores(scores map[string]float64) (rating, error) {
	labels := slices.Sorted(maps.Keys(scores))
	positive, ok := labelOf(v.Positive, speaking, labels)
	if !ok {
		if v.Positive != "" {
			return rating{}, errLabels{fmt.Errorf("the model has no label %s: it has %s", v.Positive, strings.Join(labels, ", "))}
		}
		return rating{}, errLabels{fmt.Errorf("none of the labels is known to mean support: %s", strings.Join(labels, ", "))}
	}
	for _, name := range labels {
		if p := scores[name]; !(p >= 0 && p <= 1) {
			return rating{}, errLabels{fmt.Errorf("label %s has %v, which is no probability", name, p)}
		}
	}
	out := v.supporting(scores[positive])
	if against, ok := labelOf("", speakingAgainst, labels); ok && len(labels) > 2 && against != positive {
		p := scores[against]
		out.Contradicts = &p
	}
	return out, nil
}

// ofBody reads the response of a classifier to one pair: a list of scores by label, also
// within a list of its own.
func (v *verifier) ofBody(raw []byte) (rating, error) {
	type prediction struct {
		Score *float64 `json:"score"`
		Label string   `json:"label"`
	}
	var all [][]prediction
	if json.Unmarshal(raw, &all) != nil {
		all = make([][]prediction, 1)
		if err := json.Unmarshal(raw, &all[0]); err != nil {
			return rating{}, fmt.Errorf("the response is no list of scores: %w", err)
		}
	}
	if len(all) != 1 || len(all[0]) == 0 {
		return rating{}, fmt.Errorf("the response has scores of %d inputs, want 1", len(all))
	}
	scores := make(map[string]float64)
	for _, p := range all[0] {
		if p.Score == nil {
			return rating{}, errors.New("the response has a label without a score")
		}
		scores[p.Label] = *p.Score
	}
	return v.ofScores(scores)
}

// classifierRoot is where the server of a classifier is: base_url without the /v1 that
// chat APIs have.
func (j *Judge) classifierRoot() string { return strings.TrimSuffix(j.wire.at.base, "/v1") }

// A serverInfo is what a server of text-embeddings-inference says of itself.
type serverInfo struct {
	MaxInput amount `json:"max_input_length"` // tokens of an input; 0 if it does not say
	Type     struct {
		Classifier struct {
			Labels map[string]string `json:"id2label"`
		} `json:"classifier"`
	} `json:"model_type"`
}

// server asks the server of a classifier what it takes, once.
func (j *Judge) server(ctx context.Context) *serverInfo {
	j.serverOnce.Do(func() {
		if j.config.Protocol != Classify {
			return
		}
		if body, err := j.get(ctx, j.classifierRoot()+"/info"); err == nil {
			_ = json.Unmarshal(body, &j.serverSaid) // what it does not say nobody knows
		}
	})
	return &j.serverSaid
}

// Ready asks the server of a classifier for its labels, and is an error with a hint if none of
// them is known to mean support. A server that does not say them, or does not answer, is
// no error. Other judges ask nothing.
func (j *Judge) Ready(ctx context.Context) error {
	scores := make(map[string]float64)
	for _, label := range j.server(ctx).Type.Classifier.Labels {
		scores[label] = 0
	}
	if len(scores) == 0 {
		return nil
	}
	if _, err := j.verifier.ofScores(scores); err != nil {
		return &ibid.Error{Err: err, Hint: positiveLabelHint}
	}
	return nil
}

// A query is one claim and one text.
type query struct {
	claim, text string
	uncited     bool // of protocol score: the text is a list of what the claim does not cite
}

// Longest replies in tokens: a number, as the specification has it, and a word.
const (
	pairTokens = 100
	wordTokens = 4
)

// smallQuestion is the question of a query to a model.
func (j *Judge) smallQuestion(m *member, q query) *question {
	out := &question{member: m, short: j.config.Protocol == YesNo, request: request{head: m.small, seed: j.config.seed()}}
	if j.verifier != nil {
		out.halves = func() ([]*question, func([][]byte) ([]byte, error)) { return j.smallHalves(m, q) }
		// A word is a token at least.
		out.long = func(ctx context.Context) bool {
			most := int(j.server(ctx).MaxInput)
			return most > 0 && len(strings.Fields(q.text)) > most
		}
	}
	keep := func(r rating, err error) (reading, error) { return reading{verdict: quoted(r)}, err }
	switch j.config.Protocol {
	case Classify:
		out.request.path = j.classifierRoot() + "/predict"
		out.request.whole = j.classifierBody(q)
		out.read = func(x *exchange, _ string, _ bool) (reading, error) { return keep(j.verifier.ofBody(x.raw)) }
	case YesNo:
		text := strings.NewReplacer("{claim}", q.claim, "{document}", q.text).Replace(j.verifier.Message)
		out.request.user, out.request.maxTokens = text, j.config.room(wordTokens)
		out.read = func(x *exchange, reply string, _ bool) (reading, error) {
			return keep(j.verifier.ofReply(reply, x.envelope.Choices[0].Logprobs))
		}
	default:
		out.request.user, out.request.maxTokens = string(j.scorePrompt(q)), j.config.room(pairTokens)
		out.read = func(_ *exchange, reply string, _ bool) (reading, error) { return keep(ofNumber(reply, q.uncited)) }
	}
	out.answer = min(out.request.maxTokens, answerPair)
	return out
}

// classifierBody is a call with one pair. Members that mean something to chat models alone
// are left out.
func (j *Judge) classifierBody(q query) []byte {
	body := maps.Clone(j.config.Request)
	for _, name := range append(slices.Concat(droppable...), append(limitNames, "service_tier", "provider")...) {
		delete(body, name)
	}
	if body == nil {
		body = make(map[string]any)
	}
	body["inputs"], body["truncate"], body["raw_scores"] = [][]string{{q.text, q.claim}}, false, false
	return quoted(body) // keys in sorted order
}

// scorePrompt is a prompt of the specification.
func (j *Judge) scorePrompt(q query) []byte {
	name := prompts.Support
	if q.uncited {
		name = prompts.Hallucination
	}
	return j.prompts.Fill(nil, name, func(b []byte, field string) []byte {
		if field == "text" || field == "sources" {
			return append(b, q.text...)
		}
		return append(b, q.claim...)
	})
}

var firstNumber = regexp.MustCompile(`-?[0-9]+(\.[0-9]+)?|\.[0-9]+`)

// ofNumber reads the first number of a reply: a support, or 1, 2 or 3 for what is not cited.
func ofNumber(reply string, uncited bool) (rating, error) {
	n, err := strconv.ParseFloat(firstNumber.FindString(reply), 64)
	support, ok := map[float64]float64{1: 1, 2: 0.5, 3: 0}[n]
	if !uncited {
		support, ok = min(max(n, 0), 1), true
	}
	if err != nil || !ok {
		return rating{}, errors.New("the reply has no number of the scale")
	}
	return rating{Support: support}, nil
}

// A ratedQuery is a query of a row, with what was said of it.
type ratedQuery struct {
	query
	rating
	known bool
	calls []keyedCall
	err   error
}

// support is unscored if the query is nil, or its answer could not be read.
func (q *ratedQuery) support() ibid.Support {
	if q == nil || !q.known {
		return ibid.Support{}
	}
	return ibid.Scored(q.Support)
}

// claimQueries are the queries of a claim; nil for none.
type claimQueries struct {
	evidence         []int // of the request
	alone            []*ratedQuery
	joint, elsewhere *ratedQuery
}

// smallQueries are the queries of the open claims of r, each distinct one once, and those of
// each claim: each passage that it cites alone and, of a verifier, all of them together; of
// protocol score, what it does not cite.
func (j *Judge) smallQueries(r *judge.Request, open []int) (all []*ratedQuery, of []claimQueries) {
	index := make(map[query]*ratedQuery)
	add := func(q query) *ratedQuery {
		if index[q] == nil {
			index[q] = &ratedQuery{query: q}
			all = append(all, index[q])
		}
		return index[q]
	}
	of = make([]claimQueries, len(r.Claims))
	for _, c := range open {
		claim, out := r.Claims[c].Text, &of[c]
		out.evidence = r.Cited(c, nil)
		var texts []string
		seen := make(map[judge.Evidence]bool)
		for _, e := range out.evidence {
			passage := r.Evidence[e].Passage()
			text := passage.Text
			if j.verifier != nil && passage.Title != "" {
				text = passage.Title + "\n" + text
			}
			out.alone = append(out.alone, add(query{claim: claim, text: text}))
			if !seen[passage] {
				seen[passage] = true
				texts = append(texts, text)
			}
		}
		if j.verifier != nil && len(texts) > 0 {
			out.joint = add(query{claim: claim, text: strings.Join(texts, "\n\n")})
		}
		if uncited := uncitedBy(r, out.evidence); j.verifier == nil && len(uncited) > 0 {
			out.elsewhere = add(query{claim: claim, text: strings.Join(uncited, "\n"), uncited: true})
		}
	}
	return all, of
}

// excerptOfSource is how much of each source the specification shows when it
// asks for hallucinations, in code points.
const excerptOfSource = 200

// uncitedBy are the beginnings of the texts that a claim that cites evidence does not cite.
func uncitedBy(r *judge.Request, evidence []int) []string {
	citedText := make(map[string]bool)
	for _, e := range evidence {
		citedText[r.Evidence[e].Text] = true
	}
	var out []string
	for e := range r.Evidence {
		if text := r.Evidence[e].Text; !citedText[text] {
			citedText[text] = true
			runes := []rune(text)
			out = append(out, "- "+string(runes[:min(len(runes), excerptOfSource)])+"...")
		}
	}
	return out
}

// judgeSmall asks about each claim with each passage that it cites, side by side. The error
// is that of the first query that has one.
func (j *Judge) judgeSmall(ctx context.Context, r *judge.Request) (*judge.Verdict, error) {
	v, open := settle(r)
	queries, of := j.smallQueries(r, open)
	var all sync.WaitGroup
	for _, q := range queries {
		all.Go(func() { q.err = j.rate(ctx, q) })
	}
	all.Wait()
	var calls []keyedCall
	for _, q := range queries {
		calls = append(calls, q.calls...)
	}
	v.Calls = callsOf(calls)
	contradictions := false
	for _, q := range queries {
		if u, ok := errors.AsType[*unanswered](q.err); ok {
			return nil, &judge.RowFailure{Row: r.Row, Reason: u.reason, Err: u.err, Calls: append(v.Calls, u.calls...)}
		}
		if q.err != nil {
			return nil, q.err
		}
		contradictions = contradictions || q.Contradicts != nil
	}
	var kinds []ibid.Tri
	if j.verifier != nil {
		kinds = judge.Factual(r)
	}
	for _, c := range open {
		out := &v.Claims[c]
		j.fillSmall(r, &of[c], out)
		if j.verifier != nil {
			out.Factual = kinds[c]
		}
		if of[c].joint == nil && contradictions { // some texts were compared with their claims, none with this one
			out.Contradicted = ibid.No
		}
	}
	addInvalid(r, v)
	return v, nil
}

// relevantFrom is the score from which the specification's scale says that a
// text relates to the claim at all.
const relevantFrom = 0.2

// fillSmall fills in what was said of a claim. With protocol score the joint support is that
// of the best citation.
func (j *Judge) fillSmall(r *judge.Request, q *claimQueries, out *judge.ClaimVerdict) {
	out.Joint, out.Elsewhere = ibid.None.Support(), q.elsewhere.support()
	known := true
	for i, e := range q.evidence {
		check := judge.Check{Evidence: e, Citation: r.Evidence[e].Citation, Support: q.alone[i].support()}
		if score := check.Support; j.verifier == nil {
			out.Votes = len(j.members)
			if known = known && score.Known(); score.Known() {
				check.Relevant = ibid.TriOf(score.Value >= relevantFrom)
				if score.Value > out.Joint.Value {
					out.Joint = score
				}
			}
		}
		out.Checks = append(out.Checks, check)
	}
	switch {
	case q.joint != nil:
		out.Joint, out.Votes, out.Contradicted = q.joint.support(), 1, q.joint.contradicted()
	case !known && out.Joint.Value < 1:
		out.Joint = ibid.Support{} // what could not be read may be better
	}
}

// rate asks all models and takes the mean of their numbers. An answer to protocol score that
// is no number is unscored, or what the settings say.
func (j *Judge) rate(ctx context.Context, q *ratedQuery) error {
	sum := 0.0
	for _, m := range j.members {
		a, err := j.ask(ctx, j.smallQuestion(m, q.query))
		u, failed := errors.AsType[*unanswered](err)
		switch {
		case failed && u.reason == judge.BadReply && j.verifier == nil:
			for _, call := range u.calls {
				q.calls = append(q.calls, keyedCall{call: call})
			}
			if j.config.FallbackScore == nil {
				return nil
			}
			q.rating = rating{Support: *j.config.FallbackScore}
		case err != nil:
			return err
		default:
			q.calls = append(q.calls, a.calls...)
			if err := json.Unmarshal(a.verdict, &q.rating); err != nil {
				return err
			}
		}
		sum += q.Support
	}
	q.known, q.Support = true, sum/float64(len(j.members))
	return nil
}

// smallHalves are the questions about the halves of a text that is too long for a verifier, of
// which the best counts.
func (j *Judge) smallHalves(m *member, q query) (halves []*question, join func(verdicts [][]byte) ([]byte, error)) {
	for _, text := range halvesOf(q.text) {
		halves = append(halves, j.smallQuestion(m, query{claim: q.claim, text: text}))
	}
	return halves, func(verdicts [][]byte) ([]byte, error) {
		var whole rating
		for _, verdict := range verdicts {
			var half rating
			if err := json.Unmarshal(verdict, &half); err != nil {
				return nil, err
			}
			whole = whole.best(half)
		}
		return quoted(whole), nil
	}
}

// halvesOf divides a text at the sentence, or else the space, that is closest to its
// middle; nil if it has none.
func halvesOf(text string) []string {
	runes := []rune(strings.TrimSpace(text))
	at := 0
	closer := func(i int) {
		if i > 0 && i < len(runes) && (at == 0 || max(2*i-len(runes), len(runes)-2*i) < max(2*at-len(runes), len(runes)-2*at)) {
			at = i
		}
	}
	for _, s := range token.Sentences(string(runes), nil) {
		closer(int(s.Start))
	}
	if at == 0 {
		for i, r := range runes {
			if unicode.IsSpace(r) {
				closer(i)
			}
		}
	}
	if at == 0 {
		return nil
	}
	return []string{strings.TrimSpace(string(runes[:at])), strings.TrimSpace(string(runes[at:]))}
}
