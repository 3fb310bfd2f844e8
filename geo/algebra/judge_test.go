package algebra

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quern.dev/geo/tiff"
	"quern.dev/gpu"
)

func TestExpressionsHaveTheValuesOfNumPy(t *testing.T) {
	python := os.Getenv("QUERN_TEST_RASTERIO")
	if python == "" {
		t.Skip("NumPy is missing: set QUERN_TEST_RASTERIO to a Python that has rasterio")
	}
	// Each expression here, and for NumPy: a Python without logical operators of arrays needs other signs.
	expressions := [][2]string{
		{"b1 - b2*3/b3 - 1", ""},
		{"-b1*-b2 + +b3", ""},
		{"b1 - (b2 - b3) / -2", ""},
		{"2*(b1>=b2) + (b2<=b3)", ""},
		{"b1+1 != b2*2", ""},
		{"b1 < 300 && b2 > 200 || b3 == 77", "((b1 < 300) & (b2 > 200)) | (b3 == 77)"},
		{"b1 < 300 || b2 > 200 && b3 == 77", "(b1 < 300) | ((b2 > 200) & (b3 == 77))"},
		{"!b1 + !(b2-7)*2", "logical_not(b1)*1 + logical_not(b2-7)*2"},
		{"where(!(b1>=500) && b2, b3, -b3)", "where(~(b1>=500) & (b2 != 0), b3, -b3)"},
		{"logical_or(minimum(b1,b2) > 400, logical_not(maximum(b2,b3) >= 300))", ""},
		{"sqrt(b1-b2) == sqrt(b1-b2)", ""},
		{"!sqrt(-1-b1) || sqrt(-1-b1) != sqrt(-1-b1)", "logical_not(sqrt(-1-b1)) | (sqrt(-1-b1) != sqrt(-1-b1))"},
	}
	file := sceneFile(t)
	im := open(t, file)
	task := struct {
		File        string   `json:"file"`
		Expressions []string `json:"expressions"`
	}{File: file}
	for _, e := range expressions {
		text := e[1]
		if text == "" {
			text = e[0]
		}
		task.Expressions = append(task.Expressions, text)
	}
	input, err := json.Marshal(task)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "testdata/judge.py")
	cmd.Stdin = bytes.NewReader(input)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var want [][]*float32
	if err := json.Unmarshal(out, &want); err != nil {
		t.Fatal(err)
	}
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	none := -1e6
	samples, err := tiff.Read[uint16](t.Context(), im, im.All())
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range expressions {
		e, err := Parse(text[0])
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(t.TempDir(), "result.tif")
		if err := File(t.Context(), dev, name, []*tiff.Image{im}, e, Options{NoData: &none}); err != nil {
			t.Fatal(err)
		}
		result := open(t, name)
		got, err := tiff.Read[float32](t.Context(), result, result.All())
		if err != nil {
			t.Fatal(err)
		}
		for j, v := range got {
			uses := slices.DeleteFunc([]int{0, 1, 2}, func(b int) bool { return !strings.Contains(text[0], []string{"b1", "b2", "b3"}[b]) })
			expected := float32(none)
			if want[i][j] != nil && !slices.ContainsFunc(uses, func(b int) bool { return samples[j*3+b] == 5 }) {
				expected = *want[i][j]
			}
			if v != expected {
				t.Fatalf("%s of %v: %v, NumPy has %v", text[0], samples[j*3:j*3+3], v, expected)
			}
		}
	}
}
