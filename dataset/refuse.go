package dataset

import "unicode/utf8"

// A refusedValue is a value that the file holds and ibid cannot use. Its entry has
// become null.
type refusedValue struct {
	entry int32
	what  string
}

// refuse turns the values among the last n of dst that are bad into nulls.
// values is the index of the first of them, and so of its entry.
func (c *chunkReader) refuse(dst *leafData, values, n int, what string, bad func(i int) bool) {
	for i := values; i < values+n; i++ {
		if dst.code[i] == c.leaf.present && bad(i) {
			dst.bad = append(dst.bad, refusedValue{int32(i), what})
			c.setNull(dst, i)
		}
	}
}

// setNull makes a value null.
func (c *chunkReader) setNull(dst *leafData, entry int) {
	switch c.leaf.present {
	case codePlain:
		dst.code[entry] = codeNull
	case codeValue:
		dst.code[entry] = codeElement
	default:
		dst.code[entry] = codeInnerNothing
	}
}

func (c *chunkReader) refuseTexts(dst *leafData, old int) {
	c.refuse(dst, old, len(dst.text)-old, "text is not UTF-8", func(i int) bool {
		if utf8.ValidString(dst.text[i]) {
			return false
		}
		dst.text[i] = ""
		return true
	})
}
