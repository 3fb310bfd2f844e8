package gpu

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
)

// captured captures and instantiates a graph.
func captured(t testing.TB, d *Device, record func(s *Stream) error) (*Graph, *GraphExec) {
	t.Helper()
	g := must[*Graph](t)(d.Capture(record))
	return g, must[*GraphExec](t)(g.Instantiate())
}

func TestACapturedGraphReplaysItsWork(t *testing.T) {
	k := NewKernel(saxpyInfo)
	everyDevice(t, func(t *testing.T, d *Device) {
		const n = 100
		s, other := d.DefaultStream(), must[*Stream](t)(d.NewStream(context.Background()))
		x, y, z := upload(t, s, ramp(n)...), upload(t, s, ramp(n)...), upload(t, s, make([]float32, n)...)
		wide := upload(t, s, make([][3]uint16, n)...)
		host := ramp(n)
		g, e := captured(t, d, func(s *Stream) error {
			return errors.Join(
				CopyIn(s, x, host),
				Fill(s, y, 1),
				Fill(s, wide, [3]uint16{1, 2, 3}),
				launchSaxpy(k, s, Linear(n), 2, n, x, y),
				launchSaxpy(k, s, Linear(n), 3, n, x, y),
				Copy(s, z, y),
			)
		})
		if got := download(t, s, z)[1]; got != 0 {
			t.Errorf("recording did the work: %v", got)
		}
		clear(host) // the graph has the elements of that time
		for _, stream := range []*Stream{s, other, s} {
			do(t, Zero(stream, z))
			do(t, Zero(stream, x))
			do(t, Zero(stream, wide))
			do(t, e.Launch(stream))
			for i, v := range download(t, stream, z) {
				if want := float32(1 + 5*i); v != want {
					t.Fatalf("element %d is %v, want %v", i, v, want)
				}
			}
			for i, v := range download(t, stream, wide) {
				if v != [3]uint16{1, 2, 3} {
					t.Fatalf("filled element %d is %v", i, v)
				}
			}
		}
		var what []string
		for _, n := range g.Nodes() {
			what = append(what, n.String())
		}
		if got, want := strings.Join(what, ", "), "write of 400 bytes, fill of 400 bytes, fill of 600 bytes, kernel saxpy, kernel saxpy, copy of 400 bytes"; got != want {
			t.Errorf("nodes: %s\nwant   %s", got, want)
		}
		closeAll(t, e, e, other, x, y, z, wide)
	})
}

func TestStreamsJoinAGraphThroughEvents(t *testing.T) {
	k := NewKernel(saxpyInfo)
	everyDevice(t, func(t *testing.T, d *Device) {
		const n = 8
		s, side := d.DefaultStream(), must[*Stream](t)(d.NewStream(context.Background()))
		fork, join := must[*Event](t)(d.NewEvent()), must[*Event](t)(d.NewEvent())
		x, y, z := upload(t, s, ramp(n)...), upload(t, s, ramp(n)...), upload(t, s, ramp(n)...)
		g, e := captured(t, d, func(s *Stream) error {
			return errors.Join(
				Fill(s, x, 1),
				s.Record(fork), side.Wait(fork),
				launchSaxpy(k, s, Linear(n), 2, n, x, y),
				launchSaxpy(k, side, Linear(n), 3, n, x, z),
				side.Record(join), s.Wait(join),
				launchSaxpy(k, s, Linear(n), 1, n, y, z),
			)
		})
		after := func(n *Node) (list []int) {
			for _, m := range n.After() {
				list = append(list, slices.Index(g.Nodes(), m))
			}
			return list
		}
		var edges [][]int
		for _, n := range g.Nodes() {
			edges = append(edges, after(n))
		}
		if want := [][]int{nil, {0}, {0}, {1, 2}}; !slices.EqualFunc(edges, want, slices.Equal[[]int]) {
			t.Errorf("the nodes come after %v, want %v", edges, want)
		}
		do(t, launchSaxpy(k, side, Linear(n), 0, n, x, x)) // the stream has left the graph
		do(t, side.Synchronize(context.Background()))
		do(t, e.Launch(s))
		for i, v := range download(t, s, z) {
			if want := float32(2*i + 5); v != want {
				t.Fatalf("element %d is %v, want %v", i, v, want)
			}
		}
		if err := fork.Synchronize(context.Background()); !errors.Is(err, ErrInvalid) {
			t.Errorf("a wait of the host for an event of a graph: %v", err)
		}
		if err := side.Wait(fork); !errors.Is(err, ErrInvalid) {
			t.Errorf("a wait of a stream for an event of a graph that is recorded: %v", err)
		}
		do(t, s.Record(fork))
		do(t, side.Wait(fork))
		do(t, fork.Synchronize(context.Background()))
		closeAll(t, e, side, fork, join, x, y, z)
	})
}

func TestAGraphIsPutTogetherNodeByNode(t *testing.T) {
	k := NewKernel(saxpyInfo)
	everyDevice(t, func(t *testing.T, d *Device) {
		const n = 8
		s := d.DefaultStream()
		x, y := upload(t, s, ramp(n)...), upload(t, s, ramp(n)...)
		g := must[*Graph](t)(d.NewGraph())
		one := must[*Node](t)(g.Add(func(s *Stream) error { return Fill(s, x, 1) }))
		two := must[*Node](t)(g.Add(func(s *Stream) error { return Fill(s, y, 2) }))
		sum := must[*Node](t)(g.Add(func(s *Stream) error { return launchSaxpy(k, s, Linear(n), 10, n, x, y) }, one, two))
		if got := sum.After(); !slices.Equal(got, []*Node{one, two}) {
			t.Errorf("the launch comes after %v", got)
		}
		if one.Kind() != FillNode || sum.Kind() != KernelNode || sum.String() != "kernel saxpy" {
			t.Errorf("kinds %v, %v (%v)", one.Kind(), sum.Kind(), sum)
		}
		e := must[*GraphExec](t)(g.Instantiate())
		for range 3 {
			do(t, e.Launch(s))
			if got := download(t, s, y); got[0] != 12 || got[n-1] != 12 {
				t.Fatalf("got %v, want 12", got)
			}
		}
		closeAll(t, e, x, y)
	})
}

func TestNodesOfAnExecutableGraphAreUpdated(t *testing.T) {
	k := NewKernel(saxpyInfo)
	everyDevice(t, func(t *testing.T, d *Device) {
		const n = 8
		s := d.DefaultStream()
		x, y, z := upload(t, s, ramp(n)...), upload(t, s, ramp(n)...), upload(t, s, ramp(n)...)
		record := func(value, factor float32, from, to *Buffer[float32]) func(s *Stream) error {
			return func(s *Stream) error {
				return errors.Join(
					Fill(s, from, value),
					CopyIn(s, to, []float32{value, value, value, value, value, value, value, value}),
					launchSaxpy(k, s, Linear(n), factor, n, from, to),
				)
			}
		}
		g, e := captured(t, d, record(1, 2, x, y))
		expect := func(b *Buffer[float32], want float32) {
			t.Helper()
			do(t, e.Launch(s))
			if got := download(t, s, b); got[0] != want || got[n-1] != want {
				t.Fatalf("got %v, want %v", got, want)
			}
		}
		expect(y, 3)
		nodes := g.Nodes()
		do(t, e.Update(nodes[2], func(s *Stream) error { return launchSaxpy(k, s, Linear(n), 4, n, x, y) }))
		expect(y, 5)
		do(t, e.Update(nodes[0], func(s *Stream) error { return Fill(s, x, 3) }))
		expect(y, 13)
		do(t, e.Update(nodes[1], func(s *Stream) error { return Copy(s, y, x) }))
		expect(y, 15)
		do(t, e.UpdateAll(must[*Graph](t)(d.Capture(record(2, 5, x, z)))))
		expect(z, 12)
		if err := e.Update(nodes[0], func(s *Stream) error { return Fill(s, x, 3) }); !errors.Is(err, ErrInvalid) {
			t.Errorf("update of a node of the graph before: %v", err)
		}
		closeAll(t, e, x, y, z)
	})
}

func TestAGraphHoldsTheBuffersThatItUses(t *testing.T) {
	k := NewKernel(saxpyInfo)
	everyDevice(t, func(t *testing.T, d *Device) {
		s := d.DefaultStream()
		x, y := upload(t, s, ramp(8)...), upload(t, s, ramp(8)...)
		g, e := captured(t, d, func(s *Stream) error { return launchSaxpy(k, s, Linear(8), 1, 8, x, y) })
		do(t, x.Close())
		if err := second(g.Instantiate()); !errors.Is(err, ErrClosed) {
			t.Errorf("a graph with a closed buffer was instantiated: %v", err)
		}
		do(t, e.Launch(s))
		if got := download(t, s, y)[7]; got != 14 {
			t.Errorf("got %v, want 14", got)
		}
		do(t, y.Close())
		do(t, e.Launch(s))
		do(t, e.Close())
		if err := e.Launch(s); !errors.Is(err, ErrClosed) {
			t.Errorf("a closed graph ran: %v", err)
		}
	})
}

func TestAnOpenGraphIsClosedWithItsDevice(t *testing.T) {
	k := NewKernel(saxpyInfo)
	everyDevice(t, func(t *testing.T, d *Device) {
		s := d.DefaultStream()
		x := upload(t, s, ramp(8)...)
		_, e := captured(t, d, func(s *Stream) error { return launchSaxpy(k, s, Linear(8), 1, 8, x, x) })
		do(t, e.Launch(s))
		closeAll(t, x, d)
		if err := e.Launch(s); !errors.Is(err, ErrClosed) {
			t.Errorf("launch after the device was closed: %v", err)
		}
	})
}

func TestGraphsWithinGraphs(t *testing.T) {
	k := NewKernel(saxpyInfo)
	everyDevice(t, func(t *testing.T, d *Device) {
		const n = 8
		s := d.DefaultStream()
		x, y := upload(t, s, ramp(n)...), upload(t, s, ramp(n)...)
		_, inner := captured(t, d, func(s *Stream) error { return launchSaxpy(k, s, Linear(n), 1, n, x, y) })
		g, outer := captured(t, d, func(s *Stream) error {
			return errors.Join(Fill(s, x, 1), Fill(s, y, 0), inner.Launch(s), inner.Launch(s), inner.Launch(s))
		})
		do(t, inner.Close())
		for range 2 {
			do(t, outer.Launch(s))
			if got := download(t, s, y); got[0] != 3 || got[n-1] != 3 {
				t.Fatalf("got %v, want 3", got)
			}
		}
		if kind := g.Nodes()[2].Kind(); kind != ChildNode {
			t.Errorf("the third node is a %v", kind)
		}
		closeAll(t, outer, x, y)
	})
}

// down counts down: x[0]--, y[0] += 2.
const downSource = `package p

import "quern.dev/kernel"

//quern:kernel
func down(t kernel.Thread, x []uint32, y []int32) {
	x[0]--
	y[0] += 2
}
`

func TestConditionsAreReadWhenTheGraphRuns(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		ctx := context.Background()
		s := d.DefaultStream()
		down := must[*Kernel](t)(d.Compile(t.Context(), downSource, "down"))
		one := Blocks(Dim3{X: 1}, Dim3{X: 1})
		x, y, rounds := upload(t, s, uint32(0)), upload(t, s, int32(0)), upload(t, s, uint32(0))
		g, e := captured(t, d, func(s *Stream) error {
			step := func(s *Stream) error { return down.Launch(s, one, x, y) }
			return errors.Join(
				If(s, rounds, func(s *Stream) error { return Fill(s, y, 100) }),
				While(s, x, step),
			)
		})
		for _, c := range []struct {
			x, rounds uint32
			want      int32
		}{{0, 0, 1}, {1, 0, 3}, {5, 0, 11}, {0, 7, 100}, {3, 1, 106}} {
			do(t, CopyIn(s, x, []uint32{c.x}))
			do(t, CopyIn(s, y, []int32{1}))
			do(t, CopyIn(s, rounds, []uint32{c.rounds}))
			do(t, e.Launch(s))
			if got := download(t, s, y)[0]; got != c.want {
				t.Errorf("counting down from %d, condition %d: %d, want %d", c.x, c.rounds, got, c.want)
			}
		}
		if nodes := g.Nodes(); nodes[0].Kind() != IfNode || nodes[1].Kind() != WhileNode || nodes[1].String() != "while of 1 node" {
			t.Errorf("nodes: %v", nodes)
		}
		// A failing kernel ends the loop that it would have ended otherwise.
		empty := y.Slice(0, 0)
		_, failing := captured(t, d, func(s *Stream) error {
			return While(s, rounds, func(s *Stream) error { return down.Launch(s, one, x, empty) })
		})
		do(t, failing.Launch(s))
		if _, ok := errors.AsType[*KernelError](s.Synchronize(ctx)); !ok {
			t.Error("the fault in the loop was not reported")
		}
		closeAll(t, e, failing, x, y, rounds)
	})
}

func TestManyUpdatesLetGoOfBuffers(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		s := d.DefaultStream()
		out := upload(t, s, 0)
		x := upload(t, s, -1)
		g, e := captured(t, d, func(s *Stream) error { return Copy(s, out, x) })
		var all []*Buffer[int]
		for i := range 2 * mostPast {
			next := upload(t, s, i)
			do(t, e.Launch(s))
			do(t, e.Update(g.Nodes()[0], func(s *Stream) error { return Copy(s, out, next) }))
			do(t, x.Close())
			x, all = next, append(all, x)
		}
		for i, b := range all[:mostPast-1] {
			if !b.mem.lease.Gone() {
				t.Fatalf("buffer %d is held after %d updates", i, len(all))
			}
		}
		do(t, e.Launch(s))
		if got := download(t, s, out)[0]; got != 2*mostPast-1 {
			t.Errorf("got %d", got)
		}
		closeAll(t, e, x, out)
	})
}

func TestGraphsAreSafeForConcurrentUse(t *testing.T) {
	k := NewKernel(saxpyInfo)
	everyDevice(t, func(t *testing.T, d *Device) {
		ctx := context.Background()
		x, y := upload(t, d.DefaultStream(), ramp(8)...), upload(t, d.DefaultStream(), ramp(8)...)
		g, e := captured(t, d, func(s *Stream) error {
			return errors.Join(Fill(s, x, 1), Fill(s, y, 0), launchSaxpy(k, s, Linear(8), 2, 8, x, y))
		})
		var group sync.WaitGroup
		for i := range 4 {
			s := must[*Stream](t)(d.NewStream(ctx))
			group.Go(func() {
				for range 20 {
					err := e.Update(g.Nodes()[2], func(s *Stream) error { return launchSaxpy(k, s, Linear(8), float32(i), 8, x, y) })
					if err := errors.Join(err, e.Launch(s), s.Synchronize(ctx)); err != nil {
						t.Error(err)
						return
					}
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if got := download(t, d.DefaultStream(), y)[0]; got < 0 || got > 3 {
			t.Errorf("got %v", got)
		}
		closeAll(t, e, x, y)
	})
}

func TestStreamsJoinAGraphByGoingOnAfterAnother(t *testing.T) {
	k := NewKernel(saxpyInfo)
	everyDevice(t, func(t *testing.T, d *Device) {
		s, side := d.DefaultStream(), must[*Stream](t)(d.NewStream(context.Background()))
		x, y := upload(t, s, ramp(4)...), upload(t, s, ramp(4)...)
		g, e := captured(t, d, func(s *Stream) error {
			return errors.Join(
				Fill(s, x, 1),
				side.After(s), Fill(side, y, 2),
				s.After(side), launchSaxpy(k, s, Linear(4), 3, 4, x, y),
			)
		})
		if got := g.Nodes()[2].After(); len(got) != 2 {
			t.Errorf("the launch comes after %v", got)
		}
		do(t, e.Launch(side))
		if got := download(t, side, y)[0]; got != 5 {
			t.Errorf("got %v, want 5", got)
		}
		closeAll(t, e, side, x, y)
	})
}

// TestRandomWorkIsTheSameInAGraph does random work on streams that fork and join, and
// the same work in a graph.
func TestRandomWorkIsTheSameInAGraph(t *testing.T) {
	k := NewKernel(saxpyInfo)
	everyDevice(t, func(t *testing.T, d *Device) {
		const n = 64
		main := d.DefaultStream()
		side := must[*Stream](t)(d.NewStream(context.Background()))
		// Between a fork and a join, each stream has its own buffers.
		var buffers [6]*Buffer[float32]
		for i := range buffers {
			buffers[i] = upload(t, main, ramp(n)...)
		}
		for seed := range uint64(20) {
			work := func(s *Stream) error {
				r := rand.New(rand.NewPCG(seed, 1))
				some := func(s *Stream, own []*Buffer[float32]) error {
					x, y := own[r.IntN(len(own))], own[r.IntN(len(own))]
					lo := r.IntN(n / 2)
					hi := lo + 1 + r.IntN(n/2)
					switch r.IntN(6) {
					case 0:
						return Fill(s, x.Slice(lo, hi), float32(r.IntN(3)))
					case 1:
						return CopyIn(s, x.Slice(lo, hi), ramp(hi-lo))
					case 2:
						if x != y {
							return CopyBox(s, x, Rect(1, 2, 4, 3, 8), y, Rect(2, 1, 4, 3, 9))
						}
						return Zero(s, x.Slice(0, lo))
					case 3:
						if x != y {
							return Copy(s, x.Slice(lo, hi), y.Slice(lo, hi))
						}
						return Fill(s, x, 1)
					default:
						return launchSaxpy(k, s, Linear(n), 0.25, hi, x, y)
					}
				}
				for range 4 {
					for range 3 {
						if err := some(s, buffers[:]); err != nil {
							return err
						}
					}
					if err := side.After(s); err != nil {
						return err
					}
					for range 4 {
						if err := errors.Join(some(s, buffers[:3]), some(side, buffers[3:])); err != nil {
							return err
						}
					}
					if err := s.After(side); err != nil {
						return err
					}
				}
				return nil
			}
			contents := func() (all []float32) {
				for _, b := range buffers {
					all = append(all, download(t, main, b)...)
				}
				return all
			}
			reset := func() {
				for i, b := range buffers {
					do(t, Fill(main, b, float32(i)))
				}
			}
			reset()
			do(t, work(main))
			want := contents()
			_, e := captured(t, d, work)
			for range 2 {
				reset()
				do(t, e.Launch(main))
				if got := contents(); !slices.Equal(got, want) {
					t.Fatalf("seed %d: the graph computes\n%v\nthe streams\n%v", seed, got, want)
				}
			}
			do(t, e.Close())
		}
		closeAll(t, side)
		for _, b := range buffers {
			do(t, b.Close())
		}
	})
}

func TestADeviceIsWaitedForWhileAStreamRecords(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		side := must[*Stream](t)(d.NewStream(context.Background()))
		x := upload(t, side, 1)
		_, e := captured(t, d, func(s *Stream) error {
			return errors.Join(Fill(s, x, 2), side.After(s), Fill(side, x, 3), d.Synchronize(context.Background()))
		})
		if got := download(t, side, x)[0]; got != 1 {
			t.Errorf("got %d", got)
		}
		closeAll(t, e, side, x)
	})
}

// TestNodesAreAddedConcurrently adds nodes from goroutines that wait for each other
// while they record. Each adds two nodes, after one common node.
func TestNodesAreAddedConcurrently(t *testing.T) {
	k := NewKernel(saxpyInfo)
	everyDevice(t, func(t *testing.T, d *Device) {
		const adders, n = 8, 8
		s := d.DefaultStream()
		ones := upload(t, s, ramp(n)...)
		var sums [adders]*Buffer[float32]
		for i := range sums {
			sums[i] = upload(t, s, ramp(n)...)
		}
		g := must[*Graph](t)(d.NewGraph())
		first := must[*Node](t)(g.Add(func(s *Stream) error { return Fill(s, ones, 1) }))
		var recording, group sync.WaitGroup
		recording.Add(adders)
		var nodes [adders]*Node
		for i := range adders {
			group.Go(func() {
				var err error
				nodes[i], err = g.Add(func(s *Stream) error {
					recording.Done()
					recording.Wait() // all are recording now
					return errors.Join(Fill(s, sums[i], float32(i)), launchSaxpy(k, s, Linear(n), 10, n, ones, sums[i]))
				}, first)
				if err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		all := g.Nodes()
		if len(all) != 1+2*adders {
			t.Fatalf("%d nodes, want %d", len(all), 1+2*adders)
		}
		for i, last := range nodes {
			at := slices.Index(all, last)
			if at < 2 || !slices.Equal(last.After(), all[at-1:at]) || !slices.Equal(all[at-1].After(), all[:1]) {
				t.Errorf("adder %d: node %d is after %v", i, at, last.After())
			}
		}
		join := must[*Node](t)(g.Add(func(*Stream) error { return nil }, nodes[:]...))
		if got := join.After(); len(got) != adders {
			t.Errorf("the last comes after %v", got)
		}
		e := must[*GraphExec](t)(g.Instantiate())
		do(t, e.Launch(s))
		for i, sum := range sums {
			if got := download(t, s, sum)[n-1]; got != float32(10+i) {
				t.Errorf("adder %d computes %v, want %d", i, got, 10+i)
			}
			closeAll(t, sum)
		}
		closeAll(t, e, ones)
	})
}
