# GitHub Copilot SDK answers with normalised citations
# offsets: source utf16 exclusive; answer utf16 exclusive
#
# A span of the answer has references to sources, each at a location: char, page or block. A
# source is called by its URL, else by its path, its title or its id.
# No column has: role.

def fits: (.content // "") != "" and (.content | type) == "string" and (.citations | type) == "object";

def cite($sources; $in):
  need_str("sourceId") as $id
  | ($sources[$id] // null) as $chunk
  | {source: (if $chunk == null then {missing: $id} else {$chunk} end), quote: str("citedText"), $in}
  + (obj("location") | if . == null then {} else
      need_str("type") as $kind
      | {method: $kind}
      + if $kind == "char" then {start: need_int("startIndex"), end: need_int("endIndex")}
        elif $kind == "page" then {unit: "page", start: need_int("startPage"), end: need_int("endPage")}
        elif $kind == "block" then {unit: "block", start: need_int("startBlock"), end: need_int("endBlock")}
        else bad("type"; "unknown kind of location \($kind | quoted)") end
    end);

def row:
  need_str("content") as $text
  | need_obj("citations") as $all
  | ([$all | objects("sources") | to_entries[] | {key: (.value | need_str("id")), value: .key}] | from_entries) as $sources
  | account + {
      id: (id("id") // id("messageId")), model: str("model"), parts: [$text],
      documents: [$all | objects("sources")[]
        | {doc: first_of(str("url"), str("path"), str("title"), .id), title: str("title"), type: str("provider"), text: str("text"),
           metadata: del(.id, .url, .path, .title, .provider, .text)}],
      cites: [$all | objects("spans")[]
        | {part: 0, start: need_int("startIndex"), end: need_int("endIndex")} as $in
        | each(list("references")[]?; cite($sources; $in))]};

def asked: asked_chat;
