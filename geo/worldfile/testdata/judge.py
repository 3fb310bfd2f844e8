"""GDAL's view of PNG and JPEG files.

judge.py write FOLDER SEED  writes images with GDAL, and describes them
judge.py read FILE...       describes files
judge.py systems FILE...    compares the system of each TIFF file with that of the .prj beside it: how far points are apart
"""

import hashlib
import json
import os
import sys
import warnings

import numpy as np
import rasterio
import rasterio.shutil
import rasterio.warp
from rasterio.enums import ColorInterp
from rasterio.transform import Affine

warnings.simplefilter("ignore")


def describe(name):
    with rasterio.open(name) as ds:
        pixels = ds.read()
        raw = os.path.join(os.path.dirname(name), os.path.basename(name) + ".raw")
        np.ascontiguousarray(pixels).tofile(raw)
        return dict(file=name, raw=raw, driver=ds.driver, width=ds.width, height=ds.height, bands=ds.count, type=ds.dtypes[0],
                    nodata=None if ds.nodata is None else float(ds.nodata), epsg=ds.crs.to_epsg() if ds.crs else None,
                    crs=ds.crs.to_wkt() if ds.crs else "", transform=list(ds.transform.to_gdal()) if ds.transform != Affine.identity() else None,
                    interpretation=[c.name for c in ds.colorinterp], tags=ds.tags(),
                    palette=[list(ds.colormap(1)[i][:3]) for i in range(len(ds.colormap(1)))] if ds.colorinterp[0] == ColorInterp.palette else None)


def write(folder, seed):
    rng = np.random.default_rng(seed)
    names = []

    def make(name, driver, data, options={}, change=None, **profile):
        source = os.path.join(folder, "source.tif")
        bands, height, width = data.shape
        place = dict(crs="EPSG:32633", transform=Affine(10, 0, 500000.5, 0, -10, 5300000.25))
        with rasterio.open(source, "w", driver="GTiff", width=width, height=height, count=bands, dtype=data.dtype, **{**place, **profile}) as ds:
            ds.write(data)
            if change:
                change(ds)
        out = os.path.join(folder, name)
        rasterio.shutil.copy(source, out, driver=driver, **options)
        names.append(out)

    def random(kind, bands=1, height=533, width=611):
        return rng.integers(0, np.iinfo(kind).max, (bands, height, width), kind, endpoint=True)

    def smooth(bands, height=333, width=411):
        y, x = np.mgrid[:height, :width]
        return np.stack([128 + 100 * np.sin((x + 30 * b) / 40) * np.cos(y / 35) for b in range(bands)]).astype(np.uint8)

    def colors(ds):
        ds.write_colormap(1, {i: (i, 255 - i, i * 7 % 256, 255) for i in range(256)})

    def tags(ds):
        ds.update_tags(AUTHOR="nobody", AREA_OR_POINT="Point")

    make("gray.png", "PNG", random("uint8"), change=tags)
    make("deep.png", "PNG", random("uint16", 3), dict(WORLDFILE="YES"))
    make("rgba.png", "PNG", random("uint8", 4), transform=Affine(3, 1, 7, 2, -5, 9))
    make("ga.png", "PNG", random("uint16", 2))
    make("palette.png", "PNG", random("uint8"), change=colors, photometric="palette")
    make("nodata.png", "PNG", random("uint8"), nodata=17)
    make("gray.jpg", "JPEG", smooth(1), dict(QUALITY="95"))
    make("color.jpg", "JPEG", smooth(3), dict(QUALITY="95", WORLDFILE="YES"))
    make("progressive.jpeg", "JPEG", smooth(3), dict(QUALITY="90", PROGRESSIVE="YES"))
    os.remove(os.path.join(folder, "source.tif"))
    return names


def apart(name):
    with open(name[:-4] + ".prj") as f:
        want = rasterio.crs.CRS.from_wkt(f.read())
    with rasterio.open(name) as ds:
        points = [14.0, 16.2, 11.1], [46.0, 48.5, 52.3]
        a, b = (np.array(rasterio.warp.transform("OGC:CRS84", c, *points)) for c in (ds.crs, want))
        return float(np.abs(a - b).max())


if sys.argv[1] == "systems":
    print(json.dumps([apart(f) for f in sys.argv[2:]]))
    sys.exit()
files = write(sys.argv[2], int(sys.argv[3])) if sys.argv[1] == "write" else sys.argv[2:]
print(json.dumps([describe(f) for f in files]))
