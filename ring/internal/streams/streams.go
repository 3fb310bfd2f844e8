// Package streams keeps streams in reserve.
package streams

import (
	"context"
	"errors"
	"sync"

	"quern.dev/gpu"
)

// Reserve holds streams for launches that run at the same time as stuck handlers. Making
// a stream may wait for all launches, so the streams are made in advance.
type Reserve struct {
	mu   sync.Mutex
	list []*gpu.Stream
}

// reserved is the number of streams that Fill makes.
const reserved = 4

// Fill makes streams until the reserve is full. It must not be called while a handler
// is stuck.
func (s *Reserve) Fill(dev *gpu.Device) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.list) < reserved {
		stream, err := dev.NewStream(context.Background(), gpu.Detached())
		if err != nil {
			return err
		}
		s.list = append(s.list, stream)
	}
	return nil
}

// Take removes a stream from the reserve.
func (s *Reserve) Take() (*gpu.Stream, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.list)
	if n == 0 {
		return nil, errors.New("ring: no stream is left for launches while handlers are stuck")
	}
	stream := s.list[n-1]
	s.list = s.list[:n-1]
	return stream, nil
}

// Put adds a stream whose work is done.
func (s *Reserve) Put(stream *gpu.Stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, stream)
}

// Close closes the streams in the reserve.
func (s *Reserve) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, stream := range s.list {
		errs = append(errs, stream.Close())
	}
	s.list = nil
	return errors.Join(errs...)
}
