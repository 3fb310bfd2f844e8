package pool

import (
	"errors"
	"slices"
	"testing"
)

// memory is a block for tests.
type memory struct {
	number int
	ready  bool
	freed  bool
}

// source makes blocks and counts the calls of the pool.
type source struct {
	Pool[*memory]
	made   []*memory
	fail   error
	closed int
}

func newSource(limit, threshold int64) *source {
	s := new(source)
	s.Init(Config[*memory]{
		Limit: limit, Threshold: threshold,
		Free:  func(m *memory) error { m.freed = true; return nil },
		Close: func() error { s.closed++; return nil },
	})
	return s
}

func (s *source) take(size int64) (*Item[*memory], error) {
	ready := func(m *memory) bool { return m.ready }
	return s.Take(size, ready, ready, func(int64) (*memory, error) {
		if s.fail != nil {
			return nil, s.fail
		}
		m := &memory{number: len(s.made), ready: true}
		s.made = append(s.made, m)
		return m, nil
	})
}

func (s *source) mustTake(t *testing.T, size int64) *Item[*memory] {
	t.Helper()
	it, err := s.take(size)
	if err != nil {
		t.Fatal(err)
	}
	return it
}

func (s *source) freed() (numbers []int) {
	for _, m := range s.made {
		if m.freed {
			numbers = append(numbers, m.number)
		}
	}
	return numbers
}

func TestTakePrefersTheBlockThatWasFreedLast(t *testing.T) {
	s := newSource(0, 0)
	a, b, c := s.mustTake(t, 100), s.mustTake(t, 100), s.mustTake(t, 100)
	for _, it := range []*Item[*memory]{a, b, c} {
		if err := s.Put(it); err != nil {
			t.Fatal(err)
		}
	}
	c.Value.ready = false
	if got := s.mustTake(t, 100); got != b {
		t.Errorf("got block %d, want %d", got.Value.number, b.Value.number)
	}
	if st := s.Stats(); st.Hits != 1 || st.Misses != 3 || st.Buffers != 1 || st.Used != 512 || st.Reserved != 3*512 || st.HighWater != 3*512 {
		t.Errorf("%+v", st)
	}
}

func TestALimitEvictsTheOldestAndThenFails(t *testing.T) {
	s := newSource(2048, 0)
	a, b := s.mustTake(t, 1024), s.mustTake(t, 1024)
	full, ok := errors.AsType[*LimitError](func() error { _, err := s.take(600); return err }())
	if !ok || full.Size != 1024 || full.Err != nil {
		t.Errorf("got %+v", full)
	}
	s.Put(a)
	a.Value.ready = false
	s.mustTake(t, 512)
	if got := s.freed(); !slices.Equal(got, []int{0}) {
		t.Errorf("freed %v", got)
	}
	s.Put(b)
}

func TestAThresholdBoundsWhatIsKept(t *testing.T) {
	s := newSource(0, 1024)
	a, b, c := s.mustTake(t, 512), s.mustTake(t, 512), s.mustTake(t, 512)
	s.Put(b)
	s.Put(a)
	s.Put(c)
	if got := s.freed(); !slices.Equal(got, []int{1}) || s.Stats().Reserved != 1024 {
		t.Errorf("freed %v, %+v", got, s.Stats())
	}
}

func TestAFailedBlockIsNotReserved(t *testing.T) {
	s := newSource(0, 0)
	s.fail = errors.New("no memory")
	if _, err := s.take(1); !errors.Is(err, s.fail) || s.Stats().Reserved != 0 {
		t.Errorf("%v, %+v", err, s.Stats())
	}
	s.fail = nil
	s.Put(s.mustTake(t, 1))
}

func TestAPoolIsReleasedAfterItsLastUse(t *testing.T) {
	s := newSource(0, 0)
	used, kept := s.mustTake(t, 1), s.mustTake(t, 1)
	s.Put(kept)
	if !s.Close() || s.Close() {
		t.Error("Close does not report the first call")
	}
	if _, err := s.take(1); !errors.Is(err, ErrClosed) || s.Acquire() {
		t.Errorf("a closed pool: %v", err)
	}
	if blocks, err := s.Trim(); err != nil || len(blocks) != 1 {
		t.Errorf("trimmed %d, %v", len(blocks), err)
	}
	s.Extend()
	s.Release() // of Close
	s.Put(used)
	if s.closed != 0 || !used.Value.freed {
		t.Errorf("closed %d times while in use, freed %v", s.closed, s.freed())
	}
	if s.Release(); s.closed != 1 {
		t.Errorf("closed %d times", s.closed)
	}
}
