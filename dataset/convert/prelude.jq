# Functions that all programs have, beside those in Go: need, need_KIND and KIND (str, num,
# int, bool, obj, list, id) of a member, objects and strings of a list, bad, truncated, quoted,
# account.

def now: error("now: the same file must give the same rows");

# to_entries in the order of the record
def entries: _entries($__record);

# a member of the object that has the response as its member
def beside(name): _beside($__record; name);

# a value as JSON, as the record has it
def raw: _raw($__record);

# the results of f for each of some annotations; one that fails is left out, and reported
def each(items; f): items | . as $item | try f catch
  (if type == "object" and has("$bad") then . else {"$bad": tostring, "$at": $item} end);

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
