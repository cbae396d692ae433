# what frameworks and evaluators save: Azure On Your Data, DeepEval, Haystack, Inspect, LangChain, Langfuse, LangSmith, LlamaIndex, MLflow, OpenTelemetry, promptfoo, Ragas, Vercel AI SDK
# flat
# last
#
# Each function takes its own files only, and hands on flat rows. These may have the names that
# members of flat rows have anywhere.

# the texts of blocks as an answer, with what they cite
def cited(cites):
  reduce .[] as $block ({answer: "", citations: []};
    (.answer | length) as $at
    | ($block | if type == "object" then .text // "" else . end | tostring) as $text
    | .citations += [$block | objects | cites
        | {doc, title, cited_text, answer_role: (.role // "segment"), answer_start: ($at + (.from // 0)), answer_end: ($at + (.to // ($text | length)))}]
    | .answer += $text)
  | if .citations == [] then del(.citations) else .documents = (.citations | unique_by(.doc) | map({doc, title})) end;

# a message's content: a text, or blocks
def content(cites): if type == "array" then cited(cites) else {answer: .} end;

# an object as it is, or a text under a name
def named(name): if type == "object" then . else {(name): .} end;

# the sources of an answer of Azure, in its message or, in 2023, in that of a tool as JSON
def azure:
  .choices | arrays | .[0] | objects | .message // .delta | objects | .context | objects
  | .citations // (.messages | arrays | .[] | select(.role == "tool") | .content | fromjson | .citations) | arrays
  | {documents: [.[] | {doc: first_of(.url, .filepath, .title, .chunk_id), title, text: .content}]};

def deepeval:
  select((.actual_output // .actualOutput | type) == "string") | {id: .name} + del(.name);

def haystack:
  (if has("init_parameters") then .init_parameters else . end)
  | {query, answer: (.answer // .data),
     documents: [.documents[]? | (.init_parameters // .) | {doc: .id, text: .content}]};

def replies:
  {answer: first(.[] | objects | .replies | arrays | .[0] | if type == "object" then (.content // ._content) | message_text else . end),
   documents: [first(.[] | objects | .documents | arrays) | .[] | {doc: .id, text: .content}]};

def inspect($model):
  {id: (.id | tostring), query: query_of(.input; .content; "user"), model: (.output.model // $model), reference: .target}
  + (.output.choices[0].message.content | content(
      .citations[]? | {doc: first_of(.url, .title, .cited_text), title}
        + if (.cited_text | type) == "array" then {from: .cited_text[0], to: .cited_text[1]} else {cited_text} end));

# what a block of a message cites: in LangChain's words, in OpenAI's or in Anthropic's
def langchain_cites:
  (.annotations[]? | objects
    | if .type == "citation" then {doc: first_of(.url, .title), from: (.start_index // .startIndex), to: (.end_index // .endIndex)}
      elif .type == "url_citation" then {doc: .url, from: .start_index, to: .end_index, role: "marker"}
      elif .type == "file_citation" then {doc: first_of(.filename, .file_id), from: .index, to: .index, role: "marker"}
      else empty end
    + {title, cited_text: (.cited_text // .citedText)}),
  (.citations[]? | objects
    | {doc: first_of(.url, (.source | strings), .document_title, "document \(.document_index)"), title: first_of(.title, .document_title), cited_text});

def langchain:
  {id, model: first_of(.response_metadata | objects | .model_name, .model)}
  + (.content | content(langchain_cites))
  + ([.additional_kwargs | objects | .citations | arrays | .[] | strings | {doc: .}] | if . == [] then {} else {documents: .} end); # Perplexity's

# the documents in the text of a message: a list in JSON, or numbered paragraphs
def message_documents:
  (try fromjson catch null) as $json
  | ($json | arrays // (objects | first(.documents, .results, .sources, .context, .chunks | arrays)) // [] | map(objects)) as $documents
  | if $documents != [] then {documents: $documents}
    else
      [splits("\n[ \t]*\n")]
      | [to_entries[] | select(.value | test("(?i)^\\s*(\\[\\d+\\]|(source|document|passage|context) ?\\[?\\d+)")) | .key] as $at
      | select($at != []) | {context: (.[$at[0]:$at[-1] + 1] | join("\n\n"))}
    end;

# messages of LangChain, each perhaps in an object of its own, and what tools and a retriever found
def langgraph:
  [.messages[] | (.data | objects) // .] as $messages
  | {query: last_of($messages[] | select(.type == "human") | .content | message_text)}
  + (last($messages[] | select(.type == "ai" and (.content | length) > 0)) | langchain)
  + ([$messages[] | .artifact | arrays | .[], (first(.context, .documents, .docs | arrays) | .[])]
      | if . == [] then last_of($messages[] | select(.type == "tool") | .content | message_text | strings | message_documents) // {} else {documents: .} end);

# a list of documents as LangChain's dumps writes them
def dumped: type == "array" and length > 0 and all(.[]; type == "object" and (.kwargs | type == "object" and .page_content != null));

# what Langfuse keeps as input: a question, messages, or an object that is handed on
def questioned: ((objects | .messages) // .)
  | if type == "array" then {query: query_of(.; .content; "user", "human")} else named("query") end;
def answered:
  if type == "object" and (.content | type == "string" or type == "array") then {answer: (.content | message_text)} else named("answer") end;

# a trace or an example: its inputs, its outputs, and perhaps what was retrieved
def traced:
  {id: first_of(.id, .trace_id, .request_id), system: .name}
  + ((.inputs // .request) | questioned) + ((.outputs // .response) | answered)
  + if .retrieved_context == null then {} else
      {documents: [.retrieved_context[] | {doc: first_of(.doc_uri, .doc, .id), text: first_of(.content, .text)} | del(.doc | nulls)]} end;

# messages of a chat whose last is the answer, with the numbered sources that the text of another has
def chat_log:
  {id, query: query_of(.messages; .content; "user"), answer: .messages[-1].content}
  + (last_of(.messages[:-1][] | .content | message_text | strings | message_documents) // {});

# turns of Ragas, the last of which is the answer
def turns:
  {query: last_of(.user_input[] | select(.type == "human") | .content | message_text), answer: last_of(.user_input[] | select(.type == "ai") | .content | message_text)}
  + del(.user_input, .response);

# a thread of OpenAI's Assistants, a page of its messages
def assistant_cites:
  .annotations[]? | objects | select(.file_citation | type == "object")
  | {doc: first_of(.file_citation.filename, .file_citation.file_id), from: .start_index, to: .end_index, role: "marker", cited_text: .file_citation.quote};
def thread:
  def said: [.content[]? | select(.type == "text") | .text | {text: .value, annotations}];
  [.data[] | objects] | sort_by(.created_at) as $messages
  | {query: last_of($messages[] | select(.role == "user") | said | message_text)}
  + (last($messages[] | select(.role == "assistant")) | {id, model: .assistant_id} + (said | if . == [] then {} else cited(assistant_cites) end));

# The first observation without a parent says what a trace of later versions does not.
def langfuse:
  (if .output == null then first(.observations[] | select(.parentObservationId == null and .output != null)) else . end) as $root
  | {id, system: .name, answer_cost_usd: .totalCost, answer_latency_ms: (if .latency == null then null else .latency * 1000 end),
   documents: [.observations[]? | .output | (objects | .documents) // . | arrays | .[] | objects | select(has("page_content") or has("content") or has("text"))]}
  + ($root | (.input | questioned) + (.output | answered));

def llamaindex:
  del(.source_nodes) + {documents: [.source_nodes[] | (.node // .)
    | {doc: first_of(.id_, .node_id, .id), text: (.text // .text_resource.text)} | del(.doc | nulls)]};

# spans of a trace, each with its attributes as an object
def spans: .resourceSpans[] | .scopeSpans[]? | .spans[]? | {traceId, attributes: ([.attributes[]? | {key, value: (.value | objects | [.[]] | .[0])}] | from_entries)};
# the objects that attributes such as PREFIX.0.NAME spell out
def spelt(prefixes): prefixes as $prefix
  | [.attributes | to_entries[] | select(.key | startswith($prefix + ".")) | (.key[($prefix | length) + 1:] / ".") as $path
   | {n: ($path[0] | tonumber), key: $path[-1], value}]
  | group_by(.n)[] | from_entries;
def message(names; spelt_names; value; roles):
  first_of(
    (.[].attributes | .[names] | strings | fromjson | map(select(.role as $r | any(roles; . == $r))) | last
      | .content // [.parts[]? | select(.type == "text") | .content] | message_text),
    ([.[] | spelt(spelt_names) | select(.role as $r | any(roles; . == $r)) | .content] | last),
    (.[].attributes | .[value] | strings));
def opentelemetry:
  [spans] | group_by(.traceId)[]
  | {id: .[0].traceId, model: first_of(.[].attributes | .["gen_ai.request.model"], .["gen_ai.response.model"], .["llm.model_name"]),
     query: message("gen_ai.input.messages", "gen_ai.prompt"; "gen_ai.prompt", "llm.input_messages"; "input.value"; "user"),
     answer: message("gen_ai.output.messages", "gen_ai.completion"; "gen_ai.completion", "llm.output_messages"; "output.value"; "assistant"),
     documents: [.[] | spelt("retrieval.documents") | {id, text: .content}]};

def promptfoo_result:
  (.vars // {})
  + {id: (.id // "\(.testIdx):\(.promptIdx)"), system: (.provider | if type == "object" then .label // .id else . end),
     answer: (.response.output | if . == null or type == "string" then . else tojson end),
     answer_latency_ms: .latencyMs, answer_cost_usd: .cost};
def promptfoo: .results | (.results // .outputs)[] | promptfoo_result;

def vercel:
  {id, answer: (.text // ([.parts[] | select(.type == "text") | .text] | join(""))), model: first_of(.response | objects | .modelId),
   documents: [(.sources // .parts)[] | select(.type | startswith("source")) | (.source | objects) // . | {doc: first_of(.url, .filename, .title, .id, .sourceId), title}]};

# messages of a chat, the last of which is the answer
def chat:
  {query: last_of(.messages[] | select(.role == "user") | .parts | arrays | map(select(.type == "text")) | message_text)}
  + (last(.messages[] | select(.role == "assistant")) | vercel);

# how a record that is no row holds rows: in lists under names, by their ids, as columns that are
# lists, or as pandas has them, {"question": {"0": …}}
def wrapping: objects | select(. != {} and (is_row | not))
  | if any(.[]; type == "array" and (.[0] | is_row)) then "rows"
    elif all(.[]; type == "object") then
      if first(.[]) | is_row then "rows by id" elif map_values(first(.[])) | is_row then "series" else empty end
    elif all(.[]; type == "array") and (map_values(.[0]) | is_row) then "columns"
    else empty end;
def even: if ([.[] | length] | unique | length) == 1 then .
  else bad("uneven columns: " + (map_values(length) | [to_entries[] | "\(.key) \(.value)"] | join(", "))) end;

# the name of what a record is
def kind: first(
  (azure | "azure"),
  (.testCases, .test_cases | arrays | "deepeval tests"),
  (.actual_output, .actualOutput | strings | "deepeval"),
  (.answer_builder | objects | .answers | arrays | "haystack pipeline"),
  (objects | .[] | objects | .replies | arrays | "haystack replies"),
  (select(.query | type == "string") | .answers | arrays | .[0] | objects | .answer | strings | "haystack 1"),
  (.type | strings | select(endswith("GeneratedAnswer")) | "haystack"),
  (select(.eval | type == "object") | .samples | arrays | "inspect"),
  (select(has("epoch") and has("target")) | .output | objects | .choices | arrays | "inspect sample"),
  (select(.type == "ai" and .content != null) | "langchain"),
  (select(.type == "constructor") | .kwargs | objects | .content | select(. != null) | "langchainjs"),
  (.messages | arrays | select(any(.[]; .type == "ai")) | "langgraph"),
  (objects | select(any(.[]; dumped)) | "dumped"),
  (select(.inputs | type == "object" or type == "string") | .outputs | select(type == "object" or type == "string") | "traced"),
  (select(.request != null and .response != null) | .retrieved_context | arrays | "traced"),
  (select(.output != null or any(.observations[]?; .output != null)) | .observations | arrays | "langfuse"),
  (.data | arrays | select(.[0] | objects | .observations | type == "array") | "langfuse list"),
  (.source_nodes | arrays | "llamaindex"),
  (.messages | arrays | select(length > 1) | .[-1] | objects | select(.role == "assistant") | .content | strings | "chat log"),
  (.resourceSpans | arrays | "opentelemetry"),
  (.results | objects | .results, .outputs | arrays | "promptfoo"),
  (select(.vars | type == "object") | .response | objects | select(has("output")) | "promptfoo result"),
  (.user_input | arrays | select(any(.[]; .type == "ai")) | "turns"),
  (.data | arrays | .[0] | objects | select(.object == "thread.message") | "thread"),
  (select(.finishReason != null and (.text | type) == "string") | .sources | arrays | "vercel"),
  (.messages | arrays | select(any(.[]; .role == "assistant" and (.parts | type) == "array")) | "vercel chat"),
  (select(.type == "start" and (.messageId | type) == "string") | "vercel stream"),
  (select(.role | type == "string") | .parts | arrays | select(any(.[]; .type | type == "string")) | "vercel message"),
  (select(.prompt | type == "string") | .article | strings | "deepresearch"),
  wrapping) // null;

def fits: kind != null;

def row:
  kind as $kind
  | if $kind == "azure" then {id, model, answer: .choices[0].message.content} + azure
    elif $kind == "deepeval tests" then (.testCases // .test_cases)[] | deepeval
    elif $kind == "deepeval" then deepeval
    elif $kind == "haystack pipeline" then .answer_builder.answers[] | haystack
    elif $kind == "haystack" then haystack
    elif $kind == "haystack replies" then replies
    elif $kind == "haystack 1" then {id, query, documents, answer: .answers[0].answer}
    elif $kind == "inspect" then .eval.model as $model | .samples[] | inspect($model)
    elif $kind == "inspect sample" then inspect(null)
    elif $kind == "langchain" then langchain
    elif $kind == "langchainjs" then .kwargs | langchain
    elif $kind == "langgraph" then langgraph
    elif $kind == "dumped" then map_values(if dumped then map(.kwargs) else . end)
    elif $kind == "traced" then traced
    elif $kind == "chat log" then chat_log
    elif $kind == "langfuse" then langfuse
    elif $kind == "langfuse list" then .data[] | langfuse
    elif $kind == "llamaindex" then llamaindex
    elif $kind == "opentelemetry" then opentelemetry
    elif $kind == "promptfoo" then promptfoo
    elif $kind == "promptfoo result" then promptfoo_result
    elif $kind == "turns" then turns
    elif $kind == "thread" then thread
    elif $kind == "vercel chat" then chat
    elif $kind == "vercel" or .role == "assistant" then vercel
    elif $kind == "deepresearch" then {id, query: .prompt, answer: .article}
    elif $kind == "rows" then .[] | arrays | select(.[0] | is_row) | .[]
    elif $kind == "rows by id" then entries[] | {id: .key} + .value
    elif $kind == "columns" then even | range(.[keys[0]] | length) as $i | map_values(.[$i])
    elif $kind == "series" then even | (entries[0].value | entries[].key) as $key | map_values(.[$key])
    else null end;

# a stream of Azure On Your Data, or of messages of the Vercel AI SDK
def fold:
  if any(.[]; .choices != null) then
    ([.[].choices[]? | .delta | objects | .context | objects] | add) as $context | fold_chat | .choices[0].message.context = $context
  else
    fails(.type == "error") | ends(.type == "finish"; "finish")
    | {id: .[0].messageId, role: "assistant",
       parts: ([.[] | select(.type | startswith("source"))] + [{type: "text", text: ([.[] | select(.type == "text-delta") | .delta] | add // "")}])}
  end;
