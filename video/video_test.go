package video

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

var allColors = []Colors{{BT709, false}, {BT709, true}, {BT601, false}, {BT601, true}, {BT2020, false}, {BT2020, true}}

// nearest returns the integer nearest to a fraction, halves up, from 0 to 255.
func nearest(x *big.Rat) uint8 {
	x = new(big.Rat).Add(x, big.NewRat(1, 2))
	q := new(big.Int).Div(x.Num(), x.Denom()) // Euclidean: rounds down for a positive divisor
	return uint8(min(max(q.Int64(), 0), 255))
}

// standard returns the weights of a matrix as the standards write them.
func standard(m Matrix) (kr, kb *big.Rat) {
	w := map[Matrix][2]string{BT709: {"0.2126", "0.0722"}, BT601: {"0.299", "0.114"}, BT2020: {"0.2627", "0.0593"}}[m]
	kr, _ = new(big.Rat).SetString(w[0])
	kb, _ = new(big.Rat).SetString(w[1])
	return kr, kb
}

func times(a *big.Rat, b ...*big.Rat) *big.Rat {
	for _, f := range b {
		a = new(big.Rat).Mul(a, f)
	}
	return a
}

func plus(a *big.Rat, b ...*big.Rat) *big.Rat {
	for _, f := range b {
		a = new(big.Rat).Add(a, f)
	}
	return a
}

func minus(a, b *big.Rat) *big.Rat { return new(big.Rat).Sub(a, b) }

// spans returns the steps of luma and chroma, and the luma of black.
func spans(full bool) (luma, chroma, black *big.Rat) {
	if full {
		return big.NewRat(255, 1), big.NewRat(255, 1), new(big.Rat)
	}
	return big.NewRat(219, 1), big.NewRat(224, 1), big.NewRat(16, 1)
}

// exactLuma and exactChroma are those of a color with components from 0 to 1, as the standards define them.
func exactLuma(c Colors, r, g, b *big.Rat) *big.Rat {
	kr, kb := standard(c.Matrix)
	kg := minus(minus(big.NewRat(1, 1), kr), kb)
	return plus(times(kr, r), times(kg, g), times(kb, b))
}

func exactChroma(c Colors, r, g, b *big.Rat) (u, v *big.Rat) {
	kr, kb := standard(c.Matrix)
	y := exactLuma(c, r, g, b)
	two, one := big.NewRat(2, 1), big.NewRat(1, 1)
	u = new(big.Rat).Quo(minus(b, y), times(two, minus(one, kb)))
	v = new(big.Rat).Quo(minus(r, y), times(two, minus(one, kr)))
	return u, v
}

func TestEncodedColorsAreTheNearestIntegers(t *testing.T) {
	const w, h = 24, 16
	r := rand.New(rand.NewPCG(1, 2))
	rgba := make([]uint8, 4*w*h)
	for i := range rgba {
		rgba[i] = uint8(r.Uint32())
	}
	for i := range 48 { // gray, black, white, and the corners of the cube
		copy(rgba[4*i:], []uint8{uint8(255 * (i & 1)), uint8(255 * (i >> 1 & 1)), uint8(255 * (i >> 2 & 1)), 9})
	}
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		in := gputest.Upload(t, dev, rgba)
		out := gputest.Alloc[uint8](t, dev, NV12.Bytes(w, h))
		planar := gputest.Alloc[uint8](t, dev, YUV420P.Bytes(w, h))
		for _, c := range allColors {
			if err := errors.Join(c.Encode(dev.DefaultStream(), NV12, w, h, in, out), c.Encode(dev.DefaultStream(), YUV420P, w, h, in, planar)); err != nil {
				t.Fatal(err)
			}
			got, gotPlanar := gputest.Download(t, dev, out), gputest.Download(t, dev, planar)
			luma, chroma, black := spans(c.Full)
			for y := range h {
				for x := range w {
					p := rgba[4*(y*w+x):]
					of := func(i int) *big.Rat { return big.NewRat(int64(p[i]), 255) }
					want := nearest(plus(times(exactLuma(c, of(0), of(1), of(2)), luma), black))
					if got[y*w+x] != want || gotPlanar[y*w+x] != want {
						t.Fatalf("%v: luma of %v is %d and %d, not %d", c, p[:3], got[y*w+x], gotPlanar[y*w+x], want)
					}
				}
			}
			for y := range h / 2 {
				for x := range w / 2 {
					of := func(i int) *big.Rat {
						sum := 0
						for k := range 4 {
							sum += int(rgba[4*((2*y+k/2)*w+2*x+k%2)+i])
						}
						return big.NewRat(int64(sum), 4*255)
					}
					u, v := exactChroma(c, of(0), of(1), of(2))
					wantU, wantV := nearest(plus(times(u, chroma), big.NewRat(128, 1))), nearest(plus(times(v, chroma), big.NewRat(128, 1)))
					at := w*h + 2*(y*w/2+x)
					if got[at] != wantU || got[at+1] != wantV || gotPlanar[w*h+y*w/2+x] != wantU || gotPlanar[w*h*5/4+y*w/2+x] != wantV {
						t.Fatalf("%v: chroma at %d, %d is %d, %d, not %d, %d", c, x, y, got[at], got[at+1], wantU, wantV)
					}
				}
			}
		}
	})
}

func TestDecodedColorsAreTheNearestIntegers(t *testing.T) {
	const w, h = 24, 16
	r := rand.New(rand.NewPCG(3, 4))
	stored := make([]uint8, NV12.Bytes(w, h))
	for i := range stored {
		stored[i] = uint8(r.Uint32())
	}
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		in := gputest.Upload(t, dev, stored)
		out := gputest.Alloc[uint8](t, dev, 4*w*h)
		for _, c := range allColors {
			if err := c.Decode(dev.DefaultStream(), NV12, w, h, in, out); err != nil {
				t.Fatal(err)
			}
			got := gputest.Download(t, dev, out)
			luma, chroma, black := spans(c.Full)
			kr, kb := standard(c.Matrix)
			one, two := big.NewRat(1, 1), big.NewRat(2, 1)
			kg := minus(minus(one, kr), kb)
			for i := range w * h {
				x, y := i%w, i/w
				level := func(at int, zero, step *big.Rat) *big.Rat {
					return new(big.Rat).Quo(minus(big.NewRat(int64(stored[at]), 1), zero), step)
				}
				at := w*h + 2*(y/2*w/2+x/2)
				l, u, v := level(i, black, luma), level(at, big.NewRat(128, 1), chroma), level(at+1, big.NewRat(128, 1), chroma)
				red := plus(l, times(two, minus(one, kr), v))
				blue := plus(l, times(two, minus(one, kb), u))
				green := new(big.Rat).Quo(minus(minus(l, times(kr, red)), times(kb, blue)), kg)
				full := big.NewRat(255, 1)
				want := []uint8{nearest(times(red, full)), nearest(times(green, full)), nearest(times(blue, full)), 255}
				if !bytes.Equal(got[4*i:4*i+4], want) {
					t.Fatalf("%v: %d %d %d become %v, not %v", c, stored[i], stored[at], stored[at+1], got[4*i:4*i+4], want)
				}
			}
		}
	})
}

// needFFmpeg skips a test where ffmpeg is missing.
func needFFmpeg(t testing.TB) {
	t.Helper()
	for _, name := range []string{"ffmpeg", "ffprobe"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed", name)
		}
	}
}

func TestColorsAreThoseOfFFmpeg(t *testing.T) {
	t.Parallel() // it waits for processes
	needFFmpeg(t)
	const w, h = 64, 48
	rgba, rgb := make([]uint8, 4*w*h), make([]uint8, 3*w*h)
	for i := range w * h {
		x, y := i%w/2, i/w/2 // the same color in blocks of 2 x 2 pixels
		c := []uint8{uint8(x * 8), uint8(y * 10), uint8(37 * (x ^ y))}
		copy(rgba[4*i:], c)
		copy(rgb[3*i:], c)
	}
	dev := gputest.Open(t, gpu.Config{Device: "cpu"})
	in, out := gputest.Upload(t, dev, rgba), gputest.Alloc[uint8](t, dev, YUV420P.Bytes(w, h))
	for _, c := range []Colors{{BT709, false}, {BT601, false}, {BT601, true}} {
		if err := c.Encode(dev.DefaultStream(), YUV420P, w, h, in, out); err != nil {
			t.Fatal(err)
		}
		got := gputest.Download(t, dev, out)
		cmd := exec.Command("ffmpeg", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", "64x48", "-i", "pipe:0",
			"-vf", "scale=out_color_matrix="+c.scale()+":flags=accurate_rnd+full_chroma_inp+area", "-pix_fmt", "yuv420p", "-f", "rawvideo", "pipe:1")
		cmd.Stdin = bytes.NewReader(rgb)
		want, err := cmd.Output()
		if err != nil || len(want) != len(got) {
			t.Fatalf("ffmpeg: %v, %d bytes", err, len(want))
		}
		for i := range got {
			// ffmpeg's own conversion has errors of about one.
			if d := int(got[i]) - int(want[i]); d < -2 || d > 2 {
				t.Fatalf("%v: sample %d is %d, ffmpeg's %d", c, i, got[i], want[i])
			}
		}
	}
}

// picture is a frame of a moving pattern.
func picture(w, h, frame int) []uint8 {
	rgba := make([]uint8, 4*w*h)
	for i := range w * h {
		x, y := i%w, i/w
		copy(rgba[4*i:], []uint8{uint8(40 + 170*x/w), uint8(40 + 170*y/h), uint8(60 + 6*frame), 255})
		if x/8 == frame%(w/8) {
			copy(rgba[4*i:], []uint8{220, 220, 220})
		}
	}
	return rgba
}

// write encodes frames of the pattern.
func write(t testing.TB, dev *gpu.Device, e *Encoder, first, count int) error {
	frame := gputest.Alloc[uint8](t, dev, 4*e.opt.Width*e.opt.Height)
	for i := first; i < first+count; i++ {
		if err := gpu.CopyIn(dev.DefaultStream(), frame, picture(e.opt.Width, e.opt.Height, i)); err != nil {
			return err
		}
		if err := e.WriteFrame(dev.DefaultStream(), frame); err != nil {
			return err
		}
	}
	return nil
}

// compare decodes a file and compares it with the pattern.
func compare(t testing.TB, dev *gpu.Device, name string, frames int) {
	t.Helper()
	d, err := Open(t.Context(), dev, name, Tools{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	info := d.Info()
	if info.Width != 64 || info.Height != 48 || info.Rate.Float() != 25 {
		t.Errorf("%+v", info)
	}
	frame := gputest.Alloc[uint8](t, dev, 4*info.Width*info.Height)
	n := 0
	for ; ; n++ {
		if err := d.Read(dev.DefaultStream(), frame); err != nil {
			if err.Error() != "EOF" {
				t.Fatal(err)
			}
			break
		}
		got, want := gputest.Download(t, dev, frame), picture(info.Width, info.Height, n)
		sum := 0
		for i := range got {
			d := int(got[i]) - int(want[i])
			sum += max(d, -d)
		}
		if mean := float64(sum) / float64(len(got)); mean > 6 {
			t.Errorf("frame %d differs by %.1f in the mean", n, mean)
		}
	}
	if n != frames {
		t.Errorf("%d frames, not %d", n, frames)
	}
}

func TestFramesComeBack(t *testing.T) {
	t.Parallel() // it waits for processes
	needFFmpeg(t)
	dev := gputest.Open(t, gpu.Config{Device: "cpu"})
	for _, o := range []Options{
		{Codec: X264, Preset: "ultrafast", CRF: 12, FastStart: true},
		{Codec: X264, Preset: "ultrafast", CRF: 12, Format: YUV420P, Colors: Colors{BT601, true}},
		{Codec: X264, Preset: "ultrafast", Bitrate: 2e6, Format: RGB24},
	} {
		o.Width, o.Height, o.Rate = 64, 48, FPS(25)
		name := filepath.Join(t.TempDir(), "it's.mp4")
		count := 0
		o.Progress = func(n int) { count = n }
		e, err := Create(t.Context(), dev, name, o)
		if err != nil {
			t.Fatal(err)
		}
		if err := write(t, dev, e, 0, 11); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(name); err == nil {
			t.Error("the file is there before it is complete")
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		if count != 11 || e.Stats().Frames != 11 {
			t.Errorf("progress says %d frames, Stats %d", count, e.Stats().Frames)
		}
		compare(t, dev, name, 11)
	}
}

func TestSegmentsAreJoinedWithAllFrames(t *testing.T) {
	t.Parallel() // it waits for processes
	needFFmpeg(t)
	dev := gputest.Open(t, gpu.Config{Device: "cpu"})
	name := filepath.Join(t.TempDir(), "out.mp4")
	o := Options{Width: 64, Height: 48, Rate: FPS(25), Preset: "superfast", CRF: 12, FastStart: true}
	err := Segments(t.Context(), dev, name, o, 50, 3, func(ctx context.Context, e *Encoder, first, count int) error { return write(t, dev, e, first, count) })
	if err != nil {
		t.Fatal(err)
	}
	compare(t, dev, name, 50)
	if info, err := (Tools{}).Inspect(t.Context(), name); err != nil || info.Frames != 50 || info.Duration != 2*time.Second {
		t.Errorf("%+v, %v", info, err)
	}
	out, err := exec.Command("ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries", "frame=pts_time", "-of", "csv=p=0", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	var first float64
	for i, line := range strings.Fields(string(out)) {
		var at float64
		if _, err := fmt.Sscanf(line, "%g", &at); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = at
		}
		if d := at - first - float64(i)/25; d < -0.002 || d > 0.002 {
			t.Errorf("frame %d is at %g seconds", i, at)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(name), ".*")); len(left) > 0 {
		t.Errorf("files are left: %v", left)
	}
}

// script writes a program that stands for ffmpeg.
func script(t testing.TB, text string) Tools {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("shell scripts need a Unix system")
	}
	name := filepath.Join(t.TempDir(), "ffmpeg")
	if err := os.WriteFile(name, []byte("#!/bin/sh\n"+text+"\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	return Tools{FFmpeg: name, FFprobe: name}
}

func TestFailuresOfFFmpegAreErrorsAndLeaveNoFile(t *testing.T) {
	t.Parallel() // it waits for processes
	dev := gputest.Open(t, gpu.Config{Device: "cpu"})
	for _, c := range []struct {
		name, text string
		kind       error
		says       string
	}{
		{"dies in the middle", "head -c 10000 >/dev/null; echo 'No space left on device' >&2; exit 3", ErrProcess, "No space left on device"},
		{"ends early without an error", "head -c 10000 >/dev/null", ErrProcess, "ended early"},
		{"closes its input and hangs", "exec <&-; sleep 100 & wait", ErrProcess, "stopped reading frames"},
		{"writes nothing", "cat >/dev/null", ErrProcess, "has written nothing"},
		{"prints a lot", "i=0; while [ $i -lt 3000 ]; do echo 'a line of text that is repeated' >&2; i=$((i+1)); done; echo 'the last line' >&2; exit 1", ErrProcess, "the last line"},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder := t.TempDir()
			name := filepath.Join(folder, "out.mp4")
			if err := os.WriteFile(name, []byte("before"), 0o666); err != nil {
				t.Fatal(err)
			}
			e, err := Create(t.Context(), dev, name, Options{Tools: script(t, c.text), Width: 64, Height: 48, Rate: FPS(25)})
			if err != nil {
				t.Fatal(err)
			}
			err = write(t, dev, e, 0, 40)
			if closeErr := e.Close(); err == nil || closeErr == nil {
				err = closeErr
			}
			var typed *Error
			if !errors.Is(err, c.kind) || !errors.As(err, &typed) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("the error is %v", err)
			}
			if text, err := os.ReadFile(name); err != nil || string(text) != "before" {
				t.Errorf("the file that was there has %q, %v", text, err)
			}
			if files, _ := os.ReadDir(folder); len(files) != 1 {
				t.Errorf("files are left: %v", files)
			}
		})
	}
}

func TestCancellationEndsAnFFmpegThatHangs(t *testing.T) {
	t.Parallel() // it waits for processes
	dev := gputest.Open(t, gpu.Config{Device: "cpu"})
	name := filepath.Join(t.TempDir(), "out.mp4")
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	start := time.Now()
	e, err := Create(ctx, dev, name, Options{Tools: script(t, "sleep 100 & wait"), Width: 256, Height: 256, Rate: FPS(25)})
	if err != nil {
		t.Fatal(err)
	}
	if err := write(t, dev, e, 0, 30); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the error is %v", err)
	}
	if err := e.Abort(); err != nil {
		t.Error(err)
	}
	if err := e.WriteFrame(nil, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("a frame after Abort: %v", err)
	}
	if files, _ := os.ReadDir(filepath.Dir(name)); len(files) != 0 {
		t.Errorf("files are left: %v", files)
	}
	if d := time.Since(start); d > 8*time.Second {
		t.Errorf("it took %v", d)
	}
}

func TestFramesReachFFmpegUnchanged(t *testing.T) {
	dev := gputest.Open(t, gpu.Config{Device: "cpu"})
	name := filepath.Join(t.TempDir(), "out.mp4")
	e, err := Create(t.Context(), dev, name, Options{Tools: script(t, `for last; do :; done; cat >"$last"`), Width: 64, Height: 48, Rate: FPS(25), Format: RGB24})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(write(t, dev, e, 0, 9), e.Close()); err != nil {
		t.Fatal(err)
	}
	var want []byte
	for i := range 9 {
		for p := range slices.Chunk(picture(64, 48, i), 4) {
			want = append(want, p[:3]...)
		}
	}
	if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, %v; want %d", len(got), err, len(want))
	}
}

func TestArgumentsAreChecked(t *testing.T) {
	dev := gputest.Open(t, gpu.Config{Device: "cpu"})
	good := Options{Width: 64, Height: 48, Rate: FPS(25), Tools: Tools{FFmpeg: "/nowhere/ffmpeg", FFprobe: "/nowhere/ffprobe"}}
	for _, c := range []struct {
		name   string
		file   string
		change func(o *Options)
		kind   error
	}{
		{"no ffmpeg", "a.mp4", func(*Options) {}, ErrNotFound},
		{"an odd width", "a.mp4", func(o *Options) { o.Width = 63 }, ErrArgument},
		{"no rate", "a.mp4", func(o *Options) { o.Rate = Rate{} }, ErrArgument},
		{"an unknown extension", "a.doc", func(*Options) {}, ErrArgument},
		{"an unknown codec", "a.mp4", func(o *Options) { o.Codec, o.Tools = "x", script(t, "exit 0") }, ErrArgument},
		{"an encoder that does not work", "a.mp4", func(o *Options) { o.Codec, o.Tools = HEVCNVENC, script(t, "echo 'no device' >&2; exit 1") }, ErrCodec},
		{"a folder that does not exist", "/nowhere/a.mp4", func(o *Options) { o.Tools = script(t, "exit 0") }, ErrOutput},
	} {
		o := good
		c.change(&o)
		if _, err := Create(t.Context(), dev, c.file, o); !errors.Is(err, c.kind) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, err := Open(t.Context(), dev, "a.mp4", good.Tools); !errors.Is(err, ErrNotFound) {
		t.Errorf("no ffprobe: %v", err)
	}
}

func TestInputsThatAreNoVideosAreErrors(t *testing.T) {
	needFFmpeg(t)
	dev := gputest.Open(t, gpu.Config{Device: "cpu"})
	name := filepath.Join(t.TempDir(), "a.mp4")
	if err := os.WriteFile(name, []byte("not a video"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), dev, name, Tools{}); !errors.Is(err, ErrFormat) {
		t.Errorf("the error is %v", err)
	}
}

func TestTurnedVideosAreReadUpright(t *testing.T) {
	t.Parallel() // it waits for processes
	needFFmpeg(t)
	dev := gputest.Open(t, gpu.Config{Device: "cpu"})
	folder := t.TempDir()
	name, turned := filepath.Join(folder, "a.mp4"), filepath.Join(folder, "b.mp4")
	e, err := Create(t.Context(), dev, name, Options{Width: 64, Height: 48, Rate: Rate{30000, 1001}, Preset: "ultrafast", CRF: 10})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(write(t, dev, e, 0, 2), e.Close()); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("ffmpeg", "-loglevel", "error", "-i", name, "-c", "copy", "-metadata:s:v:0", "rotate=90", turned).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	d, err := Open(t.Context(), dev, turned, Tools{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	info := d.Info()
	if info.Rotation%180 != 90 || info.Width != 48 || info.Height != 64 || info.Rate != (Rate{30000, 1001}) || info.Codec != "h264" {
		t.Fatalf("%+v", info)
	}
	frame := gputest.Alloc[uint8](t, dev, 4*48*64)
	if err := d.Read(dev.DefaultStream(), frame); err != nil {
		t.Fatal(err)
	}
	got, stored := gputest.Download(t, dev, frame), picture(64, 48, 0)
	sum := 0
	for y := range 64 {
		for x := range 48 {
			// Versions of ffmpeg differ in the direction that they write.
			from := (47-x)*64 + y // clockwise: the lower left corner comes to the upper left
			if info.Rotation == 270 {
				from = x*64 + 63 - y
			}
			for c := range 3 {
				d := int(got[4*(y*48+x)+c]) - int(stored[4*from+c])
				sum += max(d, -d)
			}
		}
	}
	if mean := float64(sum) / (3 * 48 * 64); mean > 8 {
		t.Errorf("the frame differs by %.1f in the mean", mean)
	}
}
