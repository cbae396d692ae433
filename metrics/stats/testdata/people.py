"""Makes people.json: cases about agreement, judges and samples, computed
slowly and plainly (character by character, pair by pair, in fractions). Python
3.11, standard library only.

    python3 people.py > people.json
"""
import hashlib
import itertools
import json
import math
from fractions import Fraction as F
from statistics import NormalDist

Z = NormalDist().inv_cdf(0.975)
cases = []


def case(statistic, input, options, expected, tol=1e-10):
    cases.append({"id": f"{statistic}-{len(cases)}", "statistic": statistic, "input": input, "options": options,
                  "expected": expected, "tolerance": {"abs": tol, "rel": tol}})


def num(x):
    return None if x is None else float(x)


# Krippendorff 2011, "Computing Krippendorff's alpha-reliability", section E:
# .743 nominal, .815 ordinal, .849 interval, .797 ratio.
N = None
K2011 = [[1, 2, 3, 3, 2, 1, 4, 1, 2, N, N, N], [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, N, 3],
         [N, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, N], [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, N]]


def units(ratings):
    return [[r[u] for r in ratings if r[u] is not None] for u in range(len(ratings[0]))]


def alpha(ratings, level):
    pool = [u for u in units(ratings) if len(u) > 1]
    values = sorted(v for u in pool for v in u)
    n = len(values)

    def delta(a, b):
        if level == "nominal":
            return F(a != b)
        if level == "interval":
            return F(a - b) ** 2
        if level == "ratio":
            return F(a - b, a + b) ** 2
        lo, hi = min(a, b), max(a, b)
        return (F(sum(lo <= v <= hi for v in values)) - F(values.count(lo) + values.count(hi), 2)) ** 2
    do = sum(delta(a, b) / (len(u) - 1) for u in pool for a, b in itertools.permutations(u, 2)) / n
    de = sum(delta(a, b) for a, b in itertools.permutations(values, 2)) / F(n * (n - 1))
    return 1 - do / de if de else None


for level, published in [("nominal", .743), ("ordinal", .815), ("interval", .849), ("ratio", .797)]:
    a = alpha(K2011, level)
    assert abs(float(a) - published) < .0006, (level, float(a))
    case("krippendorff_alpha", {"ratings": K2011}, {"level": level}, {"alpha": num(a)})
case("krippendorff_alpha", {"ratings": [[2, 2], [2, 2]]}, {"level": "nominal"}, {"alpha": None})


def percent(ratings):
    pool = [u for u in units(ratings) if len(u) > 1]
    if not pool:
        return None, 0
    return sum(F(sum(a == b for a, b in itertools.permutations(u, 2)), len(u) * (len(u) - 1)) for u in pool) / len(pool), len(pool)


def shares(ratings, categories):
    pool = [u for u in units(ratings) if u]
    return [sum(F(u.count(c), len(u)) for u in pool) / len(pool) for c in categories]


for ratings, cats in [(K2011, [1, 2, 3, 4, 5]), ([[1, 0, 1, N], [1, 1, 0, 1]], [0, 1, 2]), ([[1, 1], [1, 1]], [0, 1])]:
    pa, n = percent(ratings)
    case("percent_agreement", {"ratings": ratings}, {}, {"value": num(pa), "n_units": n})
    p = shares(ratings, cats)
    pe = sum(x * x for x in p)
    case("fleiss_kappa", {"ratings": ratings}, {"categories": cats},
         {"kappa": num((pa - pe) / (1 - pe) if pe != 1 else None), "p_bar": num(pa), "p_e": num(pe)})
    pe = sum(x * (1 - x) for x in p) / (len(cats) - 1)
    case("gwet_ac1", {"ratings": ratings}, {"categories": cats}, {"ac1": num((pa - pe) / (1 - pe)), "p_a": num(pa), "p_e": num(pe)})


# Agreement on the labels of the 2x2 table of many textbooks: 20, 5, 10, 15 give
# kappa 0.4.
def kappa(a, b, w):
    n = len(a)
    o = sum(F(w(x, y)) for x, y in zip(a, b)) / n
    e = sum(F(w(x, y)) for x in a for y in b) / n / n
    return 1 - o / e if e else None


A, B = [0] * 25 + [1] * 25, [0] * 20 + [1] * 5 + [0] * 10 + [1] * 15
assert kappa(A, B, lambda x, y: x != y) == F(2, 5)
case("cohen_kappa", {"a": A, "b": B}, {"categories": [0, 1], "weights": "none", "level": 0.95},
     {"kappa": 0.4, "p_o": 0.7, "p_e": 0.5, "n": 50})
A, B = [0, 1, 2, 2, 1, 0, 2, N], [0, 2, 2, 1, 1, 1, 0, 1]
for name, w in [("linear", lambda x, y: abs(x - y)), ("quadratic", lambda x, y: (x - y) ** 2)]:
    case("cohen_kappa", {"a": A, "b": B}, {"categories": [0, 1, 2], "weights": name, "level": 0.95},
         {"kappa": num(kappa(A[:7], B[:7], w)), "p_o": None, "p_e": None, "n": 7})
case("cohen_kappa", {"a": [0, 0], "b": [0, 0]}, {"categories": [0, 1], "weights": "none", "level": 0.95},
     {"kappa": None, "se": None, "low": None, "high": None, "p_o": 1.0, "p_e": 1.0, "n": 2})


# Spans, one character at a time.
def chars(spans, length):
    return {i for s, e, _ in spans for i in range(max(s, 0), min(e, length))}


def pair(x, y, length):
    n11, n10, n01 = len(x & y), len(x - y), len(y - x)
    n00 = length - n11 - n10 - n01
    po = F(n11 + n00, length)
    pe = F(len(x) * len(y) + (length - len(x)) * (length - len(y)), length * length)
    m = F(len(x) + len(y), 2 * length)
    return {"inter": n11, "union": len(x | y), "jaccard": num(F(n11, len(x | y)) if x | y else None),
            "dice": num(F(2 * n11, len(x) + len(y)) if x | y else None), "percent": num(po),
            "kappa": num((po - pe) / (1 - pe) if pe != 1 else None), "ac1": num(1 - (1 - po) / (1 - 2 * m * (1 - m)))}


S = [[[3, 9, "a"], [8, 12, "a"]], [], None, [[5, 20, "a"], [30, 99, "a"]]]
LENGTH = 40
seen = [i for i, s in enumerate(S) if s is not None]
case("pair_char", {"length": LENGTH, "annotators": S}, {},
     {"pairs": [{"i": i, "j": j, **pair(chars(S[i], LENGTH), chars(S[j], LENGTH), LENGTH)} for i, j in itertools.combinations(seen, 2)]})


def char_alpha(docs):
    columns = []
    for d in docs:
        sets = [chars(s, d["length"]) for s in d["annotators"] if s is not None]
        if len(sets) > 1:
            columns += [[int(i in s) for s in sets] for i in range(d["length"])]
    raters = max((len(c) for c in columns), default=0)
    return alpha([[c[r] if r < len(c) else None for c in columns] for r in range(raters)], "nominal") if raters else None


docs = [{"length": LENGTH, "annotators": S}, {"length": 25, "annotators": [[[0, 4, "a"]], None]}, {"length": 10, "annotators": [[[2, 6, "a"]], [[3, 7, "a"]]]}]
case("char_alpha", {"documents": docs}, {}, {"alpha": num(char_alpha(docs)), "n_documents_used": 2})
case("char_alpha", {"documents": [{"length": 9, "annotators": [[], []]}]}, {}, {"alpha": None, "n_documents_used": 1})


# Unitized alpha by its definition: every two segments of different annotators.
def segments(spans, length):
    out, at = [], 0
    for s, e, c in sorted(spans):
        if s > at:
            out.append((at, s, None))
        out.append((s, e, c))
        at = e
    return out + ([(at, length, None)] if at < length else [])


def u_alpha(annotators, length):
    m = len(annotators)
    seg = [segments(a, length) for a in annotators]
    values = sorted({c for a in seg for _, _, c in a}, key=str)
    l = {(c, k): F(0) for c in values for k in values}
    for x, y in itertools.permutations(range(m), 2):
        for s, e, c in seg[x]:
            for t, f, k in seg[y]:
                l[c, k] += F(max(0, min(e, f) - max(s, t)), m - 1)
    lc = {c: sum(l[c, k] for k in values) for c in values}
    total = sum(lc.values())
    sq = {c: sum((e - s) ** 2 if c else e - s for a in seg for s, e, d in a if d == c) for c in values}
    e = {c: total * (lc[c] ** 2 - sq[c]) / (total ** 2 - sum(sq.values())) for c in values}
    do, de = total - sum(l[c, c] for c in values), total - sum(e.values())
    return 1 - do / de if de else None


two = [[[10, 20, "x"], [40, 45, "y"]], [[12, 25, "x"], [44, 50, "x"]], []]
case("u_alpha", {"length": 60, "annotators": two}, {}, {"u_alpha": num(u_alpha(two, 60))})
case("u_alpha", {"length": 60, "annotators": [[[0, 10, "x"], [10, 20, "x"]], [[0, 20, "x"]]]}, {},
     {"u_alpha": num(u_alpha([[[0, 10, "x"], [10, 20, "x"]], [[0, 20, "x"]]], 60))})


def wilson(k, n):
    c, h = k + Z * Z / 2, Z * math.sqrt(k * (n - k) / n + Z * Z / 4)
    return (c - h) / (n + Z * Z), (c + h) / (n + Z * Z)


tp, fp, fn, tn = 7, 2, 3, 8
lo, hi = wilson(tp, tp + fn)
case("confusion", {"tp": tp, "fp": fp, "fn": fn, "tn": tn}, {"level": 0.95},
     {"tp": tp, "fp": fp, "fn": fn, "tn": tn, "sensitivity": .7, "specificity": .8, "ppv": 7 / 9, "npv": 8 / 11, "accuracy": .75,
      "balanced_accuracy": .75, "youden": .5, "f1": 14 / 19, "mcc": (56 - 6) / math.sqrt(9 * 10 * 10 * 11), "kappa": .5,
      "sens_low": lo, "sens_high": hi})
case("confusion", {"tp": 0, "fp": 0, "fn": 0, "tn": 4}, {"level": 0.95},
     {"sensitivity": None, "specificity": 1.0, "ppv": None, "mcc": None, "kappa": None, "f1": None, "youden": None, "sens_low": None})

case("correlation", {"x": [1, 2, 3, 4, 5], "y": [2, 1, 4, 3, 5]}, {"level": 0.95},
     {"n": 5, "pearson": .8, "spearman": .8, "pearson_low": math.tanh(math.atanh(.8) - Z / math.sqrt(2)),
      "spearman_high": math.tanh(math.atanh(.8) + Z * math.sqrt(1.32 / 2))})
case("correlation", {"x": [1, 1, 1], "y": [1, 2, 3]}, {"level": 0.95}, {"n": 3, "pearson": None, "spearman": None, "pearson_low": None})

case("calibration", {"scores": [0, .5, .7, .71, 1], "labels": [0, 1, 0, 1, 1]}, {"bins": 10},
     {"bins": [{"bin": 0, "count": 1, "mean_score": 0.0, "positive_rate": 0.0}, {"bin": 4, "count": 1, "mean_score": .5, "positive_rate": 1.0},
               {"bin": 6, "count": 1, "mean_score": .7, "positive_rate": 0.0}, {"bin": 7, "count": 1, "mean_score": .71, "positive_rate": 1.0},
               {"bin": 9, "count": 1, "mean_score": 1.0, "positive_rate": 1.0}],
      "ece": (.5 + .7 + .29) / 5, "mce": .7, "brier": (.25 + .49 + .29 ** 2) / 5})

case("isotonic", {"x": [1, 2, 2, 3, 4], "y": [0, 1, 0, 0.2, 1], "weights": N, "query": [0, 1.5, 2, 3.5, 9]}, {},
     {"x": [1, 2, 3, 4], "fitted": [0, .4, .4, 1], "predicted": [0, .2, .4, .7, 1]})

case("rogan_gladen", {"k": 60, "n": 100, "k_se": 45, "n_se": 50, "k_sp": 35, "n_sp": 50}, {"level": 0.95}, {"estimate": .5, "raw": .5})
case("rogan_gladen", {"k": 60, "n": 100, "k_se": 20, "n_se": 50, "k_sp": 30, "n_sp": 50}, {"level": 0.95}, {"estimate": None, "lr_low": None})

case("ppi_mean", {"y": [1, 0, 1, 1], "f": [1, 1, 1, 0], "f_unlabeled": [1, 0, 1, 1, 1]}, {"level": 0.95, "mode": "ppi"},
     {"lambda": 1.0, "estimate": .8, "se": math.sqrt(.16 / 5 + .5 / 4)})
case("ppi_mean", {"y": [1, 0], "f": [1, 1], "f_unlabeled": [1]}, {"level": 0.95, "mode": "ppi++"}, {"lambda": 0.0, "estimate": .5, "se": math.sqrt(.125)})
case("ppi_mean", {"y": [1], "f": [1], "f_unlabeled": [1]}, {"level": 0.95, "mode": "ppi++"}, {"lambda": None, "estimate": None, "se": None, "low": None})

case("allocate", {"sizes": {"a": 60, "b": 40}}, {"rate": 0.07, "min_total": 0, "min_per_stratum": 1}, {"allocation": {"a": 4, "b": 3}, "total": 7, "target": 7})
case("allocate", {"sizes": {"a": 97, "b": 2, "c": 0}}, {"rate": 0.1, "min_total": 0, "min_per_stratum": 1}, {"allocation": {"a": 10, "b": 1, "c": 0}, "total": 11, "target": 10})
ids = [f"q{i}" for i in range(9)]
case("hash_select", {"seed": "s", "items": {"x": ids}, "n": {"x": 3}}, {},
     {"selected": {"x": sorted(ids, key=lambda i: hashlib.sha256(f"s\0x\0{i}".encode()).hexdigest())[:3]}})

print('{"doc": "made by people.py in fractions, character by character", "cases": [')
print(",\n".join("  " + json.dumps(c) for c in cases))
print("]}")
