package presence

import "regexp"

var mentionPattern = foldPattern([]string{"For More Information", "Further Reading", "For more details, see", "Resources", "References", "Sources"})

// mention returns text from where it first mentions its sources: at the first
// of phrases that it holds, in their order, else at the earliest of a few words
// such as References or Further Reading. It takes prose for a mention
// ("according to several sources, …") and does not know a bibliography by its
// name; what mode resource_section asks for is a section instead.
func mention(text string, phrases []string) (string, bool) {
	for _, p := range phrases {
		if at := foldPattern([]string{regexp.QuoteMeta(p)}).FindStringIndex(text); at != nil {
			return text[at[0]:], true
		}
	}
	for at := range words(mentionPattern, text) {
		return text[at[0]:], true
	}
	return "", false
}

var kindNames = [...]string{"url", "doi", "author_year", "place"}

func (k Kind) String() string { return kindNames[k] }
