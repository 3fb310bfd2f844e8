package wms

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"
)

// pythons are those that may have the judges: owslib, rasterio and pmtiles.
func pythons() []string {
	if name := os.Getenv("QUERN_TEST_MAPS"); name != "" {
		return []string{name}
	}
	return []string{"python3"}
}

// judge runs a Python program against a server.
func judge(t *testing.T, s *Server, module, program string) {
	t.Helper()
	name := python(t, module)
	h := httptest.NewServer(s)
	defer h.Close()
	out, err := exec.Command(name, "-c", program, h.URL).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestOWSLibReadsTheServices(t *testing.T) {
	judge(t, fixture(t, nil), "owslib", `
import io, sys
from owslib.wms import WebMapService
from owslib.wmts import WebMapTileService
from owslib.util import ServiceException
base = sys.argv[1]
for version in "1.1.1", "1.3.0":
    w = WebMapService(base + "/wms", version=version)
    assert list(w.contents) == ["days", "dem", "parts", "rgb"], list(w.contents)
    l = w["rgb"]
    assert abs(l.boundingBoxWGS84[0] - 15) < 1e-6 and l.queryable, l.boundingBoxWGS84
    assert "heat" in w["dem"].styles and "legend" in w["dem"].styles["heat"]
    assert "2026-01-02T00:00:00Z" in ",".join(w["days"].timepositions), w["days"].timepositions
    assert {"image/png", "image/jpeg", "image/tiff"} <= set(w.getOperationByName("GetMap").formatOptions)
    box = (15.01, 47.84, 15.02, 47.85)
    image = w.getmap(layers=["rgb"], styles=[""], srs="EPSG:4326", bbox=box, size=(64, 64), format="image/png", transparent=True).read()
    assert image.startswith(b"\x89PNG")
    info = w.getfeatureinfo(layers=["rgb"], query_layers=["rgb"], srs="EPSG:4326", bbox=box, size=(64, 64), info_format="text/plain", xy=(5, 5)).read()
    assert b"band 1 = 200" in info, info
    try:
        w.getmap(layers=["nothing"], styles=[""], srs="EPSG:4326", bbox=box, size=(64, 64), format="image/png")
        raise AssertionError("no exception")
    except ServiceException as e:
        assert "nothing" in str(e)
t = WebMapTileService(base + "/wmts/1.0.0/WMTSCapabilities.xml")
assert list(t.contents) == ["days", "dem", "parts", "rgb"]
assert "GoogleMapsCompatible" in t.tilematrixsets and "native-rgb" in t.tilematrixsets
tile = t.gettile(layer="rgb", tilematrixset="GoogleMapsCompatible", tilematrix="14", row=5705, column=8875, format="image/png").read()
assert tile.startswith(b"\x89PNG")
tile = t.gettile(layer="rgb", tilematrixset="native-rgb", tilematrix="0", row=0, column=0, format="image/png").read()
assert tile.startswith(b"\x89PNG")
`)
}

func TestGDALReadsTheServices(t *testing.T) {
	judge(t, fixture(t, nil), "rasterio", `
import sys
import rasterio
base = sys.argv[1]
def check(name, xml):
    with rasterio.open(xml) as d:
        x, y = rasterio.warp.transform("EPSG:32633", d.crs, [501280], [5298720])
        row, column = d.index(x[0], y[0])
        window = rasterio.windows.Window(column, row, 1, 1)
        got = d.read([1, 2, 3], window=window).ravel().tolist()
        assert all(abs(a - b) <= 1 for a, b in zip(got, [200, 100, 50])), (name, got)
import rasterio.warp, rasterio.windows
service = '<GDAL_WMS><Service name="WMS"><Version>%s</Version><ServerUrl>' + base + '/wms?</ServerUrl><Layers>rgb</Layers><%s>%s</%s><ImageFormat>image/png</ImageFormat>%s</Service><DataWindow><UpperLeftX>%s</UpperLeftX><UpperLeftY>%s</UpperLeftY><LowerRightX>%s</LowerRightX><LowerRightY>%s</LowerRightY><SizeX>512</SizeX><SizeY>512</SizeY></DataWindow><BandsCount>3</BandsCount></GDAL_WMS>'
check("1.3.0, EPSG:4326", service % ("1.3.0", "CRS", "EPSG:4326", "CRS", "<BBoxOrder>yxYX</BBoxOrder>", 15.0, 47.86, 15.04, 47.82))
check("1.1.1, EPSG:4326", service % ("1.1.1", "SRS", "EPSG:4326", "SRS", "", 15.0, 47.86, 15.04, 47.82))
check("1.3.0, EPSG:32633", service % ("1.3.0", "CRS", "EPSG:32633", "CRS", "", 500000, 5300000, 502560, 5297440))
check("XYZ", '<GDAL_WMS><Service name="TMS"><ServerUrl>' + base + '/rgb/${z}/${x}/${y}.png</ServerUrl></Service><DataWindow><UpperLeftX>-20037508.34</UpperLeftX><UpperLeftY>20037508.34</UpperLeftY><LowerRightX>20037508.34</LowerRightX><LowerRightY>-20037508.34</LowerRightY><TileLevel>14</TileLevel><TileCountX>1</TileCountX><TileCountY>1</TileCountY><YOrigin>top</YOrigin></DataWindow><Projection>EPSG:3857</Projection><BlockSizeX>256</BlockSizeX><BlockSizeY>256</BlockSizeY><BandsCount>4</BandsCount></GDAL_WMS>')
check("WMTS", "WMTS:" + base + "/wmts/1.0.0/WMTSCapabilities.xml,layer=rgb,tilematrixset=GoogleMapsCompatible")
check("WMTS, own", "WMTS:" + base + "/wmts/1.0.0/WMTSCapabilities.xml,layer=rgb,tilematrixset=native-rgb")
`)
}
