package ring

import (
	"sync"
	"sync/atomic"
)

// failure is why a handler has failed on a message, and when by the runtime's clock.
type failure struct {
	err error
	at  int64
}

// failures are those of the messages of an actor whose slots are in use, so that each
// caller and each dead letter gets the error of its own message: an actor may have
// failed again by the time that somebody looks.
type failures struct {
	mu    sync.Mutex
	of    map[place64]failure
	known atomic.Int32 // len(of)
}

// place64 is a message in one of an actor's rings.
type place64 struct {
	source int
	ticket uint64
}

// failedOn notes why the handler has failed on a message. It is called before the actor's
// state says that it has failed.
func (m *mailbox) failedOn(ticket uint64, err error) {
	f := &m.owner.failures
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.of == nil {
		f.of = map[place64]failure{}
	}
	f.of[place64{m.source, ticket}] = failure{err, m.owner.rt.clock()}
	f.known.Store(int32(len(f.of)))
}

// failure returns why the handler has failed on a message, if that is known yet.
func (m *mailbox) failure(ticket uint64) (failure, bool) {
	f := &m.owner.failures
	if f.known.Load() == 0 {
		return failure{}, false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	why, ok := f.of[place64{m.source, ticket}]
	return why, ok
}

// forget ends what failedOn began, with the use of the message's slot.
func (m *mailbox) forget(ticket uint64) {
	f := &m.owner.failures
	if f.known.Load() == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.of, place64{m.source, ticket})
	f.known.Store(int32(len(f.of)))
}

// explained reports whether it is known why the handler has failed on a message, or is
// not going to be. A loop on a GPU says that it has failed before the host knows why.
func (m *mailbox) explained(ticket uint64) bool {
	_, known := m.failure(ticket)
	return known || m.owner.handlesNoMore()
}

// ticketOf is the latest ticket with these lower bits.
func (m *mailbox) ticketOf(low uint32) uint64 {
	next := m.next()
	return next - uint64(uint32(next)-low)
}
