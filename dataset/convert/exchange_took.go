package convert

import (
	"strconv"

	"ibid"
)

// A took is what an answer took, by its provider's account. Of the events of a
// stream the last that says a thing counts.
type took struct {
	cost, latency        ibid.Number
	input, output, total ibid.Number // tokens
}

// account reads what a response, or an event of a stream, says of its cost, tokens
// and latency. It counts nothing as read: the account stays with the record, too.
// Numbers that are negative or no numbers say nothing.
func (t *took) account(o *object) {
	for _, name := range []string{"usage", "usageMetadata", "usage_metadata", "meta"} {
		t.usage(o.inside(name))
	}
	t.latency = o.inside("metrics").amount(t.latency, "latencyMs")
}

func (t *took) usage(u *object) {
	t.cost = u.inside("cost").amount(u.amount(t.cost, "cost"), "total_cost")
	tokens := u
	for _, name := range []string{"billed_units", "tokens"} { // Cohere has them inside
		if in := u.inside(name); in != nil {
			tokens = in
		}
	}
	input := tokens.amount(ibid.Number{}, "input_tokens", "inputTokens", "prompt_tokens")
	if input.Known() {
		for _, name := range []string{"cache_creation_input_tokens", "cache_read_input_tokens"} { // Anthropic counts them apart
			input.Value += tokens.amount(ibid.Number{}, name).Value
		}
		t.input = input
	}
	t.output = tokens.amount(t.output, "output_tokens", "outputTokens", "completion_tokens")
	t.total = tokens.amount(t.total, "total_tokens", "totalTokens", "totalTokenCount", "total_token_count")
}

// tokens are those read and written, null unless both are known.
func (t *took) tokens() ibid.Integer {
	switch {
	case t.total.Known():
		return integer(int64(t.total.Value))
	case t.input.Known() && t.output.Known():
		return integer(int64(t.input.Value + t.output.Value))
	}
	return ibid.Integer{}
}

// inside is an object among the members, nil if it is none; that does not count as
// reading it.
func (o *object) inside(name string) *object {
	if !o.isObject(name) {
		return nil
	}
	return o.valueOf(o.find(name)).object()
}

// amount is the first of several members that is a number from 0 up, otherwise
// before; that does not count as reading it.
func (o *object) amount(before ibid.Number, names ...string) ibid.Number {
	for _, name := range names {
		if o.peekKind(name) != aNumber {
			continue
		}
		n, err := strconv.ParseFloat(string(o.valueOf(o.find(name)).raw()), 64)
		if err == nil && n >= 0 && n <= 1<<53 {
			return ibid.Some(n)
		}
	}
	return before
}
