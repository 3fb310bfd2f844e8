package gpu

import (
	"context"
	"errors"
	"strings"
	"testing"

	"quern.dev/internal/driver/cuda/fakecuda"
)

func TestAFaultInAGraphIsReportedByTheNextWait(t *testing.T) {
	k := NewKernel(saxpyInfo)
	everyDevice(t, func(t *testing.T, d *Device) {
		ctx := context.Background()
		s, other := d.DefaultStream(), must[*Stream](t)(d.NewStream(ctx))
		x, y := upload(t, s, ramp(5)...), upload(t, s, ramp(8)...)
		g, e := captured(t, d, func(s *Stream) error { return launchSaxpy(k, s, Linear(8), 1, 8, x, y) })
		for range 2 {
			for _, stream := range []*Stream{s, other} {
				do(t, e.Launch(stream))
				fault, ok := errors.AsType[*KernelError](stream.Synchronize(ctx))
				if !ok || fault.Kernel != "saxpy" || fault.File != "saxpy.go" || fault.Line != 16 || fault.Index < 5 {
					t.Fatalf("fault %+v", fault)
				}
				do(t, stream.Synchronize(ctx))
			}
		}
		do(t, e.Update(g.Nodes()[0], func(s *Stream) error { return launchSaxpy(k, s, Linear(5), 1, 5, x, y) }))
		do(t, e.Launch(other))
		do(t, other.Synchronize(ctx))
		do(t, other.Close())
		do(t, e.Launch(s))
		do(t, s.Synchronize(ctx))
		closeAll(t, e, x, y)
	})
}

func TestBadCallsOfGraphsNameTheMistake(t *testing.T) {
	k := NewKernel(saxpyInfo)
	everyDevice(t, func(t *testing.T, d *Device) {
		ctx := context.Background()
		foreign := must[*Device](t)(Open(Config{Device: "cpu"}))
		defer foreign.Close()
		s, side := d.DefaultStream(), must[*Stream](t)(d.NewStream(ctx))
		x, y := upload(t, s, ramp(8)...), upload(t, s, ramp(8)...)
		two, flag := upload(t, s, 1, uint32(1)), upload(t, s, uint32(1))
		event, unrecorded := must[*Event](t)(d.NewEvent()), must[*Event](t)(d.NewEvent())
		inside, outside := must[*Event](t)(d.NewEvent()), must[*Event](t)(d.NewEvent())
		do(t, s.Record(outside))
		do(t, s.Record(event))
		zero := func(s *Stream) error { return Zero(s, x) }
		g, e := captured(t, d, zero)
		_, closed := captured(t, d, zero)
		do(t, closed.Close())
		var kept *Stream
		other := must[*Graph](t)(d.Capture(func(s *Stream) error { kept = s; return zero(s) }))
		// recorded returns the error of an operation on a stream that is recording.
		recorded := func(f func(s *Stream) error) error { return second(d.Capture(f)) }
		mistake := errors.New("mistake")
		unified := must[*Unified[float32]](t)(NewUnified[float32](d, 8))
		do(t, unified.Discard())
		view := must[*Buffer[float32]](t)(unified.WriteDevice(s))
		tests := []struct {
			name string
			err  error
			is   error
			want string
		}{
			{"a view of a unified array", recorded(func(s *Stream) error { return Zero(s, view) }), ErrInvalid, "gpu: zero: a graph cannot hold a view of a unified array"},
			{"a wait while a stream records", recorded(func(s *Stream) error { return s.Synchronize(ctx) }), ErrInvalid, "gpu: synchronize: the stream is recording a graph, and this operation cannot be part of a graph"},
			{"a download while a stream records", recorded(func(s *Stream) error { return Download(ctx, s, ramp(8), x) }), ErrInvalid, "gpu: download: the stream is recording a graph"},
			{"the error of the function", recorded(func(*Stream) error { return mistake }), mistake, "mistake"},
			{"a launch with a bad argument", recorded(func(s *Stream) error { return launchSaxpy(k, s, Linear(0), 1, 8, x, y) }), ErrInvalid, "gpu: launch saxpy: grid Linear(0) is empty"},
			{"a stream that recorded", Zero(kept, x), ErrClosed, "gpu: zero: stream is closed"},
			{"an event from outside", recorded(func(s *Stream) error { return s.Wait(event) }), ErrInvalid, "gpu: wait for event: the event was not recorded in the graph that the stream is recording"},
			{"an event that was never recorded", recorded(func(s *Stream) error { return s.Wait(unrecorded) }), nil, ""},
			{"no function", recorded(nil), ErrInvalid, "gpu: capture: no function to record"},
			{"Add without a function", second(g.Add(nil)), ErrInvalid, "gpu: add to graph: no function to record"},
			{"Add after another graph's node", second(g.Add(zero, other.Nodes()[0])), ErrInvalid, "gpu: add to graph: after, number 0: fill of 32 bytes is a node of another graph"},
			{"Add after no node", second(g.Add(zero, nil)), ErrInvalid, "gpu: add to graph: after, number 0: node is nil"},
			{"Add after a node of no graph", second(g.Add(zero, g.Nodes()[0], new(Node))), ErrInvalid, "gpu: add to graph: after, number 1: node was not made by Capture or Add"},
			{"Add within Add", second(g.Add(func(*Stream) error { return second(g.Add(zero)) })), ErrInvalid, "gpu: add to graph: the function that Add records calls Add itself; call Add again after it returns"},
			{"a run on a closed graph", closed.Launch(s), ErrClosed, "gpu: launch graph: executable graph is closed"},
			{"a run on another device", e.Launch(foreign.DefaultStream()), ErrInvalid, "gpu: launch graph: executable graph is of another "},
			{"update by two nodes", e.Update(g.Nodes()[0], func(s *Stream) error { return errors.Join(zero(s), zero(s)) }), ErrInvalid, "gpu: update graph: fill of 32 bytes can only be replaced by one node of the same kind, not by [fill of 32 bytes fill of 32 bytes]"},
			{"update by another kind", e.Update(g.Nodes()[0], func(s *Stream) error { return Copy(s, x, y) }), ErrInvalid, "by one node of the same kind, not by [copy of 32 bytes]"},
			{"update of another graph's node", e.Update(other.Nodes()[0], zero), ErrInvalid, "gpu: update graph: fill of 32 bytes is not a node of the executable graph"},
			{"update of no node", e.Update(nil, zero), ErrInvalid, "gpu: update graph: node is nil"},
			{"update without a function", e.Update(g.Nodes()[0], nil), ErrInvalid, "gpu: update graph: no function to record"},
			{"update of a closed graph", closed.Update(g.Nodes()[0], zero), ErrClosed, "gpu: update graph: executable graph is closed"},
			{"update by a graph of more nodes", e.UpdateAll(must[*Graph](t)(d.Capture(func(s *Stream) error { return errors.Join(zero(s), zero(s)) }))), ErrInvalid, "gpu: update graph: the graph has 2 nodes, not 1"},
			{"update by a graph of other nodes", e.UpdateAll(must[*Graph](t)(d.Capture(func(s *Stream) error { return Copy(s, x, y) }))), ErrInvalid, "gpu: update graph: node 0 is copy of 32 bytes after [], not fill of 32 bytes after []"},
			{"update by another device's graph", e.UpdateAll(must[*Graph](t)(foreign.NewGraph())), ErrInvalid, "gpu: update graph: graph is of another "},
			{"a condition outside of graphs", If(s, flag, zero), ErrInvalid, "gpu: record if: the stream is not recording a graph"},
			{"a condition of two elements", recorded(func(s *Stream) error { return While(s, two, zero) }), ErrInvalid, "gpu: record while: a condition of 2 elements, want 1"},
			{"a condition without a body", recorded(func(s *Stream) error { return If(s, flag, nil) }), ErrInvalid, "gpu: record if: no function to record"},
			{"an event between a body and the rest", recorded(func(s *Stream) error {
				return errors.Join(s.Record(event), If(s, flag, func(s *Stream) error { return s.Wait(event) }))
			}), ErrInvalid, "gpu: wait for event: the event was recorded in a different graph from the one that the stream is recording"},
			{"going on after a stream outside", recorded(func(s *Stream) error { return s.After(side) }), ErrInvalid, "gpu: wait for stream: the stream is recording a graph that the other stream has not joined; first call other.After with this stream"},
			{"a body that goes on after the stream outside", recorded(func(s *Stream) error {
				return If(s, flag, func(in *Stream) error { return in.After(s) })
			}), ErrInvalid, "gpu: wait for stream: the other stream is recording a different graph; If and While bodies are separate graphs"},
			{"the time of an event in a graph", errors.Join(recorded(func(s *Stream) error { return s.Record(inside) }), second(Elapsed(inside, inside))), ErrInvalid, "gpu: elapsed time: start: the event was recorded in a graph, where the host cannot see it; record it on a stream that runs the graph"},
			{"the time to an event in a graph", second(Elapsed(outside, inside)), ErrInvalid, "gpu: elapsed time: end: the event was recorded in a graph"},
		}
		for _, test := range tests {
			switch {
			case test.is == nil && test.err != nil:
				t.Errorf("%s: %v", test.name, test.err)
			case test.is == nil:
			case test.err == nil:
				t.Errorf("%s: no error", test.name)
			case !errors.Is(test.err, test.is):
				t.Errorf("%s: %v does not match %v", test.name, test.err, test.is)
			case !strings.Contains(test.err.Error(), test.want):
				t.Errorf("%s: %q, want %q", test.name, test.err, test.want)
			}
		}
		if got := len(g.Nodes()); got != 1 {
			t.Errorf("failed calls of Add left %d nodes", got)
		}
		do(t, e.Launch(s))
		closeAll(t, e, side, event, unrecorded, inside, outside, unified, x, y, two, flag)
	})
}

func TestNilAndZeroGraphsAreErrors(t *testing.T) {
	d := must[*Device](t)(Open(Config{Device: "cpu"}))
	s := d.DefaultStream()
	_, e := captured(t, d, func(*Stream) error { return nil })
	nothing := func(*Stream) error { return nil }
	for _, device := range []*Device{nil, new(Device)} {
		areInvalid(t, map[string]error{"NewGraph": second(device.NewGraph()), "Capture": second(device.Capture(nothing))})
	}
	for _, g := range []*Graph{nil, new(Graph)} {
		if g.Device() != nil || len(g.Nodes()) != 0 {
			t.Error("a graph that was not made describes itself")
		}
		areInvalid(t, map[string]error{"Add": second(g.Add(nothing)), "Instantiate": second(g.Instantiate()), "UpdateAll": e.UpdateAll(g)})
	}
	for _, n := range []*Node{nil, new(Node)} {
		if len(n.After()) != 0 {
			t.Error("a node that was not made comes after others")
		}
		areInvalid(t, map[string]error{"Update": e.Update(n, nothing)})
	}
	for _, exec := range []*GraphExec{nil, new(GraphExec)} {
		areInvalid(t, map[string]error{"Launch": exec.Launch(s), "Update": exec.Update(nil, nothing), "UpdateAll": exec.UpdateAll(nil)})
		do(t, exec.Close())
	}
	areInvalid(t, map[string]error{"Launch on nil": e.Launch(nil), "If": If(nil, nil, nil), "While": While(nil, nil, nil)})
	do(t, e.Launch(s)) // an empty graph does nothing
	closeAll(t, e, d)
}

func TestWhatFailsInTheDriverLeavesNothingOfAGraph(t *testing.T) {
	k := NewKernel(saxpyInfo)
	for _, function := range []string{
		"cuGraphCreate", "cuGraphAddKernelNode", "cuGraphAddMemcpyNode", "cuGraphAddMemsetNode", "cuGraphAddNode",
		"cuGraphConditionalHandleCreate", "cuGraphKernelNodeSetAttribute", "cuGraphInstantiateWithFlags",
		"cuStreamCreate", "cuStreamSynchronize", "cuMemcpyHtoDAsync_v2", "cuModuleLoadDataEx",
	} {
		t.Run(function, func(t *testing.T) {
			lib := fakecuda.New(1)
			d := openFake(t, lib)
			s := d.DefaultStream()
			turn := must[*Kernel](t)(d.Compile(t.Context(), togetherSource, "turn"))
			x, y, z := upload(t, s, ramp(8)...), upload(t, s, ramp(8)...), upload(t, s, make([]int32, 32)...)
			flag := upload(t, s, uint32(0))
			do(t, k.Prepare(d))
			do(t, turn.Prepare(d))
			g := must[*Graph](t)(d.Capture(func(s *Stream) error {
				return errors.Join(
					CopyIn(s, x, ramp(8)), Zero(s, x), Copy(s, x, y), turn.Launch(s, Blocks(Dim3{X: 1}, Dim3{X: 32}), z),
					While(s, flag, func(s *Stream) error { return launchSaxpy(k, s, Linear(8), 1, 8, x, y) }),
				)
			}))
			lib.Fail(function, fakecuda.OutOfMemory)
			if err := second(g.Instantiate()); !errors.Is(err, ErrOutOfMemory) {
				t.Errorf("instantiate: %v", err)
			}
			e := must[*GraphExec](t)(g.Instantiate())
			do(t, e.Launch(s))
			closeAll(t, x, y, z, flag, e, d)
			if left := lib.Left(); left != "" {
				t.Errorf("left in the driver: %s", left)
			}
		})
	}
}

func TestAnUpdateThatFailsChangesNothing(t *testing.T) {
	k := NewKernel(saxpyInfo)
	lib := fakecuda.New(1)
	d := openFake(t, lib)
	s := d.DefaultStream()
	x, y := upload(t, s, ramp(8)...), upload(t, s, ramp(8)...)
	g, e := captured(t, d, func(s *Stream) error {
		return errors.Join(Fill(s, x, 1), Fill(s, y, 0), launchSaxpy(k, s, Linear(8), 2, 8, x, y))
	})
	// Both the change and the replacement of the graph fail.
	lib.Fail("cuGraphExecKernelNodeSetParams", fakecuda.InvalidValue)
	lib.Fail("cuGraphInstantiateWithFlags", fakecuda.OutOfMemory)
	err := e.Update(g.Nodes()[2], func(s *Stream) error { return launchSaxpy(k, s, Linear(8), 9, 8, x, y) })
	if !errors.Is(err, ErrOutOfMemory) {
		t.Errorf("update: %v", err)
	}
	do(t, e.Launch(s))
	if got := download(t, s, y)[0]; got != 2 {
		t.Errorf("after the update that failed: %v, want 2", got)
	}
	// If only the change fails, the graph is instantiated again.
	lib.Fail("cuGraphExecKernelNodeSetParams", fakecuda.InvalidValue)
	do(t, e.Update(g.Nodes()[2], func(s *Stream) error { return launchSaxpy(k, s, Linear(8), 9, 8, x, y) }))
	do(t, e.Launch(s))
	if got := download(t, s, y)[0]; got != 9 {
		t.Errorf("after the update: %v, want 9", got)
	}
	closeAll(t, e, x, y, d)
}

func TestDriversWithoutGraphsSaySo(t *testing.T) {
	for function, want := range map[string]string{
		"cuGraphInstantiateWithFlags":    "graphs need CUDA 11.4",
		"cuGraphConditionalHandleCreate": "conditional nodes need CUDA 12.3",
	} {
		lib := fakecuda.New(1)
		lib.Missing = map[string]bool{function: true}
		d := openFake(t, lib)
		flag := upload(t, d.DefaultStream(), uint32(1))
		g := must[*Graph](t)(d.Capture(func(s *Stream) error {
			return If(s, flag, func(s *Stream) error { return Zero(s, flag) })
		}))
		err := second(g.Instantiate())
		if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), want) {
			t.Errorf("without %s: %v", function, err)
		}
		closeAll(t, flag, d)
	}
}

func TestGraphsOfADeviceThatIsLost(t *testing.T) {
	k := NewKernel(saxpyInfo)
	lib := fakecuda.New(2)
	a, b := openTwo(t, lib)
	record := func(x *Buffer[float32]) func(s *Stream) error {
		return func(s *Stream) error {
			return errors.Join(CopyIn(s, x, ramp(8)), launchSaxpy(k, s, Linear(8), 1, 8, x, x))
		}
	}
	x, y := upload(t, a.DefaultStream(), ramp(8)...), upload(t, b.DefaultStream(), ramp(8)...)
	g, e := captured(t, a, record(x))
	_, other := captured(t, b, record(y))
	do(t, e.Launch(a.DefaultStream()))
	lib.Lose(0, fakecuda.LaunchFailed)
	for name, err := range map[string]error{
		"launch":      e.Launch(a.DefaultStream()),
		"update":      e.Update(g.Nodes()[1], func(s *Stream) error { return launchSaxpy(k, s, Linear(8), 2, 8, x, x) }),
		"instantiate": second(g.Instantiate()),
	} {
		if !errors.Is(err, ErrDeviceLost) {
			t.Errorf("%s: %v", name, err)
		}
	}
	do(t, other.Launch(b.DefaultStream()))
	if got := download(t, b.DefaultStream(), y)[7]; got != 14 {
		t.Errorf("the other device computes %v", got)
	}
	closeAll(t, e, x)
	if err := a.Close(); !errors.Is(err, ErrDeviceLost) {
		t.Errorf("closing the device that was lost: %v", err)
	}
	closeAll(t, other, y, b)
	checkLeft(t, lib)
}

func TestUpdateAllLeavesAloneWhatIsTheSame(t *testing.T) {
	k := NewKernel(saxpyInfo)
	lib := fakecuda.New(1)
	d := openFake(t, lib)
	s := d.DefaultStream()
	x, y := upload(t, s, ramp(32)...), upload(t, s, ramp(32)...)
	host := must[*HostBuffer[float32]](t)(AllocHost[float32](d, 32))
	record := func(factor float32) *Graph {
		return must[*Graph](t)(d.Capture(func(s *Stream) error {
			return errors.Join(
				CopyIn(s, x, ramp(32)), Fill(s, y, 1), CopyBox(s, y, Rect(0, 0, 2, 2, 4), x, Rect(1, 1, 2, 2, 5)),
				CopyInAsync(s, x, host), Copy(s, x.Slice(0, 4), y.Slice(0, 4)),
				launchSaxpy(k, s, Linear(8), factor, 8, x, y),
			)
		}))
	}
	e := must[*GraphExec](t)(record(1).Instantiate())
	// All further driver calls fail.
	for _, function := range []string{
		"cuGraphExecKernelNodeSetParams", "cuGraphExecMemcpyNodeSetParams", "cuGraphExecMemsetNodeSetParams", "cuGraphCreate",
	} {
		lib.Fail(function, fakecuda.OutOfMemory)
	}
	do(t, e.UpdateAll(record(1)))
	if err := e.UpdateAll(record(2)); !errors.Is(err, ErrOutOfMemory) {
		t.Errorf("an update that changes something: %v", err)
	}
	do(t, e.UpdateAll(record(2)))
	do(t, e.UpdateAll(record(2)))
	closeAll(t, e, host, x, y, d)
}
