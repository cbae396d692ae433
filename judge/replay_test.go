package judge_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ibid"
	"ibid/judge"
)

func oneClaim(row string) *judge.Request {
	return &judge.Request{
		Row:      row,
		Claims:   []ibid.Claim{{Text: "Snow is white.", Citations: []int32{0}}},
		Evidence: []judge.Evidence{{Text: "All snow is white."}},
	}
}

func oneReply(label string) string {
	return `{"tampering":"none","claims":[{"id":"c1","kind":"factual","checks":[{"evidence_id":"e1","why":"","quote":"snow is white","support":"` + label +
		`","relevant":"yes"}],"joint_why":"","joint":"` + label + `","elsewhere":"none","elsewhere_evidence_id":"","elsewhere_quote":""}]}`
}

func quoted(s string) string {
	b, _ := json.Marshal(s) // a string always has a JSON form
	return string(b)
}

func TestReplay(t *testing.T) {
	key := oneClaim("").Key()
	path := filepath.Join(t.TempDir(), "replies.jsonl")
	lines := []string{
		`{"key":"` + key + `","reply":` + quoted(oneReply("full")) + `,"model":"m1","provider":"p"}`,
		``,
		`{"row":"other/s","reply":` + oneReply("partial") + `,"model":"m2","note":"ignored"}`,
		`{"row":"bad/s","reply":"no idea"}`,
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\r\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := judge.OpenReplay(path)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if p.Len() != 3 || p.Info() != (judge.Info{Kind: "replay"}) {
		t.Errorf("%d replies, %+v; several models have no one name", p.Len(), p.Info())
	}
	other := oneClaim("other/s")
	other.Question = "Which colour?" // another key
	v, err := p.Judge(t.Context(), other)
	if err != nil || v.Claims[0].Joint != ibid.Partial.Support() || v.Calls[0].Model != "m2" {
		t.Errorf("by row: %+v, %v", v, err)
	}
	// The key wins over the row.
	v, err = p.Judge(t.Context(), oneClaim("other/s"))
	if err != nil || v.Claims[0].Joint != ibid.Full.Support() || v.Calls[0].Provider != "p" || !v.Calls[0].Cached {
		t.Errorf("by key: %+v, %v", v, err)
	}
	for row, reason := range map[string]judge.Reason{"bad/s": judge.BadReply, "absent/s": judge.NoReply} {
		r := oneClaim(row)
		r.Question = "Which colour?"
		_, err := p.Judge(t.Context(), r)
		if f, ok := errors.AsType[*judge.RowFailure](err); !ok || f.Reason != reason {
			t.Errorf("%s: %v, want %s", row, err, reason)
		}
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	// A file that cannot be read any more concerns the run, not the row.
	if _, err := p.Judge(t.Context(), oneClaim("x/s")); err == nil || errors.As(err, new(*judge.RowFailure)) {
		t.Errorf("after Close: %v", err)
	}
}

func TestReplayRefuses(t *testing.T) {
	tests := []struct{ name, lines, want string }{
		{"not JSON", "{\n", "f:1: "},
		{"no reply", "\n{\"row\":\"a\"}", `f:2: no "reply"`},
		{"neither key nor row", `{"reply":"x"}`, `f:1: want one of "key" and "row"`},
		{"both", `{"reply":"x","row":"a","key":"b"}`, `f:1: want one of "key" and "row"`},
		{"twice", "{\"row\":\"a\",\"reply\":\"x\"}\n{\"row\":\"a\",\"reply\":\"y\"}", `f:2: "a" was answered in line 1`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := judge.NewReplay("f", strings.NewReader(tt.lines), int64(len(tt.lines)))
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("error %v, want %s", err, tt.want)
			}
		})
	}
	if _, err := judge.OpenReplay(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("absent file: %v", err)
	}
}

// TestKey pins the key, which stands in people's files, and what enters it.
func TestKey(t *testing.T) {
	const want = "ee23879eabe0a5490866ebd28953ef240077a71790d3a727af1901d31c6312d1" // computed apart, in Python
	if got := oneClaim("q/s").Key(); got != want {
		t.Errorf("key %s, want %s: saved replies no longer fit", got, want)
	}
	changes := map[string]struct {
		change func(r *judge.Request)
		same   bool
	}{
		"row":       {func(r *judge.Request) { r.Row = "x" }, true},
		"claim id":  {func(r *judge.Request) { r.Claims[0].ClaimID = "x" }, true},
		"citation":  {func(r *judge.Request) { r.Evidence[0].Citation, r.Claims[0].Citations = 3, []int32{3} }, true},
		"source":    {func(r *judge.Request) { r.Sources = []judge.Source{{Text: "x"}} }, true},
		"label":     {func(r *judge.Request) { r.Labels = []judge.HumanLabel{{}} }, true},
		"answer":    {func(r *judge.Request) { r.Answer = "x" }, false},
		"extent":    {func(r *judge.Request) { r.Claims[0].Extent = ibid.Between(0, 3) }, false},
		"title":     {func(r *judge.Request) { r.Evidence[0].Title = "x" }, false},
		"around":    {func(r *judge.Request) { r.Evidence[0].After = "x" }, false},
		"question":  {func(r *judge.Request) { r.Question = "x" }, false},
		"claim":     {func(r *judge.Request) { r.Claims[0].Text += " " }, false},
		"evidence":  {func(r *judge.Request) { r.Evidence[0].Text += " " }, false},
		"no link":   {func(r *judge.Request) { r.Claims[0].Citations = nil }, false},
		"new claim": {func(r *judge.Request) { r.Claims = append(r.Claims, ibid.Claim{}) }, false},
	}
	for name, c := range changes {
		r := oneClaim("q/s")
		c.change(r)
		if same := r.Key() == want; same != c.same {
			t.Errorf("another %s: same key %t, want %t", name, same, c.same)
		}
	}
}

func TestReplayStops(t *testing.T) {
	p, err := judge.NewReplay("f", strings.NewReader(""), 0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Judge(ctx, oneClaim("q/s")); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
