package ptx

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"testing"

	"quern.dev/internal/compiler/ir"
	"quern.dev/internal/compiler/ir/irtest"
	"quern.dev/internal/ptxas"
	"quern.dev/internal/ptxvm"
)

// emit translates a kernel and assembles it if there is an assembler.
func emit(t *testing.T, k *ir.Kernel, architectures ...string) *Module {
	t.Helper()
	if err := ir.Verify(k, ir.StageFinal); err != nil {
		t.Fatalf("test kernel: %v", err)
	}
	m, err := Emit(k, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range m.Text {
		if r > '~' {
			t.Errorf("%q is not ASCII; ptxas 13.0 rejects it in\n%s", r, m.Text)
			break
		}
	}
	if _, err := ptxas.Find(); err != nil {
		return m
	}
	if len(architectures) == 0 {
		oldest := slices.IndexFunc(ptxas.Architectures, func(a string) bool { return ptxas.Runs(m.Text, a) })
		architectures = ptxas.Architectures[oldest : oldest+1]
	}
	for _, a := range architectures {
		if _, err := ptxas.Assemble(m.Text, a); err != nil {
			t.Errorf("%v\n%s", err, m.Text)
		}
	}
	return m
}

// same runs a kernel on the interpreters of both languages, with one block of the given
// number of threads, and compares memory and fault. Afterwards the arguments hold the
// results of the reference.
func same(t *testing.T, k *ir.Kernel, threads int, args ...irtest.Value) {
	t.Helper()
	m := emit(t, k)
	d := newDevice(t, k, args)
	record := d.launch(m, threads)

	var want *irtest.Fault
	for i := range threads {
		at := irtest.Coordinates{ir.ThreadIdxX: int64(i), ir.BlockDimX: int64(threads), ir.BlockDimY: 1, ir.BlockDimZ: 1,
			ir.GridDimX: 1, ir.GridDimY: 1, ir.GridDimZ: 1, ir.LaneID: int64(i % 32), ir.WarpID: int64(i / 32)}
		if err := irtest.Run(k, at, args...); err != nil && want == nil {
			errors.As(err, &want)
		}
	}
	switch {
	case want == nil && record.failed:
		t.Errorf("fault %v, want none\n%s", m.Sites[record.site], m.Text)
	case want != nil && !record.failed:
		t.Errorf("no fault, want %v\n%s", want, m.Text)
	case want != nil:
		s := m.Sites[record.site]
		if s.Kind.String() != want.Kind || s.Line != want.Pos.Line || s.Col != want.Pos.Col {
			t.Errorf("fault %v, want %v", s, want)
		}
		return // threads before the fault may have run on one side only
	}
	d.compare(m)
}

// device holds a kernel's arguments in memory of the virtual machine.
type device struct {
	t       *testing.T
	kernel  *ir.Kernel
	memory  *ptxvm.Memory
	args    []irtest.Value
	buffers []uint64 // address of each slice's elements
	params  [][]byte
	record  uint64
}

const kernelNumber = 7

func newDevice(t *testing.T, k *ir.Kernel, args []irtest.Value) *device {
	t.Helper()
	d := &device{t: t, kernel: k, memory: ptxvm.NewMemory(), args: args, buffers: make([]uint64, len(args))}
	for i, p := range k.Func.Params {
		switch {
		case p.Type.Kind == ir.Slice:
			data := encode(nil, ir.ArrayOf(int64(args[i].Len), p.Type.Elem), args[i].Object.Cells[args[i].Off:])
			d.buffers[i] = d.alloc(p.Name, append(data, 0)[:max(len(data), 1)])
			d.params = append(d.params, word64(d.buffers[i]), word64(uint64(args[i].Len)))
		case p.Type.IsAggregate():
			d.params = append(d.params, encode(nil, p.Type, args[i].Object.Cells))
		default:
			d.params = append(d.params, encode(nil, p.Type, args[i:i+1]))
		}
	}
	d.record = d.alloc("record", make([]byte, 64))
	control := d.alloc("control", append(make([]byte, 8), word64(d.record)...))
	d.params = append(d.params, word64(control), word32(kernelNumber))
	return d
}

func (d *device) alloc(name string, data []byte) uint64 {
	d.t.Helper()
	a, err := d.memory.Alloc(len(data), name)
	if err == nil {
		err = d.memory.Write(a, data)
	}
	if err != nil {
		d.t.Fatal(err)
	}
	return a
}

// faultRecord is the record that a failing thread writes.
type faultRecord struct {
	failed        bool
	site, kernel  uint32
	index, length int64
	block, thread [3]uint32
}

func (d *device) launch(m *Module, threads int) faultRecord {
	d.t.Helper()
	parsed, err := ptxvm.Parse(m.Text)
	if err != nil {
		d.t.Fatalf("%v\n%s", err, m.Text)
	}
	err = parsed.Launch(context.Background(), m.Entry, ptxvm.Config{
		Grid: [3]int{1, 1, 1}, Block: [3]int{threads, 1, 1}, Params: d.params, Memory: d.memory, Checks: true, MaxSteps: 1 << 24,
	})
	if err != nil {
		d.t.Fatalf("%v\n%s", err, m.Text)
	}
	raw := d.read(d.record, 64)
	word := func(off int) uint32 { return binary.LittleEndian.Uint32(raw[off:]) }
	r := faultRecord{
		failed: word(0) == 1, site: word(4), kernel: word(8),
		index: int64(binary.LittleEndian.Uint64(raw[16:])), length: int64(binary.LittleEndian.Uint64(raw[24:])),
	}
	for i := range 3 {
		r.block[i], r.thread[i] = word(32+4*i), word(44+4*i)
	}
	return r
}

func (d *device) read(address uint64, n int) []byte {
	d.t.Helper()
	data := make([]byte, n)
	if err := d.memory.Read(address, data); err != nil {
		d.t.Fatal(err)
	}
	return data
}

// compare reports slices whose contents differ from those of the arguments.
func (d *device) compare(m *Module) {
	d.t.Helper()
	for i, p := range d.kernel.Func.Params {
		if p.Type.Kind != ir.Slice {
			continue
		}
		cells := d.args[i].Object.Cells
		array := ir.ArrayOf(int64(d.args[i].Len), p.Type.Elem)
		got := decode(nil, array, d.read(d.buffers[i], int(array.Size())))
		for j := range got {
			want := cells[j]
			if p.Type.Elem.IsFloat() {
				want = floatValue(math.Float64frombits(want.Bits))
			}
			if got[j].Bits != want.Bits {
				d.t.Errorf("%s: cell %d = %#x, want %#x\n%s", p.Name, j, got[j].Bits, want.Bits, m.Text)
				return
			}
		}
	}
}

func word32(v uint32) []byte { return binary.LittleEndian.AppendUint32(nil, v) }
func word64(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }

// encode stores cells in memory; padding is zero.
func encode(b []byte, t *ir.Type, cells []irtest.Value) []byte {
	start := len(b)
	switch t.Kind {
	case ir.Array:
		n := countCells(t.Elem)
		for i := range int(t.Len) {
			b = encode(b, t.Elem, cells[i*n:])
		}
		return b
	case ir.Struct:
		at := 0
		for _, f := range t.Fields {
			b = append(b, make([]byte, start+int(f.Offset)-len(b))...)
			b = encode(b, f.Type, cells[at:])
			at += countCells(f.Type)
		}
		return append(b, make([]byte, start+int(t.Size())-len(b))...)
	}
	v := cells[0].Bits
	switch t.Kind {
	case ir.Float32:
		v = uint64(math.Float32bits(float32(math.Float64frombits(v))))
	}
	return append(b, word64(v)[:t.Size()]...)
}

// decode is the inverse of encode; all NaNs are equal.
func decode(cells []irtest.Value, t *ir.Type, b []byte) []irtest.Value {
	switch t.Kind {
	case ir.Array:
		for i := range t.Len {
			cells = decode(cells, t.Elem, b[i*t.Elem.Size():])
		}
		return cells
	case ir.Struct:
		for _, f := range t.Fields {
			cells = decode(cells, f.Type, b[f.Offset:])
		}
		return cells
	}
	var raw [8]byte
	copy(raw[:], b[:t.Size()])
	v := binary.LittleEndian.Uint64(raw[:])
	switch {
	case t.Kind == ir.Float32:
		return append(cells, floatValue(float64(math.Float32frombits(uint32(v)))))
	case t.Kind == ir.Float64:
		return append(cells, floatValue(math.Float64frombits(v)))
	case t.IsInteger():
		v = ir.WrapBits(t.Kind, v)
	}
	return append(cells, irtest.Value{Bits: v})
}

// floatValue returns a cell; all NaNs are equal.
func floatValue(v float64) irtest.Value {
	if v != v {
		v = math.NaN()
	}
	return irtest.FloatValue(v)
}

func countCells(t *ir.Type) int {
	switch t.Kind {
	case ir.Array:
		return int(t.Len) * countCells(t.Elem)
	case ir.Struct:
		n := 0
		for _, f := range t.Fields {
			n += countCells(f.Type)
		}
		return n
	}
	return 1
}

// values returns a slice argument with the given cells.
func values(cells []irtest.Value) irtest.Value {
	return irtest.Value{Object: &irtest.Object{Cells: cells}, Len: len(cells), Cap: len(cells)}
}

// ints returns a slice argument of integers.
func ints(list ...int64) irtest.Value {
	cells := make([]irtest.Value, len(list))
	for i, v := range list {
		cells[i] = irtest.IntValue(v)
	}
	return values(cells)
}
