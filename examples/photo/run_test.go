package main

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quern.dev/gpu"
)

// spacewalk is a real photograph, 1024x768 pixels.
const spacewalk = "../../../shared/data/spacewalk-1965.jpg"

// photo runs the program on the CPU device unless args say otherwise.
func photo(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = run(ctx, append([]string{"-device", "cpu"}, args...), &out, &errs)
	return code, out.String(), errs.String()
}

// writePNG writes a small opaque picture and returns the file's name.
func writePNG(t *testing.T, dir string) string {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, 40, 30))
	for y := range 30 {
		for x := range 40 {
			img.SetNRGBA(x, y, color.NRGBA{uint8(6 * x), uint8(8 * y), 90, 255})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return writeFile(t, dir, "in.png", b.Bytes())
}

func writeFile(t *testing.T, dir, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func readPNG(t *testing.T, name string) image.Image {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func TestRunWritesThePictureAndReportsTheStages(t *testing.T) {
	dir := t.TempDir()
	in, out := writePNG(t, dir), filepath.Join(dir, "out.png")
	code, stdout, stderr := photo(t.Context(), "-in", in, "-out", out, "-angle", "90", "-verify")
	if code != exitOK || stderr != "" {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if size := readPNG(t, out).Bounds().Size(); size != image.Pt(30, 40) {
		t.Errorf("the result has %v pixels, want 30x40", size)
	}
	for _, want := range []string{"(cpu), ", " core", "40x30", "decode", "upload", "kernels", "verify", "blur rows", "histogram", "rotate", "GB/s", "tolerance", "encode", "Next:"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the report lacks %q:\n%s", want, stdout)
		}
	}
	onlyFiles(t, dir, "in.png", "out.png")
}

func TestReportExplainsWhyThereIsNoGPU(t *testing.T) {
	t.Setenv(gpu.DeviceVariable, "")
	dir := t.TempDir()
	code, stdout, stderr := photo(t.Context(), "-device", "", "-in", writePNG(t, dir), "-out", filepath.Join(dir, "out.png"))
	if code != exitOK {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	onCPU := strings.Contains(stdout, "(cpu)")
	if line := strings.Contains(stdout, "no GPU   cuda"); line != onCPU {
		t.Errorf("on the CPU: %t, but a reason: %t\n%s", onCPU, line, stdout)
	}
}

func TestRunRendersASmallSceneOnSim(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out.png")
	code, stdout, stderr := photo(t.Context(), "-device", "sim", "-out", out, "-angle", "0")
	if code != exitOK || !strings.Contains(stdout, "320x180") || strings.Contains(stdout, "decode") || strings.Contains(stdout, "upload") {
		t.Fatalf("exit code %d: %s%s", code, stdout, stderr)
	}
	if size := readPNG(t, out).Bounds().Size(); size != image.Pt(320, 180) {
		t.Errorf("the result has %v pixels, want 320x180", size)
	}
}

func TestRunDevelopsAPhotograph(t *testing.T) {
	if _, err := os.Stat(spacewalk); err != nil {
		t.Skipf("needs a photograph of 1024x768 pixels at that path: %v", err)
	}
	out := filepath.Join(t.TempDir(), "out.png")
	code, stdout, stderr := photo(t.Context(), "-in", spacewalk, "-out", out, "-angle", "-3", "-verify")
	if code != exitOK {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if !strings.Contains(stdout, "1024x768") {
		t.Errorf("the report does not give the size:\n%s", stdout)
	}
	// The black of space stays dark, the suit bright, the background its color.
	img := readPNG(t, out)
	if r, g, b, _ := img.At(0, 0).RGBA(); r>>8 != 0x14 || g>>8 != 0x16 || b>>8 != 0x1a {
		t.Errorf("the corner is #%02x%02x%02x, want the background", r>>8, g>>8, b>>8)
	}
}

func TestBadInput(t *testing.T) {
	dir := t.TempDir()
	in := writePNG(t, dir)
	data, err := os.ReadFile(in)
	if err != nil {
		t.Fatal(err)
	}
	var photograph bytes.Buffer
	if err := jpeg.Encode(&photograph, readPNG(t, in), nil); err != nil {
		t.Fatal(err)
	}
	truncatedPNG := writeFile(t, dir, "truncated.png", data[:len(data)/2])
	truncatedJPEG := writeFile(t, dir, "truncated.jpg", photograph.Bytes()[:photograph.Len()*2/3])
	header := writeFile(t, dir, "header.png", data[:20])
	text := writeFile(t, dir, "notes.txt", []byte("not an image at all"))
	empty := writeFile(t, dir, "empty.png", nil)
	damaged := writeFile(t, dir, "damaged.png", append(append([]byte{}, data[:60]...), bytes.Repeat([]byte{0x55}, len(data)-60)...))
	huge := writeFile(t, dir, "huge.png", hugePNG())
	out := writeFile(t, dir, "out.png", []byte("what was there before"))
	missingDir := filepath.Join(dir, "absent", "out.png")

	for _, test := range []struct {
		name string
		args []string
		code int
		want []string // in the message
	}{
		{"a missing file", []string{"-in", filepath.Join(dir, "absent.jpg")}, exitFailed, []string{"absent.jpg"}},
		{"a folder", []string{"-in", dir}, exitFailed, []string{dir + " is a directory"}},
		{"a truncated PNG", []string{"-in", truncatedPNG}, exitFailed, []string{"truncated.png", "not enough pixel data"}},
		{"a truncated JPEG", []string{"-in", truncatedJPEG}, exitFailed, []string{"truncated.jpg", "ends early"}},
		{"a PNG of a header", []string{"-in", header}, exitFailed, []string{"header.png", "ends early"}},
		{"a damaged PNG", []string{"-in", damaged}, exitFailed, []string{"damaged.png", "cannot be decoded"}},
		{"a text", []string{"-in", text}, exitFailed, []string{"notes.txt", "not a JPEG or PNG"}},
		{"an empty file", []string{"-in", empty}, exitFailed, []string{"empty.png", "not a JPEG or PNG"}},
		{"a picture of absurd size", []string{"-in", huge}, exitFailed, []string{"huge.png", "1000000x1000000"}},
		{"an output in a missing folder", []string{"-out", missingDir}, exitFailed, []string{missingDir}},
		{"an output that is a folder", []string{"-out", dir}, exitFailed, []string{dir, "not a regular file"}},
		{"an output that is no PNG", []string{"-out", filepath.Join(dir, "out.jpg")}, exitFailed, []string{"out.jpg", "ends in .png"}},
		{"an output without an extension", []string{"-out", filepath.Join(dir, "out")}, exitFailed, []string{"out: photo writes PNG"}},
		{"an empty output name", []string{"-out", ""}, exitFailed, []string{"-out"}},
		{"a zero sigma", []string{"-sigma", "0"}, exitFailed, []string{"-sigma 0"}},
		{"a negative sigma", []string{"-sigma", "-1"}, exitFailed, []string{"-sigma -1"}},
		{"a sigma that is not a number", []string{"-sigma", "NaN"}, exitFailed, []string{"-sigma NaN"}},
		{"a huge sigma", []string{"-sigma", "1000"}, exitFailed, []string{"-sigma 1000", "10.66", "32"}},
		{"a sigma that rounds to the limit", []string{"-sigma", "10.67"}, exitFailed, []string{"-sigma 10.67: want at most 10.66"}},
		{"an angle that is not a number", []string{"-angle", "NaN"}, exitFailed, []string{"-angle NaN"}},
		{"an infinite angle", []string{"-angle", "-Inf"}, exitFailed, []string{"-angle -Inf"}},
		{"a negative amount", []string{"-amount", "-0.1"}, exitFailed, []string{"-amount -0.1"}},
		{"too much equalization", []string{"-equalize", "1.5"}, exitFailed, []string{"-equalize 1.5"}},
		{"an unknown interpolation", []string{"-interp", "nearest"}, exitFailed, []string{"-interp", "nearest"}},
		{"a color without a hash", []string{"-background", "ff0000"}, exitFailed, []string{"-background", "#rrggbb"}},
		{"a color that is not a number", []string{"-background", "#gg0000"}, exitFailed, []string{"-background", "hexadecimal"}},
		{"an unknown device", []string{"-device", "abacus"}, exitFailed, []string{"abacus"}},
		{"an angle that is a word", []string{"-angle", "steep"}, exitUsage, []string{"-angle", "steep"}},
		{"an unknown flag", []string{"-colors", "red"}, exitUsage, []string{"-colors"}},
		{"an argument too many", []string{"picture.jpg"}, exitUsage, []string{"picture.jpg", "-in"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			code, stdout, stderr := photo(t.Context(), append([]string{"-in", in, "-out", out}, test.args...)...)
			if code != test.code || stdout != "" {
				t.Errorf("exit code %d, want %d; printed %q", code, test.code, stdout)
			}
			line, _, _ := strings.Cut(stderr, "\n")
			for _, want := range test.want {
				if !strings.Contains(line, want) {
					t.Errorf("the message lacks %q: %s", want, line)
				}
			}
			if test.code == exitFailed && strings.Count(stderr, "\n") != 1 {
				t.Errorf("the message is not one line: %s", stderr)
			}
		})
	}
	if data, err := os.ReadFile(out); err != nil || string(data) != "what was there before" {
		t.Errorf("the old output is lost: %q, %v", data, err)
	}
	for _, e := range list(t, dir) {
		if strings.HasPrefix(e, ".photo") {
			t.Errorf("a temporary file is left: %s", e)
		}
	}
}

func TestSimRejectsALargePicture(t *testing.T) {
	dir := t.TempDir()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1000, 1000))); err != nil {
		t.Fatal(err)
	}
	in := writeFile(t, dir, "in.png", b.Bytes())
	code, _, stderr := photo(t.Context(), "-device", "sim", "-in", in, "-out", filepath.Join(dir, "out.png"))
	if code != exitFailed || !strings.Contains(stderr, "1000x1000") || !strings.Contains(stderr, "-device cpu") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

func TestInterruptWritesNothing(t *testing.T) {
	dir := t.TempDir()
	in := writePNG(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	code, _, stderr := photo(ctx, "-in", in, "-out", filepath.Join(dir, "out.png"))
	if code != exitFailed || !strings.Contains(stderr, "interrupted") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	onlyFiles(t, dir, "in.png")
}

func TestHelpExplainsTheFlags(t *testing.T) {
	code, _, stderr := photo(t.Context(), "-help")
	if code != exitOK || !strings.Contains(stderr, "-interp") || !strings.Contains(stderr, "degrees") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

func TestTransparentPixelsAreComposedOverTheBackground(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 8, 8))
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	in, out := writeFile(t, dir, "in.png", b.Bytes()), filepath.Join(dir, "out.png")
	code, _, stderr := photo(t.Context(), "-in", in, "-out", out, "-background", "#336699", "-equalize", "0")
	if code != exitOK {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if r, g, bl, a := readPNG(t, out).At(4, 4).RGBA(); r>>8 != 0x33 || g>>8 != 0x66 || bl>>8 != 0x99 || a>>8 != 0xff {
		t.Errorf("the middle is #%02x%02x%02x", r>>8, g>>8, bl>>8)
	}
}

// hugePNG is the start of a PNG of 10^6 x 10^6 pixels.
func hugePNG() []byte {
	return append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR"+
		"\x00\x0f\x42\x40\x00\x0f\x42\x40\x08\x02\x00\x00\x00"), 0xd3, 0x0f, 0xaf, 0x2a)
}

func list(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func onlyFiles(t *testing.T, dir string, want ...string) {
	t.Helper()
	if got := list(t, dir); strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("the folder has %v, want %v", got, want)
	}
}
