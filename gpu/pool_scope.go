package gpu

import (
	"errors"
	"sync"
	"unsafe"

	"quern.dev/internal/callsite"
)

// Scope is scratch memory for the duration of one function: buffers of a pool. It is safe
// for concurrent use.
type Scope struct {
	pool   *Pool
	stream *Stream

	mu      sync.Mutex
	ended   bool
	buffers []*Buffer[byte]
}

// Scope calls do with a scope for work on s, and closes the scope's buffers when do returns
// or panics. Queued work may still use them then. Scope returns the errors of do and of
// closing.
func (p *Pool) Scope(s *Stream, do func(scope *Scope) error) (err error) {
	if err := p.check(); err != nil {
		return driverError("scope", err)
	}
	if do == nil {
		return driverError("scope", invalid("no function to call"))
	}
	scope := &Scope{pool: p, stream: s}
	defer func() { err = errors.Join(err, scope.end()) }()
	return do(scope)
}

// AcquireIn takes a buffer of n elements from the scope's pool for work on the scope's
// stream. The scope closes it.
//
//go:noinline
func AcquireIn[T any](scope *Scope, n int) (*Buffer[T], error) {
	const doing = "acquire in scope"
	size, err := sizeOf[T](n)
	if err != nil {
		return nil, driverError(doing, err)
	}
	if scope == nil || scope.pool == nil {
		return nil, driverError(doing, invalid("scope was not made by Pool.Scope"))
	}
	site := callsite.Caller()
	h, err := scope.pool.acquire(doing, scope.stream, size, site, nil)
	if err != nil {
		return nil, err
	}
	h.buffer.length = n
	scope.mu.Lock()
	defer scope.mu.Unlock()
	if scope.ended {
		return nil, errors.Join(driverError(doing, closedError("scope")), h.buffer.Close())
	}
	scope.buffers = append(scope.buffers, &h.buffer)
	return (*Buffer[T])(unsafe.Pointer(&h.buffer)), nil // as in Acquire
}

func (s *Scope) end() error {
	s.mu.Lock()
	s.ended = true
	buffers := s.buffers
	s.buffers = nil
	s.mu.Unlock()
	var errs []error
	for _, b := range buffers {
		errs = append(errs, b.Close())
	}
	return errors.Join(errs...)
}
