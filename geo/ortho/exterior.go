package ortho

import (
	"encoding/csv"
	"errors"
	"io"
	"strconv"
	"strings"

	"quern.dev/geo/crs"
)

// ReadExterior reads a table of poses in comma-separated values. Its columns are filename, x, y, z, omega, phi and kappa, in meters of a
// projected system and in degrees, as in [OmegaPhiKappa], and camera, which may be left out if there is one camera. A first line with
// these names changes their order; other columns are skipped.
func ReadExterior(r io.Reader, system *crs.CRS, cameras map[string]Camera) ([]Shot, error) {
	columns := []string{"filename", "x", "y", "z", "omega", "phi", "kappa", "camera"}
	place := map[string]int{}
	for i, c := range columns {
		place[c] = i
	}
	in := csv.NewReader(r)
	in.FieldsPerRecord, in.TrimLeadingSpace, in.Comment = -1, true, '#'
	var shots []Shot
	for first := true; ; first = false {
		row, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, failf(ErrFormat, "exterior: %v", err)
		}
		line, _ := in.FieldPos(0)
		if first && strings.EqualFold(strings.TrimSpace(row[0]), "filename") {
			clear(place)
			for i, name := range row {
				place[strings.ToLower(strings.TrimSpace(name))] = i
			}
			continue
		}
		field := func(name string) string {
			if i, ok := place[name]; ok && i < len(row) {
				return strings.TrimSpace(row[i])
			}
			return ""
		}
		var v [6]float64
		for i, name := range columns[1:7] {
			if v[i], err = strconv.ParseFloat(field(name), 64); err != nil || !finite(v[i]) {
				return nil, failf(ErrFormat, "exterior: line %d: %s is %q; a number is required", line, name, field(name))
			}
		}
		c, ok := cameras[field("camera")]
		if !ok && field("camera") == "" && len(cameras) == 1 {
			for _, c = range cameras {
				ok = true
			}
		}
		if !ok {
			return nil, failf(ErrFormat, "exterior: line %d: the camera %q is not one of the %d that are described", line, field("camera"), len(cameras))
		}
		shots = append(shots, Shot{field("filename"), c, OmegaPhiKappa(system, v[0], v[1], v[2], v[3], v[4], v[5])})
	}
	if len(shots) == 0 {
		return nil, failf(ErrFormat, "exterior: no poses")
	}
	return shots, nil
}

// Find returns the shot of a file: the one with its name, or else the one with its name but for the extension.
func Find(shots []Shot, file string) (*Shot, error) {
	base := func(name string) string { return name[strings.LastIndexAny(name, `/\`)+1:] }
	stem := func(name string) string {
		name = base(name)
		if i := strings.LastIndexByte(name, '.'); i > 0 {
			name = name[:i]
		}
		return name
	}
	for _, match := range []func(a, b string) bool{
		func(a, b string) bool { return base(a) == base(b) },
		func(a, b string) bool { return strings.EqualFold(stem(a), stem(b)) },
	} {
		for i := range shots {
			if match(shots[i].Name, file) {
				return &shots[i], nil
			}
		}
	}
	return nil, failf(ErrArgument, "%s: none of the %d shots has this name", file, len(shots))
}
