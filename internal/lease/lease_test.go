package lease

import (
	"sync"
	"sync/atomic"
	"testing"
)

func TestLeaseDestroysOnceAfterTheLastUser(t *testing.T) {
	var l Lease
	for range 2 {
		if !l.Acquire() {
			t.Fatal("an open lease refused a use")
		}
	}
	if l.Release() {
		t.Error("released the last user of an open lease")
	}
	if first, destroy := l.Close(); !first || destroy {
		t.Errorf("close with a user: first %v, destroy %v", first, destroy)
	}
	if l.Acquire() || !l.Closed() {
		t.Error("a closed lease is open")
	}
	if !l.Release() {
		t.Error("the last user after close does not destroy")
	}
	if first, destroy := l.Close(); first || destroy {
		t.Errorf("second close: first %v, destroy %v", first, destroy)
	}
}

func TestLeaseUnderContention(t *testing.T) {
	for range 100 {
		var l Lease
		var destroyed atomic.Int32
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				for l.Acquire() {
					if destroyed.Load() != 0 {
						t.Error("in use after it was destroyed")
					}
					if l.Release() {
						destroyed.Add(1)
					}
				}
			})
		}
		group.Go(func() {
			if _, destroy := l.Close(); destroy {
				destroyed.Add(1)
			}
		})
		group.Wait()
		if n := destroyed.Load(); n != 1 {
			t.Fatalf("destroyed %d times", n)
		}
	}
}
