package convert

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestFrameworkVariants reads other shapes of what frameworks and providers save: the question,
// the answer, and what it cites.
func TestFrameworkVariants(t *testing.T) {
	for _, tt := range []struct{ name, file, query, answer, cites string }{
		{"LangChain: annotations of OpenAI in blocks", "lc-openai-anno.json", "", "It opened in 1931.", "https://ex.org/lind"},
		{"LangChain: citations of Anthropic in blocks", "lc-anthropic.json", "", "It opened in 1931.", "Lind"},
		{"LangGraph: a state of messages", "lc-graph-state.json", "When did the bridge open?", "It opened in 1931 [1].", "null"},
		{"LangChain: documents as dumps writes them", "lc-doc-ctor.json", "When did the bridge open?", "It opened in 1931 [1].", "lind.md"},
		{"LangSmith: a run", "langsmith-run.json", "When did the bridge open?", "It opened in 1931 [1].", "lind.md"},
		{"Haystack: replies of a generator and documents of a retriever", "hs-llm.json", "", "It opened in 1931 [1].", "k1"},
		{"Haystack 1", "hs1.json", "When did the bridge open?", "It opened in 1931 [1].", "k1"},
		{"Vercel AI SDK 4", "v4-message.json", "", "It opened in 1931 [1].", "https://ex.org/lind"},
		{"Vercel AI SDK: a chat", "v-ui-chat.json", "When did the bridge open?", "It opened in 1931 [1].", "lind.pdf"},
		{"Vercel AI SDK: a stream", "v-stream.sse", "", "It opened in 1931 [1].", "https://ex.org/lind"},
		{"Inspect: one sample", "inspect-one.json", "When did the bridge open?", "It opened in 1931 [1].", "null"},
		{"Azure On Your Data: a stream", "az-stream.sse", "", "It opened in 1931 [doc1].", "https://ex.org/lind"},
		{"Azure On Your Data of 2023", "az-old.json", "", "It opened in 1931 [doc1].", "https://ex.org/lind"},
		{"Langfuse: messages", "lf-messages.json", "When did the bridge open?", "It opened in 1931 [1].", "null"},
		{"Langfuse: a page of its API", "lf-list.json", "When did the bridge open?", "It opened in 1931 [1].", "k1"},
		{"OpenInference", "ot-openinference.json", "When did the bridge open?", "It opened in 1931 [1].", "lind"},
		{"OpenInference: a chain", "ot-chain.json", "When did the bridge open?", "It opened in 1931 [1].", "lind"},
		{"Traceloop", "ot-traceloop.json", "When did the bridge open?", "It opened in 1931 [1].", "null"},
		{"OpenAI: a refusal", "oa-refusal.json", "", "I'm sorry, I can't help with that.", ""},
		{"OpenAI: marks without annotations", "oa-batch.jsonl", "", "It opened in 1931 [1].", "null"},
		{"Anthropic: marks without citations", "an-plain.json", "", "It opened in 1931 [1].", "null"},
		{"Bedrock: marks without citations", "be-converse.json", "", "It opened in 1931 [1].", "null"},
		{"Gemini: a stream saved as a list", "ge-array.json", "", "It opened in 1931.", "gs://b/lind.pdf"},
		{"Perplexity: a stream", "px-stream.sse", "", "It opened in 1931 [1].", "https://ex.org/lind"},
		{"results that have texts", "tavily.json", "When did the bridge open?", "It opened in 1931 [1].", "https://ex.org/lind"},
		{"TruLens: tags that are a text", "trulens-new.jsonl", "When did the bridge open?", "It opened in 1931 [1].", "null"},
		{"Langfuse: a trace whose root observation has the answer", "lf-v4.json", "When did the bridge open?", "It opened in 1931 [1].", "lind.md"},
		{"chunks that are called by their ids", "chunks.jsonl", "When did the bridge open?", "It opened [c2].", "c2"},
		{"LangChain: sources of Perplexity", "lc-pplx.json", "", "It opened in 1931 [1].", "https://ex.org/lind"},
		{"LangSmith: an example", "langsmith-example.jsonl", "When did the bridge open?", "It opened in 1931 [1].", "lind.md"},
		{"MLflow: a request", "mlflow.jsonl", "When did the bridge open?", "It opened in 1931 [1].", "lind.md"},
		{"MLflow: inputs and outputs", "mlflow-eval.jsonl", "When did the bridge open?", "It opened in 1931 [1].", "lind.md"},
		{"Ragas: several turns", "ragas-turns.jsonl", "When did the bridge open?", "It opened in 1931 [1].", "1"},
		{"promptfoo: a line for each result", "promptfoo-result.jsonl", "When did the bridge open?", "It opened in 1931 [1].", "1"},
		{"OpenAI: a thread of an assistant", "assistants.json", "When did the bridge open?", "It opened in 1931【4:0†source】.", "file-lind"},
		{"titles with sentences, as in HotpotQA", "titled-sentences.jsonl", "When did the bridge open?", "It opened in 1931 [1].", "The Lind"},
		{"texts in a list of one", "list-in-list.jsonl", "When did the bridge open?", "It opened in 1931 [1].", "1"},
		{"texts in lists of one", "lists-of-one.jsonl", "When did the bridge open?", "It opened in 1931 [2].", "2"},
		{"columns with capitals and spaces", "capitals.csv", "When did the bridge open?", "It opened in 1931 [1].", "1"},
		{"messages with numbered sources", "chat-log.jsonl", "Sources:\n\n[1] The bridge over the Lind opened in 1931.\n[2] It is red.\n\nWhen did the bridge open?", "It opened in 1931 [1].", "1"},
		{"LangGraph: numbered sources of a tool", "lc-graph-tool.json", "When did it open?", "The bridge opened in 1931 [1].", "1"},
		{"messages with documents of a tool", "chat-tool.json", "When did it open?", "The bridge opened in 1931 [1].", "1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, report := importPath(t, "auto", filepath.Join("testdata", "frameworks", tt.file), Options{})
			if len(m.rows) != 1 || report.Failed > 0 {
				t.Fatalf("%d rows, errors %v", len(m.rows), report.Errors)
			}
			row := &m.rows[0]
			var cites []string
			for _, c := range row.Citations {
				if c.DocNull {
					c.Doc = "null"
				}
				cites = append(cites, c.Doc)
			}
			if got := strings.Join(cites, " "); row.Query != tt.query || row.Answer != tt.answer || got != tt.cites {
				t.Errorf("query %q, answer %q, citations of %q; want %+v", row.Query, row.Answer, got, tt)
			}
		})
	}
}
