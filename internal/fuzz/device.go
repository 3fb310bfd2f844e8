package fuzz

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"
	"unsafe"

	"quern.dev/internal/compiler/ir"
	"quern.dev/internal/compiler/ptx"
	"quern.dev/internal/driver"
)

// Device runs modules on a device of the machine.
type Device struct {
	Name   string
	dev    driver.Device
	stream driver.Stream
}

// OpenDevice opens a device for one goroutine.
func OpenDevice(name string, c driver.Candidate) (*Device, error) {
	if c.Err != nil {
		return nil, c.Err
	}
	dev, err := c.Open()
	if err != nil {
		return nil, err
	}
	stream, err := dev.NewStream()
	if err != nil {
		return nil, errors.Join(err, dev.Close())
	}
	return &Device{name, dev, stream}, nil
}

// Close releases the device.
func (d *Device) Close() error { return errors.Join(d.stream.Close(), d.dev.Close()) }

// SimSteps bounds what a program executes on the simulator, some hundred times
// what generated ones need.
const SimSteps = 1 << 24

// timeout is how long a program may take on a device.
const timeout = 30 * time.Second

// run runs a module of the case's kernel.
func (d *Device) run(c *Case, k *ir.Kernel, m *ptx.Module) (_ *Outcome, err error) {
	f, err := d.dev.Load(&driver.Kernel{Name: k.Name, PTX: m.Text})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()

	params := make([]driver.Param, len(k.Func.Params))
	for i, p := range k.Func.Params {
		params[i] = driver.Param{Slice: p.Type.Kind == ir.Slice, Size: int(p.Type.Size())}
	}
	frame := driver.NewFrame(params)
	frame.Grid, frame.Block = c.Grid, c.Block
	args := c.arguments(k)
	memory := make([]driver.Memory, len(args))
	defer func() {
		for _, m := range memory {
			if m.Addr != 0 {
				err = errors.Join(err, d.dev.Free(m))
			}
		}
	}()
	for i, p := range k.Func.Params {
		a := &frame.Args[i]
		if p.Type.Kind != ir.Slice {
			copy(unsafe.Slice((*byte)(a.Value), a.Size), args[i])
			continue
		}
		if memory[i], err = d.dev.Alloc(int64(len(args[i]))); err != nil {
			return nil, err
		}
		if err := d.stream.CopyIn(memory[i], unsafe.Pointer(unsafe.SliceData(args[i])), int64(len(args[i]))); err != nil {
			return nil, err
		}
		a.Addr, a.Data, a.Length = memory[i].Addr, memory[i].Host, int64(len(args[i]))/p.Type.Elem.Size()
	}
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
		if err := d.stream.CopyOut(unsafe.Pointer(unsafe.SliceData(out.Args[i])), memory[i], int64(len(args[i]))); err != nil {
			return nil, err
		}
	}
	return out, nil
}
