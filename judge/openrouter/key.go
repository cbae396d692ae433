package openrouter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"ibid/judge"
)

// checkKey asks OpenRouter about the key, once, before the first call: a key that is
// refused or used up is found without one. The error is a [*judge.StopError]. Where an
// endpoint says nothing about keys, the first call shows what the key is worth.
func (j *Judge) checkKey(ctx context.Context) error {
	if j.config.Kind != KindOpenRouter {
		return nil
	}
	var stop *judge.StopError
	j.keyOnce.Do(func() {
		status, body, err := j.get(ctx, j.config.BaseURL+"/key")
		if err != nil {
			return
		}
		var said struct {
			envelope
			Data struct {
				Left *float64 `json:"limit_remaining"` // USD; null if the key has no limit
			} `json:"data"`
		}
		if lenient(json.Unmarshal(body, &said)) != nil {
			return
		}
		switch left := said.Data.Left; {
		case status == http.StatusUnauthorized:
			text := http.StatusText(status)
			if wire := said.failure(); wire != nil {
				text = wire.text()
			}
			stop = &judge.StopError{Reason: judge.StopKey, Err: fmt.Errorf("status %d: %s", status, excerpt(j.scrub(text))), Hint: Hint("status 401")}
		case status == http.StatusOK && left != nil && *left <= 0:
			stop = &judge.StopError{Reason: judge.StopCredit, Err: errors.New("the limit of the key is reached"), Hint: Hint("status 402")}
		}
	})
	if stop != nil {
		return j.stop(stop)
	}
	return nil
}
