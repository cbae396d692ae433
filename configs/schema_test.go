package configs

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

func compileSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("ibid.schema.json", text); err != nil {
		t.Fatal(err)
	}
	return c.MustCompile("ibid.schema.json")
}

// asJSON reads a run file as editors do, ok is false if it is not YAML.
func asJSON(t *testing.T, text string) (v any, ok bool) {
	t.Helper()
	var data any
	if err := yaml.Unmarshal([]byte(text), &data); err != nil {
		return nil, false
	}
	out, err := json.Marshal(data)
	if err != nil {
		return nil, false // .inf and .nan
	}
	v, err = jsonschema.UnmarshalJSON(bytes.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	return v, true
}

// A verdict is what Load says of a run file by itself.
type verdict int

const (
	valid   verdict = iota
	refused         // for a key, a type or a value that a schema can see
	other           // for what it cannot see
)

// byEye are refusals for how a value is written, which is gone once it is parsed, and for
// what is inside a text.
var byEye = regexp.MustCompile(`one of >=|got (the number ([-+0-9]+\.0*|0[0-9]+)|the text "(0[0-7]+|[-+]?[0-9]+)"|[-+0-9a-zA-Z_.]*)$|already set|decimal`)

func verdictOf(text string) (verdict, Errors) {
	l := &loader{file: "ibid.yaml"}
	l.fromFile(text)
	worst := valid
	for _, e := range l.errs {
		key := e.Msg == "unknown key"
		kind := regexp.MustCompile(`^want (text|a list|a mapping|a mapping of settings|true or false|an integer|a number|a duration|a size|one of .*), got`).MatchString(e.Msg)
		if key || kind && !byEye.MatchString(e.Msg) {
			return refused, l.errs
		}
		worst = other
	}
	return worst, l.errs
}

// agrees reports whether schema and Load say the same of a run file.
func agrees(t *testing.T, schema *jsonschema.Schema, name, text string) verdict {
	t.Helper()
	want, errs := verdictOf(text)
	v, ok := asJSON(t, text)
	if !ok || want == other {
		return other
	}
	err := schema.Validate(v)
	switch {
	case want == valid && err != nil:
		t.Errorf("%s: the schema refuses a valid file: %v\n%s", name, err, text)
	case want == refused && err == nil:
		t.Errorf("%s: the schema accepts what Load refuses: %v\n%s", name, errs, text)
	}
	return want
}

// TestSchemaOfFiles: the run files of scripts, sample, README and docs, valid ones and
// others, and the cases of TestErrors.
func TestSchemaOfFiles(t *testing.T) {
	schema := compileSchema(t)
	count := make(map[verdict]int)
	check := func(name, text string) { count[agrees(t, schema, name, text)]++ }
	for _, tt := range errorCases {
		check(tt.name, tt.file)
	}
	read := func(pattern string, each func(path string, text []byte)) {
		paths, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(pattern)))
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(paths), err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			each(path, text)
		}
	}
	read("cmd/ibid/testdata/script/*.txtar", func(path string, text []byte) {
		for _, f := range txtar.Parse(text).Files {
			if strings.HasSuffix(f.Name, ".yaml") {
				check(path+"/"+f.Name, string(f.Data))
			}
		}
	})
	read("cmd/ibid/internal/cli/sample/*.yaml", func(path string, text []byte) { check(path, string(text)) })
	read("configs/testdata/specification.yaml", func(path string, text []byte) { check(path, string(text)) })
	blocks := func(path string, text []byte) {
		for _, m := range regexp.MustCompile("(?s)\n```yaml\n(.*?)```").FindAllSubmatch(text, -1) {
			if agrees(t, schema, path, string(m[1])) != valid {
				t.Errorf("%s has a run file that Load refuses:\n%s", path, m[1])
			}
			count[valid]++
		}
	}
	read("README.md", blocks)
	read("docs/*.md", blocks)
	if count[valid] < 50 || count[refused] < 20 {
		t.Errorf("%d valid files and %d refused ones; the test must have missed some", count[valid], count[refused])
	}
	t.Logf("%d valid, %d refused, %d of which a schema cannot know", count[valid], count[refused], count[other])
}

// block writes a dotted name as YAML.
func block(name, value string) string {
	var b strings.Builder
	keys := strings.Split(name, ".")
	for i, key := range keys {
		b.WriteString(strings.Repeat("  ", i) + key + ":")
		if i < len(keys)-1 {
			b.WriteString("\n")
		}
	}
	return b.String() + " " + value + "\n"
}

// TestSchemaOfSettings: each setting under each of its names, with values of every type,
// each value that is listed and one that is not, and the ends of its range.
func TestSchemaOfSettings(t *testing.T) {
	schema := compileSchema(t)
	count := make(map[verdict]int)
	for _, name := range names {
		s := byName[name]
		values := []string{"null", "0", "1", "-1", "0.5", "1000000000000", "true", "word", "''", "10m", "-3s", "1h0m1.5s", "64MiB", "[]", "[a]", "[1]", "{}", "{a: b}", "{a: 1}", "[[a]]", "annotator:ada", "annotator:"}
		values = append(values, flowText(s.def))
		values = append(values, s.allowed...)
		if s.between != nil {
			for _, x := range []float64{s.between.low, s.between.high} {
				if x < 1<<53 {
					for _, y := range []float64{x - 1, x, x + 1} {
						values = append(values, strconv.FormatFloat(y, 'f', -1, 64))
					}
				}
			}
		}
		slices.Sort(values)
		for _, value := range slices.Compact(values) {
			text := block(name, value)
			got := agrees(t, schema, name, text)
			count[got]++
			v, ok := asJSON(t, text)
			if _, errs := verdictOf(text); ok && s.between != nil && s.typeName() != "duration" && len(errs) > 0 && strings.HasPrefix(errs[0].Msg, "want a ") && schema.Validate(v) == nil {
				t.Errorf("%s: the schema accepts what is out of range: %v", name, errs)
			}
		}
		if got := agrees(t, schema, name, block(name+"x", "1")); got != refused {
			t.Errorf("%sx is %d, want refused", name, got)
		}
	}
	if count[valid] < 500 || count[refused] < 500 {
		t.Errorf("%d accepted, %d refused", count[valid], count[refused])
	}
	t.Logf("%d accepted, %d refused, %d of which a schema cannot know", count[valid], count[refused], count[other])
}
