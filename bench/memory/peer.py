"""Prints the speed of CuPy's copies between GPUs. Arguments: devices, bytes per copy."""
import json
import sys
import time

import cupy

devices, size = int(sys.argv[1]), int(sys.argv[2])
IN_ROW, TIMES = 8, 5
runtime = cupy.cuda.runtime

source, target, stream = [], [], []
for i in range(devices):
    with cupy.cuda.Device(i):
        source.append(cupy.ones(size, cupy.uint8))
        target.append(cupy.zeros(size, cupy.uint8))
        stream.append(cupy.cuda.Stream(non_blocking=True))
        for j in range(devices):
            if i != j and runtime.deviceCanAccessPeer(i, j):
                runtime.deviceEnablePeerAccess(j)
        cupy.cuda.Device(i).synchronize()

for i in range(devices):
    for j in range(devices):
        if i == j:
            continue
        took = []
        with cupy.cuda.Device(i):
            for turn in range(TIMES + 1):
                begin = time.perf_counter()
                for _ in range(IN_ROW):
                    runtime.memcpyPeerAsync(target[j].data.ptr, j, source[i].data.ptr, i, size, stream[i].ptr)
                stream[i].synchronize()
                if turn > 0:
                    took.append(time.perf_counter() - begin)
        print(json.dumps({f"{i} to {j}": IN_ROW * size / sorted(took)[TIMES // 2] / 1e9}))
