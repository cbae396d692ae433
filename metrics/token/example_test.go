package token_test

import (
	"fmt"

	"ibid/metrics/token"
)

func ExampleSentences() {
	text := token.NewText("The bridge opened in 1909. It cost 2.5 million dollars.")
	for _, b := range token.Sentences(text.String(), nil) {
		fmt.Printf("[%d,%d) %s\n", b.Start, b.End, text.Slice(int(b.Start), int(b.End)))
	}
	// Output:
	// [0,26) The bridge opened in 1909.
	// [27,55) It cost 2.5 million dollars.
}

// An emoji is one code point, two UTF-16 units and four bytes.
func ExampleText() {
	text := token.NewText("🚲 lane")
	fmt.Println(text.Len(), text.Units(token.UTF16), text.Units(token.Byte))
	codePoint, _ := text.CodePoint(token.Byte, 5)
	fmt.Println(text.Slice(codePoint, text.Len()))
	// Output:
	// 6 7 9
	// lane
}
