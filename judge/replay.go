package judge

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// maxReplyLine bounds one line of saved replies in bytes.
const maxReplyLine = 16 << 20

// Replay answers with saved replies of a model, read by [Parse].
//
// The replies are JSON Lines. A line has "reply", the text a model answered
// with (or that JSON object itself), and says what it answers: "key", the
// request's [Roster.Key], or "row", its "id/system". "model" and "provider" may
// name who answered; other members are ignored, and so are empty lines. Where
// both fit a request, that by key wins.
//
// Only the places of the replies are held in memory, about 100 bytes each.
type Replay struct {
	name    string
	source  io.ReaderAt
	close   func() error
	byKey   map[digest]lineSpan
	byRow   map[digest]lineSpan
	replies int
	model   string
	models  int // how many different names of models occur, counted to 2
}

// digest stands for a key or the name of a row.
type digest [sha256.Size]byte

type lineSpan struct {
	start  int64
	size   int32
	number int // from 1
}

type replayLine struct {
	Key      string          `json:"key"`
	Row      string          `json:"row"`
	Reply    json.RawMessage `json:"reply"`
	Model    string          `json:"model"`
	Provider string          `json:"provider"`
}

// OpenReplay reads the places of the replies in a file, which stays open until
// Close. Errors name the line.
func OpenReplay(path string) (*Replay, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	p, err := NewReplay(path, f, info.Size())
	if err != nil {
		f.Close()
		return nil, err
	}
	p.close = f.Close
	return p, nil
}

// NewReplay reads the places of the replies in the first size bytes of source,
// which it goes on reading from. name is what errors call it.
func NewReplay(name string, source io.ReaderAt, size int64) (*Replay, error) {
	p := &Replay{
		name: name, source: source, close: func() error { return nil },
		byKey: make(map[digest]lineSpan), byRow: make(map[digest]lineSpan),
	}
	in := bufio.NewScanner(io.NewSectionReader(source, 0, size))
	in.Buffer(make([]byte, 64<<10), maxReplyLine)
	at := lineSpan{}
	in.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		n, line, err := bufio.ScanLines(data, atEOF)
		if n > 0 {
			at.start += int64(at.size)
			at.size = int32(n)
		}
		return n, line, err
	})
	for in.Scan() {
		at.number++
		if len(bytes.TrimSpace(in.Bytes())) == 0 {
			continue
		}
		if err := p.index(in.Bytes(), at); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, at.number, err)
		}
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, at.number+1, err)
	}
	return p, nil
}

// Close closes the file of [OpenReplay].
func (p *Replay) Close() error { return p.close() }

// Len is the number of saved replies.
func (p *Replay) Len() int { return p.replies }

// Info names the model if all replies name the same.
func (p *Replay) Info() Info {
	if p.models > 1 {
		return Info{Kind: "replay"}
	}
	return Info{Kind: "replay", Model: p.model}
}

func (p *Replay) index(line []byte, at lineSpan) error {
	l, err := readLine(line)
	if err != nil {
		return err
	}
	name, index := l.Key, p.byKey
	if l.Key == "" {
		name, index = l.Row, p.byRow
	}
	id := sha256.Sum256([]byte(name))
	if before, twice := index[id]; twice {
		return fmt.Errorf("%q was answered in line %d", clip(name), before.number)
	}
	index[id] = at
	if p.replies == 0 {
		p.model, p.models = l.Model, 1
	} else if l.Model != p.model {
		p.models = 2
	}
	p.replies++
	return nil
}

func readLine(line []byte) (*replayLine, error) {
	l := new(replayLine)
	if err := json.Unmarshal(line, l); err != nil {
		return nil, err
	}
	switch {
	case (l.Key == "") == (l.Row == ""):
		return nil, errors.New(`want one of "key" and "row"`)
	case len(l.Reply) == 0 || string(l.Reply) == "null":
		return nil, errors.New(`no "reply"`)
	}
	return l, nil
}

// text is what the model answered with.
func (l *replayLine) text() (string, error) {
	if l.Reply[0] != '"' {
		return string(l.Reply), nil
	}
	var s string
	err := json.Unmarshal(l.Reply, &s)
	return s, err
}

// Judge reads the saved reply of r. A request without one, and one whose reply
// breaks a rule of [Parse], is a [*RowFailure]. What Parse takes back to unsure
// stays so, for nobody can be asked again.
func (p *Replay) Judge(ctx context.Context, r *Request) (*Verdict, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	roster := NewRoster(r)
	at, ok := p.byKey[sha256.Sum256([]byte(roster.Key()))]
	if !ok {
		at, ok = p.byRow[sha256.Sum256([]byte(r.Row))]
	}
	if !ok {
		return nil, &RowFailure{Row: r.Row, Reason: NoReply}
	}
	line := make([]byte, at.size)
	if n, err := p.source.ReadAt(line, at.start); n < len(line) {
		return nil, fmt.Errorf("%s:%d: %w", p.name, at.number, err)
	}
	l, err := readLine(line)
	if err != nil {
		return nil, fmt.Errorf("%s:%d: changed while it was in use: %w", p.name, at.number, err)
	}
	text, err := l.text()
	if err != nil {
		return nil, fmt.Errorf("%s:%d: %w", p.name, at.number, err)
	}
	reply, err := Parse(text, roster)
	if err != nil {
		return nil, &RowFailure{Row: r.Row, Reason: BadReply, Err: fmt.Errorf("%s:%d: %w", p.name, at.number, err)}
	}
	reply.Verdict.Calls = []Call{{Model: l.Model, Provider: l.Provider, Cached: true, Status: "ok"}}
	return &reply.Verdict, nil
}
