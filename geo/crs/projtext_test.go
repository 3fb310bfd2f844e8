package crs

import (
	"errors"
	"math"
	"testing"
)

func TestPROJStringsAreSystems(t *testing.T) {
	for _, c := range []struct {
		text string
		code int
	}{
		{"+proj=longlat +datum=WGS84 +no_defs", 4326},
		{"proj=utm zone=33 datum=WGS84 type=crs", 32633},
		{"+proj=utm +zone=33 +south", 32733},
		{"+proj=merc +a=6378137 +b=6378137 +lat_ts=0 +lon_0=0 +x_0=0 +y_0=0 +k=1 +units=m +nadgrids=@null +wktext +no_defs", 3857},
		{"+proj=webmerc +datum=WGS84", 3857},
		{"+proj=geocent +datum=WGS84", 4978},
		{"+init=epsg:32633", 32633},
		{"+init=EPSG:4326 +type=crs", 4326},
		{"+proj=lcc +lat_0=41.75 +lon_0=-120.5 +lat_1=45.5 +lat_2=43 +x_0=399999.9999984 +y_0=0 +datum=NAD83 +units=ft", 2992},
		{"+proj=tmerc +lat_0=49 +lon_0=-2 +k=0.9996012717 +x_0=400000 +y_0=-100000 +ellps=airy +datum=OSGB36", 27700},
		{"+proj=ups +datum=WGS84", 32661},
	} {
		got, err := Parse(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		want := mustEPSG(t, c.code)
		if got.kind != want.kind || !got.datum.same(want.datum) {
			t.Errorf("%s: a %v system of %v", c.text, got.kind, got.datum)
		}
		tr, err := NewTransform(got, want)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		x, y := 2.5e6, 1.5e6
		if got.kind == Geographic {
			x, y = 12, 34
		}
		if c.code == 32661 {
			x, y = y, x
		}
		if x2, y2, err := tr.Forward(x, y); math.Hypot(x2-x, y2-y) > 1e-6 || err != nil {
			t.Errorf("%s: (%v, %v) is (%v, %v) in EPSG:%d (%v)", c.text, x, y, x2, y2, c.code, err)
		}
	}
}

func TestShiftsOfPROJStringsAreUsed(t *testing.T) {
	wgs := mustEPSG(t, 4326)
	shifted, err := Parse("+proj=longlat +ellps=bessel +towgs84=598.1,73.7,418.2,0.202,0.045,-2.455,6.7")
	if err != nil {
		t.Fatal(err)
	}
	tr, err := NewTransform(shifted, wgs)
	if err != nil {
		t.Fatal(err)
	}
	lon, lat, err := tr.Forward(10, 50)
	// PROJ 9.1.1: cs2cs +proj=longlat +ellps=bessel +towgs84=... +to +proj=longlat +datum=WGS84
	if err != nil || math.Abs(lon-9.9988139253) > 1e-9 || math.Abs(lat-49.9988572643) > 1e-9 {
		t.Errorf("%.10f %.10f %v", lon, lat, err)
	}
	plain, err := Parse("+proj=longlat +ellps=bessel")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewTransform(plain, wgs); !errors.Is(err, ErrDatumShift) {
		t.Errorf("a datum that is not known: %v", err)
	}
	utm, err := Parse("+proj=utm +zone=32 +ellps=bessel")
	if err != nil {
		t.Fatal(err)
	}
	if tr, err := NewTransform(plain, utm); err != nil || len(tr.Steps()) > 0 {
		t.Errorf("systems of the same ellipsoid: %v %v", tr, err)
	}
}

func TestAnglesOfPROJStringsHaveMinutesAndSeconds(t *testing.T) {
	for text, want := range map[string]float64{"12.5": 12.5, "-12.5": -12.5, "12d30": 12.5, "12d30'": 12.5, "12d30'36\"": 12.51, "12d30'36\"W": -12.51, "2d20'14.025\"E": 2.33722916666667,
		"12°30'S": -12.5, "12D30'N": 12.5, "0.5r": 28.6478897565412, "-5W": 5, "1e1": 10} {
		got, err := parseAngle(text)
		if math.Abs(got-want) > 1e-12 || err != nil {
			t.Errorf("%s: %v, not %v (%v)", text, got, want, err)
		}
	}
	for _, text := range []string{"", "x", "12x", "d", "12d30'5\"7", "nan", "inf", "1d-5", "--5"} {
		if got, err := parseAngle(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}
