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

// LeftError reports what a runtime still had when it was closed, for actors that were
// not terminated: unhandled messages, which became dead letters, and unreceived
// replies, which can still be received. It does not include messages between actors
// on the device.
type LeftError struct {
	Actors   []string // with messages or replies
	Messages int
	Replies  int
}

// Error states how many messages and replies are left, and of which actors.
func (e *LeftError) Error() string {
	var what []string
	if e.Messages > 0 || e.Replies == 0 {
		what = append(what, fmt.Sprintf("%d unhandled messages", e.Messages))
	}
	if e.Replies > 0 {
		what = append(what, fmt.Sprintf("%d unreceived replies", e.Replies))
	}
	names := e.Actors[:min(len(e.Actors), listed)]
	text := strings.Join(names, ", ")
	if more := len(e.Actors) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("ring: closed with %s, of %s", strings.Join(what, " and "), text)
}

// Close ends all actors at a message boundary, and returns the errors that no call
// has returned yet. Unhandled messages become dead letters. They and unreceived
// replies result in a [*LeftError]. Messages between actors on the device become dead
// letters only, because some of them may always be in transit. If a handler does not
// return within Config.HandlerTimeout, the error is a [*StuckError], and what the
// handler uses stays in use. Closing again does nothing.
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

// shutDown closes the runtime and records the error for Close.
func (rt *Runtime) shutDown() {
	rt.closing.Do(func() {
		err := rt.close()
		rt.mu.Lock()
		defer rt.mu.Unlock()
		rt.ended = err
	})
}

// closeWithDevice closes the runtime because its device is being closed. It fails if
// handlers do not return. If they returned after the runtime was closed, it frees what
// they used.
func (rt *Runtime) closeWithDevice() error {
	rt.shutDown()
	var errs []error
	for _, c := range rt.unfinished {
		errs = append(errs, c.executor.finishClose())
	}
	if len(rt.unfinished) == 0 || errors.Join(errs...) != nil {
		return errors.Join(errs...)
	}
	for _, c := range rt.unfinished {
		errs = append(errs, c.free())
	}
	rt.unfinished = nil
	return errors.Join(append(errs, rt.payloads.close(), rt.post.Close(), rt.streams.Close())...)
}

func (rt *Runtime) close() error {
	close(rt.done) // first, because handlers and supervisors may be waiting to spawn
	rt.spawning.lock()
	defer rt.spawning.unlock()
	rt.mu.Lock()
	rt.closed = true
	rt.mu.Unlock()
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
		rt.record(fmt.Errorf("ring: a supervisor did not return within %v", rt.config.HandlerTimeout))
	}
	left := &LeftError{}
	for _, c := range living {
		if !c.ending.CompareAndSwap(false, true) {
			<-c.over
			continue
		}
		c.finish(c.queued(), 0)
		messages, replies := c.termination.DeadLettered+c.termination.Dropped, c.unread()
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
	if !slices.ContainsFunc(errs[:len(cohorts)], isStuck) { // otherwise the device must know
		rt.dev.RemovePersistent(rt)
	}
	v := rt.watchdog()
	for i, c := range cohorts {
		if isStuck(errs[i]) {
			rt.unfinished = append(rt.unfinished, c) // its memory and its mailboxes are in use
			continue
		}
		if n := c.visitors(v); n > 0 {
			errs = append(errs, fmt.Errorf("ring: %d calls are still waiting for actors of %s; its memory stays in use", n, c.program.Name))
			continue
		}
		errs = append(errs, c.free()) // not under c.mu: other residents pause for it
	}
	if len(rt.unfinished) == 0 {
		errs = append(errs, rt.payloads.close(), rt.post.Close(), rt.streams.Close())
	}
	if len(left.Actors) > 0 {
		errs = append(errs, left)
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return errors.Join(append(errs, rt.errs...)...)
}

// supervised waits for the calls of supervisors, at most for the handler timeout, and
// reports whether all have returned.
func (rt *Runtime) supervised() bool {
	done := make(chan struct{})
	go func() {
		rt.supervisors.Wait()
		close(done)
	}()
	return rt.watchdog().Await(done)
}

// visitors waits until no caller reads the rings of the cohort's actors any more, at
// most until v runs out. All actors must have ended. It returns the number of actors
// whose rings are still in use.
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

// inUse reports whether a caller may still read what the actor shares with the device.
// The actor must be detached.
func (d *delivery) inUse() bool { return d.asking() || d.visited() }

// asking reports whether a caller of Ask has not yet seen the outcome of its message.
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

// beginSpawning waits until no other actor gets its place, until spawning.unlock. It
// returns an error if the runtime is being closed.
func (rt *Runtime) beginSpawning(doing string) error {
	select {
	case rt.spawning <- struct{}{}:
	case <-rt.done:
		return closedFor(doing)
	}
	if rt.ending() { // both were possible
		rt.spawning.unlock()
		return closedFor(doing)
	}
	return nil
}

// background runs f on another goroutine, which Close waits for. After the runtime is
// closed, it does nothing.
func (rt *Runtime) background(f func()) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.begin(f)
}

// begin is background for callers that hold rt.mu.
func (rt *Runtime) begin(f func()) {
	if !rt.closed {
		rt.supervisors.Go(f)
	}
}
