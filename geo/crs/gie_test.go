package crs

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"quern.dev/geo/internal/projection"
)

// gieLines is how many lines (expect and roundtrip) of PROJ 9.1.1's test files belong to methods of this package.
const gieLines = 2155

// gieFloor is the least tolerance. Some of the files' are below a nanometer, which is less than what PROJ's series leave out.
const gieFloor = 1e-6

// PROJ's own tests, which its program gie runs. QUERN_TEST_GIE names a folder with them and with their grids: that of PROJ's
// source code.
func TestPROJsOwnTestsPass(t *testing.T) {
	folder := os.Getenv("QUERN_TEST_GIE")
	if folder == "" {
		t.Skip("QUERN_TEST_GIE does not name a folder with .gie files, such as PROJ's source code")
	}
	g := &gie{t: t, grids: map[string]string{}, count: map[string]*gieCount{}}
	var files []string
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch filepath.Ext(path) {
		case ".gie":
			files = append(files, path)
		case ".gsb", ".gtx":
			g.grids[strings.ReplaceAll(filepath.Base(path), "_downsampled", "")] = path
		}
		return nil
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has %d .gie files (%v)", folder, len(files), err)
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		g.file = filepath.Base(name)
		g.run(b)
	}
	total := g.report()
	if checked := total.passed + total.failed; checked < gieLines {
		t.Errorf("%d lines were checked, not %d", checked, gieLines)
	}
}

// gie interprets test files.
type gie struct {
	t     *testing.T
	grids map[string]string // paths by names
	count map[string]*gieCount
	file  string
	line  int

	initRules bool
	// The operation, and what is set for it.
	text      string
	op        gieOperation
	opErr     error
	name      string // in the report
	tolerance float64
	inverse   bool
	skip      bool
	point     [4]float64
	given     int // coordinates of point
}

type gieCount struct {
	passed, failed, unsupported, different int
	why                                    map[string]bool
}

// gieDifferences are operations that PROJ computes otherwise on purpose, and why that is not done here.
// line is that of one expectation, or 0 for all of the operation.
var gieDifferences = []struct {
	text string
	line int
	why  string
}{
	{"+approx", 0, "PROJ's series of fourth order"},
	{"+algo=evenden_snyder", 0, "PROJ's series of fourth order"},
	{"b=6000000", 0, "ellipsoids flatter than 1/100 are refused"},
	{"GRS80 R_A", 0, "PROJ's radius is that of a series"},
	{"GRS80 R_V", 0, "PROJ's radius is that of a series"},
	{"+proj=krovak +ellps=GRS80", 2624, "PROJ takes Bessel's ellipsoid, but the other axis for the inverse"},
	{"+proj=krovak +ellps=GRS80", 2626, "PROJ takes Bessel's ellipsoid, but the other axis for the inverse"},
	{"+proj=krovak +ellps=GRS80", 2628, "PROJ takes Bessel's ellipsoid, but the other axis for the inverse"},
	{"+proj=krovak +ellps=GRS80", 2630, "PROJ takes Bessel's ellipsoid, but the other axis for the inverse"},
	{"+proj=ortho +ellps=WGS84 +lat_0=30", 4657, "PROJ's iteration does not end at the edge of the disk"},
	{"+proj=cart +ellps=GRS80", 868, "the center of the Earth has no latitude"},
	{"+proj=eqearth", 616, "PROJ moves points beyond the map to its edge"},
	{"+proj=eqearth", 622, "PROJ moves points beyond the map to its edge"},
	{"+proj=eqearth", 665, "PROJ moves points beyond the map to its edge"},
	{"+proj=eqearth", 671, "PROJ moves points beyond the map to its edge"},
	{"+proj=eqearth", 686, "PROJ moves points beyond the map to its edge"},
}

var gieCommands = strings.Fields("operation accept expect roundtrip tolerance direction ignore require_grid use_proj4_init_rules crs_src crs_dst banner verbose echo skip set")

func (g *gie) run(b []byte) {
	g.initRules = false
	type command struct {
		name, args string
		line       int
	}
	var commands []command
	inside, continued := false, false
	lines := bufio.NewScanner(bytes.NewReader(b))
	for number := 1; lines.Scan(); number++ {
		line, _, _ := strings.Cut(lines.Text(), "#")
		line = strings.TrimSpace(line)
		switch {
		case line == "<gie>" || line == "<gie-strict>":
			inside = true
			continue
		case line == "</gie>" || line == "</gie-strict>":
			inside = false
			continue
		case !inside || line == "" || strings.HasPrefix(line, "----") || strings.HasPrefix(line, "===="):
			continued = continued && line == ""
			continue
		}
		text := strings.TrimSpace(strings.TrimSuffix(line, "\\"))
		word, rest, _ := strings.Cut(strings.ReplaceAll(text, "\t", " "), " ")
		if !continued && slices.Contains(gieCommands, word) {
			commands = append(commands, command{word, rest, number})
		} else if len(commands) > 0 && (continued || commands[len(commands)-1].name == "operation" && strings.Contains(text, "=")) {
			commands[len(commands)-1].args += " " + text
		}
		continued = strings.HasSuffix(line, "\\")
	}
	for _, c := range commands {
		g.line = c.line
		g.command(c.name, strings.TrimSpace(c.args))
	}
}

func (g *gie) command(name, args string) {
	switch name {
	case "use_proj4_init_rules":
		g.initRules = args == "true"
	case "operation", "crs_src":
		g.text, g.tolerance, g.inverse, g.skip = args, 0.0005, false, false
		g.op, g.name, g.opErr = g.operation(args)
	case "crs_dst":
		g.name, g.opErr = "crs_src and crs_dst", unsupported("crs_dst")
	case "tolerance":
		g.tolerance = max(gieLength(args, 0.0005), gieFloor)
	case "direction":
		g.inverse = strings.HasPrefix(args, "i") || strings.HasPrefix(args, "r")
	case "require_grid":
		g.skip = g.skip || g.grids[filepath.Base(args)] == ""
	case "accept":
		g.point, g.given = gieCoordinates(args)
	case "expect":
		g.expect(args)
	case "roundtrip":
		g.roundtrip(args)
	}
}

func (g *gie) result(ok bool, format string, args ...any) {
	c := g.count[g.name]
	if c == nil {
		c = &gieCount{why: map[string]bool{}}
		g.count[g.name] = c
	}
	for _, d := range gieDifferences {
		if strings.Contains(g.text, d.text) && (d.line == 0 || d.line == g.line) {
			c.different++
			c.why[d.why] = true
			return
		}
	}
	var no unsupported
	switch {
	case g.skip || errors.As(g.opErr, &no) || errors.Is(g.opErr, ErrUnsupported):
		c.unsupported++
		if g.opErr != nil {
			c.why[g.opErr.Error()] = true
		}
	case ok:
		c.passed++
	default:
		c.failed++
		if c.failed <= 3 {
			g.t.Errorf("%s:%d: %s: %s", g.file, g.line, g.text, fmt.Sprintf(format, args...))
		}
	}
}

func (g *gie) expect(args string) {
	fails := strings.HasPrefix(args, "failure")
	if g.opErr != nil {
		g.result(fails, "%v", g.opErr)
		return
	}
	got, err := g.op.convert(g.point, g.given, g.inverse)
	if fails {
		g.result(err != nil, "%v leads to %v, not to an error", g.point, got)
		return
	}
	want, n := gieCoordinates(args)
	for i := n; i < 4; i++ {
		want[i], got[i] = 0, 0
	}
	d := g.op.distance(want, got, !g.inverse)
	g.result(err == nil && d <= g.tolerance, "%v leads to %v, not to %v: %g m off (%v)", g.point, got, want, d, err)
}

func (g *gie) roundtrip(args string) {
	if g.opErr != nil {
		g.result(false, "%v", g.opErr)
		return
	}
	trips, tolerance := 100, g.tolerance
	first, rest, _ := strings.Cut(args, " ")
	if n, err := strconv.ParseFloat(first, 64); err == nil {
		trips, tolerance = int(n), max(gieLength(rest, g.tolerance), gieFloor)
	}
	p, err := g.point, error(nil)
	for range trips {
		var e1, e2 error
		p, e1 = g.op.convert(p, g.given, g.inverse)
		p, e2 = g.op.convert(p, g.given, !g.inverse)
		err = cmp.Or(err, e1, e2)
	}
	d := g.op.distance(g.point, p, g.inverse)
	g.result(err == nil && d <= tolerance, "%d times: %v leads back to %v: %g m off (%v)", trips, g.point, p, d, err)
}

// report prints the table, and returns the sums.
func (g *gie) report() gieCount {
	var b strings.Builder
	var sum gieCount
	fmt.Fprintf(&b, "%-40s %8s %8s %8s %12s\n", "method", "passed", "failed", "differ", "unsupported")
	for _, name := range slices.Sorted(maps.Keys(g.count)) {
		c := g.count[name]
		sum.passed, sum.failed, sum.unsupported, sum.different = sum.passed+c.passed, sum.failed+c.failed, sum.unsupported+c.unsupported, sum.different+c.different
		why := ""
		if c.passed+c.failed+c.different > 0 {
			why = strings.Join(slices.Sorted(maps.Keys(c.why)), "; ")
		}
		fmt.Fprintf(&b, "%-40s %8d %8d %8d %12d  %s\n", name, c.passed, c.failed, c.different, c.unsupported, why)
	}
	fmt.Fprintf(&b, "%-40s %8d %8d %8d %12d", "all", sum.passed, sum.failed, sum.different, sum.unsupported)
	g.t.Log("\n" + b.String())
	return sum
}

// gieLength reads a length in meters, such as "0.1 mm".
func gieLength(text string, otherwise float64) float64 {
	fields := strings.Fields(text)
	if len(fields) == 1 { // 1cm
		at := strings.IndexFunc(text, unicode.IsLetter)
		if at > 0 && text[at] != 'e' {
			fields = []string{text[:at], text[at:]}
		}
	}
	if len(fields) == 0 {
		return otherwise
	}
	f, err := strconv.ParseFloat(fields[0], 64)
	if err != nil {
		return otherwise
	}
	if len(fields) > 1 {
		if u, ok := map[string]float64{"km": 1000, "m": 1, "dm": 0.1, "cm": 0.01, "mm": 1e-3, "um": 1e-6, "nm": 1e-9,
			"deg": 111319.4908, "rad": 111319.4908 / degree}[fields[1]]; ok {
			f *= u
		}
	}
	return f
}

func gieCoordinates(text string) (p [4]float64, n int) {
	for field := range strings.FieldsSeq(text) {
		f, err := strconv.ParseFloat(strings.ReplaceAll(field, "_", ""), 64)
		if err != nil {
			if f, err = parseAngle(field); err != nil {
				break
			}
		}
		if n == len(p) {
			break
		}
		p[n] = f
		n++
	}
	return p, n
}

// gieOperation is the steps of an operation. Angles are in degrees between them.
type gieOperation []gieStep

type gieStep struct {
	name             string
	inverse          bool
	omitFwd, omitInv bool
	in, out          gieUnits
	figure           Ellipsoid
	convert          func(p [4]float64, given int, stack *[4][]float64, inverse bool) ([4]float64, error)
}

// gieUnits are what coordinates are, as far as it matters for distances.
type gieUnits int

const (
	gieAny gieUnits = iota
	gieAngles
	gieLengths
	gieDegrees
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
