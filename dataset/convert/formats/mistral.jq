# Mistral Chat Completions and Conversations with reference chunks
#
# A reference has no offsets: it stands for the text chunk before it. A document is called by
# its id in what the last message of a tool in the request has; a tool_reference by its URL,
# else by its title.
# No column has: object created role.

def message: .choices | arrays | .[0] | objects | .message | objects;

def fits: (.outputs | type) == "array" and (.conversation_id != null or .object == "conversation.response")
  or any(message; (.content | type) == "array");

def tool_reference:
  first_of(str("url"), str("title")) as $doc
  | if $doc == null then bad("neither url nor title") else . end
  | {source: {$doc, title: str("title"), type: str("tool")}};

def read:
  if (.content | type) == "string" then {parts: [.content], cites: []} else
    reduce objects("content")[] as $chunk ({parts: [], cites: []};
      (if .parts == [] then false else {part: ((.parts | length) - 1)} end) as $in
      | ($chunk | need_str("type")) as $kind
      | if $kind == "text" then .parts += [$chunk | need_str("text")]
        elif $kind == "reference" then
          .cites += [each($chunk | list("reference_ids")[]?; {source: {doc: tostring, local: true}, method: $kind, $in})]
        elif $kind == "tool_reference" then .cites += [each($chunk; tool_reference + {method: $kind, $in})]
        else . end)
  end;

def row:
  no_error
  | [if .outputs != null then objects("outputs")[] | select(need_str("type") == "message.output")
     else need("choices") as $choices | (objects("choices")[0] // bad("choices"; "no choice")) | need_obj("message") end] as $messages
  | account + {id: (id("id") // id("conversation_id")), model: last_of($messages[].model, str("model")),
      parts: [], cites: []}
  + reduce ($messages[] | read) as $m ({parts: [], cites: []};
      (.parts | length) as $n
      | .parts += $m.parts
      | .cites += [$m.cites[] | if .in then .in.part += $n else . end])
  | .cites |= some;

def text_of: first(.text, .content, .snippet, .description | strings)
  // (if (.snippets | type) == "array" then [.snippets[] | if type == "array" then .[] else . end | strings] | join("\n") else null end);

def asked:
  {model: str("model"), query: query_of(.messages // .inputs; .content; "user"),
   documents: [[(.messages // .inputs) | arrays | .[] | objects | select(.role == "tool")] | last | objects
     | .content | message_text | (try fromjson catch null) | objects | to_entries[]
     | {doc: .key} + (.value | if type == "string" then {text: .} elif type == "object" then {title: (.title | strings) // null, text: text_of} else {} end)]};
