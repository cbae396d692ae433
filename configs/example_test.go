package configs_test

import (
	"fmt"

	"ibid/configs"
)

func ExampleParseGate() {
	g, err := configs.ParseGate("lo(micro(char_f1))[lang=de] >= 0.6")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(g.Func, g.Micro, g.Metric, g.Slices[0].Key, g.Slices[0].Value, g.Met(0.61))
	// Output: lo true char_f1 lang de true
}

// A misspelt setting is refused, with the name that was meant.
func ExampleLoad() {
	c, err := configs.Load(configs.Options{Set: []string{"thresholds.supported=0.5"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Thresholds.Supported, c.Thresholds.Consistent)
	_, err = configs.Load(configs.Options{Set: []string{"threshold.supported=0.5"}})
	fmt.Println(err)
	// Output:
	// 0.5 0.8
	// --set threshold.supported: unknown key
}
