# Open RAG Eval: its table of passages and answers, and its report in JSON
# collection
# table: query passage_id passage generated_answer
#
# Of Vectara: its table of retrieved passages and generated answers, and its report. A run of a
# query is a row. Its id is query_id, that of the second run query_id#2 and so on; the tag
# query_id says what belongs together (statistics.cluster takes it). Lines of a run must follow
# each other. A mark [n] in an answer means the passage whose passage_id is [n], wherever in the
# list it stands; passages are called query_id[n]. A run without an answer (empty, NO_ANSWER,
# API_ERROR) is left out, as it is there. In the report the marks are gone: a part of an answer
# is a claim with its citations, and the scores are in source_reference.
# Around the runs of a report: version generated_at.

def goes_on: . as [$before, $line]
  | ($line.query_id // "") != "" and all("query_id", "query_run"; $before[.] == $line[.]);

def fold: {lines: .};

# the first run of a report
def fits: if (.evaluation | type) == "array" then .evaluation[0] else . end
  | objects | if (.runs | type) == "array" then .runs[0] else . end
  | objects | (.generated_answer | type) == "array" and (.retrieved_passages | type) == "object";

def named($id; $number): if $id == "" then {} else
  {id: ($id + if $number == "" or $number == "1" then "" else "#" + $number end), tags: {query_id: $id}} end;

def run($id; $query; $number):
  (need_obj("retrieved_passages") | entries) as $passages
  | objects("generated_answer") as $answer
  | ([$passages | to_entries[] | {key: .value.key, value: .key}] | from_entries) as $chunks
  | named($id; $number) + {$query,
      documents: [need_obj("retrieved_passages") | $passages[].key as $key | {doc: ($id + $key), text: need_str($key)}],
      kept: others(["retrieved_passages", "generated_answer"]),
      warn: [$answer[] | strings("citations")[] | select($chunks[.] == null) | "\(.) is no passage"]}
  + ($answer | sentences(strings("citations")[] as $key | if $chunks[$key] == null then {title: $key} else {source: {chunk: $chunks[$key]}} end));

# the number that a mark can mean a passage by
def counted: (.passage_id | gsub("^[\\[\\]]+|[\\[\\]]+$"; "") | try tonumber catch null) as $n
  | if $n != null and $n >= 1 and $n <= 1000 and $n == ($n | floor) then $n else null end;

def table:
  .[0] as $first | ($first.query_id // "") as $id
  | first_of(.[].generated_answer) as $answer
  | [.[] | select(.passage_id != "" or .passage != "") | {n: counted, passage: {doc: ($id + .passage_id), text: .passage}}] as $passages
  | if $answer == null or $answer == "NO_ANSWER" or $answer == "API_ERROR" then {left_out: true, documents: [$passages[].passage]} else
      named($id; $first.query_run // "") + {query: $first.query, parts: [$answer], documents: [$passages[].passage],
        numbered: [range([$passages[].n | numbers] | max // 0) as $i | last_of($passages[] | select(.n == $i + 1) | .passage)]}
    end;

def runs:
  if (.runs | type) != "array" then bad("runs is missing") else . end
  | (id("query_id") // "") as $id | str("query") as $query
  | range(.runs | length) as $i | rows(.runs[$i]; run($id; $query; "\($i + 1)"));

def row:
  if .lines != null then .lines | table
  elif (.evaluation | type) == "array" then rows(.evaluation[]; runs)
  elif (.runs | type) == "array" then runs
  else run(""; null; "1") end;
