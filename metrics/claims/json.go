package claims

import (
	"encoding/json"
	"strings"
)

// readJSON fills units with the values of an answer that is JSON, perhaps in a
// fence: each string, number and truth value is one, with the key that it has. ok is
// false if the answer is no JSON object or list.
func (a *answer) readJSON() (ok bool) {
	e := a.trimmed(body(a.s))
	s := a.s[e.start:e.end]
	if !isJSON(s) {
		return false
	}
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	r := jsonReader{answer: a, d: d, from: e.start}
	r.value("", -1)
	return true
}

// isJSON reports whether a text is a JSON object or list.
func isJSON(s string) bool {
	s = strings.TrimSpace(s)
	return s != "" && (s[0] == '{' || s[0] == '[') && json.Valid([]byte(s))
}

type jsonReader struct {
	*answer
	d    *json.Decoder
	from int // where the JSON begins in the answer
}

// next reads a token and returns where it stands.
func (r *jsonReader) next() (json.Token, extent) {
	before := r.from + int(r.d.InputOffset())
	t, err := r.d.Token()
	if err != nil {
		return nil, extent{before, before}
	}
	end := r.from + int(r.d.InputOffset())
	between := r.s[before:end]
	return t, extent{end - len(strings.TrimLeft(between, " \t\r\n,:")), end}
}

// value reads one value. keyAt is where its key stands, -1 if it has none.
func (r *jsonReader) value(key string, keyAt int) {
	t, at := r.next()
	switch t := t.(type) {
	case json.Delim:
		for r.d.More() {
			if t == '[' {
				r.value(key, -1)
				continue
			}
			k, kat := r.next()
			name, _ := k.(string)
			r.value(name, kat.start)
		}
		r.next()
	case string:
		r.text(key, keyAt, extent{at.start + 1, at.end - 1})
	case nil:
	default:
		r.scalar(key, keyAt, at, at)
	}
}

// text reads a string, of which each line is a unit.
func (r *jsonReader) text(key string, keyAt int, at extent) {
	before := len(r.units)
	for from := at.start; from <= at.end; {
		end := at.end
		if i := strings.Index(r.s[from:at.end], `\n`); i >= 0 {
			end = from + i
		}
		r.scalar(key, keyAt, r.trimmed(extent{from, end}), at)
		from = end + len(`\n`)
	}
	if len(r.units) > before+1 { // lines of a longer text
		for i := before; i < len(r.units); i++ {
			r.units[i].key, r.units[i].extent = "", r.units[i].value
		}
	}
}

func (r *jsonReader) scalar(key string, keyAt int, value, whole extent) {
	if !r.hasWord(value) {
		return
	}
	u := unit{extent: value, block: -1, key: key, value: value}
	if keyAt >= 0 {
		u.start = keyAt
		if whole.end < len(r.s) && whole != value && r.s[whole.end] == '"' {
			u.end = max(u.end, whole.end+1)
		}
	}
	r.units = append(r.units, u)
}

// unescaped is a piece of a JSON string without its escapes.
func unescaped(s string) string {
	var out string
	if strings.IndexByte(s, '\\') < 0 || json.Unmarshal([]byte(`"`+s+`"`), &out) != nil {
		return s
	}
	return out
}
