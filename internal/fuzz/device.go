package fuzz

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"
	"unsafe"

	"quern.dev/internal/compiler/ir"
	"quern.dev/internal/driver"
)

// Device runs modules on one device of the machine.
type Device struct {
	Name   string
	dev    driver.Device
	stream driver.Stream
}

// OpenDevice opens a device. Only one goroutine may use it.
func OpenDevice(name string, c driver.Candidate) (*Device, error) {
	if c.Err != nil {
		return nil, c.Err
	}
	dev, err := c.Open()
	if err != nil {
		return nil, err
	}
	stream, err := dev.NewStream(0)
	if err != nil {
		return nil, errors.Join(err, dev.Close())
	}
	return &Device{name, dev, stream}, nil
}

// Close releases the device.
func (d *Device) Close() error { return errors.Join(d.stream.Close(), d.dev.Close()) }

// SimSteps is the step budget of a program on the simulator, several hundred times what
// generated programs need.
const SimSteps = 1 << 24

// timeout is the time limit of a program on a device.
const timeout = 30 * time.Second

// run runs a compiled form of the case's kernel. The outcome is nil if the launch does not
// meet the limits of this form.
func (d *Device) run(c *Case, k *ir.Kernel, m *compiled) (_ *Outcome, err error) {
	params := make([]driver.Param, len(k.Func.Params))
	for i, p := range k.Func.Params {
		params[i] = driver.Param{Slice: p.Type.Kind == ir.Slice, Size: int(p.Type.Size())}
	}
	frame := driver.NewFrame(params)
	frame.Grid, frame.Block = c.Grid, c.Block
	frame.Threads, frame.Adjacent = 1, false
	if m.coarse != nil {
		frame.Threads, frame.Adjacent = m.coarse.Threads, m.coarse.Adjacent
	}
	args := c.arguments(k)
	memory := make([]driver.Memory, len(args))
	defer func() {
		for _, m := range memory {
			if m.Addr != 0 {
				err = errors.Join(err, d.dev.Free(m))
			}
		}
	}()
	values, places := make([]int64, len(args)), make([]uint64, len(args))
	for i, p := range k.Func.Params {
		a := &frame.Args[i]
		if p.Type.Kind != ir.Slice {
			copy(unsafe.Slice((*byte)(a.Value), a.Size), args[i])
			values[i] = integerValue(p.Type, args[i])
			continue
		}
		size := p.Type.Elem.Size()
		if memory[i], err = d.dev.Alloc(int64(len(args[i])) + c.skew(i, size)); err != nil {
			return nil, err
		}
		at := memory[i].Offset(c.skew(i, size))
		if err := d.stream.CopyIn(at, unsafe.Pointer(unsafe.SliceData(args[i])), int64(len(args[i]))); err != nil {
			return nil, err
		}
		a.Addr, a.Data, a.Length = at.Addr, at.Host, int64(len(args[i]))/size
		values[i], places[i] = a.Length, a.Addr
	}
	if !m.Limits.HoldAt(values, places, &[6]int64{int64(c.Grid.X), int64(c.Grid.Y), int64(c.Grid.Z), int64(c.Block.X), int64(c.Block.Y), int64(c.Block.Z)}) {
		return nil, nil
	}
	load := driver.Kernel{Name: k.Name, PTX: m.Text}
	if m.SharedBytes > driver.MaxStaticShared {
		load.Placed = m.SharedBytes
	}
	f, err := d.dev.Load(&load)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := d.stream.Launch(f, frame); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	if err := d.stream.Synchronize(ctx); err != nil {
		return nil, err
	}
	out := &Outcome{Args: make([][]byte, len(args))}
	switch fault, ok := errors.AsType[*driver.Fault](d.stream.Fault()); {
	case ok && fault.Site < 0:
		return nil, fmt.Errorf("%s at line %d in thread %v of block %v", fault.Reason, fault.Line, fault.Thread, fault.Block)
	case ok:
		s := m.Sites[fault.Site]
		out.Fault = &Fault{Line: s.Line, Block: fault.Block, Thread: fault.Thread, Text: fmt.Sprintf("site %d %s", s.Kind, s.Text)}
	}
	for i := range args {
		out.Args[i] = bytes.Clone(args[i])
		if memory[i].Addr == 0 {
			continue
		}
		if err := d.stream.CopyOut(unsafe.Pointer(unsafe.SliceData(out.Args[i])), memory[i].Offset(c.skew(i, k.Func.Params[i].Type.Elem.Size())), int64(len(args[i]))); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// skew returns the offset of slice i in its allocation in bytes. In one of four programs
// it breaks the alignment of vector accesses.
func (c *Case) skew(i int, size int64) int64 {
	if c.Seed%4 > 0 || i%2 > 0 {
		return 0
	}
	return size
}

// integerValue returns the integer in b as limits interpret it.
func integerValue(t *ir.Type, b []byte) int64 {
	if !t.IsInteger() {
		return 0
	}
	v := uint64(0)
	for i := range b {
		v |= uint64(b[i]) << (8 * i)
	}
	return int64(ir.WrapBits(t.Kind, v))
}
