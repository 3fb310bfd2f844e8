package sparse_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/iotest"

	"quern.dev/gpu"
	"quern.dev/sparse"
)

// text lists the entries of a matrix.
func text[T any](e *sparse.Entries[T]) string {
	out := fmt.Sprintf("%dx%d:", e.Rows, e.Cols)
	for k, v := range e.Value {
		out += fmt.Sprintf(" (%d,%d)=%v", e.Row[k], e.Col[k], v)
	}
	return out
}

func TestReadMarket(t *testing.T) {
	for name, c := range map[string]struct{ file, want string }{
		"real coordinates": {
			"%%MatrixMarket matrix coordinate real general\n% a comment\n\n2 3 3\n1 1 1.5\n  2\t3 -2e-3\r\n% another\n2 1 +4\n",
			"2x3: (0,0)=1.5 (1,2)=-0.002 (1,0)=4",
		},
		"capital letters, no last newline":          {"%%matrixmarket MATRIX Coordinate Integer General\n1 1 1\n1 1 -7", "1x1: (0,0)=-7"},
		"a pattern":                                 {"%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 3\n", "3x3: (1,0)=1 (0,1)=1 (2,2)=1"},
		"skew-symmetric":                            {"%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 3\n", "2x2: (1,0)=3 (0,1)=-3"},
		"no entries":                                {"%%MatrixMarket matrix coordinate real general\n4 5 0\n", "4x5:"},
		"an array is stored by columns":             {"%%MatrixMarket matrix array real general\n2 2\n1\n0\n3\n4\n", "2x2: (0,0)=1 (0,1)=3 (1,1)=4"},
		"a symmetric array":                         {"%%MatrixMarket matrix array integer symmetric\n2 2\n1\n2\n3\n", "2x2: (0,0)=1 (1,0)=2 (0,1)=2 (1,1)=3"},
		"a skew-symmetric array has no diagonal":    {"%%MatrixMarket matrix array real skew-symmetric\n2 2\n5\n", "2x2: (1,0)=5 (0,1)=-5"},
		"complex numbers whose imaginary part is 0": {"%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 2 0\n", "1x1: (0,0)=2"},
		"infinity, and a number that rounds to 0":   {"%%MatrixMarket matrix coordinate real general\n1 2 2\n1 1 inf\n1 2 1e-999\n", "1x2: (0,0)=+Inf (0,1)=0"},
	} {
		e, _, err := sparse.ReadMarket[float64](strings.NewReader(c.file))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := text(e); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
		if e, _, err := sparse.ReadMarket[float64](iotest.OneByteReader(strings.NewReader(c.file))); err != nil || text(e) != c.want {
			t.Errorf("%s, byte by byte: %v", name, err)
		}
	}
	e, h, err := sparse.ReadMarket[complex64](strings.NewReader("%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 2 0\n2 1 3 -4\n"))
	if want := "2x2: (0,0)=(2+0i) (1,0)=(3-4i) (0,1)=(3+4i)"; err != nil || text(e) != want || h.Field != sparse.Complex || h.Symmetry != sparse.Hermitian {
		t.Errorf("hermitian: got %v, %v, %v", e, h, err)
	}
}

func TestMalformedMarketFiles(t *testing.T) {
	const coordinate = "%%MatrixMarket matrix coordinate real general\n"
	for file, want := range map[string]string{
		"":                        "line 1: there is no line that begins with %%MatrixMarket",
		"hello\n":                 "line 1: the line does not begin with %%MatrixMarket",
		"\n" + coordinate:         "line 1: the line does not begin with",
		"%%MatrixMarket matrix\n": "line 1: the line is not of the form",
		"%%MatrixMarket vector coordinate real general\n":           "line 1: the line is not of the form",
		"%%MatrixMarket matrix list real general\n":                 `line 1: the format is "list"; coordinate and array are known`,
		"%%MatrixMarket matrix array quaternion general\n":          `line 1: the field is "quaternion"; real, integer, complex, pattern are known`,
		"%%MatrixMarket matrix array real diagonal\n":               `line 1: the symmetry is "diagonal";`,
		"%%MatrixMarket matrix array pattern general\n":             "line 1: a pattern has no array",
		"%%MatrixMarket matrix array real hermitian\n":              "line 1: a hermitian matrix is complex, not real",
		"%%MatrixMarket matrix coordinate pattern skew-symmetric\n": "line 1: a pattern cannot be skew-symmetric",
		coordinate:                                                             "line 2: the file ends before the line with the size",
		coordinate + "2 2\n":                                                   "line 2: 2 fields for the line with the size, which has 3",
		coordinate + "2 x 1\n":                                                 `line 2: the number of columns is "x", which is not an integer`,
		coordinate + "-1 2 1\n":                                                "line 2: the number of rows -1 is not from 0 to",
		coordinate + "99999999999 2 1\n":                                       "line 2: the number of rows 99999999999 is not",
		coordinate + "2 2 99999999999999999999\n":                              `line 2: the number of entries is "99999999999999999999"`,
		coordinate + "2 2 2\n1 1 5\n":                                          "line 4: the file ends before entry 2 of 2",
		coordinate + "2 2 1\n% c\n1 3 5\n":                                     "line 4: column 3 is not from 1 to 2",
		coordinate + "2 2 1\n0 1 5\n":                                          "line 3: row 0 is not from 1 to 2",
		coordinate + "2 2 1\n1 1\n":                                            "line 3: 2 fields for entry 1 of 1, which has 3",
		coordinate + "2 2 1\n1 1 5 6\n":                                        "line 3: 4 fields for entry 1 of 1",
		coordinate + "2 2 1\n1 1 five\n":                                       `line 3: "five" is not a number`,
		coordinate + "2 2 1\n1 1 1_0\n":                                        `line 3: "1_0" is not a number`,
		coordinate + "2 2 1\n1 1 0x1p4\n":                                      `line 3: "0x1p4" is not a number`,
		coordinate + "2 2 1\n% c\n1 1 -1e999\n":                                "line 4: the number -1e999 is beyond float64",
		coordinate + "2 2 1\n1_0 1 5\n":                                        `line 3: row is "1_0", which is not an integer`,
		"%%MatrixMarket matrix array integer general\n1 1\n1_0\n":              `line 3: "1_0" is not a number`,
		coordinate + "2 2 1\n1 1 5\n1 2 5\n":                                   "line 4: there are more numbers than the size allows",
		coordinate + "0 0 1\n1 1 5\n":                                          "line 3: row 1 is not from 1 to 0",
		coordinate + strings.Repeat(" ", 70000):                                "line 2: the line is longer than 65536 bytes",
		"%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 1.5\n":   `line 3: "1.5" is not an integer of 64 bits`,
		"%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 2\n":   "line 3: the number (1+2i) is complex;",
		"%%MatrixMarket matrix coordinate real symmetric\n2 3 1\n1 1 1\n":      "line 2: a symmetric matrix must be square, not 2 x 3",
		"%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 2 1\n":      "line 3: row 1, column 2 is above the diagonal",
		"%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n1 1 1\n": "line 3: row 1, column 1 is on the diagonal",
		"%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n":             "line 6: the file ends before an element in column 2",
		"%%MatrixMarket matrix array real general\n1 1\n1 2\n":                 "line 3: 2 fields for an element in column 1, which has 1",
	} {
		_, _, err := sparse.ReadMarket[float64](strings.NewReader(file))
		var e *sparse.MarketError
		if !errors.As(err, &e) || !errors.Is(err, gpu.ErrInvalid) || !strings.HasPrefix(err.Error(), "sparse: MatrixMarket file: "+want) {
			t.Errorf("%.60q: got %v, want %s", file, err, want)
		}
	}
	for _, file := range []string{"array real general\n1 1\n1e39\n", "array complex general\n1 1\n0 1e39\n"} {
		_, _, real := sparse.ReadMarket[float32](strings.NewReader("%%MatrixMarket matrix " + file))
		_, _, both := sparse.ReadMarket[complex64](strings.NewReader("%%MatrixMarket matrix " + file))
		for _, err := range []error{real, both} {
			var e *sparse.MarketError
			if !errors.As(err, &e) || e.Line != 3 {
				t.Errorf("%q: got %v, want an error of line 3", file, err)
			}
		}
	}
	broken := errors.New("broken")
	if _, _, err := sparse.ReadMarket[float64](iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("a reader that fails: %v", err)
	}
}

// What is read is a matrix within its size, and no file makes the reader panic or
// allocate more than it has.
func FuzzReadMarket(f *testing.F) {
	f.Add("%%MatrixMarket matrix coordinate real general\n2 3 3\n1 1 1.5\n2 3 -2e-3\n2 1 4\n")
	f.Add("%%MatrixMarket matrix array complex hermitian\n2 2\n1 0\n2 3\n4 0\n")
	f.Add("%%MatrixMarket matrix coordinate pattern symmetric\n2000000000 2000000000 2000000000\n")
	f.Fuzz(func(t *testing.T, file string) {
		e, _, err := sparse.ReadMarket[complex128](strings.NewReader(file))
		if err != nil {
			return
		}
		if len(e.Row) != len(e.Value) || len(e.Col) != len(e.Value) || len(e.Value) > len(file) || e.Rows > math.MaxInt32 {
			t.Fatalf("%d rows, %d columns and %d values from %d bytes", len(e.Row), len(e.Col), len(e.Value), len(file))
		}
		for k := range e.Value {
			if e.Row[k] < 0 || int(e.Row[k]) >= e.Rows || e.Col[k] < 0 || int(e.Col[k]) >= e.Cols {
				t.Fatalf("entry %d is in row %d and column %d of a %d x %d matrix", k, e.Row[k], e.Col[k], e.Rows, e.Cols)
			}
		}
	})
}
