package crs

import (
	"errors"
	"testing"

	"quern.dev/geo/tiff"
)

func TestKeysDefineTheSystemOfAText(t *testing.T) {
	const (
		wgs84  = `GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]`
		nad27  = `GEOGCS["GCS_North_American_1927",DATUM["D_North_American_1927",SPHEROID["Clarke_1866",6378206.4,294.9786982]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]`
		sphere = `GEOGCS["ball",DATUM["ball",SPHEROID["ball",6371000,0]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]`
		feet   = `UNIT["Foot_US",0.3048006096012192]]`
		meters = `UNIT["Meter",1.0]]`
	)
	for _, c := range []struct {
		name, text string
		code       int // of EPSG; 0 if keys define the system
	}{
		{"geographic", wgs84, 4326},
		{"UTM of Esri", `PROJCS["WGS_1984_UTM_Zone_33N",` + wgs84 + `,PROJECTION["Transverse_Mercator"],PARAMETER["False_Easting",500000.0],PARAMETER["False_Northing",0.0],PARAMETER["Central_Meridian",15.0],PARAMETER["Scale_Factor",0.9996],PARAMETER["Latitude_Of_Origin",0.0],` + meters, 32633},
		{"web maps", `PROJCS["WGS_1984_Web_Mercator_Auxiliary_Sphere",` + wgs84 + `,PROJECTION["Mercator_Auxiliary_Sphere"],PARAMETER["False_Easting",0.0],PARAMETER["False_Northing",0.0],PARAMETER["Central_Meridian",0.0],PARAMETER["Standard_Parallel_1",0.0],PARAMETER["Auxiliary_Sphere_Type",0.0],` + meters, 3857},
		{"conic in feet", `PROJCS["a",` + nad27 + `,PROJECTION["Lambert_Conformal_Conic"],PARAMETER["False_Easting",2000000.0],PARAMETER["False_Northing",7.0],PARAMETER["Central_Meridian",-97.5],PARAMETER["Standard_Parallel_1",44.4],PARAMETER["Standard_Parallel_2",45.7],PARAMETER["Latitude_Of_Origin",43.8],` + feet, 0},
		{"conic, one parallel", `PROJCS["a",` + nad27 + `,PROJECTION["Lambert_Conformal_Conic_1SP"],PARAMETER["False_Easting",5.0],PARAMETER["False_Northing",7.0],PARAMETER["Central_Meridian",-97.5],PARAMETER["Scale_Factor",0.999],PARAMETER["Latitude_Of_Origin",43.8],` + meters, 0},
		{"Albers", `PROJCS["a",` + nad27 + `,PROJECTION["Albers"],PARAMETER["False_Easting",1],PARAMETER["False_Northing",2],PARAMETER["Central_Meridian",-96],PARAMETER["Standard_Parallel_1",29.5],PARAMETER["Standard_Parallel_2",45.5],PARAMETER["Latitude_Of_Origin",23],` + meters, 0},
		{"polar, by its parallel", `PROJCS["a",` + wgs84 + `,PROJECTION["Polar_Stereographic"],PARAMETER["latitude_of_origin",70],PARAMETER["central_meridian",-45],PARAMETER["scale_factor",1],PARAMETER["false_easting",3],PARAMETER["false_northing",4],` + meters, 0},
		{"azimuthal on a sphere", `PROJCS["a",` + sphere + `,PROJECTION["Lambert_Azimuthal_Equal_Area"],PARAMETER["latitude_of_center",52],PARAMETER["longitude_of_center",10],PARAMETER["false_easting",3],PARAMETER["false_northing",4],` + meters, 0},
		{"transverse Mercator with Esri's name of a local datum", `PROJCS["a",` + nad27 + `,PROJECTION["Transverse_Mercator"],PARAMETER["False_Easting",500.0],PARAMETER["False_Northing",0.5],PARAMETER["Central_Meridian",15.5],PARAMETER["Scale_Factor",0.9997],PARAMETER["Latitude_Of_Origin",1.25],` + meters, 0},
		{"Mercator, variant B", `PROJCS["a",` + wgs84 + `,PROJECTION["Mercator_2SP"],PARAMETER["standard_parallel_1",42],PARAMETER["central_meridian",51],PARAMETER["false_easting",3],PARAMETER["false_northing",4],` + meters, 0},
		{"sinusoidal", `PROJCS["a",` + sphere + `,PROJECTION["Sinusoidal"],PARAMETER["longitude_of_center",10],PARAMETER["false_easting",3],PARAMETER["false_northing",4],` + meters, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			want, err := Parse(c.text)
			if err != nil {
				t.Fatal(err)
			}
			k, err := want.GeoKeys()
			if err != nil {
				t.Fatal(err)
			}
			if code, ok := k.EPSG(); ok != (c.code != 0) || ok && code != c.code {
				t.Errorf("EPSG:%d", code)
			}
			got, err := FromGeoKeys(k)
			if err != nil || got.projection != want.projection || got.datum.ellipsoid != want.datum.ellipsoid || got.unit != want.unit || !got.datum.same(want.datum) {
				t.Errorf("%v: %v, %v\nwant %v", err, got, got.projection, want.projection)
			}
		})
	}
}

func TestKeysWithoutADefinitionAreErrors(t *testing.T) {
	c, err := EPSG(4978)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.GeoKeys(); !errors.Is(err, ErrUnsupported) {
		t.Errorf("geocentric: %v", err)
	}
	mollweide, err := Parse(`PROJCS["a",GEOGCS["ball",DATUM["ball",SPHEROID["ball",6371000,0]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],PROJECTION["Mollweide"],PARAMETER["central_meridian",10],PARAMETER["false_easting",3],PARAMETER["false_northing",4],UNIT["Meter",1.0]]`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mollweide.GeoKeys(); !errors.Is(err, ErrUnsupported) { // GDAL does not know a key for it
		t.Errorf("Mollweide: %v", err)
	}
	var k tiff.GeoKeys
	k.Set(tiff.GeoValue{Key: tiff.GTModelType, Code: tiff.UserDefined})
	k.Set(tiff.GeoValue{Key: tiff.GTCitation, Text: "S-JTSK / Krovak East North"})
	k.Set(tiff.GeoValue{Key: tiff.GeodeticDatum, Code: 6156})
	if c, err := FromGeoKeys(k); !errors.Is(err, ErrUnsupported) {
		t.Errorf("GDAL's keys of a projection that GeoTIFF lacks: %v, %v", c, err)
	}
	k.Set(tiff.GeoValue{Key: tiff.ProjectedCitation, Text: `ESRI PE String = PROJCS["World_Equal_Earth",GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],PROJECTION["Equal_Earth"],PARAMETER["False_Easting",0.0],PARAMETER["False_Northing",0.0],PARAMETER["Central_Meridian",11.0],UNIT["Meter",1.0]]`})
	if c, err := FromGeoKeys(k); err != nil || c.Kind() != Projected {
		t.Errorf("Esri's definition in a citation: %v, %v", c, err)
	}
}
