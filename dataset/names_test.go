package dataset

import "testing"

func TestNormalName(t *testing.T) {
	tests := []struct{ name, want string }{
		{"kb/x", "kb/x"},
		{"./kb/x", "kb/x"},
		{"././kb/./x/", "kb/x"},
		{"../kb/x", "../kb/x"},
		{"KB/Ärger.PDF", "kb/ärger.pdf"},
		{"a%20b", "a b"},
		{"100%", "100%"}, // no encoding
		{"https://Example.org/a%2Fb/?q=1#top", "example.org/a/b/?q=1"},
		{"HTTP://example.org/", "example.org"},
		{"file:///etc/x", "/etc/x"},
		{"doc:1", "doc:1"},
		{"x#", "x"},
		{"a%23b", "a#b"}, // an encoded sign is none of the URL's
		{"#1", "#1"},     // nothing would be left
		{"/", "/"},
		{"", ""},
	}
	for _, tt := range tests {
		if got := NormalName(tt.name); got != tt.want {
			t.Errorf("NormalName(%q) = %q, want %q", tt.name, got, tt.want)
		}
	}
}
