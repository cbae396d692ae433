package term

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// plainEvery is how often progress is said when the output is no terminal.
const plainEvery = 30 * time.Second

// redrawEvery limits how often the line on a terminal changes.
const redrawEvery = 100 * time.Millisecond

// A Progress shows one line about long work: redrawn in place on a terminal,
// else a plain line every 30 seconds. The zero value shows nothing. It is safe
// for concurrent use.
type Progress struct {
	w      io.Writer
	tty    bool
	every  time.Duration
	mu     sync.Mutex
	last   time.Time
	shown  int // columns of the line on the terminal
	closed bool
}

// NewProgress returns a Progress on w. With quiet it shows nothing.
func NewProgress(w io.Writer, quiet bool) *Progress {
	if quiet {
		return &Progress{}
	}
	p := &Progress{w: w, tty: IsTerminal(w), every: plainEvery, last: time.Now()}
	if p.tty {
		p.every, p.last = redrawEvery, time.Time{}
	}
	return p
}

// Update shows the line that text returns, unless the last one is too recent;
// text is called only when it is shown.
func (p *Progress) Update(text func() string) {
	if p.w == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := time.Now(); !p.closed && now.Sub(p.last) >= p.every {
		p.last = now
		p.draw(text())
	}
}

func (p *Progress) draw(line string) {
	if !p.tty {
		fmt.Fprintf(p.w, "ibid: %s\n", line)
		return
	}
	if width := Width(p.w); len(line) >= width {
		line = line[:width-1]
	}
	fmt.Fprintf(p.w, "\r%-*s", p.shown, line)
	p.shown = len(line)
}

// Clear removes the line from the terminal, so that something else can be
// printed; the next Update draws it again.
func (p *Progress) Clear() {
	if p.w == nil || !p.tty {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown > 0 {
		fmt.Fprintf(p.w, "\r%-*s\r", p.shown, "")
		p.shown = 0
	}
}

// Close ends the progress; nothing is shown after it.
func (p *Progress) Close() {
	p.Clear()
	if p.w != nil {
		p.mu.Lock()
		p.closed = true
		p.mu.Unlock()
	}
}
