"""Writes and reads TIFF files with GDAL, as the judge of package tiff.

    judge.py write FOLDER    writes files, and prints one JSON object per file
    judge.py small FOLDER    writes a few small ones; "judge.py small testdata > testdata/gdal.json" made
                             those of the repository
    judge.py read            reads JSON objects {"file", "sum", ...} from stdin, and prints what
                             differs in the file
    judge.py time FILE       prints seconds and CPU seconds of reading a file, and of writing what was read
                             with the same storage
    judge.py cog FILES       validates Cloud Optimized GeoTIFFs with rio-cogeo, strictly
    judge.py validate FILES  validates them with GDAL's validate_cloud_optimized_geotiff

It needs rasterio and rio-cogeo, and for "validate" only osgeo_utils.
"""

import hashlib
import itertools
import json
import os
import sys
import time
import warnings

import numpy as np

try:
    import rasterio
    from rasterio.control import GroundControlPoint
    from rasterio.rpc import RPC
    from rasterio.transform import Affine, from_origin
except ImportError:  # validate needs only osgeo_utils
    rasterio = None

warnings.filterwarnings("ignore")

TYPES = ["uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float32", "float64",
         "complex_int16", "complex64", "complex128"]
WIDTH, HEIGHT, BANDS = 61, 45, 3


def numpy_type(name):
    return np.dtype("complex64" if name == "complex_int16" else name)


def pixels(name, bands=BANDS, seed=0):
    """Smooth samples with noise, bands first."""
    r = np.random.default_rng(seed)
    smooth = 100 * np.sin(np.arange(bands * HEIGHT * WIDTH) / 300) + r.normal(0, 3, bands * HEIGHT * WIDTH)
    smooth = smooth.reshape(bands, HEIGHT, WIDTH)
    if name == "complex_int16":
        return (np.round(smooth * 100) + 1j * np.round(smooth[::-1] * 50)).astype("complex64")
    t = numpy_type(name)
    if t.kind == "c":
        return (smooth + 1j * smooth[::-1]).astype(t)
    if t.kind == "f":
        smooth = smooth.astype(t)
        smooth[0, 3, 4], smooth[0, 5, 6] = np.inf, np.nan
        return smooth
    return (smooth * 1000).astype("int64").astype(t)


def checksum(a):
    """The SHA-256 of samples, bands first; complex integers as pairs of int16."""
    return hashlib.sha256(np.ascontiguousarray(a).tobytes()).hexdigest()


def as_stored(name, a):
    if name != "complex_int16":
        return a
    return np.stack([a.real, a.imag], axis=-1).astype("int16")


def save(folder, name, data, dtype, then=None, **options):
    path = os.path.join(folder, name + ".tif")
    with rasterio.open(path, "w", driver="GTiff", width=data.shape[2], height=data.shape[1], count=data.shape[0],
                       dtype=dtype, **options) as f:
        f.write(data)
        if then:
            then(f)
    return {"file": path, "type": dtype, "sum": checksum(as_stored(dtype, data))}


def predictors(compress, dtype):
    yield 1
    if compress in ("LZW", "DEFLATE", "ZSTD") and numpy_type(dtype).itemsize <= 8:
        yield 2
        if numpy_type(dtype).kind == "f":
            yield 3


def matrix(folder):
    n = 0
    for dtype, compress in itertools.product(TYPES, ["NONE", "LZW", "DEFLATE", "PACKBITS", "ZSTD"]):
        data = pixels(dtype)
        for predictor in predictors(compress, dtype):
            for interleave, tiled, endian, big in itertools.product(
                    ["PIXEL", "BAND"], [False, True], ["LITTLE", "BIG"], ["YES", "NO"]):
                options = dict(compress=compress, interleave=interleave, tiled=tiled, endianness=endian, bigtiff=big)
                if predictor > 1:
                    options["predictor"] = predictor
                if tiled:
                    options.update(blockxsize=32, blockysize=16)
                else:
                    options.update(blockysize=7)
                n += 1
                yield save(folder, f"m{n}", data, dtype, **options) | {"what": f"{dtype} {options}"}


def features(folder):
    """Files with what TIFF has beyond samples."""
    byte = pixels("uint8")
    transform = from_origin(300000, 4500000, 30, 30)
    utm = dict(crs="EPSG:32618", transform=transform)
    yield save(folder, "nodata", pixels("int16"), "int16", nodata=-9999, **utm) | {"nodata": -9999}
    yield save(folder, "nan", pixels("float32"), "float32", nodata=float("nan"), **utm) | {"nodata": "nan"}
    yield save(folder, "alpha", pixels("uint8", 4), "uint8", photometric="RGB", alpha="YES", **utm) | {"extra": [2]}
    yield save(folder, "associated", pixels("uint8", 4), "uint8", photometric="RGB", alpha="PREMULTIPLIED", **utm) | {"extra": [1]}
    for bits, dtype in [(1, "uint8"), (2, "uint8"), (4, "uint8"), (7, "uint8"), (9, "uint16"), (12, "uint16"), (17, "uint32"), (24, "uint32")]:
        for endian in "LITTLE", "BIG":
            data = pixels(dtype) & ((1 << bits) - 1)
            yield save(folder, f"bits{bits}{endian}", data, dtype, nbits=bits, endianness=endian)
    half = np.nan_to_num(pixels("float32"), posinf=0).astype("float16").astype("float32")
    yield save(folder, "half", half, "float32", nbits=16, compress="DEFLATE", predictor=3)
    colors = {i: (i, 255 - i, i // 2, 255) for i in range(256)}
    yield save(folder, "palette", byte[:1], "uint8", lambda f: f.write_colormap(1, colors), photometric="palette") | {"palette": True}
    yield save(folder, "white", byte[:1], "uint8", photometric="MINISWHITE")

    sparse = np.zeros((1, HEIGHT, WIDTH), "uint8")
    sparse[0, 17:, 17:] = 7
    yield save(folder, "sparse", sparse, "uint8", tiled=True, blockxsize=16, blockysize=16, sparse_ok=True)
    sparse = np.full((1, HEIGHT, WIDTH), -5, "int16")
    yield save(folder, "sparse_nodata", sparse, "int16", tiled=True, blockxsize=16, blockysize=16, sparse_ok=True, nodata=-5)

    mask = (np.arange(HEIGHT * WIDTH).reshape(HEIGHT, WIDTH) % 7 != 0).astype("uint8") * 255
    with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True):
        yield save(folder, "mask", byte, "uint8", lambda f: f.write_mask(mask), tiled=True, blockxsize=32, blockysize=32) | {"mask": checksum(mask)}

    def describe(f):
        f.update_tags(NAME="a <b> & \"c\"", OTHER="ü")
        f.update_tags(2, BANDTAG="value")
        f.update_tags(ns="DOMAIN", KEY="in a domain")
        f.set_band_description(1, "first")
        f.scales, f.offsets, f.units = (2.0, 1.0, 1.0), (10.0, 0.0, 0.0), ("metre", "", "")
    yield save(folder, "metadata", byte, "uint8", describe) | {"metadata": True}

    rotated = Affine(20, 5, 300000, 6, -20, 4500000)
    yield save(folder, "rotated", byte, "uint8", crs="EPSG:32618", transform=rotated) | {"transform": rotated.to_gdal(), "epsg": 32618}
    yield save(folder, "area", byte, "uint8", **utm) | {"transform": transform.to_gdal(), "epsg": 32618}
    yield save(folder, "point", byte, "uint8", lambda f: f.update_tags(AREA_OR_POINT="Point"), **utm) | {
        "transform": transform.to_gdal(), "epsg": 32618, "point": True}
    gcps = [GroundControlPoint(row=r, col=c, x=1000 + c * 2.5, y=5000 - r * 3, z=7) for r, c in [(0, 0), (0, 20), (40, 0), (44.5, 15.25)]]
    yield save(folder, "gcps", byte, "uint8", crs="EPSG:4326", gcps=gcps) | {
        "gcps": [[g.col, g.row, g.x, g.y, g.z] for g in gcps], "epsg": 4326}
    rpc = RPC(err_bias=1.5, err_rand=0.5, line_off=100.5, samp_off=200.25, lat_off=45, long_off=-75, height_off=120, line_scale=100,
              samp_scale=200, lat_scale=.5, long_scale=.25, height_scale=500,
              line_num_coeff=[i + .5 for i in range(20)], line_den_coeff=[1.0] + [i / 8 for i in range(19)],
              samp_num_coeff=[-i / 4 for i in range(20)], samp_den_coeff=[1.0] + [i / 16 for i in range(19)])
    yield save(folder, "rpc", byte, "uint8", rpcs=rpc) | {"rpc": list(rpc.to_dict().values())}
    lcc = "+proj=lcc +lat_1=49 +lat_2=44 +lat_0=46.5 +lon_0=3 +x_0=700000 +y_0=6600000 +ellps=GRS80 +units=m"
    yield save(folder, "defined", byte, "uint8", crs=lcc, transform=transform) | {"epsg": 0, "key": [3078, 49]}

    def reduce(f):
        f.build_overviews([2, 4], rasterio.enums.Resampling.average)
    yield save(folder, "overviews", byte, "uint8", reduce, tiled=True, blockxsize=16, blockysize=16) | {"overviews": 2}


def lossy(folder):
    """JPEG, which is compared with a tolerance."""
    r = np.arange(WIDTH)[None, :] / 10 + np.arange(HEIGHT)[:, None] / 11
    rgb = np.stack([127 + 100 * np.sin(r + k) for k in range(3)]).astype("uint8")
    for name, data, options in [
            ("gray", rgb[:1], {}), ("rgb", rgb, dict(photometric="RGB")), ("ycbcr", rgb, dict(photometric="YCBCR")),
            ("planes", rgb, dict(interleave="BAND")), ("cmyk", np.concatenate([rgb, rgb[:1]]), dict(photometric="CMYK"))]:
        for tiled in False, True:
            size = dict(tiled=True, blockxsize=32, blockysize=32) if tiled else dict(blockysize=16)
            out = save(folder, f"jpeg_{name}_{tiled}", data, "uint8", compress="JPEG", jpeg_quality=90, **options, **size)
            with rasterio.open(out["file"]) as f:
                raw = out["file"] + ".raw"
                f.read().tofile(raw)
            yield out | {"raw": raw, "sum": ""}


def small(folder):
    """Writes a few files of each kind."""
    global WIDTH, HEIGHT
    WIDTH, HEIGHT = 21, 18
    for i, (dtype, compress, predictor, more) in enumerate([
            ("uint8", "LZW", 2, {}), ("int16", "DEFLATE", 2, dict(endianness="BIG")), ("uint32", "ZSTD", 2, dict(bigtiff="YES")),
            ("float32", "DEFLATE", 3, dict(tiled=True)), ("float64", "LZW", 3, dict(endianness="BIG", interleave="BAND")),
            ("uint16", "PACKBITS", 1, dict(interleave="BAND")), ("complex64", "NONE", 1, dict(endianness="BIG")),
            ("complex_int16", "DEFLATE", 2, dict(endianness="BIG")), ("int8", "NONE", 1, dict(tiled=True, bigtiff="YES", endianness="BIG"))]):
        data = pixels(dtype)[:2]
        more = dict(more, blockysize=16 if "tiled" in more else 7)
        if "tiled" in more:
            more["blockxsize"] = 16
        if predictor > 1:
            more["predictor"] = predictor
        show(save(folder, f"small{i}", data, dtype, compress=compress, **more))
    wanted = {"nan", "bits1LITTLE", "bits12BIG", "half", "sparse_nodata", "mask", "metadata", "point", "gcps", "rpc", "defined"}
    for entry in features(folder):
        keep(entry, wanted)
    for entry in lossy(folder):
        keep(entry, {"jpeg_ycbcr_True", "jpeg_gray_False"})


def show(entry):
    print(json.dumps(entry))


def keep(entry, wanted):
    if os.path.basename(entry["file"])[:-4] in wanted:
        return show(entry)
    os.remove(entry["file"])
    if "raw" in entry:
        os.remove(entry["raw"])


def read(lines):
    """Compares files with what Go says that is in them."""
    for line in lines:
        want = json.loads(line)
        with rasterio.open(want["file"]) as f:
            problems = []

            def check(name, got):
                if name in want and want[name] != got:
                    problems.append(f"{name} is {got}, not {want[name]}")

            data = f.read()
            check("sum", checksum(as_stored(f.dtypes[0], data)))
            check("type", f.dtypes[0])
            check("nodata", str(f.nodata))
            check("epsg", f.crs.to_epsg() if f.crs else 0)
            check("transform", list(f.transform.to_gdal()))
            check("point", f.tags().get("AREA_OR_POINT") == "Point")
            check("overviews", f.overviews(1))
            check("tags", {k: v for k, v in f.tags().items() if not k.startswith(("AREA", "TIFFTAG"))})
            check("scales", list(f.scales))
            check("offsets", list(f.offsets))
            check("units", list(f.units))
            check("descriptions", list(f.descriptions))
            check("colorinterp", [c.name for c in f.colorinterp])
            check("gcps", [[g.col, g.row, g.x, g.y, g.z] for g in f.gcps[0]])
            check("rpc", [float(v) if not isinstance(v, list) else v for v in f.rpcs.to_dict().values()] if f.rpcs else None)
            if "mask" in want:
                check("mask", checksum(f.read_masks(1)))
            if "overviewSums" in want:
                sums = []
                for i in range(len(f.overviews(1))):
                    with rasterio.open(want["file"], overview_level=i) as o:
                        sums.append(checksum(o.read()))
                check("overviewSums", sums)
            for p in problems:
                print(f"{want.get('what', want['file'])}: {p}")


def cog(files):
    from rio_cogeo.cogeo import cog_validate
    for file in files:
        valid, errors, warns = cog_validate(file, strict=True, quiet=True)
        if not valid or errors or warns:
            print(f"{file}: rio cogeo: {errors} {warns}")


def validate(files):
    from osgeo_utils.samples import validate_cloud_optimized_geotiff as script
    for file in files:
        warns, errors, _ = script.validate(file, full_check=True)
        if warns or errors:
            print(f"{file}: validate_cloud_optimized_geotiff: {errors} {warns}")


def measure(file):
    """The best of five, because other work disturbs."""
    result = {}

    def best(name, work):
        for _ in range(5):
            before, cpu = time.perf_counter(), sum(os.times()[:2])
            work()
            for key, value in (name, time.perf_counter() - before), (name + "CPU", sum(os.times()[:2]) - cpu):
                result[key] = min(result.get(key, 1e9), value)

    def load():
        with rasterio.open(file, num_threads="all_cpus") as f:
            return f.read()

    best("read", load)
    data, out = load(), file + ".gdal.tif"
    with rasterio.open(file) as f:
        options = dict(width=f.width, height=f.height, count=f.count, dtype=f.dtypes[0], tiled=True, blockxsize=f.block_shapes[0][1],
                       blockysize=f.block_shapes[0][0], interleave="pixel", photometric="RGB")

    def store():
        with rasterio.open(out, "w", driver="GTiff", compress="deflate", predictor=2, num_threads="all_cpus", **options) as f:
            f.write(data)

    best("write", store)
    result["bytes"] = os.path.getsize(out)
    print(json.dumps(result))


def main():
    command, *arguments = sys.argv[1:]
    if command == "small":
        small(arguments[0])
    elif command == "write":
        for source in matrix, features, lossy:
            for entry in source(arguments[0]):
                print(json.dumps(entry))
    elif command == "read":
        read(sys.stdin)
    elif command == "time":
        measure(arguments[0])
    elif command == "cog":
        cog(arguments)
    elif command == "validate":
        validate(arguments)


if __name__ == "__main__":
    main()
