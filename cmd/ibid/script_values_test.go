package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

func init() {
	scriptCommands["cell"] = scriptCell
	scriptCommands["member"] = scriptMember
}

// scriptCell wants the value of a column of a CSV file, in the only line that has the
// VALUEs. The file may be stdout.
func scriptCell(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) >= 3, "cell FILE COLUMN WANT [COLUMN=VALUE]...")
	lines, err := csv.NewReader(strings.NewReader(ts.ReadFile(args[0]))).ReadAll()
	ts.Check(err)
	if len(lines) == 0 {
		ts.Fatalf("%s is empty", args[0])
	}
	column := func(name string) int {
		n := slices.Index(lines[0], name)
		if n < 0 {
			ts.Fatalf("%s has no column %s", args[0], name)
		}
		return n
	}
	found := lines[1:]
	for _, arg := range args[3:] {
		name, want, _ := strings.Cut(arg, "=")
		n := column(name)
		var left [][]string
		for _, line := range found {
			if line[n] == want {
				left = append(left, line)
			}
		}
		found = left
	}
	if len(found) != 1 {
		ts.Fatalf("%s: %d lines have %q, want 1", args[0], len(found), args[3:])
	}
	if got := found[0][column(args[1])]; got != args[2] {
		ts.Fatalf("%s: %s is %q, want %q", args[0], args[1], got, args[2])
	}
}

// scriptMember wants the value at a path of a JSON file, such as claims/0/text. Of a list,
// a step N is the element at N, KEY=VALUE the only element with that member, and # the
// number of elements (in quotes, 'claims/#': a bare # begins a comment). Text is compared
// without its quotes, a list or an object as compact JSON with sorted keys; a member that
// is missing is "absent". The file may be stdout.
func scriptMember(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 3, "member FILE PATH WANT")
	decoder := json.NewDecoder(strings.NewReader(ts.ReadFile(args[0])))
	decoder.UseNumber()
	var at any
	ts.Check(decoder.Decode(&at))
	for step := range strings.SplitSeq(args[1], "/") {
		var ok bool
		if at, ok = jsonStep(at, step); !ok {
			at = "absent"
			break
		}
	}
	if got := jsonText(ts, at); got != args[2] {
		ts.Fatalf("%s: %s is %q, want %q", args[0], args[1], got, args[2])
	}
}

// jsonStep is the part of a JSON value that one step of a path leads to.
func jsonStep(at any, step string) (any, bool) {
	if object, ok := at.(map[string]any); ok {
		v, ok := object[step]
		return v, ok
	}
	list, ok := at.([]any)
	if !ok {
		return nil, false
	}
	if step == "#" {
		return json.Number(strconv.Itoa(len(list))), true
	}
	if key, want, ok := strings.Cut(step, "="); ok {
		var found []any
		for _, v := range list {
			if object, ok := v.(map[string]any); ok && object[key] == want {
				found = append(found, v)
			}
		}
		if len(found) != 1 {
			return nil, false
		}
		return found[0], true
	}
	n, err := strconv.Atoi(step)
	if err != nil || n < 0 || n >= len(list) {
		return nil, false
	}
	return list[n], true
}

// jsonText is text itself, and of any other value its JSON.
func jsonText(ts *testscript.TestScript, v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	ts.Check(encoder.Encode(v))
	return strings.TrimSpace(b.String())
}
