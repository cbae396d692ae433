# ExpertQA: answers cut into claims, with experts' judgments of their evidence
# collection
# systems
#
# Malaviya et al., NAACL 2024: a question with the answers of one or more systems, each cut into
# claims, and for every claim what an expert said of the evidence it cites.
#
# Each (record, system) is a row: id is the record's line number, query the question; provider
# and model are not known. claim_id is the claim's index in the answer. A claim's offsets are
# given when it stands in the answer exactly once, white space ignored. Each string of its
# evidence, "[n] URL" or "[n] URL", an empty line and a passage, is one citation of the claim: the
# URL names the document and a passage is its whole text, so the citation has unit document and
# no offsets. "[n]" is the marker of its source_reference.
#
# A URL is met with several passages, and every distinct one is a document: the first is called
# URL, the next URL#2, URL#3 and so on in the order of the file, the URL without a passage being a
# content of its own, known without its text. Without a place for documents each row carries its
# own.
#
# Support Complete, Partial and Incomplete becomes a support label of 1, 0.5 and 0 on the claim;
# N/A and null a needs_citation label of 0; Missing no label. The annotator is the answer's, else
# the record's. The tags hold the metadata question_type, field and specific_field, and as
# source_reference everything else, as JSON under its place in the answer.

def fits: (.question | type) == "string" and .question != "" and (.answers | type) == "object";

# a string of evidence: where it is from, and its passage
def evidence:
  (index("\n\n") as $cut | if $cut == null then [., ""] else [.[:$cut], .[$cut + 2:]] end) as [$head, $passage]
  | ($head | trim | capture("^(?<marker>\\[[0-9]+\\])\\s*(?<url>(?s).*)$") // {marker: null, url: .}) as $from
  | {marker: $from.marker, url: $from.url, text: (if ($passage | trim) == "" then null else $passage end)};

# a member that must be there, and may be null
def there(name): if has(name) then . else bad(name; "missing") end;

def claim($answer): there("evidence") | there("support")
  | need_str("claim_string") as $text
  | one_of("support"; ["Complete", "Partial", "Incomplete", "Missing", "N/A"]) as $support
  | {$text, $support, place: (($answer | once($text)) // {}), evidence: [strings("evidence")[] | evidence]};

def judgment($annotator):
  .value.support as $support
  | {annotator: $annotator, claim: .key}
  + if $support == "Missing" then empty
    elif $support == null or $support == "N/A" then {kind: "needs_citation", value: 0}
    else {kind: "support", value: {Complete: 1, Partial: 0.5, Incomplete: 0}[$support]} end;

# the members of an answer without a column, in their order
def kept: entries[]
  | if .key == "claims" then .value | to_entries[] | "claims[\(.key)]." as $in | .value
      | others(["claim_string", "evidence", "support"])[] | .key |= $in + .
    else select(.key | IN("answer_string", "annotator_id") | not) end;

def answer($annotator):
  need_str("answer_string") as $answer
  | first_of(str("annotator_id"), $annotator) as $annotator
  | (need("claims") | null) as $there
  | [objects("claims")[] | claim($answer)] as $claims
  | [$claims[].evidence[] | select(.url != "") | {doc: .url, text}] as $documents
  | {annotator: $annotator, parts: [$answer], documents: $documents,
     claims: [foreach $claims[] as $claim ({n: 0};
       .n as $before
       | .cites = [foreach $claim.evidence[] as $e ({n: $before}; .at = .n | if $e.url != "" then .n += 1 else . end;
           {in: false, reference: (if $e.marker == null then null else {marker: $e.marker} end)}
           + if $e.url != "" then {source: {chunk: .at}} else {quote: $e.text} end)]
       | .n += ([$claim.evidence[] | select(.url != "")] | length);
       {text: $claim.text, cites} + $claim.place)],
     labels: [$claims | to_entries[] | judgment($annotator // "")],
     warn: [$claims | to_entries[] | select(.value.support == "Missing" and .value.evidence != [])
       | "claim \(.key) cites evidence and its support is Missing: it has no label"],
     kept: [kept]};

def about: ["question_type", "field", "specific_field"];

def row:
  need_str("question") as $query | (need("answers") | null) as $there
  | str("annotator_id") as $annotator | (obj("metadata") // {}) as $metadata
  | [need_obj("answers") | entries[] | {system: (if .key == "" then "default" else .key end)} + (.value | answer($annotator))] as $answers
  | if $answers == [] then bad("answers: no system has answered") else . end
  | [others(["question", "answers", "annotator_id"])[]
      | if .key == "metadata" then .value | objects | others(about)[] | .key |= "metadata." + . else . end] as $kept
  | (if $annotator == null or $annotator == "" or all($answers[]; .annotator == $annotator) then [] else [{key: "annotator_id", value: $annotator}] end) as $whose
  | ([about[] as $name | {key: $name, value: ($metadata | str($name)?)} | select(.value != null)] | from_entries) as $tags
  | $answers[] | {query: $query, tags: $tags} + . + {kept: ($kept + $whose + .kept)} | del(.annotator);
