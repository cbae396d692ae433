package configs

import (
	"maps"
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

// Models are the models that judge; nil if the judge asks none.
func (j *Judge) Models() []string {
	if !j.AsksModels() || len(j.Model) == 0 {
		return nil
	}
	return j.Model
}

// RequestMembers are the members of every request, without those that are left out.
func (j *Judge) RequestMembers() map[string]any {
	out := maps.Clone(j.Request)
	maps.DeleteFunc(out, func(_ string, v any) bool { return v == nil })
	return out
}

// checkLive checks the settings of a judge that asks models against each other.
func (l *loader) checkLive(c *Config) {
	j := &c.Judge
	l.refuse(c, refusal{
		c.Enabled && j.Batch && !j.AsksModels(), "judge.batch", "judge " + j.Kind + " asks no model",
		"leave it out, such as with --set judge.batch=false, or let a model judge",
	})
	if !c.Enabled || !j.AsksModels() {
		return
	}
	l.refuse(c,
		refusal{j.Batch && j.Request["service_tier"] != nil, "judge.request", "has a service_tier with judge.batch, whose tier is the batch", "leave one of them out"},
		refusal{len(j.Models()) == 0, "judge.kind", "judge " + j.Kind + " has no model", "name one: --model VENDOR/MODEL, or judge.model in the run file"},
		refusal{j.Kind == "openai" && !c.IsSet("judge.base_url"), "judge.kind", "judge openai has no endpoint", "set judge.base_url, such as http://localhost:8000/v1"},
	)
	for _, m := range j.Models() {
		l.refuse(c, refusal{j.Kind == "openrouter" && !strings.Contains(m, "/"), "judge.model", flowString(m) + " has no vendor", "OpenRouter's models are called VENDOR/MODEL"})
	}
	l.checkVerifier(c)
	l.refuse(c, refusal{j.Protocol == "score" && j.Necessity, "judge.necessity", "protocol score cannot ask which citations are needed", "use judge.protocol: verdicts"})
}

// SmallVerifier reports whether the judge is a model that is asked about one claim and
// one text, and says no more than how far the one supports the other.
func (j *Judge) SmallVerifier() bool {
	return j.AsksModels() && (j.Protocol == "yes-no" || j.Protocol == "classify")
}

// checkVerifier refuses what a small verifier cannot be asked.
func (l *loader) checkVerifier(c *Config) {
	j := &c.Judge
	if !j.SmallVerifier() {
		return
	}
	says := "protocol " + j.Protocol + " asks about one claim and one text"
	l.refuse(c,
		refusal{j.Batch, "judge.batch", says + ", and what it asks next depends on the answer", "leave judge.batch out, or use judge.protocol: verdicts"},
		refusal{len(j.Model) > 1, "judge.model", says + " of one model", "name one model, and run once for each"},
		refusal{j.Necessity, "judge.necessity", says + ", and never which citations are needed", "use judge.protocol: verdicts"},
		refusal{j.Votes > 1, "judge.votes", says + ", and gets the same answer again", "leave judge.votes out"},
		refusal{c.Claims == "model", "claims", says + " and makes no claims of sentences", "use claims: sentences, or judge.protocol: verdicts"},
		refusal{
			j.Protocol == "classify" && j.Kind == "openrouter", "judge.kind", "OpenRouter has no classifiers",
			"use judge.kind: openai with judge.base_url, such as http://localhost:8080",
		},
	)
}

// evenThreshold is from which support counts, unless the user says otherwise, of a judge
// whose support is a probability.
const evenThreshold = 0.5

func lowerThresholds(c *Config) {
	if !c.Judge.SmallVerifier() {
		return
	}
	for _, name := range []string{"thresholds.supported", "thresholds.consistent"} {
		if !c.IsSet(name) {
			a := c.values[byName[name]]
			a.value = evenThreshold
			c.assign(a)
		}
	}
}

// warnLive warns of settings that are valid where a model is asked but may not be what
// the user meant.
func warnLive(c *Config) {
	j := &c.Judge
	warn := func(key, msg string) { c.warn(c.values[byName[key]], msg) }
	if slices.Contains(j.Models(), autoModel) {
		warn("judge.model", autoModel+" may choose another model for every row, and another tomorrow; name one to compare runs")
	}
	if (c.sendsKey() || c.embedsWithKey()) && !encrypted(j.BaseURL) {
		warn("judge.base_url", "the key goes over the network unencrypted")
	}
}

// sendsKey reports whether the judge shows a key to its endpoint. One of judge
// openai does so only where the user named the variable: the default one holds
// the key of another service.
func (c *Config) sendsKey() bool {
	return c.Judge.Kind == "openrouter" || c.Judge.Kind == "openai" && c.IsSet("judge.api_key_env")
}

// Azure reports whether the endpoint takes keys and models as Azure does: its host is one of
// Azure, or its address has the version of Azure's API.
func (j *Judge) Azure() bool {
	u, err := url.Parse(j.BaseURL)
	return err == nil && (strings.HasSuffix(u.Hostname(), ".azure.com") || u.Query().Has("api-version"))
}

// fitEndpoint cuts off a path that requests add, and takes Azure's variable for its key unless
// another one is named.
func fitEndpoint(c *Config) {
	base, key := c.values[byName["judge.base_url"]], c.values[byName["judge.api_key_env"]]
	address, query, asked := strings.Cut(c.Judge.BaseURL, "?")
	if cut, ok := strings.CutSuffix(strings.TrimRight(address, "/"), "/chat/completions"); ok {
		if base.value = cut; asked {
			base.value = cut + "?" + query
		}
		c.assign(base)
		c.warn(base, "/chat/completions is cut off its end: requests add it")
	}
	if c.Judge.Azure() && !c.IsSet("judge.api_key_env") {
		key.value, key.at = "AZURE_OPENAI_API_KEY", base.at
		c.assign(key)
	}
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

// private reports whether an endpoint is on this machine or in its own network, as far
// as its name tells.
func private(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	host := u.Hostname()
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast()
	}
	return host != "" && !strings.Contains(host, ".") || strings.HasSuffix(host, ".local") || strings.HasSuffix(host, ".internal")
}

// APIKey returns the key of a judge that asks models, from the environment; ""
// for judges that send none. That it is missing is an *[Error].
func (c *Config) APIKey(getenv func(string) string) (string, error) {
	if !c.sendsKey() {
		return "", nil
	}
	return c.keyOf(getenv)
}

// keyOf is the key in the variable that judge.api_key_env names.
func (c *Config) keyOf(getenv func(string) string) (string, error) {
	name := c.Judge.APIKeyEnv
	return c.envValue(getenv, name, "judge.api_key_env", "export "+name+"=KEY, or name another variable as judge.api_key_env")
}

// envValue is the value of a variable that a setting names. That it is missing is
// an *[Error] with a hint.
func (c *Config) envValue(getenv func(string) string, name, key, hint string) (string, error) {
	if value := strings.TrimSpace(getenv(name)); value != "" {
		return value, nil
	}
	return "", c.Refuse(key, "environment variable "+name+" is not set", hint)
}

// KeyHint says what to do when the judge's endpoint refuses the key, or misses one.
func (c *Config) KeyHint() string {
	if c.sendsKey() {
		return "put a valid key into " + c.Judge.APIKeyEnv
	}
	return "no key is sent: name the environment variable that holds it as judge.api_key_env, or set judge.headers"
}

// RequestHeaders returns the headers of a judge that asks models, those of the
// environment filled in; nil if there are none. A variable that is not set is an
// *[Error].
func (c *Config) RequestHeaders(getenv func(string) string) (map[string]string, error) {
	if !c.Judge.AsksModels() || len(c.Judge.Headers) == 0 {
		return nil, nil
	}
	out := make(map[string]string, len(c.Judge.Headers))
	for _, name := range slices.Sorted(maps.Keys(c.Judge.Headers)) {
		value := c.Judge.Headers[name]
		if env, ok := strings.CutPrefix(value, fromEnvironment); ok {
			var err error
			if value, err = c.envValue(getenv, env, "judge.headers", "export "+env+"=VALUE, for the header "+name); err != nil {
				return nil, err
			}
		}
		out[name] = value
	}
	return out, nil
}

// EmbeddingKey returns the key of the endpoint of embeddings, from the environment;
// "" if none is sent. That it is missing is an *[Error].
func (c *Config) EmbeddingKey(getenv func(string) string) (string, error) {
	if !c.embedsWithKey() {
		return "", nil
	}
	return c.keyOf(getenv)
}

// embedsWithKey reports whether requests for embeddings carry a key. They do if the judge's
// requests do, if judge.api_key_env is set, or if the endpoint is the default one.
func (c *Config) embedsWithKey() bool {
	return c.Presence.Embeds() && (c.sendsKey() || c.IsSet("judge.api_key_env") || !c.IsSet("judge.base_url"))
}

// canMove reports whether a kind of judge can judge otherwise from one run to the next.
func canMove(kind string) bool { return kind != "none" && kind != "human" && kind != "recorded" }
