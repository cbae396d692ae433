package configs

import (
	"net"
	"net/url"
	"slices"
	"strings"
)

// liveJudges are the kinds that ask a model over the network.
var liveJudges = []string{"openrouter", "openai"}

// autoModel is OpenRouter's choice of a model for each request.
const autoModel = "openrouter/auto"

// AsksModels reports whether the judge asks models over the network.
func (j *Judge) AsksModels() bool { return slices.Contains(liveJudges, j.Kind) }

// Models are the models that judge: those of the panel, else the one; nil if the
// judge asks none.
func (j *Judge) Models() []string {
	switch {
	case !j.AsksModels():
		return nil
	case len(j.Panel) > 0:
		return j.Panel
	case j.Model != "":
		return []string{j.Model}
	}
	return nil
}

// checkLive checks the settings of a judge that asks models against each other.
func (l *loader) checkLive(c *Config) {
	j := &c.Judge
	if !c.Enabled || !j.AsksModels() {
		return
	}
	refuse := func(key, msg, hint string) { l.report(c.values[byName[key]].at, key, msg, hint) }
	if len(j.Models()) == 0 {
		refuse("judge.kind", "judge "+j.Kind+" has no model", "name one: --model VENDOR/MODEL, or judge.model in the run file")
	}
	if j.Kind == "openai" && !c.IsSet("judge.base_url") {
		refuse("judge.kind", "judge openai has no endpoint", "set judge.base_url, such as http://localhost:8000/v1")
	}
	if j.Kind == "openrouter" {
		key := "judge.model"
		if len(j.Panel) > 0 {
			key = "judge.panel"
		}
		for _, m := range j.Models() {
			if !strings.Contains(m, "/") {
				refuse(key, flowString(m)+" has no vendor", "OpenRouter's models are called VENDOR/MODEL")
			}
		}
	}
	if j.Mode == "pairwise" && j.Necessity {
		refuse("judge.necessity", "pairwise mode cannot ask which citations are needed", "use judge.mode: matrix")
	}
	for _, pair := range [][2]string{
		{"judge.prices.prompt", "judge.prices.completion"}, {"judge.prices.completion", "judge.prices.prompt"},
	} {
		if c.IsSet(pair[0]) && !c.IsSet(pair[1]) {
			refuse(pair[0], "is given without "+pair[1], "give both")
		}
	}
}

// warnLive tells what is valid with a judge that asks models, but may not be what
// was meant.
func warnLive(c *Config) {
	j := &c.Judge
	if !j.AsksModels() {
		return
	}
	warn := func(key, msg string) { c.warn(c.values[byName[key]], msg) }
	if len(j.Panel) > 0 && c.IsSet("judge.model") {
		warn("judge.model", "has no effect with judge.panel")
	}
	if !j.CacheResults && c.IsSet("judge.cache") {
		warn("judge.cache", "has no effect without judge.cache_results")
	}
	if slices.Contains(j.Models(), autoModel) {
		warn("judge.model", autoModel+" may choose another model for every row, and another tomorrow; name one to compare runs")
	}
	if c.sendsKey() && !encrypted(j.BaseURL) {
		warn("judge.base_url", "the key goes over the network unencrypted")
	}
}

// sendsKey reports whether the judge shows a key to its endpoint. One of judge
// openai does so only where the user named the variable: the default one holds
// the key of another service.
func (c *Config) sendsKey() bool {
	return c.Judge.Kind == "openrouter" || c.Judge.Kind == "openai" && c.IsSet("judge.api_key_env")
}

// encrypted reports whether nobody else can read what goes to an endpoint.
func encrypted(base string) bool {
	u, err := url.Parse(base)
	if err != nil || u.Scheme == "https" {
		return err == nil
	}
	host := u.Hostname()
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// APIKey returns the key of a judge that asks models, from the environment; ""
// for judges that send none. That it is missing is an *[Error].
func (c *Config) APIKey(getenv func(string) string) (string, error) {
	if !c.sendsKey() {
		return "", nil
	}
	name := c.Judge.APIKeyEnv
	if key := strings.TrimSpace(getenv(name)); key != "" {
		return key, nil
	}
	return "", c.Refuse("judge.api_key_env", "environment variable "+name+" is not set",
		"export "+name+"=KEY, or name another variable as judge.api_key_env")
}
