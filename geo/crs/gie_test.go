package crs

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
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
