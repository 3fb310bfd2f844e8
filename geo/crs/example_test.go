package crs_test

import (
	"errors"
	"fmt"

	"quern.dev/geo/crs"
	"quern.dev/geo/tiff"
)

func ExampleNewTransform() {
	utm, err := crs.EPSG(32633)
	if err != nil {
		panic(err)
	}
	wgs84, err := crs.Parse("EPSG:4326")
	if err != nil {
		panic(err)
	}
	t, err := crs.NewTransform(utm, wgs84)
	if err != nil {
		panic(err)
	}
	lon, lat, err := t.Forward(391779.26, 5820072.20)
	fmt.Printf("%.5f %.5f %v\n", lon, lat, err)
	// Output: 13.40500 52.52000 <nil>
}

func ExampleShiftError() {
	from, _ := crs.EPSG(26718) // NAD27, in the whole zone
	to, _ := crs.EPSG(4326)
	_, err := crs.NewTransform(from, to)
	var shift *crs.ShiftError
	fmt.Println(errors.As(err, &shift), shift.From, "to", shift.To)
	t, err := crs.NewTransform(from, to, crs.Area(crs.Extent{West: -77, South: 39, East: -76, North: 40}))
	fmt.Println(t.Steps()[0], err)
	// Output:
	// true North American Datum 1927 to World Geodetic System 1984 ensemble
	// EPSG:1173 NAD27 to WGS 84 (4) <nil>
}

func ExampleParse() {
	utm, err := crs.Parse("+proj=utm +zone=33 +ellps=bessel +towgs84=598.1,73.7,418.2,0.202,0.045,-2.455,6.7")
	if err != nil {
		panic(err)
	}
	wgs84, _ := crs.Parse("+proj=longlat +datum=WGS84")
	t, err := crs.NewTransform(utm, wgs84)
	if err != nil {
		panic(err)
	}
	lon, lat, err := t.Forward(391779.26, 5820072.20)
	fmt.Printf("%.5f %.5f %v\n%v\n", lon, lat, err, t.Steps()[0])
	// Output:
	// 13.40287 52.52398 <nil>
	// TOWGS84 of +proj=utm
}

func ExampleAuthorityOrder() {
	wgs84, _ := crs.EPSG(4326)
	mercator, _ := crs.EPSG(3857)
	t, _ := crs.NewTransform(wgs84, mercator, crs.AuthorityOrder())
	x, y, _ := t.Forward(52, 13) // latitude, longitude
	fmt.Printf("%.2f %.2f\n", x, y)
	// Output: 1447153.38 6800125.45
}

// A system without an EPSG code is described by the keys of a GeoTIFF file.
func ExampleCRS_GeoKeys() {
	system, err := crs.Parse(`PROJCS["North Sea",GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]],` +
		`PROJECTION["Transverse_Mercator"],PARAMETER["latitude_of_origin",0],PARAMETER["central_meridian",4],PARAMETER["scale_factor",0.9998],PARAMETER["false_easting",500000],PARAMETER["false_northing",0],UNIT["metre",1]]`)
	if err != nil {
		panic(err)
	}
	keys, err := system.GeoKeys()
	if err != nil {
		panic(err)
	}
	base, _ := keys.Code(tiff.GeodeticCRS)
	meridian, _ := keys.Number(tiff.ProjNatOriginLong)
	fmt.Println(base, meridian)
	// Output: 4326 4
}
