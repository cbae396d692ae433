package ibid_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"ibid"
)

// TestError: an error reads as its place and its cause, whatever of the place is known.
func TestError(t *testing.T) {
	cause := errors.New("null id")
	for want, e := range map[string]*ibid.Error{
		"null id":                         {Err: cause, Hint: "every row needs one"},
		"a.parquet: null id":              {File: "a.parquet", Err: cause},
		"a.parquet: row 0: null id":       {File: "a.parquet", Row: ibid.Some[int64](0), Err: cause},
		"row 17: id: null id":             {Row: ibid.Some[int64](17), Column: "id", Err: cause},
		"a.parquet: citations.end: eof 3": {File: "a.parquet", Column: "citations.end", Err: fmt.Errorf("eof %d", 3)},
	} {
		if e.Error() != want {
			t.Errorf("%q, want %q", e.Error(), want)
		}
		if errors.Is(e, ibid.ErrUsage) {
			t.Errorf("%q is wrong use, and nobody said so", want)
		}
	}
}

// TestAdvice: what to do is said by the first error of a chain that knows it, and wrong use
// is found wherever it stands.
func TestAdvice(t *testing.T) {
	deep := &ibid.Error{File: "a.parquet", Err: io.EOF, Hint: "write it again"}
	usage := ibid.Usagef("run %s: %w", "a", deep)
	for _, tt := range []struct {
		name  string
		err   error
		hint  string
		more  []string
		usage bool
	}{
		{"nothing", nil, "", nil, false},
		{"no hint", io.EOF, "", nil, false},
		{"its own", deep, "write it again", nil, false},
		{"of its cause", usage, "write it again", nil, true},
		{"of its cause, among others", errors.Join(io.EOF, fmt.Errorf("in the run: %w", usage)), "write it again", nil, true},
		{"the first", fmt.Errorf("a: %w", ibid.Usagef("b: %w", deep).With("wait", "one", "two")), "wait", []string{"one", "two"}, true},
	} {
		hint, more := ibid.Advice(tt.err)
		if hint != tt.hint || !slices.Equal(more, tt.more) || errors.Is(tt.err, ibid.ErrUsage) != tt.usage {
			t.Errorf("%s: hint %q, more %q, usage %t", tt.name, hint, more, errors.Is(tt.err, ibid.ErrUsage))
		}
	}
	if !errors.Is(usage, io.EOF) {
		t.Error("the cause is lost")
	}
}
