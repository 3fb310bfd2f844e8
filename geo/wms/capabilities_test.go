package wms

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestCapabilitiesAreWellFormed(t *testing.T) {
	s := fixture(t, func(c *Config) { c.Title = `A "title" <with> & signs` })
	for _, path := range []string{"/wms?REQUEST=GetCapabilities", "/wms?REQUEST=GetCapabilities&VERSION=1.1.1", "/wmts?SERVICE=WMTS&REQUEST=GetCapabilities", "/wmts/1.0.0/WMTSCapabilities.xml"} {
		w := get(s, path)
		d := xml.NewDecoder(w.Body)
		texts := map[string][]string{}
		last := ""
		for {
			token, err := d.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			switch token := token.(type) {
			case xml.StartElement:
				last = token.Name.Local
			case xml.CharData:
				if text := strings.TrimSpace(string(token)); text != "" {
					texts[last] = append(texts[last], text)
				}
			}
		}
		if texts["Title"][0] != s.config.Title {
			t.Errorf("%s: title %q", path, texts["Title"][0])
		}
		for _, name := range []string{"days", "dem", "parts", "rgb"} {
			if !strings.Contains(strings.Join(append(texts["Name"], texts["Identifier"]...), " "), name) {
				t.Errorf("%s: no layer %s", path, name)
			}
		}
	}
	sequence := s.version
	if w := get(s, "/wms?REQUEST=GetCapabilities&UPDATESEQUENCE="+sequence); !strings.Contains(w.Body.String(), "CurrentUpdateSequence") {
		t.Errorf("the same sequence: %s", w.Body)
	}
	if w := get(s, "/wms?REQUEST=GetCapabilities&UPDATESEQUENCE=2025-01-01T00:00:00Z"); w.Body.Len() < 10000 {
		t.Errorf("a client with an older sequence: %s", w.Body)
	}
	if w := get(s, "/wms?REQUEST=GetCapabilities&UPDATESEQUENCE=9999"); !strings.Contains(w.Body.String(), "InvalidUpdateSequence") {
		t.Errorf("a greater sequence: %.300s", w.Body)
	}
	if w := get(s, "/wmts?SERVICE=WMTS&REQUEST=GetCapabilities&UPDATESEQUENCE="+sequence); strings.Contains(w.Body.String(), "Contents") || !strings.Contains(w.Body.String(), `updateSequence="`+sequence) {
		t.Errorf("WMTS, the same sequence: %.300s", w.Body)
	}
	var j tileJSON
	if err := json.Unmarshal(get(s, "/rgb/tile.json").Body.Bytes(), &j); err != nil || j.MinZoom != 13 || j.MaxZoom != 14 || math.Abs(j.Bounds[0]-15) > 1e-6 {
		t.Errorf("%v %+v", err, j)
	}
	if w := get(s, "/", "Accept-Encoding", "gzip"); w.Header().Get("Content-Encoding") != "gzip" || w.Body.Len() > 100<<10 {
		t.Errorf("the page has %d bytes, %v", w.Body.Len(), w.Header())
	}
	if w := get(s, "/"); !strings.Contains(w.Body.String(), "<!doctype html>") {
		t.Error("the plain page is no HTML")
	}
	if w := get(s, legendPath("dem", "heat")); w.Header().Get("Content-Type") != "image/png" {
		t.Errorf("legend: %s", w.Body)
	}
}

// children are the elements of an element, in the order of the schemas and document types of the standards.
var children = map[string]string{
	"WMS_Capabilities":         "Service Capability",
	"WMT_MS_Capabilities":      "Service Capability",
	"Service":                  "Name Title Abstract KeywordList OnlineResource ContactInformation Fees AccessConstraints LayerLimit MaxWidth MaxHeight",
	"Capability":               "Request Exception Layer",
	"Request":                  "GetCapabilities GetMap GetFeatureInfo",
	"GetCapabilities":          "Format DCPType",
	"GetMap":                   "Format DCPType",
	"GetFeatureInfo":           "Format DCPType",
	"EX_GeographicBoundingBox": "westBoundLongitude eastBoundLongitude southBoundLatitude northBoundLatitude",
	"LegendURL":                "Format OnlineResource",
	"Capabilities":             "ServiceIdentification OperationsMetadata Contents ServiceMetadataURL",
	"ServiceIdentification":    "Title Abstract ServiceType ServiceTypeVersion",
	"Contents":                 "Layer TileMatrixSet",
	"WGS84BoundingBox":         "LowerCorner UpperCorner",
	"Dimension":                "Identifier UOM Default Current Value",
	"TileMatrixSetLink":        "TileMatrixSet TileMatrixSetLimits",
	"TileMatrixLimits":         "TileMatrix MinTileRow MaxTileRow MinTileCol MaxTileCol",
	"TileMatrixSet":            "Identifier SupportedCRS WellKnownScaleSet TileMatrix",
	"TileMatrix":               "Identifier ScaleDenominator TopLeftCorner TileWidth TileHeight MatrixWidth MatrixHeight",
}

func TestElementsKeepTheOrderOfTheStandards(t *testing.T) {
	s := fixture(t, func(c *Config) { c.Abstract = "An abstract." })
	const layers = "Name Title Abstract CRS SRS EX_GeographicBoundingBox LatLonBoundingBox BoundingBox Dimension Extent Style Layer"
	const tiled = "Title Abstract WGS84BoundingBox Identifier Style Format InfoFormat Dimension TileMatrixSetLink ResourceURL"
	for path, own := range map[string]map[string]string{
		"/wms?REQUEST=GetCapabilities":               {"Layer": layers, "Style": "Name Title LegendURL"},
		"/wms?REQUEST=GetCapabilities&VERSION=1.1.1": {"Layer": layers, "Style": "Name Title LegendURL"},
		"/wmts/1.0.0/WMTSCapabilities.xml":           {"Layer": tiled, "Style": "Title Identifier LegendURL"},
	} {
		type element struct {
			name string
			last int
		}
		var open []*element
		seen := 0
		d := xml.NewDecoder(get(s, path).Body)
		for {
			token, err := d.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			switch token := token.(type) {
			case xml.StartElement:
				if len(open) > 0 {
					parent := open[len(open)-1]
					order, known := own[parent.name]
					if !known {
						order, known = children[parent.name]
					}
					if known {
						at := slices.Index(strings.Fields(order), token.Name.Local)
						if at < parent.last {
							t.Errorf("%s: %s in %s", path, token.Name.Local, parent.name)
						}
						parent.last = at
						seen++
					}
				}
				open = append(open, &element{name: token.Name.Local})
			case xml.EndElement:
				open = open[:len(open)-1]
			}
		}
		if seen < 100 {
			t.Errorf("%s: %d elements", path, seen)
		}
	}
}

func TestADefaultTimeIsToldToClients(t *testing.T) {
	s := fixture(t, nil)
	for url, want := range map[string]string{
		inUTM + "&LAYERS=days":                 "99 Default value used: time=2026-01-03T12:30:00Z ISO8601",
		inUTM + "&LAYERS=days&TIME=2026-01-02": "",
		inUTM + "&LAYERS=dem":                  "",
	} {
		if got := get(s, url).Header().Get("Warning"); got != want {
			t.Errorf("%s: %q", url, got)
		}
	}
}

func TestExtentsOnTheGlobe(t *testing.T) {
	for _, c := range []struct{ in, want [4]float64 }{
		{[4]float64{15, 47, 16, 48}, [4]float64{15, 47, 16, 48}},
		{[4]float64{-180.0083, -90.004, 180.0083, 90.004}, [4]float64{-180, -90, 180, 90}},
		{[4]float64{0, -10, 360, 10}, [4]float64{-180, -10, 180, 10}},
		{[4]float64{190, 0, 200, 1}, [4]float64{-170, 0, -160, 1}},
		{[4]float64{-200, 0, -190, 1}, [4]float64{160, 0, 170, 1}},
		{[4]float64{170, 0, 190, 1}, [4]float64{-180, 0, 180, 1}},
	} {
		if got := onGlobe(c.in); got != c.want {
			t.Errorf("%v: %v, want %v", c.in, got, c.want)
		}
	}
}

func TestTimesWithPartsOfSecondsAreListedAndServed(t *testing.T) {
	s := fixture(t, func(c *Config) {
		for i := range c.Layers {
			for k := range c.Layers[i].Times {
				c.Layers[i].Times[k].Time = time.Date(2026, 1, 31, 12, 0, 7, k*250_100_000, time.UTC)
			}
		}
	})
	var document struct {
		Capability struct {
			Layer struct {
				Layers []struct{ Dimension string } `xml:"Layer"`
			}
		}
	}
	if err := xml.Unmarshal(get(s, "/wms?REQUEST=GetCapabilities").Body.Bytes(), &document); err != nil {
		t.Fatal(err)
	}
	var times []string
	for _, l := range document.Capability.Layer.Layers {
		times = append(times, strings.FieldsFunc(l.Dimension, func(r rune) bool { return r == ',' })...)
	}
	if len(times) != 3 || times[0] != "2026-01-31T12:00:07Z" {
		t.Fatalf("times %q", times)
	}
	for i, at := range times { // days are 1000 apart
		im := decode(t, get(s, fmt.Sprintf("%s&LAYERS=days&RESCALE=%d,%d&TIME=%s", inUTM, 1000*i, 1000*i+255, at)))
		if r, _, _, _ := im.At(100, 100).RGBA(); r>>8 != 100 {
			t.Errorf("%s: %d", at, r>>8)
		}
	}
}
