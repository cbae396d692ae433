# what frameworks and evaluators save: Azure On Your Data, DeepEval, Haystack, Inspect, LangChain, Langfuse, LlamaIndex, OpenTelemetry, promptfoo, Vercel AI SDK
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
        | {doc, title, cited_text, answer_role: "segment", answer_start: ($at + (.from // 0)), answer_end: ($at + (.to // ($text | length)))}]
    | .answer += $text)
  | if .citations == [] then del(.citations) else .documents = (.citations | unique_by(.doc) | map({doc, title})) end;

# a message's content: a text, or blocks
def content(cites): if type == "array" then cited(cites) else {answer: .} end;

# an object as it is, or a text under a name
def named(name): if type == "object" then . else {(name): .} end;

def azure:
  .choices | arrays | .[0] | objects | .message | objects | .context | objects | .citations | arrays
  | {documents: [.[] | {doc: first_of(.url, .filepath, .title, .chunk_id), title, text: .content}]};

def deepeval:
  select((.actual_output // .actualOutput | type) == "string") | {id: .name} + del(.name);

def haystack:
  (if has("init_parameters") then .init_parameters else . end)
  | {query, answer: (.answer // .data),
     documents: [.documents[]? | (.init_parameters // .) | {doc: .id, text: .content}]};

def inspect($model):
  {id: (.id | tostring), query: query_of(.input; .content; "user"), model: (.output.model // $model), reference: .target}
  + (.output.choices[0].message.content | content(
      .citations[]? | {doc: first_of(.url, .title, .cited_text), title}
        + if (.cited_text | type) == "array" then {from: .cited_text[0], to: .cited_text[1]} else {cited_text} end));

def langchain:
  {id, model: first_of(.response_metadata | objects | .model_name, .model)}
  + (.content | content(
      .annotations[]? | select(.type == "citation")
      | {doc: first_of(.url, .title), title, cited_text: (.cited_text // .citedText),
         from: (.start_index // .startIndex), to: (.end_index // .endIndex)}));

def langfuse:
  {id, system: .name, answer_cost_usd: .totalCost, answer_latency_ms: (if .latency == null then null else .latency * 1000 end),
   documents: [.observations[]? | .output | (objects | .documents) // . | arrays | .[] | objects | select(has("page_content") or has("content") or has("text"))]}
  + (.input | named("query")) + (.output | named("answer"));

def llamaindex:
  del(.source_nodes) + {documents: [.source_nodes[] | (.node // .)
    | {doc: first_of(.id_, .node_id, .id), text: (.text // .text_resource.text)} | del(.doc | nulls)]};

# spans of a trace, each with its attributes as an object
def spans: .resourceSpans[] | .scopeSpans[]? | .spans[]? | {traceId, attributes: ([.attributes[]? | {key, value: (.value | objects | [.[]] | .[0])}] | from_entries)};
def retrieved:
  [.attributes | to_entries[] | select(.key | startswith("retrieval.documents.")) | (.key / ".") as $path
   | {n: ($path[2] | tonumber), key: ($path[4:] | join(".")), value}]
  | group_by(.n)[] | from_entries | {id: .id, text: .content};
def message(names; roles):
  first_of(.[].attributes | .[names] | strings | fromjson | map(select(.role as $r | any(roles; . == $r))) | last
    | .content // [.parts[]? | select(.type == "text") | .content] | message_text);
def opentelemetry:
  [spans] | group_by(.traceId)[]
  | {id: .[0].traceId, model: first_of(.[].attributes | .["gen_ai.request.model"], .["gen_ai.response.model"]),
     query: message("gen_ai.input.messages", "gen_ai.prompt"; "user"),
     answer: message("gen_ai.output.messages", "gen_ai.completion"; "assistant"),
     documents: [.[] | retrieved]};

def promptfoo:
  .results | (.results // .outputs)[]
  | (.vars // {})
  + {id: (.id // "\(.testIdx):\(.promptIdx)"), system: (.provider | if type == "object" then .label // .id else . end),
     answer: (.response.output | if . == null or type == "string" then . else tojson end),
     answer_latency_ms: .latencyMs, answer_cost_usd: .cost};

def vercel:
  {id, answer: (.text // ([.parts[] | select(.type == "text") | .text] | join(""))), model: first_of(.response | objects | .modelId),
   documents: [(.sources // .parts)[] | select(.type | startswith("source")) | {doc: first_of(.url, .filename, .title, .id, .sourceId), title}]};

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
  (.type | strings | select(endswith("GeneratedAnswer")) | "haystack"),
  (select(.eval | type == "object") | .samples | arrays | "inspect"),
  (select(.type == "ai" and .content != null) | "langchain"),
  (select(.type == "constructor") | .kwargs | objects | .content | select(. != null) | "langchainjs"),
  (select(.output != null) | .observations | arrays | "langfuse"),
  (.source_nodes | arrays | "llamaindex"),
  (.resourceSpans | arrays | "opentelemetry"),
  (.results | objects | .results, .outputs | arrays | "promptfoo"),
  (select(.finishReason != null and (.text | type) == "string") | .sources | arrays | "vercel"),
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
    elif $kind == "inspect" then .eval.model as $model | .samples[] | inspect($model)
    elif $kind == "langchain" then langchain
    elif $kind == "langchainjs" then .kwargs | langchain
    elif $kind == "langfuse" then langfuse
    elif $kind == "llamaindex" then llamaindex
    elif $kind == "opentelemetry" then opentelemetry
    elif $kind == "promptfoo" then promptfoo
    elif $kind == "vercel" or .role == "assistant" then vercel
    elif $kind == "deepresearch" then {id, query: .prompt, answer: .article}
    elif $kind == "rows" then .[] | arrays | select(.[0] | is_row) | .[]
    elif $kind == "rows by id" then entries[] | {id: .key} + .value
    elif $kind == "columns" then even | range(.[keys[0]] | length) as $i | map_values(.[$i])
    elif $kind == "series" then even | (entries[0].value | entries[].key) as $key | map_values(.[$key])
    else null end;
