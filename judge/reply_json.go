package judge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// replyObject is a reply as the schema has it. Pointers tell a missing member
// from an empty one.
type replyObject struct {
	Tampering *string       `json:"tampering"`
	Claims    *[]replyClaim `json:"claims"`
}

type replyClaim struct {
	ID                *string       `json:"id"`
	Kind              *string       `json:"kind"`
	Checks            *[]replyCheck `json:"checks"`
	JointWhy          *string       `json:"joint_why"`
	Joint             *string       `json:"joint"`
	Elsewhere         *string       `json:"elsewhere"`
	ElsewhereEvidence *string       `json:"elsewhere_evidence_id"`
	ElsewhereQuote    *string       `json:"elsewhere_quote"`
	Sufficient        *[][]string   `json:"sufficient"` // only where it was asked for
}

type replyCheck struct {
	EvidenceID *string `json:"evidence_id"`
	Why        *string `json:"why"`
	Quote      *string `json:"quote"`
	Support    *string `json:"support"`
	Relevant   *string `json:"relevant"`
}

// replyNames are the names of members that a reply may have.
var replyNames = map[string]bool{
	"tampering": true, "claims": true,
	"id": true, "kind": true, "checks": true, "joint_why": true, "joint": true,
	"elsewhere": true, "elsewhere_evidence_id": true, "elsewhere_quote": true, "sufficient": true,
	"evidence_id": true, "why": true, "quote": true, "support": true, "relevant": true,
}

// maxStarts bounds how many opening braces of prose are tried as the start of
// an object.
const maxStarts = 64

// extract returns the one JSON object of a reply that may be wrapped in prose
// or in a Markdown fence. Of several objects it is the one with a "claims"
// member; two of those are an error, for which one is meant is anyone's guess.
func extract(reply string) (string, error) {
	found := ""
	rest := reply
	for range maxStarts {
		i := strings.IndexByte(rest, '{')
		if i < 0 {
			break
		}
		end := objectEnd(rest[i:])
		if end == 0 || !hasClaims(rest[i:i+end]) {
			// Not ours as a whole; an object may still begin within it.
			rest = rest[i+1:]
			continue
		}
		if found != "" {
			return "", errors.New("more than one JSON object with claims")
		}
		found = rest[i : i+end]
		rest = rest[i+end:]
	}
	if found == "" {
		return "", errors.New("no complete JSON object with claims")
	}
	return found, nil
}

// objectEnd returns the length of the balanced object that s begins with, 0 if
// it does not end.
func objectEnd(s string) int {
	depth, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted:
			if c == '\\' {
				i++
			} else if c == '"' {
				quoted = false
			}
		case c == '"':
			quoted = true
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

func hasClaims(object string) bool {
	var o struct {
		Claims json.RawMessage `json:"claims"`
	}
	return json.Unmarshal([]byte(object), &o) == nil && o.Claims != nil
}

// decode reads the object by the schema: no other members, none twice.
func decode(object string) (*replyObject, error) {
	if err := checkNames(json.NewDecoder(strings.NewReader(object))); err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader([]byte(object)))
	d.DisallowUnknownFields()
	o := new(replyObject)
	if err := d.Decode(o); err != nil {
		return nil, fmt.Errorf("not of the given shape: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	return o, nil
}

// checkNames refuses what encoding/json lets pass: members that occur twice,
// and names that differ from the schema's in case.
func checkNames(d *json.Decoder) error {
	var open []map[string]bool // names seen in each open object, nil for an array
	wantName := false
	for {
		token, err := d.Token()
		if err != nil {
			return fmt.Errorf("not JSON: %w", err)
		}
		switch t := token.(type) {
		case json.Delim:
			switch t {
			case '{':
				open = append(open, map[string]bool{})
			case '[':
				open = append(open, nil)
			default:
				open = open[:len(open)-1]
			}
			if len(open) == 0 {
				return nil
			}
			wantName = open[len(open)-1] != nil
			continue
		case string:
			if wantName {
				seen := open[len(open)-1]
				if !replyNames[t] {
					return fmt.Errorf("unknown member %q", clip(t))
				}
				if seen[t] {
					return fmt.Errorf("member %q occurs twice", t)
				}
				seen[t] = true
				wantName = false
				continue
			}
		}
		wantName = open[len(open)-1] != nil
	}
}
