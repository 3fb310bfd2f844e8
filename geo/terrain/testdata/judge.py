"""Runs gdaldem, as the judge of package terrain.

    judge.py    reads lists of gdaldem's arguments as JSON, one per line, from stdin: mode, source, result, options

It calls the function behind the program gdaldem in the library that rasterio's wheel has.
"""

import ctypes
import glob
import json
import os
import sys

import rasterio

HERE = os.path.dirname(rasterio.__file__)
os.environ.setdefault("PROJ_DATA", os.path.join(HERE, "proj_data"))
os.environ.setdefault("GDAL_DATA", os.path.join(HERE, "gdal_data"))


def main():
    lib = ctypes.CDLL(glob.glob(os.path.join(HERE, "..", "rasterio.libs", "libgdal*.so*"))[0])
    p, c = ctypes.c_void_p, ctypes.c_char_p
    lib.GDALOpenEx.restype, lib.GDALOpenEx.argtypes = p, [c, ctypes.c_uint, p, p, p]
    lib.GDALDEMProcessingOptionsNew.restype, lib.GDALDEMProcessingOptionsNew.argtypes = p, [p, p]
    lib.GDALDEMProcessing.restype, lib.GDALDEMProcessing.argtypes = p, [c, p, c, c, p, p]
    lib.GDALClose.argtypes = [p]
    lib.CPLGetLastErrorMsg.restype = c
    lib.GDALAllRegister()
    for line in sys.stdin:
        mode, source, result, *arguments = json.loads(line)
        argv = (c * (len(arguments) + 1))(*[a.encode() for a in arguments], None)
        options = lib.GDALDEMProcessingOptionsNew(ctypes.cast(argv, p), None)
        out = options and lib.GDALDEMProcessing(result.encode(), lib.GDALOpenEx(source.encode(), 0x42, None, None, None), mode.encode(), None, options, None)
        if not out:
            raise SystemExit("%s: %s" % (arguments, lib.CPLGetLastErrorMsg()))
        lib.GDALClose(out)


main()
