package driver

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// spawner is an owner of persistent kernels. Like an actor runtime, it waits on close
// for a goroutine that is about to load a kernel.
type spawner struct {
	kernels  atomic.Bool // running
	spawning sync.Mutex
	closing  chan struct{}
}

func (s *spawner) Quiesce(op Operation) error {
	if op == CloseDevice {
		close(s.closing)
		s.spawning.Lock()
		defer s.spawning.Unlock()
	}
	s.kernels.Store(false)
	return nil
}

func (s *spawner) Resume() error {
	s.kernels.Store(true)
	return nil
}

// Work in progress while a device is closed must not wait for kernels that run until
// the device is closed.
func TestPersistentKernelsAreQuiescedWhileTheyAreEnded(t *testing.T) {
	var l PersistentList
	s := &spawner{closing: make(chan struct{})}
	s.kernels.Store(true)
	l.AddPersistent(s)
	s.spawning.Lock()
	ended := make(chan error)
	go func() { ended <- l.EndPersistent() }()
	<-s.closing
	err := l.Apart(LoadModule, func() error {
		if s.kernels.Load() {
			t.Error("a module is loaded while kernels of the resident run: the driver waits for their end")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	s.spawning.Unlock()
	select {
	case err := <-ended:
		if err != nil || l.HasPersistent() || s.kernels.Load() {
			t.Errorf("ended with %v; residents left: %v, kernels: %v", err, l.HasPersistent(), s.kernels.Load())
		}
	case <-time.After(10 * time.Second):
		t.Error("does not end")
	}
}
