package convert

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"ibid"
)

// An extra collects the members of a record that are no column of ours, so that
// nothing is dropped: they are kept as one JSON object.
type extra struct {
	buf bytes.Buffer // "{" and the members, without the closing brace
}

func (e *extra) reset() { e.buf.Reset() }

func (e *extra) empty() bool { return e.buf.Len() == 0 }

// add appends a member; value must be valid JSON.
func (e *extra) add(name string, value []byte) {
	if e.empty() {
		e.buf.WriteByte('{')
	} else {
		e.buf.WriteByte(',')
	}
	e.buf.Write(jsonString(name))
	e.buf.WriteByte(':')
	// Compact cannot fail on valid JSON.
	_ = json.Compact(&e.buf, value)
}

// addText appends a member whose value is a string.
func (e *extra) addText(name, value string) { e.add(name, jsonString(value)) }

// addAll appends the members of another.
func (e *extra) addAll(more *extra) {
	if !more.empty() && !e.empty() {
		e.buf.WriteByte(',')
		e.buf.Write(more.buf.Bytes()[1:])
	} else {
		e.buf.Write(more.buf.Bytes())
	}
}

// tags are the tag that keeps the members with a row, none if there are no members.
func (e *extra) tags() []ibid.Tag {
	if e.empty() {
		return nil
	}
	return []ibid.Tag{{Key: referenceTag, Value: e.object()}}
}

// object returns the members as a JSON object.
func (e *extra) object() string { return e.buf.String() + "}" }

// reference returns the source_reference of an element whose own one is given,
// "" if it has none. An object takes the members in; anything else, and an
// object that already has one of them, becomes the member source_reference.
func (e *extra) reference(given string) string {
	if e.empty() {
		return given
	}
	if given == "" || given == "{}" {
		return e.object()
	}
	if inner, isObject := strings.CutSuffix(given, "}"); isObject {
		both := inner + "," + e.object()[1:]
		if jsontext.Value(both).IsValid() { // no name is there twice
			return both
		}
	}
	e.add("source_reference", []byte(given))
	return e.object()
}

// jsonString is s as a JSON string, HTML characters as they are.
func jsonString(s string) []byte {
	b, _ := jsontext.AppendQuote(nil, s) // what is not UTF-8 becomes U+FFFD
	return b
}

// compact drops the white space between the tokens of valid JSON.
func compact(value []byte) string {
	var b bytes.Buffer
	_ = json.Compact(&b, value)
	return b.String()
}
