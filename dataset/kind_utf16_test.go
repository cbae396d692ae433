package dataset

import (
	"bufio"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestAsUTF8 reads UTF-16 in both orders, however its bytes come.
func TestAsUTF8(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"a\x00\xb5\x00", "aµ"},
		{"\xff\xfea\x00\x3d\xd8\x00\xde", "a😀"},
		{"\xfe\xff\x00a\xd8\x3d\xde\x00", "a😀"},
		{"\xff\xfe", ""},
		{"aµ😀", "aµ😀"},
		{"\xff\xfea\x00\x3d\xd8", "a\ufffd"},                   // the second half is missing
		{"\xff\xfe\x3d\xd8a\x00", "\ufffda"},                   // another character follows
		{"\xff\xfe\x00\xdea\x00", "\ufffda"},                   // the first half is missing
		{"\xff\xfe\x3d\xd8\x3d\xd8\x00", "\ufffd\ufffd\ufffd"}, // the first half twice, and an odd byte
		{"\xff\xfe" + strings.Repeat("a\x00", 9000) + "b", strings.Repeat("a", 9000) + "\ufffd"},
	} {
		for name, in := range map[string]io.Reader{"at once": strings.NewReader(tt.in), "by bytes": iotest.OneByteReader(strings.NewReader(tt.in))} {
			got, err := io.ReadAll(AsUTF8(bufio.NewReader(in)))
			if err != nil || string(got) != tt.want {
				t.Errorf("%s, %q: %q, %v; want %q", name, tt.in[:min(len(tt.in), 20)], got, err, tt.want)
			}
		}
	}
}
