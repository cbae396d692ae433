# LongCite predictions: statements with cited sentences of a long text
# collection
#
# Zhang et al., 2024, for LongBench-Cite and other long texts: an answer in statements, each with
# the sentences of the text that it cites. A statement is a claim, and the answer is the
# prediction without its marks, as LongCite's own scorer reads it. A citation has the offsets
# that LongCite found for the sentences (code points of the context from 0, the end excluded) and
# what stands there. The context is context, or splited_context without its marks <C0>: what had
# been trimmed off its beginning is found by the citations, which then move. Predictions for
# LongBench-Cite have no context: then what is cited is known, and no more. The document is
# called by idx.
# No column has: all_statements few_shot_scores.

def fits: (.statements | type) == "array" and .prediction != null or (.statements_with_citations | type) == "array";

def names: {start: given(["start_char", "start_char_idx"]), end: given(["end_char", "end_char_idx"])};

def cite: names as $names
  | {source: {chunk: 0}, quote: str("cite"), start: int($names.start), end: int($names.end), reference: rest(["cite", $names[]])};

# the statements as claims, each found behind the one before
def claims($answer): reduce .[] as $statement ({at: 0, rest: $answer, claims: []};
    ($statement | need_str("statement") | trim) as $text
    | (.rest | index($text)) as $index
    | (if $index == null then null else .at + $index end) as $start
    | ($text | length) as $length
    | .claims += [{$text, $start, end: (if $start == null then null else $start + $length end),
        cites: [$statement | objects("citation")[] | cite]}]
    | if $start == null then . else .at = $start + $length | .rest = .rest[$index + $length:] end)
  | .claims;

# by how much citations are off of a text whose beginning was trimmed off after their offsets had
# been found: 0 unless all that the text holds once are off by the same
def off($text): [.[].cites[] | select(.start != null and .end != null and .quote != null)
    | .start + (.quote | length) - (.quote | ltrim | length) - (.quote as $quote | $text | once($quote) | objects | .start)]
  | if min == max and (min // -1) >= 0 then min else 0 end;

def row:
  (first_of(id("idx")) // "\(number)") as $id
  | (if .statements != null then ["prediction", "statements"] else ["answer", "statements_with_citations"] end) as [$marked, $statements]
  | need_str($marked) as $prediction
  | ($prediction | without("(?s)<cite>.*?</cite>") | without("</?statement>") | trim) as $answer
  | given(["context", "splited_context"]) as $context
  | ($context == "splited_context" and .[$context] != null) as $split
  | (str($context) | if $split then without("<C[0-9]+>") else . end) as $text
  | objects($statements) as $all
  | ($all | claims($answer)) as $claims
  | (if $split then $claims | off($text) else 0 end) as $off
  | (str("dataset") // "") as $dataset
  | {$id, query: str("query"), parts: [$answer], documents: [{doc: $id, $text}],
     claims: [$claims[] | .cites[] |= if .start == null or .end == null then . else .start = ([0, .start - $off] | max) | .end -= $off end],
     tags: (if $dataset == "" then null else {dataset: $dataset} end),
     kept: ([{key: $marked, value: $prediction}]
       + [$all | to_entries[] | "\($statements)[\(.key)]." as $in | .value | others(["statement", "citation"])[] | .key |= $in + .]
       + others(["idx", "query", "dataset", $marked, $statements, $context]))};
