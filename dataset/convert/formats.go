package convert

import (
	"context"
	"strings"

	"ibid/dataset"
)

// A Format is one foreign shape of records.
type Format struct {
	Name    string // as on the command line
	Summary string // one line, lower case, no full stop
	Input   string // what its paths are, such as "JSON Lines files"

	// CodePoints says that the offsets written are zero-based, half-open code
	// points of the whole document. Without it they are written as the records
	// give them, and their convention is the user's to state.
	CodePoints bool

	// fits reports whether the first record of a file is of this format; nil if the
	// content does not tell.
	fits func(*object) bool

	streams bool     // standard input can be read
	options []string // names of the options it takes, as on the command line
	convert func(context.Context, *run) error
}

// formats is the registry: a new format is one file and one line here.
var formats = []Format{
	anthropic,
	auto,
	bedrock,
	brat,
	citeFormer,
	cohere,
	copilot,
	csvRows,
	evidenceInference,
	expertQA,
	gemini,
	inline,
	jsonl,
	keepTrusts,
	labelStudio,
	mistral,
	openAI,
	perplexity,
}

// Formats returns every format, by name.
func Formats() []Format { return append([]Format(nil), formats...) }

// Lookup returns the format of that name.
func Lookup(name string) (Format, bool) {
	for _, f := range formats {
		if f.Name == name {
			return f, true
		}
	}
	return Format{}, false
}

// unknownFormat says which formats there are, and the nearest first.
func unknownFormat(name string) error {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.Name
	}
	e := &UsageError{Msg: "unknown format " + quoted(name), Hint: "formats are " + strings.Join(names, ", ")}
	if near := dataset.Nearest(name, names); near != "" {
		e.Hint = "did you mean " + near + "?"
	}
	return e
}

// optionHint names the formats that take an option.
func optionHint(option string) string {
	var names []string
	for _, f := range formats {
		for _, o := range f.options {
			if o == option {
				names = append(names, f.Name)
			}
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "it is for " + strings.Join(names, ", ")
}
