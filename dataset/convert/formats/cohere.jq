# Cohere Chat with documents, versions 1 and 2, and streams
#
# A citation is an interval of the block that content_index names, else of the first text,
# and has sources, each of which is cited as a whole. A document is called by its id; its text
# is its member text, snippet or content, else all of it as JSON. Citations of thoughts and
# plans are not of the answer.
# No column has: finish_reason logprobs chat_history is_search_required search_queries tool_calls
# response_type.

def fits: (.message | type) == "object" and .finish_reason != null or .type == "message-start"
  or .event_type != null and .event_type != "" and (.event_type | starts("interaction.") | not)
  or (.generation_id // "") != "" and (.response_id // "") != "";

def begins: .type == "message-start" or .event_type == "stream-start";

def document: {title: str("title"), text: (first(.text, .snippet, .content | strings) // if . == {} then null else raw end)};

def source_of:
  {doc: id("id")} + ((obj("document") // obj("tool_output")) as $d | if $d == null then {} else ($d | document) + {type: str("type")} end);

def where: {start: need_int("start"), end: need_int("end"), text: str("text")};

def cite($parts):
  select(.type != "THINKING_CONTENT" and .type != "PLAN")
  | (if .content_index == null then first(range($parts | length) | select($parts[.].hidden | not)) // bad("a citation of an answer without a text")
     else need_int("content_index") as $n
       | if $n < 0 or $n >= ($parts | length) then bad("content_index"; "there are \($parts | length) blocks of content") else $n end end) as $part
  | select($parts[$part].hidden | not)
  | (where + {$part}) as $in
  | if (.sources // []) == [] then {source: null, $in}
    else objects("sources")[] | {source: source_of, method: str("type"), type: .type, $in} end;

def second:
  need_obj("message") as $m
  | ($m | [if (.content | type) == "string" then {text: .content, hidden: false} else objects("content")[]
      | if need_str("type") == "text" then {text: need_str("text"), hidden: false} else {text: "", hidden: true} end end]) as $parts
  | account + {id: id("id"), $parts, cites: ([each($m | list("citations")[]?; cite($parts))] | some)};

def first_version:
  account + {
    id: (id("response_id") // id("generation_id")), parts: [need_str("text")],
    documents: [objects("documents")[] | {doc: id("id")} + document],
    cites: ([each(list("citations")[]?; (where + {part: 0}) as $in
      | if (.document_ids // []) == [] then {source: null, $in}
        else list("document_ids")[] | {source: {doc: tostring}, method: "document", $in} end)] | some)};

def row: no_error | if obj("message") != null then second else first_version end;

def fold:
  if any(.[]; .event_type != null) then
    ends(.event_type == "stream-end"; "stream-end") | last(.[] | select(.event_type == "stream-end") | need_obj("response"))
  else
    ends(.type == "message-end"; "message-end")
    | if .[0].type != "message-start" then .[0] | bad("type"; "\(.type | quoted) before message-start") else . end
    | (map(select(.type == "content-delta")) | group_by(.index) | map({key: (.[0] | need_int("index") | tostring), value: .}) | from_entries) as $deltas
    | map(select(.type == "content-start")) as $starts
    | (first($starts | to_entries[] | select(.key != (.value | need_int("index")))) // null) as $odd
    | if $odd then $odd.value | bad("index"; "content block \(.index), and the next is \($odd.key)") else . end
    | if ($deltas | keys) - ($starts | map(.index | tostring)) != [] then $deltas | first(.[])[0] | bad("index"; "content block \(.index) has not begun") else . end
    | (last(.[] | select(.type == "message-end")) | obj("delta") // {}) as $end
    | {id: .[0].id, finish_reason: $end.finish_reason, usage: $end.usage, message: {
        content: [$starts[] | .index as $n | need_obj("delta") | .message.content | objects
          | . + {text: ([.text, .thinking, ($deltas["\($n)"][]? | .delta.message.content | .text, .thinking)] | map(strings) | add // "")}],
        citations: [.[] | select(.type == "citation-start") | .delta.message.citations | if type == "array" then .[] else objects end]}}
  end;

def asked:
  {model: str("model"), query: first_of(query_of(.messages; .content; "user"), str("message")),
   documents: [.documents | arrays | to_entries[] | "doc_\(.key)" as $id | .value
     | {type: "document"}
     + if type == "string" then {doc: $id, text: .}
       else {doc: (id("id") // $id)} + (if (.data | type) == "string" then {text: .data} else (.data // .) | document end) end]};
