package wms

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quern.dev/geo/tiff"
)

func TestLayersOfFolders(t *testing.T) {
	s := fixture(t, nil)
	var names []string
	for _, l := range s.order {
		names = append(names, fmt.Sprint(l.Name, " ", len(l.frames), " ", len(l.frames[0].images)))
	}
	if got := strings.Join(names, ", "); got != "days 3 1, dem 1 1, parts 1 2, rgb 1 1" {
		t.Error(got)
	}
	for name, want := range map[string]string{"a_20260131.tif": "2026-01-31T00:00:00Z", "2026-01-31.tif": "2026-01-31T00:00:00Z", "S2_20260131T101112_x.tif": "2026-01-31T10:11:12Z",
		"2026_01_31-1011.tif": "2026-01-31T10:11:00Z", "20261331.tif": "", "x.tif": "", "123456789.tif": ""} {
		at, ok := dateOf(name)
		if ok != (want != "") || ok && formatTime(at) != want {
			t.Errorf("%s: %v %v, want %s", name, at, ok, want)
		}
	}
	dated := t.TempDir()
	for day := range 20 {
		name := filepath.Join(dated, "days", fmt.Sprintf("a_202601%02d.tif", day+1))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, nil, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	layers, err := FindLayers(dated)
	if err != nil || len(layers) != 1 || !slices.IsSortedFunc(layers[0].Times, func(a, b TimeFiles) int { return a.Time.Compare(b.Time) }) { // entity tags follow from the order
		t.Errorf("times are not in order: %v, %v", layers, err)
	}
	if _, err := FindLayers(t.TempDir()); err == nil {
		t.Error("an empty folder has layers")
	}
	if _, err := FindLayers(filepath.Join(t.TempDir(), "missing")); err == nil {
		t.Error("a folder that is missing has layers")
	}
}

func TestUnusableFilesAreLeftOut(t *testing.T) {
	name := scene(t, 64, 64, 3, tiff.Options{}, nil)
	gray := scene(t, 64, 64, 1, tiff.Options{}, nil)
	damaged := filepath.Join(t.TempDir(), "damaged.tif")
	if err := os.WriteFile(damaged, []byte("II*\x00damaged"), 0o644); err != nil {
		t.Fatal(err)
	}
	var reported []string
	s := server(t, Config{
		Layers: []Layer{{Name: "a", Files: []string{damaged}}, {Name: "b", Files: []string{damaged, name}}, {Name: "c", Files: []string{name, gray}}, {Name: "d", Files: []string{gray}}},
		Unusable: func(l Layer, err error) error {
			reported = append(reported, l.Name)
			return nil
		},
	})
	if got := strings.Join(reported, " "); got != "a b c" {
		t.Errorf("reported: %s", got)
	}
	if got := strings.Join(s.Layers(), " "); got != "b d" {
		t.Errorf("served: %s", got)
	}
	if n := len(s.layers["b"].frames[0].images); n != 1 {
		t.Errorf("layer b has %d files", n)
	}
	if health := get(s, "/health"); health.Code != 200 || health.Body.String() != "ok\nnot shown: a\nnot shown: c\n" {
		t.Errorf("health: %d %q", health.Code, health.Body)
	}
	if metrics := get(s, "/metrics").Body.String(); !strings.Contains(metrics, "quern_wms_layers_missing 2\n") {
		t.Errorf("metrics: %s", metrics)
	}
	all := Config{Layers: []Layer{{Name: "a", Files: []string{damaged}}}, Unusable: func(Layer, error) error { return nil }}
	if other, err := New(s.renderer.Device(), all); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), damaged) {
		t.Errorf("a server without layers: %v", err)
		other.Close()
	}
	calls := 0
	all.Unusable = func(Layer, error) error { calls++; return errors.ErrUnsupported }
	if _, err := New(s.renderer.Device(), all); !errors.Is(err, errors.ErrUnsupported) || calls != 1 {
		t.Errorf("%d calls: %v", calls, err)
	}
}

// TestALayerThatCannotBeDrawnIsLeftOut has a layer that opens, and fails only when the renderer gets it.
func TestALayerThatCannotBeDrawnIsLeftOut(t *testing.T) {
	good := scene(t, 64, 64, 1, tiff.Options{}, nil)
	computed := func(string) (*tiff.File, error) {
		h := tiff.Header{Width: 64, Height: 64, Bands: 1, Type: tiff.Complex64, Photometric: tiff.MinIsBlack}
		h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.GTModelType, Code: tiff.ModelProjected})
		h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.ProjectedCRS, Code: 32633})
		h.Geo.SetAffine(tiff.Affine{500000, 10, 0, 5300000, 0, -10})
		return tiff.NewVirtual(tiff.Virtual{Header: h, Read: func(context.Context, tiff.VirtualBlock, []byte) error { return nil }})
	}
	open := func(name string) (*tiff.File, error) {
		if name == "complex" {
			return computed(name)
		}
		return tiff.Open(name)
	}
	var reasons []string
	unusable := func(l Layer, err error) error {
		reasons = append(reasons, l.Name+": "+err.Error())
		return nil
	}
	s := server(t, Config{Layers: []Layer{{Name: "bad", Files: []string{"complex"}}, {Name: "worse", Files: []string{good}, Default: Rendering{Shading: "no such"}}, {Name: "good", Files: []string{good}}}, Open: open, Unusable: unusable})
	if len(reasons) != 2 || !strings.Contains(reasons[0], "bad: wms: layer bad: ") || !strings.Contains(reasons[1], "no such") {
		t.Errorf("reasons: %q", reasons)
	}
	if got := strings.Join(s.Layers(), " "); got != "good" {
		t.Errorf("served: %s", got)
	}
	if w := get(s, inUTM+"&LAYERS=good"); w.Header().Get("Content-Type") != "image/png" {
		t.Errorf("the other layer: %s", w.Body)
	}
	if w := get(s, inUTM+"&LAYERS=bad"); !strings.Contains(w.Body.String(), "LayerNotDefined") {
		t.Errorf("the layer: %s", w.Body)
	}
}

func TestConfigurationsThatCannotBeServed(t *testing.T) {
	name := scene(t, 64, 64, 3, tiff.Options{}, nil)
	plain := filepath.Join(t.TempDir(), "plain.tif")
	writeFile(t, plain, tiff.Header{Width: 16, Height: 16, Bands: 1, Type: tiff.Uint8, Photometric: tiff.MinIsBlack}, tiff.Options{}, texture)
	gray := scene(t, 64, 64, 1, tiff.Options{}, nil)
	s := server(t, Config{Layers: []Layer{{Name: "a", Files: []string{name}}}})
	for what, c := range map[string]Config{
		"no layers":         {},
		"a bad name":        {Layers: []Layer{{Name: "a/b", Files: []string{name}}}},
		"a reserved name":   {Layers: []Layer{{Name: "wms", Files: []string{name}}}},
		"no files":          {Layers: []Layer{{Name: "a"}}},
		"a missing file":    {Layers: []Layer{{Name: "a", Files: []string{name + "x"}}}},
		"no coordinates":    {Layers: []Layer{{Name: "a", Files: []string{plain}}}},
		"different bands":   {Layers: []Layer{{Name: "a", Files: []string{name, gray}}}},
		"the same name":     {Layers: []Layer{{Name: "a", Files: []string{name}}, {Name: "a", Files: []string{name}}}},
		"an unknown system": {Layers: []Layer{{Name: "a", Files: []string{name}}}, Systems: []int{1}},
		"an unknown ramp":   {Layers: []Layer{{Name: "a", Files: []string{gray}, Default: Rendering{Ramp: "pink"}}}},
		"a bad quality":     {Layers: []Layer{{Name: "a", Files: []string{name}}}, Quality: 101},
	} {
		if other, err := New(s.renderer.Device(), c); err == nil {
			t.Errorf("%s: no error", what)
			other.Close()
		}
	}
}

func TestALayerOfOneValueIsServed(t *testing.T) {
	for _, v := range []float64{0, 7, 1e20, -3e38} {
		h := tiff.Header{Width: 64, Height: 64, Bands: 1, Type: tiff.Float32, Photometric: tiff.MinIsBlack}
		h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.ProjectedCRS, Code: 32633})
		h.Geo.SetAffine(tiff.Affine{500000, 10, 0, 5300000, 0, -10})
		name := writeFile(t, filepath.Join(t.TempDir(), "flat.tif"), h, tiff.Options{}, func(x, y, band int) float64 { return v })
		s := server(t, Config{Layers: []Layer{{Name: "flat", Files: []string{name}}}})
		if w := get(s, inUTM+"&LAYERS=flat&TRANSPARENT=TRUE"); w.Code != 200 || w.Header().Get("Content-Type") != "image/png" {
			t.Errorf("%v: %d, %s", v, w.Code, w.Body)
		} else if _, _, _, a := decode(t, w).At(10, 10).RGBA(); a != 0xffff {
			t.Errorf("%v: alpha %d", v, a)
		}
	}
}
