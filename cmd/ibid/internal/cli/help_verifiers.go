package cli

const verifiersTopic = `A small verifier is a model that reads one text and one claim and gives the probability
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

A server of text-embeddings-inference says what its labels are and how long inputs may be;
a call has one pair, and the server puts calls together. Labels such as LABEL_1 tell nothing: name the one that means
support, or the run stops before the first row (exit code 2). Texts that are too long for
the model are asked about in halves; the best counts.

judge.prompts names a YAML file that says how another model is asked:

  of yes-no    message (a text with {document} and {claim}), system (a text before it),
               yes and no (words with which a reply begins; yes: [yes], no: [no] unless given)
  of classify  positive (label or number of the class that means support)
  of both      inverted (true: those words, or that class, speak against support)

Without it yes-no sends what the card of Bespoke-MiniCheck-7B says, and classify a pair of
text and claim. The labels of NLI models are known; of three classes that of contradiction
is read, too.
`
