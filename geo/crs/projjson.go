package crs

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The parts of PROJJSON 0.7 that are read.
type jsonID struct {
	Authority string          `json:"authority"`
	Code      json.RawMessage `json:"code"`
}

func (id *jsonID) epsg() int {
	if id == nil || !strings.EqualFold(id.Authority, "EPSG") {
		return 0
	}
	var code float64
	if json.Unmarshal([]byte(strings.Trim(string(id.Code), `"`)), &code) != nil {
		return 0
	}
	return whole(code)
}

// jsonUnit is a name or an object.
type jsonUnit struct {
	Name   string  `json:"name"`
	Factor float64 `json:"conversion_factor"`
}

func (u *jsonUnit) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, &u.Name)
	}
	type plain jsonUnit
	return json.Unmarshal(b, (*plain)(u))
}

func (u *jsonUnit) factor(otherwise float64) (float64, error) {
	switch {
	case u == nil:
		return otherwise, nil
	case u.Factor != 0:
		return exact(u.Factor), nil
	}
	switch u.Name {
	case "degree":
		return degree, nil
	case "metre", "unity":
		return 1, nil
	}
	return 0, fmt.Errorf("the unit %q has no conversion factor", u.Name)
}

// jsonValue is a number, or an object of a value and a unit.
type jsonValue struct {
	Value float64   `json:"value"`
	Unit  *jsonUnit `json:"unit"`
}

func (v *jsonValue) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] != '{' {
		return json.Unmarshal(b, &v.Value)
	}
	type plain jsonValue
	return json.Unmarshal(b, (*plain)(v))
}

func (v *jsonValue) in(unit float64) (float64, error) {
	u, err := v.Unit.factor(unit)
	return v.Value * (u / unit), err
}

type jsonParameter struct {
	Name  string    `json:"name"`
	Value float64   `json:"value"`
	Unit  *jsonUnit `json:"unit"`
	ID    *jsonID   `json:"id"`
}

type jsonMethod struct {
	Name string  `json:"name"`
	ID   *jsonID `json:"id"`
}

type jsonConversion struct {
	Method     jsonMethod      `json:"method"`
	Parameters []jsonParameter `json:"parameters"`
}

type jsonDatum struct {
	Name          string `json:"name"`
	ID            *jsonID
	PrimeMeridian *struct {
		Longitude *jsonValue `json:"longitude"`
	} `json:"prime_meridian"`
	Ellipsoid *struct {
		SemiMajor         *jsonValue `json:"semi_major_axis"`
		SemiMinor         *jsonValue `json:"semi_minor_axis"`
		InverseFlattening float64    `json:"inverse_flattening"`
		Radius            *jsonValue `json:"radius"`
	} `json:"ellipsoid"`
}

type jsonCRS struct {
	Type             string          `json:"type"`
	Name             string          `json:"name"`
	ID               *jsonID         `json:"id"`
	Base             *jsonCRS        `json:"base_crs"`
	Datum            *jsonDatum      `json:"datum"`
	Ensemble         *jsonDatum      `json:"datum_ensemble"`
	Conversion       *jsonConversion `json:"conversion"`
	Components       []*jsonCRS      `json:"components"`
	Source           *jsonCRS        `json:"source_crs"`
	Transformation   *jsonConversion `json:"transformation"`
	CoordinateSystem *struct {
		Subtype string `json:"subtype"`
		Axis    []struct {
			Name, Direction string
			Unit            *jsonUnit
		} `json:"axis"`
	} `json:"coordinate_system"`
}

func parsePROJJSON(text string) (*CRS, error) {
	const op = "parse PROJJSON"
	var j jsonCRS
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		return nil, failure(ErrFormat, op, "", "%v", err)
	}
	d := &definition{}
	if err := d.fromJSON(&j, 0); err != nil {
		kind := ErrFormat
		if _, ok := err.(unsupported); ok {
			kind = ErrUnsupported
		}
		return nil, failure(kind, op, j.Name, "%v", err)
	}
	return d.build(op)
}

func (d *definition) fromJSON(j *jsonCRS, depth int) error {
	if depth > 3 {
		return fmt.Errorf("systems are nested too deeply")
	}
	switch j.Type {
	case "BoundCRS":
		return d.boundJSON(j, depth)
	case "CompoundCRS":
		return d.compoundJSON(j, depth)
	case "ProjectedCRS":
		if j.Base == nil || j.Conversion == nil {
			return fmt.Errorf("a ProjectedCRS needs base_crs and conversion")
		}
		d.name, d.code = j.Name, j.ID.epsg()
		if err := d.geographicJSON(j.Base); err != nil {
			return err
		}
		d.kind = Projected
		d.method, d.methodCode = j.Conversion.Method.Name, j.Conversion.Method.ID.epsg()
		for _, p := range j.Conversion.Parameters {
			if err := d.parameterJSON(p); err != nil {
				return err
			}
		}
	case "GeographicCRS", "GeodeticCRS":
		d.name, d.code = j.Name, j.ID.epsg()
		if err := d.geographicJSON(j); err != nil {
			return err
		}
		if j.CoordinateSystem != nil && strings.EqualFold(j.CoordinateSystem.Subtype, "Cartesian") {
			d.kind = Geocentric
		}
	case "":
		return fmt.Errorf("the object has no type")
	default:
		return unsupported(fmt.Sprintf("the type %q is not supported", j.Type))
	}
	return d.axesJSON(j)
}

func (d *definition) geographicJSON(j *jsonCRS) error {
	datum := j.Datum
	if datum == nil {
		datum = j.Ensemble
	}
	if datum == nil || datum.Ellipsoid == nil {
		return fmt.Errorf("%q has no datum with an ellipsoid", j.Name)
	}
	d.datum, d.datumCode, d.baseCode = datum.Name, datum.ID.epsg(), j.ID.epsg()
	e := datum.Ellipsoid
	axis := e.SemiMajor
	if axis == nil {
		axis = e.Radius
	}
	if axis == nil {
		return fmt.Errorf("the ellipsoid of %q has no semi_major_axis", d.datum)
	}
	a, err := axis.in(1)
	if err != nil {
		return err
	}
	d.ellipsoid = Ellipsoid{a, e.InverseFlattening}
	if e.SemiMinor != nil && e.InverseFlattening == 0 {
		b, err := e.SemiMinor.in(1)
		if err != nil {
			return err
		}
		if a != b {
			d.ellipsoid.InverseFlattening = a / (a - b)
		}
	}
	if m := datum.PrimeMeridian; m != nil && m.Longitude != nil {
		if d.meridian, err = m.Longitude.in(degree); err != nil {
			return err
		}
	}
	return nil
}

func (d *definition) parameterJSON(p jsonParameter) error {
	x := parameter{name: p.Name, code: p.ID.epsg()}
	role, known := parameterRoles[x.code]
	if !known {
		role, known = parameterNames[normalName(x.name)]
	}
	unit := 1.0
	if known && role.angular() {
		unit = degree
	}
	u, err := p.Unit.factor(unit)
	x.value = p.Value * (u / unit)
	d.parameters = append(d.parameters, x)
	return err
}

func (d *definition) axesJSON(j *jsonCRS) error {
	if j.CoordinateSystem == nil {
		return nil
	}
	d.axes = nil
	for _, x := range j.CoordinateSystem.Axis {
		u, err := x.Unit.factor(0)
		if err != nil {
			return err
		}
		d.axes = append(d.axes, axis{x.Name, strings.TrimPrefix(x.Direction, "geocentric"), u})
	}
	return nil
}

func (d *definition) compoundJSON(j *jsonCRS, depth int) error {
	if len(j.Components) != 2 || j.Components[0] == nil || j.Components[1] == nil {
		return fmt.Errorf("a CompoundCRS needs two components")
	}
	if err := d.fromJSON(j.Components[0], depth+1); err != nil {
		return err
	}
	height := j.Components[1]
	if height.Type != "VerticalCRS" || d.kind == Geocentric || len(d.axes) < 2 {
		return unsupported("only compounds of a horizontal and a vertical system are supported")
	}
	d.name, d.code = j.Name, j.ID.epsg()
	d.vertical = vertical{verticalDatum(height.ID.epsg()), height.Name}
	h := definition{}
	if err := h.axesJSON(height); err != nil {
		return err
	}
	if len(h.axes) != 1 {
		return fmt.Errorf("the vertical system %q has no axis", height.Name)
	}
	d.axes = append(d.axes[:2], h.axes[0])
	return nil
}

func (d *definition) boundJSON(j *jsonCRS, depth int) error {
	if j.Source == nil || j.Transformation == nil {
		return fmt.Errorf("a BoundCRS needs source_crs and transformation")
	}
	if err := d.fromJSON(j.Source, depth+1); err != nil {
		return err
	}
	var parameters []parameter
	for _, p := range j.Transformation.Parameters {
		parameters = append(parameters, parameter{p.Name, p.ID.epsg(), p.Value})
	}
	m := j.Transformation.Method
	return d.bound(m.Name, m.ID.epsg(), parameters, false)
}
