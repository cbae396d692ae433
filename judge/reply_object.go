package judge

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ibid"
)

// An object is one JSON object of a reply: its members by name, in lower case. The first
// mistake stays with it: what is asked for after it is empty.
type object struct {
	members map[string]json.RawMessage
	err     error
}

// readObject reads an object. A member of the schema that occurs twice is a mistake.
func readObject(raw json.RawMessage) *object {
	o := &object{members: make(map[string]json.RawMessage)}
	d := json.NewDecoder(strings.NewReader(string(raw)))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		if string(raw) != "null" {
			o.fail("not of the given shape: %s is no object", clip(string(raw)))
		}
		return o
	}
	for d.More() {
		token, err := d.Token()
		var value json.RawMessage
		if err == nil {
			err = d.Decode(&value)
		}
		if err != nil {
			return &object{err: fmt.Errorf("not JSON: %w", err)}
		}
		name := strings.ToLower(token.(string))
		if _, twice := o.members[name]; twice && replyNames[name] {
			o.fail("member %q occurs twice", name)
			return o
		}
		o.members[name] = value
	}
	return o
}

func (o *object) fail(format string, args ...any) {
	if o.err == nil {
		o.err = fmt.Errorf(format, args...)
	}
}

// failIn takes over what is wrong with an object within o.
func (o *object) failIn(what string, inner *object) {
	if inner.err != nil {
		o.fail("%s: %w", what, inner.err)
	}
}

// misshapen fails because a member is not of the given shape.
func (o *object) misshapen(name string, raw json.RawMessage) {
	o.fail("not of the given shape: member %q is %s", name, clip(string(raw)))
}

// null reports whether a member is there and null.
func (o *object) null(name string) bool { return string(o.members[name]) == "null" }

// member is a member that must be there; ok is false after a mistake.
func (o *object) member(name string, orNull bool) (raw json.RawMessage, ok bool) {
	if raw, ok = o.members[name]; !ok || !orNull && o.null(name) {
		o.fail("member %q is missing", name)
	}
	return raw, o.err == nil
}

// text is a member that is a text: null is "", and a number is as it is written.
func (o *object) text(name string) (s string) {
	raw, ok := o.member(name, true)
	if !ok || json.Unmarshal(raw, &s) == nil {
		return s
	}
	if _, err := strconv.ParseFloat(string(raw), 64); err != nil {
		o.misshapen(name, raw)
	}
	return string(raw)
}

// label is a member that is a label, in lower case.
func (o *object) label(name string) (s string) {
	raw, ok := o.member(name, false)
	switch {
	case !ok:
		return ""
	case json.Unmarshal(raw, &s) == nil:
		return strings.ToLower(strings.TrimSpace(s))
	case string(raw) != "true" && string(raw) != "false":
		o.misshapen(name, raw)
	}
	return string(raw)
}

func (o *object) degree(name string) ibid.Degree {
	d, err := ibid.ParseDegree(o.label(name))
	if err != nil {
		o.fail("%s: %w", name, err)
	}
	return d
}

// id is a member that is an id: 2 and "2" are the id of that number.
func (o *object) id(name, prefix string) string {
	raw, ok := o.member(name, false)
	if !ok {
		return ""
	}
	id, ok := idOf(raw, prefix)
	if !ok {
		o.misshapen(name, raw)
	}
	return id
}

func idOf(raw json.RawMessage, prefix string) (id string, ok bool) {
	if json.Unmarshal(raw, &id) != nil {
		id = string(raw)
	} else {
		id = strings.ToLower(strings.TrimSpace(id))
	}
	if _, err := strconv.ParseUint(id, 10, 32); err == nil {
		return prefix + id, true
	}
	return id, len(raw) > 0 && raw[0] == '"'
}

// list is a member that is a list.
func (o *object) list(name string) (list []json.RawMessage) {
	if raw, ok := o.member(name, false); ok && json.Unmarshal(raw, &list) != nil {
		o.misshapen(name, raw)
	}
	return list
}

// replyNames are the names of the members of the schema.
var replyNames = map[string]bool{
	"tampering": true, "check": true, "claims": true,
	"id": true, "kind": true, "checks": true, "joint_why": true, "joint": true,
	"elsewhere": true, "elsewhere_evidence_id": true, "elsewhere_quote": true, "sufficient": true,
	"evidence_id": true, "why": true, "quote": true, "support": true, "relevant": true,
}

// maxStarts bounds how many opening braces of prose are tried as the start of
// an object.
const maxStarts = 64

// errNoObject: nothing in a reply looks like an object that was asked for.
var errNoObject = errors.New("no complete JSON object")

// endsDraft closes the reasoning that some models write before their answer.
const endsDraft = "</think>"

// extract returns the one JSON object of a reply that may be wrapped in prose
// or in a Markdown fence, with what JSON does not allow put right. Of several
// objects it is the one with the member that was asked for; two of those are an error, for
// which one is meant is anyone's guess. What stands before the end of a draft
// does not count if an object stands after it.
func extract(reply, member string) (string, error) {
	for at := strings.LastIndex(reply, endsDraft); at >= 0; at = strings.LastIndex(reply[:at], endsDraft) {
		found, err := theObject(reply[at+len(endsDraft):], member)
		if found != "" || !errors.Is(err, errNoObject) {
			return found, err
		}
	}
	if strings.HasPrefix(strings.TrimSpace(reply), "<think>") && !strings.Contains(reply, endsDraft) {
		return "", errors.New("the reply ends within its draft")
	}
	return theObject(reply, member)
}

func theObject(reply, member string) (string, error) {
	found := ""
	rest := reply
	for range maxStarts {
		i := strings.IndexByte(rest, '{')
		if i < 0 {
			break
		}
		whole, length := healed(rest[i:])
		if length == 0 || !has(whole, member) {
			// Not ours as a whole; an object may still begin within it.
			rest = rest[i+1:]
			continue
		}
		if found != "" {
			return "", fmt.Errorf("more than one JSON object with %s", member)
		}
		found = whole
		rest = rest[i+length:]
	}
	if found == "" {
		return "", fmt.Errorf("%w with %s", errNoObject, member)
	}
	return found, nil
}

// healed is the object that s begins with, without commas before a closing bracket, and with
// control characters within strings escaped. length is how much of s it takes; 0 if it does
// not end, and object is its beginning.
func healed(s string) (object string, length int) {
	b := make([]byte, 0, len(s))
	depth, quoted, comma := 0, false, -1 // comma is where the last one stands if only white space followed
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quoted && c < ' ':
			b = append(b, '\\', 'u', '0', '0', "01"[c>>4], "0123456789abcdef"[c&15])
			continue
		case quoted && c == '\\' && i+1 < len(s):
			b = append(b, c, s[i+1])
			i++
			continue
		case c == '"':
			quoted, comma = !quoted, -1
		case quoted || strings.IndexByte(" \t\n\r", c) >= 0:
		case c == ',':
			comma = len(b)
		default:
			if (c == '}' || c == ']') && comma >= 0 {
				b = append(b[:comma], b[comma+1:]...)
			}
			comma = -1
			switch c {
			case '{':
				depth++
			case '}':
				depth--
			}
		}
		if b = append(b, c); depth == 0 {
			return string(b), i + 1
		}
	}
	return string(b), 0
}

// frontOf reads an object that breaks off within the list with a name: the members before it, and
// the whole elements at its front. The zero object has none.
func frontOf(reply, list string) *object {
	if at := strings.LastIndex(reply, endsDraft); at >= 0 {
		reply = reply[at+len(endsDraft):]
	}
	for range maxStarts {
		i := strings.IndexByte(reply, '{')
		if i < 0 {
			break
		}
		text, length := healed(reply[i:])
		if o := cutObject(text, list); length == 0 && o != nil {
			return o
		}
		reply = reply[i+1:]
	}
	return &object{}
}

func cutObject(text, list string) *object {
	o := &object{members: make(map[string]json.RawMessage)}
	d := json.NewDecoder(strings.NewReader(text))
	if _, err := d.Token(); err != nil { // the brace
		return nil
	}
	for {
		token, err := d.Token()
		name, is := token.(string)
		if err != nil || !is {
			return nil
		}
		var value json.RawMessage
		if name = strings.ToLower(name); name != list {
			if d.Decode(&value) != nil {
				return nil
			}
			o.members[name] = value
			continue
		}
		if open, err := d.Token(); err != nil || open != json.Delim('[') {
			return nil
		}
		whole := []json.RawMessage{}
		for d.More() && d.Decode(&value) == nil {
			whole = append(whole, slices.Clone(value))
		}
		if o.members[name], err = json.Marshal(whole); err != nil || len(whole) == 0 {
			return nil
		}
		return o
	}
}

func has(text, member string) bool {
	_, ok := readObject(json.RawMessage(text)).members[member] // what is wrong with it is found later
	return ok
}
