package npy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strconv"
	"strings"
)

// ErrFormat means that a file is not one of NumPy's, or is damaged. It is matched
// with errors.Is.
var ErrFormat = errors.New("not a valid NumPy file")

// Header describes the array of a file.
type Header struct {
	Type    string // of the elements, in NumPy's notation, such as "<f4"
	Shape   []int  // length of each dimension; empty for a single value
	Columns bool   // the first index varies fastest (Fortran order)
}

// magic begins a file; major and minor version follow.
const magic = "\x93NUMPY"

// maxHeader is the longest header that is read, in bytes.
const maxHeader = 1 << 20

// ReadHeader reads the header of a .npy file. The data follow.
func ReadHeader(r io.Reader) (Header, error) {
	if r == nil {
		return Header{}, fmt.Errorf("npy: reader is nil: %w", fs.ErrInvalid)
	}
	text, err := readHeaderText(r)
	if err != nil {
		return Header{}, err
	}
	p := literal{rest: text}
	h, err := p.header()
	if err != nil {
		return Header{}, fmt.Errorf("npy: header %q: %w", text, err)
	}
	return h, nil
}

func readHeaderText(r io.Reader) (string, error) {
	var start [8]byte
	if _, err := io.ReadFull(r, start[:]); err != nil {
		return "", readError("the header", err)
	}
	if string(start[:6]) != magic {
		return "", fmt.Errorf("npy: %w: it does not begin with %q", ErrFormat, magic)
	}
	var length [4]byte
	switch version := start[6]; version {
	case 1:
		if _, err := io.ReadFull(r, length[:2]); err != nil {
			return "", readError("the header", err)
		}
	case 2, 3:
		if _, err := io.ReadFull(r, length[:]); err != nil {
			return "", readError("the header", err)
		}
	default:
		return "", fmt.Errorf("npy: %w: version %d.%d of the format", ErrFormat, version, start[7])
	}
	n := binary.LittleEndian.Uint32(length[:])
	if n > maxHeader {
		return "", fmt.Errorf("npy: %w: a header of %d bytes", ErrFormat, n)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return "", readError("the header", err)
	}
	return string(text), nil
}

// readError is the error for data that cannot be read, which may end too early or
// not be what was compressed.
func readError(what string, err error) error {
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("npy: %w: %s ends too early", ErrFormat, what)
	case damaged(err):
		return fmt.Errorf("npy: %w: %s: %w", ErrFormat, what, err)
	default:
		return fmt.Errorf("npy: %s: %w", what, err)
	}
}

// count returns the number of elements.
func (h Header) count(size int) (int, error) {
	n := 1
	for _, d := range h.Shape {
		if d < 0 || d > 0 && n > math.MaxInt/size/d {
			return 0, fmt.Errorf("npy: %w: shape %v", ErrFormat, h.Shape)
		}
		n *= d
	}
	return n, nil
}

// literal reads the Python dictionary of a header.
type literal struct{ rest string }

// header reads {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }.
func (p *literal) header() (Header, error) {
	var h Header
	seen := map[string]bool{}
	if err := p.expect("{"); err != nil {
		return h, err
	}
	for !p.skip("}") {
		key, err := p.str()
		if err != nil {
			return h, err
		}
		if err := p.expect(":"); err != nil {
			return h, err
		}
		switch {
		case seen[key]:
			err = fmt.Errorf("%w: key %q is there twice", ErrFormat, key)
		case key == "descr":
			h.Type, err = p.elementType()
		case key == "fortran_order":
			h.Columns, err = p.boolean()
		case key == "shape":
			h.Shape, err = p.tuple()
		default:
			err = fmt.Errorf("%w: unknown key %q", ErrFormat, key)
		}
		if err != nil {
			return h, err
		}
		seen[key] = true
		if !p.skip(",") && !strings.HasPrefix(p.rest, "}") {
			return h, p.unexpected(", or }")
		}
	}
	if len(seen) != 3 {
		return h, fmt.Errorf("%w: the keys are not descr, fortran_order and shape", ErrFormat)
	}
	p.space()
	if p.rest != "" {
		return h, p.unexpected("the end")
	}
	return h, nil
}

func (p *literal) space() { p.rest = strings.TrimLeft(p.rest, " \n") }

// skip reads a token, if it is next, and the space behind it.
func (p *literal) skip(token string) bool {
	p.space()
	rest, ok := strings.CutPrefix(p.rest, token)
	if ok {
		p.rest = rest
		p.space()
	}
	return ok
}

func (p *literal) expect(token string) error {
	if !p.skip(token) {
		return p.unexpected(token)
	}
	return nil
}

func (p *literal) unexpected(want string) error {
	return fmt.Errorf("%w: want %s at %.20q", ErrFormat, want, p.rest)
}

func (p *literal) str() (string, error) {
	p.space()
	for _, quote := range []string{"'", `"`} {
		if rest, ok := strings.CutPrefix(p.rest, quote); ok {
			if s, rest, ok := strings.Cut(rest, quote); ok && !strings.Contains(s, `\`) {
				p.rest = rest
				return s, nil
			}
		}
	}
	return "", p.unexpected("a string")
}

func (p *literal) elementType() (string, error) {
	if strings.HasPrefix(p.rest, "[") {
		return "", fmt.Errorf("%w: arrays of records are not read", errors.ErrUnsupported)
	}
	return p.str()
}

func (p *literal) boolean() (bool, error) {
	switch {
	case p.skip("True"):
		return true, nil
	case p.skip("False"):
		return false, nil
	default:
		return false, p.unexpected("True or False")
	}
}

// tuple reads (), (2,) or (2, 3); Python 2 wrote 2L.
func (p *literal) tuple() ([]int, error) {
	if err := p.expect("("); err != nil {
		return nil, err
	}
	shape := []int{}
	for !p.skip(")") {
		end := strings.IndexFunc(p.rest, func(r rune) bool { return r < '0' || r > '9' })
		if end <= 0 {
			return nil, p.unexpected("a length")
		}
		n, err := strconv.Atoi(p.rest[:end])
		if err != nil {
			return nil, fmt.Errorf("%w: length %s", ErrFormat, p.rest[:end])
		}
		p.rest = p.rest[end:]
		p.skip("L")
		shape = append(shape, n)
		if !p.skip(",") && !strings.HasPrefix(p.rest, ")") {
			return nil, p.unexpected(", or )")
		}
	}
	return shape, nil
}

// headerAlignment is what the data of a file begin at a multiple of, so that a
// mapped file can be used in place.
const headerAlignment = 64

// growthDigits is the room that NumPy leaves for the first length to grow.
const growthDigits = 21

// encode returns what NumPy writes.
func (h Header) encode() ([]byte, error) {
	var shape strings.Builder
	for i, d := range h.Shape {
		if i > 0 {
			shape.WriteString(" ")
		}
		fmt.Fprintf(&shape, "%d,", d)
	}
	lengths := shape.String()
	if len(h.Shape) > 1 {
		lengths = strings.TrimSuffix(lengths, ",")
	}
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", h.Type, lengths)
	if len(h.Shape) > 0 {
		text += strings.Repeat(" ", max(0, growthDigits-len(strconv.Itoa(h.Shape[0]))))
	}
	prefix := len(magic) + 4
	padding := headerAlignment - (prefix+len(text)+1)%headerAlignment
	text += strings.Repeat(" ", padding) + "\n"
	if len(text) > math.MaxUint16 {
		return nil, fmt.Errorf("npy: an array of %d dimensions", len(h.Shape))
	}
	out := append([]byte(magic), 1, 0)
	out = binary.LittleEndian.AppendUint16(out, uint16(len(text)))
	return append(out, text...), nil
}
