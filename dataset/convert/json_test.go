package convert

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

// plain builds what encoding/json would build for any.
func plain(v value) any {
	switch v.kind() {
	case anObject:
		all := map[string]any{}
		for name, v := range v.object().all() {
			all[name] = plain(v)
		}
		return all
	case aList:
		all := []any{}
		for _, v := range v.elements() {
			all = append(all, plain(v))
		}
		return all
	case aString:
		return v.string()
	case aNumber:
		return v.float().Value
	case aNull:
		return nil
	}
	return v.raw()[0] == 't'
}

// slowStrict accepts what encoding/json does, but for invalid UTF-8, repeated
// members, unpaired surrogates and too deep nesting.
func slowStrict(data []byte) (v any, ok bool) {
	if !utf8.Valid(data) || json.Unmarshal(data, &v) != nil || unpaired(data) {
		return nil, false
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return v, !repeats(d, 0)
}

// repeats reads one value and reports whether any object in it repeats a member
// or it is nested too deep.
func repeats(d *json.Decoder, depth int) bool {
	token, err := d.Token()
	if err != nil {
		return false
	}
	if token != json.Delim('{') && token != json.Delim('[') {
		return false
	}
	if depth++; depth > maxDepth {
		return true
	}
	seen := map[json.Token]bool{}
	for d.More() {
		if token == json.Delim('{') {
			name, _ := d.Token()
			if seen[name] {
				return true
			}
			seen[name] = true
		}
		if repeats(d, depth) {
			return true
		}
	}
	_, _ = d.Token()
	return false
}

// unpaired reports whether valid JSON has an escape of an unpaired surrogate.
func unpaired(data []byte) bool {
	high := false // the escape just before was of a high surrogate
	for i := 0; i < len(data); i++ {
		r := rune(-1)
		if data[i] == '\\' {
			i++
			if data[i] == 'u' {
				n, _ := strconv.ParseUint(string(data[i+1:i+5]), 16, 32)
				r = rune(n)
				i += 4
			}
		}
		low := utf16.IsSurrogate(r) && r >= 0xDC00
		if high != low {
			return true
		}
		high = utf16.IsSurrogate(r) && r < 0xDC00
	}
	return false
}

// FuzzJSONText compares with encoding/json.
func FuzzJSONText(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,-0.5e+3,"x\n\u00e9\ud83d\ude00",true,false,null],"b":{}}`, `{"a":1,"a":2}`, `"\ud83d"`, `"\ude00\ud83d"`, `[01]`, `1e999`,
		"\"\xff\"", ` [ ] `, `{"a":}`, `nul`, `"\x"`, "\"\t\"", `{"\u0061":1,"a":2}`, `-`, `1.`, `[1,]`, `"\\ud83d"`,
		strings.Repeat("[", 199) + strings.Repeat("]", 199), strings.Repeat("[", 200) + strings.Repeat("]", 200),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		data = append(append([]byte(`{"value":`), data...), '}')
		var text jsonText
		o := text.open(data)
		var got any
		if o != nil {
			got = plain(o.value)
		}
		want, ok := slowStrict(data)
		if (text.err == nil) != ok {
			t.Fatalf("%q: error %v; want accepted %t", data, text.err, ok)
		}
		if !ok {
			if text.err.offset < 0 || text.err.offset > len(data) {
				t.Errorf("%q: error at byte %d", data, text.err.offset)
			}
			return
		}
		if !reflect.DeepEqual(got, want) { // cmp takes time exponential in the depth
			t.Errorf("%q is %#v, want %#v", data, got, want)
		}
	})
}

// FuzzJSONL accounts for every line of a file.
func FuzzJSONL(f *testing.F) {
	f.Add("{\"id\":\"a\",\"query\":\"q\",\"answer\":\"\",\"citations\":[{\"doc\":\"d\",\"start\":0,\"end\":3,\"cited_text\":\"the\"}],\"documents\":[{\"doc\":\"d\",\"text\":\"the text\"}]}\n{\"doc\":\"d\"}\n\n{", 64)
	f.Add("{\"id\":\"a\",\"truth\":[{\"annotator\":\"x\"}],\"tags\":{\"a\":\"b\"},\"x\":[]}\r\n{\"id\":1}", 1<<20)
	f.Fuzz(func(t *testing.T, text string, most int) {
		if strings.HasPrefix(strings.TrimPrefix(text, "\ufeff"), "[") {
			t.Skip("a list, not lines")
		}
		most = max(1, min(most, 1<<20))
		var m memory
		report, err := Convert(t.Context(), "jsonl", []string{"-"}, Options{Docs: true, Stdin: strings.NewReader(text), MaxRecord: most}, &m)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(text, "\n")
		if lines[len(lines)-1] == "" {
			lines = lines[:len(lines)-1]
		}
		if report.Records != int64(len(lines)) || report.Rows+report.Documents+report.Failed != report.Records {
			t.Fatalf("%d lines; report: %+v", len(lines), report)
		}
		if report.Spans != report.Proved+report.Repaired+report.Mismatched+report.Degenerate+report.WithoutQuote+report.Unproved {
			t.Errorf("outcomes do not add up: %+v", report)
		}
		checkIDs(t, lines, most, &m)
	})
}

// checkIDs compares the ids of the rows with those of the good lines.
func checkIDs(t *testing.T, lines []string, most int, m *memory) {
	next := 0
	for _, line := range lines {
		if len(strings.TrimSuffix(line, "\r")) > most {
			continue
		}
		var r struct{ ID json.RawMessage }
		if _, ok := slowStrict([]byte(line)); !ok || json.Unmarshal([]byte(line), &r) != nil || next == len(m.rows) {
			continue
		}
		var text string
		if json.Unmarshal(r.ID, &text) != nil {
			text = string(r.ID)
			if f, err := strconv.ParseFloat(text, 64); err == nil && f == math.Trunc(f) && math.Abs(f) <= 1<<53 && strings.ContainsAny(text, ".eE") {
				text = strconv.FormatInt(int64(f), 10)
			}
		}
		if m.rows[next].ID == text {
			next++
		}
	}
	if next != len(m.rows) {
		t.Errorf("row %d, %q, is on no line", next, m.rows[next].ID)
	}
}
