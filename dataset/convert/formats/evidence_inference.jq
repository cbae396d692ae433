# Evidence Inference 2.0: passages marked in clinical trials by several annotators
# collection
# systems
# offsets: source codepoint exclusive
#
# DeYoung et al., BioNLP 2020: a record is a prompt, a question about one clinical trial, with the
# passages of the article that its annotators marked and quoted.
#
# A row's id is the PromptID, its query the published phrase, its document is called PMC1177952 and
# the like. Without a truth annotator all annotators are truth, citations are null, and the answer is
# "" because nobody's answer is judged. With one, every other annotator is a system: the label they
# chose is the answer, their passages are the citations. Truth keeps its offsets and its quote, as
# citations do: a run moves both by one rule. The tags hold what the truth has no column for: label,
# label_code, in_abstract, valid_label, valid_reasoning.

def distinct: reduce .[] as $v ([]; if any(.[]; . == $v) then . else . + [$v] end);

def offset(name): (.[name] | whole) // bad(name; "want an integer, got \(.[name] | quoted)");

def annotation:
  if .UserID == "" then bad("UserID is empty") else . end
  | {by: .UserID, label: .Label, quote: .Annotations, start: offset("Evidence Start"), end: offset("Evidence End"), line: .,
     rest: others(["UserID", "PromptID", "PMCID", "Annotations", "Evidence Start", "Evidence End"])}
  | .marked = (.quote != "" or .start >= 0 or .end >= 0); # -1, -1 and no quote say that nothing was marked

def marks: [.[] | {annotator: .by} + if .marked then {chunk: 0, start, end, quote, quoted: true, value: .line} else {} end];

def cites: [.[] | select(.marked) | {source: {chunk: 0}, quote, start, end, reference: {"$members": .rest}}];

# the columns without one of ours, each with the different values that annotators gave it
def tags: . as $all
  | reduce (($all[0].rest // []) | to_entries[]) as $column ({};
      ($column.value.key | ascii_downcase | gsub(" "; "_")) as $name
      | .[if has($name) then $column.value.key else $name end] = ([$all[].rest[$column.key].value] | distinct | join("; ")));

def row:
  .truth as $truth | .file as $file | .annotations[0] as $first | $first.PMCID as $article
  | ([.prompts[]? | {PMCID, Outcome, Intervention, Comparator}] | unique) as $prompts
  | ("prompt \($first.PromptID | quoted)") as $prompt
  | if $prompts == [] then $first | bad("\($prompt) is not in \($file)")
    elif ($prompts | length) > 1 then $first | bad("\($prompt) has two meanings in \($file)")
    elif $prompts[0].PMCID != $article then
      $first | bad("\($prompt) is of article \($article | quoted), and of \($prompts[0].PMCID | quoted) in \($file)")
    else . end
  | [.annotations[] | annotation] as $all
  | ([$all[].by] | distinct) as $people
  | {id: $first.PromptID, documents: [{doc: "PMC\($article)", text, apart: true}],
     query: ($prompts[0] | "With respect to \(.Outcome), characterize the reported difference between \(.Intervention) and \(.Comparator)")} as $row
  | if $truth == null then $row + {truth: ($all | marks), tags: ($all | tags)}
    elif ($people | length) < 2 or all($people[]; . != $truth) then $row + {left_out: true, truth: ($all | marks)}
    else
      [$all[] | select(.by == $truth)] as $gold
      | $people[] | select(. != $truth) as $system
      | [$all[] | select(.by == $system)] as $own
      | $row + {$system, parts: [[$own[].label] | distinct | join("; ")], cites: ($own | cites), truth: ($gold | marks), tags: ($gold | tags)}
    end;
