# Label Studio exports (JSON): places and choices of several annotators
#
# row makes of a task what Go completes: the file tells which fields of the data are marked.
# Paths of kept members begin at the task.

def min: .data == null and has("annotation_id");

# The members of a task's data that are columns of ours, the first that is a text.
def columns: {query: ["query", "question", "prompt"], answer: ["answer", "response", "output"],
  system: ["system"], provider: ["provider"], model: ["model"], claim: ["claim"], doc: ["doc"], title: ["title"]};

# The values of labels of support, by what people could choose. See the guide for annotators.
def support: {
  "supported": 1, "fully supported": 1, "full": 1, "fully": 1, "full support": 1, "supports": 1, "attributable": 1, "complete": 1, "yes": 1,
  "mostly supported": 0.8, "mostly": 0.8, "mostly supports": 0.8,
  "partially supported": 0.5, "partly supported": 0.5, "partial": 0.5, "partially": 0.5, "partly": 0.5, "partial support": 0.5, "partially supports": 0.5,
  "not supported": 0, "unsupported": 0, "no support": 0, "none": 0, "not attributable": 0, "incomplete": 0, "no": 0,
  "contradicted": 0, "contradicts": 0, "contradictory": 0, "refuted": 0, "refutes": 0};

# The same of questions for yes or no.
def yes_no: {
  "yes": 1, "true": 1, "relevant": 1, "factual": 1, "needed": 1, "needs citation": 1,
  "no": 0, "false": 0, "irrelevant": 0, "not relevant": 0, "not factual": 0, "not needed": 0, "needs no citation": 0};

# Answers that say nothing.
def unsure: ["unsure", "not sure", "unclear", "unknown", "cannot tell", "can't tell", "undecided", "n/a", "skip"];

# The kinds of labels, by a part of the names of controls.
def kinds: [["needs citation", "needs_citation"], ["relevan", "relevant"], ["factual", "factual"],
  ["support", "support"], ["verdict", "support"], ["attribut", "support"], ["entail", "support"]];

# a name or an option, so that its form does not count
def words: ascii_downcase | split("[\\s_-]+"; "") | map(select(. != "")) | join(" ");

def among($list): . as $value | $list | index([$value]) != null;

# the value of the options that a person chose: nothing if the person did not decide, or a reason
# why it cannot be understood
def verdict($kind):
  if length == 0 then {} elif length > 1 then {reason: "more than one option was chosen"}
  else (.[0] | words) as $word
    | if $word | among(unsure) then {}
      else (if $kind == "support" then support else yes_no end)[$word] as $value
        | if $value == null then {reason: "unknown option \(.[0] | quoted)"} else {$value} end
      end
  end;

# what a person is called: by number or name, or by an object that has one
def person:
  if (.completed_by | type) != "object" then id("completed_by") // ""
  else .completed_by
    | first_of((.email, .username | strings), ([.first_name, .last_name | strings] | join(" ") | trim), id("id")) // "" end;

# The types of results that are no marks: they belong to the task, or to a mark that stands beside
# them.
def answers: ["choices", "textarea", "rating", "number", "datetime", "taxonomy", "pairwise", "ranker", "relation"];

def offset(name): id(name) | if . != null and test("^[+-]?[0-9]{1,15}$") then ltrimstr("+") | tonumber else null end;

# members that have a value, but some, under a path
def more($path; names): others(names)[] | select(.value != null) | .key |= $path + "." + .;

def usual: ["id", "type", "from_name", "to_name", "origin", "source", "value"];

# a mark in a text, null if it is in something else. Line ends of quotes are a backslash and an n.
def mark($path):
  if (.value | type) != "object" or .original_length != null or .original_width != null then null
  else . as $item | str("to_name") as $to | str("source") as $source
    | if .type == "hypertextlabels" or .type == "hypertext" or (.value.start | type == "string" and contains("text()")) then
        bad("a mark in HTML: show the text as <Text> in Label Studio, and export the project as JSON")
      elif (.type | among(["labels", "text", "richtext"])) and .value.channel == null then
        .value
        | offset("start") as $start | offset("end") as $end | strings("labels") as $labels
        | (.text | strings | select(. != "")) // null | . as $quote | $item.value
        | if $start == null or $end == null then null
          else {to: ($to // ""), source: (if $source | starts("$") then $source[1:] else "" end), $start, $end,
            quote: (($quote // "") | split("\\n") | join("\n")), $labels, $item, $path,
            kept: [($item | more($path; usual)),
              more($path + ".value"; ["start", "end", "labels", if $quote == null then empty else "text" end]),
              (select(.labels != null) | {key: "\($path).value.labels", value: .labels})]} end
      else null end
  end;

# one result: a choice, a mark, or something that has no place in a row
def result($path; $regions):
  str("type") as $kind
  | if $kind == "choices" and (.id | among($regions) | not) and (.value | type) == "object" then
      {choice: {control: (str("from_name") // ""), options: (.value | strings("choices"))}}
    elif $kind | among(answers) then {other: .}
    else mark($path) as $mark | if $mark == null then {other: ., homeless: true} else {$mark} end end
  | . + {$path};

def annotation($path):
  {by: person, skipped: (bool("was_cancelled") == true or bool("skipped") == true),
   changed: (first_of(.updated_at, .created_at | strings) // ""), item: ., $path,
   results: [objects("result") as $all
     | [$all[] | select(.type | among(answers) | not) | .id | strings | select(. != "")] as $regions
     | $all | to_entries[] | . as $entry | .value | . as $item | result("\($path).result[\($entry.key)]"; $regions) + {$item}]};

# one annotation of each person counts: the one that was changed last, and of those changed at the
# same time the one that stands last
def latest:
  reduce range(length) as $i ({all: ., last: {}};
    .all[$i] as $a | .last[$a.by] as $before
    | if $a.skipped then .
      elif $before != null and $a.by == "" then $a.item | bad("a second annotation without completed_by: nobody can tell whose they are")
      elif $before != null and $a.changed < .all[$before].changed then .all[$i].replaced = true
      else (if $before == null then . else .all[$before].replaced = true end) | .last[$a.by] = $i end)
  | .all;

# the questions of a task of ours, whose controls are numbered
def asked: [objects("support") | to_entries[] | {name: "support_\(.key + 1)"} + (.value | {kind: need_str("kind"), claim: str("claim_id"), citation: str("citation_id")})]
  + [objects("yesno") | to_entries[] | {name: "yesno_\(.key + 1)"} + (.value | {kind: need_str("kind"), claim: str("claim_id"), citation: str("citation_id")})];

# what a choice answers, null if it answers nothing that we know
def question($control; $claim; $asked):
  if $asked != null then first($asked[] | select(.name == ($control | ltrimstr("choice_"))) | del(.name)) // null
  else ($control | words) as $name
    | first(kinds[] | select(.[0] as $part | $name | contains($part)) | .[1]) // null
    | if . == null or $claim == "" then null else {kind: ., claim: $claim} end end;

# what a person chose: labels, and what is none
def chosen($by; $claim; $asked):
  . as $result | .choice as $choice
  | question($choice.control; $claim; $asked) as $question
  | ($choice.options | verdict($question.kind)) as $verdict
  | {key: $result.path, value: $result.item} as $whole
  | if $question == null then {kept: [$whole], ignored: ["choices of \(if $choice.control == "" then "no control" else $choice.control end)"]}
    elif $verdict.reason != null then {kept: [$whole], warn: [{at: $result.item, text: "\($choice.control): \($verdict.reason): no label"}]}
    elif $verdict.value == null then {kept: [$whole]}
    else {label: ($question + {annotator: $by}), value: $verdict.value, $whole, control: $choice.control,
      kept: [$result.item | more($result.path; usual)]} end;

def row:
  if min then bad("a record of JSON_MIN: export the project from Label Studio as JSON") else . end
  | need_obj("data") as $data
  | ($data.ibid == "ibid.task/v1") as $ours
  | (if $ours then $data | asked else null end) as $asked
  | (columns | map_values(first(.[] | select($data[.] | type == "string")) // null)) as $names
  | ($names | map_values(if . == null then "" else $data[.] | if $ours and . == "–" then "" else . end end)) as $in
  | (first_of(($data | id("id")), id("id")) // bad("neither the task nor its data has an id")) as $id
  | (if $in.claim == "" then "" else first_of($data | id("claim_id")) // "1" end) as $claim_id
  | (if $claim_id == "" and $in.answer != "" then "answer" else $claim_id end) as $claim
  | given(["annotations", "completions"]) as $list
  | ([objects($list) | to_entries[] | .key as $i | .value | annotation("\($list)[\($i)]")] | latest) as $all
  | [$all[] | select(.skipped or .replaced | not)] as $counts
  | [$counts[] | .by as $by | .results[] | select(.choice != null)
      | select(($ours and .choice.control == "places" and (.choice.options | length) == 1) | not) | chosen($by; $claim; $asked)] as $chosen
  | (reduce ($chosen[] | select(.label != null)) as $c ({labels: [], seen: [], kept: [], warn: []};
      .seen as $seen
      | if $c.label | among($seen) then .kept += [$c.whole]
          | .warn += [{at: $c.whole.value, text: "\($c.control): annotator \($c.label.annotator | quoted) has answered this before: no second label"}]
        else .seen += [$c.label] | .labels += [$c.label + {value: $c.value}] | .kept += $c.kept end)) as $said
  | {$id, query: $in.query, answer: $in.answer, system: $in.system, provider: $in.provider, model: $in.model, doc: $in.doc, title: $in.title,
     claims: (if $in.claim != "" then [{id: $claim_id, text: $in.claim}]
       elif ($ours | not) and any($said.labels[]; .claim == "answer") then [{id: "answer", text: $in.answer, start: 0, end: ($in.answer | length)}]
       else [] end),
     labels: $said.labels,
     fields: [$data | entries[] | select(.value | type == "string") | {key, text: .value}],
     documents: (if $ours then [$data | strings("documents") | to_entries[] | {key: "document_\(.key + 1)", value}] | from_entries else null end),
     annotations: [$counts[] | {by, item, homeless: any(.results[]; .homeless), marks: [.results[].mark | select(. != null)],
       places: ([.results[].choice | select($ours and . != null and .control == "places" and (.options | length) == 1) | .options[0]] | last // "")}],
     answers: ([$all[].results[] | select(.mark == null)] | length),
     warn: ([$all[] | select(.replaced) | {at: .item, text: "annotator \(.by | quoted) has a later annotation of this task: this one does not count"}]
       + [$chosen[].warn[]?] + $said.warn),
     ignored: [($all[] | if .replaced then "replaced annotation" elif .skipped then "skipped annotation" else empty end),
       ($counts[].results[] | select(.other != null) | .other.type // "" | if . == "" then "result without a type" elif . == "choices" then "choices of a mark" else . end),
       $chosen[].ignored[]?,
       (("prediction", "draft") as $kind | list($kind + "s")[]? | $kind)],
     kept: [($all[] | select(.skipped or .replaced) | {key: .path, value: .item}),
       ($counts[].results[] | select(.other != null) | {key: .path, value: .item}),
       ($chosen[] | select(.label == null) | .kept[]), $said.kept[],
       ($counts[] | .path as $path | .item | more($path; ["completed_by", "was_cancelled", "skipped", "result"])),
       (others([$list, "data", "predictions", "drafts", if first_of($data | id("id")) == null then "id" else empty end])[] | select(.value != null))],
     data: [$data | others(["id", $names[], if $in.claim != "" then "claim_id" else empty end])[]
       | select(.value != null and ($ours and (.key | test("^(ibid$|documents?|support|yesno)(_|$)|^ibid$")) | not))]};
