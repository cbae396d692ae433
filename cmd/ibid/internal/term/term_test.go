package term

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestColour(t *testing.T) {
	tests := []struct {
		name, mode string
		env        map[string]string
		want       bool
	}{
		{"auto on what is no terminal", "auto", nil, false},
		{"always wins over NO_COLOR", "always", map[string]string{"NO_COLOR": "1"}, true},
		{"always wins over a dumb terminal", "always", map[string]string{"TERM": "dumb"}, true},
		{"never", "never", nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Colour(tt.mode, new(bytes.Buffer), func(name string) string { return tt.env[name] })
			if got != tt.want {
				t.Errorf("Colour(%s) = %t, want %t", tt.mode, got, tt.want)
			}
		})
	}
}

// A file that is no terminal is as wide as one of which nothing is known.
func TestWidth(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if a, b := Width(f), Width(new(bytes.Buffer)); a != DefaultWidth || b != DefaultWidth {
		t.Errorf("%d and %d columns, want %d", a, b, DefaultWidth)
	}
}

// On a terminal the line is drawn over the last one, no wider than the terminal, and cleared.
func TestProgressOfTerminal(t *testing.T) {
	var out bytes.Buffer
	p := &Progress{w: &out, tty: true}
	p.Update(func() string { return "a longer line" })
	p.Update(func() string { return "short" })
	p.Clear()
	p.Update(func() string { return strings.Repeat("x", 2*DefaultWidth) })
	p.Close()
	p.Update(func() string { return "late" })
	x := strings.Repeat("x", DefaultWidth-1)
	want := "\ra longer line\rshort        \r     \r\r" + x + "\r" + strings.Repeat(" ", DefaultWidth-1) + "\r"
	if got := out.String(); got != want {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// What is no terminal gets a line every 30 seconds, and none before.
func TestProgressPlain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := NewProgress(&out, false)
		asked := 0
		for range 61 {
			p.Update(func() string { asked++; return "line" })
			time.Sleep(time.Second)
		}
		p.Clear() // touches nothing that is no terminal
		if got, want := out.String(), "ibid: line\nibid: line\n"; got != want || asked != 2 {
			t.Errorf("after a minute %q, asked %d times, want %q, twice", got, asked, want)
		}
		p.Close()
		time.Sleep(time.Hour)
		p.Update(func() string { return "late" })
		if got, want := out.String(), "ibid: line\nibid: line\n"; got != want {
			t.Errorf("after the end %q, want %q", got, want)
		}
	})
}

func TestProgressQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := NewProgress(&out, true)
		time.Sleep(time.Hour)
		p.Update(func() string { t.Error("a line was made that nobody sees"); return "" })
		p.Clear()
		p.Close()
		if out.Len() > 0 {
			t.Errorf("quiet, but %q", &out)
		}
	})
}

func TestWidthOfNoTerminal(t *testing.T) {
	if got := Width(new(bytes.Buffer)); got != DefaultWidth {
		t.Errorf("Width = %d, want %d", got, DefaultWidth)
	}
}
