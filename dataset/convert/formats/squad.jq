# SQuAD 1.1 and 2.0, CMRC 2018: questions with the answers that people marked in paragraphs
# collection
# offsets: source codepoint exclusive
#
# Rajpurkar et al., 2016 and 2018; CMRC 2018 and other collections share the form: questions about
# a paragraph, each with the answers that people marked in it. A question is a row: its id, and
# its answers as truth. Nobody's name is given, so the first answer is that of annotator 1, the
# second that of annotator 2. A question that cannot be answered (is_impossible) has an empty
# truth; one without answers that is not said to be so has none.
#
# An answer is a text and where it starts; it ends where a text of its length in the same unit
# does. The unit is code points, as SQuAD counts, unless the texts prove another one, as those of
# CMRC 2018 do, which counts UTF-16 units. A text that is
# elsewhere, but once only, moves there. One that the paragraph does not have once is no place: it
# is not in the truth, it is warned of, and it is kept in the tag source_reference.
#
# A paragraph is a document, called by the title of its article, else by its own id, else by the
# file, the next ones with that name NAME#2, NAME#3 and so on.

def fits: .data | arrays | .[0] | objects | (.paragraphs | type) == "array";

def members(name): if has(name) then . else bad(name; "missing") end | list(name) | null;

def truth: to_entries[] | .key as $i | .value
  | {annotator: "\($i + 1)", chunk: 0, quote: need_str("text"), start: need_int("answer_start"), name: "answers[\($i)]", value: .};

def question($document):
  need_str("question") as $query
  | (first_of(id("id")) // bad("id is missing")) as $id
  | bool("is_impossible") as $impossible
  | objects("answers") as $answers
  | if $impossible and $answers != [] then bad("is_impossible"; "the question has answers") else . end
  | {$id, $query, documents: [$document],
     truth: (if $answers == [] and $impossible != true then null else [$answers | truth] end),
     kept: ([$answers | to_entries[] | "answers[\(.key)]." as $in | .value | others(["text", "answer_start"])[] | .key |= $in + .]
       + others(["id", "question", "is_impossible", "answers"]))};

def paragraph($title; $about):
  id("id") as $id | need_str("context") as $text | members("qas") as $there
  | ([if $id == null then empty else {key: "id", value: $id} end] + others(["id", "context", "qas"])) as $own
  | (if any($about[], $own[] | .key; . as $key | any($own[]; .key == $key) and any($about[]; .key == $key))
     then $own + [{key: "source_reference", value: {"$members": $about}}] else $about + $own end) as $more
  | {doc: (first_of($title, $id) // stem), $title, $text, metadata: (if $more == [] then null else {"$members": $more} end)} as $document
  | rows(.qas[]?; question($document));

def article($version):
  str("title") as $title | members("paragraphs") as $there
  | ([if $version == null then empty else {key: "version", value: $version} end] + others(["title", "paragraphs"])) as $about
  | rows(.paragraphs[]?; paragraph($title; $about));

def row: id("version") as $version | members("data") as $there | rows(.data[]?; article($version));
