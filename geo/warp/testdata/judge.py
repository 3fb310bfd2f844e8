"""Runs gdalwarp, as the judge of package warp.

    judge.py warp            reads lists of gdalwarp's arguments as JSON, one per line, from stdin
    judge.py time ARGUMENTS  runs gdalwarp once, and prints seconds and CPU seconds
    judge.py version         prints the version of GDAL

It calls the function behind the program gdalwarp in the library that rasterio's wheel has.
"""

import ctypes
import glob
import json
import os
import sys
import time

import rasterio

HERE = os.path.dirname(rasterio.__file__)
os.environ.setdefault("PROJ_DATA", os.path.join(HERE, "proj_data"))
os.environ.setdefault("PROJ_LIB", os.path.join(HERE, "proj_data"))
os.environ.setdefault("GDAL_DATA", os.path.join(HERE, "gdal_data"))


def library():
    name = glob.glob(os.path.join(HERE, "..", "rasterio.libs", "libgdal*.so*"))[0]
    lib = ctypes.CDLL(name)
    p, c = ctypes.c_void_p, ctypes.c_char_p
    lib.GDALOpenEx.restype, lib.GDALOpenEx.argtypes = p, [c, ctypes.c_uint, p, p, p]
    lib.GDALWarpAppOptionsNew.restype, lib.GDALWarpAppOptionsNew.argtypes = p, [p, p]
    lib.GDALWarp.restype, lib.GDALWarp.argtypes = p, [c, p, ctypes.c_int, p, p, p]
    lib.GDALWarpAppOptionsFree.argtypes = [p]
    lib.GDALClose.argtypes = [p]
    lib.CPLGetLastErrorMsg.restype = c
    lib.GDALVersionInfo.restype, lib.GDALVersionInfo.argtypes = c, [c]
    lib.GDALAllRegister()
    return lib


def warp(lib, arguments, sources, result):
    argv = (ctypes.c_char_p * (len(arguments) + 1))(*[a.encode() for a in arguments], None)
    options = lib.GDALWarpAppOptionsNew(ctypes.cast(argv, ctypes.c_void_p), None)
    if not options:
        raise SystemExit("%s: %s" % (arguments, lib.CPLGetLastErrorMsg()))
    handles = (ctypes.c_void_p * len(sources))(*[lib.GDALOpenEx(s.encode(), 0x42, None, None, None) for s in sources])
    failed = ctypes.c_int(0)
    out = lib.GDALWarp(result.encode(), None, len(sources), handles, options, ctypes.byref(failed))
    if not out or failed.value:
        raise SystemExit("%s: %s" % (arguments, lib.CPLGetLastErrorMsg()))
    lib.GDALClose(out)
    for h in handles:
        lib.GDALClose(h)
    lib.GDALWarpAppOptionsFree(options)


def main():
    lib = library()
    if sys.argv[1] == "version":
        print(lib.GDALVersionInfo(b"RELEASE_NAME").decode())
    elif sys.argv[1] == "time":
        start, cpu = time.time(), time.process_time()
        *arguments, source, result = sys.argv[2:]
        if "-oo" in arguments:  # the program opens sources itself
            i = arguments.index("-oo")
            os.environ["GDAL_NUM_THREADS"] = "ALL_CPUS"
            del arguments[i:i + 2]
        warp(lib, arguments, [source], result)
        print("%.3f %.3f" % (time.time() - start, time.process_time() - cpu))
    else:
        for line in sys.stdin:
            job = json.loads(line)
            warp(lib, job["arguments"], job["sources"], job["result"])


main()
