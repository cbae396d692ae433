# ALCE results: ASQA, QAMPARI and ELI5 outputs with numbered documents
# collection
#
# Gao et al., EMNLP 2023: a question, the output of a model with marks [1][2], and the documents
# that they count from 1. The id is sample_id, else id, else the number of the record; the model
# is that of args. A document is called by its id, else its url, else its title. Its text is
# sent, which some retrievers extract, else text, as in ALCE's own scorer. The output of QAMPARI
# (its records have answers) is a list with commas: each element behind the question is a claim,
# as it is there. ALCE's scorer looks at the first line of an output only; here all of it counts.

def fits: if (.data | type) == "array" then .data[0] else . end
  | objects | (.question | type) == "string" and .question != "" and (.docs | type) == "array" and .output != null;

def document($n):
  given(["sent", "text"]) as $text
  | {doc: first_of(id("id"), str("url"), str("title"), "[\($n)]"), title: str("title"), text: str($text),
     metadata: rest(["id", "url", "title", $text])};

# the elements of a list as claims
def elements($query): sub("[ \\t\\r\\n]+$"; "") | sub("\\.+$"; "") | sub(",+$"; "")
  | reduce split(",")[] as $element ({at: 0, claims: []};
      ($element | trim) as $text | (.at + ($element | length) - ($element | ltrim | length)) as $start
      | if $text != "" then
          .claims += [{text: ($query + " " + ($text | without("\\[[0-9]+\\]") | trim)), $start, end: ($start + ($text | length))}]
        else . end
      | .at += ($element | length) + 1)
  | .claims;

def item($model):
  need_str("question") as $query | need_str("output") as $answer | given(["sample_id", "id"]) as $id
  | {id: id($id), $model, query: $query, parts: [$answer],
     numbered: [objects("docs") | to_entries[] | .key as $i | .value | document($i + 1)],
     kept: others([$id, "question", "output", "docs"])}
  + if (.answers | type) == "array" then {claims: ($answer | elements($query))} else {} end;

def row: ((.args | objects | .model | strings) // null) as $model
  | if (.data | type) == "array" then rows(.data[]; item($model)) else item(null) end;
