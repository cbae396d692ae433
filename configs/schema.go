package configs

import (
	"encoding/json"
	"maps"
	"math"
	"strings"
	"time"
)

// Schema is a JSON Schema (2020-12) of run files, for editors. It is made of the table of
// settings: names, types, ranges, values, defaults and what they are for. What it accepts
// may still be refused by [Load]: two settings that contradict each other, a text that is no
// gate, a fraction such as 1.0 for an integer.
func Schema() []byte {
	root := object()
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "run file of ibid"
	for _, name := range names {
		s := byName[name]
		schema := s.schema()
		if part, ok := partOf(name); ok {
			schema = map[string]any{"description": "see " + part.setting, "type": []string{kinds[part.like].name, "null"}}
		}
		insert(root, strings.Split(name, "."), schema)
	}
	judge := root["properties"].(map[string]any)["judge"].(map[string]any)
	short := byName["judge.kind"].schema()
	root["properties"].(map[string]any)["judge"] = map[string]any{
		"description": "who judges; a bare KIND is short for {kind: KIND}",
		"anyOf":       []any{judge, short},
	}
	text, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic(err) // it holds nothing but texts, numbers, lists and mappings
	}
	return append(text, '\n')
}

// object is the schema of a mapping without members. Nothing stands for the defaults.
func object() map[string]any {
	return map[string]any{"type": []string{"object", "null"}, "properties": map[string]any{}, "additionalProperties": false}
}

// insert puts a setting into the mapping that its dotted name says.
func insert(in map[string]any, path []string, schema map[string]any) {
	members := in["properties"].(map[string]any)
	if len(path) == 1 {
		members[path[0]] = schema
		return
	}
	if members[path[0]] == nil {
		members[path[0]] = object()
	}
	insert(members[path[0]].(map[string]any), path[1:], schema)
}

// durationPattern is the text of a duration, as decode reads it.
const durationPattern = `^\+?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$`

func (s *setting) schema() map[string]any {
	doc := s.doc
	if s.between != nil {
		doc += "; " + s.rangeText()
	}
	out := map[string]any{"description": doc}
	if s.def != nil {
		out["default"] = s.def
	}
	if d, ok := s.def.(time.Duration); ok {
		out["default"] = flowDuration(d)
	}
	text := map[string]any{"type": "string"}
	switch s.typeName() {
	case "text":
		maps.Copy(out, s.textSchema())
	case "integer", "number":
		out["type"] = []string{s.typeName(), "null"}
		s.between.addTo(out)
	case "boolean":
		out["type"] = []string{"boolean", "null"}
	case "duration":
		out["anyOf"] = []any{map[string]any{"type": "string", "pattern": durationPattern}, map[string]any{"enum": []any{0, nil}}}
	case "list of text":
		out["type"], out["items"] = []string{"array", "null"}, text
	case "text or list of text":
		out["anyOf"] = []any{map[string]any{"type": []string{"string", "null"}}, map[string]any{"type": "array", "items": text}}
	case "mapping of text":
		out["type"], out["additionalProperties"] = []string{"object", "null"}, text
	case "mapping of numbers":
		out["type"], out["additionalProperties"] = []string{"object", "null"}, map[string]any{"type": "number"}
	case "mapping":
		out["type"] = []string{"object", "null"}
	}
	return out
}

// textSchema is that of a text: any, or one of those that are allowed.
func (s *setting) textSchema() map[string]any {
	if s.allowed == nil {
		return map[string]any{"type": []string{"string", "null"}}
	}
	values := []any{nil}
	for _, word := range s.allowed {
		values = append(values, word)
		if word == "true" || word == "false" { // YAML takes it for a boolean
			values = append(values, word == "true")
		}
	}
	if s.prefix == "" {
		return map[string]any{"enum": values}
	}
	return map[string]any{"anyOf": []any{map[string]any{"enum": values}, map[string]any{"type": "string", "pattern": "^" + s.prefix + "."}}}
}

// addTo writes the bounds of a number into its schema.
func (r *interval) addTo(schema map[string]any) {
	if r == nil {
		return
	}
	low, high := "minimum", "maximum"
	if r.above {
		low = "exclusiveMinimum"
	}
	if r.below {
		high = "exclusiveMaximum"
	}
	schema[low] = r.low
	if !math.IsInf(r.high, 1) {
		schema[high] = r.high
	}
}
