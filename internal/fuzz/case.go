package fuzz

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
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
	// Contents describes slices of integers. Everything else is random.
	Values   map[string]int64
	Contents map[string]Contents
}

// Contents describes the elements of a slice of integers.
type Contents struct {
	Below int64 // they are at least 0 and less than this
	Step  int64 // if positive, each is at least the one before and exceeds it by at most this
	Wrong int   // the number of elements, at random, that are not so
}

func (d Contents) String() string {
	text := fmt.Sprintf("<%d", d.Below)
	if d.Step > 0 {
		text += fmt.Sprintf("/%d", d.Step)
	}
	if d.Wrong > 0 {
		text += fmt.Sprintf("!%d", d.Wrong)
	}
	return text
}

// parameter matches the value of a parameter in the header.
var parameter = regexp.MustCompile(`^(-?\d+)(?:<(\d+)(?:/(\d+))?(?:!(\d+))?)?$`)

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
		if d, ok := c.Contents[name]; ok {
			b.WriteString(d.String())
		}
	}
	return b.String() + "\n\n"
}

func extent(d kernel.Dim3) string { return fmt.Sprintf("%dx%dx%d", d.X, d.Y, d.Z) }

// Parse parses the source text of a kept program.
func Parse(source string) (*Case, error) {
	c := &Case{Source: source, Values: map[string]int64{}, Contents: map[string]Contents{}}
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
			err = c.parameter(name, value)
		}
		if err != nil {
			return nil, fmt.Errorf("fuzz: parse: launch: %s: %w", word, err)
		}
	}
	return c, nil
}

// parameter sets what the header says about a parameter.
func (c *Case) parameter(name, text string) error {
	parts := parameter.FindStringSubmatch(text)
	if parts == nil {
		return fmt.Errorf("%q is no number, and no length with a description of the elements", text)
	}
	var numbers [4]int64
	for i, part := range parts[1:] {
		if part == "" {
			continue
		}
		var err error
		if numbers[i], err = strconv.ParseInt(part, 10, 64); err != nil {
			return err
		}
	}
	c.Values[name] = numbers[0]
	if parts[2] != "" {
		c.Contents[name] = Contents{Below: numbers[1], Step: numbers[2], Wrong: int(numbers[3])}
	}
	return nil
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
	p, err := frontend.Text(context.Background(), file, source)
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
	for _, p := range prog.Kernels[0].Func.Params {
		if p.Type.Kind == ir.Slice && p.Type.Elem.Size() == 0 {
			return nil, fmt.Errorf("fuzz: the elements of %s have no size", p.Name)
		}
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
		if d, ok := c.Contents[p.Name]; ok && t.IsInteger() {
			d.fill(c.Seed, p.Name, t, args[i])
			continue
		}
		for j := range n {
			fill(r, t, args[i][j*t.Size():(j+1)*t.Size()])
		}
	}
	return args
}

// fill writes the elements of a slice. They depend on its name, but not on the other
// parameters, so that they stay when those are deleted.
func (d Contents) fill(seed uint64, name string, t *ir.Type, b []byte) {
	h := fnv.New64a()
	h.Write([]byte(name))
	r := rand.New(rand.NewPCG(seed, h.Sum64()))
	n := int64(len(b)) / t.Size()
	put := func(i, v int64) { putInteger(b[i*t.Size():][:t.Size()], uint64(v)) }
	if d.Step == 0 {
		for i := range n {
			put(i, r.Int64N(max(d.Below, 1)))
		}
		for range d.Wrong {
			put(r.Int64N(n), [...]int64{d.Below, d.Below + 1, d.Below + r.Int64N(100), -1, -1 - r.Int64N(9), r.Int64()}[r.IntN(6)])
		}
		return
	}
	rising := make([]int64, n)
	last := r.Int64N(3)
	for i := range rising {
		rising[i] = last
		if r.IntN(4) > 0 {
			last = min(last+r.Int64N(d.Step+1), d.Below-1)
		}
		put(int64(i), rising[i])
	}
	for range d.Wrong {
		// Near the right value, and not negative: the loop between two of them stays short,
		// with an unsigned counter too.
		i := r.Int64N(n)
		put(i, max(rising[i]+r.Int64N(2*mostTrips)-mostTrips, 0))
	}
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
