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
(thresholds.supported, thresholds.consistent) are 0.5 unless given. Where the citations of
a claim do not support it, it is asked about three passages that the claim does not cite:
those with most of its words. Whether a model is any good on your data says ibid calibrate.

Chat models that say yes or no (judge.protocol: yes-no), by the probabilities of tokens
where the server gives them (logprobs), else 0 or 1:

  vllm serve bespokelabs/Bespoke-MiniCheck-7B --trust-remote-code
  ibid run answers.parquet --judge openai --model bespokelabs/Bespoke-MiniCheck-7B \
    --set judge.base_url=http://localhost:8000/v1 --set judge.protocol=yes-no

  llama-server -m minicheck.gguf --port 8000       (any name as --model)
  ollama pull bespoke-minicheck                    (http://localhost:11434/v1, --model bespoke-minicheck)
  vllm serve ibm-granite/granite-guardian-3.3-8b   (--set judge.template=granite-guardian)
  vllm serve PatronusAI/Llama-3-Patronus-Lynx-8B-Instruct   (--set judge.template=lynx)

Classifiers (judge.protocol: classify). base_url is the server; a /v1 at its end is left out:

  text-embeddings-router --model-id FacebookAI/roberta-large-mnli --port 8080
  ibid run answers.parquet --judge openai --model roberta-large-mnli \
    --set judge.base_url=http://localhost:8080 --set judge.protocol=classify

  yaxili96/FactCG-DeBERTa-v3-Large    (--set judge.template=factcg; the server has to know DeBERTa)
  vllm serve MODEL --runner pooling   (judge.template: {like: factcg, api: classify}, or score)

A server of text-embeddings-inference says what its labels are, how many inputs a call may
have and how long they may be. Labels such as LABEL_1 tell nothing: name the one that means
support, or the run stops before the first row (exit code 2). Texts that are too long for
the model are asked about in halves; the best counts.

judge.template is the name of a built-in template, or a mapping of what differs from one:

  like         the built-in template that it starts from
  positive     word of a reply, or label or number of a class, that means support
  inverted     true: that word or label means the opposite, as in granite-guardian
  chunk_words  words of a text that are asked about at once, in whole sentences; the best
               counts; 0 = all

  of yes-no    system, message, role (user or assistant), body (further members of the
               request), negative (the other word), answer (first or last word), after
               (the text that stands before the answer), tokens (room for a reply)
  of classify  api (predict: text-embeddings-inference; classify, score: vLLM), input (one
               text, or a pair), contradiction (label of that class), logits (true: softmax
               is still to be taken)

{document}, {claim}, {question} and {answer} are filled in.
`

// verifiersTopic says how small verifiers are asked, and prints the built-in templates.
func verifiersTopic() string {
	var b strings.Builder
	b.WriteString(verifiersIntro)
	for _, protocol := range []string{openrouter.YesNo, openrouter.Classify} {
		for _, name := range openrouter.Templates(protocol) {
			t, err := openrouter.ParseTemplate(protocol, map[string]any{"like": name})
			if err != nil {
				panic(err) // a test reads all of them
			}
			var text strings.Builder
			e := json.NewEncoder(&text)
			e.SetEscapeHTML(false)
			e.SetIndent("", "  ")
			if err := e.Encode(t); err != nil {
				panic(err)
			}
			fmt.Fprintf(&b, "\n=== %s (%s)\n%s", name, protocol, text.String())
		}
	}
	return b.String()
}
