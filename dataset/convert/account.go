package convert

import "github.com/itchyny/gojq"

// accountMembers are the members of a response that have an account of what it took.
var accountMembers = []string{"usage", "usageMetadata", "usage_metadata", "meta", "metrics"}

// accountOf is the function account of programs: what an answer took, by its provider's
// account, as {cost_usd, tokens, latency_ms}. Numbers that are negative or no numbers say
// nothing.
func accountOf(in any, _ []any) any {
	response, _ := in.(map[string]any)
	var cost, read, written, total any
	for _, name := range accountMembers[:4] {
		u, ok := response[name].(map[string]any)
		if !ok {
			continue
		}
		costs, _ := u["cost"].(map[string]any)
		cost = firstAmount(cost, u["cost"], costs["total_cost"])
		tokens := u
		for _, name := range []string{"billed_units", "tokens"} { // Cohere has them inside
			if in, ok := u[name].(map[string]any); ok {
				tokens = in
			}
		}
		if n := firstAmount(tokens["input_tokens"], tokens["inputTokens"], tokens["prompt_tokens"]); n != nil {
			for _, name := range []string{"cache_creation_input_tokens", "cache_read_input_tokens"} { // Anthropic counts them apart
				if more := firstAmount(tokens[name]); more != nil {
					n = n.(float64) + more.(float64)
				}
			}
			read = n
		}
		written = firstAmount(written, tokens["output_tokens"], tokens["outputTokens"], tokens["completion_tokens"])
		total = firstAmount(total, tokens["total_tokens"], tokens["totalTokens"], tokens["totalTokenCount"], tokens["total_token_count"])
	}
	if total == nil && read != nil && written != nil {
		total = read.(float64) + written.(float64)
	}
	metrics, _ := response["metrics"].(map[string]any)
	return map[string]any{"cost_usd": cost, "tokens": total, "latency_ms": firstAmount(metrics["latencyMs"])}
}

// firstAmount is the first of some values that is a number from 0 up, nil if none is.
func firstAmount(values ...any) any {
	for _, v := range values {
		if n, ok := gojq.ToFloat64(v); ok && n >= 0 && n <= 1<<53 {
			return n
		}
	}
	return nil
}
