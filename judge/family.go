package judge

import (
	"slices"
	"strings"
	"unicode"
)

// A family is who makes models, how their names begin, and what their makers are
// called in front of a slash.
type family struct {
	name            string
	models, vendors []string
}

var families = []family{
	{"ai21", []string{"jamba"}, []string{"ai21"}},
	{"amazon", []string{"nova", "titan"}, []string{"amazon"}},
	{"anthropic", []string{"claude"}, []string{"anthropic"}},
	{"cohere", []string{"command", "aya"}, []string{"cohere", "cohereforai"}},
	{"deepseek", []string{"deepseek"}, []string{"deepseek", "deepseek-ai"}},
	{"google", []string{"gemini", "gemma", "palm"}, []string{"google", "vertex"}},
	{"ibm", []string{"granite"}, []string{"ibm", "ibm-granite"}},
	{"meta", []string{"llama", "meta-llama", "codellama"}, []string{"meta", "meta-llama"}},
	{"microsoft", []string{"phi"}, []string{"microsoft"}},
	{"mistral", []string{"mistral", "mixtral", "ministral", "magistral", "codestral", "devstral", "pixtral"}, []string{"mistral", "mistralai"}},
	{"moonshot", []string{"kimi", "moonshot"}, []string{"moonshotai"}},
	{"nvidia", []string{"nemotron"}, []string{"nvidia"}},
	{"openai", []string{"gpt", "chatgpt", "codex", "o1", "o3", "o4"}, []string{"openai"}},
	{"qwen", []string{"qwen", "qwq"}, []string{"qwen", "alibaba"}},
	{"xai", []string{"grok"}, []string{"x-ai", "xai"}},
	{"zhipu", []string{"glm", "chatglm"}, []string{"z-ai", "zhipu", "thudm"}},
}

// Family names who made a model, from its name with or without a vendor, such as
// openai for gpt-5, azure/gpt-5 and openai/gpt-oss:free. The model's own name
// counts before the vendor's, which may only host it. A maker that is not known
// is its vendor; "" where there is neither.
//
// A model tends to prefer what its own family wrote, so a judge should be of
// another than the model that it judges.
func Family(model string) string {
	name, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(model)), ":")
	parts := strings.Split(name, "/")
	own, vendors := parts[len(parts)-1], parts[:len(parts)-1]
	for _, f := range families {
		if slices.ContainsFunc(f.models, func(start string) bool { return begins(own, start) }) {
			return f.name
		}
	}
	if len(vendors) == 0 {
		return ""
	}
	vendor := vendors[len(vendors)-1]
	if f := familyOfVendor(vendor); f != "" {
		return f
	}
	return vendor
}

// familyOfVendor is the family of a maker that is known, else "".
func familyOfVendor(vendor string) string {
	for _, f := range families {
		if slices.Contains(f.vendors, vendor) {
			return f.name
		}
	}
	return ""
}

// SameFamily reports whether a judge is of the family of what it judges: a model
// or, where that is "", its provider. It is false where either is not known.
func SameFamily(judge, model, provider string) bool {
	theirs := Family(model)
	if theirs == "" {
		theirs = familyOfVendor(strings.ToLower(strings.TrimSpace(provider)))
	}
	return theirs != "" && theirs == Family(judge)
}

// begins reports whether a name begins with a word: phi-4, phi4 and phi do with
// phi, philosopher does not.
func begins(name, word string) bool {
	rest, ok := strings.CutPrefix(name, word)
	if !ok || rest == "" {
		return ok
	}
	next := rune(rest[0])
	if last := rune(word[len(word)-1]); unicode.IsDigit(last) && unicode.IsDigit(next) {
		return false // o1 is not o10
	}
	return next < unicode.MaxASCII && !unicode.IsLetter(next)
}
