package ring

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"quern.dev/kernel"
	"quern.dev/ring/internal/backoff"
	"quern.dev/ring/internal/mail"
	"quern.dev/ring/internal/rings"
)

// double is a fake device: it is the device's half of an actor's mailboxes.
type double struct {
	core    *core
	cursors []uint64
	handle  func(level int, ticket uint64, in, out []uint32) uint32
	in, out []uint32
	held    atomic.Bool
	busy    atomic.Bool
}

func (d *double) hold() error     { d.held.Store(true); return nil }
func (d *double) resume() error   { d.held.Store(false); return nil }
func (d *double) kick()           {}
func (d *double) renew(any) error { return nil }
func (d *double) room() error     { return nil }
func (d *double) handled(_ context.Context, m *mailbox, ticket uint64) (bool, error) {
	return m.handled(ticket), nil
}

// newDouble makes an actor with messages and replies of type M.
func newDouble[M any](t testing.TB, o Options) (*Actor[M, M], *double) {
	if err := o.normalise(); err != nil {
		t.Fatal(err)
	}
	rt := &Runtime{actors: map[string]*core{}, spawning: make(gate, 1), done: make(chan struct{})}
	rt.messages.open(rt, 16)
	c := newCore[M, M](rt, o)
	if err := rt.reserve(c, "double"); err != nil {
		t.Fatal(err)
	}
	rt.actors[c.name] = c
	words := int(c.inSize+3) / 4
	in, out := uintptr(8*(mail.InHeader+words)), uintptr(8*(mail.OutHeader+words))
	for level := range mail.Levels {
		slots := o.sideSlots()
		if level == mail.MiddleLevel {
			slots = o.slots()
		}
		inbox, outbox := make([]uint64, slots*int(in)/8), make([]uint64, slots*int(out)/8)
		m := newMailbox(c, rings.Inbox{At: unsafe.Pointer(&inbox[0]), Step: in, Size: c.inSize, Mask: uint64(slots - 1), Shared: rings.RaceEnabled},
			rings.Outbox{At: unsafe.Pointer(&outbox[0]), Step: out, Size: c.outSize, Mask: uint64(slots - 1)}, 0)
		m.source = level
		c.mailboxes = append(c.mailboxes, m)
	}
	d := &double{core: c, cursors: make([]uint64, mail.Levels), in: make([]uint32, words), out: make([]uint32, words)}
	d.handle = func(_ int, _ uint64, in, out []uint32) uint32 {
		for i, w := range in {
			out[i] = w + 1
		}
		return uint32(kernel.Reply)
	}
	c.server = d
	if !o.Inactive {
		c.setState(Active)
	} else {
		c.setState(Launched)
	}
	return newActor[M, M](c), d
}

// step handles at most n messages of the highest level that has any, and returns
// their number.
func (d *double) step(n int) int {
	d.busy.Store(true)
	defer d.busy.Store(false)
	if d.held.Load() || !d.core.runs() {
		return 0
	}
	for level := len(d.cursors) - 1; level >= 0; level-- {
		if k := d.serve(level, n); k > 0 {
			return k
		}
	}
	return 0
}

// wordsOf returns the words of a slot.
func wordsOf(ring unsafe.Pointer, step uintptr, slot uint64) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Add(ring, uintptr(slot)*step)), step/8)
}

func (d *double) serve(level, n int) (done int) {
	m := d.core.mailboxes[level]
	for ; done < n; done++ {
		t := d.cursors[level]
		in, want := wordsOf(m.in.At, m.in.Step, t&m.mask), uint64(uint32(t)+1)<<32
		if atomic.LoadUint64(&in[0])&^(1<<32-1) != want {
			break
		}
		for i := range d.in {
			v := atomic.LoadUint64(&in[mail.InHeader+i])
			if v&^(1<<32-1) != want {
				return done
			}
			d.in[i] = uint32(v)
		}
		outcome := d.handle(level, t, d.in, d.out)
		out := wordsOf(m.out.At, m.out.Step, t&m.mask)
		for i := range mail.OutHeader {
			v := want
			if i == mail.Outcome {
				v |= uint64(outcome)
			}
			atomic.StoreUint64(&out[i], v)
		}
		for i, w := range d.out {
			atomic.StoreUint64(&out[mail.OutHeader+i], want|uint64(w))
		}
		d.cursors[level]++
	}
	return done
}

// run handles messages until the test ends.
func (d *double) run(t testing.TB) {
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
			}
			wait := backoff.Yielding()
			for d.step(32) == 0 && !wait.Sleeps() {
				wait.Pause()
				select {
				case <-stop:
					return
				default:
				}
			}
		}
	}()
	t.Cleanup(func() { close(stop); <-stopped })
}

type line [16]uint32

// The host's part of a message, in batches: sending it and receiving the reply.
func BenchmarkHostBatch(b *testing.B) {
	for _, bench := range []struct {
		name  string
		batch int
	}{{"batch=1", 1}, {"batch=32", 32}, {"batch=256", 256}} {
		b.Run(bench.name, func(b *testing.B) {
			a, d := newDouble[line](b, Options{})
			ctx := context.Background()
			msgs, replies := make([]line, bench.batch), make([]line, bench.batch)
			b.ReportAllocs()
			host, n := time.Duration(0), 0
			for b.Loop() {
				begin := time.Now()
				if _, err := a.SendBatch(ctx, msgs); err != nil {
					b.Fatal(err)
				}
				sent := time.Now()
				for d.step(1<<20) > 0 {
				}
				host += sent.Sub(begin)
				begin = time.Now()
				k, err := a.ReceiveBatch(ctx, replies)
				if k != bench.batch || err != nil {
					b.Fatal(k, err)
				}
				host += time.Since(begin)
				n += k
			}
			b.ReportMetric(float64(host.Nanoseconds())/float64(n), "host-ns/msg")
		})
	}
}

// The same with batches larger than the rings.
func BenchmarkHostOverflow(b *testing.B) {
	a, d := newDouble[line](b, Options{})
	a.core.moving.Store(true)
	ctx := context.Background()
	msgs, replies := make([]line, 3000), make([]line, 3000)
	b.ReportAllocs()
	host, n := time.Duration(0), 0
	for b.Loop() {
		begin := time.Now()
		if _, err := a.SendBatch(ctx, msgs); err != nil {
			b.Fatal(err)
		}
		host += time.Since(begin)
		for got := 0; got < len(msgs); {
			for d.step(1<<20) > 0 {
			}
			begin = time.Now()
			k, err := a.ReceiveBatch(ctx, replies)
			if err != nil {
				b.Fatal(err)
			}
			host += time.Since(begin)
			got += k
			n += k
		}
	}
	b.ReportMetric(float64(host.Nanoseconds())/float64(n), "host-ns/msg")
}

// The same with a device that works asynchronously.
func BenchmarkPipeline(b *testing.B) {
	a, d := newDouble[line](b, Options{})
	d.run(b)
	ctx := context.Background()
	const batch = 128
	msgs, replies := make([]line, batch), make([]line, batch)
	b.ReportAllocs()
	inside, n := 0, 0
	for b.Loop() {
		if _, err := a.SendBatch(ctx, msgs); err != nil {
			b.Fatal(err)
		}
		for inside += batch; inside > batch; {
			k, err := a.ReceiveBatch(ctx, replies)
			if err != nil {
				b.Fatal(err)
			}
			inside -= k
			n += k
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/msg")
}

func BenchmarkHostAsk(b *testing.B) {
	a, d := newDouble[line](b, Options{})
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		p, err := asks(ctx, a, line{})
		if err != nil {
			b.Fatal(err)
		}
		d.step(1)
		if _, err := a.collect(ctx, p); err != nil {
			b.Fatal(err)
		}
	}
}

// poll polls for a reply, and calls meanwhile beside that.
func poll(t *testing.T, a *Actor[numbered, numbered], meanwhile func()) {
	t.Helper()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	polled := make(chan error)
	go func() {
		_, err := a.Receive(cancelled)
		polled <- err
	}()
	for range 1000 {
		runtime.Gosched()
	}
	meanwhile()
	if err := <-polled; err != nil {
		t.Error(err)
	}
}

func TestPollsFindRepliesWhileAnotherGoroutineTakesSome(t *testing.T) {
	a, d := newDouble[numbered](t, Options{})
	for range 2 {
		if err := a.Send(t.Context(), numbered{}); err != nil {
			t.Fatal(err)
		}
	}
	if d.step(2) != 2 {
		t.Fatal("nothing to handle")
	}
	c := a.core
	c.receiving.lock()
	poll(t, a, c.receiving.unlock)

	c.receiving.lock()
	c.receiving.waits.Store(true)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.Receive(cancelled); !errors.Is(err, context.Canceled) {
		t.Errorf("beside a Receive that waits: %v", err)
	}
	c.receiving.unlock()
	poll(t, a, func() {})
}

func TestPollsFindRepliesToMessagesThatAreBeingSent(t *testing.T) {
	a, d := newDouble[numbered](t, Options{})
	c := a.core
	m := c.mailbox(DefaultPriority)
	ticket, _ := m.claim(1, false)
	m.put(ticket, &envelope{priority: DefaultPriority}, unsafe.Pointer(&numbered{}))
	if d.step(1) != 1 {
		t.Fatal("nothing to handle")
	}
	poll(t, a, func() { m.mark(ticket, sent) })
}
