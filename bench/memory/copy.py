"""Measures torch's copies between page-locked memory and the GPU in GB/s."""
import json
import statistics
import sys
import time

import torch

n, times = int(sys.argv[1]), int(sys.argv[2])
device = torch.empty(n, dtype=torch.uint8, device="cuda")
pinned = torch.zeros(n, dtype=torch.uint8, pin_memory=True)
pageable = torch.zeros(n, dtype=torch.uint8)


def rate(f):
    f()
    torch.cuda.synchronize()
    took = []
    for _ in range(times):
        begin = time.perf_counter()
        f()
        torch.cuda.synchronize()
        took.append(time.perf_counter() - begin)
    return n / statistics.median(took) / 1e9


print(json.dumps({
    "pinned in": rate(lambda: device.copy_(pinned, non_blocking=True)),
    "pinned out": rate(lambda: pinned.copy_(device, non_blocking=True)),
    "pageable in": rate(lambda: device.copy_(pageable)),
    "pageable out": rate(lambda: pageable.copy_(device)),
}))
