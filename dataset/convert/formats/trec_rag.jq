# runs of the TREC RAG track, 2024 and 2025
# collection
#
# A topic, references that are ids of segments, and an answer of sentences that cite them. A
# sentence is a claim, and the answer is the sentences with a space between them. A citation is
# the index of a reference, counted from 0, or the id of a segment (the second form of 2025). It
# points at a whole segment, whose text a run does not have: give the segments as documents,
# called by their ids. The id is topic_id (2025: metadata.narrative_id), the system run_id. The
# references, cited or not, are in source_reference.
# No column has: response_length.

def fits: (.references | type) == "array" and (.answer | type) == "array";

def cite($references): if type == "string" then {source: {named: .}, unit: "document"}
  elif . >= 0 and . < ($references | length) then {source: {named: $references[.]}, unit: "document"}
  else {title: "[\(.)]"} end;

# the citations of a sentence: names and integers
def cited: list("citations") // [] | . as $all | range(length) as $i | .[$i]
  | if type == "string" or type == "number" and . == floor then . else ($all | bad($i; "want an integer, got \($all[$i] | type)")) end;

def row:
  (obj("metadata") // .) as $about
  | ($about | given(["narrative_id", "topic_id"])) as $id
  | ($about | given(["narrative", "topic", "title"])) as $topic
  | (first_of(id("topic_id"), ($about | id($id))) // bad("neither topic_id nor metadata.narrative_id is given")) as $name
  | (need("references") | null) as $there
  | strings("references") as $references
  | (need("answer") | null) as $there
  | objects("answer") as $answer
  | {id: $name, query: first_of(str("topic"), ($about | str($topic))), system: (first_of(str("run_id"), ($about | str("run_id"))) // "default")}
  + ($answer | sentences(cited | cite($references)))
  + {kept: ((if .metadata != null then [{key: "metadata", value: .metadata}] else [] end)
       + [{key: "references", value: .references}]
       + [$answer | to_entries[] | "answer[\(.key)]." as $in | .value | others(["text", "citations"])[] | .key |= $in + .]
       + others(["topic_id", "topic", "run_id", "metadata", "references", "answer",
           if .metadata == null then $id, $topic else empty end])),
     warn: [$answer | to_entries[] | .key as $i | .value | [cited] | to_entries[]
       | select((.value | type) == "number" and (.value < 0 or .value >= ($references | length)))
       | "answer[\($i)].citations[\(.key)]: reference \(.value), and there are \($references | length), counted from 0"]};
