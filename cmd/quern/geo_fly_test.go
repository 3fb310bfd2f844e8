//go:build !bootstrap

package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"quern.dev/geo/tiff"
)

// flyFiles writes a mosaic and a DEM of 1000 x 800 meters, and a program that stands for ffmpeg.
func flyFiles(t *testing.T) (mosaic, dem, ffmpeg string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("shell scripts need a Unix system")
	}
	mosaic, _ = geoFile(t, false)
	dem = filepath.Join(t.TempDir(), "dem.tif")
	h := tiff.Header{Width: 50, Height: 40, Bands: 1, Type: tiff.Int16}
	h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.ProjectedCRS, Code: 32633})
	h.Geo.SetAffine(tiff.Affine{500000, 20, 0, 5000000, 0, -20})
	heights := make([]int16, h.Width*h.Height)
	for i := range heights {
		heights[i] = int16(100 + i%h.Width)
	}
	w, err := tiff.Create(dem, h, tiff.Options{})
	if err == nil {
		err = errors.Join(w.WriteRows(context.Background(), tiff.Rows{Pixels: tiff.Bytes(heights)}), w.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	ffmpeg = filepath.Join(t.TempDir(), "ffmpeg")
	if err := os.WriteFile(ffmpeg, []byte("#!/bin/sh\nfor last; do :; done\nexec cat >\"$last\"\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	return mosaic, dem, ffmpeg
}

func TestGeoFlyFilmsAPath(t *testing.T) {
	mosaic, dem, ffmpeg := flyFiles(t)
	path, result := filepath.Join(t.TempDir(), "path.csv"), filepath.Join(t.TempDir(), "out.mp4")
	if err := os.WriteFile(path, []byte("x,y,height,heading,pitch\n500200,4999300,150,0,-20\n500500,4999600,150,40,-20\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	args := []string{"fly", mosaic, "--dem", dem, "--path", path, "-o", result, "--size", "64x36", "--fps", "5", "--duration", "2", "--codec", "x264", "--ffmpeg", ffmpeg, "--device", "cpu"}
	code, out, stderr := runGeo(t, append(args, "--json", "--sun", "120,40")...)
	if code != 0 {
		t.Fatal(stderr)
	}
	var info flightJSON
	if err := json.Unmarshal([]byte(out), &info); err != nil {
		t.Fatal(err)
	}
	if info.Frames != 10 || info.Width != 64 || info.Bytes != 10*64*36*3/2 || info.Codec != "libx264" || info.Meters < 400 || info.RenderRate <= 0 {
		t.Errorf("%+v", info)
	}
	if code, _, stderr := runGeo(t, args...); code != 1 || !strings.Contains(stderr, "-overwrite replaces it") {
		t.Errorf("the result exists: exit code %d: %s", code, stderr)
	}
	if code, out, stderr := runGeo(t, append(args, "--overwrite", "--preview")...); code != 0 || !strings.Contains(out, "10 frames of 64 x 36, libx264") || !strings.Contains(out, "frames/s drawn") {
		t.Errorf("exit code %d: %s%s", code, out, stderr)
	}
}

func TestGeoFlyRefusesBadOptions(t *testing.T) {
	mosaic, dem, ffmpeg := flyFiles(t)
	result := filepath.Join(t.TempDir(), "out.mp4")
	good := []string{"fly", mosaic, "--dem", dem, "-o", result, "--device", "cpu", "--size", "16x16", "--fps", "1"}
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"fly", mosaic}, 2, "--dem is missing"},
		{append(good, "--size", "15x16"), 2, "want an even width and height"},
		{append(good, "--fps", "x"), 2, "--fps"},
		{append(good, "--codec", "mpeg1"), 2, "--codec"},
		{append(good, "--orbit", "3"), 2, "--orbit"},
		{append(good, "--preview", "--exact"), 2, "want one of them"},
		{append(good, "--shadows"), 2, "--sun"},
		{append(good, "--ffmpeg", ffmpeg+"-missing"), 1, "not found"},
	} {
		code, _, stderr := runGeo(t, c.args...)
		if code != c.code || !strings.Contains(stderr, c.says) {
			t.Errorf("%v: exit code %d: %s", c.args[3:], code, stderr)
		}
	}
	if _, err := os.Stat(result); err == nil {
		t.Error("a video was written")
	}
}
