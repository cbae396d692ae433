package openrouter

import (
	"strings"
	"testing"

	"ibid/judge/judgetest"
)

// TestServiceTier: the tier is sent, costs what the endpoint says, and is no part of the
// key: what one tier answered is not asked of another.
func TestServiceTier(t *testing.T) {
	s := judgetest.NewServer(judgetest.ServerConfig{KeepBodies: true})
	defer s.Close()
	rows, store := rowsOf(20), newStore(t)
	flex := newTestJudge(t, s, func(c *Config) { c.Store, c.Request["service_tier"] = store, "flex" })
	if bad := failures(judgeAll(t.Context(), flex, rows, 4)); len(bad) > 0 {
		t.Fatal(bad[0])
	}
	asked := s.Counts().Requests
	for _, x := range s.Log() {
		if !strings.Contains(string(x.Text), `"service_tier":"flex"`) {
			t.Fatalf("no tier in %s", x.Text)
		}
	}
	plain := newTestJudge(t, s, func(c *Config) { c.Store = store })
	judgeAll(t.Context(), plain, rows, 4)
	if n := s.Counts().Requests; n != asked || plain.Usage().Cached != int64(asked) {
		t.Errorf("%d requests of another tier, %d answers kept", n-asked, plain.Usage().Cached)
	}
	other := newTestJudge(t, s, nil)
	judgeAll(t.Context(), other, rows, 4)
	if half, whole := flex.Usage().CostNanoUSD, other.Usage().CostNanoUSD; half > whole/2 || half < whole/2-int64(asked) {
		t.Errorf("flex cost %d, the default tier %d", half, whole)
	}
}
