package dataset

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"ibid"
)

// TestAsUTF8 reads UTF-16 in both orders, however its bytes come, and refuses half a character.
func TestAsUTF8(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"a\x00\xb5\x00", "aµ"},
		{"\xff\xfea\x00\x3d\xd8\x00\xde", "a😀"},
		{"\xfe\xff\x00a\xd8\x3d\xde\x00", "a😀"},
		{"\xff\xfe", ""},
		{"aµ😀", "aµ😀"},
		{"\xff\xfea\x00\x3d\xd8", "half"},        // the second half is missing
		{"\xff\xfe\x3d\xd8a\x00", "half"},        // another character follows
		{"\xff\xfe\x00\xdea\x00", "half"},        // the first half is missing
		{"\xff\xfe\x3d\xd8\x3d\xd8\x00", "half"}, // the first half twice
		{"\xff\xfea\x00b", "half"},               // an odd number of bytes
		{"\xff\xfe" + strings.Repeat("a\x00", 9000) + "b", "half"},
	} {
		for name, in := range map[string]io.Reader{"at once": strings.NewReader(tt.in), "by bytes": iotest.OneByteReader(strings.NewReader(tt.in))} {
			got, err := io.ReadAll(AsUTF8(bufio.NewReader(in)))
			if half := tt.want == "half"; half != errors.Is(err, ibid.ErrUsage) || !half && string(got) != tt.want {
				t.Errorf("%s, %q: %q, %v; want %q", name, tt.in[:min(len(tt.in), 20)], got, err, tt.want)
			}
		}
	}
}
