"""Writes files in several formats with GDAL and says what GDAL reads of them.

judge.py write FOLDER SEED   writes the files and prints a description of each
judge.py read FILE...        prints descriptions
"""

import hashlib
import json
import os
import sys
import warnings

import numpy as np
import rasterio
import rasterio.shutil
from rasterio.enums import ColorInterp, MaskFlags, Resampling
from rasterio.control import GroundControlPoint
from rasterio.rpc import RPC
from rasterio.transform import Affine

warnings.simplefilter("ignore")


def digest(a):
    return hashlib.sha256(np.ascontiguousarray(a).tobytes()).hexdigest()


def number(v):
    return None if v is None else "nan" if v != v else repr(float(v))


def describe(name):
    with rasterio.open(name) as ds:
        kind = np.result_type(*ds.dtypes).name if ds.count else ""
        out = dict(file=name, driver=ds.driver, width=ds.width, height=ds.height, bands=ds.count, type=kind,
                   nodata=number(ds.nodata), epsg=ds.crs.to_epsg() if ds.crs else None, crs=bool(ds.crs),
                   transform=list(ds.transform.to_gdal()) if ds.transform != Affine.identity() else None,
                   interpretation=[c.name for c in ds.colorinterp], subdatasets=ds.subdatasets,
                   scales=list(ds.scales), offsets=list(ds.offsets), units=[u or "" for u in ds.units],
                   descriptions=[d or "" for d in ds.descriptions], tags=ds.tags(), band_tags=[ds.tags(i + 1) for i in range(ds.count)],
                   overviews=[], mask=None, palette=None, points=[], rpc=None)
        if ds.count == 0:
            return out
        out["sum"] = digest(ds.read(out_dtype=kind))
        window = ((ds.height // 3, ds.height // 3 + ds.height // 2), (ds.width // 5, ds.width // 5 + ds.width // 2))
        out["window"] = digest(ds.read(window=window, out_dtype=kind))
        if MaskFlags.per_dataset in ds.mask_flag_enums[0] and MaskFlags.alpha not in ds.mask_flag_enums[0]:
            out["mask"] = digest(np.where(ds.read_masks(1) != 0, 255, 0).astype(np.uint8))
        if ds.colorinterp[0] == ColorInterp.palette:
            table = ds.colormap(1)
            out["palette"] = [list(table[i][:3]) for i in range(len(table))]
        points, system = ds.gcps
        if points and system:
            out["crs"], out["epsg"] = True, system.to_epsg()
        out["points"] = [[p.col, p.row, p.x, p.y, p.z or 0] for p in points]
        if ds.rpcs:
            out["rpc"] = [ds.rpcs.line_off, ds.rpcs.lat_scale, *ds.rpcs.samp_den_coeff]
        for level in range(len(ds.overviews(1))):
            with rasterio.open(name, overview_level=level) as o:
                out["overviews"].append(dict(width=o.width, height=o.height, sum=digest(o.read(out_dtype=kind))))
        return out


def write(folder, seed):
    rng = np.random.default_rng(seed)
    place = dict(crs="EPSG:32633", transform=Affine(10, 0, 500000.5, 0, -10, 5300000.25))
    names = []

    def make(name, driver, data, options={}, change=None, base="GTiff", **profile):
        source = os.path.join(folder, name + ".source.tif")
        bands, height, width = data.shape
        with rasterio.open(source, "w", driver="GTiff", width=width, height=height, count=bands, dtype=data.dtype, **{**place, **profile}) as ds:
            ds.write(data)
            if change:
                change(ds)
        out = os.path.join(folder, name)
        rasterio.shutil.copy(source, out, driver=driver, **options)
        if driver != "VRT":
            os.remove(source)
        names.append(out)
        return out

    def random(kind, bands=1, height=233, width=311):
        info = np.iinfo(kind) if np.issubdtype(kind, np.integer) else None
        if info:
            return rng.integers(info.min, info.max, (bands, height, width), kind, endpoint=True)
        return (rng.standard_normal((bands, height, width)) * 1e3).astype(kind)

    def described(ds):
        ds.update_tags(AUTHOR="nobody", PLACE="a \"b\" <c>")
        ds.update_tags(1, UNIT="m")
        ds.scales, ds.offsets = [0.5] * ds.count, [3.25] * ds.count
        ds.units = ["m"] * ds.count
        ds.descriptions = [f"band {i}" for i in range(ds.count)]

    def colors(ds):
        ds.write_colormap(1, {i: (i, 255 - i, i * 7 % 256, 255) for i in range(256)})

    def alpha(ds):
        ds.colorinterp = [ColorInterp.red, ColorInterp.green, ColorInterp.blue, ColorInterp.alpha]

    def masked(ds):
        ds.write_mask(rng.integers(0, 2, (ds.height, ds.width)).astype(np.uint8) * 255)

    make("u16.img", "HFA", random("uint16", 3), nodata=7, change=described)
    pyramid = make("pyramid.img", "HFA", random("uint8", 3, 700, 900), dict(COMPRESSED="YES"))
    with rasterio.open(pyramid, "r+") as ds:
        ds.build_overviews([2, 4], Resampling.average)
    make("palette.img", "HFA", random("uint8"), change=colors, photometric="palette")
    make("cube.dat", "ENVI", random("int16", 40, 50, 70), dict(INTERLEAVE="BIL"), nodata=-9999)
    make("complex.dat", "ENVI", (random("float32", 2) + 1j * random("float32", 2)).astype("complex64"))
    make("float.dat", "ENVI", random("float64", 2), crs="EPSG:4326", transform=Affine(0.01, 0, 10, 0, -0.01, 50))
    make("lossless.jp2", "JP2OpenJPEG", random("uint8", 3, 700, 600), dict(QUALITY="100", REVERSIBLE="YES", YCC="NO"))
    make("deep.jp2", "JP2OpenJPEG", rng.integers(0, 4096, (1, 300, 200), "uint16"), dict(QUALITY="100", REVERSIBLE="YES", NBITS="12"))
    make("grid.asc", "AAIGrid", random("float32"), dict(DECIMAL_PRECISION="6"), nodata=-1)
    make("rotated.vrt", "VRT", random("int32", 2), transform=Affine(10, 2, 500000, 3, -9, 5300000), change=described)
    make("rgba.gpkg", "GPKG", random("uint8", 4), change=alpha, crs="EPSG:3857")
    make("alpha.vrt", "VRT", random("uint8", 4), change=alpha)
    make("mask.vrt", "VRT", random("uint8", 3), change=masked)
    make("big.vrt", "VRT", random("uint64"), nodata=2**63 + 2048)
    make("nan.vrt", "VRT", random("float32"), nodata=float("nan"))
    make("field.nc", "netCDF", random("float32"), nodata=-9999)
    variables = make("variables.nc", "netCDF", random("int16", 2))
    names[-1:] = [f'NETCDF:"{variables}":Band{i}' for i in (1, 2)]
    make("gray.png", "PNG", random("uint16"))
    make("gray.bmp", "BMP", random("uint8"))
    make("int8.vrt", "VRT", random("int8"))
    point = [GroundControlPoint(row=r, col=c, x=10 + c / 1e3, y=50 - r / 1e3, z=r) for r in (0, 200) for c in (0, 150, 300)]
    make("points.vrt", "VRT", random("uint8"), gcps=point, crs="EPSG:4326", transform=None)
    rpc = RPC(height_off=1, height_scale=2, lat_off=3, lat_scale=4, line_off=5, line_scale=6, long_off=7, long_scale=8, samp_off=9, samp_scale=10,
              line_num_coeff=list(map(float, range(20))), line_den_coeff=[1.0] * 20, samp_num_coeff=[2.5] * 20, samp_den_coeff=[0.125 * i for i in range(20)])
    make("rpc.vrt", "VRT", random("uint16"), rpcs=rpc, crs=None, transform=None)
    make("area.vrt", "VRT", random("uint8"), change=lambda ds: ds.update_tags(AREA_OR_POINT="Point"))
    albers = "+proj=aea +lat_1=29.5 +lat_2=45.5 +lat_0=23 +lon_0=-96 +x_0=1 +y_0=2 +datum=NAD83"
    make("albers.img", "HFA", random("uint8"), crs=albers)
    make("krovak.img", "HFA", random("uint8"), crs="EPSG:5514")
    make("robinson.img", "HFA", random("uint8"), crs="ESRI:54030")
    return names


if sys.argv[1] == "write":
    files = write(sys.argv[2], int(sys.argv[3]))
else:
    files = sys.argv[2:]
print(json.dumps(dict(files=[describe(f) for f in files], gdal=rasterio.__gdal_version__)))
