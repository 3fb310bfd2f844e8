"""Evaluates the cases of bench/libs/oracle with NumPy and SciPy, and with CuPy if there is a GPU.

An expression may use the arrays of its case, and xp (numpy or cupy), linalg, ndimage, signal and
sparse (of scipy or cupyx.scipy), stats and qmc (of scipy), u32 and u64 (units of rounding).
"""
import json
import sys

import numpy
import scipy.linalg
import scipy.ndimage
import scipy.signal
import scipy.sparse
import scipy.sparse.linalg
import scipy.stats
import scipy.stats.qmc

LIMITS = {"u32": 2.0**-24, "u64": 2.0**-53, "stats": scipy.stats, "qmc": scipy.stats.qmc}


def with_numpy():
    return "SciPy", numpy, dict(linalg=scipy.linalg, ndimage=scipy.ndimage, signal=scipy.signal, sparse=scipy.sparse)


def with_cupy():
    import cupy
    import cupyx.scipy.linalg
    import cupyx.scipy.ndimage
    import cupyx.scipy.signal
    import cupyx.scipy.sparse

    cupy.zeros(1)
    scipy_ = cupyx.scipy
    return "CuPy", cupy, dict(linalg=scipy_.linalg, ndimage=scipy_.ndimage, signal=scipy_.signal, sparse=scipy_.sparse)


def compare(xp, modules, case, arrays):
    """Returns whether the result is within the bound, and a description of the distance."""
    names = {**LIMITS, **modules, "xp": xp, **{k: xp.asarray(v) for k, v in arrays.items()}}
    got, want, bound = (eval(case[k], names) for k in ("Got", "Want", "Bound"))
    got, want = xp.asarray(got), xp.asarray(want)
    if got.shape != want.shape:
        return False, f"shape {got.shape}, want {want.shape}"
    if got.size == 0:
        return True, "no elements"
    if case["Bound"] == "0":
        wrong = int(xp.count_nonzero((got != want) & ~((got != got) & (want != want))))
        return wrong == 0, f"{wrong} of {got.size} differ"
    distance = xp.abs(got - want)
    ok = bool(xp.all(distance <= bound))
    return ok, f"distance {float(xp.max(distance)):.3g}, bound {float(xp.max(xp.asarray(bound))):.3g}"


archive = numpy.load(sys.argv[1])
cases = json.loads(bytes(archive["cases"]))
failed = 0
for make in with_numpy, with_cupy:
    try:
        name, xp, modules = make()
    except Exception as error:
        print("not compared:", type(error).__name__, error)
        continue
    passed, skipped = 0, 0
    for i, case in enumerate(cases):
        if case["Host"] and xp is not numpy:
            skipped += 1
            continue
        prefix = f"{i}/"
        arrays = {k[len(prefix):]: archive[k] for k in archive.files if k.startswith(prefix)}
        try:
            ok, text = compare(xp, modules, case, arrays)
        except Exception as error:
            # CuPy does not have all of NumPy and SciPy; what those cannot evaluate is wrong.
            ok, text = xp is not numpy, f"{type(error).__name__}: {error}"
            skipped += ok
            print(f"{name}: {case['Name']}: {'skipped' if ok else 'FAILED'}: {text}")
            failed += not ok
            continue
        passed += ok
        if not ok:
            failed += 1
            shapes = {k: v.shape for k, v in arrays.items()}
            print(f"{name}: {case['Name']}: FAILED: {text}; {shapes}")
        elif "-v" in sys.argv:
            print(f"{name}: {case['Name']}: {text}")
    print(f"{name}: {passed} of {len(cases)} cases agree, {skipped} skipped")
sys.exit(failed > 0)
