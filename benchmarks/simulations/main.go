// Command simulations measures what statistics promise: how often intervals cover
// the truth, and how often alarms are false. It is seeded; the table goes to
// benchmarks/results.md.
//
//	go run ./benchmarks/simulations
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	runs := flag.Int("runs", 4000, "simulated data sets of each line")
	seed := flag.Uint64("seed", 2026, "of all of them")
	flag.Parse()
	fmt.Println("| what | promised | measured |\n|---|--:|--:|")
	for _, p := range append(promises, driftPromises()...) {
		if _, err := fmt.Printf("| %s | %s | %s |\n", p.what, p.promised, p.measure(*runs, *seed)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}
