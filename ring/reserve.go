package ring

import (
	"context"
	"errors"
	"sync"

	"quern.dev/gpu"
)

// streamReserve holds streams for launches that begin beside handlers that do not return.
// The driver may have to wait for all launches when it makes a stream, so that they
// are made before.
type streamReserve struct {
	mu   sync.Mutex
	list []*gpu.Stream
}

// reserved is how many streams are kept.
const reserved = 4

// fill makes streams until there are enough. No launch is waited for meanwhile.
func (s *streamReserve) fill(dev *gpu.Device) error {
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

// take returns a stream.
func (s *streamReserve) take() (*gpu.Stream, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.list)
	if n == 0 {
		return nil, errors.New("ring: no stream is left for launches beside handlers that do not return")
	}
	stream := s.list[n-1]
	s.list = s.list[:n-1]
	return stream, nil
}

// put keeps a stream whose work is done.
func (s *streamReserve) put(stream *gpu.Stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, stream)
}

func (s *streamReserve) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, stream := range s.list {
		errs = append(errs, stream.Close())
	}
	s.list = nil
	return errors.Join(errs...)
}
