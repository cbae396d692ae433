# Amazon Bedrock Converse and RetrieveAndGenerate with citations
# offsets: source codepoint exclusive; answer codepoint exclusive
#
# A block citationsContent is a part of the answer and has citations, which stand on it, or on
# the part before if it says nothing. documentChar counts characters, documentPage pages from
# 1, documentChunk and searchResultLocation blocks from 0. Of RetrieveAndGenerate, a span of
# the answer has retrieved references, which are cited as wholes: called by where they come from.
# No column has: stopReason additionalModelResponseFields trace performanceConfig guardrailAction.

def fits: (.output | type) == "object" and (.output | has("message") or has("text")) and .object == null
  or (.messageStart | type) == "object";

def begins: .messageStart != null;

def place($unit): {unit: $unit, start: need_int("start"), end: need_int("end")};

def cite:
  need_obj("location") as $location
  | {title: str("title"), quote: ([.sourceContent // [] | blocks[]] | join("") | select(. != "")) // null}
  + if $location.web != null then
      {method: "web", source: {doc: ($location | need_obj("web") | need_str("url")), title: str("title"), type: "web"}}
    elif $location.documentChar != null then
      {method: "documentChar"} + (str("title") as $title | $location | need_obj("documentChar") | {source: {document: need_int("documentIndex"), $title}} as $s | place(null) + $s)
    elif $location.documentPage != null then
      {method: "documentPage"} + (str("title") as $title | $location | need_obj("documentPage") | {source: {document: need_int("documentIndex"), $title}} as $s | place("page") + $s)
    elif $location.documentChunk != null then
      {method: "documentChunk"} + (str("title") as $title | $location | need_obj("documentChunk") | {source: {document: need_int("documentIndex"), $title}} as $s | place("block") + $s)
    elif $location.searchResultLocation != null then
      {method: "searchResultLocation"} + (str("title") as $title | str("source") as $doc
        | $location | need_obj("searchResultLocation") | {source: {result: need_int("searchResultIndex"), $title, $doc}} as $s | place("block") + $s)
    else bad("location"; "unknown kind of location") end;

def converse:
  reduce (need_obj("output") | need_obj("message") | objects("content")[]) as $block ({parts: [], cites: []};
    if $block.text != null then .parts += [$block | need_str("text")]
    elif $block.citationsContent != null then
      ($block | obj("citationsContent")) as $cited
      | ([$cited | objects("content")[] | str("text") // ""] | join("")) as $text
      | if $text != "" then .parts += [$text] else . end
      | (if .parts == [] then false else {part: ((.parts | length) - 1)} end) as $in
      | .cites += [each($cited | list("citations")[]?; cite + {$in})]
    else . end)
  | .cites |= some;

def origin: first(.[]? | objects | first_of(.uri, .url, .id, .query) | strings) // null;

def retrieved:
  (obj("generatedResponsePart") | objects | obj("textResponsePart") | objects
    | str("text") as $text | obj("span") | objects
    | {part: 0, start: (int("start") // need_int("beginOffsetInclusive")), end: (int("end") // need_int("endOffsetExclusive")), $text}) // false;

def generate:
  {id: id("sessionId"), parts: [need_obj("output") | need_str("text")],
   cites: ([each(list("citations")[]?; retrieved as $in | objects("retrievedReferences")[]
     | {method: "retrieved", type: (.location | objects | .type), $in, reference: (if .location then {location} else null end),
        source: {doc: ((.location | objects | origin) // "retrieved reference"), text: (obj("content") | objects | str("text"))}})] | some)};

def row: account + if .output | objects | .message then converse else generate end;

# events of ConverseStream: each an object of one member, its kind
def fold:
  fails(any(keys[]; endswith("Exception")))
  | ends(.messageStop != null; "messageStop")
  | ([.[].metadata | objects] | add // {}) as $about
  | [.[].contentBlockDelta | objects] as $deltas
  | $about + {output: {message: {content: [$deltas | group_by(.contentBlockIndex)[]
      | [.[].delta | objects] as $d
      | ([$d[].text | strings] | add) as $text
      | [$d[].citation | objects | select(. != {})] as $citations
      | if $citations != [] then {citationsContent: {content: [{text: ($text // "")}], $citations}} elif $text then {$text} else empty end]}}};

def inner: objects | ., (.toolResult | objects | .content | arrays | .[] | inner);

def asked_document:
  need_obj("source") as $from
  | {doc: str("name"), title: str("name"), text: ($from | str("text"))}
  + if $from.content != null then {blocks: ($from.content | blocks)} else {} end;

def asked:
  {model: str("modelId"), query: first_of(query_of(.messages; .content; "user"), (.input | objects | .text)),
   documents: [objects("messages")[] | objects("content")[] | inner | obj("document") | objects
     | asked_document as $d | $d
       + (if $d.text == null and $d.blocks == null then {text: str("text"), pages: list("pages")} else {} end)
       + (if .format == "pdf" then {pdf: (.source | str("bytes"))} else {} end)],
   results: [objects("messages")[] | objects("content")[] | inner | obj("searchResult") | objects
     | {doc: str("source"), title: str("title"), type: "search_result", blocks: (.content | blocks)}]};
