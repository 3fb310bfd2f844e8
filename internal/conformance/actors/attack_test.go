package actors

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"quern.dev/gpu"
	"quern.dev/internal/driver/cuda"
	"quern.dev/internal/driver/cuda/fakecuda"
	"quern.dev/kernel"
	"quern.dev/ring"
)

// The attack suite does everything at once, at random: messages of all kinds, failures,
// changes of actors' lives, full queues, contexts that end, collections of garbage, and
// closing in the middle of it. Then it accounts for every single message.
//
//	go test -run TestAttack -timeout 30m ./internal/conformance/actors -args -attack 10m
//	go test -run TestAttack ./internal/conformance/actors -args -attack.seed 4711
var (
	attackTime = flag.Duration("attack", 500*time.Millisecond, "how long TestAttack attacks each device")
	attackSeed = flag.Uint64("attack.seed", 0, "seed of the only round of TestAttack, 0 for many rounds")
)

func TestAttack(t *testing.T) {
	configs := map[string]gpu.Config{}
	for _, b := range backends {
		configs[string(b)] = gpu.Config{Require: b}
	}
	if slowness == 1 { // the host copies memory of the double while actors write it
		configs["double"] = gpu.Config{Device: "cuda:0"}
	}
	for _, name := range slices.Sorted(maps.Keys(configs)) {
		b := configs[name]
		t.Run(name, func(t *testing.T) {
			if name == "double" {
				lib := fakecuda.New(1)
				lib.Blocks = 32
				t.Cleanup(cuda.Substitute(lib))
			}
			if *attackSeed != 0 {
				attack(t, b, *attackSeed)
				return
			}
			rounds, sum := 0, ring.Stats{}
			for begin := time.Now(); time.Since(begin) < *attackTime && !t.Failed(); rounds++ {
				s := attack(t, b, rand.Uint64())
				sum.Accepted, sum.Handled, sum.Failed, sum.Expired, sum.Dropped = sum.Accepted+s.Accepted, sum.Handled+s.Handled, sum.Failed+s.Failed, sum.Expired+s.Expired, sum.Dropped+s.Dropped
				sum.Restarts, sum.Rejected = sum.Restarts+s.Restarts, sum.Rejected+s.Rejected
			}
			t.Logf("%d rounds with %d messages: %d handled, %d failed, %d expired, %d dropped; %d rejected; %d restarts", rounds, sum.Accepted, sum.Handled, sum.Failed, sum.Expired, sum.Dropped, sum.Rejected, sum.Restarts)
		})
	}
}

// attack is one round. It returns what the runtime has counted.
func attack(t *testing.T, b gpu.Config, seed uint64) ring.Stats {
	dev, err := gpu.Open(b)
	if err != nil {
		t.Skipf("no %s device: %v; go tool quern doctor says what to do", b.Require, err)
	}
	defer func() {
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("the seed is %d: run it again with -args -attack.seed %d", seed, seed)
		}
	}()
	r := rand.New(rand.NewPCG(seed, 0))
	rt, err := ring.New(dev, ring.Config{DeadLetters: 1 << 17, HandlerTimeout: time.Minute, Bounded: r.IntN(3) == 0, Idle: 100 * time.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	f := &front{t: t, rt: rt, stop: make(chan struct{}), random: r}
	parcels, indices := parcelVictim(f), indexVictim(f)
	assault(f, parcels)
	assault(f, indices)
	f.crossfire()
	f.goes(func(r *rand.Rand) {
		time.Sleep(time.Duration(r.IntN(2000)) * time.Microsecond)
		runtime.GC()
	})

	time.Sleep(time.Duration(20+r.IntN(130)) * time.Millisecond)
	underLoad := r.IntN(2) == 0
	var left *ring.LeftError
	if underLoad {
		err = rt.Close()
	}
	close(f.stop)
	if !underLoad {
		parcels.end()
		indices.end()
		err = rt.Close()
	}
	if err != nil && !errors.As(err, &left) {
		t.Errorf("closed: %v", err)
	}
	f.done.Wait()
	parcels.account()
	indices.account()
	for l := range rt.DeadLetters().All() {
		switch body := l.Body.(type) {
		case parcel:
			parcels.letter(body.ID, l)
		case [4]int32:
			indices.letter(indices.id(body), l)
		}
	}
	parcels.judge()
	indices.judge()
	if n := rt.DeadLetters().Overflow(); n != 0 {
		t.Errorf("%d dead letters were not kept", n)
	}
	addsUp(t, rt)
	s := rt.Stats()
	if s.Queued != 0 {
		t.Errorf("after Close: %+v", s)
	}
	return s
}

// front is what the attackers of a round share.
type front struct {
	t    *testing.T
	rt   *ring.Runtime
	stop chan struct{}
	done sync.WaitGroup

	mu     sync.Mutex
	random *rand.Rand
}

// goes repeats f on a goroutine until the attack is over.
func (f *front) goes(do func(r *rand.Rand)) {
	f.mu.Lock()
	r := rand.New(rand.NewPCG(f.random.Uint64(), 1))
	f.mu.Unlock()
	f.done.Go(func() {
		for {
			select {
			case <-f.stop:
				return
			default:
				do(r)
			}
		}
	})
}

// context returns a random one.
func (f *front) context(r *rand.Rand) (context.Context, context.CancelFunc) {
	switch r.IntN(4) {
	case 0:
		return context.WithTimeout(context.Background(), time.Duration(r.IntN(1000))*time.Microsecond)
	case 1:
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(time.Duration(r.IntN(500))*time.Microsecond, cancel)
		return ctx, cancel
	case 2:
		return context.WithTimeout(context.Background(), time.Second)
	}
	return context.Background(), func() {}
}

// crossfire has actors on the device send to each other, and to one in Go.
func (f *front) crossfire() {
	ctx := context.Background()
	sum, err := ring.SpawnHost(ctx, f.rt, func(_ context.Context, _ *ring.HostContext, in, _ *int64) kernel.Action {
		if *in%7 == 0 {
			panic("asked to")
		}
		return kernel.Done
	}, ring.Options{MaxRestarts: math.MaxInt, Supervisor: func(ring.Failure) ring.Decision { return ring.Resume }})
	if err != nil {
		f.t.Fatal(err)
	}
	flaw, err := SpawnFlawed(ctx, f.rt, ring.Options{State: Flaw{Number: 11, Thread: -1}, MaxRestarts: math.MaxInt, Supervisor: func(ring.Failure) ring.Decision { return ring.Resume }})
	if err != nil {
		f.t.Fatal(err)
	}
	for range 2 {
		s, err := SpawnScatter(ctx, f.rt, ring.Options{})
		if err != nil {
			f.t.Fatal(err)
		}
		f.goes(func(r *rand.Rand) {
			b := Burst{To: sum.Ref(), First: int64(r.IntN(20)), Count: int32(r.IntN(60))}
			if r.IntN(2) == 0 {
				b.To = flaw.Ref()
			}
			var state *ring.StateError
			if n, err := s.Ask(ctx, b); err != nil && !errors.As(err, &state) || err == nil && n != b.Count && n != -1 {
				f.t.Errorf("scatter: %d, %v", n, err)
			}
		})
	}
}

// victim is actors of one kind that are attacked.
type victim[In, Out any] struct {
	*front
	name    string
	spawn   func(o ring.Options) (*ring.Actor[In, Out], error)
	message func(id uint64) In
	id      func(In) uint64
	replied func(Out) uint64                    // the ID of the message that a reply is to
	fails   func(id uint64) bool                // whether the handler does on it
	silent  func(id uint64) bool                // whether it gives no reply
	own     func(err *ring.HandlerError) uint64 // the ID of the message that it failed on
	counts  bool                                // whether the handler counts handled

	next     atomic.Uint64
	nameless atomic.Int64 // failures that Receive has returned without a word of the message
	records  []record

	lives   sync.Mutex
	current []*ring.Actor[In, Out]
	all     []*ring.Actor[In, Out]
}

// record is what became of a message.
type record struct {
	how               atomic.Uint32 // the call, and whether its error is nil; 0 as long as nobody knows
	err               error         // of the call; how is stored after it
	handled           atomic.Int32  // by the handler, without a failure
	received, failed  atomic.Int32  // by Receive: replies and errors
	letters, failures atomic.Int32  // dead letters, and those of failures
}

const (
	unused = iota
	wasAsked
	wasTold
	wasSent
)

const mostMessages = 1 << 18

// unknown is the ID of a message that an error does not tell.
const unknown = math.MaxUint64

func (v *victim[In, Out]) options(r *rand.Rand) ring.Options {
	decisions := []ring.Decision{ring.Resume, ring.Resume, ring.Renew, ring.Leave, ring.End}
	decision := decisions[r.IntN(len(decisions))]
	return ring.Options{
		Capacity:    []int{1, 2, 8, 64, 300, 4096}[r.IntN(6)],
		Full:        ring.Policy(r.IntN(3)),
		Inactive:    r.IntN(8) == 0,
		MaxRestarts: math.MaxInt,
		Supervisor:  func(ring.Failure) ring.Decision { return decision },
	}
}

// life makes a new actor in place of one.
func (v *victim[In, Out]) life(i int, r *rand.Rand) {
	a, err := v.spawn(v.options(r))
	if err != nil {
		if !errors.Is(err, ring.ErrClosed) {
			v.t.Errorf("%s: spawn: %v", v.name, err)
		}
		return
	}
	v.lives.Lock()
	defer v.lives.Unlock()
	v.current[i] = a
	v.all = append(v.all, a)
}

func (v *victim[In, Out]) pick(r *rand.Rand) *ring.Actor[In, Out] {
	v.lives.Lock()
	defer v.lives.Unlock()
	return v.current[r.IntN(len(v.current))]
}

func assault[In, Out any](f *front, v *victim[In, Out]) {
	v.records, v.current = make([]record, mostMessages), make([]*ring.Actor[In, Out], 3)
	for i := range v.current {
		v.life(i, f.random)
	}
	for range 4 {
		f.goes(v.send)
	}
	for range 2 {
		f.goes(v.receive)
	}
	f.goes(v.change)
}

// send sends messages in some way.
func (v *victim[In, Out]) send(r *rand.Rand) {
	n := uint64(1)
	how := r.IntN(8)
	if how == 0 {
		n = uint64(1 + r.IntN(100))
	}
	first := v.next.Add(n) - n
	if first+n > mostMessages {
		time.Sleep(time.Millisecond)
		return
	}
	ctx, cancel := v.context(r)
	defer cancel()
	var opts []ring.MessageOption
	if r.IntN(4) == 0 {
		opts = append(opts, ring.Priority(r.IntN(256)))
	}
	if r.IntN(16) == 0 {
		opts = append(opts, ring.TTL(time.Duration(1+r.IntN(300))*time.Microsecond))
	}
	a := v.pick(r)
	done := func(id uint64, use uint32, err error) {
		v.records[id].err = err
		v.records[id].how.Store(use)
	}
	switch {
	case how == 0:
		msgs := make([]In, n)
		for i := range msgs {
			msgs[i] = v.message(first + uint64(i))
		}
		k, err := a.SendBatch(ctx, msgs, opts...)
		for i := range n {
			if i < uint64(k) {
				done(first+i, wasSent, nil)
			} else {
				done(first+i, wasSent, cause(err))
			}
		}
	case how < 3:
		done(first, wasTold, a.Tell(ctx, v.message(first), opts...))
	case how < 5:
		done(first, wasSent, a.Send(ctx, v.message(first), opts...))
	default:
		out, err := a.Ask(ctx, v.message(first), opts...)
		if err == nil && v.replied(out) != first {
			v.t.Errorf("%s: asked with %d, got the reply to %d", v.name, first, v.replied(out))
		}
		done(first, wasAsked, err)
	}
}

var errNotSent = errors.New("the batch ended before it")

func cause(err error) error {
	if err == nil {
		return errNotSent
	}
	return err
}

func (v *victim[In, Out]) receive(r *rand.Rand) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(r.IntN(2000))*time.Microsecond)
	defer cancel()
	if err := v.take(ctx, v.pick(r)); err != nil {
		time.Sleep(100 * time.Microsecond)
	}
}

// take receives one result, and returns an error if there is none.
func (v *victim[In, Out]) take(ctx context.Context, a *ring.Actor[In, Out]) error {
	out, err := a.Receive(ctx)
	var failed *ring.HandlerError
	switch {
	case err == nil:
		v.records[v.replied(out)].received.Add(1)
	case errors.As(err, &failed):
		if id := v.own(failed); id != unknown {
			v.records[id].failed.Add(1)
		} else {
			v.nameless.Add(1)
		}
		return nil
	}
	return err
}

// change changes the life of an actor.
func (v *victim[In, Out]) change(r *rand.Rand) {
	time.Sleep(time.Duration(r.IntN(3000)) * time.Microsecond)
	i := r.IntN(len(v.current))
	v.lives.Lock()
	a := v.current[i]
	v.lives.Unlock()
	var err error
	switch r.IntN(5) {
	case 0:
		err = a.Deactivate()
		time.Sleep(time.Duration(r.IntN(1000)) * time.Microsecond)
		a.Activate()
	case 1:
		err = a.Activate()
	case 2:
		err = a.Restart(r.IntN(2) == 0)
	case 3:
		a.Info()
		v.rt.Stats()
	default:
		ctx, cancel := v.context(r)
		_, err = a.Terminate(ctx)
		cancel()
		v.life(i, r)
	}
	var state *ring.StateError
	if err != nil && !errors.As(err, &state) && !errors.Is(err, ring.ErrClosed) && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled) {
		v.t.Errorf("%s: %v", v.name, err)
	}
}

// end terminates all actors.
func (v *victim[In, Out]) end() {
	v.lives.Lock()
	list := slices.Clone(v.all)
	v.lives.Unlock()
	for _, a := range list {
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		if _, err := a.Terminate(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			v.t.Errorf("%s: terminate: %v", v.name, err)
		}
		cancel()
	}
}

// account receives what nobody has. All actors have ended.
func (v *victim[In, Out]) account() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, a := range v.all {
		for {
			err := v.take(ctx, a)
			var state *ring.StateError
			if errors.As(err, &state) {
				break
			}
			if err != nil {
				v.t.Errorf("%s: receive at the end: %v", v.name, err)
				return
			}
		}
	}
}

// letter notes a dead letter.
func (v *victim[In, Out]) letter(id uint64, l ring.DeadLetter) {
	rec := &v.records[id]
	rec.letters.Add(1)
	if l.Reason != ring.ReasonFailed {
		return
	}
	rec.failures.Add(1)
	var failed *ring.HandlerError
	if !errors.As(l.Err, &failed) || v.own(failed) != id && v.own(failed) != unknown {
		v.t.Errorf("%s: the letter of message %d has the error %v", v.name, id, l.Err)
	}
}

// judge looks at what became of each message.
func (v *victim[In, Out]) judge() {
	wrong := 0
	for id := range min(v.next.Load(), mostMessages) {
		rec := &v.records[id]
		if why := v.verdict(id, rec); why != "" && wrong < 10 {
			wrong++
			v.t.Errorf("%s: message %d (call %d, %v; fails %v, silent %v): handled %d, received %d, failures received %d, letters %d, of failures %d: %s", v.name, id, rec.how.Load(), rec.err,
				v.fails(id), v.silent(id), rec.handled.Load(), rec.received.Load(), rec.failed.Load(), rec.letters.Load(), rec.failures.Load(), why)
		}
	}
}

func (v *victim[In, Out]) verdict(id uint64, rec *record) string {
	use := rec.how.Load()
	if use == unused {
		return ""
	}
	handled, letters, failures := rec.handled.Load(), rec.letters.Load(), rec.failures.Load()
	var failed *ring.HandlerError
	var state *ring.StateError
	switch {
	case handled > 1, letters > 1, rec.received.Load() > 1, rec.failed.Load() > 1:
		return "more than once"
	case handled+letters > 1:
		return "handled, and a dead letter"
	case failures == 1 && !v.fails(id):
		return "a failure that is none"
	}
	if rec.err == nil {
		switch {
		case v.counts && handled+letters != 1:
			return "lost"
		case v.fails(id) && letters != 1:
			return "the failure is lost"
		case use == wasAsked && (letters != 0 || v.silent(id)):
			return "a reply to a message without one"
		case use == wasSent && v.counts && rec.received.Load() != handled && !v.silent(id):
			return "the reply is lost"
		case use == wasSent && !v.counts && rec.received.Load()+letters != 1:
			return "lost"
		case use == wasSent && rec.failed.Load() != failures && v.nameless.Add(-1) < 0:
			return "the failure was not received"
		}
		return ""
	}
	switch {
	case errors.As(rec.err, &failed):
		if own := v.own(failed); own != id && own != unknown || failures != 1 {
			return "not its own error"
		}
	case errors.Is(rec.err, ring.ErrNoReply):
		if !v.silent(id) || v.counts && handled != 1 {
			return "no reply"
		}
	case errors.Is(rec.err, context.Canceled), errors.Is(rec.err, context.DeadlineExceeded):
		if use != wasAsked && handled+letters != 0 {
			return "sent with a context that had ended"
		}
	case errors.As(rec.err, &state):
		if handled != 0 && !state.Uncertain {
			return "handled in spite of a StateError"
		}
	case errors.Is(rec.err, ring.ErrQueueFull), errors.Is(rec.err, errNotSent):
		if handled+letters != 0 {
			return "taken by a full queue"
		}
	case errors.Is(rec.err, ring.ErrDropped), errors.Is(rec.err, ring.ErrExpired):
		if handled != 0 {
			return "handled in spite of its error"
		}
	default:
		return "an error that is none of the package's"
	}
	return ""
}

// parcel is a message with pointers of all kinds.
type parcel struct {
	ID    uint64
	Name  *string
	Data  []byte
	Index map[string]uint64
	Next  *parcel
}

func newParcel(id uint64) parcel {
	name := fmt.Sprint("parcel ", id)
	return parcel{ID: id, Name: &name, Data: []byte(name), Index: map[string]uint64{name: id}, Next: &parcel{ID: ^id, Name: &name}}
}

// intact reports whether all that a parcel points to is its own.
func (p *parcel) intact() bool {
	name := fmt.Sprint("parcel ", p.ID)
	return *p.Name == name && string(p.Data) == name && p.Index[name] == p.ID && p.Next.ID == ^p.ID && *p.Next.Name == name
}

func parcelVictim(f *front) *victim[parcel, parcel] {
	v := &victim[parcel, parcel]{front: f, name: "parcels", counts: true, message: newParcel}
	v.id = func(p parcel) uint64 { return p.ID }
	v.fails = func(id uint64) bool { return id%17 == 3 }
	v.silent = func(id uint64) bool { return id%11 == 5 }
	v.replied = func(p parcel) uint64 {
		if !p.intact() {
			f.t.Errorf("the reply to %d is damaged: %+v", p.ID, p)
		}
		return p.ID
	}
	v.own = func(err *ring.HandlerError) uint64 {
		var p *ring.PanicError
		if errors.As(err, &p) {
			return p.Value.(uint64)
		}
		f.t.Errorf("not a PanicError: %v", err)
		return unknown
	}
	v.spawn = func(o ring.Options) (*ring.Actor[parcel, parcel], error) {
		return ring.SpawnHost(context.Background(), f.rt, func(_ context.Context, _ *ring.HostContext, in, out *parcel) kernel.Action {
			if !in.intact() {
				f.t.Errorf("message %d is damaged: %+v", in.ID, *in)
			}
			if v.fails(in.ID) {
				panic(in.ID)
			}
			v.records[in.ID].handled.Add(1)
			if v.silent(in.ID) {
				return kernel.Done
			}
			*out = newParcel(in.ID)
			return kernel.Reply
		}, o)
	}
	return v
}

// indexVictim is actors on the device that reply with the element of the message that it
// names, which is the message's ID. Where the index is out of range it has the ID.
func indexVictim(f *front) *victim[[4]int32, int32] {
	const beyond = 1000
	v := &victim[[4]int32, int32]{front: f, name: "indices"}
	v.fails = func(id uint64) bool { return id%23 == 7 }
	v.silent = func(uint64) bool { return false }
	v.message = func(id uint64) [4]int32 {
		if v.fails(id) {
			return [4]int32{beyond + int32(id)}
		}
		at := 1 + id%3
		m := [4]int32{int32(at)}
		m[at] = int32(id)
		return m
	}
	v.id = func(m [4]int32) uint64 {
		if m[0] >= beyond {
			return uint64(m[0] - beyond)
		}
		return uint64(m[m[0]])
	}
	v.replied = func(out int32) uint64 { return uint64(out) }
	v.own = func(err *ring.HandlerError) uint64 {
		var fault *gpu.KernelError
		if errors.As(err, &fault) {
			return uint64(fault.Index - beyond)
		}
		if f.rt.Device().Backend() != gpu.CUDA { // there one launch of many actors records one fault
			f.t.Errorf("not a KernelError: %v", err)
		}
		return unknown
	}
	v.spawn = func(o ring.Options) (*ring.Actor[[4]int32, int32], error) {
		return SpawnFirstOf(context.Background(), f.rt, o)
	}
	return v
}
