package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"ibid/judge/openrouter"
)

const verifiersIntro = `A small verifier is a model that reads one text and one claim and gives the probability
that the text supports the claim. It runs on a machine of your own, without key or bill.
It is shown the title and the cited words of a citation, and of all citations of a claim
together. It gives no reason, no quote and no relevance: citation_relevance is undefined,
contradiction_rate too unless the model has a class of contradiction, and thresholds
(thresholds.supported, thresholds.consistent) are 0.5 unless given. It is not asked about
passages that a claim does not cite. Whether a model is any good on your data says ibid
calibrate.

Chat models that say yes or no (judge.protocol: yes-no), by the probabilities of tokens
where the server gives them (logprobs), else 0 or 1:

  vllm serve bespokelabs/Bespoke-MiniCheck-7B --trust-remote-code
  ibid run answers.parquet --judge openai --model bespokelabs/Bespoke-MiniCheck-7B \
    --set judge.base_url=http://localhost:8000/v1 --set judge.protocol=yes-no

  llama-server -m minicheck.gguf --port 8000       (any name as --model)
  ollama pull bespoke-minicheck                    (http://localhost:11434/v1, --model bespoke-minicheck)

Classifiers (judge.protocol: classify). base_url is the server; a /v1 at its end is left out:

  text-embeddings-router --model-id FacebookAI/roberta-large-mnli --port 8080
  ibid run answers.parquet --judge openai --model roberta-large-mnli \
    --set judge.base_url=http://localhost:8080 --set judge.protocol=classify

A server of text-embeddings-inference says what its labels are, how many inputs a call may
have and how long they may be. Labels such as LABEL_1 tell nothing: name the one that means
support, or the run stops before the first row (exit code 2). Texts that are too long for
the model are asked about in halves; the best counts.

judge.prompts names a YAML file that says how another model is asked. Members that it does
not have are those at the end; of yes-no it has to have message, and has no system unless given:

  positive     word of a reply, or label or number of a class, that means support
  inverted     true: that word or label means the opposite
  chunk_words  words of a text that are asked about at once, in whole sentences; the best
               counts; 0 = all

  of yes-no    system, message, role (user or assistant), body (further members of the
               request), negative (the other word), answer (first or last word), after
               (the text that stands before the answer), tokens (room for a reply)
  of classify  input (one text, or a pair), contradiction (label of that class)

{document}, {claim}, {question} and {answer} are filled in.
`

// verifiersTopic says how small verifiers are asked, and prints the templates that they have by default.
func verifiersTopic() string {
	var b strings.Builder
	b.WriteString(verifiersIntro)
	for _, protocol := range []string{openrouter.YesNo, openrouter.Classify} {
		var text strings.Builder
		e := json.NewEncoder(&text)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(openrouter.DefaultTemplate(protocol)); err != nil {
			panic(err) // texts and numbers
		}
		fmt.Fprintf(&b, "\n=== %s\n%s", protocol, text.String())
	}
	return b.String()
}
