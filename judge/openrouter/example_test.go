package openrouter_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"ibid"
	"ibid/judge"
	"ibid/judge/cache"
	"ibid/judge/judgetest"
	"ibid/judge/openrouter"
)

// A claim with two citations, judged by the fake service. Leave BaseURL out and
// give a key of your own to ask OpenRouter.
func Example() {
	server := judgetest.NewServer(judgetest.ServerConfig{})
	defer server.Close()
	dir, err := os.MkdirTemp("", "ibid")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store, err := cache.Open(filepath.Join(dir, "judge.sqlite"))
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	j, err := openrouter.New(openrouter.Config{
		BaseURL: server.URL(), Key: judgetest.DefaultKey, Models: []string{"fake/judge"}, Store: store,
	})
	if err != nil {
		log.Fatal(err)
	}
	defer j.Close()
	v, err := j.Judge(context.Background(), &judge.Request{
		Question: "When did the bridge open?",
		Claims:   []ibid.Claim{{Text: "The bridge opened in 1909.", Citations: []int32{0, 1}}},
		Evidence: []judge.Evidence{
			{Text: "The red bridge opened to cars in 1909.", Citation: 0},
			{Text: "Porto was dry.", Citation: 1},
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range v.Claims[0].Checks {
		fmt.Printf("citation %d: %s, %q\n", c.Citation, c.Support.Degree, c.Quote)
	}
	fmt.Println("together:", v.Claims[0].Joint.Degree)
	// Output:
	// citation 0: full, "The red bridge opened to cars in 1909."
	// citation 1: none, "Porto was dry."
	// together: full
}
