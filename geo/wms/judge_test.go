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
    assert "hillshade" in w["dem"].styles and "hillshade" not in l.styles, w["dem"].styles
    assert "2026-01-02T00:00:00Z" in ",".join(w["days"].timepositions), w["days"].timepositions
    assert {"image/png", "image/png; mode=8bit", "image/jpeg", "image/tiff"} <= set(w.getOperationByName("GetMap").formatOptions)
    box = (15.01, 47.84, 15.02, 47.85)
    image = w.getmap(layers=["rgb"], styles=[""], srs="EPSG:4326", bbox=box, size=(64, 64), format="image/png", transparent=True).read()
    assert image.startswith(b"\x89PNG")
    image = w.getmap(layers=["dem"], styles=["hillshade"], srs="EPSG:4326", bbox=box, size=(64, 64), format="image/png; mode=8bit").read()
    assert image.startswith(b"\x89PNG") and image[25] == 3, image[:40]
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
assert "hillshade" in t["dem"].styles and t["dem"].styles["hillshade"]["legend"].startswith("http"), t["dem"].styles
tile = t.gettile(layer="dem", style="hillshade", tilematrixset="GoogleMapsCompatible", tilematrix="14", row=5705, column=8875, format="image/png; mode=8bit").read()
assert tile.startswith(b"\x89PNG") and tile[25] == 3
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
check("8 bits", (service % ("1.3.0", "CRS", "EPSG:32633", "CRS", "", 500000, 5300000, 502560, 5297440)).replace("image/png", "image/png8"))
check("1.1.1, EPSG:4326", service % ("1.1.1", "SRS", "EPSG:4326", "SRS", "", 15.0, 47.86, 15.04, 47.82))
check("1.3.0, EPSG:32633", service % ("1.3.0", "CRS", "EPSG:32633", "CRS", "", 500000, 5300000, 502560, 5297440))
check("XYZ", '<GDAL_WMS><Service name="TMS"><ServerUrl>' + base + '/rgb/${z}/${x}/${y}.png</ServerUrl></Service><DataWindow><UpperLeftX>-20037508.34</UpperLeftX><UpperLeftY>20037508.34</UpperLeftY><LowerRightX>20037508.34</LowerRightX><LowerRightY>-20037508.34</LowerRightY><TileLevel>14</TileLevel><TileCountX>1</TileCountX><TileCountY>1</TileCountY><YOrigin>top</YOrigin></DataWindow><Projection>EPSG:3857</Projection><BlockSizeX>256</BlockSizeX><BlockSizeY>256</BlockSizeY><BandsCount>4</BandsCount></GDAL_WMS>')
check("WMTS", "WMTS:" + base + "/wmts/1.0.0/WMTSCapabilities.xml,layer=rgb,tilematrixset=GoogleMapsCompatible")
check("WMTS, own", "WMTS:" + base + "/wmts/1.0.0/WMTSCapabilities.xml,layer=rgb,tilematrixset=native-rgb")
`)
}

// TestCapabilitiesAndExceptionsAreValid checks documents with the schemas and document types of the standards, of which
// QUERN_TEST_SCHEMAS is a folder with a copy: schemas.opengis.net/wms/1.3.0 and so on, and www.w3.org/1999/xlink.xsd.
func TestCapabilitiesAndExceptionsAreValid(t *testing.T) {
	if os.Getenv("QUERN_TEST_SCHEMAS") == "" {
		t.Skip("QUERN_TEST_SCHEMAS is not set")
	}
	s := fixture(t, func(c *Config) {
		c.Title, c.Abstract = `Maps "here" & <there>`, "What the server has."
		c.Systems = []int{3035, 31467, 2154, 3413}
	})
	judge(t, s, "lxml", `
import io, os, sys, urllib.request
from lxml import etree
base, folder = sys.argv[1], os.environ["QUERN_TEST_SCHEMAS"]
class Local(etree.Resolver):
    def resolve(self, url, id, context):
        if url.endswith("gml.xsd"): # only its namespace is needed
            return self.resolve_string('<schema xmlns="http://www.w3.org/2001/XMLSchema" targetNamespace="http://www.opengis.net/gml"><element name="_Feature"/><element name="_FeatureCollection"/></schema>', context)
        if url.startswith("http"):
            return self.resolve_filename(folder + "/" + url.split("://")[1], context)
parser = etree.XMLParser(no_network=True)
parser.resolvers.add(Local())
def get(path):
    try:
        return urllib.request.urlopen(base + path).read()
    except urllib.error.HTTPError as e:
        return e.read()
def check(schema, paths):
    validator = etree.XMLSchema(etree.parse(folder + "/schemas.opengis.net/" + schema, parser))
    for path in paths:
        validator.assertValid(etree.fromstring(get(path)))
check("wms/1.3.0/capabilities_1_3_0.xsd", ["/wms?SERVICE=WMS&REQUEST=GetCapabilities"])
check("wms/1.3.0/exceptions_1_3_0.xsd", ["/wms?SERVICE=WMS&REQUEST=GetNothing", "/wms?SERVICE=WMS&REQUEST=GetMap&VERSION=1.3.0", "/wms?REQUEST=GetCapabilities&UPDATESEQUENCE=x"])
number = etree.fromstring(get("/wmts/1.0.0/WMTSCapabilities.xml")).get("updateSequence")
kvp = "/wmts?SERVICE=WMTS&REQUEST=GetCapabilities"
check("wmts/1.0/wmtsGetCapabilities_response.xsd", ["/wmts/1.0.0/WMTSCapabilities.xml", kvp, kvp + "&UPDATESEQUENCE=" + number])
check("ows/1.1.0/owsExceptionReport.xsd", ["/wmts?SERVICE=WMTS&REQUEST=GetNothing", "/wmts?SERVICE=WMTS&REQUEST=GetTile", kvp + "&UPDATESEQUENCE=x", "/wmts/1.0.0/nothing"])
def typed(name, path):
    text = get(path)
    document = etree.fromstring(text)
    dtd = etree.DTD(folder + "/schemas.opengis.net/wms/1.1.1/" + name)
    assert dtd.validate(document), dtd.error_log
typed("WMS_MS_Capabilities.dtd", "/wms?SERVICE=WMS&VERSION=1.1.1&REQUEST=GetCapabilities")
typed("WMS_exception_1_1_1.dtd", "/wms?SERVICE=WMS&VERSION=1.1.1&REQUEST=GetMap")
`)
}

// TestBoxesHaveTheAxesOfTheirSystems compares the boxes and tile matrices of systems with many orders of axes with PROJ.
func TestBoxesHaveTheAxesOfTheirSystems(t *testing.T) {
	s := fixture(t, func(c *Config) {
		c.Systems = []int{4258, 3035, 31467, 31468, 2154, 3413, 3031, 3995, 5041, 32661, 2180, 3067, 27700, 5514, 32632, 25833}
	})
	judge(t, s, "pyproj", `
import sys, urllib.request
import xml.etree.ElementTree as etree
from pyproj import CRS, Transformer
base = sys.argv[1]
lon, lat = 15.0171, 47.8416 # of the middle of layer rgb
seen = set()
for version in "1.3.0", "1.1.1":
    document = etree.parse(urllib.request.urlopen(base + "/wms?SERVICE=WMS&REQUEST=GetCapabilities&VERSION=" + version)).getroot()
    for e in document.iter():
        e.tag = e.tag.split("}")[-1]
    layer = [l for l in document.iter("Layer") if l.findtext("Name") == "rgb"][0]
    for box in layer.iter("BoundingBox"):
        name = box.get("CRS") or box.get("SRS")
        crs = CRS("OGC:CRS84" if name == "CRS:84" else name)
        x, y = Transformer.from_crs("OGC:CRS84", crs, always_xy=version == "1.1.1").transform(lon, lat)
        box = [float(box.get(k)) for k in ("minx", "miny", "maxx", "maxy")]
        assert box[0] < x < box[2] and box[1] < y < box[3], (version, name, x, y, box)
        seen.add((version, name))
assert len(seen) >= 39, sorted(seen)
document = etree.parse(urllib.request.urlopen(base + "/wmts/1.0.0/WMTSCapabilities.xml")).getroot()
for e in document.iter():
    e.tag = e.tag.split("}")[-1]
for s in document.find("Contents").findall("TileMatrixSet"):
    crs = CRS(s.findtext("SupportedCRS"))
    for m in s.findall("TileMatrix"):
        scale = float(m.findtext("ScaleDenominator"))
        level = int(m.findtext("Identifier"))
        if s.findtext("Identifier") == "GoogleMapsCompatible":
            assert abs(scale * 2 ** level / 559082264.0287178 - 1) < 1e-9, (level, scale)
            assert int(m.findtext("MatrixWidth")) == int(m.findtext("MatrixHeight")) == 2 ** level
    if s.findtext("Identifier") == "native-rgb":
        assert abs(scale * 0.00028 - 10) < 1e-9, scale
        assert [float(v) for v in m.findtext("TopLeftCorner").split()] == [500000, 5300000]
`)
}
