# citeformer GenerationResult, schemas 1 to 3
# offsets: source codepoint exclusive; answer codepoint exclusive
#
# span is the interval of the mark in the answer, source_span one of the source's content;
# source_id counts the sources from 1. A source is called by the id of its metadata, else by
# its title. Marks and citations run in parallel: where the answer holds marks such as [1], but
# not as many as there are citations, cited_text, source_span and document_title stay null, as
# do those of a list rich_citations or last_rich_citations that is not as long. A
# VerificationReport is the member verification of the result, or stands beside it; its score
# of a citation counts where the result has none.

def fits: .schema_version != null and (.text != null or .per_citation != null);

def pair(name): need_list(name) as $p
  | if ($p | length) != 2 then bad(name; "want two offsets, got \($p | length)") else $p end;

def richer: .cited_text != null or .source_span != null or .document_title != null;

def cite($i; $count; $sources; $markers; $numbered; $rich; $beside; $scores):
  need_int("source_id") as $n
  | if $n < 1 then bad("source_id"; "source \($n): sources count from 1") else . end
  | (if $beside then $beside[$i] else . end) as $from
  | {method: "marker",
     source: (if $n <= $sources then {chunk: ($n - 1)} elif $sources == 0 then {doc: "source \($n)", local: true} else {missing: "source \($n)"} end),
     in: {start: pair("span")[0], end: pair("span")[1], text: ($markers["\($n)"] // if $numbered then "[\($n)]" else null end), role: "marker"},
     reference: (del(.span, .source_id) | if $rich then del(.cited_text, .source_span, .document_title) else . end
       | if .entailment_score == null and $scores["\($i)"] != null then .entailment_score = $scores["\($i)"] else . end
       | with_entries(select(.value != null)) | if . == {} then null else . end)}
  + if $rich then ($from
      | {quote: str("cited_text"), title: str("document_title")}
        + if .source_span != null then {start: pair("source_span")[0], end: pair("source_span")[1]} else {} end)
    else {} end;

def row:
  need_int("schema_version") as $v
  | if $v < 1 or $v > 3 then bad("schema_version"; "schema \($v), and 1 to 3 are known") else . end
  | if .text == null and .per_citation != null then
      bad("a VerificationReport holds no answer: import the GenerationResult with it, {\"response\": RESULT, \"verification\": REPORT}")
    else . end
  | need_str("text") as $text
  | need_list("citations") as $all
  | ([$text | match("\\[[0-9]+\\]"; "g")] | length) as $marks
  | ($marks == 0 or $marks == ($all | length)) as $rich
  | ((list("rich_citations") // list("last_rich_citations")) as $l | if ($l | length) == ($all | length) then $l else null end) as $beside
  | (first(("rich_citations", "last_rich_citations") as $n | select(.[$n] != null) | {$n, count: (.[$n] | length)}) // null) as $list
  | ((.verification // beside("verification")) | objects // {} | objects("per_citation")) as $report
  | (objects("sources") | length) as $sources
  | ([objects("references")[] | {key: (need_int("source_id") | tostring), value: .inline_marker}] | from_entries) as $markers
  | ([$report[] | select(.entailment_score != null) | {key: (need_int("citation_index") | tostring), value: num("entailment_score")}] | from_entries) as $scores
  | account + {
      id: (id("id") // id("result_id")), model: str("model"), parts: [$text],
      documents: [objects("sources") | to_entries[] | .key as $i | .value | (obj("metadata") // {}) as $m
        | first_of($m.id | if type == "number" then tostring else . end, $m.title) as $doc
        | {doc: ($doc // "source \($i + 1)"), local: ($doc == null), title: ($m.title | strings) // null, type: ($m.type | strings) // null,
           text: str("content"), metadata: .metadata}],
      cites: [$all | to_entries[] | .key as $i
        | each(.value; cite($i; $all | length; $sources; $markers; $marks > 0; $rich; $beside; $scores))],
      warn: [
        (select(($rich | not) and any($all[]; richer))
          | "\($marks) markers in the text and \($all | length) citations: cited_text, source_span and document_title stay null"),
        ($list | select(. != null and $beside == null and .count > 0)
          | "\(.n) has \(.count) elements, and there are \($all | length) citations: cited_text, source_span and document_title stay null"),
        ($report | to_entries[] | .key as $i | .value.citation_index | select(. < 0 or . >= ($all | length))
          | "verification.per_citation[\($i)].citation_index: citation \(.), and there are \($all | length), counted from 0")]};

def asked: asked_chat;
