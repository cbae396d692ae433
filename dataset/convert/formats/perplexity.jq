# Perplexity Sonar responses, with markers that count their sources
#
# citations are the URLs that marks such as [1] count from 1. search_results say more of them,
# where there are as many and of the same URLs. A snippet is a part of its page.
# No column has: object created.

def fits: (.choices | type) == "array" and ((.citations | type) == "array" or (.search_results | type) == "array");

def listed: strings("citations") | map({doc: ., type: "web"});

def found: objects("search_results") | map({doc: need_str("url"), title: str("title"), type: "web",
  metadata: (del(.url, .title, .snippet))} + snippet);

def row:
  no_error
  | need("choices") as $choices
  | (objects("choices")[0] // bad("choices"; "no choice") | need_obj("message") | str("content") // "") as $text
  | listed as $listed | found as $found
  | account + {id: id("id"), model: str("model"), parts: [$text]}
  + if $listed == [] or ($listed | map(.doc)) == ($found | map(.doc)) then {numbered: $found}
    elif $found == [] then {numbered: $listed}
    else {numbered: $listed, warn: ["search_results are not those of citations: \($found | length) and \($listed | length)"]} end;

def asked: asked_chat;

def fold: fold_chat;
