package ring

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"quern.dev/ring/internal/backoff"
	"quern.dev/ring/internal/watchdog"
)

// LeftError is what a runtime had left when it was closed, of actors that nobody had
// terminated: messages that were not handled, which are dead letters now, and replies
// that nobody had received, which can still be. What actors on the device had sent to
// each other is not among them.
type LeftError struct {
	Actors   []string // with messages or replies
	Messages int
	Replies  int
}

// Error says how many messages and replies which actors had.
func (e *LeftError) Error() string {
	var what []string
	if e.Messages > 0 || e.Replies == 0 {
		what = append(what, fmt.Sprintf("%d messages that were not handled", e.Messages))
	}
	if e.Replies > 0 {
		what = append(what, fmt.Sprintf("%d replies that nobody received", e.Replies))
	}
	names := e.Actors[:min(len(e.Actors), listed)]
	text := strings.Join(names, ", ")
	if more := len(e.Actors) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("ring: closed with %s, of %s", strings.Join(what, " and "), text)
}

// Close ends all actors at a message boundary, and returns the errors that no call
// has returned. Messages that are left are dead letters, and a [*LeftError], as are
// replies that nobody has received; those
// of actors on the device to each other are dead letters alone, for some may always
// be under way. A
// handler that does not return is a [*StuckError] after the runtime's patience; what
// it uses stays in use. Closing again does nothing.
func (rt *Runtime) Close() (err error) {
	if !rt.made() {
		return nil
	}
	rt.shutDown()
	rt.mu.Lock()
	defer rt.mu.Unlock()
	err, rt.ended = rt.ended, nil
	return err
}

// shutDown closes the runtime, for Close to say what was wrong.
func (rt *Runtime) shutDown() {
	rt.closing.Do(func() {
		err := rt.close()
		rt.mu.Lock()
		defer rt.mu.Unlock()
		rt.ended = err
	})
}

// vanish closes the runtime, since its device is being closed. It fails if handlers
// do not return. If they have returned after the runtime was closed, what they used is
// freed now.
func (rt *Runtime) vanish() error {
	rt.shutDown()
	var errs []error
	for _, c := range rt.lingering {
		errs = append(errs, c.executor.linger())
	}
	if len(rt.lingering) == 0 || errors.Join(errs...) != nil {
		return errors.Join(errs...)
	}
	for _, c := range rt.lingering {
		errs = append(errs, c.free())
	}
	rt.lingering = nil
	return errors.Join(append(errs, rt.payloads.close(), rt.post.Close(), rt.streams.Close())...)
}

func (rt *Runtime) close() error {
	rt.spawning.Lock()
	defer rt.spawning.Unlock()
	rt.mu.Lock()
	rt.closed = true
	rt.mu.Unlock()
	close(rt.done)
	living, cohorts := rt.living(), rt.all()
	errs := make([]error, len(cohorts)+len(living))
	var ends sync.WaitGroup
	for i, c := range living {
		if h, ok := c.server.(*hostActor); ok {
			ends.Go(func() { errs[len(cohorts)+i] = h.quit() })
		}
	}
	for i, c := range cohorts {
		ends.Go(func() { errs[i] = c.executor.close() })
	}
	ends.Wait()
	rt.workers.Close()
	rt.pumps.Wait()
	if !rt.supervised() {
		rt.record(fmt.Errorf("ring: a supervisor did not return within %v", rt.config.Patience))
	}
	left := &LeftError{}
	for _, c := range living {
		if !c.ending.CompareAndSwap(false, true) {
			<-c.over
			continue
		}
		c.finish(c.queued(), 0)
		messages, replies := c.farewell.DeadLettered+c.farewell.Dropped, c.unread()
		if messages+replies > 0 {
			left.Actors, left.Messages, left.Replies = append(left.Actors, c.name), left.Messages+messages, left.Replies+replies
		}
	}
	isStuck := func(err error) bool {
		_, stuck := errors.AsType[*StuckError](err)
		return stuck
	}
	for _, c := range cohorts {
		errs = append(errs, c.returnMail())
	}
	rt.recountInboxes()
	if !slices.ContainsFunc(errs[:len(cohorts)], isStuck) { // else the device has to know
		rt.dev.RemovePersistent(rt)
	}
	v := rt.watchdog()
	for i, c := range cohorts {
		if isStuck(errs[i]) {
			rt.lingering = append(rt.lingering, c) // its memory, and the mailboxes, are in use
			continue
		}
		if n := c.visitors(v); n > 0 {
			errs = append(errs, fmt.Errorf("ring: %d calls are still waiting for actors of %s; its memory stays in use", n, c.program.Name))
			continue
		}
		errs = append(errs, c.free()) // not under c.mu: other residents make way for it
	}
	if len(rt.lingering) == 0 {
		errs = append(errs, rt.payloads.close(), rt.post.Close(), rt.streams.Close())
	}
	if len(left.Actors) > 0 {
		errs = append(errs, left)
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return errors.Join(append(errs, rt.errs...)...)
}

// supervised waits for the supervisors' calls, as long as the runtime has patience,
// and reports whether all have returned.
func (rt *Runtime) supervised() bool {
	done := make(chan struct{})
	go func() {
		rt.supervisors.Wait()
		close(done)
	}()
	return rt.watchdog().Await(done)
}

// visitors waits until nobody looks at the rings of the cohort's actors any more,
// all of which have ended, as long as there is patience. It returns how many still do.
func (c *cohort) visitors(v *watchdog.Timer) (n int) {
	for _, a := range c.actors {
		a.detach()
		var wait backoff.Wait
		for a.inUse() {
			if !wait.Spins() && v.Check(time.Now(), 0) {
				n++
				break
			}
			wait.Pause()
			runtime.Gosched()
		}
	}
	return n
}

// inUse reports whether somebody may look at what the actor shares with the device, which
// was detached.
func (d *delivery) inUse() bool { return d.asking() || d.visited() }

// asking reports whether a caller of Ask has not yet seen what became of its
// message.
func (d *delivery) asking() bool {
	for _, m := range d.mailboxes {
		for i := range m.state {
			if use := m.state[i].Load() & useMask; use == asked || use == closing {
				return true
			}
		}
	}
	return false
}

// ending reports whether the runtime is being closed.
func (rt *Runtime) ending() bool {
	if !rt.made() {
		return false
	}
	select {
	case <-rt.done:
		return true
	default:
		return false
	}
}

// background runs f beside the caller, and Close waits for it. Once the runtime is
// closed there is nothing left to do.
func (rt *Runtime) background(f func()) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.begin(f)
}

// begin is background with rt.mu held.
func (rt *Runtime) begin(f func()) {
	if !rt.closed {
		rt.supervisors.Go(f)
	}
}
