# Functions that all programs have, beside those in Go: need, need_KIND and KIND (str, num,
# int, bool, obj, list, id) of a member, one_of of a member and its values, bad,
# quoted; is_row, if an object is a flat row; once(part), where a text holds a part, white space ignored, if once only.

def now: error("now: the same file must give the same rows");

# to_entries in the order of the record
def entries: _entries($__record);

# a member of the object that has the response as its member
def beside(name): _record($__record)[name];

# the elements of a list, none if it is null or absent, which must be of a kind
def objects(name): _elements($__record; name; "an object");
def strings(name): _elements($__record; name; "a string");

# the number of the record in its file, and the name of the file without its ending
def number: $__number;
def stem: $__stem;

# what the records of the file tell together
def surveyed: $__surveyed;

# the members of an object but some, in the order of the record
def others(names): names as $names | [entries[] | select(.key as $key | $names | index($key) | not)];

# the same as an object that keeps their order, null if there are none
def rest(names): others(names) | if . == [] then null else {"$members": .} end;

# the first of some names that has a value, else the first
def given(names): . as $in | first(names[] | select($in[.] != null)) // names[0];

# the integer of 64 bits that a text is, null if it is none
def whole: if test("^[+-]?[0-9]+$") then ltrimstr("+") | tonumber | if -9223372036854775808 <= . and . <= 9223372036854775807 then . else null end
  else null end;

# a text without what a regular expression matches
def without($regex): split($regex; "") | join("");

# objects with a text as an answer of sentences, each a claim that cites what f makes of it
def sentences(f): [.[] | need_str("text") | trim] as $texts
  | {parts: [$texts | to_entries[] | if .key > 0 then " " else empty end, .value],
     claims: [to_entries[] | {text: $texts[.key], part: (2 * .key), cites: [.value | f]}]};

# the rows that f makes of the parts of a record that are records of their own. parts is a path,
# such as .data[]. A part that is wrong costs itself.
def rows(parts; f): . as $in | path(parts) as $path | getpath($path)
  | (try f catch (if type == "object" and has("$bad") then . else {"$bad": tostring} end))
  | if type == "object" and (has("$in") | not) then . + {"$in": $in, "$path": $path} else . end;

# a value as JSON, as the record has it
def raw: _raw($__record);

# the results of f for each of some annotations; one that fails is left out, and reported
def each(items; f): items | . as $item | try f catch
  (if type == "object" and has("$bad") then . else {"$bad": tostring, "$at": $item} end);

# the first of some values that is a number from 0 up: others say nothing
def amount(f): first(f | numbers | select(. >= 0 and . <= 9007199254740992)) // null;

# what an answer took, by its provider's account
def account:
  (reduce (objects | .usage, .usageMetadata, .usage_metadata, .meta | objects) as $use ({};
    ([($use.billed_units, $use.tokens | objects), $use]
      | if .[1:] == [] then .[0] else .[-2] end) as $tokens # Cohere has them inside
    | amount($tokens.input_tokens, $tokens.inputTokens, $tokens.prompt_tokens) as $read
    | .cost |= amount(., $use.cost, ($use.cost | objects | .total_cost))
    | if $read == null then . else .read = ([$read, # Anthropic counts these apart
        amount($tokens.cache_creation_input_tokens), amount($tokens.cache_read_input_tokens)] | add) end
    | .written |= amount(., $tokens.output_tokens, $tokens.outputTokens, $tokens.completion_tokens)
    | .total |= amount(., $tokens.total_tokens, $tokens.totalTokens, $tokens.totalTokenCount, $tokens.total_token_count))) as $took
  | {cost_usd: $took.cost,
     tokens: ($took.total // if $took.read != null and $took.written != null then $took.read + $took.written else null end),
     latency_ms: amount(objects | .metrics | objects | .latencyMs)};

# the text of a source that has a part of it
def snippet: str("snippet") as $part | if ($part // "") == "" then {} else {text: $part, partial: true} end;

# a list, null if it is empty: an answer that a provider says nothing of has the marks of its text
def some: if . == [] then null else . end;

# the first of some values that is neither null nor ""
def first_of(f): first(f | select(. != null and . != "")) // null;

# the last of some values that is neither null nor ""
def last_of(f): reduce (f | select(. != null and . != "")) as $v (null; $v);

def starts(s): type == "string" and startswith(s);

# the text of a message: a string, or the texts of its pieces, one a line
def message_text:
  if type == "string" then .
  elif type == "array" then [.[] | if type == "string" then . else objects | .text | strings end] | join("\n")
  else null end;

# the texts of content blocks, or a string that stands for one
def blocks: if type == "string" then [.] elif . == null then [] else [.[] | str("text") // ""] end;

# the question: a string, or the last message of one of some roles that says anything
def query_of(input; content; roles):
  input as $in
  | if ($in | type) == "string" then $in
    else last_of($in | arrays | .[] | select(.role as $r | any(roles; . == $r)) | content | message_text) end;

# fails if a response is an error and nothing else
def no_error: if (.error | type) == "object" then bad("the response is an error: \(.error | quoted)") else . end;

# fails at the first event that is an error, and if none is the last
def fails(is): (first(.[] | select(is)) // null) as $e
  | if $e == null then . else $e | bad("the stream is an error: \(quoted)") end;
def truncated(what): (if type == "array" and . != [] then .[-1] else . end) | bad("truncated: the stream ends before \(what)");
def ends(is; name): if any(.[]; is) then . else truncated(name) end;

# the chunks of a stream of chat completions as one completion
def fold_chat:
  ends(any(.choices[]?; .finish_reason != null); "a finish_reason")
  | [.[].choices[]? | select((.index // 0) == 0) | .delta // .message | objects] as $deltas
  | ([.[].usage | objects] | last) as $usage
  | (.[0] | del(.choices, .usage)) + ([.[] | objects | del(.choices, .usage, .object)] | add)
  + {object: "chat.completion", usage: $usage, choices: [{message: {
      content: ([$deltas[].content | strings] | add // ""),
      annotations: [$deltas[] | .annotations | arrays | .[]]}}]};

# the request of chat completions, and of those who ask like it
def asked_chat: {model: str("model"), query: query_of(.messages // .input; .content; "user")};

# a response out of an object that has it as a member, a line of a batch or one that a user made,
# and what stands beside it
def unwrapped: . as $in
  | if type != "object" then null
    elif (.response | type) == "object" then .response | (.body | objects) // .
    elif (.result | type) != "object" then null
    elif (.result.type | type) == "string" and .result.type != "succeeded" then
      bad("result"; "the request of the batch has not succeeded: \(.result.type | quoted)")
    else (.result.message | objects) // null end
  | if . == null then {response: $in} else . as $response | $in
      | {$response, id: first_of(id("id"), id("custom_id")), system: str("system"), query: str("query"), request,
         cost_usd: num("answer_cost_usd"), tokens: num("answer_tokens"), latency_ms: num("answer_latency_ms")} end;

# a request, which in files of batches is a member
def unwrapped_request: first(objects | if .custom_id != null then (.params, .body | objects) else empty end, .) // null;
