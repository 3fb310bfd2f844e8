package crs

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"quern.dev/geo/internal/projection"
)

func (o gieOperation) convert(p [4]float64, given int, inverse bool) ([4]float64, error) {
	var stack [4][]float64
	for i := range o {
		s := &o[i]
		if inverse {
			s = &o[len(o)-1-i]
		}
		if inverse && s.omitInv || !inverse && s.omitFwd {
			continue
		}
		var err error
		if p, err = s.convert(p, given, &stack, s.inverse != inverse); err != nil {
			return p, err
		}
	}
	return p, nil
}

// units are those after the operation, or before it.
func (o gieOperation) units(after bool) gieUnits {
	for i := range o {
		s := &o[i]
		if after {
			s = &o[len(o)-1-i]
		}
		u := s.in
		if s.inverse != after {
			u = s.out
		}
		if u != gieAny {
			return u
		}
	}
	return gieAny
}

// distance is that of two points on the ellipsoid if they are angles.
func (o gieOperation) distance(a, b [4]float64, after bool) float64 {
	if o.units(after) == gieAngles {
		e := Ellipsoid{6378137, 298.257222101}.math()
		for i := range o {
			if o[i].figure != (Ellipsoid{}) {
				e = o[i].figure.math()
				break
			}
		}
		h := math.Abs(a[2] - b[2])
		a[0], a[1], a[2] = e.Geocentric(a[0]*degree, a[1]*degree, 0)
		b[0], b[1], b[2] = e.Geocentric(b[0]*degree, b[1]*degree, 0)
		return math.Hypot(h, math.Hypot(math.Hypot(a[0]-b[0], a[1]-b[1]), a[2]-b[2]))
	}
	return math.Hypot(math.Hypot(a[0]-b[0], a[1]-b[1]), a[2]-b[2])
}

// gieParameters are those of a step.
type gieParameters struct {
	keys   []string
	values map[string]string
}

func (p *gieParameters) has(key string) bool { _, ok := p.values[key]; return ok }

func (p *gieParameters) add(key, value string) {
	if !p.has(key) {
		p.keys = append(p.keys, key)
		p.values[key] = value
	}
}

// giePlumbing are steps that are not this package's matter, and work between others only.
var giePlumbing = map[string]bool{"axisswap": true, "unitconvert": true, "affine": true, "push": true, "pop": true, "noop": true, "longlat": true,
	"latlong": true, "latlon": true, "lonlat": true, "init": true}

// operation reads an operation, and returns its name for the report.
func (g *gie) operation(text string) (o gieOperation, name string, err error) {
	text = strings.NewReplacer(" = ", "=", "= ", "=", " =", "=", ", ", ",", ",  ", ",", "\"", "").Replace(strings.Join(strings.Fields(text), " "))
	var global gieParameters
	var steps []gieParameters
	global.values = map[string]string{}
	current := &global
	for field := range strings.FieldsSeq(text) {
		key, value, _ := strings.Cut(strings.TrimPrefix(field, "+"), "=")
		if key == "step" {
			if len(global.keys) == 0 {
				if strings.Contains(text, "proj=pipeline") {
					return nil, "pipeline", errors.New("a step before the pipeline")
				}
				continue // not a pipeline
			}
			steps = append(steps, gieParameters{values: map[string]string{}})
			current = &steps[len(steps)-1]
			continue
		}
		if key == "no_def" {
			continue // a slip of the files
		}
		if current == &global && key == "proj" && global.has(key) {
			return nil, "pipeline", errors.New("a pipeline of another operation")
		}
		if strings.HasPrefix(key, "urn:") {
			return nil, "operations of a database", unsupported(key)
		}
		current.add(key, value)
	}
	if global.values["proj"] == "pipeline" && len(steps) == 0 {
		return nil, "pipeline", errors.New("a pipeline without steps")
	}
	if global.values["proj"] != "pipeline" {
		if len(steps) > 0 {
			return nil, "pipeline", errors.New("a pipeline starts with another operation")
		}
		steps = []gieParameters{global}
	}
	names := map[string]bool{}
	for _, s := range steps {
		if len(steps) > 1 || global.values["proj"] == "pipeline" {
			for _, key := range global.keys {
				if key != "proj" {
					s.add(key, global.values[key])
				}
			}
		}
		step, stepErr := g.step(&s)
		kind := s.values["proj"]
		if kind == "" && s.has("init") {
			kind = "init"
		}
		if !giePlumbing[kind] || len(steps) == 1 {
			names[kind] = true
		}
		if giePlumbing[kind] && len(steps) == 1 && kind != "init" && !strings.HasPrefix(kind, "l") {
			stepErr = unsupported(kind + " alone")
		}
		var no unsupported
		if stepErr != nil && (err == nil || errors.As(stepErr, &no) || errors.Is(stepErr, ErrUnsupported)) {
			err = stepErr
		}
		o = append(o, step)
	}
	name = strings.Join(slices.Sorted(maps.Keys(names)), ", ")
	if global.values["proj"] == "pipeline" {
		if name == "" {
			name = "geographic and EPSG systems"
		}
		name = "pipeline: " + name
	}
	for i := 1; i < len(o) && err == nil; i++ {
		a, b := o[:i].units(true), o[i:i+1].units(false)
		if a != gieAny && b != gieAny && a != b {
			err = errors.New("units of two steps differ")
		}
	}
	return o, name, err
}

func (g *gie) step(s *gieParameters) (step gieStep, err error) {
	step = gieStep{name: s.values["proj"], inverse: s.has("inv"), omitFwd: s.has("omit_fwd"), omitInv: s.has("omit_inv")}
	switch step.name {
	case "pipeline":
		return step, errors.New("a pipeline in a pipeline")
	case "":
		if !s.has("init") {
			return step, errors.New("a step without +proj")
		}
		err = g.system(s, &step)
	case "cart":
		s.values["proj"] = "geocent"
		err = g.system(s, &step)
		s.values["proj"] = "cart"
	case "noop":
		step.convert = func(p [4]float64, given int, _ *[4][]float64, inverse bool) ([4]float64, error) { return p, nil }
	case "axisswap":
		err = gieAxisSwap(s, &step)
	case "unitconvert":
		err = gieUnitConvert(s, &step)
	case "affine":
		err = gieAffine(s, &step)
	case "push", "pop":
		gieStack(s, &step)
	case "helmert":
		err = g.helmert(s, &step)
	case "hgridshift", "vgridshift":
		err = g.gridShift(s, &step)
	default:
		err = g.system(s, &step)
	}
	return step, err
}

// gieTransform makes the step of a transform.
func gieTransform(step *gieStep, t *Transform) {
	step.convert = func(p [4]float64, given int, _ *[4][]float64, inverse bool) ([4]float64, error) {
		var err error
		if inverse {
			p[0], p[1], p[2], err = t.Inverse3(p[0], p[1], p[2])
		} else {
			p[0], p[1], p[2], err = t.Forward3(p[0], p[1], p[2])
		}
		return p, err
	}
}

// geographic is longitude and latitude on the datum of a system, from Greenwich.
func (c *CRS) geographic() *CRS {
	b := &CRS{name: "geographic", kind: Geographic, datum: c.datum, axes: "EN", unit: degree, heightUnit: 1}
	b.datum.meridian = 0
	b.projection.E = c.datum.ellipsoid.math()
	return b
}

// gieDatums are the datums of PROJ that imply a shift to WGS 84.
var gieDatums = map[string]string{"GGRS87": "GRS80 -199.87,74.79,246.62", "carthage": "clrk80ign -263.0,6.0,431.0",
	"hermannskogel": "bessel 577.326,90.129,463.919,5.137,1.474,5.297,2.4232", "ire65": "mod_airy 482.530,-130.596,564.557,-1.042,-0.214,-0.631,8.15",
	"nzgd49": "intl 59.47,-5.04,187.44,0.47,-0.1,1.024,-4.5993", "OSGB36": "airy 446.448,-125.157,542.060,0.1502,0.2470,0.8421,-20.4894",
	"WGS84": "WGS84 0,0,0", "NAD83": "GRS80 0,0,0", "potsdam": "bessel BETA2007.gsb"}

// system is a step from longitude and latitude to a system.
func (g *gie) system(s *gieParameters, step *gieStep) error {
	var text strings.Builder
	var opts []Option
	if d, ok := gieDatums[s.values["datum"]]; ok && !s.has("init") {
		ellps, shift, _ := strings.Cut(d, " ")
		kind := "towgs84"
		if strings.HasSuffix(shift, ".gsb") {
			kind = "nadgrids"
		}
		s.add("ellps", "")
		s.add(kind, "")
		s.values["ellps"], s.values[kind] = ellps, shift
	} else if !s.has("ellps") && !s.has("a") && !s.has("R") && !s.has("init") && !s.has("datum") {
		s.add("ellps", "GRS80")
	}
	if fixed := map[string]string{"krovak": "bessel", "mod_krovak": "bessel", "nzmg": "intl"}[s.values["proj"]]; fixed != "" {
		s.add("ellps", "")
		s.values["ellps"] = fixed // PROJ takes no other
	}
	if s.has("init") && !g.initRules {
		return unsupported("+init without use_proj4_init_rules")
	}
	var shift, geoid *Grid
	for _, key := range s.keys {
		value := s.values[key]
		var err error
		switch {
		case key == "inv" || key == "omit_fwd" || key == "omit_inv" || key == "datum" && gieDatums[value] != "":
			continue
		case key == "nadgrids" && value != "@null":
			shift, err = g.grid(value)
		case key == "geoidgrids":
			geoid, err = g.grid(value)
		default:
			fmt.Fprintf(&text, "+%s=%s ", key, value)
		}
		if err != nil {
			return err
		}
	}
	c, err := Parse(text.String())
	if err != nil {
		return err
	}
	if s.has("init") && c.kind == Geographic {
		c.unit = degree // in the tables of init files
	}
	from := c.geographic()
	if c.toWGS84 != nil || shift != nil {
		from = &CRS{name: "WGS 84", kind: Geographic, datum: datum{wgs84, "WGS 84", Ellipsoid{6378137, 298.257223563}, 0}, axes: "EN", unit: degree, heightUnit: 1}
		from.projection.E = from.datum.ellipsoid.math()
	}
	if shift != nil {
		opts = append(opts, TargetGrid(shift, nil))
	}
	if geoid != nil {
		opts = append(opts, Geoids(nil, geoid))
	}
	t, err := NewTransform(from, c, append(opts, AuthorityOrder())...)
	if err != nil {
		return err
	}
	gieTransform(step, t)
	step.figure = c.datum.ellipsoid
	step.in, step.out = gieAngles, gieLengths
	if c.kind == Geographic {
		step.out = gieAngles
	}
	return nil
}

// grid returns the grid with a name.
func (g *gie) grid(list string) (*Grid, error) {
	var names []string
	for name := range strings.SplitSeq(list, ",") {
		bare, optional := strings.CutPrefix(name, "@")
		if optional && g.grids[filepath.Base(bare)] == "" && bare != "null" {
			continue
		}
		names = append(names, bare)
	}
	if len(names) != 1 || names[0] == "null" {
		return nil, unsupported("the grids " + list)
	}
	path := g.grids[filepath.Base(names[0])]
	switch {
	case strings.HasSuffix(names[0], ".tif"):
		return nil, unsupported("a GeoTIFF grid")
	case path == "" && (strings.HasPrefix(names[0], "nonexist") || strings.HasPrefix(names[0], "i_do_not")):
		return nil, errors.New("the grid does not exist")
	case path == "":
		return nil, unsupported("the grid " + names[0])
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return ReadGrid(bytes.NewReader(b))
}

func (g *gie) gridShift(s *gieParameters, step *gieStep) error {
	for _, key := range s.keys {
		if !slices.Contains([]string{"proj", "grids", "inv", "ellps", "multiplier", "omit_fwd", "omit_inv", "a", "b", "interpolation"}, key) {
			return unsupported("+" + key + " of a grid")
		}
	}
	if !s.has("grids") {
		return errors.New("no grids")
	}
	grid, err := g.grid(s.values["grids"])
	if err != nil {
		return err
	}
	from := (&CRS{datum: datum{name: "x", ellipsoid: Ellipsoid{6378137, 298.257222101}}}).geographic()
	option := SourceGrid(grid, nil)
	if step.name == "vgridshift" {
		option = Geoids(nil, grid)
		switch s.values["multiplier"] {
		case "", "-1", "-1.0":
		case "1", "1.0":
			option = Geoids(grid, nil)
		default:
			return unsupported("+multiplier=" + s.values["multiplier"])
		}
	}
	t, err := NewTransform(from, from, option)
	if err != nil {
		return err
	}
	gieTransform(step, t)
	step.in, step.out = gieAngles, gieAngles
	return nil
}

// helmert is a step between geocentric systems. Rates need a time: that of the point, which the transform has as its epoch.
func (g *gie) helmert(s *gieParameters, step *gieStep) error {
	var h Helmert
	fields := map[string]*float64{"x": &h.Translation[0], "y": &h.Translation[1], "z": &h.Translation[2], "rx": &h.Rotation[0], "ry": &h.Rotation[1],
		"rz": &h.Rotation[2], "s": &h.Scale, "dx": &h.TranslationRate[0], "dy": &h.TranslationRate[1], "dz": &h.TranslationRate[2],
		"drx": &h.RotationRate[0], "dry": &h.RotationRate[1], "drz": &h.RotationRate[2], "ds": &h.ScaleRate, "t_epoch": &h.Epoch}
	rates, observed := false, 0.0
	for _, key := range s.keys {
		f, _ := strconv.ParseFloat(s.values[key], 64)
		if to, ok := fields[key]; ok {
			*to = f
			rates = rates || strings.HasPrefix(key, "d")
			continue
		}
		switch key {
		case "t_obs":
			observed = f
		case "proj", "inv", "convention", "ellps", "omit_fwd", "omit_inv", "transpose":
		case "towgs84":
			p := strings.Split(s.values[key], ",")
			for i, name := range []string{"x", "y", "z", "rx", "ry", "rz", "s"}[:min(len(p), 7)] {
				*fields[name], _ = strconv.ParseFloat(p[i], 64)
			}
		default:
			return unsupported("+" + key + " of helmert")
		}
	}
	rotated := h.Rotation != [3]float64{} || h.RotationRate != [3]float64{}
	switch c := s.values["convention"]; {
	case s.has("transpose"):
		return errors.New("transpose is not valid any more")
	case s.has("towgs84") && c != "" && c != "position_vector":
		return errors.New("towgs84 has a convention of its own")
	case c == "coordinate_frame":
		for i := range 3 {
			h.Rotation[i], h.RotationRate[i] = -h.Rotation[i], -h.RotationRate[i]
		}
	case c == "position_vector":
	case c != "" || rotated && !s.has("towgs84"):
		return errors.New("the convention is missing or not known")
	}
	a := &CRS{name: "geocentric", kind: Geocentric, axes: "XYZ", unit: 1, heightUnit: 1, datum: datum{name: "a", ellipsoid: Ellipsoid{6378137, 298.257222101}}}
	a.projection.Method, a.projection.E = projection.Geocentric, a.datum.ellipsoid.math()
	make := func(year float64) (*Transform, error) {
		h := h
		opts := []Option{UseHelmert(h)}
		if rates && h.Epoch != 0 && year != 0 {
			opts = append(opts, Epoch(year))
		} else {
			h.Epoch, h.TranslationRate, h.RotationRate, h.ScaleRate = 0, [3]float64{}, [3]float64{}, 0
			opts[0] = UseHelmert(h)
		}
		return NewTransform(a, a, opts...)
	}
	fixed, err := make(observed)
	if err != nil {
		return err
	}
	gieTransform(step, fixed)
	if !rates || observed != 0 {
		return nil
	}
	step.convert = func(p [4]float64, given int, stack *[4][]float64, inverse bool) ([4]float64, error) {
		var at gieStep
		year := p[3]
		if given < 4 {
			year = 0
		}
		t, err := make(year)
		if err != nil {
			return p, err
		}
		gieTransform(&at, t)
		return at.convert(p, given, stack, inverse)
	}
	return nil
}

func gieAxisSwap(s *gieParameters, step *gieStep) error {
	order := strings.Split(s.values["order"], ",")
	if axis := s.values["axis"]; axis != "" {
		order = make([]string, 3)
		for i, r := range axis {
			at := strings.IndexRune("ewnsud", r)
			if at < 0 || i > 2 {
				return errors.New("an axis is not known")
			}
			order[at/2] = strconv.Itoa(i + 1)
			if at%2 == 1 {
				order[at/2] = "-" + order[at/2]
			}
		}
	}
	var from [4]int
	sign := [4]float64{1, 1, 1, 1}
	for i := range from {
		from[i] = i
	}
	for i, text := range order {
		n, err := strconv.Atoi(text)
		if err != nil || n == 0 || n < -4 || n > 4 || i > 3 {
			return fmt.Errorf("the order is %v", order)
		}
		from[i] = max(n, -n) - 1
		if n < 0 {
			sign[i] = -1
		}
	}
	step.convert = func(p [4]float64, given int, _ *[4][]float64, inverse bool) ([4]float64, error) {
		var q [4]float64
		for i := range q {
			if inverse {
				q[from[i]] = p[i] * sign[i]
			} else {
				q[i] = p[from[i]] * sign[i]
			}
		}
		return q, nil
	}
	return nil
}

func gieUnitConvert(s *gieParameters, step *gieStep) error {
	factor := [4]float64{1, 1, 1, 1}
	kinds := map[string]gieUnits{"deg": gieDegrees, "grad": gieDegrees, "rad": gieAngles}
	unit := func(key string) (float64, gieUnits, error) {
		name, ok := s.values[key]
		if u, known := map[string]float64{"deg": 1, "grad": 0.9, "rad": 1}[name]; known {
			return u, kinds[name], nil
		}
		if u, known := projUnits[name]; known {
			return u, gieLengths, nil
		}
		if f, err := strconv.ParseFloat(name, 64); err == nil {
			return f, gieAny, nil
		}
		if ok {
			return 0, 0, unsupported("the unit " + name)
		}
		return 1, gieAny, nil
	}
	for i, key := range []string{"xy", "z", "t"} {
		in, inKind, err := unit(key + "_in")
		if err != nil {
			return err
		}
		out, outKind, err := unit(key + "_out")
		if err != nil {
			return err
		}
		if (inKind == gieLengths) != (outKind == gieLengths) && inKind != gieAny && outKind != gieAny {
			return errors.New("lengths and angles")
		}
		if i == 0 {
			factor[0], factor[1] = in/out, in/out
			step.in, step.out = inKind, outKind
		} else {
			factor[i+1] = in / out
		}
	}
	step.convert = func(p [4]float64, given int, _ *[4][]float64, inverse bool) ([4]float64, error) {
		for i, f := range factor {
			if inverse {
				f = 1 / f
			}
			p[i] *= f
		}
		return p, nil
	}
	return nil
}

func gieAffine(s *gieParameters, step *gieStep) error {
	m := projection.Matrix{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}
	at := map[string]int{"xoff": 3, "yoff": 7, "zoff": 11, "s11": 0, "s12": 1, "s13": 2, "s21": 4, "s22": 5, "s23": 6, "s31": 8, "s32": 9, "s33": 10}
	for _, key := range s.keys {
		i, ok := at[key]
		if !ok {
			if !slices.Contains([]string{"proj", "inv", "omit_inv", "omit_fwd", "ellps"}, key) {
				return unsupported("+" + key + " of affine")
			}
			continue
		}
		m[i], _ = strconv.ParseFloat(s.values[key], 64)
	}
	back := invert(m)
	step.convert = func(p [4]float64, given int, _ *[4][]float64, inverse bool) ([4]float64, error) {
		n, q := &m, p
		if inverse {
			n = &back
		}
		for i := range 3 {
			q[i] = n[4*i]*p[0] + n[4*i+1]*p[1] + n[4*i+2]*p[2] + n[4*i+3]
		}
		return q, nil
	}
	return nil
}

func gieStack(s *gieParameters, step *gieStep) {
	push := step.name == "push"
	step.convert = func(p [4]float64, given int, stack *[4][]float64, inverse bool) ([4]float64, error) {
		for i := range p {
			if !s.has("v_" + strconv.Itoa(i+1)) {
				continue
			}
			if push != inverse {
				stack[i] = append(stack[i], p[i])
			} else if n := len(stack[i]); n > 0 {
				p[i], stack[i] = stack[i][n-1], stack[i][:n-1]
			}
		}
		return p, nil
	}
}
