package openrouter

import (
	"context"

	openai "github.com/sashabaranov/go-openai"
)

// complete makes one call within its time.
func (j *Judge) complete(ctx context.Context, x *exchange, model string) error {
	if j.config.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, j.config.Timeout, errTimeout)
		defer cancel()
	}
	// The library is told of the model alone: the body is that of the exchange.
	_, err := j.client.CreateChatCompletion(withExchange(ctx, x), openai.ChatCompletionRequest{Model: model})
	if x.err == nil && x.status == 200 && x.envelope.failure() == nil {
		// What the library could not decode of an answer that is whole, such as
		// a count written 10.0, is not needed: the envelope has it.
		return nil
	}
	return err
}
