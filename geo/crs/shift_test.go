package crs

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "ask PROJ for the answers in testdata/shifts.json")

// askPROJ transforms points by a pipeline. Its answers are kept in testdata/shifts.json, and PROJ is only asked with -update.
func askPROJ(t *testing.T, key, pipeline string, points [][3]float64) [][3]float64 {
	t.Helper()
	const name = "testdata/shifts.json"
	frozen := map[string][][3]float64{}
	if b, err := os.ReadFile(name); err == nil {
		if err := json.Unmarshal(b, &frozen); err != nil {
			t.Fatal(err)
		}
	}
	if answers := frozen[key]; !*update && len(answers) == len(points) {
		return answers
	}
	b, _ := json.Marshal(task{Pipeline: pipeline, Points: points})
	var got [][3]float64
	out := runJudge(t, append(b, '\n'), "transform")
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%s: %s", pipeline, out)
	}
	if *update {
		frozen[key] = got
		b, err := json.Marshal(frozen)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return got
}

const toRadians = "+proj=pipeline +step +proj=unitconvert +xy_in=deg +xy_out=rad "
const toDegrees = " +step +proj=unitconvert +xy_in=rad +xy_out=deg"

// random points in an area, with heights.
func points(e Extent, n int) [][3]float64 {
	r := rand.New(rand.NewPCG(3, 5))
	var p [][3]float64
	for range n {
		p = append(p, [3]float64{e.West + r.Float64()*span(e), e.South + r.Float64()*(e.North-e.South), r.Float64() * 1000})
	}
	return p
}

// Each of these is compared with PROJ's steps for the same parameters.
func TestHelmertShiftsAgreeWithPROJ(t *testing.T) {
	uk, holland, world := Extent{-7, 50, 1, 59}, Extent{3.5, 51, 7, 53.4}, Extent{-170, -80, 170, 80}
	for _, c := range []struct {
		name     string
		from, to int
		opts     []Option
		area     Extent
		steps    string // between radians
	}{
		{"OSGB36 to WGS 84", 4277, 4979, nil, uk,
			"+step +proj=cart +ellps=airy +step +proj=helmert +x=446.448 +y=-125.157 +z=542.06 +rx=0.15 +ry=0.247 +rz=0.842 +s=-20.489 +convention=position_vector +step +inv +proj=cart +ellps=WGS84"},
		{"WGS 84 to OSGB36", 4979, 4277, []Option{UseOperation(1314)}, uk,
			"+step +proj=cart +ellps=WGS84 +step +inv +proj=helmert +x=446.448 +y=-125.157 +z=542.06 +rx=0.15 +ry=0.247 +rz=0.842 +s=-20.489 +convention=position_vector +step +inv +proj=cart +ellps=airy"},
		{"Amersfoort to ETRS89, coordinate frame", 4289, 4937, []Option{UseOperation(4830)}, holland,
			"+step +proj=cart +ellps=bessel +step +proj=helmert +x=565.4171 +y=50.3319 +z=465.5524 +rx=-0.398957388243134 +ry=0.343987817378283 +rz=-1.87740163998045 +s=4.0725 +convention=position_vector +step +inv +proj=cart +ellps=GRS80"},
		{"NAD27 by Helmert", 4267, 4979, []Option{UseOperation(1173)}, Extent{-120, 30, -80, 48},
			"+step +proj=cart +ellps=clrk66 +step +proj=helmert +x=-8 +y=160 +z=176 +step +inv +proj=cart +ellps=WGS84"},
		{"14 parameters", 7912, 7909, []Option{Epoch(2021.25), UseHelmert(Helmert{Translation: [3]float64{.007, .05, -.12}, Rotation: [3]float64{.01, .02, -.03}, Scale: .004,
			TranslationRate: [3]float64{.001, -.002, .0003}, RotationRate: [3]float64{.0004, .0005, -.0006}, ScaleRate: .0001, Epoch: 2010})}, world,
			"+step +proj=set +v_4=2021.25 +omit_inv +step +proj=cart +ellps=GRS80 +step +proj=helmert +x=0.007 +y=0.05 +z=-0.12 +rx=0.01 +ry=0.02 +rz=-0.03 +s=0.004 +dx=0.001 +dy=-0.002 +dz=0.0003 +drx=0.0004 +dry=0.0005 +drz=-0.0006 +ds=0.0001 +t_epoch=2010 +convention=position_vector +step +inv +proj=cart +ellps=GRS80"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr, err := NewTransform(mustEPSG(t, c.from), mustEPSG(t, c.to), c.opts...)
			if err != nil {
				t.Fatal(err)
			}
			in := points(c.area, 100)
			want := askPROJ(t, c.name, toRadians+c.steps+toDegrees, in)
			worst := 0.0
			for i, p := range in {
				x, y, z, err := tr.Forward3(p[0], p[1], p[2])
				d := math.Hypot(meters(mustEPSG(t, 4326), x, y, want[i][0], want[i][1]), z-want[i][2])
				if !(d < 1e-5) {
					t.Fatalf("%v: %v %v %v, not %v: %v m off (%v)", p, x, y, z, want[i], d, err)
				}
				worst = max(worst, d)
				x, y, z, err = tr.Inverse3(x, y, z)
				if d := math.Hypot(meters(mustEPSG(t, 4326), x, y, p[0], p[1]), z-p[2]); !(d < 1e-7) {
					t.Fatalf("%v: the inverse is %v %v %v: %v m off (%v)", p, x, y, z, d, err)
				}
			}
			t.Logf("%s: at most %.1e m off", tr, worst)
		})
	}
}

// ntv2 makes a file with a coarse grid and a fine one inside.
func ntv2(order binary.ByteOrder, subgrids ...[6]float64) []byte {
	var b bytes.Buffer
	text := func(name, value string) { fmt.Fprintf(&b, "%-8s%-8s", name, value) }
	integer := func(name string, v int) {
		fmt.Fprintf(&b, "%-8s", name)
		binary.Write(&b, order, [2]int32{int32(v)})
	}
	number := func(name string, v float64) {
		fmt.Fprintf(&b, "%-8s", name)
		binary.Write(&b, order, v)
	}
	integer("NUM_OREC", 11)
	integer("NUM_SREC", 11)
	integer("NUM_FILE", len(subgrids))
	text("GS_TYPE", "SECONDS")
	text("VERSION", "TEST")
	text("SYSTEM_F", "NAD27")
	text("SYSTEM_T", "NAD83")
	for _, name := range []string{"MAJOR_F", "MINOR_F", "MAJOR_T", "MINOR_T"} {
		number(name, 6378137)
	}
	r := rand.New(rand.NewPCG(8, 9))
	for i, s := range subgrids { // south, north, east, west (positive to the west), spacings, in degrees
		text("SUB_NAME", fmt.Sprintf("GRID%d", i))
		if i == 0 {
			text("PARENT", "NONE")
		} else {
			text("PARENT", "GRID0")
		}
		text("CREATED", "")
		text("UPDATED", "")
		for k, name := range []string{"S_LAT", "N_LAT", "E_LONG", "W_LONG", "LAT_INC", "LONG_INC"} {
			number(name, s[k]*3600)
		}
		rows, columns := int(math.Round((s[1]-s[0])/s[4]))+1, int(math.Round((s[3]-s[2])/s[5]))+1
		integer("GS_COUNT", rows*columns)
		for range rows * columns {
			binary.Write(&b, order, [4]float32{float32(r.Float64()*2 + float64(i)), float32(r.Float64()*3 - 5), .1, .1})
		}
	}
	text("END", "")
	return b.Bytes()
}

// gtx makes a grid of heights of the whole Earth.
func gtx() []byte {
	var b bytes.Buffer
	r := rand.New(rand.NewPCG(8, 9))
	binary.Write(&b, binary.BigEndian, []float64{-90, -180, 15, 15})
	binary.Write(&b, binary.BigEndian, []int32{13, 24})
	for range 13 * 24 {
		binary.Write(&b, binary.BigEndian, float32(r.Float64()*80-40))
	}
	return b.Bytes()
}

func file(t *testing.T, name string, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func grid(t testing.TB, b []byte) *Grid {
	t.Helper()
	g, err := ReadGrid(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

var testGrids = [][6]float64{{30, 50, 70, 120, 1, 2}, {35, 40, 80, 90, .25, .5}}

func TestNTv2AgreesWithPROJ(t *testing.T) {
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		b := ntv2(order, testGrids...)
		g := grid(t, b)
		path := file(t, "test.gsb", b)
		tr, err := NewTransform(mustEPSG(t, 4267), mustEPSG(t, 4269), SourceGrid(g, nil))
		if err != nil {
			t.Fatal(err)
		}
		in := points(Extent{-119.5, 30.5, -70.5, 49.5}, 100)
		in = append(in, points(Extent{-90.5, 34.5, -79.5, 40.5}, 100)...)
		for _, inverse := range []bool{false, true} {
			step := "+step +proj=hgridshift +grids="
			convert := tr.Forward
			if inverse {
				step, convert = "+step +inv +proj=hgridshift +grids=", tr.Inverse
			}
			want := askPROJ(t, fmt.Sprintf("NTv2 inverse %v", inverse), toRadians+step+path+toDegrees, in)
			worst, far := 0.0, 0
			for i, p := range in {
				x, y, err := convert(p[0], p[1])
				d := meters(mustEPSG(t, 4326), x, y, want[i][0], want[i][1])
				if inverse && d > 1e-5 {
					far++ // between subgrids the inverse may be in either
					continue
				}
				if !(d < 1e-5) {
					t.Fatalf("inverse %v: %v: %v %v, not %v: %v m off (%v)", inverse, p, x, y, want[i], d, err)
				}
				worst = max(worst, d)
			}
			if far > 5 {
				t.Errorf("%d inverses differ", far)
			}
			t.Logf("at most %.1e m off", worst)
		}
		if _, _, err := tr.Forward(-60, 40); !errors.Is(err, ErrDomain) || !strings.Contains(err.Error(), "outside of the grid") {
			t.Errorf("outside: %v", err)
		}
	}
}

func TestGTXAgreesWithPROJ(t *testing.T) {
	g := grid(t, gtx())
	path := file(t, "test.gtx", gtx())
	tr, err := NewTransform(mustEPSG(t, 4979), mustEPSG(t, 4979), Geoids(g, nil))
	if err != nil {
		t.Fatal(err)
	}
	in := points(Extent{-180, -89, 180, 89}, 100)
	want := askPROJ(t, "GTX", toRadians+"+step +proj=vgridshift +multiplier=1 +grids="+path+toDegrees, in)
	for i, p := range in {
		_, _, z, err := tr.Forward3(p[0], p[1], p[2])
		if !(math.Abs(z-want[i][2]) < 1e-4) { // PROJ takes the spacing from single precision
			t.Fatalf("%v: %v, not %v (%v)", p, z, want[i], err)
		}
		if _, _, back, _ := tr.Inverse3(p[0], p[1], z); !(math.Abs(back-p[2]) < 1e-9) {
			t.Errorf("%v: the inverse is %v", p, back)
		}
	}
}

func TestDamagedGridsAreErrors(t *testing.T) {
	for name, b := range map[string][]byte{"NTv2": ntv2(binary.LittleEndian, testGrids...), "GTX": gtx()} {
		for _, n := range []int{0, 1, 16, 39, 100, 200, 400, len(b) / 2} {
			if _, err := ReadGrid(bytes.NewReader(b[:n])); !errors.Is(err, ErrFormat) {
				t.Errorf("%s of %d bytes: %v", name, n, err)
			}
		}
	}
}

// The routes that the table offers.
func TestShiftsAreChosenByAreaAndAccuracy(t *testing.T) {
	for _, c := range []struct {
		from, to int
		opts     []Option
		want     string // in the steps or the error
	}{
		{32633, 3857, nil, "EPSG:32633 (WGS 84 / UTM zone 33N) to EPSG:3857 (WGS 84 / Pseudo-Mercator)"},
		{27700, 4326, nil, "OSGB36 to WGS 84"},
		{3035, 3857, nil, "EPSG:1149"},
		{4269, 4326, nil, "EPSG:1188"},
		{28992, 3857, nil, "Amersfoort to"},
		{27572, 4326, nil, "NTF to WGS 84"},
		{28355, 4326, nil, "EPSG:1150"},  // of two with 3 m, that without a change
		{28992, 4326, nil, "EPSG:15934"}, // its predecessors are superseded
		{4807, 4275, nil, "EPSG:4275 (NTF)"},
		{26718, 4326, nil, "no operation is valid in the whole area"},
		{26718, 4326, []Option{Area(Extent{-78, 38, -75, 42})}, "NAD27 to WGS 84"},
		{4267, 4326, []Option{Ballpark()}, "ballpark"},
		{7912, 6318, nil, "use Epoch"},
		{7912, 6318, []Option{Epoch(2020)}, "ITRF2014 to NAD83(2011)"},
		{4326, 4267, []Option{UseOperation(4830)}, "does not start from"},
		{4326, 4267, []Option{UseOperation(1)}, "it is not in the table"},
	} {
		tr, err := NewTransform(mustEPSG(t, c.from), mustEPSG(t, c.to), c.opts...)
		text := fmt.Sprint(err)
		if err == nil {
			text = tr.String()
		}
		if !strings.Contains(text, c.want) {
			t.Errorf("%d to %d: %s", c.from, c.to, text)
		}
		var shift *ShiftError
		if strings.Contains(c.want, "whole area") && (!errors.As(err, &shift) || !errors.Is(err, ErrDatumShift) || len(shift.Candidates) == 0) {
			t.Errorf("%d to %d: %v has no candidates", c.from, c.to, err)
		}
	}
}

func TestTOWGS84OfTheDefinitionIsUsed(t *testing.T) {
	const text = `GEOGCS["own",DATUM["Own",SPHEROID["Bessel 1841",6377397.155,299.1528128],TOWGS84[582,105,414,1.04,0.35,-3.08,8.3]],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]]`
	from, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	tr, err := NewTransform(from, mustEPSG(t, 4326))
	if err != nil {
		t.Fatal(err)
	}
	// Bessel's latitude on the Potsdam datum is about 120 m from that of WGS 84.
	x, y, err := tr.Forward(13, 52)
	if d := meters(from, x, y, 13, 52); err != nil || d < 100 || d > 250 {
		t.Errorf("%v %v: %v m, %v", x, y, d, err)
	}
	if _, err := NewTransform(mustEPSG(t, 4314), from); err != nil {
		t.Errorf("from DHDN by way of WGS 84: %v", err)
	}
	without, err := Parse(strings.Replace(text, ",TOWGS84[582,105,414,1.04,0.35,-3.08,8.3]", "", 1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewTransform(without, mustEPSG(t, 4326)); !errors.Is(err, ErrDatumShift) {
		t.Errorf("an unknown datum: %v", err)
	}
}

func TestHeightsOfDifferentSurfacesAreRefused(t *testing.T) {
	if _, err := NewTransform(mustEPSG(t, 7415), mustEPSG(t, 4979), UseOperation(4830, 1149)); !errors.Is(err, ErrDatumShift) {
		t.Error(err)
	}
}

func TestAxisOrder(t *testing.T) {
	wgs, mercator := mustEPSG(t, 4326), mustEPSG(t, 3857)
	east, err := NewTransform(wgs, mercator)
	if err != nil {
		t.Fatal(err)
	}
	authority, err := NewTransform(wgs, mercator, AuthorityOrder())
	if err != nil {
		t.Fatal(err)
	}
	x, y, _ := east.Forward(13, 52)
	x2, y2, _ := authority.Forward(52, 13)
	if x != x2 || y != y2 || !(math.Abs(x-1447153.38) < 0.01) {
		t.Errorf("%v %v, %v %v", x, y, x2, y2)
	}
	if a := wgs.Axes(); a[0].Direction != "north" || a[1].Direction != "east" {
		t.Errorf("%v", a)
	}
}

func TestPointsOutsideAreErrors(t *testing.T) {
	tr, err := NewTransform(mustEPSG(t, 4326), mustEPSG(t, 3857))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range [][2]float64{{0, 90.1}, {0, 90}, {0, -90}, {math.NaN(), 0}, {0, math.NaN()}, {math.Inf(1), 0}, {0, math.Inf(-1)}, {1e300, 0}} {
		if x, y, err := tr.Forward(p[0], p[1]); !errors.Is(err, ErrDomain) || !math.IsNaN(x) && !math.IsNaN(y) {
			t.Errorf("%v: %v %v %v", p, x, y, err)
		}
	}
	for _, p := range [][2]float64{{1e12, 0}, {math.NaN(), 0}, {0, math.Inf(1)}, {2.1e7, 0}} {
		if x, y, err := tr.Inverse(p[0], p[1]); !errors.Is(err, ErrDomain) {
			t.Errorf("inverse of %v: %v %v %v", p, x, y, err)
		}
	}
	x, y := []float64{13, 0, 14}, []float64{52, 91, 53}
	if failed, err := tr.ForwardAll(x, y, nil); failed != 1 || err != nil || !math.IsNaN(x[1]) || math.IsNaN(x[2]) {
		t.Errorf("%d %v %v", failed, err, x)
	}
	if _, err := tr.ForwardAll(x, y[:1], nil); !errors.Is(err, ErrParameter) {
		t.Error(err)
	}
}
