package filter

import (
	"errors"
	"image"
	"math"
	"slices"
	"strings"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

// call is a call of a filter that takes a workspace, or none.
type call struct {
	name string
	run  func(s *gpu.Stream, work ...*gpu.Workspace) error
	out  func() []uint64 // a checksum of what it writes
}

// calls returns a call of each filter, on images of a device.
func calls(t *testing.T, dev *gpu.Device) []call {
	w, h := 45, 37
	if dev.Backend() == gpu.Sim {
		w, h = 17, 9
	}
	src8, src32 := upImage(t, dev, noise[uint8](w, h, 1, 3), 1), upImage(t, dev, noise[float32](w, h, 1, 3), 0)
	src16 := upImage(t, dev, noise[uint16](w, h, 1, 3), 2)
	one := upImage(t, dev, noise[uint8](w, h, 1, 1), 1)
	volume := up(t, dev, noise[float32](9, 8, 7, 1), 0)
	var list []call
	sum := func(data any) []uint64 {
		var sums []uint64
		add := func(v uint64) { sums = append(sums, v) }
		switch b := data.(type) {
		case *gpu.Buffer[uint8]:
			for _, v := range gputest.Download(t, dev, b) {
				add(uint64(v))
			}
		case *gpu.Buffer[uint16]:
			for _, v := range gputest.Download(t, dev, b) {
				add(uint64(v))
			}
		case *gpu.Buffer[float32]:
			for _, v := range gputest.Download(t, dev, b) {
				add(uint64(math.Float32bits(v)))
			}
		case *gpu.Buffer[int32]:
			for _, v := range gputest.Download(t, dev, b) {
				add(uint64(v))
			}
		case *gpu.Buffer[uint32]:
			for _, v := range gputest.Download(t, dev, b) {
				add(uint64(v))
			}
		}
		return sums
	}
	add := func(name string, out any, run func(s *gpu.Stream, work ...*gpu.Workspace) error) {
		list = append(list, call{name, run, func() []uint64 { return sum(out) }})
	}
	d8 := func(c int) Image[uint8] { return poisoned[uint8](t, dev, w, h, 1, c, 1).image() }
	d16 := func(c int) Image[uint16] { return poisoned[uint16](t, dev, w, h, 1, c, 1).image() }
	d32 := func(c int) Image[float32] { return poisoned[float32](t, dev, w, h, 1, c, 1).image() }
	b := Boundary{Mode: Mirror}
	stencil := Stencil{Width: 3, Height: 3, Weights: []float32{1, 2, 1, 2, 4, 2, 1, 2, 1}}
	weights := []float32{0.25, 0.5, 0.25}
	{
		out := d8(3)
		add("Correlate", out.Data, func(s *gpu.Stream, work ...*gpu.Workspace) error { return Correlate(s, out, src8, stencil, b, work...) })
	}
	{
		out := d32(3)
		add("Separable", out.Data, func(s *gpu.Stream, work ...*gpu.Workspace) error {
			return Separable(s, out, src8, weights, weights, b, work...)
		})
	}
	{
		out := d16(3)
		add("Gaussian", out.Data, func(s *gpu.Stream, work ...*gpu.Workspace) error { return Gaussian(s, out, src16, 1.5, 0, b, work...) })
	}
	{
		out := poisoned[float32](t, dev, 9, 8, 7, 1, 0)
		add("GaussianVolume", out.Data, func(s *gpu.Stream, work ...*gpu.Workspace) error {
			return GaussianVolume(s, out, volume, 0.7, 0, b, work...)
		})
	}
	{
		out := d8(3)
		add("Box", out.Data, func(s *gpu.Stream, work ...*gpu.Workspace) error { return Box(s, out, src8, 5, 7, b, work...) })
	}
	{
		out := d32(3)
		add("Box float32", out.Data, func(s *gpu.Stream, work ...*gpu.Workspace) error { return Box(s, out, src32, 5, 7, b, work...) })
	}
	{
		out := d8(3)
		add("Median", out.Data, func(s *gpu.Stream, work ...*gpu.Workspace) error { return Median(s, out, src8, 3, 3, b, work...) })
	}
	{
		out := d16(3)
		add("Median 7x5", out.Data, func(s *gpu.Stream, work ...*gpu.Workspace) error { return Median(s, out, src16, 7, 5, b, work...) })
	}
	{
		out := d8(3)
		add("TopHat", out.Data, func(s *gpu.Stream, work ...*gpu.Workspace) error {
			return TopHat(s, out, src8, Element{Width: 3, Height: 3}, b, work...)
		})
	}
	{
		out := d8(3)
		mask := []bool{false, true, false, true, true, true, false, true, false}
		add("MorphologicalGradient", out.Data, func(s *gpu.Stream, work ...*gpu.Workspace) error {
			return MorphologicalGradient(s, out, src8, Element{3, 3, mask}, b, work...)
		})
	}
	{
		out := d32(3)
		add("Sobel", out.Data, func(s *gpu.Stream, work ...*gpu.Workspace) error { return Sobel(s, out, src8, AlongX, b, work...) })
	}
	{
		out := d8(1)
		add("Canny", out.Data, func(s *gpu.Stream, work ...*gpu.Workspace) error { return Canny(s, out, one, 50, 200, work...) })
	}
	{
		out := d8(3)
		add("Equalize", out.Data, func(s *gpu.Stream, work ...*gpu.Workspace) error { return Equalize(s, out, src8, work...) })
	}
	{
		out := d8(3)
		add("CLAHE", out.Data, func(s *gpu.Stream, work ...*gpu.Workspace) error { return CLAHE(s, out, src8, 2, 2, 3, work...) })
	}
	{
		out := gputest.Alloc[int32](t, dev, w*h)
		add("Label", out, func(s *gpu.Stream, work ...*gpu.Workspace) error { return Label(s, out, nil, one, Connect8, work...) })
	}
	{
		out := gputest.Alloc[uint32](t, dev, 256)
		add("Histogram", out, func(s *gpu.Stream, _ ...*gpu.Workspace) error { return Histogram(s, out, one) })
	}
	{
		out := d8(3)
		add("Bilateral", out.Data, func(s *gpu.Stream, _ ...*gpu.Workspace) error { return Bilateral(s, out, src8, 2, 1, 30, b) })
	}
	{
		out := d8(3)
		add("Resize", out.Data, func(s *gpu.Stream, _ ...*gpu.Workspace) error { return Resize(s, out, src8, Area) })
	}
	{
		out := d8(3)
		add("Rotate", out.Data, func(s *gpu.Stream, _ ...*gpu.Workspace) error { return Rotate(s, out, src8, 30, Cubic, b) })
	}
	{
		out := d8(3)
		add("ConvertColor", out.Data, func(s *gpu.Stream, _ ...*gpu.Workspace) error { return ConvertColor(s, out, src8, Lab, RGB) })
	}
	{
		out := d16(3)
		add("Convert", out.Data, func(s *gpu.Stream, _ ...*gpu.Workspace) error { return Convert(s, out, src8, 257, 0) })
	}
	return list
}

// TestWorkspaces: with a workspace of the measured size, in a graph, and with the device's
// pool, the filters write the same. A workspace that is a byte too small is refused.
func TestWorkspaces(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		s := dev.DefaultStream()
		for _, c := range calls(t, dev) {
			if err := c.run(s); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			want := c.out()
			measure := gpu.MeasureWorkspace()
			if err := c.run(s, measure); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if n := measure.Size(); n > 0 {
				memory := gputest.Alloc[byte](t, dev, n)
				if err := c.run(s, gpu.NewWorkspace(memory)); err != nil {
					t.Fatalf("%s: %v", c.name, err)
				}
				if !slices.Equal(c.out(), want) {
					t.Errorf("%s writes something else with a workspace", c.name)
				}
				if err := c.run(s, gpu.NewWorkspace(memory.Slice(0, n-1))); !errors.Is(err, gpu.ErrInvalid) {
					t.Errorf("%s with a workspace that is too small: %v", c.name, err)
				}
			}
			g, err := dev.Capture(func(s *gpu.Stream) error { return c.run(s) })
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			x, err := g.Instantiate()
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			for range 2 {
				if err := x.Launch(s); err != nil {
					t.Fatalf("%s: %v", c.name, err)
				}
			}
			if !slices.Equal(c.out(), want) {
				t.Errorf("%s writes something else in a graph", c.name)
			}
			if err := x.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestAllocations: once the pools have what a filter needs, it allocates no memory.
func TestAllocations(t *testing.T) {
	dev := gputest.Open(t, gpu.Config{Device: "cpu"})
	s := dev.DefaultStream()
	for _, c := range calls(t, dev) {
		if n := testing.AllocsPerRun(10, func() {
			if err := c.run(s); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations per call", c.name, n)
		}
	}
}

// TestRefused: bad arguments are refused by an error that names the operation, the argument
// and the rule, and nothing is written.
func TestRefused(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		s := dev.DefaultStream()
		src, out := upImage(t, dev, noise[uint8](9, 7, 1, 3), 0), poisoned[uint8](t, dev, 9, 7, 1, 3, 0).image()
		one := upImage(t, dev, noise[uint8](9, 7, 1, 1), 0)
		f := poisoned[float32](t, dev, 9, 7, 1, 3, 0).image()
		wide := poisoned[uint16](t, dev, 9, 7, 1, 3, 0).image()
		with := func(change func(m *Image[uint8])) Image[uint8] {
			m := src
			change(&m)
			return m
		}
		labels, counts := gputest.Alloc[int32](t, dev, 63), gputest.Alloc[uint32](t, dev, 256)
		pixels := Image[float32]{Width: 9, Height: 7, Data: gpu.Reinterpret[float32](gpu.Reinterpret[byte](labels))}
		stencil := Stencil{Weights: []float32{1}}
		var b Boundary
		nan := math.NaN()
		for _, c := range []struct {
			err  error
			want string
		}{
			{Correlate(s, out, with(func(m *Image[uint8]) { m.Width = -1 }), stencil, b), "filter: Correlate: src: -1x7 pixels of 3 channels; sides are at most 1048576, 65535 and 65535"},
			{Correlate(s, out, with(func(m *Image[uint8]) { m.Channels = 5 }), stencil, b), "filter: Correlate: src: 5 channels, want 1 to 4"},
			{Correlate(s, out, with(func(m *Image[uint8]) { m.Stride = 26 }), stencil, b), "filter: Correlate: src: the stride is 26, and a row has 27 elements"},
			{Correlate(s, out, with(func(m *Image[uint8]) { m.Height = 8 }), stencil, b), "filter: Correlate: src: 189 elements, but 9x8 pixels of 3 channels with strides of 27 and 216 need 216"},
			{Correlate(s, out, with(func(m *Image[uint8]) { m.Data = nil }), stencil, b), "filter: Correlate: src: the data is nil"},
			{Correlate(s, out, with(func(m *Image[uint8]) { m.Width = 8 }), stencil, b), "filter: Correlate: dst: 9x7 pixels of 3 channels, but src has 8x7 pixels of 3 channels"},
			{Correlate(s, src, src, stencil, b), "filter: Correlate: dst: it has pixels in common with src, which the filter still reads"},
			{Correlate(s, out, src, Stencil{Width: 2, Weights: []float32{1}}, b), "filter: Correlate: stencil: 1 weights for 2x1x1"},
			{Correlate(s, out, src, Stencil{}, b), "filter: Correlate: stencil: 0 weights for 0x1x1"},
			{Correlate(s, out, src, stencil, Boundary{Mode: 9}), "filter: Correlate: boundary: unknown mode 9"},
			{Correlate(s, wide, src, stencil, b), "filter: Correlate: dst: its type must be that of src or float32"},
			{Convolve(s, out, f, stencil, b), "filter: Convolve: dst: its type must be that of src or float32"},
			{Gaussian(s, out, src, -1, 0, b), "filter: Gaussian: sigma: -1 pixels, truncated at 4 standard deviations; want sigma of at least 0, and a product below 1048576"},
			{Gaussian(s, out, src, nan, 0, b), "filter: Gaussian: sigma: NaN pixels, truncated at 4 standard deviations; want sigma of at least 0, and a product below 1048576"},
			{Box(s, out, src, 0, 3, b), "filter: Box: window: 0x3, want sides of 1 to 1048576"},
			{Box(s, out, src, 1<<13, 1<<12, b), "filter: Box: window: 8192x4096, want at most 16777216 pixels"},
			{Box(s, out, src, 3, 3, Boundary{Constant, 2.5}), "filter: Box: boundary: the constant 2.5 is no value of the pixels' type"},
			{Median(s, out, src, 3, 4, b), "filter: Median: window: 3x4, want odd sides of 1 to 4095"},
			{Erode(s, out, src, Element{2, 2, []bool{true}}, b), "filter: Erode: element: a mask of 1 pixels for 2x2; at most 4194304 are allowed"},
			{Close(s, out, src, Element{1, 1, []bool{false}}, b), "filter: Close: element: the mask is empty"},
			{Canny(s, out, src, 1, 2), "filter: Canny: src: 3 channels, want 1"},
			{Canny(s, with(func(m *Image[uint8]) { *m = out; m.Channels, m.Width, m.Stride = 1, 9, 9 }), one, 3, 2), "filter: Canny: thresholds: 3 and 2, want 0 <= low <= high"},
			{Sobel(s, f, src, 2, b), "filter: Sobel: direction: unknown direction 2"},
			{Resize(s, out, src, 9), "filter: Resize: interpolation: unknown interpolation 9"},
			{Resize(s, out, one, Linear), "filter: Resize: dst: 3 channels, but src has 1"},
			{Resize(s, out, Image[uint8]{Channels: 3}, Linear), "filter: Resize: src: no pixels"},
			{Rotate(s, out, src, nan, Linear, b), "filter: Rotate: matrix: element 0 is NaN"},
			{Bilateral(s, out, src, 3, 0, 1, b), "filter: Bilateral: sigma: 0 pixels and 1, want standard deviations above 0"},
			{Bilateral(s, out, src, 1000, 3, 1, b), "filter: Bilateral: radius: 1000, want 0 to 64"},
			{ConvertColor(s, out, src, HSV, Lab), "filter: ConvertColor: space: Lab to HSV; convert to RGB first"},
			{ConvertColor(s, out, src, Gray, RGB), "filter: ConvertColor: dst: 3 channels, but Gray has 1"},
			{ConvertColor(s, out, one, HSV, RGB), "filter: ConvertColor: src: 1 channels, but RGB has 3 or 4"},
			{Convert(s, out, src, 1, 0), "filter: Convert: dst: its type is that of src; use Correlate with a stencil of one weight"},
			{CLAHE(s, out, src, 0, 1, 2), "filter: CLAHE: tiles: 0x1, want 1 to 4096 in each direction"},
			{Label(s, gputest.Alloc[int32](t, dev, 62), nil, one, Connect4), "filter: Label: labels: 62 elements for 63 pixels"},
			{Label(s, labels, nil, pixels, Connect4), "filter: Label: labels: it shares memory with src"},
			{Label(s, gputest.Alloc[int32](t, dev, 63), labels.Slice(2, 3), pixels, Connect4), "filter: Label: count: it shares memory with src"},
			{Label(s, labels, labels.Slice(2, 3), one, Connect4), "filter: Label: count: it shares memory with labels"},
			{Histogram(s, counts, Image[uint8]{Width: 9, Height: 7, Data: gpu.Reinterpret[byte](counts).Slice(100, 163)}), "filter: Histogram: counts: it shares memory with src"},
			{Histogram(s, counts, src), "filter: Histogram: counts: 256 elements, want 768"},
			{Label(s, gputest.Alloc[int32](t, dev, 63), nil, one, 6), "filter: Label: connectivity: 6, want 4 or 8"},
			{Upload(s, out, image.NewRGBA(image.Rect(0, 0, 9, 7))), "filter: Upload: image: 9x7 pixels of 4 channels, but the one on the device has 9x7 pixels of 3 channels"},
			{Upload(s, out, image.NewCMYK(image.Rect(0, 0, 9, 7))), "filter: Upload: image: the type is *image.CMYK; draw it to an *image.NRGBA, *image.RGBA, *image.Gray or *image.Gray16"},
			{Download(t.Context(), s, image.NewGray(image.Rect(0, 0, 9, 7)), wide), "filter: Download: image: the type is *image.Gray, which is not for an image of uint16 on the device"},
		} {
			var e *Error
			if !errors.As(c.err, &e) || !errors.Is(c.err, gpu.ErrInvalid) || c.err.Error() != c.want {
				t.Errorf("%v\nwant %s", c.err, c.want)
			}
		}
		for _, v := range gputest.Download(t, dev, out.Data) {
			if v != 101 && v != 77 {
				t.Fatal("a call that was refused has written")
			}
		}
	})
}

// TestEmpty: images without pixels are filtered to images without pixels.
func TestEmpty(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		s := dev.DefaultStream()
		var none Image[uint8]
		var b Boundary
		e := Element{Width: 3, Height: 3}
		count := gputest.Upload(t, dev, []int32{7})
		for i, err := range []error{
			Correlate(s, none, none, Stencil{Weights: []float32{1}}, b), Gaussian(s, none, none, 1, 0, b), Box(s, none, none, 3, 3, b),
			Median(s, none, none, 3, 3, b), Open(s, none, none, e, b), Sobel(s, Image[float32]{}, none, AlongX, b), Canny(s, none, none, 1, 2),
			Bilateral(s, none, none, 1, 1, 1, b), Resize(s, none, none, Linear), Rotate(s, none, none, 5, Linear, b),
			ConvertColor(s, Image[uint8]{Channels: 3}, Image[uint8]{Channels: 3}, RGB, HSV), Equalize(s, none, none), CLAHE(s, none, none, 8, 8, 2),
			Label(s, nil, count, none, Connect4), Upload(s, none, image.NewGray(image.Rectangle{})),
		} {
			if err != nil {
				t.Errorf("%d: %v", i, err)
			}
		}
		gputest.Equal(t, gputest.Download(t, dev, count), []int32{0})
	})
}

// Images with more pixels than labels or counts have room for are refused.
func TestMostPixels(t *testing.T) {
	labelled, counted := mostLabels, mostCounted
	defer func() { mostLabels, mostCounted = labelled, counted }()
	mostLabels, mostCounted = 34, 34
	dev := gputest.Open(t, gpu.Config{Device: "cpu"})
	s := dev.DefaultStream()
	src, dst := upImage(t, dev, noise[uint8](7, 5, 1, 1), 0), upImage(t, dev, noise[uint8](7, 5, 1, 1), 0)
	for name, err := range map[string]error{
		"Histogram": Histogram(s, gputest.Alloc[uint32](t, dev, 256), src),
		"Equalize":  Equalize(s, dst, src),
		"Label":     Label(s, gputest.Alloc[int32](t, dev, 35), nil, src, Connect4),
		"Canny":     Canny(s, dst, src, 1, 2),
	} {
		if want := "filter: " + name + ": src: 35 pixels; at most 34 are allowed"; !errors.Is(err, gpu.ErrInvalid) || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestPart(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		p := noise[uint16](9, 7, 1, 2)
		m := upImage(t, dev, p, 3)
		dst := poisoned[uint16](t, dev, 4, 4, 1, 2, 0)
		if err := Erode(dev.DefaultStream(), dst.image(), m.Part(2, 3, 4, 4), Element{Width: 1, Height: 1}, Boundary{}); err != nil {
			t.Fatal(err)
		}
		for i, v := range down(t, dev, dst).at {
			if want := p.get(2+i/2%4, 3+i/8, 0, i%2); float64(v) != want {
				t.Fatalf("element %d: %v, want %v", i, v, want)
			}
		}
		// Parts of an image that are beside each other do not overlap.
		left, right := m.Part(0, 0, 4, 7), m.Part(5, 0, 4, 7)
		if err := Erode(dev.DefaultStream(), left, right, Element{Width: 1, Height: 1}, Boundary{}); err != nil {
			t.Error(err)
		}
		if err := Erode(dev.DefaultStream(), left, m.Part(3, 0, 4, 7), Element{Width: 1, Height: 1}, Boundary{}); !errors.Is(err, gpu.ErrInvalid) {
			t.Errorf("parts that overlap: %v", err)
		}
		if e := m.Part(6, 0, 4, 4); e.Width != 0 || e.Data != nil {
			t.Error("a part that is not inside has pixels")
		}
	})
}

func TestNames(t *testing.T) {
	if s := strings.Join([]string{Reflect.String(), Wrap.String(), Mode(9).String(), Lab.String(), Space(9).String()}, " "); s != "reflect wrap Mode(9) Lab Space(9)" {
		t.Error(s)
	}
}
