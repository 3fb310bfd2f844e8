package ring

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"quern.dev/gpu"
	"quern.dev/ring/actor"
)

// Config says how a runtime works. The zero value has the defaults.
type Config struct {
	// Patience is how long actors may take to come to the end of a message when
	// the runtime has to stop them, 0 for 2 seconds.
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
}

// limitedLife is how long a launch stays on a GPU whose driver ends kernels after
// some seconds.
const limitedLife = time.Second

// Runtime is the actors of a device. It is safe for concurrent use.
type Runtime struct {
	dev      *gpu.Device
	config   Config
	resident bool

	mu      sync.Mutex
	actors  map[string]*core // nil while an actor is being made
	cohorts []*cohort
	spawned int
	errs    []error // that nobody could be told
	closed  bool

	quiescing sync.Mutex // from Quiesce to Resume
	held      []*cohort

	spawning sync.Mutex     // one actor at a time gets its place
	pumps    sync.WaitGroup // goroutines
	done     chan struct{}

	supervisors sync.WaitGroup // calls
	perCycle    float64        // nanoseconds of a cycle of the device's clock
}

// New makes a runtime for the actors of a device, which is to be closed before
// the device is.
func New(dev *gpu.Device, config Config) (*Runtime, error) {
	if dev == nil {
		return nil, invalid("the device is nil")
	}
	config.Patience = cmp.Or(config.Patience, 2*time.Second)
	config.Watch = cmp.Or(config.Watch, 5*time.Millisecond)
	config.Life = cmp.Or(config.Life, 10*time.Second)
	config.Idle = cmp.Or(config.Idle, time.Millisecond)
	if config.Patience < 0 || config.Watch < 0 || config.Life < 0 || config.Idle < 0 {
		return nil, invalid("Patience is %v, Watch %v, Life %v and Idle %v; none may be negative", config.Patience, config.Watch, config.Life, config.Idle)
	}
	if config.Messages < 0 || config.Messages > math.MaxInt32 {
		return nil, invalid("Messages is %d; it is 0 to %d", config.Messages, math.MaxInt32)
	}
	if dev.LimitsKernelTime() {
		config.Bounded = true
		config.Life = min(config.Life, limitedLife)
	}
	rt := &Runtime{dev: dev, config: config, resident: dev.Backend() == gpu.CUDA, actors: map[string]*core{}, done: make(chan struct{})}
	rt.perCycle = 1
	if rate := dev.Attributes().ClockRate; rt.resident && rate > 0 {
		rt.perCycle = 1e6 / float64(rate)
	}
	if rt.resident {
		if major, minor := dev.ComputeCapability(); major < 7 {
			return nil, fmt.Errorf("ring: resident actors need compute capability 7.0, the device has %d.%d: %w", major, minor, errors.ErrUnsupported)
		}
		dev.AddResident(rt)
		rt.pumps.Go(rt.watch)
	}
	return rt, nil
}

// Device returns the device of the actors.
func (rt *Runtime) Device() *gpu.Device { return rt.dev }

// place reserves a name and finds a cohort with room, nil if there is none.
func (rt *Runtime) place(p *Program, shape actor.Shape, a *core) (*cohort, error) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if rt.closed {
		return nil, ErrClosed
	}
	rt.spawned++
	a.name = cmp.Or(a.name, fmt.Sprintf("%s-%d", p.Name, rt.spawned))
	if _, taken := rt.actors[a.name]; taken {
		return nil, invalid("there is an actor %q already", a.name)
	}
	rt.actors[a.name] = nil
	for _, c := range rt.cohorts {
		if c.program == p && c.shape == shape && len(c.actors) < c.size {
			return c, nil
		}
	}
	return nil, nil
}

// forget gives back the name of an actor that was not made.
func (rt *Runtime) forget(a *core) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	delete(rt.actors, a.name)
}

// Sizes of cohorts: each of a handler has twice the actors of the last, as long as
// its rings are not larger than maxRings.
const (
	firstCohort = 4
	maxCohort   = 256
	maxRings    = 64 << 20
)

// sizeOf is the size of the next cohort of a handler.
func (rt *Runtime) sizeOf(p *Program, shape actor.Shape) int {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	size := firstCohort
	for _, c := range rt.cohorts {
		if c.program == p && c.shape == shape {
			size = min(2*c.size, maxCohort)
		}
	}
	each := 8 * int(shape.Levels*shape.Slots*(shape.InStep+shape.OutStep))
	return max(1, min(size, maxRings/each))
}

// Lookup returns what is known of the actor with a name. An unknown name is an
// error that lists the names there are.
func (rt *Runtime) Lookup(name string) (Info, error) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if a := rt.actors[name]; a != nil {
		return a.info(), nil
	}
	var names []string
	for n, a := range rt.actors {
		if a != nil {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	return Info{}, fmt.Errorf("ring: there is no actor %q; there are %s", name, strings.Join(names, ", "))
}

// Actors returns what is known of all actors, by name.
func (rt *Runtime) Actors() []Info {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	list := make([]Info, 0, len(rt.actors))
	for _, a := range rt.actors {
		if a != nil {
			list = append(list, a.info())
		}
	}
	slices.SortFunc(list, func(x, y Info) int { return strings.Compare(x.Name, y.Name) })
	return list
}

// all returns the cohorts.
func (rt *Runtime) all() []*cohort {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return slices.Clone(rt.cohorts)
}

// Quiesce ends all launches at a message boundary, until Resume. Messages wait.
// The device calls it around what waits for everything that runs on a GPU, such as
// freeing memory; programs need not.
func (rt *Runtime) Quiesce() error {
	rt.quiescing.Lock()
	for _, c := range rt.all() {
		switch err := c.hold(); {
		case err == nil:
			rt.held = append(rt.held, c)
		case !errors.Is(err, ErrClosed):
			return errors.Join(err, rt.Resume())
		}
	}
	return nil
}

// Resume ends what Quiesce began.
func (rt *Runtime) Resume() error {
	defer rt.quiescing.Unlock()
	var errs []error
	for _, c := range rt.held {
		errs = append(errs, c.resume())
	}
	rt.held = rt.held[:0]
	return errors.Join(errs...)
}

// watch looks after resident launches.
func (rt *Runtime) watch() {
	ticker := time.NewTicker(rt.config.Watch)
	defer ticker.Stop()
	for {
		select {
		case <-rt.done:
			return
		case <-ticker.C:
		}
		for _, c := range rt.all() {
			if err := c.watch(); err != nil && !errors.Is(err, ErrClosed) {
				rt.note(err)
			}
		}
	}
}

// note keeps an error for Close.
func (rt *Runtime) note(err error) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if len(rt.errs) < 16 {
		rt.errs = append(rt.errs, err)
	}
}

// Close ends all actors at a message boundary and returns the errors that no call
// has returned. Messages that are left are lost: terminate actors first to know
// how many. Closing again does nothing.
func (rt *Runtime) Close() error {
	rt.spawning.Lock()
	defer rt.spawning.Unlock()
	rt.mu.Lock()
	if rt.closed {
		rt.mu.Unlock()
		return nil
	}
	rt.closed = true
	rt.mu.Unlock()
	close(rt.done)
	var errs []error
	var ended []*cohort
	for _, c := range rt.all() {
		err := c.close()
		if _, stuck := errors.AsType[*StuckError](err); !stuck {
			ended = append(ended, c)
		}
		errs = append(errs, err)
	}
	rt.pumps.Wait()
	rt.supervisors.Wait()
	rt.dev.RemoveResident(rt)
	for _, c := range ended {
		for _, a := range c.actors {
			a.setState(Terminated)
		}
		c.mu.Lock()
		errs = append(errs, c.free())
		c.mu.Unlock()
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return errors.Join(append(errs, rt.errs...)...)
}

// Spawn makes an actor with a compiled handler. The constructors that quern gen
// writes call it.
func Spawn[State, In, Out any](ctx context.Context, rt *Runtime, p *Program, o Options) (*Actor[In, Out], error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if rt == nil {
		return nil, invalid("the runtime is nil")
	}
	if err := o.normalise(); err != nil {
		return nil, err
	}
	if o.State != nil {
		if _, ok := o.State.(State); !ok {
			var want State
			return nil, invalid("the state of %s is a %T, want a %T", p.Name, o.State, want)
		}
	}
	rt.spawning.Lock()
	defer rt.spawning.Unlock()
	a := &Actor[In, Out]{core: newCore[In, Out](rt, o)}
	a.level = o.Levels / 2
	shape := shapeOf[In, Out](&o)
	c, err := rt.place(p, shape, a.core)
	if err != nil {
		return nil, err
	}
	if c == nil {
		if err = p.Kernel.Prepare(rt.dev); err == nil {
			c, err = newCohort[State, In, Out](rt, p, shape, rt.sizeOf(p, shape))
		}
		if err == nil {
			rt.mu.Lock()
			rt.cohorts = append(rt.cohorts, c)
			rt.mu.Unlock()
		}
	}
	if err == nil && !o.Inactive {
		err = rt.room(c, a.core.name)
	}
	if err == nil {
		err = c.add(a.core, !o.Inactive)
	}
	if err != nil {
		rt.forget(a.core)
		return nil, err
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.actors[a.core.name] = a.core
	return a, nil
}
