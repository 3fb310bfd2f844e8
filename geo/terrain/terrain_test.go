package terrain

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"quern.dev/geo/tiff"
	"quern.dev/gpu"
	"quern.dev/gputest"
)

func cpu(t testing.TB) *gpu.Device {
	t.Helper()
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	return dev
}

// dem writes a surface with pixels of 10 x 12 m, and returns its name.
func dem[T tiff.Sample](t testing.TB, code, width, height int, noData string, at func(x, y int) T) string {
	t.Helper()
	h := tiff.Header{Width: width, Height: height, Bands: 1, Type: tiff.TypeOf[T](), Photometric: tiff.MinIsBlack, NoData: noData}
	if code == 4326 {
		h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.GTModelType, Code: tiff.ModelGeographic})
		h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.GeodeticCRS, Code: 4326})
		h.Geo.SetAffine(tiff.Affine{10, 0.01, 0, 50, 0, -0.01})
	} else if code != 0 {
		h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.GTModelType, Code: tiff.ModelProjected})
		h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.ProjectedCRS, Code: uint16(code)})
		h.Geo.SetAffine(tiff.Affine{500000, 10, 0, 5300000, 0, -12})
	}
	var pixels []T
	for y := range height {
		for x := range width {
			pixels = append(pixels, at(x, y))
		}
	}
	name := filepath.Join(t.TempDir(), "dem.tif")
	w, err := tiff.Create(name, h, tiff.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.WriteRows(t.Context(), tiff.Rows{Pixels: tiff.Bytes(pixels)}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

func open(t testing.TB, name string) *tiff.Image {
	t.Helper()
	f, err := tiff.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f.Image()
}

// derive returns the pixels of a derivative.
func derive[T tiff.Sample](t testing.TB, dev *gpu.Device, im *tiff.Image, d Derivative, o Options) []T {
	t.Helper()
	name := filepath.Join(t.TempDir(), "result.tif")
	if err := File(t.Context(), dev, name, im, d, o); err != nil {
		t.Fatal(err)
	}
	return pixels[T](t, name)
}

func pixels[T tiff.Sample](t testing.TB, name string) []T {
	t.Helper()
	im := open(t, name)
	p, err := tiff.Read[T](t.Context(), im, im.All())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAPlaneHasItsSlopeAndAspect(t *testing.T) {
	// It rises by 3 per 10 m to the east and by 4.8 per 12 m to the south: a slope of 0.5, down to the north-west.
	im := open(t, dem(t, 32633, 9, 7, "", func(x, y int) float64 { return 100 + 3*float64(x) + 4.8*float64(y) }))
	dev := cpu(t)
	near := func(what string, got float32, want float64) {
		t.Helper()
		if math.Abs(float64(got)-want) > 1e-4 {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	const middle = 3*9 + 4
	near("slope in degrees", derive[float32](t, dev, im, Slope{}, Options{})[middle], math.Atan(0.5)*180/math.Pi)
	near("slope in percent", derive[float32](t, dev, im, Slope{Percent: true}, Options{})[middle], 50)
	near("slope with a scale", derive[float32](t, dev, im, Slope{Percent: true, Scale: 2}, Options{})[middle], 25)
	// gdaldem's aspect does not know the shape of pixels.
	near("aspect", derive[float32](t, dev, im, Aspect{}, Options{})[middle], 360-math.Atan2(3, 4.8)*180/math.Pi)
	near("trigonometric aspect", derive[float32](t, dev, im, Aspect{Trigonometric: true}, Options{})[middle], 90+math.Atan2(3, 4.8)*180/math.Pi)
	edges := derive[float32](t, dev, im, Slope{Percent: true}, Options{ComputeEdges: true})
	near("slope at a side", edges[3*9], 50)
	if s := derive[float32](t, dev, im, Slope{}, Options{}); s[0] != -9999 || s[8] != -9999 || s[3*9] != -9999 {
		t.Errorf("edges: %v", s[:9])
	}
	flat := open(t, dem(t, 32633, 5, 5, "", func(x, y int) int16 { return 7 }))
	near("aspect of a level surface", derive[float32](t, dev, flat, Aspect{}, Options{})[12], -9999)
	near("aspect of a level surface", derive[float32](t, dev, flat, Aspect{ZeroForFlat: true}, Options{})[12], 0)
	near("shade of a level surface", float32(derive[uint8](t, dev, flat, Hillshade{}, Options{})[12]), math.Floor(1+254*math.Sqrt(0.5)+0.5))
}

func rough(x, y int) float64 {
	return 300 + 40*math.Sin(float64(x)/5)*math.Cos(float64(y)/4) + 9*math.Sin(float64(x*y))
}

// rough16 is rough with holes.
func rough16(x, y int) int16 {
	if (x*7+y*13)%61 == 0 {
		return -5
	}
	return int16(rough(x, y))
}

func TestDerivativesAgreeWithGdaldem(t *testing.T) {
	python := os.Getenv("QUERN_TEST_RASTERIO")
	if python == "" {
		python = "python3"
	}
	if err := exec.Command(python, "-c", "import rasterio").Run(); err != nil {
		t.Skip("GDAL is missing: set QUERN_TEST_RASTERIO to a Python that has rasterio")
	}
	dev := cpu(t)
	var input bytes.Buffer
	var checks []func()
	for name, surface := range map[string]string{
		"floats":              dem(t, 32633, 61, 47, "", func(x, y int) float32 { return float32(rough(x, y)) }),
		"integers with holes": dem(t, 32633, 61, 47, "-5", rough16),
	} {
		for _, edges := range []bool{false, true} {
			for _, c := range []struct {
				mode      string
				d         Derivative
				arguments []string
			}{
				{"hillshade", Hillshade{}, nil},
				{"hillshade", Hillshade{Azimuth: 100, Altitude: 20, ZFactor: 3, Scale: 1.5}, []string{"-az", "100", "-alt", "20", "-z", "3", "-s", "1.5"}},
				{"slope", Slope{}, nil},
				{"slope", Slope{Percent: true, Scale: 2}, []string{"-p", "-s", "2"}},
				{"aspect", Aspect{}, nil},
				{"aspect", Aspect{Trigonometric: true, ZeroForFlat: true}, []string{"-trigonometric", "-zero_for_flat"}},
			} {
				result := filepath.Join(t.TempDir(), "gdal"+strconv.Itoa(len(checks))+".tif")
				line := append([]string{c.mode, surface, result}, c.arguments...)
				if edges {
					line = append(line, "-compute_edges")
				}
				text, _ := json.Marshal(line)
				input.Write(append(text, '\n'))
				checks = append(checks, func() {
					t.Helper()
					o := Options{ComputeEdges: edges}
					if c.mode == "hillshade" {
						compare(t, name, line, derive[uint8](t, dev, open(t, surface), c.d, o), pixels[uint8](t, result), 1)
					} else {
						compare(t, name, line, derive[float32](t, dev, open(t, surface), c.d, o), pixels[float32](t, result), 5e-3)
					}
				})
			}
		}
	}
	cmd := exec.Command(python, "testdata/judge.py")
	cmd.Stdin = &input
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, check := range checks {
		check()
	}
}

func compare[T uint8 | float32](t *testing.T, name string, line []string, got, want []T, tolerance float64) {
	t.Helper()
	worst, differ, bad := 0.0, 0, 0
	for i := range want {
		d := math.Abs(float64(got[i]) - float64(want[i]))
		if line[0] == "aspect" && d > 180 && d < 361 {
			d = 360 - d
		}
		if d > 0 {
			differ++
		}
		if d > tolerance {
			if bad == 0 {
				t.Errorf("%s %v: pixel %d is %v, gdaldem's %v", name, line, i, got[i], want[i])
			}
			bad++
		}
		worst = max(worst, d)
	}
	t.Logf("%s %s %v: %d of %d pixels differ, by %.2g at most", name, line[0], line[3:], differ, len(want), worst)
}

func TestPixelsAreTheSameOnAllDevices(t *testing.T) {
	im := open(t, dem(t, 32633, 40, 31, "-5", rough16))
	for _, d := range []Derivative{Hillshade{}, Slope{}, Aspect{}} {
		var first []byte
		gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
			name := filepath.Join(t.TempDir(), "result.tif")
			if err := File(t.Context(), dev, name, im, d, Options{ComputeEdges: true, File: tiff.Options{Compression: tiff.None}}); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = got
			}
			if !bytes.Equal(got, first) {
				t.Errorf("%T: the files differ", d)
			}
		})
	}
}

func TestBadInputsAreReported(t *testing.T) {
	dev := cpu(t)
	im := open(t, dem(t, 32633, 5, 5, "", rough16))
	degrees := open(t, dem(t, 4326, 5, 5, "", rough16))
	bare := open(t, dem(t, 0, 5, 5, "", rough16))
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	name := filepath.Join(t.TempDir(), "result.tif")
	for title, test := range map[string]struct {
		err  error
		want error
	}{
		"a band":     {File(t.Context(), dev, name, im, Slope{}, Options{Band: 1}), ErrArgument},
		"an angle":   {File(t.Context(), dev, name, im, Hillshade{Altitude: 100}, Options{}), ErrArgument},
		"a scale":    {File(t.Context(), dev, name, im, Slope{Scale: math.NaN()}, Options{}), ErrArgument},
		"degrees":    {File(t.Context(), dev, name, degrees, Slope{}, Options{}), ErrArgument},
		"no place":   {File(t.Context(), dev, name, bare, Slope{}, Options{}), ErrNoCRS},
		"canceled":   {File(canceled, dev, name, im, Slope{}, Options{}), context.Canceled},
		"no folder":  {File(t.Context(), dev, filepath.Join(name, "x.tif"), im, Slope{}, Options{}), tiff.ErrIO},
		"with scale": {File(t.Context(), dev, filepath.Join(t.TempDir(), "a.tif"), degrees, Slope{Scale: 111120}, Options{}), nil},
	} {
		if !errors.Is(test.err, test.want) {
			t.Errorf("%s: %v", title, test.err)
		}
	}
	if _, err := os.Stat(name); err == nil {
		t.Error("there is a file")
	}
}
