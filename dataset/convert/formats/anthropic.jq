# Anthropic Messages: responses and event streams with citations
# offsets: source codepoint exclusive; answer codepoint exclusive
#
# A citation stands on its text block. char_location counts characters of the source, the
# other kinds pages or blocks; web_search_result_location has a URL and a quote, no place.
# No column has: role stop_reason stop_sequence container.

# a response as documentation prints it may lack its type
def fits: (.content | type) == "array" and (.type == "message" or .type == null and any(.content[]; .type == "text" and (.citations | type) == "array"))
  or .type == "message_start";

def begins: .type == "message_start";

def place(unit; member): {unit: unit, start: need_int("start_" + member), end: need_int("end_" + member)};

def document: {document: need_int("document_index"), title: str("document_title")};

def cite:
  need_str("type") as $kind
  | {method: $kind, quote: str("cited_text"), title: (.document_title // .title)}
  + if $kind == "char_location" then document as $source | place(null; "char_index") + {$source}
    elif $kind == "page_location" then document as $source | place("page"; "page_number") + {$source}
    elif $kind == "content_block_location" then document as $source | place("block"; "block_index") + {$source}
    elif $kind == "search_result_location" then
      {source: {result: need_int("search_result_index"), title: str("title"), doc: str("source")}} + place("block"; "block_index")
    elif $kind == "web_search_result_location" then {source: {doc: need_str("url"), title: str("title"), type: "web"}}
    else bad("type"; "unknown kind of citation \($kind | quoted)") end;

# the pages that it fetched are documents, too
def fetched:
  .content | objects | select(.type == "web_fetch_result")
  | {doc: need_str("url"), title: (.content | objects | .title), type: "web"}
  + (.content | objects | .source | objects | if .type == "text" then {text: .data} else {} end);

def row:
  if .type == "error" then bad("the response is an error: \(.error | quoted)") else . end
  | need("content") as $content
  | account + {
      id: id("id"), model: str("model"),
      parts: [objects("content")[] | select(need_str("type") == "text")
        | {text: need_str("text"), cites: ([each(list("citations")[]?; cite)] | some)}],
      documents: [objects("content")[] | select(.type == "web_fetch_tool_result") | fetched]
    };

def block($deltas):
  need_obj("content_block")
  | if need_str("type") == "text" then
      . + {text: ([.text, ($deltas[]? | .delta.text)] | add // ""),
           citations: [.citations[]?, ($deltas[]? | .delta | select(.type == "citations_delta") | need_obj("citation"))]}
    else . end;

def fold:
  fails(.type == "error") | ends(.type == "message_stop"; "message_stop")
  | (map(select(.type == "content_block_delta")) | group_by(.index)
      | map({key: (.[0] | need_int("index") | tostring), value: .}) | from_entries) as $deltas
  | map(select(.type == "content_block_start")) as $starts
  | ($starts | map(need_int("index") | tostring)) as $open
  | if ($deltas | keys) - $open != [] then $deltas[(($deltas | keys) - $open)[0]][0] | bad("index"; "content block \(.index) is not open") else . end
  | map(select(.type == "message_delta")) as $last
  | first(.[] | select(.type == "message_start") | need_obj("message"))
  | . + {usage: ([.usage, $last[].usage | objects] | add), content: [$starts[] | block($deltas[.index | tostring])]};

def inner: objects | ., (select(.type == "tool_result") | .content | arrays | .[] | inner);

def asked_document:
  need_obj("source") as $from
  | {doc: str("title"), title: str("title"), metadata: (.context | strings | {context: .}) // null}
  + if $from.type == "text" then {text: ($from | str("data"))}
    elif $from.type == "content" then {blocks: ($from.content | blocks)}
    else (if .text or .pages then . else $from end | {text: str("text"), pages: list("pages")})
      + if $from.media_type == "application/pdf" then {pdf: ($from | str("data"))} else {} end
    end;

def asked:
  {model: str("model"), query: query_of(.messages; .content; "user"),
   documents: [objects("messages")[] | .content | arrays | .[] | inner | select(.type == "document") | asked_document],
   results: [objects("messages")[] | .content | arrays | .[] | inner | select(.type == "search_result")
     | {doc: str("source"), title: str("title"), type: "search_result", blocks: (.content | blocks)}]};
