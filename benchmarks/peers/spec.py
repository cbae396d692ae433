"""Citation spans as the specification writes them, with sets of characters: ROWS SPANS.
Draws the spans that the command kernel draws."""
import sys


def evaluate(true_spans, predicted_spans, tolerance_chars=10):
    true_sets = [set(range(start, end + 1)) for start, end in true_spans]
    pred_sets = [set(range(start, end + 1)) for start, end in predicted_spans]
    similarities = []
    for true_set in true_sets:
        for pred_set in pred_sets:
            union = len(true_set | pred_set)
            exact = len(true_set & pred_set) / union if union > 0 else 0
            expanded = set()
            for position in pred_set:
                expanded.update(range(max(0, position - tolerance_chars), position + tolerance_chars + 1))
            union = len(true_set | expanded)
            tolerance = len(true_set & expanded) / union if union > 0 else 0
            similarities.append((tolerance, exact))
    return max(similarities)


state = 0


def draw(n):
    global state
    state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
    return (state >> 33) % n


def pair():
    start = draw(20000)
    mark = citation = (start, start + 20 + draw(400))
    kind = draw(3)
    if kind == 1:
        citation = (max(0, mark[0] + draw(21) - 10), mark[1] + draw(21) - 10)
    elif kind == 2:
        start = draw(20000)
        citation = (start, start + 20 + draw(400))
    # The last character is within.
    return [(start, end - 1) for start, end in (mark, citation)]


rows, spans = int(sys.argv[1]), int(sys.argv[2])
exact = tolerance = 0.0
for _ in range(rows):
    pairs = [pair() for _ in range(spans)]
    t, e = evaluate([a for a, _ in pairs], [b for _, b in pairs])
    tolerance += t
    exact += e
if spans == 1:
    print(f"{exact:.6f} {tolerance:.6f}")
