"""Evaluate expressions of bands with NumPy: an object with "file" and "expressions" on the standard input, a list of lists on the output."""
import json
import sys

import numpy
import rasterio

task = json.load(sys.stdin)
with rasterio.open(task["file"]) as source:
    bands = {f"b{i}": source.read(i).astype("float64") for i in source.indexes}
names = {k: getattr(numpy, k) for k in ("minimum", "maximum", "logical_and", "logical_or", "logical_not", "where", "sqrt", "abs")}
results = []
with numpy.errstate(all="ignore"):
    for expression in task["expressions"]:
        value = eval(expression, names, bands)
        results.append([float(v) if numpy.isfinite(v) else None for v in numpy.asarray(value, "float64").astype("float32").ravel()])
json.dump(results, sys.stdout)
