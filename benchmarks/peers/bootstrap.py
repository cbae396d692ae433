"""The percentile interval of a mean by scipy: RESAMPLES FILE."""
import sys

import numpy
import scipy.stats

values = numpy.loadtxt(sys.argv[2])
found = scipy.stats.bootstrap((values,), numpy.mean, n_resamples=int(sys.argv[1]), batch=8, method="percentile",
                              confidence_level=0.95, random_state=1)
print(f"{found.confidence_interval.low:.9f} {found.confidence_interval.high:.9f}")
