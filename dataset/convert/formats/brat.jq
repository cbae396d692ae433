# brat standoff: pairs of .txt and .ann files, annotators in folders
# collection
# offsets: source codepoint exclusive
#
# The format of the brat annotation tool (Stenetorp et al., EACL 2012): X.ann has the annotations of
# X.txt, one on each line.
#
# The annotators of a directory are its folders that have .ann files, by the name of the folder, and,
# if it has such files itself, one without a name. A text may lie beside the annotations, or in the
# directory for all of them; copies must be the same. An annotator without X.ann did not see X; an
# empty X.ann says that there was nothing to mark.
#
# Every X is a row: id is X, the document X.txt, query and answer are "", citations are null. Each
# text-bound annotation is truth, each piece of one that is in several pieces a span of its own,
# whatever its type. Lines of every kind stand under their ids in the tag source_reference, without
# the texts; relations, events, equivalences and normalizations are counted besides. Any line that
# cannot be read spoils the document: with a part of its spans it would be scored wrongly.
#
# Offsets count code points, zero-based, end exclusive, line ends as one character even where the file
# has two; the texts of the annotations prove or refute it.

# how many units each character of a text has
def widths(unit): explode[] | if unit == "codepoint" then 1 elif unit == "utf16" then if . > 65535 then 2 else 1 end
  elif . < 128 then 1 elif . < 2048 then 2 elif . < 65536 then 3 else 4 end;

# the text of an annotation in parts as long as its places, with gaps between, if that comes out even
def cut($places; $unit; $gap): . as $text
  | [foreach (0, widths($unit)) as $w (0; . + $w)] as $ends
  | [foreach $places[] as $p ({to: -$gap}; .from = .to + $gap | .to = .from + $p.end - $p.start; [.from, .to])] as $cuts
  | if $cuts[-1][1] != $ends[-1] or any($places[]; .start < 0 or .end < .start) then empty else
      [$cuts[][] as $at | $ends | bsearch($at)]
      | if any(.[]; . < 0) then empty else [. as $all | range(0; length; 2) | $text[$all[.]:$all[. + 1]]] end
    end;

# The text of an annotation divided between its places: a space stands between them, or nothing in
# files of brat before 1.3. If it cannot be divided, every place has the whole, which refutes it.
def divided($places): . as $text
  | if ($places | length) < 2 then [$text]
    else first(("codepoint", "utf16", "byte") as $unit | (1, 0) as $gap | cut($places; $unit; $gap)) // [$places[] | $text] end;

# a text before and behind the first of some part, null where there is none
def parted(part): index(part) as $i | if $i == null then [., null] else [.[:$i], .[$i + 1:]] end;

# what a line says: an id, a tab, and what its first letter says. A text-bound annotation has a type,
# pairs of offsets, a tab and the text that stands there, from which each pair gets its part.
def annotation: . as $piece
  | def wrong(why): why as $why | $piece | bad($why);
  .line | . as $line | parted("\t") as [$id, $rest]
  | if $rest == null then wrong("want an id, a tab and an annotation, got \($line | quoted)")
    elif $id != "*" and ($id | test("^[TREAMN#]") | not) then wrong("unknown kind of annotation \($id | quoted)")
    elif $id != "*" and ($id | test("^.[0-9]") | not) then wrong("want a number after the letter, got \($id | quoted)")
    else . end
  | {$id, data: $rest, $piece, spans: []}
  | if $id[:1] != "T" then . else
      ($rest | parted("\t")) as [$data, $text] | ($data | parted(" ")) as [$label, $offsets]
      | if $offsets == null or $label == "" then wrong("want a type and offsets, got \($data | quoted)") else . end
      | [$offsets | split(";")[] | . as $pair | [split(" ")[] | whole] | {start: .[0], end: .[1]}
          | if ($pair | test("^[^ ]+ [^ ]+$")) and .start != null and .end != null then .
            else wrong("want two offsets with a space between, got \($pair | quoted)") end] as $places
      | (($text // "") | divided($places)) as $parts
      | . + {$data, $label, spans: [range($places | length) | $places[.] + {quote: $parts[.]}]}
    end;

# the annotations of one annotator, each under the name that it is kept by
def layer:
  [.lines[] | annotation] | to_entries
  | map(.value + {key: (if .value.id == "*" then "*[\(.key)]" else .value.id end)})
  | ([group_by(.key)[] | select(length > 1)[1]][0]) as $twice
  | if $twice == null then . else $twice.piece | bad("id \($twice.key | quoted) is there twice") end;

def kinds: {R: "relation", "*": "equivalence", E: "event", N: "normalization"};

def row: .name as $name
  | [.layers[] | {annotator, all: layer}] as $layers
  | {id: $name, documents: [{doc: "\($name).txt", text, standoff: {marked}}],
     truth: (if $layers == [] then null else
       [$layers[] | .annotator as $annotator
         | [.all[] | .piece as $value | .spans[] | {$annotator, chunk: 0, $value} + .] | if . == [] then {$annotator} else .[] end] end),
     marked_as: [$layers[].all[].label | strings],
     ignored: [$layers[].all[].id[:1] as $kind | kinds[$kind] | strings],
     kept: [$layers[] | [.all[] | {key, value: .data}] as $lines
       | if .annotator == "" then $lines[] elif $lines == [] then empty else {key: .annotator, value: {"$members": $lines}} end]};
