package suite

import (
	"context"
	"unsafe"

	"quern.dev/gpu"
)

// Transfers returns the sizes in bytes of the arrays that a program copies to the device
// before the launch, and from it afterwards.
func (c *Case) Transfers() (in, out []int64) {
	for _, a := range c.arrays() {
		i, o := a.bytes()
		if i > 0 {
			in = append(in, i)
		}
		if o > 0 {
			out = append(out, o)
		}
	}
	return in, out
}

// Send copies the inputs to the device.
func (b *Bound) Send() error {
	return b.each(func(a Argument) error { return a.send(b.stream) })
}

// Receive waits, and copies the outputs from the device.
func (b *Bound) Receive(ctx context.Context) error {
	return b.each(func(a Argument) error { return a.receive(ctx, b.stream) })
}

func (a *Array[T]) bytes() (in, out int64) {
	var v T
	size := int64(len(a.Host)) * int64(unsafe.Sizeof(v))
	if a.role != output {
		in = size
	}
	if a.role != input {
		out = size
	}
	return in, out
}

func (a *Array[T]) send(s *gpu.Stream) error {
	if a.role == output {
		return nil
	}
	return gpu.CopyIn(s, a.buffer, a.Host)
}

func (a *Array[T]) receive(ctx context.Context, s *gpu.Stream) error {
	if a.role == input {
		return nil
	}
	return gpu.Download(ctx, s, a.Hand, a.buffer)
}
