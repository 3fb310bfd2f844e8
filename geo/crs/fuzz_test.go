package crs

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"quern.dev/geo/tiff"
)

// use does with a system what programs do. It must not panic, nor take long.
func use(t *testing.T, c *CRS) {
	wgs, err := EPSG(4326)
	if err != nil {
		t.Fatal(err)
	}
	tr, err := NewTransform(wgs, c, Ballpark())
	if err != nil {
		return
	}
	for _, p := range [][2]float64{{0, 0}, {13, 52}, {180, 90}, {-180, -90}, {math.NaN(), math.Inf(1)}} {
		x, y, err := tr.Forward(p[0], p[1])
		if err == nil && (math.IsNaN(x) || math.IsNaN(y)) {
			t.Errorf("%s: %v: %v %v without an error", c, p, x, y)
		}
		tr.Inverse(x, y)
	}
	_ = c.Axes()
}

// typed checks that an error is of this package.
func typed(t *testing.T, text string, err error) {
	for _, kind := range []error{ErrFormat, ErrUnknown, ErrUnsupported, ErrParameter} {
		if errors.Is(err, kind) {
			return
		}
	}
	t.Errorf("%q: %v has no kind", text, err)
}

func addTexts(f *testing.F, formats ...string) {
	b, err := os.ReadFile("testdata/texts.json")
	if err != nil {
		f.Fatal(err)
	}
	for line := range bytes.Lines(b) {
		var row map[string]any
		if err := json.Unmarshal(line, &row); err != nil {
			f.Fatal(err)
		}
		for _, format := range formats {
			if text, _ := row[format].(string); text != "" {
				f.Add(text)
			}
		}
	}
}

func FuzzWKT(f *testing.F) {
	addTexts(f, "WKT1_GDAL", "WKT1_ESRI", "WKT2_2019", "WKT2_2015")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseWKT(text)
		if err != nil {
			typed(t, text, err)
			return
		}
		use(t, c)
	})
}

func FuzzPROJ(f *testing.F) {
	for _, text := range []string{"+proj=utm +zone=33 +datum=WGS84 +units=m +no_defs +type=crs", "+proj=lcc +lat_1=49 +lat_2=44 +lat_0=46.5 +lon_0=3 +x_0=700000 +y_0=6600000 +ellps=GRS80 +towgs84=0,0,0,0,0,0,0",
		"+proj=omerc +lat_0=4 +lonc=102.25 +alpha=323.0257964666666 +k=0.99984 +x_0=804671 +gamma=323.1301023611111 +ellps=GRS80", "+proj=stere +lat_0=-90 +lat_ts=-71 +a=6378273 +b=6356889.449",
		"+init=epsg:27700 +towgs84=1,2,3", "+proj=geocent +datum=WGS84 +units=km", "+proj=tmerc +axis=wsu +pm=2d20'14.025\"E +to_meter=1/3.28 +vunits=us-ft +ellps=intl +R_A"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parsePROJ(text)
		if err != nil {
			typed(t, text, err)
			return
		}
		use(t, c)
	})
}

func FuzzPROJJSON(f *testing.F) {
	addTexts(f, "projjson")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parsePROJJSON(text)
		if err != nil {
			typed(t, text, err)
			return
		}
		use(t, c)
	})
}

func FuzzGrid(f *testing.F) {
	f.Add(ntv2(binary.LittleEndian, [6]float64{30, 32, 70, 74, 1, 2}))
	f.Add(ntv2(binary.BigEndian, [6]float64{30, 32, 70, 74, 1, 2}, [6]float64{30, 31, 70, 72, .5, 1}))
	f.Add(gtx())
	f.Fuzz(func(t *testing.T, b []byte) {
		g, err := ReadGrid(bytes.NewReader(b))
		if err != nil {
			typed(t, "grid", err)
			return
		}
		o := SourceGrid(g, nil)
		if !g.Horizontal() {
			o = Geoids(g, nil)
		}
		tr, err := NewTransform(mustEPSG(t, 4979), mustEPSG(t, 4979), o)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range g.Extents() {
			tr.Forward3((e.West+e.East)/2, (e.South+e.North)/2, 0)
			tr.Inverse3(e.West, e.North, 0)
		}
	})
}

const utm33 = `PROJCS["x",GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]],` +
	`PROJECTION["Transverse_Mercator"],PARAMETER["latitude_of_origin",0],PARAMETER["central_meridian",15],PARAMETER["scale_factor",0.9996],PARAMETER["false_easting",500000],PARAMETER["false_northing",0],UNIT["metre",1]]`

func TestBadTextsAreErrorsThatNameTheThing(t *testing.T) {
	replace := func(old, new string) string {
		if !strings.Contains(utm33, old) {
			t.Fatalf("no %s", old)
		}
		return strings.Replace(utm33, old, new, 1)
	}
	for _, c := range []struct {
		text, want string
		kind       error
	}{
		{"", "the text is empty", ErrFormat},
		{"EPSG:99999", "EPSG:99999", ErrUnknown},
		{"EPSG:-1", "EPSG:-1", ErrUnknown},
		{"EPSG:x", "is not a code", ErrFormat},
		{"EPSG:5773", "vertical system", ErrUnsupported},
		{"EPSG:6247", "Colombia Urban", ErrUnsupported},
		{"+proj=utm +zone=61 +datum=WGS84", "zone is 61", ErrParameter},
		{"+proj=utm +R=6371000 +zone=33", "not of a sphere", ErrParameter},
		{"+zone=33", "no +proj", ErrFormat},
		{"+proj=robin", "+proj=robin: the projection is not supported", ErrUnsupported},
		{"+proj=pipeline +step +proj=merc", "pipeline is an operation", ErrUnsupported},
		{"+proj=tmerc +lat_0=12x", "+lat_0=12x", ErrParameter},
		{"+proj=tmerc +x_0=nan", "+x_0=nan", ErrParameter},
		{"+proj=tmerc +units=cubit", "cubit", ErrParameter},
		{"+proj=tmerc +to_meter=1/0", "+to_meter=1/0", ErrParameter},
		{"+proj=tmerc +ellps=egg", "egg", ErrParameter},
		{"+proj=tmerc +datum=here", "here", ErrParameter},
		{"+proj=tmerc +towgs84=1,2", "2 numbers", ErrParameter},
		{"+proj=tmerc +over", "+over", ErrUnsupported},
		{"+proj=longlat +datum=NAD27 +nadgrids=conus", "SourceGrid", ErrUnsupported},
		{"+proj=longlat +geoidgrids=egm96_15.gtx", "Geoids", ErrUnsupported},
		{"+proj=lcc +lat_1=30 +lat_2=-30", "no cone", ErrParameter},
		{"+init=esri:102", "+init=esri:102", ErrUnsupported},
		{"+init=epsg:99999", "EPSG:99999", ErrUnknown},
		{"urn:ogc:def:crs:EPSG::1", "EPSG:1", ErrUnknown},
		{"hello", "hello", ErrFormat},
		{utm33[:100], "quotation mark is missing", ErrFormat},
		{utm33[:len(utm33)-1], "ends inside of PROJCS", ErrFormat},
		{utm33 + "]", "after the end", ErrFormat},
		{strings.Repeat("A[", 1000), "nested deeper", ErrFormat},
		{replace(`"x"`, `"x`), "", ErrFormat},
		{replace(`PROJECTION["Transverse_Mercator"]`, `PROJECTION["Robinson"]`), "Robinson", ErrUnsupported},
		{replace(`PROJECTION["Transverse_Mercator"],`, ""), "no PROJECTION", ErrFormat},
		{replace(`PARAMETER["latitude_of_origin",0],`, ""), "no latitude of origin", ErrParameter},
		{replace(`PARAMETER["latitude_of_origin",0]`, `PARAMETER["latitude_of_origin",91]`), "latitude of origin is 91", ErrParameter},
		{replace(`0.9996`, `0`), "scale factor is 0", ErrParameter},
		{replace(`0.9996`, `1e400`), "not a number", ErrFormat},
		{replace(`0.9996`, `"x"`), "no value", ErrFormat},
		{replace(`PARAMETER["false_northing",0]`, `PARAMETER["twist",7]`), "twist", ErrUnsupported},
		{replace(`6378137`, `-5`), "semi-major axis of -5", ErrParameter},
		{replace(`298.257223563`, `1.5`), "inverse flattening of 1.5", ErrParameter},
		{replace(`UNIT["metre",1]`, `UNIT["metre",0]`), "no factor", ErrFormat},
		{replace(`UNIT["metre",1]`, `UNIT["metre",1e300]`), "unit of 1e+300", ErrParameter},
		{replace(`SPHEROID["WGS 84",6378137,298.257223563]`, ``), "", ErrFormat},
		{`LOCAL_CS["x"]`, "LOCAL_CS", ErrUnsupported},
		{`COMPD_CS["x",` + utm33 + `]`, "needs a horizontal and a vertical", ErrFormat},
		{`{`, "PROJJSON", ErrFormat},
		{`{"type":"EngineeringCRS","name":"site"}`, "EngineeringCRS", ErrUnsupported},
		{`{"type":"GeographicCRS","name":"n"}`, "no datum", ErrFormat},
		{`{"type":"ProjectedCRS","name":"n"}`, "needs base_crs", ErrFormat},
	} {
		_, err := Parse(c.text)
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60q: %v, not %v with %q", c.text, err, c.kind, c.want)
		}
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%.60q: %T", c.text, err)
		}
	}
	if _, err := Parse(utm33); err != nil {
		t.Error(err)
	}
}

func TestGeoKeysAreTheSystemsOfTheirCodes(t *testing.T) {
	var k tiff.GeoKeys
	code := func(key tiff.GeoKey, v uint16) { k.Set(tiff.GeoValue{Key: key, Code: v}) }
	number := func(key tiff.GeoKey, v ...float64) { k.Set(tiff.GeoValue{Key: key, Numbers: v}) }
	code(tiff.GTModelType, tiff.ModelProjected)
	code(tiff.ProjectedCRS, 2154)
	if c, err := FromGeoKeys(k); err != nil || c.Code() != 2154 {
		t.Errorf("%v, %v", c, err)
	}
	// The same by its parameters.
	code(tiff.ProjectedCRS, tiff.UserDefined)
	code(tiff.GeodeticCRS, 4171)
	code(tiff.ProjMethod, 8)
	code(tiff.ProjLinearUnits, 9001)
	number(tiff.ProjStdParallel1, 49)
	number(tiff.ProjStdParallel2, 44)
	number(tiff.ProjFalseOriginLat, 46.5)
	number(tiff.ProjFalseOriginLong, 3)
	number(3086, 700000)
	number(3087, 6600000)
	c, err := FromGeoKeys(k)
	if err != nil {
		t.Fatal(err)
	}
	tr, err := NewTransform(c, mustEPSG(t, 2154))
	if err != nil {
		t.Fatal(err)
	}
	if x, y, err := tr.Forward(652000, 6862000); err != nil || math.Hypot(x-652000, y-6862000) > 1e-6 {
		t.Errorf("%v %v %v", x, y, err)
	}
	code(tiff.ProjMethod, 99)
	if _, err := FromGeoKeys(k); !errors.Is(err, ErrUnsupported) {
		t.Error(err)
	}
	if _, err := FromGeoKeys(nil); !errors.Is(err, ErrFormat) {
		t.Error(err)
	}
}

func BenchmarkForwardAll(b *testing.B) {
	for _, code := range []int{3857, 32633, 2154, 3035, 3413} {
		tr, err := NewTransform(mustEPSG(b, 4326), mustEPSG(b, code))
		if err != nil {
			b.Fatal(err)
		}
		const n = 1 << 16
		x, y := make([]float64, n), make([]float64, n)
		b.Run(mustEPSG(b, code).String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for i := range n {
					x[i], y[i] = 5+float64(i%256)/50, 45+float64(i/256)/50
				}
				if _, err := tr.ForwardAll(x, y, nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mpoint/s")
		})
	}
}

func BenchmarkNewTransform(b *testing.B) {
	from, to := mustEPSG(b, 27700), mustEPSG(b, 4326)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := NewTransform(from, to); err != nil {
			b.Fatal(err)
		}
	}
}
