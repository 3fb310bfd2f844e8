"""Prints the time in seconds of the fastest of CuPy and torch for the calls of
bench/libs/algo.go that they have."""
import json
import sys

LARGE, SORTED = 1 << 28, 1 << 26


def cupy_cases():
    import cupy

    x = cupy.random.random(LARGE, dtype="float32")
    small, rows = x[: 1 << 16], x.reshape(1 << 14, -1)
    columns = x.reshape(-1, 1 << 14)
    b = cupy.random.randint(0, 256, LARGE, dtype="uint8")
    keys = cupy.random.randint(-(1 << 31), (1 << 31) - 1, SORTED, dtype="int32")
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
        "sum": lambda: cupy.sum(x),
        "sum of 65536": lambda: cupy.sum(small),
        "sum of rows": lambda: cupy.sum(rows, axis=1),
        "sum of columns": lambda: cupy.sum(columns, axis=0),
        "inclusive scan": lambda: cupy.cumsum(x),
        "select": lambda: x[x != 0],
        "count": lambda: cupy.count_nonzero(x),
        "histogram": lambda: cupy.histogram(x, bins=256, range=(0, 1)),
        "bincount": lambda: cupy.bincount(b, minlength=256),
        "sort": lambda: cupy.sort(keys),
        "sort pairs": lambda: cupy.argsort(keys),
        "top 100": lambda: cupy.argpartition(x, LARGE - 100),
        "sort of 4096": lambda: cupy.sort(keys[:4096]),
    }


def torch_cases():
    import torch

    x = torch.rand(LARGE, device="cuda")
    small, rows = x[: 1 << 16], x.view(1 << 14, -1)
    columns = x.view(-1, 1 << 14)
    keys = torch.randint(-(1 << 31), (1 << 31) - 1, (SORTED,), device="cuda", dtype=torch.int32)
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
        "sum": lambda: torch.sum(x),
        "sum of 65536": lambda: torch.sum(small),
        "sum of rows": lambda: torch.sum(rows, 1),
        "sum of columns": lambda: torch.sum(columns, 0),
        "mean and variance": lambda: torch.var_mean(x),
        "inclusive scan": lambda: torch.cumsum(x, 0),
        "select": lambda: x[x != 0],
        "count": lambda: torch.count_nonzero(x),
        "histogram": lambda: torch.histc(x, 256, 0, 1),
        "sort": lambda: torch.sort(keys),
        "sort pairs": lambda: torch.sort(keys),
        "top 100": lambda: torch.topk(x, 100),
        "sort of 4096": lambda: torch.sort(keys[:4096]),
        "sort rows of 1024": lambda: torch.sort(keys.view(-1, 1024)),
    }


best = {}
for cases in cupy_cases, torch_cases:
    try:
        seconds, calls = cases()
    except Exception as error:  # one library that is missing does not hide the other
        print(error, file=sys.stderr)
        continue
    for name, call in calls.items():
        try:
            best[name] = min(seconds(call), best.get(name, float("inf")))
        except Exception as error:
            print(name, error, file=sys.stderr)
print(json.dumps(best))
