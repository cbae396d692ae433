# Label Studio exports (JSON): places and choices of several annotators
# offsets: source codepoint exclusive
# collection
#
# Tasks with the annotations of several people. Records of JSON_MIN, which does not say what is an
# answer, and marks in HTML, whose offsets count what a browser shows, are refused.
#
# Each task is a row. Its id is the member id of the data, else the task's; query is query, question
# or prompt; answer is answer, response or output; system, provider and model are those of the data.
# Citations are null.
#
# Marked text is truth, whatever its label, by annotator (completed_by: an e-mail address, else a
# user name, else a number). Who submitted a task without a mark marked nothing; who skipped it
# (was_cancelled) did not see it. Where no one marked any text in a file that has other results,
# marks were not asked for, and truth is null. Who marked something that is no text, such as a part
# of a picture, is left out of the row's truth, with a warning: the rest of their marks is not all of
# them.
#
# A text is called by the member doc of the data, else by the id of the first task that has it and
# the name of its field. The export does not say which field a control is about; where names do not
# tell, quotes do.
#
# Choices of the controls whose names say support, verdict, attribution or entailment, relevance,
# needs_citation or factual become labels on the claim of the data, else on the answer as a whole.
# What else there is stands under its place in the tag source_reference and is counted; predictions
# are counted only.
#
# Offsets count code points, zero-based, end exclusive, unless the quotes prove that they count
# UTF-16 units, as those of older versions do.
#
# No column has: annotation_id annotators cancelled_annotations comment_authors comment_count
# file_upload inner_id last_comment_updated_at lead_time meta project total_annotations
# total_predictions unresolved_comment_count updated_by

def min: .data == null and has("annotation_id");

def fits: (.data | type) == "object" and any(.annotations, .completions; type == "array") or min;

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

# Members of a task's data which it is likely that people mark, and those that are the question, the
# answer, or name something: nothing to find evidence in.
def likely: ["text", "document", "context", "passage", "content"];
def roles: ["id", "system", "provider", "model", "claim", "claim_id", "doc", "title", "ibid",
  "query", "question", "prompt", "answer", "response", "output"];

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

# the annotations of a task
def people: given(["annotations", "completions"]) as $list
  | [objects($list) | to_entries[] | .key as $i | .value | annotation("\($list)[\($i)]")] | latest;

def counting: map(select(.skipped or .replaced | not));

# the texts of a task's data
def fields: [entries[] | select(.value | type == "string")];

# What a task tells of the labeling configuration, which is not part of the export: for each object
# of it, how many marks it has, and how many of their quotes each field holds. What the export says
# itself is worth more than any number of quotes.
def survey: people as $all | (need_obj("data") | fields) as $fields
  | reduce ($all | counting[].results[].mark | select(. != null)) as $mark
      ({answers: ([$all[].results[] | select(.mark == null)] | length)};
        .[[$mark.to] | tojson] += 1
        | reduce $fields[] as $field (.; .[[$mark.to, $field.key] | tojson] +=
            (if $mark.source == $field.key then 1099511627776 else 0 end)
            + (if $field.value | stands($mark.quote; $mark.start; $mark.end) then 1 else 0 end)));

# The field of every object: the one that holds most quotes; where they do not tell, the one of that
# name, then a name that texts have, then the first by name. People were asked to mark texts unless
# all that they did is something else.
def settle: . as $sums | [keys[] | select(starts("[")) | fromjson] as $all
  | [$all[] | select(length == 1)[0]] as $objects
  | {field: ([$objects[] as $to
      | [$all[] | select(length == 2 and .[0] == $to) | {key: .[1], votes: $sums[tojson]} | select(.votes > 0 or (.key | among(roles) | not))]
      | min_by([-.votes, (if .key == $to then -1 else .key as $key | likely | index($key) // length end), .key])
      | {key: $to, value: (.key // "")}] | from_entries)}
  | .asked = ($objects == [] and ($sums.answers // 0) == 0 or any(.field[]; among(roles) | not));

# whether somebody looked for places in a task of ours, by what they say of it, or why that does not
# go with how many places they marked
def looked($marked):
  if . == "All places are marked" and $marked == 0 then {reason: "all places are said to be marked, and none is"}
  elif . == "Nothing to mark" and $marked > 0 then {reason: "there is said to be nothing to mark, and something is marked"}
  elif . == "I did not look for places" and $marked > 0 then {reason: "they say that they did not look for places, and marked some"}
  elif . == "" and $marked == 0 then {reason: "they do not say whether they looked for places"}
  else {looked: (. != "I did not look for places")} end;

# the questions of a task of ours, whose controls are numbered
def questions: [objects("support") | to_entries[] | {name: "support_\(.key + 1)"} + (.value | {kind: need_str("kind"), claim: str("claim_id"), citation: str("citation_id")})]
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
  | (if $ours then $data | questions else null end) as $asked
  | (columns | map_values(first(.[] | select($data[.] | type == "string")) // null)) as $columns
  | ($columns | map_values(if . == null then "" else $data[.] | if $ours and . == "–" then "" else . end end)) as $in
  | (first_of(($data | id("id")), id("id")) // bad("neither the task nor its data has an id")) as $id
  | (if $in.claim == "" then "" else first_of($data | id("claim_id")) // "1" end) as $claim_id
  | (if $claim_id == "" and $in.answer != "" then "answer" else $claim_id end) as $claim
  | given(["annotations", "completions"]) as $list
  | people as $all
  | ($all | counting) as $counts
  | [$counts[] | .by as $by | .results[] | select(.choice != null)
      | select(($ours and .choice.control == "places" and (.choice.options | length) == 1) | not) | chosen($by; $claim; $asked)] as $chosen
  | (reduce ($chosen[] | select(.label != null)) as $c ({labels: [], seen: [], kept: [], warn: []};
      .seen as $seen
      | if $c.label | among($seen) then .kept += [$c.whole]
          | .warn += [{at: $c.whole.value, text: "\($c.control): annotator \($c.label.annotator | quoted) has answered this before: no second label"}]
        else .seen += [$c.label] | .labels += [$c.label + {value: $c.value}] | .kept += $c.kept end)) as $said
  | ($data | fields) as $fields
  | (if $ours then [$data | strings("documents") | to_entries[] | {key: "document_\(.key + 1)", value}] | from_entries else null end) as $named
  | (surveyed // {field: {}}) as $file
  | (if $ours then [$fields[] | select($named[.key] != null)] else
      [$file.field[] | select(among(roles) | not)] as $marked
      | [$fields[] | select(.key | among($marked))]
      | if . == [] then [$fields[] | select(.key | among(likely))] else . end end) as $texts
  | [$texts[].key] as $names
  | [$counts[] | . as $annotation
      | [.results[].mark | select(. != null) | .field = (if $ours then .to else $file.field[.to] // "" end) | .field as $key
          | if ($data[$key] | type) != "string" then .field = null else .chunk = ($names | index($key)) end] as $marks
      | ([$marks[] | select(.chunk != null)] | length) as $placed
      | ([.results[].choice | select($ours and . != null and .control == "places" and (.options | length) == 1) | .options[0]] | last // "") as $places
      | (last_of($marks[] | select(.field == null) | "no field of the task has the text of \(.to | quoted)")
          // if any($annotation.results[]; .homeless) then "some mark is in no text" else null end) as $reason
      | (if $reason != null then {$reason} elif $ours then $places | looked($placed) else {looked: $file.asked} end) as $said
      | {by, item, $marks, $placed, reason: $said.reason, says: ($said.reason == null and ($placed > 0 or $said.looked))}] as $people
  | {$id, query: $in.query, parts: [$in.answer], cites: false, fixed_system: $in.system, provider: $in.provider, model: $in.model,
     claims: (if $in.claim != "" then [{id: $claim_id, text: $in.claim}]
       elif ($ours | not) and any($said.labels[]; .claim == "answer") then [{id: "answer", text: $in.answer, start: 0, end: ($in.answer | length)}]
       else null end),
     labels: (if $said.labels == [] then null else $said.labels end),
     documents: [$texts[] | (if $ours then $named[.key] elif ($texts | length) == 1 then $in.doc else "" end) as $called
       | {doc: (if $called == "" then "\($id)/\(.key)" else $called end), common: ($called == ""), fixed: $ours,
          title: (if ($texts | length) == 1 then $in.title else "" end), text: .value}],
     truth: ([$people[] | select(.says) | .by as $annotator
       | if .placed == 0 then {$annotator} else .marks[] | select(.chunk != null) | {$annotator, chunk, start, end, quote, value: .item} end]
       | if . == [] then null else . end),
     marked_as: [$people[].marks[] | select(.chunk != null) | .labels[]],
     warn: ([$all[] | select(.replaced) | {at: .item, text: "annotator \(.by | quoted) has a later annotation of this task: this one does not count"}]
       + [$chosen[].warn[]?] + $said.warn
       + [$people[] | select(.reason != null) | {at: .item, text: "annotator \(.by | quoted) is left out of the truth: \(.reason)"}]),
     ignored: [($all[] | if .replaced then "replaced annotation" elif .skipped then "skipped annotation" else empty end),
       ($counts[].results[] | select(.other != null) | .other.type // "" | if . == "" then "result without a type" elif . == "choices" then "choices of a mark" else . end),
       $chosen[].ignored[]?,
       (("prediction", "draft") as $kind | list($kind + "s")[]? | $kind),
       ($people[].marks[] | select(.chunk == null) | "mark in \(.field // "no text")")],
     kept: [($all[] | select(.skipped or .replaced) | {key: .path, value: .item}),
       ($counts[].results[] | select(.other != null) | {key: .path, value: .item}),
       ($chosen[] | select(.label == null) | .kept[]), $said.kept[],
       ($counts[] | .path as $path | .item | more($path; ["completed_by", "was_cancelled", "skipped", "result"])),
       (others([$list, "data", "predictions", "drafts", if first_of($data | id("id")) == null then "id" else empty end])[] | select(.value != null)),
       ($people[].marks[] | if .chunk != null then .kept[] else {key: .path, value: .item} end),
       ($data | others(["id", $columns[], $names[], if $in.claim != "" then "claim_id" else empty end])[]
         | select(.value != null and ($ours and (.key | test("^(ibid$|documents?|support|yesno)(_|$)|^ibid$")) | not)) | .key |= "data." + .)]};
