# Pydantic AI message histories: the last answer, and what tools returned
# flat
# list

def fits: (.kind == "request" or .kind == "response") and any(.parts[]; .part_kind != null);

def fold: {messages: .};

# what a tool returned: documents, or a text
def returned:
  if type == "array" then .[] elif type == "object" then (first_of(.documents, .results) | arrays | .[]) // . else . end;

def row:
  [.messages[] | .parts[]] as $parts
  | ([.messages[] | select(.kind == "response") | select(any(.parts[]; .part_kind == "text"))] | last // bad("no answer")) as $answer
  | {model: $answer.model_name,
     query: last_of($parts[] | select(.part_kind == "user-prompt") | .content | message_text),
     answer: ([$answer.parts[] | select(.part_kind == "text") | .content] | join("")),
     documents: [$parts[] | select(.part_kind == "tool-return") | .content | returned]};
