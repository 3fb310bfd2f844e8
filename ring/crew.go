package ring

import (
	"runtime"
	"sync"
)

// crew is goroutines that run the blocks of local actors: as many as there are
// processors, but for those in handlers that do not return. They are kept, because
// a new one would have to grow its stack first, and sleep when there is nothing to
// do.
type crew struct {
	mu          sync.Mutex
	first, last *local // that wait
	idle        []chan *local
	working     int // members, without those that are lost
	closed      bool
}

// add has a member serve l.
func (w *crew) add(l *local) {
	w.mu.Lock()
	var member chan *local
	switch n := len(w.idle); {
	case w.closed, l.listed:
	case n > 0:
		member = w.idle[n-1]
		w.idle = w.idle[:n-1]
	case w.working < runtime.GOMAXPROCS(0):
		w.working++
		member = make(chan *local, 1)
		go w.serve(member)
	default:
		l.listed = true
		if w.last == nil {
			w.first = l
		} else {
			w.last.next = l
		}
		w.last = l
	}
	w.mu.Unlock()
	if member != nil {
		member <- l
	}
}

// serve is the life of a member.
func (w *crew) serve(member chan *local) {
	for l := range member {
		for l != nil {
			l.serve()
			l = w.rest(member)
		}
	}
}

// rest returns the next that waits, or nil after the member was added to the idle
// ones, or is to end.
func (w *crew) rest(member chan *local) *local {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.working > runtime.GOMAXPROCS(0) {
		w.working--
		close(member)
		return nil
	}
	l := w.take()
	if l == nil {
		w.idle = append(w.idle, member)
	}
	return l
}

// take returns the first that waits, nil if there is none. w.mu is held.
func (w *crew) take() *local {
	l := w.first
	if l == nil {
		return nil
	}
	if w.first = l.next; w.first == nil {
		w.last = nil
	}
	l.next, l.listed = nil, false
	return l
}

// lose notes that a member is in a handler that does not return.
func (w *crew) lose() {
	w.mu.Lock()
	w.working--
	l := w.take()
	w.mu.Unlock()
	if l != nil {
		w.add(l)
	}
}

// find notes that a lost member has returned.
func (w *crew) find() {
	w.mu.Lock()
	w.working++
	w.mu.Unlock()
}

// close ends the members that are not at work, and the others when they are done.
func (w *crew) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for _, member := range w.idle {
		close(member)
	}
	w.idle = nil
}
