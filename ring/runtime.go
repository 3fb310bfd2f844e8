package ring

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"quern.dev/gpu"
	"quern.dev/ring/internal/payload"
	"quern.dev/ring/internal/post"
	"quern.dev/ring/internal/streams"
	"quern.dev/ring/internal/trace"
	"quern.dev/ring/internal/watchdog"
	"quern.dev/ring/internal/workers"
)

// Config says how a runtime works. The zero value has the defaults.
type Config struct {
	// Patience is how long actors may take for a message, 0 for 2 seconds. Those that
	// take longer are found within an eighth more, later where goroutines wait for
	// processors: that does not count.
	Patience time.Duration
	// Watch is how often the runtime looks after actors on a GPU, 0 for 5
	// milliseconds.
	Watch time.Duration
	// Life is how long a launch stays on a GPU before it is begun anew, 0 for 10
	// seconds: if the process hangs, the GPU is free after that time.
	Life time.Duration
	// Bounded launches leave the GPU when their actors have had no message for
	// Idle, or have handled Messages since they began, 0 for any number, and begin
	// anew when there are messages: for GPUs that others need too. It is set where
	// the driver ends kernels that run long, as it does on GPUs with a display.
	Bounded  bool
	Idle     time.Duration // 0 is a millisecond
	Messages int

	// Supervisor, if not nil, decides about actors whose own supervisor escalates, or
	// that have none, on a goroutine of its own. A failure that it escalates, or that
	// an actor's supervisor escalates if there is none, is an error of Close.
	Supervisor func(Failure) Decision

	// DeadLetters is how many dead letters are kept, 0 for DefaultDeadLetters.
	DeadLetters int
	// PayloadBytes is the size of the memory for payloads, which the device gets
	// with the first of them, up to MaxPayloadBytes; 0 for DefaultPayloadBytes.
	PayloadBytes int64
}

// limitedLife is how long a launch stays on a GPU whose driver ends kernels after
// some seconds.
const limitedLife = time.Second

// Runtime is the actors of a device. It is safe for concurrent use.
type Runtime struct {
	number   uint64
	dev      *gpu.Device
	config   Config
	resident bool

	mu      sync.Mutex
	actors  map[string]*core // nil while an actor is being made
	cohorts []*cohort
	spawned int
	errs    []error // that nobody could be told
	closed  bool
	closing sync.Once
	ended   error // of closing, until Close returns it

	lingering []*cohort // closed, but for handlers that did not return; closing has set it

	post   *post.Memory
	owners sync.Map // mailbox number -> *core

	quiescing sync.Mutex  // from Quiesce to Resume
	quiesced  atomic.Bool // between them
	pausedFor gpu.Operation
	pausing   pausing
	quiet     bool // between them; guarded by mu, as held is
	held      []*cohort
	crowded   atomic.Bool // more actors are active than can be resident

	payloads PayloadMemory
	messages messages
	groups   groups

	hosts    atomic.Bool // there have been host actors
	inboxes  inboxes
	streams  streams.Reserve
	spawning sync.Mutex     // one actor at a time gets its place
	pumps    sync.WaitGroup // goroutines
	workers  workers.Pool
	done     chan struct{}

	supervisors sync.WaitGroup // calls
	perCycle    float64        // nanoseconds of a cycle of the device's clock
	departed    departed       // what actors had counted that are gone
	pauses      pauses
	launches    atomic.Uint64 // of resident loops
	traces      trace.Tracer
	referred    atomic.Bool // actors on the device may know others
}

// New makes a runtime for the actors of a device, which is to be closed before
// the device is.
func New(dev *gpu.Device, config Config) (*Runtime, error) {
	if dev == nil || dev.Backend() == "" {
		return nil, invalid("new runtime: the device is nil, or was not made by gpu.Open")
	}
	config.Patience = cmp.Or(config.Patience, 2*time.Second)
	config.Watch = cmp.Or(config.Watch, 5*time.Millisecond)
	config.Life = cmp.Or(config.Life, 10*time.Second)
	config.Idle = cmp.Or(config.Idle, time.Millisecond)
	config.DeadLetters = cmp.Or(config.DeadLetters, DefaultDeadLetters)
	if config.Patience < 0 || config.Watch < 0 || config.Life < 0 || config.Idle < 0 {
		return nil, invalid("Patience is %v, Watch %v, Life %v and Idle %v; none may be negative", config.Patience, config.Watch, config.Life, config.Idle)
	}
	if config.DeadLetters < 0 || config.DeadLetters > MaxCapacity {
		return nil, invalid("DeadLetters is %d; it is 0 to %d", config.DeadLetters, MaxCapacity)
	}
	if config.Messages < 0 || config.Messages > math.MaxInt32 {
		return nil, invalid("Messages is %d; it is 0 to %d", config.Messages, math.MaxInt32)
	}
	var err error
	if config.PayloadBytes, err = payloadBytes(config.PayloadBytes); err != nil {
		return nil, err
	}
	if dev.LimitsKernelTime() {
		config.Bounded = true
		config.Life = min(config.Life, limitedLife)
	}
	rt := &Runtime{number: runtimes.Add(1), dev: dev, config: config, resident: dev.Backend() == gpu.CUDA, actors: map[string]*core{}, done: make(chan struct{})}
	rt.messages.open(rt, config.DeadLetters)
	rt.perCycle = 1
	if rate := dev.Attributes().ClockRate; rt.resident && rate > 0 {
		rt.perCycle = 1e6 / float64(rate)
	}
	if rt.resident {
		if major, minor := dev.ComputeCapability(); major < 7 {
			return nil, fmt.Errorf("ring: resident actors need compute capability 7.0, the device has %d.%d: %w", major, minor, errors.ErrUnsupported)
		}
	}
	if rt.post, err = post.New(dev, rt.resident, rt); err != nil {
		return nil, during("new runtime", err)
	}
	rt.payloads.m = payload.New(dev, rt.post, config.PayloadBytes)
	dev.AddPersistent(rt) // closing the device closes the runtime first
	if rt.resident {
		rt.pumps.Go(rt.watch)
	} else {
		rt.pumps.Go(rt.watchLocal)
	}
	return rt, nil
}

// runtimes is how many the process has made.
var runtimes atomic.Uint64

// Number tells the runtimes of a process apart: they count from 1, as they are made.
// [WritePrometheus] has it.
func (rt *Runtime) Number() uint64 {
	if !rt.made() {
		return 0
	}
	return rt.number
}

// watchdog returns a timer of Config.Patience.
func (rt *Runtime) watchdog() *watchdog.Timer { return watchdog.New(rt.config.Patience) }

// Device returns the device of the actors.
func (rt *Runtime) Device() *gpu.Device {
	if !rt.made() {
		return nil
	}
	return rt.dev
}

// all returns the cohorts.
func (rt *Runtime) all() []*cohort {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return slices.Clone(rt.cohorts)
}

// residents returns the executors of the cohorts on a GPU.
func (rt *Runtime) residents() []*resident { return residentsOf(rt.all()) }

func residentsOf(list []*cohort) []*resident {
	out := make([]*resident, len(list))
	for i, c := range list {
		out[i] = c.executor.(*resident)
	}
	return out
}

// Quiesce ends all launches at a message boundary, until Resume. Messages wait.
// The device calls it around what waits for everything that runs on a GPU, such as
// freeing memory; programs need not. It fails, and stops no actor, while some
// handler does not return. If the device is being closed, the runtime is closed first.
func (rt *Runtime) Quiesce(op gpu.Operation) error {
	if err := rt.usable("quiesce"); err != nil {
		return err
	}
	if op == gpu.CloseDevice {
		return rt.vanish()
	}
	rt.quiescing.Lock()
	rt.quiesced.Store(true)
	rt.mu.Lock()
	rt.quiet = true // cohorts that are made now are held
	list := slices.Clone(rt.cohorts)
	rt.mu.Unlock()
	rt.pausedFor, rt.pausing = op, pausing{asked: time.Now()}
	stop := rt.stopLocals
	if rt.resident {
		stop = rt.stop
	}
	if err := stop(list); err != nil {
		rt.pausing.ended = time.Now()
		return errors.Join(err, rt.Resume())
	}
	return nil
}

// stop ends the launches of cohorts. All are asked before any is waited for, and
// held from then on: those who wait for replies would begin them again.
func (rt *Runtime) stop(list []*cohort) error {
	residents := residentsOf(list)
	var errs []error
	for _, c := range residents {
		errs = append(errs, c.linger())
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	asked := residents[:0]
	for _, c := range residents {
		if c.request() {
			asked = append(asked, c)
			rt.keep(c.cohort)
		}
	}
	seeOut(asked)
	rt.pausing.left = time.Now()
	for _, c := range asked {
		if err := c.clear(); err != nil {
			return err
		}
	}
	rt.pausing.ended = time.Now()
	return nil
}

// stopLocals has the actors of cohorts handle nothing.
func (rt *Runtime) stopLocals(list []*cohort) error {
	for _, c := range list {
		switch err := c.hold(); {
		case err == nil:
			rt.keep(c)
		case !errors.Is(err, ErrClosed):
			return err
		}
	}
	rt.pausing.left = time.Now()
	rt.pausing.ended = rt.pausing.left // nothing else is to end
	return nil
}

// keep has a cohort resumed by Resume.
func (rt *Runtime) keep(c *cohort) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.held = append(rt.held, c)
}

// Resume ends what Quiesce began.
func (rt *Runtime) Resume() error {
	if err := rt.usable("resume"); err != nil {
		return err
	}
	if !rt.quiesced.CompareAndSwap(true, false) {
		return invalid("Resume without Quiesce")
	}
	defer rt.quiescing.Unlock()
	rt.pausing.back = time.Now()
	rt.mu.Lock()
	held := rt.held
	rt.quiet, rt.held = false, nil
	rt.mu.Unlock()
	var err error
	for _, c := range held {
		err = errors.Join(err, c.resume())
	}
	rt.pausing.begun = time.Now()
	if len(held) > 0 {
		rt.paused(string(rt.pausedFor), &rt.pausing)
	}
	return err
}

// maxWatch is how many times Config.Watch the runtime waits until it looks after
// actors, if it had nothing to do for long.
const maxWatch = 10

// watch looks after resident launches.
func (rt *Runtime) watch() {
	wait := rt.config.Watch
	timer := time.NewTimer(wait)
	defer timer.Stop()
	var guarded time.Time
	often := rt.watchdog().Interval() / 2 // so that looks come on time in spite of the other work
	for {
		select {
		case <-rt.done:
			return
		case <-timer.C:
		}
		now := time.Now()
		guard := now.Sub(guarded) >= often
		if guard {
			guarded = now
		}
		wait = min(wait*5/4, maxWatch*rt.config.Watch, often)
		for _, c := range rt.residents() {
			did, err := c.watch()
			if err != nil && !errors.Is(err, ErrClosed) {
				rt.record(err)
			}
			if did {
				wait = rt.config.Watch
			}
			if guard {
				c.guard(now)
			}
		}
		timer.Reset(max(wait, time.Microsecond))
	}
}

// record keeps an error for Close.
func (rt *Runtime) record(err error) {
	if err == nil {
		return
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if len(rt.errs) < 16 {
		rt.errs = append(rt.errs, err)
	}
}

// NameError means that a runtime has no actor or group with a name.
type NameError struct {
	Kind  string // "actor" or "group"
	Name  string
	Names []string // of those that there are, the most similar ones first
}

// listed is how many names an error tells.
const listed = 10

// Error lists the names that there are, of many the most similar.
func (e *NameError) Error() string {
	if len(e.Names) == 0 {
		return fmt.Sprintf("ring: there is no %s %q; there are none", e.Kind, e.Name)
	}
	names := e.Names[:min(len(e.Names), listed)]
	text := fmt.Sprintf("ring: there is no %s %q; there are %s", e.Kind, e.Name, strings.Join(names, ", "))
	if more := len(e.Names) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// TypeError means that an actor has other messages or replies than it was asked
// for with.
type TypeError struct {
	Actor               string
	In, Out             reflect.Type // of the actor
	WantedIn, WantedOut reflect.Type
}

// Error names the types of both.
func (e *TypeError) Error() string {
	return fmt.Sprintf("ring: actor %s takes %v and replies with %v; it was looked up as one that takes %v and replies with %v",
		e.Actor, e.In, e.Out, e.WantedIn, e.WantedOut)
}

// Find returns the actor with a name. It is a [*NameError] if there is none, also
// if it has terminated, [ErrClosed] if the runtime has been closed, and a
// [*TypeError] if the actor has messages of another type.
func Find[In, Out any](rt *Runtime, name string) (*Actor[In, Out], error) {
	c, err := rt.find(name)
	if err != nil {
		return nil, err
	}
	in, out := reflect.TypeFor[In](), reflect.TypeFor[Out]()
	if c.in != in || c.out != out {
		return nil, &TypeError{Actor: name, In: c.in, Out: c.out, WantedIn: in, WantedOut: out}
	}
	return newActor[In, Out](c), nil
}

// Lookup returns what is known of the actor with a name. It is a [*NameError] if
// there is none, and [ErrClosed] if the runtime has been closed.
func (rt *Runtime) Lookup(name string) (Info, error) {
	c, err := rt.find(name)
	if err != nil {
		return Info{}, err
	}
	return c.info(), nil
}

func (rt *Runtime) find(name string) (*core, error) {
	if err := rt.usable("find"); err != nil {
		return nil, err
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if c := rt.actors[name]; c != nil {
		return c, nil
	}
	if rt.closed {
		return nil, closedFor(fmt.Sprintf("find actor %q", name))
	}
	names := make([]string, 0, len(rt.actors))
	for n, c := range rt.actors {
		if c != nil {
			names = append(names, n)
		}
	}
	return nil, newNameError("actor", name, names)
}

// newNameError sorts the names that there are.
func newNameError(kind, name string, names []string) *NameError {
	distances := make(map[string]int, len(names))
	for _, n := range names {
		distances[n] = distance(name, n)
	}
	slices.SortFunc(names, func(x, y string) int {
		return cmp.Or(cmp.Compare(distances[x], distances[y]), strings.Compare(x, y))
	})
	return &NameError{Kind: kind, Name: name, Names: names}
}

// distance is the number of letters to insert, remove or replace to make one name
// of another (Levenshtein, 1966).
func distance(x, y string) int {
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(x) {
		before := row[0] // of the row above, to the left
		row[0] = i + 1
		for j := range len(y) {
			replaced := before
			if x[i] != y[j] {
				replaced++
			}
			before = row[j+1]
			row[j+1] = min(replaced, before+1, row[j]+1)
		}
	}
	return row[len(y)]
}

// Actors returns what is known of each actor that has not terminated, by name. It
// visits the actors that there are when it is called.
func (rt *Runtime) Actors() iter.Seq[Info] {
	return func(yield func(Info) bool) {
		for _, c := range rt.living() {
			if !yield(c.info()) {
				return
			}
		}
	}
}

// living returns the actors that have not terminated, by name.
func (rt *Runtime) living() []*core {
	if !rt.made() {
		return nil
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	list := make([]*core, 0, len(rt.actors))
	for _, name := range slices.Sorted(maps.Keys(rt.actors)) {
		if c := rt.actors[name]; c != nil {
			list = append(list, c)
		}
	}
	return list
}

// reserve takes a name for an actor, made from that of its handler if it has none.
func (rt *Runtime) reserve(c *core, handler string) error {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if rt.closed {
		return closedFor("spawn " + cmp.Or(c.name, handler))
	}
	rt.spawned++
	c.name = cmp.Or(c.name, fmt.Sprintf("%s-%d", handler, rt.spawned))
	if _, taken := rt.actors[c.name]; taken {
		return fmt.Errorf("ring: spawn: %w: there is an actor %q already; terminate it, or choose another name", ErrNameTaken, c.name)
	}
	rt.actors[c.name] = nil
	c.number = uint32(rt.spawned)
	rt.messages.name(c.number, c.name)
	return nil
}

// enrol registers an actor that has reserved its name. It fails if the runtime was closed
// meanwhile: Close ends only actors that are registered.
func (rt *Runtime) enrol(c *core) error {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if rt.closed {
		delete(rt.actors, c.name)
		return closedFor("spawn " + c.name)
	}
	rt.actors[c.name] = c
	return nil
}

// unregister gives back the name of an actor that has terminated, or was not made.
func (rt *Runtime) unregister(c *core) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if known := rt.actors[c.name]; known == nil || known == c {
		delete(rt.actors, c.name)
		rt.messages.forget(c.number)
	}
}
