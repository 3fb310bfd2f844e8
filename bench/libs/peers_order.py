"""Prints the time in seconds of the fastest of CuPy and torch for the calls of
bench/libs/order.go that they have."""
import json
import sys

N = 1 << 26


def cupy_cases():
    import cupy

    x = (cupy.arange(N, dtype="uint32") * 1664525 + 1013904223 >> 8).astype("float32")
    a = cupy.sort(x[: N // 2])
    start, end = cupy.cuda.Event(), cupy.cuda.Event()

    def seconds(f):
        def sample(times):
            start.record()
            for _ in range(times):
                f()
            end.record()
            end.synchronize()
            return cupy.cuda.get_elapsed_time(start, end) / 1e3

        sample(3)
        times = 1 + int(0.02 / max(sample(3) / 3, 1e-6))
        return min(sample(times) / times for _ in range(7))

    return seconds, {
        "sort by comparison": lambda: cupy.sort(x),
        "lower bound": lambda: cupy.searchsorted(a, x),
        "argmin": lambda: cupy.argmin(x),
    }


def torch_cases():
    import torch

    i = torch.arange(N, device="cuda")
    state = i * 1664525 + 1013904223 & 0xFFFFFFFF
    x = (state >> 8).float()
    a = x[: N // 2].sort().values
    runs = (i // (1 + (state >> 28))).float()
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)

    def seconds(f):
        def sample(times):
            start.record()
            for _ in range(times):
                f()
            end.record()
            end.synchronize()
            return start.elapsed_time(end) / 1e3

        sample(3)
        times = 1 + int(0.02 / max(sample(3) / 3, 1e-6))
        return min(sample(times) / times for _ in range(7))

    return seconds, {
        "sort by comparison": lambda: torch.sort(x, stable=True),
        "lower bound": lambda: torch.searchsorted(a, x),
        "argmin": lambda: torch.argmin(x),
        "minmax": lambda: torch.aminmax(x),
        "unique of runs": lambda: torch.unique_consecutive(runs),
        "run lengths": lambda: torch.unique_consecutive(runs, return_counts=True),
    }


best = {}
for library in (cupy_cases, torch_cases):
    try:
        seconds, cases = library()
    except Exception as error:  # a library that is missing does not hide the other
        print(library.__name__, error, file=sys.stderr)
        continue
    for name, f in cases.items():
        try:
            best[name] = min(seconds(f), best.get(name, float("inf")))
        except Exception as error:
            print(name, error, file=sys.stderr)
print(json.dumps(best))
