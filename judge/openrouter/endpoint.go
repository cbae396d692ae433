package openrouter

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"

	openai "github.com/sashabaranov/go-openai"
)

// An endpoint is where requests go: what judge.base_url says, taken apart.
type endpoint struct {
	base    string // without the query
	query   string // of every request
	azure   bool   // the key goes into the header api-key
	version string // of the API of Azure that names models in paths, as deployments; "" of all others
}

// newEndpoint takes an address apart. One of Azure without a path is that of its API.
func newEndpoint(base string, azure bool) endpoint {
	address, query, _ := strings.Cut(base, "?")
	e := endpoint{base: strings.TrimRight(address, "/"), query: query, azure: azure}
	if values, err := url.ParseQuery(query); err == nil && azure {
		e.version = values.Get("api-version")
	}
	if u, err := url.Parse(e.base); err == nil && e.azure && e.version == "" && u.Path == "" {
		e.base += "/openai/v1"
	}
	return e
}

// client is the configuration of the library.
func (e *endpoint) client(key string) openai.ClientConfig {
	if e.version == "" {
		c := openai.DefaultConfig(key)
		c.BaseURL = e.base
		return c
	}
	c := openai.DefaultAzureConfig(key, e.base)
	c.APIVersion, c.AzureModelMapperFunc = e.version, func(model string) string { return model }
	return c
}

// url is the address of a path of the API. A model is one that Azure names in it; "" is none.
func (e *endpoint) url(path, model string) string {
	address := e.base
	if e.version != "" {
		address += "/openai"
		if model != "" {
			address += "/deployments/" + url.PathEscape(model)
		}
	}
	if address += path; e.query != "" {
		address += "?" + e.query
	}
	return address
}

// sign puts a key into a request.
func (e *endpoint) sign(header http.Header, key string) {
	switch {
	case key == "":
	case e.azure:
		header.Set("api-key", key)
	default:
		header.Set("Authorization", "Bearer "+key)
	}
}

// versioned matches a path with a version.
var versioned = regexp.MustCompile(`/v\d`)

// hint says what the address may lack where there is nothing; "" if it lacks nothing.
func (e *endpoint) hint() string {
	if e.azure || versioned.MatchString(e.base) {
		return ""
	}
	return "judge.base_url has no version: is it " + e.base + "/v1?"
}
