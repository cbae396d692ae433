"""Writes intervals.json: intervals by their definitions, at 50 digits.

It shares no code and no method with the package: sums are fractions, quantiles
are found by root finding on mpmath's incomplete beta function.
Run: python3 intervals.py > intervals.json   (needs mpmath)
"""
import json
from fractions import Fraction

from mpmath import betainc, erfinv, exp, log, mp, mpf, sqrt

mp.dps = 50


def real(q):
    return mpf(q.numerator) / q.denominator if isinstance(q, Fraction) else mpf(q)


def bisect(f, low, high):
    """The root of the increasing f in [low, high]."""
    for _ in range(200):
        mid = (low + high) / 2
        low, high = (mid, high) if f(mid) < 0 else (low, mid)
    return low


def z_of(level):
    return sqrt(2) * erfinv(real(level))


def t_of(level, df):
    def below(t):  # P(|T| <= t) - level
        return 1 - betainc(mpf(df) / 2, mpf(1) / 2, 0, df / (df + t * t), regularized=True) - level

    return bisect(below, mpf(0), mpf(10) ** 6)


def wilson(k, n, level):
    k, n, z = real(k), real(n), z_of(level)
    mid, half = k + z * z / 2, z * sqrt(k * (n - k) / n + z * z / 4)
    return (mid - half) / (n + z * z), (mid + half) / (n + z * z)


def clopper_pearson(k, n, level):
    tail = (1 - real(level)) / 2
    cdf = lambda p, a, b: betainc(a, b, 0, p, regularized=True)
    low = bisect(lambda p: cdf(p, k, n - k + 1) - tail, mpf(0), mpf(1)) if k else 0
    high = bisect(lambda p: cdf(p, k + 1, n - k) - (1 - tail), mpf(0), mpf(1)) if k < n else 1
    return low, high


def linearised(pairs):
    """Ratio, CR0 and CR1 of clusters (y, x)."""
    y, x = sum(p[0] for p in pairs), sum(p[1] for p in pairs)
    if x == 0:
        return None, None, None
    r, g = y / x, len(pairs)
    if g < 2:
        return r, None, None
    squares = sum((b - r * a) ** 2 for b, a in pairs)
    return r, sqrt(real(squares)) / real(x), sqrt(real(squares * g / (g - 1))) / real(x)


def number(v):
    return v if v is None or isinstance(v, (bool, int)) else float(real(v))


def case(statistic, level, expected, **given):
    cases.append({
        "id": f"{statistic}-{len(cases)}", "statistic": statistic, "input": given, "options": {"level": level},
        "expected": {k: number(v) for k, v in expected.items()}, "tolerance": {"abs": 1e-13, "rel": 1e-10},
    })


def proportion(statistic, of, k, n, level):
    if n == 0:
        return case(statistic, level, {"estimate": None, "low": None, "high": None}, k=k, n=n)
    low, high = of(k, n, level)
    low, high = (mpf(0) if k == 0 else low), (mpf(1) if k == n else high)
    case(statistic, level, {"estimate": Fraction(k) / Fraction(n), "low": low, "high": high}, k=k, n=n)


for k, n, level in [(0, 0, .95), (0, 7, .95), (7, 7, .9), (3, 11, .95), (2, 100000, .99), (1, 1, .95), (2.5, 9.25, .95)]:
    proportion("wilson", wilson, k, n, level)
for k, n, level in [(0, 0, .95), (0, 7, .95), (7, 7, .9), (3, 11, .95), (250, 1000, .999)]:
    proportion("clopper_pearson", clopper_pearson, k, n, level)


def t_ci(values, level=.95):
    pairs = [(Fraction(v), 1) for v in values]
    mean, _, se = linearised(pairs) if pairs else (None, None, None)
    half = se and t_of(level, len(values) - 1) * se
    case("t_ci", level, {
        "estimate": mean, "se": se, "sd": None if se is None else se * sqrt(len(values)),
        "low": None if se is None else real(mean) - half, "high": None if se is None else real(mean) + half,
        "degenerate": se == 0 and len(values) > 1,
    }, values=values)


t_ci([])
t_ci([.3])
t_ci([.1, .1, .1, .1, .1, .1, .1])
t_ci([.25, 1, .7, .1, .9, 0])
t_ci([1e8, 1e8 + 1, 1e8 + 2, 1e8 + 7], .9)
t_ci([-3.5, 12, 1e-7, 2.25], .99)


def micro(tp, pred, truth):
    of = {
        "precision": lambda a, p, t: (a, p), "recall": lambda a, p, t: (a, t),
        "f1": lambda a, p, t: (2 * a, p + t), "jaccard": lambda a, p, t: (a, p + t - a),
    }
    e = {}
    for name, term in of.items():
        pairs = [tuple(map(Fraction, term(*row))) for row in zip(tp, pred, truth)]
        r = linearised(pairs)[0]
        defined = [y / x for y, x in pairs if x]
        e["micro_" + name], e["n_defined_" + name] = r, len(defined)
        e["macro_" + name] = sum(defined) / len(defined) if defined else None
    case("micro_metrics", .95, e, tp=tp, pred=pred, truth=truth)


micro([4, 0, 10], [8, 0, 10], [5, 3, 20])
micro([0, 0], [0, 0], [6, 1])

lines = ",\n".join("  " + json.dumps(c) for c in cases)
print('{"doc": "made by intervals.py with mpmath at 50 digits", "cases": [\n' + lines + "\n]}")
