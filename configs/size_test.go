package configs

import "testing"

func TestSize(t *testing.T) {
	tests := []struct {
		text, back string
		want       Size
		ok         bool
	}{
		{"1GiB", "1GiB", 1 << 30, true},
		{"1024MiB", "1GiB", 1 << 30, true},
		{"64 MB", "62500KiB", 64e6, true},
		{"1000", "1kB", 1000, true},
		{"1001B", "1001", 1001, true},
		{"0", "0", 0, true},
		{"1.5GiB", "", 0, false},
		{"-1", "", 0, false},
		{"9999999TiB", "", 0, false},
		{"GiB", "", 0, false},
		{"", "", 0, false},
	}
	for _, tt := range tests {
		got, err := ParseSize(tt.text)
		if got != tt.want || (err == nil) != tt.ok {
			t.Errorf("ParseSize(%q) = %d, %v, want %d, %t", tt.text, got, err, tt.want, tt.ok)
		}
		if !tt.ok {
			continue
		}
		if back := got.String(); back != tt.back {
			t.Errorf("%d is %q, want %q", got, back, tt.back)
		}
		if again, err := ParseSize(got.String()); again != got || err != nil {
			t.Errorf("%q is read back as %d, %v", got.String(), again, err)
		}
	}
}

// TestSizeRange: a size out of its range is told in sizes, not in bytes.
func TestSizeRange(t *testing.T) {
	check := byName["limits.memory"].refusal
	if got, want := check(Size(10)), "want a size from 16MiB to 1024TiB, got 10"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := check(Size(1 << 30)); got != "" {
		t.Error(got)
	}
}
