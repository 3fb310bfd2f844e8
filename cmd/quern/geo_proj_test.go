//go:build !bootstrap

package main

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"quern.dev/geo/proj"
	"quern.dev/geo/tiff"
)

func TestGeoWarpUsesAnInstalledPROJ(t *testing.T) {
	lib, err := proj.Open("")
	if err != nil || lib.Version() == "" {
		t.Skipf("no PROJ with its database: %v", err)
	}
	name, _ := geoFile(t, false)
	folder := t.TempDir()
	own, through := filepath.Join(folder, "own.tif"), filepath.Join(folder, "proj.tif")
	if code, _, stderr := runGeo(t, "warp", "-t_srs", "EPSG:3857", "-q", "-device", "cpu", name, own); code != 0 || strings.Contains(stderr, "PROJ") {
		t.Fatal(stderr)
	}
	code, _, stderr := runGeo(t, "warp", "-proj", "-t_srs", "EPSG:3857", "-q", "-device", "cpu", name, through)
	if code != 0 || !strings.Contains(stderr, "coordinates are computed by PROJ") {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	var pixels [2][]uint16
	for i, name := range []string{own, through} {
		f, err := tiff.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if pixels[i], err = tiff.Read[uint16](t.Context(), f.Image(), f.Image().All()); err != nil {
			t.Fatal(err)
		}
	}
	if len(pixels[0]) != len(pixels[1]) {
		t.Fatalf("%d and %d samples", len(pixels[0]), len(pixels[1]))
	}
	differ := 0
	for i, v := range pixels[0] {
		if v != pixels[1][i] {
			differ++
		}
	}
	if differ > len(pixels[0])/1000 { // a position on the border of two pixels
		t.Errorf("%d of %d samples differ", differ, len(pixels[0]))
	}
	// Bogota is far away, but the plane of its map is everywhere.
	for _, args := range [][]string{{"mosaic", "-t_srs", "EPSG:6247"}, {"warp", "-t_srs", "EPSG:6247"}} {
		code, _, stderr := runGeo(t, append(args, "-overwrite", "-q", "-device", "cpu", name, through)...)
		if code != 0 || !strings.Contains(stderr, "because crs: EPSG: EPSG:6247") {
			t.Errorf("%v: exit code %d: %s", args, code, stderr)
		}
	}
}

func TestGeoWarpWritesSystemsWithoutGeoKeys(t *testing.T) {
	lib, err := proj.Open("")
	if err != nil || lib.Version() == "" {
		t.Skipf("no PROJ with its database: %v", err)
	}
	name, _ := geoFile(t, false)
	folder := t.TempDir()
	robinson, back := filepath.Join(folder, "robinson.tif"), filepath.Join(folder, "back.tif")
	for _, args := range [][]string{{"-t_srs", "ESRI:54030", name, robinson}, {"-t_srs", "EPSG:32633", robinson, back}} {
		if code, _, stderr := runGeo(t, append([]string{"warp", "-q", "-device", "cpu"}, args...)...); code != 0 {
			t.Fatalf("%v: %s", args, stderr)
		}
	}
	a, _ := pixelsOf(t, name)
	b, _ := pixelsOf(t, back)
	x, _ := a.Geo.Affine()
	y, _ := b.Geo.Affine()
	if code, _ := b.Geo.Keys.EPSG(); code != 32633 || math.Hypot(x[0]-y[0], x[3]-y[3]) > 100 {
		t.Errorf("EPSG:%d, %v instead of %v", code, y, x)
	}
	if out := geoOK(t, "info", robinson); strings.Contains(out, "EPSG") || !strings.Contains(out, "system       World_Robinson") {
		t.Error(out)
	}
	result := filepath.Join(folder, "none.tif")
	if code, _, stderr := runGeo(t, "warp", "-q", "-device", "cpu", "-t_srs", "+proj=isea +datum=WGS84", name, result); code != 1 || !strings.Contains(stderr, "GeoTIFF has no keys for its projection") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	program, err := exec.LookPath("gdalsrsinfo")
	if err != nil {
		t.Skip("gdalsrsinfo is missing")
	}
	if out, err := exec.Command(program, "-o", "proj4", robinson).CombinedOutput(); err != nil || !strings.Contains(string(out), "+proj=robin +lon_0=0 +x_0=0 +y_0=0 +datum=WGS84") {
		t.Errorf("GDAL reads %s, %v", out, err)
	}
}

func TestGeoWarpSaysThatPROJIsMissing(t *testing.T) {
	name, _ := geoFile(t, false)
	result := filepath.Join(t.TempDir(), "result.tif")
	t.Setenv("QUERN_PROJ", filepath.Join(t.TempDir(), "libproj.so"))
	for _, args := range [][]string{{"-t_srs", "EPSG:6247"}, {"-t_srs", "ESRI:54030"}, {"-proj", "-t_srs", "EPSG:3857"}} {
		code, _, stderr := runGeo(t, append(append([]string{"warp", "-device", "cpu"}, args...), name, result)...)
		if code == 0 || !strings.Contains(stderr, "libproj.so: the library cannot be opened") {
			t.Errorf("%v: exit code %d: %s", args, code, stderr)
		}
	}
	if _, err := os.Stat(result); err == nil {
		t.Error("there is a result")
	}
}
