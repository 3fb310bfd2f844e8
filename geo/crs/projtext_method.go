package crs

import (
	"fmt"
	"math"
	"strconv"
)

// projMethods set the method of a definition and the parameters that are not those of most projections.
var projMethods = map[string]func(t *projText, v *values) (code int, err error){
	"tmerc":   projFixed(9807),
	"etmerc":  projFixed(9807),
	"utm":     projUTM,
	"merc":    projMercator,
	"webmerc": projFixed(pseudoMercator),
	"lcc":     projConic,
	"aea":     projParallels(9822),
	"stere":   projStereographic,
	"ups":     projUPS,
	"sterea":  projFixed(9809),
	"laea":    projFixed(9820),
	"cea":     projTrueScale(9835),
	"eqc":     projTrueScale(1028),
	"sinu":    projFixed(sinusoidal),
	"moll":    projFixed(mollweide),
	"eqearth": projFixed(1078),
	"omerc":   projOblique,
	"krovak":  projKrovak,
	"mod_krovak": func(t *projText, v *values) (int, error) {
		_, err := projKrovak(t, v)
		return 1043, err
	},
	"cass": func(t *projText, v *values) (int, error) {
		if t.has("hyperbolic") {
			return 9833, nil
		}
		return 9806, nil
	},
	"nzmg": func(t *projText, v *values) (int, error) {
		for r, x := range map[role]float64{lat0: -41, lon0: 173, easting: 2510000, northing: 6023150} {
			v.set(r, x)
		}
		return 9811, nil
	},
	"poly":  projFixed(9818),
	"bonne": func(t *projText, v *values) (int, error) { return 9827, t.angle(v, "lat_1", lat0, 0) },
	"aeqd":  projFixed(1125),
	"ortho": projFixed(9840),
	"lcca":  projFixed(9817),
	"eqdc":  projParallels(1119),
	"leac": func(t *projText, v *values) (int, error) {
		v.set(parallel2, 90)
		if t.has("south") {
			v.set(parallel2, -90)
		}
		return 9822, t.angle(v, "lat_1", parallel1, 0)
	},
	"somerc": func(t *projText, v *values) (int, error) {
		v.set(azimuth, 90)
		v.set(gridAngle, 90)
		return 9815, nil
	},
}

func projFixed(code int) func(t *projText, v *values) (int, error) {
	return func(*projText, *values) (int, error) { return code, nil }
}

func projParallels(code int) func(t *projText, v *values) (int, error) {
	return func(t *projText, v *values) (int, error) {
		return code, firstError(t.angle(v, "lat_1", parallel1, 0), t.angle(v, "lat_2", parallel2, 0))
	}
}

func projTrueScale(code int) func(t *projText, v *values) (int, error) {
	return func(t *projText, v *values) (int, error) { return code, t.angle(v, "lat_ts", parallel1, 0) }
}

func projUTM(t *projText, v *values) (int, error) {
	zone := int(math.Floor((v.value[lon0]+180)/6)) + 1
	if text, ok := t.values["zone"]; ok {
		var err error
		if zone, err = strconv.Atoi(text); err != nil {
			return 0, fmt.Errorf("+zone=%s is not a number", text)
		}
	} else if _, ok := t.values["lon_0"]; !ok {
		return 0, fmt.Errorf("+proj=utm needs +zone")
	}
	if zone < 1 || zone > 60 {
		return 0, fmt.Errorf("the zone is %d; there are 60", zone)
	}
	v.set(lat0, 0)
	v.set(lon0, float64(6*zone-183))
	v.set(scale, 0.9996)
	v.set(easting, 500000)
	v.set(northing, 0)
	if t.has("south") {
		v.set(northing, 1e7)
	}
	return 9807, nil
}

func projMercator(t *projText, v *values) (int, error) {
	if !t.has("lat_ts") {
		return 9804, nil
	}
	v.set(scale, 1)
	return 9805, t.angle(v, "lat_ts", parallel1, 0)
}

func projConic(t *projText, v *values) (int, error) {
	err := firstError(t.angle(v, "lat_1", parallel1, 0), t.angle(v, "lat_2", parallel2, v.value[parallel1]))
	if t.has("lat_2") {
		return 9802, err
	}
	if !t.has("lat_0") {
		v.set(lat0, v.value[parallel1])
	}
	return 1102, err
}

func projStereographic(t *projText, v *values) (int, error) {
	pole := math.Abs(math.Abs(v.value[lat0])-90) < 1e-9
	if !pole {
		return stereographic, nil
	}
	if err := t.angle(v, "lat_ts", parallel1, 90); err != nil {
		return 0, err
	}
	v.value[parallel1] = math.Copysign(v.value[parallel1], v.value[lat0])
	if math.Abs(math.Abs(v.value[parallel1])-90) < 1e-9 {
		return 9810, nil
	}
	v.set(scale, 1)
	return 9829, nil
}

func projUPS(t *projText, v *values) (int, error) {
	v.set(lat0, 90)
	if t.has("south") {
		v.set(lat0, -90)
	}
	v.set(scale, 0.994)
	v.set(easting, 2e6)
	v.set(northing, 2e6)
	return 9810, nil
}

func projOblique(t *projText, v *values) (int, error) {
	if !t.has("alpha") {
		return 0, unsupported("+proj=omerc by two points, or without +alpha, is not supported")
	}
	err := firstError(t.angle(v, "lonc", lon0, 0), t.angle(v, "alpha", azimuth, 0), t.angle(v, "gamma", gridAngle, v.value[azimuth]))
	if !t.has("gamma") {
		v.set(gridAngle, v.value[azimuth])
	}
	if t.has("no_rot") {
		v.set(gridAngle, 0)
	}
	if t.has("no_uoff") || t.has("no_off") {
		return 9812, err
	}
	return 9815, err
}

func projKrovak(t *projText, v *values) (int, error) {
	for _, d := range []struct {
		key       string
		role      role
		otherwise float64
	}{{"lat_0", lat0, 49.5}, {"lon_0", lon0, 24 + 50./60}, {"k", scale, 0.9999}} {
		if !t.has(d.key) && !(d.key == "k" && t.has("k_0")) {
			v.set(d.role, d.otherwise)
		}
	}
	v.set(parallel1, 78.5)
	return 1041, t.angle(v, "alpha", coneAxis, 30+17/60.+17.30311/3600)
}
