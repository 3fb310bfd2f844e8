package algebra

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"quern.dev/geo/tiff"
	"quern.dev/gpu"
	"quern.dev/gputest"
)

const width, height = 37, 23

func sample(x, y, band int) uint16 { return uint16((x*131 + y*71 + band*977) % 1000) }

func scene(t testing.TB) *tiff.Image {
	t.Helper()
	return open(t, sceneFile(t))
}

// sceneFile writes an image of three bands, with 5 for no data.
func sceneFile(t testing.TB) string {
	t.Helper()
	h := tiff.Header{Width: width, Height: height, Bands: 3, Type: tiff.Uint16, Photometric: tiff.RGB, NoData: "5"}
	h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.ProjectedCRS, Code: 32633})
	h.Geo.SetAffine(tiff.Affine{500000, 10, 0, 5000000, 0, -10})
	var pixels []uint16
	for y := range height {
		for x := range width {
			for b := range 3 {
				pixels = append(pixels, sample(x, y, b))
			}
		}
	}
	name := filepath.Join(t.TempDir(), "scene.tif")
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

func TestExpressionsAreEvaluatedForEachPixel(t *testing.T) {
	im := scene(t)
	less := func(a, b float64) float64 {
		if a < b {
			return 1
		}
		return 0
	}
	truth := func(yes bool) float64 {
		if yes {
			return 1
		}
		return 0
	}
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		for text, want := range map[string]func(a, b, c float64) float64{
			"(b2-b1)/(b2+b1)":                  func(a, b, c float64) float64 { return (b - a) / (b + a) },
			"2.5*(b2-b1)/(b2+6*b1-7.5*b3+1e0)": func(a, b, c float64) float64 { return 2.5 * (b - a) / (b + 6*a - 7.5*c + 1) },
			"-b1+-(b2*-3)":                     func(a, b, c float64) float64 { return -a + 3*b },
			"min(b1,b2) - max(b2, b3)":         func(a, b, c float64) float64 { return min(a, b) - max(b, c) },
			"sqrt(abs(b1-b2))":                 func(a, b, c float64) float64 { return math.Sqrt(math.Abs(a - b)) },
			"where(b1<b2, b3, b1/b2) + (b1>500)": func(a, b, c float64) float64 {
				v := a / b
				if a < b {
					v = c
				}
				return v + less(500, a)
			},
			"b1<=b2 && b3>=500 || !b3": func(a, b, c float64) float64 { return truth(a <= b && c >= 500 || c == 0) },
			"!(b1!=135)*2 - (b2 <= 7)": func(a, b, c float64) float64 { return 2*truth(a == 135) - truth(b <= 7) },
			"b1>9 || b2>9 && b3>9":     func(a, b, c float64) float64 { return truth(a > 9 || b > 9 && c > 9) },
			"(b1-7) && +b2>=b1+1":      func(a, b, c float64) float64 { return truth(a != 7 && b >= a+1) },
			"logical_and(minimum(b1,b2)>3, logical_not(logical_or(b1==9,b2==9)))": func(a, b, c float64) float64 {
				return truth(min(a, b) > 3 && a != 9 && b != 9)
			},
			"(b1==b2)+b3-b3+(b1==135)": func(a, b, c float64) float64 { return less(math.Abs(a-b), 0.5) + less(math.Abs(a-135), 0.5) },
		} {
			e, err := Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			name := filepath.Join(t.TempDir(), "result.tif")
			none := -1e6
			if err := File(t.Context(), dev, name, []*tiff.Image{im}, e, Options{NoData: &none}); err != nil {
				t.Fatal(err)
			}
			result := open(t, name)
			got, err := tiff.Read[float32](t.Context(), result, result.All())
			if err != nil {
				t.Fatal(err)
			}
			uses := [3]bool{strings.Contains(text, "b1"), strings.Contains(text, "b2"), strings.Contains(text, "b3")}
			for i, v := range got {
				var s [3]float64
				missing := false
				for b := range s {
					s[b] = float64(sample(i%width, i/width, b))
					missing = missing || uses[b] && s[b] == 5
				}
				expected := float32(want(s[0], s[1], s[2]))
				if missing || expected-expected != 0 {
					expected = float32(none)
				}
				if math.Abs(float64(v-expected)) > 1e-6*math.Abs(float64(expected)) {
					t.Fatalf("%s of %v: %v, want %v", text, s, v, expected)
				}
			}
		}
	})
}

func TestBadExpressionsAreReported(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "character 1",
		"b1+":                           "character 4",
		"b0":                            "b0 is not a band",
		"b1x":                           "b1x is not a band",
		"b1<b2<b3":                      "character 6: an operator is expected; comparisons are joined by &&",
		"b1==b2==b3":                    "character 7: an operator is expected; comparisons are joined by &&",
		"b1 = 3":                        "== compares",
		"(b1>2) & (b1<4)":               "character 8: an operator is expected; && is",
		"(b1>2) and b1":                 "&& is the logical and",
		"~b1":                           "! is the logical not",
		"b1**2":                         "character 3: an operator is expected; there are no powers",
		"A/b1":                          "character 1: a number, a band, a function or a parenthesis is expected; bands of all sources are b1",
		"numpy.where(b1>1,1,2)":         "no prefix",
		"min(b1&b2,2)":                  "&& is the logical and",
		"b1&&":                          "character 5",
		"! ":                            "character 3",
		"b1 b2":                         "an operator is expected",
		"min(b1)":                       `"," is expected`,
		"(b1":                           `")" is expected`,
		"1.2.3":                         "is not a number",
		"sinh(b1)":                      "is expected",
		strings.Repeat("(", 200) + "b1": "parentheses",
		strings.Repeat("1+(", 20) + "b1" + strings.Repeat(")", 20): "operands at a time",
	} {
		if _, err := Parse(text); !errors.Is(err, ErrArgument) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"b1 order", "b1+nothing", "b1 android"} {
		if _, err := Parse(text); err == nil || strings.Contains(err.Error(), ";") {
			t.Errorf("%q has a hint: %v", text, err)
		}
	}
	im := scene(t)
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	name := filepath.Join(t.TempDir(), "result.tif")
	for title, test := range map[string]struct {
		err  error
		want error
	}{
		"a band that is missing": {File(t.Context(), dev, name, []*tiff.Image{im}, Band(3), Options{}), ErrArgument},
		"no image":               {File(t.Context(), dev, name, nil, Band(0), Options{}), ErrArgument},
		"no band":                {File(t.Context(), dev, name, []*tiff.Image{im}, Constant(1), Options{}), ErrArgument},
		"no expression":          {File(t.Context(), dev, name, []*tiff.Image{im}, Expression{}, Options{}), ErrArgument},
		"canceled":               {File(canceled, dev, name, []*tiff.Image{im}, Band(0), Options{}), context.Canceled},
	} {
		if !errors.Is(test.err, test.want) {
			t.Errorf("%s: %v", title, test.err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"(b2-b1)/(b2+b1)", "where(b1<3,-b2,sqrt(abs(b1)))", "1e-3*b1==2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if e, err := Parse(text); err == nil && len(e.program) == 0 {
			t.Error("an empty program")
		}
	})
}

func TestAnErrorShowsAPartOfALongExpression(t *testing.T) {
	long := strings.Repeat("b1+", 10000)
	_, err := Parse(long + "?" + long)
	if err == nil || len(err.Error()) > 300 || !strings.Contains(err.Error(), `+?b1+`) || !strings.Contains(err.Error(), "at character 30001") {
		t.Errorf("%.400s", fmt.Sprint(err))
	}
}
