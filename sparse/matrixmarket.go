package sparse

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/cmplx"
	"strconv"
	"strings"

	"quern.dev/gpu"
)

// Symmetry says which entries of a MatrixMarket file are not stored.
type Symmetry uint8

// Symmetries. All but General store only the lower triangle.
const (
	General Symmetry = iota
	Symmetric
	SkewSymmetric // the upper triangle is negated, and the diagonal is 0
	Hermitian     // the upper triangle is conjugated
)

var symmetries = [...]string{"general", "symmetric", "skew-symmetric", "hermitian"}

// String returns the word that files use.
func (s Symmetry) String() string {
	if int(s) < len(symmetries) {
		return symmetries[s]
	}
	return fmt.Sprintf("Symmetry(%d)", uint8(s))
}

// Field is the kind of numbers in a MatrixMarket file.
type Field uint8

// Fields.
const (
	Real Field = iota
	Integer
	Complex
	Pattern // no numbers: each entry is 1
)

var fields = [...]string{"real", "integer", "complex", "pattern"}

// String returns the word that files use.
func (f Field) String() string {
	if int(f) < len(fields) {
		return fields[f]
	}
	return fmt.Sprintf("Field(%d)", uint8(f))
}

// MarketHeader is the first line of a MatrixMarket file.
type MarketHeader struct {
	Array    bool // all elements are listed, column by column, instead of entries
	Field    Field
	Symmetry Symmetry
}

// MarketError reports a malformed MatrixMarket file. It matches [gpu.ErrInvalid].
type MarketError struct {
	Line   int // counted from 1
	Reason string
}

// Error returns, for example, "sparse: MatrixMarket file: line 7: row 12 is not from 1
// to 10".
func (e *MarketError) Error() string {
	return fmt.Sprintf("sparse: MatrixMarket file: line %d: %s", e.Line, e.Reason)
}

// Is reports whether target is [gpu.ErrInvalid].
func (e *MarketError) Is(target error) bool { return target == gpu.ErrInvalid }

// maxMarketLine is the length of the longest line that is read.
const maxMarketLine = 1 << 16

// market reads lines with their numbers.
type market struct {
	scanner *bufio.Scanner
	line    int
	fields  [][]byte
}

func (m *market) fail(format string, args ...any) error {
	return &MarketError{m.line, fmt.Sprintf(format, args...)}
}

// next reads the fields of the next line that is neither empty nor a comment. It returns
// io.EOF at the end of the file.
func (m *market) next() error {
	for m.scanner.Scan() {
		m.line++
		text := bytes.TrimSpace(m.scanner.Bytes())
		if len(text) == 0 || text[0] == '%' {
			continue
		}
		m.fields = m.fields[:0]
		for len(text) > 0 {
			end := bytes.IndexAny(text, " \t\r\v\f")
			if end < 0 {
				end = len(text)
			}
			m.fields = append(m.fields, text[:end])
			text = bytes.TrimLeft(text[end:], " \t\r\v\f")
		}
		return nil
	}
	if err := m.scanner.Err(); err == bufio.ErrTooLong {
		m.line++
		return m.fail("the line is longer than %d bytes", maxMarketLine)
	} else if err != nil {
		return fmt.Errorf("sparse: MatrixMarket file: after line %d: %w", m.line, err)
	}
	return io.EOF
}

// require reads the next line, which must exist and have n fields.
func (m *market) require(n int, what string) error {
	err := m.next()
	if err == io.EOF {
		m.line++
		return m.fail("the file ends before %s", what)
	}
	if err == nil && len(m.fields) != n {
		err = m.fail("%d fields for %s, which has %d", len(m.fields), what, n)
	}
	return err
}

func (m *market) integer(at int, what string, low, high int) (int, error) {
	n, err := strconv.Atoi(string(m.fields[at]))
	if err != nil {
		return 0, m.fail("%s is %q, which is not an integer", what, m.fields[at])
	}
	if n < low || n > high {
		return 0, m.fail("%s %d is not from %d to %d", what, n, low, high)
	}
	return n, nil
}

// number reads a decimal number, an infinity or a NaN. Go's other forms, as 0x1p4 and 1_000, are
// unknown to other programs.
func (m *market) number(at int) (float64, error) {
	v, err := strconv.ParseFloat(string(m.fields[at]), 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, m.fail("the number %s is beyond float64", m.fields[at])
	case err != nil || bytes.ContainsAny(m.fields[at], "_xX"):
		return 0, m.fail("%q is not a number", m.fields[at])
	}
	return v, nil
}

// value reads a number of the file's kind from the fields that begin at at.
func (m *market) value(f Field, at int) (complex128, error) {
	if f == Pattern {
		return 1, nil
	}
	re, err := m.number(at)
	if err == nil && f == Integer {
		if _, bad := strconv.ParseInt(string(m.fields[at]), 10, 64); bad != nil {
			err = m.fail("%q is not an integer of 64 bits", m.fields[at])
		}
	}
	if err != nil || f != Complex {
		return complex(re, 0), err
	}
	im, err := m.number(at + 1)
	return complex(re, im), err
}

// header reads the first line.
func (m *market) header() (h MarketHeader, err error) {
	if !m.scanner.Scan() {
		m.line++
		if err := m.scanner.Err(); err != nil && err != bufio.ErrTooLong {
			return h, fmt.Errorf("sparse: MatrixMarket file: %w", err)
		}
		return h, m.fail("there is no line that begins with %%%%MatrixMarket")
	}
	m.line++
	words := strings.Fields(strings.ToLower(m.scanner.Text()))
	if len(words) == 0 || words[0] != "%%matrixmarket" {
		return h, m.fail("the line does not begin with %%%%MatrixMarket")
	}
	if len(words) != 5 || words[1] != "matrix" {
		return h, m.fail("the line is not of the form %%%%MatrixMarket matrix format field symmetry")
	}
	switch words[2] {
	case "coordinate":
	case "array":
		h.Array = true
	default:
		return h, m.fail("the format is %q; coordinate and array are known", words[2])
	}
	find := func(word, what string, known []string) (int, error) {
		for k, w := range known {
			if w == word {
				return k, nil
			}
		}
		return 0, m.fail("the %s is %q; %s are known", what, word, strings.Join(known, ", "))
	}
	if words[3] == "double" {
		words[3] = "real" // an old name
	}
	field, err := find(words[3], "field", fields[:])
	if err != nil {
		return h, err
	}
	symmetry, err := find(words[4], "symmetry", symmetries[:])
	if err != nil {
		return h, err
	}
	h.Field, h.Symmetry = Field(field), Symmetry(symmetry)
	switch {
	case h.Array && h.Field == Pattern:
		return h, m.fail("a pattern has no array")
	case h.Symmetry == Hermitian && h.Field != Complex:
		return h, m.fail("a hermitian matrix is complex, not %v", h.Field)
	case h.Symmetry == SkewSymmetric && h.Field == Pattern:
		return h, m.fail("a pattern cannot be skew-symmetric")
	}
	return h, nil
}

// ReadMarket reads a matrix from a MatrixMarket file, in which rows and columns count
// from 1; those of the result count from 0. Entries that the file leaves out because of
// its symmetry are in the result, right after their counterparts. Elements of arrays
// that are 0 are not. Complex numbers keep their real part only if T is real, which is an
// error if a part is lost. So is a number that T can only round to an infinity.
//
// A malformed file gives a [MarketError] with the line.
func ReadMarket[T float32 | float64 | complex64 | complex128](r io.Reader) (*Entries[T], MarketHeader, error) {
	if r == nil {
		return nil, MarketHeader{}, invalid("ReadMarket", "r", "is nil")
	}
	m := &market{scanner: bufio.NewScanner(r)}
	m.scanner.Buffer(make([]byte, 4096), maxMarketLine)
	h, err := m.header()
	if err != nil {
		return nil, h, err
	}
	e := &Entries[T]{}
	add := func(row, col int, v complex128) error {
		var x T
		switch x := any(&x).(type) {
		case *float32:
			*x = float32(real(v))
		case *float64:
			*x = real(v)
		case *complex64:
			*x = complex64(v)
		case *complex128:
			*x = v
		}
		switch any(x).(type) {
		case float32, float64:
			if imag(v) != 0 {
				return m.fail("the number %v is complex; read the file with complex numbers", v)
			}
		}
		switch x := any(x).(type) {
		case float32:
			if math.IsInf(float64(x), 0) && !math.IsInf(real(v), 0) {
				return m.fail("the number %v is beyond float32", real(v))
			}
		case complex64:
			if cmplx.IsInf(complex128(x)) && !cmplx.IsInf(v) {
				return m.fail("the number %v is beyond complex64", v)
			}
		}
		if len(e.Value) >= math.MaxInt32 {
			return m.fail("there are more than 2^31-1 entries")
		}
		e.Add(row, col, x)
		return nil
	}
	// both adds an entry and its counterpart on the other side of the diagonal.
	both := func(row, col int, v complex128) error {
		if err := add(row, col, v); err != nil || row == col {
			return err
		}
		switch h.Symmetry {
		case Symmetric:
			return add(col, row, v)
		case SkewSymmetric:
			return add(col, row, -v)
		case Hermitian:
			return add(col, row, complex(real(v), -imag(v)))
		}
		return nil
	}
	if h.Array {
		err = m.array(h, &e.Rows, &e.Cols, both)
	} else {
		err = m.coordinates(h, &e.Rows, &e.Cols, both)
	}
	if err != nil {
		return nil, h, err
	}
	if err := m.next(); err != io.EOF {
		if err == nil {
			err = m.fail("there are more numbers than the size allows")
		}
		return nil, h, err
	}
	return e, h, nil
}

// size reads the line with the sizes.
func (m *market) size(h MarketHeader, fields int, rows, cols *int) (err error) {
	if err := m.require(fields, "the line with the size"); err != nil {
		return err
	}
	if *rows, err = m.integer(0, "the number of rows", 0, math.MaxInt32-1); err != nil {
		return err
	}
	if *cols, err = m.integer(1, "the number of columns", 0, math.MaxInt32-1); err != nil {
		return err
	}
	if h.Symmetry != General && *rows != *cols {
		return m.fail("a %v matrix must be square, not %d x %d", h.Symmetry, *rows, *cols)
	}
	return nil
}

func (m *market) coordinates(h MarketHeader, rows, cols *int, add func(row, col int, v complex128) error) error {
	if err := m.size(h, 3, rows, cols); err != nil {
		return err
	}
	n, err := m.integer(2, "the number of entries", 0, math.MaxInt32)
	if err != nil {
		return err
	}
	width := map[Field]int{Real: 3, Integer: 3, Complex: 4, Pattern: 2}[h.Field]
	for k := range n {
		if err := m.require(width, fmt.Sprintf("entry %d of %d", k+1, n)); err != nil {
			return err
		}
		row, err := m.integer(0, "row", 1, *rows)
		if err != nil {
			return err
		}
		col, err := m.integer(1, "column", 1, *cols)
		if err != nil {
			return err
		}
		v, err := m.value(h.Field, 2)
		if err != nil {
			return err
		}
		if h.Symmetry != General && row < col {
			return m.fail("row %d, column %d is above the diagonal of a %v matrix", row, col, h.Symmetry)
		}
		if h.Symmetry == SkewSymmetric && row == col {
			return m.fail("row %d, column %d is on the diagonal of a skew-symmetric matrix", row, col)
		}
		if err := add(row-1, col-1, v); err != nil {
			return err
		}
	}
	return nil
}

func (m *market) array(h MarketHeader, rows, cols *int, add func(row, col int, v complex128) error) error {
	if err := m.size(h, 2, rows, cols); err != nil {
		return err
	}
	width := 1
	if h.Field == Complex {
		width = 2
	}
	if *rows == 0 {
		return nil
	}
	for j := range *cols {
		first := 0
		switch h.Symmetry {
		case Symmetric, Hermitian:
			first = j
		case SkewSymmetric:
			first = j + 1
		}
		for i := first; i < *rows; i++ {
			if err := m.require(width, "an element in column "+strconv.Itoa(j+1)); err != nil {
				return err
			}
			v, err := m.value(h.Field, 0)
			if err != nil {
				return err
			}
			if v == 0 {
				continue
			}
			if err := add(i, j, v); err != nil {
				return err
			}
		}
	}
	return nil
}
