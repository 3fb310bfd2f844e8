package ortho

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"quern.dev/geo/tiff"
	"quern.dev/geo/warp"
)

// TestRPCAgreesWithGdalwarp compares with gdalwarp -rpc, which does not test what is hidden.
func TestRPCAgreesWithGdalwarp(t *testing.T) {
	python := os.Getenv("QUERN_TEST_RASTERIO")
	if python == "" {
		python = "python3"
	}
	if err := exec.Command(python, "-c", "import rasterio").Run(); err != nil {
		t.Skip("GDAL is missing: set QUERN_TEST_RASTERIO to a Python that has rasterio")
	}
	dev := cpu(t)
	rpc, _ := rational(t)
	folder := t.TempDir()
	h := tiff.Header{Width: 300, Height: 280, Bands: 1, Photometric: tiff.MinIsBlack, RPC: rpc, NoData: "0"}
	pixels := make([]uint16, h.Width*h.Height)
	for i := range pixels {
		x, y := float64(i%h.Width), float64(i/h.Width)
		pixels[i] = uint16(3000 + 1500*math.Sin(x/4)*math.Cos(y/5) + 800*math.Sin(x*y))
	}
	source := filepath.Join(folder, "scene.tif")
	im := write(t, source, h, pixels, tiff.Options{})
	ground := surfaceFile(t, hills, 2)
	groundName := filepath.Join(folder, "dem.tif")
	heights, err := tiff.Read[float32](t.Context(), ground, ground.All())
	if err != nil {
		t.Fatal(err)
	}
	write(t, groundName, ground.Header, heights, tiff.Options{})
	s, err := RPC(rpc, h.Width, h.Height)
	if err != nil {
		t.Fatal(err)
	}
	e := warp.Extent{MinX: originX + 60, MinY: originY + 60, MaxX: originX + 180, MaxY: originY + 180}
	judge := func(method string, surface *Surface, arguments ...string) {
		t.Helper()
		result := filepath.Join(folder, "gdal.tif")
		arguments = append(arguments, "-rpc", "-et", "0", "-r", method, "-ovr", "NONE", "-wo", "XSCALE=1", "-wo", "YSCALE=1", "-t_srs", "EPSG:32633", "-tr", "0.5", "0.5", "-te")
		for _, v := range []float64{e.MinX, e.MinY, e.MaxX, e.MaxY} {
			arguments = append(arguments, strconv.FormatFloat(v, 'f', -1, 64))
		}
		line, _ := json.Marshal(map[string]any{"sources": []string{source}, "result": result, "arguments": append(arguments, "-overwrite")})
		cmd := exec.Command(python, "../warp/testdata/judge.py", "warp")
		cmd.Stdin = bytes.NewReader(append(line, '\n'))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		want, err := tiff.Read[uint16](t.Context(), open(t, result), open(t, result).All())
		if err != nil {
			t.Fatal(err)
		}
		resampling, _ := warp.ParseResampling(method)
		m, err := New(t.Context(), dev, im, s, surface, Options{Target: epsg(t, 32633), Extent: &e, Resolution: [2]float64{0.5, 0.5}, Resampling: resampling, SeeThrough: true})
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		got := make([]uint16, len(want))
		if err := m.Read(t.Context(), tiff.Region{Width: 240, Height: 240}, tiff.Bytes(got), nil); err != nil {
			t.Fatal(err)
		}
		differ, worst := 0, 0
		for i := range want {
			if d := int(got[i]) - int(want[i]); d != 0 {
				differ++
				worst = max(worst, d, -d)
			}
		}
		t.Logf("%s %v: %d of %d pixels differ, by %d at most", method, arguments[:4], differ, len(want), worst)
		// Heights are float32 here, and float64 in gdalwarp.
		if differ > 0 && (method != "cubic" || differ > len(want)/100 || worst > 1) {
			t.Errorf("%s: %d of %d pixels differ, by %d at most", method, differ, len(want), worst)
		}
	}
	dem := "RPC_DEM=" + groundName
	sampled, err := NewSurface(t.Context(), open(t, groundName), SurfaceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	judge("near", Flat(310), "-to", "RPC_HEIGHT=310")
	judge("bilinear", Flat(310), "-to", "RPC_HEIGHT=310")
	judge("near", sampled, "-to", dem, "-to", "RPC_DEMINTERPOLATION=bilinear")
	judge("cubic", sampled, "-to", dem, "-to", "RPC_DEMINTERPOLATION=bilinear")
}
