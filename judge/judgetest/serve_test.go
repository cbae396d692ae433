package judgetest_test

import (
	"flag"
	"fmt"
	"io"
	"os"
	"testing"

	"ibid/judge/judgetest"
)

var serve = flag.Bool("serve", false, "TestServe serves until its standard input ends")

// TestServe lets programs outside this module ask the fake service: it prints base URL
// and API key in a line, and ends with its standard input. make frozen uses it.
func TestServe(t *testing.T) {
	if !*serve {
		t.Skip("only with -serve")
	}
	server := judgetest.NewServer(judgetest.ServerConfig{})
	defer server.Close()
	fmt.Println(server.URL(), judgetest.DefaultKey)
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		t.Error(err)
	}
}
