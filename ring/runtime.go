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

// Config configures a runtime. The zero value selects the defaults.
type Config struct {
	// HandlerTimeout is how long a handler may take for a message; 0 means 2 seconds.
	// A handler that takes longer is detected after at most an eighth more. Time in
	// which goroutines wait for processors does not count.
	HandlerTimeout time.Duration
	// Watch is the interval at which the runtime checks actors on a GPU; 0 means 5
	// milliseconds.
	Watch time.Duration
	// Life is how long a launch stays on a GPU before it is restarted, at most 15
	// minutes; 0 means 10 seconds. If the process hangs, the GPU is free after that time.
	Life time.Duration
	// Bounded launches leave the GPU when their actors have had no message for Idle,
	// or have handled Messages messages (0 means any number), and restart when there
	// are messages. This is for GPUs that other programs need too. It is always set
	// if the driver stops kernels that run long, as on GPUs with a display.
	Bounded  bool
	Idle     time.Duration // 0 means a millisecond
	Messages int

	// Supervisor, if not nil, decides about actors that have no supervisor, or whose
	// own supervisor escalates. It is called on its own goroutine. A failure that it
	// escalates is an error of Close, and so is one that an actor's supervisor
	// escalates if this is nil.
	Supervisor func(Failure) Decision

	// DeadLetters is the maximum number of dead letters to keep; 0 means
	// DefaultDeadLetters.
	DeadLetters int
	// PayloadBytes is the size of the payload memory, at most MaxPayloadBytes; 0
	// means DefaultPayloadBytes. The memory is allocated with the first payload.
	PayloadBytes int64
}

// limitedLife is how long a launch stays on a GPU whose driver stops kernels after
// some seconds.
const limitedLife = time.Second

// Runtime contains the actors of a device. It is safe for concurrent use.
type Runtime struct {
	number   uint64
	dev      *gpu.Device
	config   Config
	resident bool

	mu      sync.Mutex
	actors  map[string]*core // the value is nil while an actor is being made
	cohorts []*cohort
	spawned int
	errs    []error // errors for Close, because no call could return them
	closed  bool
	closing sync.Once
	ended   error // error of closing, until Close returns it

	unfinished []*cohort // closed except for stuck handlers; set when closing

	post   *post.Memory
	owners sync.Map // mailbox number -> *core

	quiescing      sync.Mutex  // from Quiesce to Resume
	quiesced       atomic.Bool // between them
	pausedFor      gpu.Operation
	pausing        pausing
	quiet          bool // from Quiesce to Resume; guarded by mu, like held
	held           []*cohort
	oversubscribed atomic.Bool // more actors are active than can be resident

	payloads PayloadMemory
	messages messages
	groups   groups

	hosts    atomic.Bool // there have been host actors
	inboxes  inboxes
	streams  streams.Reserve
	spawning gate           // one actor at a time gets its place
	pumps    sync.WaitGroup // goroutines
	workers  workers.Pool
	done     chan struct{}

	supervisors sync.WaitGroup // running calls
	perCycle    float64        // nanoseconds per cycle of the device's clock
	departed    departed       // counts of ended actors
	pauses      pauses
	launches    atomic.Uint64 // of resident loops
	traces      trace.Tracer
	referred    atomic.Bool // actors on the device may have Refs, and send messages
}

// New makes a runtime for actors on a device. The caller closes it before the device.
func New(dev *gpu.Device, config Config) (*Runtime, error) {
	if dev == nil || dev.Backend() == "" {
		return nil, invalid("new runtime: the device is nil, or was not made by gpu.Open")
	}
	config.HandlerTimeout = cmp.Or(config.HandlerTimeout, 2*time.Second)
	config.Watch = cmp.Or(config.Watch, 5*time.Millisecond)
	config.Life = cmp.Or(config.Life, 10*time.Second)
	config.Idle = cmp.Or(config.Idle, time.Millisecond)
	config.DeadLetters = cmp.Or(config.DeadLetters, DefaultDeadLetters)
	if config.HandlerTimeout < 0 || config.Watch < 0 || config.Life < 0 || config.Idle < 0 {
		return nil, invalid("HandlerTimeout is %v, Watch %v, Life %v and Idle %v; none may be negative", config.HandlerTimeout, config.Watch, config.Life, config.Idle)
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
	rt := &Runtime{number: runtimes.Add(1), dev: dev, config: config, resident: dev.Backend() == gpu.CUDA, actors: map[string]*core{}, spawning: make(gate, 1), done: make(chan struct{})}
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
	rt.pumps.Go(rt.keepDeadlines)
	return rt, nil
}

// runtimes is the number of runtimes that the process has made.
var runtimes atomic.Uint64

// Number distinguishes the runtimes of a process: they are numbered from 1.
// [WritePrometheus] uses it as a label.
func (rt *Runtime) Number() uint64 {
	if !rt.made() {
		return 0
	}
	return rt.number
}

// watchdog returns a timer for the handler timeout.
func (rt *Runtime) watchdog() *watchdog.Timer { return watchdog.New(rt.config.HandlerTimeout) }

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

// Quiesce ends all launches at a message boundary, until Resume. Messages wait. The
// device calls it before operations that wait for everything on a GPU, such as freeing
// memory; programs need not. If a handler is stuck, it returns an error and stops no
// actor. If the device is being closed, it closes the runtime first.
func (rt *Runtime) Quiesce(op gpu.Operation) error {
	if err := rt.usable("quiesce"); err != nil {
		return err
	}
	if op == gpu.CloseDevice {
		return rt.closeWithDevice()
	}
	rt.quiescing.Lock()
	rt.quiesced.Store(true)
	rt.mu.Lock()
	rt.quiet = true // cohorts that are made from now on are held
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

// stop ends the launches of cohorts. It asks all of them before it waits for any, and
// holds them, because waiting callers would start them again.
func (rt *Runtime) stop(list []*cohort) error {
	residents := residentsOf(list)
	var errs []error
	for _, c := range residents {
		errs = append(errs, c.finishClose())
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
	waitForLeaving(asked)
	rt.pausing.left = time.Now()
	for _, c := range asked {
		if err := c.clear(); err != nil {
			return err
		}
	}
	rt.pausing.ended = time.Now()
	return nil
}

// stopLocals stops the actors of cohorts that run in their caller.
func (rt *Runtime) stopLocals(list []*cohort) error {
	for _, c := range list {
		switch err := c.executor.hold(); {
		case err == nil:
			rt.keep(c)
		case !errors.Is(err, ErrClosed):
			return err
		}
	}
	rt.pausing.left = time.Now()
	rt.pausing.ended = rt.pausing.left // there are no launches to wait for
	return nil
}

// keep makes Resume resume a cohort.
func (rt *Runtime) keep(c *cohort) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.held = append(rt.held, c)
}

// Resume ends the effect of Quiesce.
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
		err = errors.Join(err, c.executor.resume())
	}
	rt.pausing.begun = time.Now()
	if len(held) > 0 {
		rt.paused(string(rt.pausedFor), &rt.pausing)
	}
	return err
}

// maxWatch limits the interval between checks of actors, in multiples of
// Config.Watch, when there has been nothing to do for long.
const maxWatch = 10

// watch checks resident launches.
func (rt *Runtime) watch() {
	wait := rt.config.Watch
	timer := time.NewTimer(wait)
	defer timer.Stop()
	var guarded time.Time
	often := rt.watchdog().Interval() / 2 // so that checks are on time despite the other work
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

// record stores an error for Close.
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

// NameError means that a runtime has no actor or group with a given name.
type NameError struct {
	Kind  string // "actor" or "group"
	Name  string
	Names []string // existing names, the most similar ones first
}

// listed is the maximum number of names in an error.
const listed = 10

// Error lists existing names, the most similar ones if there are many.
func (e *NameError) Error() string {
	if len(e.Names) == 0 {
		return fmt.Sprintf("ring: there is no %s %q; the runtime has no %[1]ss", e.Kind, e.Name)
	}
	names := e.Names[:min(len(e.Names), listed)]
	text := fmt.Sprintf("ring: there is no %s %q; there are %s", e.Kind, e.Name, strings.Join(names, ", "))
	if more := len(e.Names) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// TypeError means that an actor has other message or reply types than the caller of
// Find expected.
type TypeError struct {
	Actor               string
	In, Out             reflect.Type // the types of the actor
	WantedIn, WantedOut reflect.Type
}

// Error names the types of both.
func (e *TypeError) Error() string {
	return fmt.Sprintf("ring: actor %s takes %v and replies with %v; it was looked up as one that takes %v and replies with %v",
		e.Actor, e.In, e.Out, e.WantedIn, e.WantedOut)
}

// Find returns the actor with a name. The error is a [*NameError] if there is none or
// it has terminated, a [*TypeError] if its message or reply types are different, and
// matches [ErrClosed] if the runtime is closed.
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

// Lookup returns the status of the actor with a name. The error is a [*NameError] if
// there is none, and matches [ErrClosed] if the runtime is closed.
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

// newNameError sorts the existing names by similarity.
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

// distance returns the number of letters to insert, remove or replace in order to
// turn one name into another (Levenshtein, 1966).
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

// Actors yields the status of each actor that has not terminated, by name. It
// includes the actors that exist when the iteration begins.
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

// reserve reserves a name for an actor. If the actor has none, the name is derived
// from that of the handler.
func (rt *Runtime) reserve(c *core, handler string) error {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if rt.closed {
		return closedFor("spawn " + cmp.Or(c.name, handler))
	}
	rt.spawned++
	for n := rt.spawned; c.name == ""; n++ {
		if name := fmt.Sprintf("%s-%d", handler, n); !rt.taken(name) {
			c.name = name
		}
	}
	if rt.taken(c.name) {
		return fmt.Errorf("ring: spawn: %w: there is an actor %q already; terminate it, or choose another name", ErrNameTaken, c.name)
	}
	for rt.spawned <= math.MaxUint32 && !rt.messages.name(uint32(rt.spawned), c.name) {
		rt.spawned++
	}
	if rt.spawned > math.MaxUint32 {
		return fmt.Errorf("ring: spawn %s: the runtime has had %d actors, and can number no more; use another runtime", c.name, math.MaxUint32)
	}
	var ok bool
	if c.ids, ok = rt.messages.newRange(); !ok {
		rt.messages.forget(uint32(rt.spawned))
		return fmt.Errorf("ring: spawn %s: the runtime has %d actors, and can number the messages of no more; terminate some, or use another runtime", c.name, maxRanges)
	}
	rt.actors[c.name] = nil
	c.number = uint32(rt.spawned)
	return nil
}

// taken reports whether an actor has the name, or is getting it. The caller holds rt.mu.
func (rt *Runtime) taken(name string) bool {
	_, taken := rt.actors[name]
	return taken
}

// enrol registers an actor that has reserved its name. It fails if the runtime was closed
// in the meantime, because Close ends only registered actors.
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

// unregister frees the name of an actor that has terminated or could not be made.
func (rt *Runtime) unregister(c *core) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if known := rt.actors[c.name]; known == nil || known == c {
		delete(rt.actors, c.name)
		rt.messages.forget(c.number)
		rt.messages.returnRange(c.ids, c.mostTickets())
	}
}
