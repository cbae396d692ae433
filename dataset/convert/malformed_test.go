package convert

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

// samples are the samples of a format, by name, as one line each; streams are
// left out.
func samples(t testing.TB, format string) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", "responses", format+".*.json"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for _, path := range paths {
		if isRequest(path) {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var line bytes.Buffer
		if err := json.Compact(&line, data); err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(path)] = line.Bytes()
	}
	return all
}

// exchangeFormats are the formats of responses.
func exchangeFormats() []string {
	var all []string
	for _, f := range Formats() {
		if slices.Contains(f.options, "request") && f.Name != "auto" {
			all = append(all, f.Name)
		}
	}
	return all
}

// wrap is a line with a response and an id beside it.
func wrap(id string, response []byte) string {
	if bytes.HasPrefix(response, []byte(`{"response":"`)) {
		return `{"id":"` + id + `",` + string(response[1:])
	}
	return `{"id":"` + id + `","query":"Q","response":` + string(response) + `}`
}

// spoil makes a line that cannot be read.
var spoilers = map[string]func(line string) string{
	"truncated":       func(line string) string { return line[:len(line)*2/3] },
	"truncated early": func(line string) string { return line[:1] },
	"doubled":         func(line string) string { return line + line },
	"latin-1":         func(line string) string { return strings.Replace(line, `"id"`, "\"\xfc\"", 1) },
	"byte order mark": func(line string) string { return "\ufeff" + line },
	"UTF-16": func(line string) string {
		b := []byte{0xff, 0xfe}
		for _, u := range utf16.Encode([]rune(line)) {
			if u == '\n' {
				continue
			}
			b = append(b, byte(u), byte(u>>8))
		}
		return string(b)
	},
	"shuffled": func(line string) string {
		half := len(line) / 2
		return line[half:] + line[:half]
	},
	"an answer twice": func(line string) string { return strings.Replace(line, `"id":"bad"`, `"id":"good"`, 1) },
	"another type":    func(string) string { return `[1]` },
	"nothing":         func(string) string { return `` },
	"no member":       func(string) string { return `{}` },
	"an error": func(string) string {
		return `{"id":"bad","response":{"type":"error","error":{"type":"overloaded_error","message":"busy"}}}`
	},
}

// TestMalformedLines spoils the line between two good ones in every way: it is
// reported with its place, and the good ones are kept.
func TestMalformedLines(t *testing.T) {
	for _, format := range exchangeFormats() {
		for name, sample := range samples(t, format) {
			for how, spoil := range spoilers {
				t.Run(name+" "+how, func(t *testing.T) {
					text := wrap("good", sample) + "\n" + spoil(wrap("bad", sample)) + "\n" + wrap("last", sample) + "\n"
					path := filepath.Join(t.TempDir(), "answers.jsonl")
					if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
					m, report := importPath(t, format, path, Options{})
					if len(m.rows) != 2 || m.rows[0].ID != "good" || m.rows[1].ID != "last" || report.Failed != 1 || report.Records != 3 {
						t.Fatalf("%d rows; report: %+v; want the two good records", len(m.rows), report)
					}
					if e := report.Errors[0]; e.File != path || e.Line != 2 || e.Column < 1 || e.Reason == "" {
						t.Errorf("error %+v; want its place in line 2", e)
					}
				})
			}
		}
	}
}

// TestMalformedRecords says what is wrong with a response, and where.
func TestMalformedRecords(t *testing.T) {
	tests := []struct{ name, format, text, want string }{
		{"version", "citeformer", `{"schema_version":4,"text":"","citations":[]}`, `-:1:19: schema_version: schema 4, and 1 to 3 are known`},
		{"source 0", "citeformer", `{"schema_version":3,"text":"a","citations":[{"span":[0,1],"source_id":0}]}`, `-:1:71: annotation left out: citations[0].source_id: source 0: sources count from 1`},
		{"three offsets", "citeformer", `{"schema_version":3,"text":"a","citations":[{"span":[0,1,2],"source_id":1}]}`, `-:1:53: annotation left out: citations[0].span: want two offsets, got 3`},
		{"a report", "citeformer", `{"schema_version":3,"support_rate":1,"per_citation":[]}`, `-:1:1: a VerificationReport holds no answer: import the GenerationResult with it, {"response": RESULT, "verification": REPORT}`},
		{"kind of citation", "anthropic", "{\"type\":\"message\",\n \"content\":[{\"type\":\"text\",\"text\":\"ä\",\"citations\":[{\"type\":\"moon_location\"}]}]}", `-:2:60: annotation left out: content[0].citations[0].type: unknown kind of citation "moon_location"`},
		{"no offset", "anthropic", `{"type":"message","content":[{"type":"text","text":"a","citations":[{"type":"char_location","document_index":0,"start_char_index":1}]}]}`, `-:1:69: annotation left out: content[0].citations[0].end_char_index: missing`},
		{"null offset", "anthropic", `{"type":"message","content":[{"type":"text","text":"a","citations":[{"type":"page_location","document_index":null}]}]}`, `-:1:110: annotation left out: content[0].citations[0].document_index: null, but it must be given`},
		{"an error", "anthropic", `{"type":"error","error":{"type":"overloaded_error"}}`, `-:1:1: the response is an error: "{\"type\":\"overloaded_error\"}"`},
		{"of a batch", "anthropic", `{"custom_id":"x","result":{"type":"errored","error":{}}}`, `-:1:27: result: the request of the batch has not succeeded: "errored"`},
		{"kind of annotation", "openai", `{"object":"response","output":[{"type":"message","content":[{"type":"output_text","text":"a","annotations":[{"type":"moon"}]}]}]}`, `-:1:117: annotation left out: output[0].content[0].annotations[0].type: unknown kind of annotation "moon"`},
		{"no index", "openai", `{"object":"response","output":[{"type":"message","content":[{"type":"output_text","text":"a","annotations":[{"type":"file_citation","filename":"f"}]}]}]}`, `-:1:109: annotation left out: output[0].content[0].annotations[0]: no start_index and end_index, nor index`},
		{"a chunk", "openai", `{"object":"chat.completion.chunk","choices":[]}`, `-:1:1: a chunk of a stream: save the whole response`},
		{"no choice", "openai", `{"object":"chat.completion","choices":[]}`, `-:1:39: choices: no choice`},
		{"part", "gemini", `{"candidates":[{"content":{"parts":[{"text":"a"}]},"groundingMetadata":{"groundingSupports":[{"segment":{"partIndex":1,"endIndex":1,"text":"a"}}]}}]}`, `-:1:118: annotation left out: candidates[0].groundingMetadata.groundingSupports[0].segment.partIndex: there are 1 parts`},
		{"block", "cohere", `{"message":{"content":[{"type":"text","text":"a"}],"citations":[{"start":0,"end":1,"content_index":3}]},"finish_reason":"C"}`, `-:1:100: annotation left out: message.citations[0].content_index: there are 1 blocks of content`},
		{"fraction", "cohere", `{"message":{"content":[{"type":"text","text":"a"}],"citations":[{"start":0.5,"end":1}]},"finish_reason":"C"}`, `-:1:74: annotation left out: message.citations[0].start: want an integer of 64 bits, got 0.5`},
		{"location", "bedrock", `{"output":{"message":{"content":[{"citationsContent":{"citations":[{"location":{"moon":{}}}]}}]}}}`, `-:1:80: annotation left out: output.message.content[0].citationsContent.citations[0].location: unknown kind of location`},
		{"location", "copilot", `{"content":"a","citations":{"sources":[],"spans":[{"startIndex":0,"endIndex":1,"references":[{"sourceId":"s","location":{"type":"line"}}]}]}}`, `-:1:129: annotation left out: citations.spans[0].references[0].location.type: unknown kind of location "line"`},
		{"span", "keeptrusts", `{"response":"a","citations":[{"text_span":{"start":"0"}}]}`, `-:1:52: annotation left out: citations[0].text_span.start: want a number, got a string`},
		{"no citations", "keeptrusts", `{"response":"a"}`, `-:1:1: citations: missing`},
		{"URL", "perplexity", `{"choices":[{"message":{"content":"a"}}],"citations":[7]}`, `-:1:55: citations[0]: want a string, got a number`},
		{"nowhere", "mistral", `{"choices":[{"message":{"content":[{"type":"tool_reference"}]}}]}`, `-:1:36: annotation left out: choices[0].message.content[0]: neither url nor title`},
	}
	for _, tt := range tests {
		t.Run(tt.format+" "+tt.name, func(t *testing.T) {
			m, report := importText(t, tt.format, tt.text, Options{})
			found, rows := report.Errors, 0
			if strings.Contains(tt.want, annotationLeftOut) { // it costs itself, and not the record
				found, rows = report.Warnings, 1
			}
			if len(m.rows) != rows || len(found) != 1 || report.BadAnnotations != int64(rows) {
				t.Fatalf("%d rows; report: %+v; want %d and one error", len(m.rows), report, rows)
			}
			if got := found[0].Error(); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestMalformedStreams spoils a stream: it is reported with its place, and the
// responses before and after it are kept.
func TestMalformedStreams(t *testing.T) {
	for _, name := range []string{"anthropic.stream.response.sse", "cohere.stream.sse", "openai.stream.sse"} {
		data, err := os.ReadFile(filepath.Join("testdata", "responses", name))
		if err != nil {
			t.Fatal(err)
		}
		format, _, _ := strings.Cut(name, ".")
		events := strings.SplitAfter(strings.TrimRight(string(data), "\n")+"\n\n", "\n\n")
		events = events[:len(events)-1]
		good := func(id string) string {
			return strings.NewReplacer("msg_3", id, `"s1"`, `"`+id+`"`, "resp_2", id).Replace(strings.Join(events, ""))
		}
		for how, spoiled := range map[string]string{
			"truncated":    strings.Join(events[:len(events)/2+1], ""),
			"cut in JSON":  strings.Join(events[:1], "") + strings.Join(events[1:], "")[:120] + "\n\n",
			"wrong order":  events[0] + strings.Join(reversed(events[1:len(events)-1]), ""),
			"wrong coding": strings.Join(events[:1], "") + "data: {\"type\":\"\xff\"}\n\n",
			"an error":     events[0] + "data: {\"type\":\"error\",\"error\":{}}\n\n",
			"twice":        good("first"),
		} {
			t.Run(format+" "+how, func(t *testing.T) {
				if format == "cohere" && how == "an error" {
					spoiled = strings.Join(events[:2], "")
				}
				path := filepath.Join(t.TempDir(), "answers.sse")
				if err := os.WriteFile(path, []byte(good("first")+spoiled+good("last")), 0o600); err != nil {
					t.Fatal(err)
				}
				m, report := importPath(t, format, path, Options{})
				if len(m.rows) != 2 || m.rows[0].ID != "first" || m.rows[1].ID != "last" || report.Failed != 1 {
					t.Fatalf("%d rows; report: %+v; want the two good responses", len(m.rows), report)
				}
				if e := report.Errors[0]; e.File != path || e.Line < 1 || e.Column < 1 {
					t.Errorf("error %+v has no place", e)
				}
			})
		}
	}
}

func reversed(all []string) []string {
	all = slices.Clone(all)
	slices.Reverse(all)
	return all
}
