//go:build !bootstrap

package main

import (
	"os"
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
