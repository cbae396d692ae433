package openrouter

import (
	"crypto/sha256"
	"encoding/json"
	"hash"
	"slices"
	"strconv"
	"unicode/utf8"

	"ibid/judge/cache"
)

// keyVersion changes whenever what enters a key does.
const keyVersion = "k1"

// A requestHead is the beginning of the body of all requests to one model: all
// that does not change from row to row, digested once.
type requestHead struct {
	text   []byte
	digest hash.Cloner // of keyVersion, endpoint and text
	// noSeed leaves the seed out of the tail.
	noSeed bool
	make   func(drop []string) *requestHead
}

// without is the head of the same requests with parameters left out.
func (h *requestHead) without(drop []string) *requestHead { return h.make(drop) }

// newRequestHead writes the fixed fields in a fixed order, the instructions
// last, so that a provider can cache all that comes before the row. Writing
// them here, and not by the client library, keeps a temperature of zero, the
// order of the schema's members, and the fields that the library does not know;
// what is hashed is what is sent.
func newRequestHead(c *Config, model, system, schema string) *requestHead {
	h := writeHead(c, model, system, schema, nil)
	h.make = func(drop []string) *requestHead { return writeHead(c, model, system, schema, drop) }
	return h
}

func writeHead(c *Config, model, system, schema string, drop []string) *requestHead {
	b := append([]byte(`{"model":`), quoted(model)...)
	if schema != "" && !slices.Contains(drop, "response_format") {
		b = append(b, `,"response_format":{"type":"json_schema","json_schema":{"name":"audit","strict":true,"schema":`...)
		b = append(b, compact(schema)...)
		b = append(b, `}}`...)
	}
	if !slices.Contains(drop, "temperature") {
		b = append(b, `,"temperature":`...)
		b = strconv.AppendFloat(b, c.Temperature, 'f', -1, 64)
	}
	if c.Kind == KindOpenRouter {
		b = appendObject(b, "provider", c.Provider)
		b = appendObject(b, "reasoning", c.Reasoning)
	}
	b = append(b, `,"messages":[`...)
	if system != "" {
		b = append(b, `{"role":"system","content":`...)
		b = append(b, quoted(system)...)
		b = append(b, `},`...)
	}
	b = append(b, `{"role":"user","content":"`...)
	h := sha256.New()
	h.Write([]byte(keyVersion + "\x00" + c.endpoint() + "\x00"))
	h.Write(b)
	return &requestHead{text: b, digest: h.(hash.Cloner), noSeed: slices.Contains(drop, "seed")}
}

// A request is what one question looks like on the wire.
type request struct {
	head      *requestHead
	user      []byte // the first message of the user, escaped, without its quotes
	seed      int64
	maxTokens int64
}

// tail is what follows the first message of the user.
func (q *request) tail(b []byte, repairs []byte, maxTokens int64) []byte {
	b = append(b, `"}`...)
	b = append(b, repairs...)
	b = append(b, ']')
	if !q.head.noSeed {
		b = append(b, `,"seed":`...)
		b = strconv.AppendInt(b, q.seed, 10)
	}
	b = append(b, `,"max_tokens":`...)
	b = strconv.AppendInt(b, maxTokens, 10)
	return append(b, '}')
}

// key identifies the request: the SHA-256 of version, endpoint and body, with
// NUL between them.
func (q *request) key() cache.Key {
	clone, err := q.head.digest.Clone()
	if err != nil {
		panic(err) // SHA-256 can be cloned
	}
	clone.Write(q.user)
	var room [128]byte
	clone.Write(q.tail(room[:0], nil, q.maxTokens))
	var key cache.Key
	clone.Sum(key[:0])
	return key
}

// body is what is sent, with repair turns and a longer answer if they are
// needed; without them it is what key digests.
func (q *request) body(repairs []byte, maxTokens int64) []byte {
	b := make([]byte, 0, len(q.head.text)+len(q.user)+len(repairs)+64)
	b = append(b, q.head.text...)
	b = append(b, q.user...)
	return q.tail(b, repairs, maxTokens)
}

// tokens estimates the length of the prompt, generously: three bytes a token.
func (q *request) tokens() int64 { return int64(len(q.head.text)+len(q.user)) / 3 }

// appendTurn appends a further message.
func appendTurn(b []byte, role, text string) []byte {
	b = append(b, `,{"role":"`...)
	b = append(b, role...)
	b = append(b, `","content":"`...)
	b = appendEscaped(b, []byte(text))
	return append(b, `"}`...)
}

func appendObject(b []byte, name string, v map[string]any) []byte {
	if len(v) == 0 {
		return b
	}
	encoded, err := json.Marshal(v) // keys in sorted order
	if err != nil {
		return b // settings come from YAML, which has nothing that JSON has not
	}
	b = append(b, `,"`...)
	b = append(b, name...)
	b = append(b, `":`...)
	return append(b, encoded...)
}

// compact drops the line ends of an embedded schema; its members stay in order.
func compact(schema string) []byte {
	b := make([]byte, 0, len(schema))
	for i := 0; i < len(schema); i++ {
		if c := schema[i]; c == '\n' {
			for i+1 < len(schema) && schema[i+1] == ' ' {
				i++
			}
			continue
		}
		b = append(b, schema[i])
	}
	return b
}

func quoted(s string) []byte {
	return append(appendEscaped([]byte{'"'}, []byte(s)), '"')
}

const hexDigits = "0123456789abcdef"

// appendEscaped appends text as the inside of a JSON string. What is not valid
// UTF-8 becomes U+FFFD.
func appendEscaped(b, text []byte) []byte {
	start := 0
	for i := 0; i < len(text); {
		c := text[i]
		if c >= utf8.RuneSelf {
			if r, size := utf8.DecodeRune(text[i:]); r != utf8.RuneError || size > 1 {
				i += size
				continue
			}
			b = append(append(b, text[start:i]...), "\uFFFD"...)
			i++
			start = i
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		b = append(b, text[start:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		start = i
	}
	return append(b, text[start:]...)
}
