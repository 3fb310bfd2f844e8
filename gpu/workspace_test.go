package gpu

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"
)

// doubled copies src to dst through temporary memory.
func doubled(s *Stream, dst, src *Buffer[int32], work ...*Workspace) error {
	c, err := OpenScratch(s, work)
	if err != nil {
		return err
	}
	defer c.Close()
	small := Take[byte](c, 3)
	copied := Take[int32](c, src.Len())
	if run, err := c.Ready(); !run {
		return err
	}
	return errors.Join(Fill(s, small, 0xff), Copy(s, copied, src), Copy(s, dst, copied))
}

func TestWorkspaces(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		s := d.DefaultStream()
		want := []int32{1, -2, 3, 4, 5}
		src := must[*Buffer[int32]](t)(Upload(s, want))
		dst := must[*Buffer[int32]](t)(Alloc[int32](d, len(want)))
		check := func(what string) {
			t.Helper()
			if got := download(t, s, dst); got[1] != -2 || got[4] != 5 {
				t.Errorf("%s: read %v", what, got)
			}
			do(t, Zero(s, dst))
		}
		do(t, doubled(s, dst, src))
		check("pool")
		if n := d.Pool().Stats().Buffers; n != 0 {
			t.Errorf("%d buffers of the pool are in use", n)
		}

		measure := MeasureWorkspace()
		do(t, doubled(s, dst, src, measure))
		if got := download(t, s, dst); got[0] != 0 {
			t.Errorf("measuring has written %v", got)
		}
		if measure.Size() != 512 {
			t.Errorf("size %d", measure.Size())
		}
		memory := must[*Buffer[byte]](t)(Alloc[byte](d, measure.Size()+1))
		work := NewWorkspace(memory.Slice(0, measure.Size()))
		for range 3 {
			do(t, doubled(s, dst, src, work))
		}
		check("workspace")
		err := doubled(s, dst, src, NewWorkspace(memory.Slice(0, 511)))
		if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "the workspace has 511 bytes, and the call needs 512") {
			t.Errorf("too small: %v", err)
		}
		if err := doubled(s, dst, src, NewWorkspace(memory.Slice(1, 513))); !errors.Is(err, ErrInvalid) {
			t.Errorf("too small because it is not aligned: %v", err)
		}
		if got := download(t, s, dst); got[0] != 0 {
			t.Errorf("a refused call has written %v", got)
		}
		if allocs := testing.AllocsPerRun(20, func() {
			c, _ := OpenScratch(s, []*Workspace{work})
			Take[int32](c, 5)
			c.Close()
		}); allocs > 0 && !raceEnabled {
			t.Errorf("%v allocations", allocs)
		}
		held := must[*Scratch](t)(OpenScratch(s, []*Workspace{work}))
		if err := doubled(s, dst, src, work); err == nil || !strings.Contains(err.Error(), "in use by another call") {
			t.Errorf("two calls at once: %v", err)
		}
		held.Close()
		for _, bad := range [][]*Workspace{{{}}, {work, work}, {NewWorkspace(nil)}} {
			if err := doubled(s, dst, src, bad...); !errors.Is(err, ErrInvalid) {
				t.Errorf("%v: %v", bad, err)
			}
		}
		do(t, doubled(s, dst, src, nil))
		check("nil")
		c := must[*Scratch](t)(OpenScratch(s, nil))
		Take[int32](c, -1)
		if run, err := c.Ready(); run || !errors.Is(err, ErrInvalid) {
			t.Errorf("negative length: %v %v", run, err)
		}
		do(t, c.Close())
		if _, err := OpenScratch(nil, nil); !errors.Is(err, ErrInvalid) {
			t.Errorf("no stream: %v", err)
		}
		do(t, errors.Join(src.Close(), dst.Close(), memory.Close()))
	})
}

// Temporary memory of recorded work lives as long as the graph, and is not a leak.
func TestGraphsKeepTemporaryMemory(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		s := d.DefaultStream()
		src := must[*Buffer[int32]](t)(Upload(s, []int32{1, 2, 3}))
		dst := must[*Buffer[int32]](t)(Alloc[int32](d, 3))
		inner := must[*Graph](t)(d.Capture(func(s *Stream) error { return doubled(s, dst, src) }))
		part := must[*GraphExec](t)(inner.Instantiate())
		inner = nil
		runtime.GC()
		outer := must[*Graph](t)(d.Capture(part.Launch))
		do(t, part.Close())
		for range 2 {
			runtime.GC()
			g := must[*GraphExec](t)(outer.Instantiate())
			used := must[*Buffer[int32]](t)(Acquire[int32](d.Pool(), s, 3)) // would be the same memory
			do(t, Fill(s, used, 9))
			do(t, Zero(s, dst))
			do(t, g.Launch(s))
			if got := download(t, s, dst); got[2] != 3 {
				t.Errorf("read %v", got)
			}
			if got := download(t, s, used); got[0] != 9 {
				t.Errorf("the pool has given out the memory of the graph: %v", got)
			}
			do(t, used.Close())
			do(t, g.Close())
		}
		runtime.KeepAlive(outer)
		outer, part = nil, nil
		for begin := time.Now(); d.Pool().Stats().Buffers > 0 && time.Since(begin) < 10*time.Second; time.Sleep(time.Millisecond) {
			runtime.GC()
		}
		if n := d.Pool().Stats().Buffers; n != 0 {
			t.Errorf("%d buffers are in use when no graph is left", n)
		}
		do(t, s.Synchronize(context.Background()))
		kept := must[*Graph](t)(d.Capture(func(s *Stream) error { return doubled(s, dst, src) }))
		do(t, errors.Join(src.Close(), dst.Close()))
		do(t, d.Close()) // no leak
		runtime.KeepAlive(kept)
	})
}
