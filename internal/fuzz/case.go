package fuzz

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"quern.dev/internal/compiler/frontend"
	"quern.dev/internal/compiler/ir"
	"quern.dev/kernel"
)

// Case is a program and the parameters of its launch. Its arguments follow from the seed
// and the types of the kernel's parameters.
type Case struct {
	Seed        uint64
	Source      string // one file, which begins with the header
	Grid, Block kernel.Dim3

	// Values holds, by name, the values of number parameters and the lengths of slices.
	// Other parameters are random.
	Values map[string]int64
}

const headerPrefix = "//fuzz:launch "

// header returns the line that describes the launch.
func (c *Case) header() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%sseed=%d grid=%s block=%s", headerPrefix, c.Seed, extent(c.Grid), extent(c.Block))
	names := make([]string, 0, len(c.Values))
	for name := range c.Values {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(&b, " %s=%d", name, c.Values[name])
	}
	return b.String() + "\n\n"
}

func extent(d kernel.Dim3) string { return fmt.Sprintf("%dx%dx%d", d.X, d.Y, d.Z) }

// Parse parses the source text of a kept program.
func Parse(source string) (*Case, error) {
	c := &Case{Source: source, Values: map[string]int64{}}
	line, _, _ := strings.Cut(source, "\n")
	text, ok := strings.CutPrefix(line, headerPrefix)
	if !ok {
		return nil, fmt.Errorf("fuzz: parse: the program does not begin with %q", headerPrefix)
	}
	for _, word := range strings.Fields(text) {
		name, value, _ := strings.Cut(word, "=")
		var err error
		switch name {
		case "seed":
			c.Seed, err = strconv.ParseUint(value, 10, 64)
		case "grid":
			_, err = fmt.Sscanf(value, "%dx%dx%d", &c.Grid.X, &c.Grid.Y, &c.Grid.Z)
		case "block":
			_, err = fmt.Sscanf(value, "%dx%dx%d", &c.Block.X, &c.Block.Y, &c.Block.Z)
		default:
			c.Values[name], err = strconv.ParseInt(value, 10, 64)
		}
		if err != nil {
			return nil, fmt.Errorf("fuzz: parse: launch: %s: %w", word, err)
		}
	}
	return c, nil
}

// names matches the names of package-level declarations in a program.
var names = regexp.MustCompile(`\b([a-z]+[0-9]*)` + suffix + `\b`)

// renamed returns the program's source with a different suffix for its names.
func (c *Case) renamed(id int) string {
	return names.ReplaceAllString(c.Source, "${1}P"+strconv.Itoa(id))
}

// lower type-checks the program and returns the front end's IR of its kernel.
func lower(file, source string) (_ *ir.Kernel, err error) {
	defer frontend.Catch(&err, file, "")
	p, err := frontend.Text(file, source)
	if err != nil {
		return nil, err
	}
	prog, err := p.Lower()
	if err != nil {
		return nil, err
	}
	if len(prog.Kernels) != 1 {
		return nil, fmt.Errorf("fuzz: the program has %d kernels; want 1", len(prog.Kernels))
	}
	return prog.Kernels[0], nil
}

// arguments returns the initial contents of the kernel's arguments: values, or the
// elements of slices.
func (c *Case) arguments(k *ir.Kernel) [][]byte {
	r := rand.New(rand.NewPCG(c.Seed, 3))
	args := make([][]byte, len(k.Func.Params))
	for i, p := range k.Func.Params {
		t, n := p.Type, int64(1)
		value, known := c.Values[p.Name]
		if t.Kind == ir.Slice {
			t, n = t.Elem, value
		}
		args[i] = make([]byte, n*t.Size())
		switch {
		case known && p.Type.Kind != ir.Slice:
			putInteger(args[i], uint64(value))
			continue
		case strings.HasPrefix(p.Name, "atomic") && t.IsFloat():
			continue // sums of small integers are exact
		}
		for j := range n {
			fill(r, t, args[i][j*t.Size():(j+1)*t.Size()])
		}
	}
	return args
}

func putInteger(b []byte, v uint64) {
	for i := range b {
		b[i] = byte(v >> (8 * i))
	}
}

// fill writes a random value of type t, often a special one, to b. Padding stays zero.
func fill(r *rand.Rand, t *ir.Type, b []byte) {
	switch {
	case t.Kind == ir.Array:
		for i := range t.Len {
			fill(r, t.Elem, b[i*t.Elem.Size():(i+1)*t.Elem.Size()])
		}
	case t.Kind == ir.Struct:
		for _, f := range t.Fields {
			fill(r, f.Type, b[f.Offset:f.Offset+f.Type.Size()])
		}
	case t.Kind == ir.Bool:
		b[0] = byte(r.IntN(2))
	case t.Kind == ir.Float32:
		binary.LittleEndian.PutUint32(b, math.Float32bits(float32(randomFloat(r, math.MaxFloat32, 1e-42))))
	case t.Kind == ir.Float64:
		binary.LittleEndian.PutUint64(b, math.Float64bits(randomFloat(r, math.MaxFloat64, 1e-310)))
	default:
		putInteger(b, randomInteger(r, 8*len(b)))
	}
}

func randomFloat(r *rand.Rand, largest, subnormal float64) float64 {
	if r.IntN(12) == 0 {
		special := [...]float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), largest, subnormal, 1, 1 << 24}
		return special[r.IntN(len(special))]
	}
	return (r.Float64()*2 - 1) * math.Exp2(float64(r.IntN(16)-6))
}

func randomInteger(r *rand.Rand, bits int) uint64 {
	special := [...]uint64{0, 1, 2, 3, 7, 1<<bits - 1, 1 << (bits - 1), 1<<(bits-1) - 1, 1 << (bits / 2)}
	switch r.IntN(5) {
	case 0:
		return special[r.IntN(len(special))]
	case 1:
		return r.Uint64()
	case 2:
		return -uint64(r.IntN(12))
	}
	return uint64(r.IntN(20))
}
