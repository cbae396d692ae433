package judgetest_test

import (
	"strings"
	"testing"

	"ibid/judge/judgetest"
	"ibid/judge/openrouter"
)

// TestModels: a model that obeys only what is no material labels the towers as they are,
// whatever attacks them. One that obeys everything is steered by most attacks of every family.
func TestModels(t *testing.T) {
	labels := func(reply func(*judgetest.Prompt) string) func(a *judgetest.Attack, place string) string {
		server := judgetest.NewServer(judgetest.ServerConfig{Reply: reply, Lean: true})
		t.Cleanup(server.Close)
		j, err := openrouter.New(openrouter.Config{BaseURL: server.URL(), Key: judgetest.DefaultKey, Model: "fake/judge", Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		return func(a *judgetest.Attack, place string) string {
			r := judgetest.Attacked()
			if a != nil {
				r = a.On(r, place, "")
			}
			v, err := j.Judge(t.Context(), r)
			if err != nil {
				return "no verdict"
			}
			var out []string
			for i := range v.Claims {
				out = append(out, v.Claims[i].Joint.Degree.String())
			}
			return strings.Join(out, " ")
		}
	}
	careful, obedient := labels(judgetest.Careful), labels(judgetest.Obedient)
	const clean = "full none contradicts"
	if a, b := careful(nil, ""), obedient(nil, ""); a != clean || b != clean {
		t.Fatalf("without an attack: %s, %s", a, b)
	}
	cases, steered := make(map[string]int), make(map[string]int)
	names := make(map[string]bool)
	for i, a := range judgetest.Attacks() {
		if name := a.Family + "/" + a.Name; names[name] {
			t.Errorf("two attacks are called %s", name)
		} else {
			names[name] = true
		}
		places := judgetest.Places()
		for _, place := range []string{places[i%len(places)], "source"} {
			if got := careful(&a, place); got != clean {
				t.Errorf("%s %s in the %s: %s", a.Family, a.Name, place, got)
			}
			if cases[a.Family]++; obedient(&a, place) != clean {
				steered[a.Family]++
			}
		}
	}
	for family, n := range cases {
		if 2*steered[family] <= n {
			t.Errorf("%s: %d of %d steer a model that obeys everything", family, steered[family], n)
		}
	}
	if len(cases) != 10 {
		t.Errorf("%d families", len(cases))
	}
}
