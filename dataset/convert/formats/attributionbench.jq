# AttributionBench: claims with their references and a label
# collection
#
# Li et al., Findings of ACL 2024: one claim of a response, the texts that it refers to, and
# whether they bear it out. The row has the one claim, 0, with a citation for every reference.
# Its label is support of 1 (attributable) or 0 by the annotator src_dataset, which is a tag, too.
# So the human judge works, and other judges can be compared with it. A reference is a document,
# called by its link where citation_links has one for each, else ID[1], ID[2] and so on.
# No column has: webpage_references.

def fits: .attribution_label != null and (.references | type) == "array";

def row:
  (first_of(id("id")) // bad("id is missing")) as $id
  | str("question") as $query | need_str("response") as $answer | need_str("claim") as $text
  | strings("references") as $references | strings("citation_links") as $links
  | (($links | length) == ($references | length)) as $linked
  | [$answer | indices($text)[]] as $at
  | (str("src_dataset") // "") as $dataset
  | ({"attributable": 1, "not attributable": 0}[need_str("attribution_label")]
      // bad("attribution_label"; "neither attributable nor not attributable")) as $value
  | {$id, $query, parts: [$answer],
     documents: [$references | to_entries[] | {doc: (if $linked then $links[.key] else "\($id)[\(.key + 1)]" end), text: .value}],
     claims: [{$text, cites: [range($references | length) | {source: {chunk: .}, unit: "document"}]}
       + if ($at | length) == 1 then {start: $at[0], end: ($at[0] + ($text | length))} else {} end],
     labels: [{annotator: $dataset, claim: 0, kind: "support", $value}],
     tags: (if $dataset == "" then null else {src_dataset: $dataset} end),
     kept: others(["id", "question", "response", "claim", "references", "src_dataset", "attribution_label",
       if $linked or $links == [] then "citation_links" else empty end,
       if .claim_raw_string == $text then "claim_raw_string" else empty end])};
