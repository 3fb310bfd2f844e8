"""Runs in another process: opens memory exported by Go, or exports memory to Go."""
import base64
import json
import sys

import cupy

runtime = cupy.cuda.runtime


def array(pointer, count):
    memory = cupy.cuda.UnownedMemory(pointer, 4 * count, None)
    return cupy.ndarray((count,), cupy.float32, cupy.cuda.MemoryPointer(memory, 0))


if sys.argv[1] == "open":
    handle = json.loads(sys.argv[2])
    start = runtime.ipcOpenMemHandle(base64.b64decode(handle["memory"]), 1)
    x = array(start + handle["offset"], handle["size"] // 4)
    print(json.dumps(x.tolist()))
    x *= 3
    cupy.cuda.Device().synchronize()
    runtime.ipcCloseMemHandle(start)
else:
    memory = cupy.cuda.Memory(4 << 20)
    x = array(memory.ptr + 32, 6)
    x[:] = cupy.arange(6, dtype=cupy.float32)
    cupy.cuda.Device().synchronize()
    handle = base64.b64encode(runtime.ipcGetMemHandle(memory.ptr)).decode()
    print(json.dumps({"memory": handle, "offset": 32, "size": 24}), flush=True)
    sys.stdin.read()  # Go closes stdin when it is done
    print(json.dumps(x.tolist()))
