# OpenAI Responses and Chat Completions with annotations
# offsets: source codepoint exclusive; answer codepoint exclusive
#
# A url_citation is an interval of the text that carries it, usually the link that the text
# shows for it: the link proves what the offsets count. A file_citation has an index, behind
# what the file is cited for, or start and end as xAI has it. Of several choices the first is
# the answer. A stream repeats the whole response at its end, or is chunks of a completion.
# No column has: object created created_at completed_at status service_tier system_fingerprint
# provider background incomplete_details instructions max_output_tokens max_tool_calls metadata
# parallel_tool_calls previous_response_id reasoning store temperature text tool_choice tools
# top_logprobs top_p truncation user safety_identifier prompt_cache_key frequency_penalty
# presence_penalty moderation billing prompt_cache_retention.

def message: .choices | arrays | .[0] | objects | .message | objects;

def fits:
  .object == "response" or .type == "response.created"
  or (.object | starts("chat.completion"))
    and (any(message | .annotations | arrays; length > 0)
      or ((.citations // .search_results | type) != "array" and ([message | .content] | first | type) != "array"));

def begins: .type == "response.created";

# the texts that a search found in files
def found: [(.output // [])[] | objects | select(.type == "file_search_call") | .results | arrays | .[] | objects
  | {doc: (.filename // .file_id), text: .text, type: "file"}];

def where:
  if .start_index != null or .end_index != null then {start: need_int("start_index"), end: need_int("end_index"), role: "marker"}
  elif .index != null then {at: need_int("index")}
  else bad("no start_index and end_index, nor index") end;

# one annotation; chat completions have its members in an object of their own
def cite:
  need_str("type") as $kind
  | (obj($kind) // .) as $in
  | if $kind == "url_citation" then
      ($in | need_str("url")) as $url
      | {source: {doc: $url, title: ($in | str("title")), type: "web", text: ($in | str("content"))},
         in: ($in | if .start_index == null and .end_index == null and .index == null then false else where + {link: $url} end)}
    elif $kind == "file_citation" or $kind == "container_file_citation" then
      {source: {doc: ($in | if .filename != null then need_str("filename") else need_str("file_id") end), type: "file"}, in: ($in | where)}
    else bad("type"; "unknown kind of annotation \($kind | quoted)") end
  | . + {method: $kind, title: .source.title};

def cites: [each(list("annotations")[]? | select(.type != "file_path" and .type != "file"); cite)] | some;

# annotations all of which stand at 0-0 are a list of sources, which marks in the text count
def sources_only: type == "array" and length > 0
  and all(.[]; .type == "url_citation" and ((.url_citation // .) | .start_index == 0 and .end_index == 0));

def listed: [.[] | (.url_citation // .) | {doc: need_str("url"), title: str("title"), type: "web", cited: "url_citation"}];

def chat:
  (objects("choices")[0] // bad("choices"; "no choice")) | need_obj("message")
  | (.content | type) as $kind
  | if $kind == "array" then
      {parts: [objects("content")[] | select(.type == "text") | need_str("text")], cites: cites}
    elif $kind == "string" and (.annotations | sources_only) then {parts: [.content], numbered: (.annotations | listed)}
    elif $kind == "string" then {parts: [{text: .content, cites: cites}]}
    else {parts: [str("refusal") // empty], cites: cites} end;

def output:
  {parts: [objects("output")[] | select(need_str("type") == "message") | objects("content")[]
     | if need_str("type") == "output_text" then {text: need_str("text"), cites: cites}
       elif .type == "refusal" then need_str("refusal") else empty end],
   documents: found};

def row:
  no_error
  | if (.object | starts("chat.completion.chunk")) then bad("a chunk of a stream: save the whole response") else . end
  | account + {id: id("id"), model: str("model")}
  + if .output != null then output else need("choices") as $choices | chat end;

def fold:
  fails(.type == "error" or .type == "response.failed")
  | if any(.[]; .choices != null) then fold_chat else
      ends(.type == "response.completed" or .type == "response.incomplete"; "response.completed")
      | last(.[] | select(.type == "response.completed" or .type == "response.incomplete") | need_obj("response")) end;

def asked: asked_chat;
