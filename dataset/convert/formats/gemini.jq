# Gemini and Vertex AI: responses, interactions and event streams with grounding
# offsets: answer byte exclusive
#
# generateContent, under the names of the API or those of its Python library
# (grounding_metadata): a segment of groundingSupports is an interval of its part or of all
# parts, in bytes; its indices name chunks. citationMetadata says where the answer recites a
# source. An event of a stream is a response with the next piece of the answer. In the
# Interactions API the texts of the steps model_output (first: outputs) are the answer; a
# stream gives a step in pieces. Helpers find grounding_metadata for "groundingMetadata".
# No column has: createTime promptFeedback object created updated role output_text
# previous_interaction_id agent_config tools response_format.

def interaction: .object == "interaction" or .status != null and ((.steps | type) == "array" or (.outputs | type) == "array")
  or (.event_type | starts("interaction."));

def fits: (.candidates | type) == "array" or interaction;

def begins: .event_type == "interaction.created" or .event_type == "interaction.start";

def chunk($n):
  first(("web", "retrievedContext", "maps", "image") as $kind | obj($kind) | objects
    | {doc: (first_of(.uri, str("documentName"), .title) // "chunk \($n)"), title: str("title"), type: $kind,
       text: (if $kind == "retrievedContext" then str("text") // (obj("ragChunk") | objects | str("text")) else null end),
       metadata: del(.uri, .title, .text, .documentName, .document_name, .ragChunk, .rag_chunk)})
  // {doc: "chunk \($n)"};

def support($parts):
  need_obj("segment") as $segment
  | ($segment | (int("partIndex") // 0) as $part
      | if $part < 0 or $part >= $parts then bad("partIndex"; "there are \($parts) parts") else . end
      | {part: $part, start: (int("startIndex") // 0), end: (int("endIndex") // 0), text: str("text")}) as $in
  | (list("groundingChunkIndices") // []) as $indices
  | (list("confidenceScores") // []) as $scores
  | range($indices | length) as $k
  | {source: {chunk: $indices[$k]}, method: "grounding", $in,
     confidence: (if ($scores | length) == ($indices | length) then $scores[$k] else null end)};

def recitation:
  {source: {doc: first_of(str("uri"), str("title")), title: str("title"), type: "recitation"}, type: "recitation",
   method: "recitation", in: {start: (int("startIndex") // 0), end: (int("endIndex") // 0)}};

def generated:
  if list("candidates") == null and .promptFeedback == null and .prompt_feedback == null then need("candidates") else . end
  | (objects("candidates")[0] // {}) as $c
  | [$c | obj("content") | objects | objects("parts")[] | {text: (str("text") // ""), hidden: (.thought == true)}] as $parts
  | ($c | obj("groundingMetadata") // {}) as $g
  | account + {
      id: str("responseId"), model: str("modelVersion"), parts: $parts,
      documents: [$g | objects("groundingChunks") | range(length) as $n | .[$n] | chunk($n)],
      cites: ([each($g | list("groundingSupports")[]?; support($parts | length))]
        + [$c | obj("citationMetadata") | objects | each((list("citations") // list("citationSources"))[]?; recitation)] | some)};

def annotation:
  (str("type") // "url_citation") as $kind
  | if $kind == "url_citation" then {source: {doc: first_of(str("url"), str("source")), title: str("title"), type: "web"}}
    elif $kind == "file_citation" then
      {source: {doc: first_of(str("document_uri"), str("file_name"), str("source")), title: str("file_name"), type: "file"}}
    elif $kind == "place_citation" then {source: {doc: first_of(str("url"), str("place_id")), title: str("name"), type: "place"}}
    else empty end
  | . + {method: $kind, type: .source.type, title: .source.title};

def contents(name): objects(name)[] | select(need_str("type") == "text")
  | {text: (str("text") // ""), cites: ([each(list("annotations")[]?; . as $a | annotation + ($a
      | {page: int("page_number"), in: (if int("endIndex") == null then false else {start: (int("startIndex") // 0), end: int("endIndex")} end)}))] | some)};

def question:
  .input
  | if type == "string" then . elif type == "object" then .text
    elif type == "array" then
      if any(.[]; type != "object" or .type == "text") then message_text
      else last_of(.[] | select(.type == "user_input" or .role == "user") | .content | message_text) end
    else null end;

def interacted:
  if .status == "failed" or .status == "cancelled" then bad("status"; "the interaction is \(.status)") else . end
  | account + {
      id: str("id"), model: first_of(str("model"), str("agent")),
      query: first_of(last_of(.steps | arrays | .[] | objects | select(.type == "user_input") | .content | message_text), question),
      parts: [(objects("steps")[] | select(need_str("type") == "model_output")
          | if .error != null then bad("error"; "the model's output is an error: \(.error | quoted)") else . end | contents("content")),
        contents("outputs")]};

def row: no_error | if interaction then interacted else generated end;

# parts that follow each other are one
def joined: reduce .[] as $p ([]; if length > 0 and (.[-1].thought == true) == ($p.thought == true)
  then .[-1] += {text: ((.[-1].text // "") + ($p.text // ""))} else . + [$p] end);

def fold_interaction:
  fails(.event_type == "error") | ends(.event_type | starts("interaction.complete"); "interaction.completed")
  | [.[] | select(.event_type == "step.delta" or .event_type == "content.delta")
      | {index: (int("index") // 0)} + (need_obj("delta") | select(.type == "text" or .type == "text_annotation" or .type == "text_annotation_delta")
        | {text: str("text"), annotations: list("annotations")})] as $deltas
  | ([.[].interaction | objects] | add // {}) + {object: "interaction"}
  | if $deltas == [] then . else del(.outputs) + {steps: [$deltas | group_by(.index)[]
      | {type: "model_output", content: [{type: "text", text: ([.[].text | strings] | add // ""), annotations: [.[].annotations | arrays | .[]]}]}]} end;

# a piece of a stream that was saved as a list, and the next
def goes_on: .[0].responseId != null and .[0].responseId == .[1].responseId
  and (.[0].candidates | type) == "array" and all(.[0].candidates[]; .finishReason == null);

def fold:
  if any(.[]; .event_type != null) then fold_interaction else
    map(no_error)
    | [.[] | objects("candidates")[] | select((.index // 0) == 0)] as $candidates
    | if all($candidates[]; (.finishReason // .finish_reason) == null) then truncated("a finishReason") else . end
    | last_of(.[] | str("responseId")) as $id | last_of(.[] | str("modelVersion")) as $model
    | last_of(.[] | obj("usageMetadata")) as $usage
    | reduce ($candidates[] | obj("groundingMetadata") | objects) as $g ({groundingChunks: [], groundingSupports: []};
        (.groundingChunks | length) as $n
        | .groundingChunks += [$g | objects("groundingChunks")[]]
        | .groundingSupports += [$g | objects("groundingSupports")[]
            | if $n > 0 then . + {groundingChunkIndices: [(list("groundingChunkIndices") // [])[] + $n]} else . end])
    | . as $grounding
    | $candidates
    | {responseId: $id, modelVersion: $model, usageMetadata: $usage, candidates: [{content: {parts: ([.[].content | objects | objects("parts")[]] | joined)}, groundingMetadata: $grounding,
        citationMetadata: {citations: [.[] | obj("citationMetadata") | objects | (list("citations") // list("citationSources"))[]?]}}]}
  end;

def asked: {model: first_of(str("model"), str("agent")), query: first_of(question, query_of(.contents; .parts; "user", "", null))};
