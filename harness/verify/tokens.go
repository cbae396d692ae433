package verify

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"

	"ibid"
)

// compareTokens leaves its metrics undefined where a text is not known.
func (w *rowWork) compareTokens(out *result, truth []span) {
	tt, known := w.tokensOf(truth)
	pt, also := w.tokensOf(w.pred.spans)
	if !known || !also {
		delete(out.counts, "pred_tokens")
		out.lack(ibid.NoDocuments, "token_precision", "token_recall", "token_f1", "token_jaccard")
		return
	}
	t, p, both := shared(tt, pt)
	out.overlap("token", "tokens", t, p, both)
	out.share("token_jaccard", float64(both), float64(t+p-both), ibid.NothingToCite)
}

// A token is one of a key.
type token struct {
	key key
	at  int
}

// tokensOf are the tokens that spans touch; unknown if some text is.
func (w *rowWork) tokensOf(spans []span) (map[token]bool, bool) {
	out := make(map[token]bool)
	if !w.in.given && !w.in.inline {
		return nil, false
	}
	for _, s := range spans {
		d := w.resolver.document(s.key.doc)
		text, known := d.key(s.key.page, w.in.base)
		if !known {
			return nil, false
		}
		all, ok := d.words[s.key.page]
		if !ok {
			all = tokens(text, w.s.Tokenizer)
			d.words[s.key.page] = all
		}
		for i, x := range all {
			if x.start < s.end && x.end > s.start {
				out[token{s.key, i}] = true
			}
		}
	}
	return out, true
}

// tokens are the words of a text that hold a letter or a number, or its runs of what is no
// white space.
func tokens(text []rune, how string) []stretch {
	var out []stretch
	at := int64(0)
	if how == "whitespace" {
		for i, r := range text {
			switch n := len(out); {
			case unicode.IsSpace(r):
			case n > 0 && out[n-1].end == int64(i):
				out[n-1].end++
			default:
				out = append(out, stretch{int64(i), int64(i + 1)})
			}
		}
		return out
	}
	segments := words.FromString(string(text))
	for segments.Next() {
		s := segments.Value()
		n := int64(utf8.RuneCountInString(s))
		if strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
			out = append(out, stretch{at, at + n})
		}
		at += n
	}
	return out
}
