# Keeptrusts responses citing the Knowledge Base and the Codebase Context Fabric
# offsets: answer codepoint exclusive
#
# text_span is an interval of the answer; nothing is quoted. An asset of the Knowledge Base is
# called by its id, a file of the Fabric by its path.

def fits: (.response // "") != "" and (.response | type) == "string" and (.citations | type) == "array"
  and (.citations == [] or any(.citations[]; type == "object" and (.text_span // .source_reference // .token_contribution) != null));

def cite:
  (.source_reference | objects) // {}
  | {doc: first_of(.asset_id, .file_path), title: first_of(.asset_title, .symbol)};

# what else a citation says stands beside its reference
def reference:
  del(.citation_id, .source_type, .source_reference, .text_span, .relevance_score, .token_contribution) as $more
  | if $more == {} then .source_reference else (.source_reference // {}) + $more end;

def row:
  need_str("response") as $text
  | need("citations") as $all
  | account + {
      id: (id("id") // id("response_id") // id("request_id")), model: str("model"), system: str("system"),
      query: first_of(str("query"), str("prompt")), parts: [$text],
      cites: [each(list("citations")[];
        (obj("text_span") | if . == null then false else {part: 0, start: need_int("start"), end: need_int("end")} end) as $in
        | cite as $about
        | {source: ($about + {type: str("source_type")}), title: $about.title, type: str("source_type"), $in, id: id("citation_id"),
           relevance: num("relevance_score"), token_contribution: int("token_contribution"), reference: reference})]};

def asked: asked_chat;
