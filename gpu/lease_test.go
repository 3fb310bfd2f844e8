package gpu

import (
	"sync"
	"sync/atomic"
	"testing"
)

func TestLeaseDestroysOnceAfterTheLastUser(t *testing.T) {
	var l lease
	for range 2 {
		if !l.acquire() {
			t.Fatal("an open lease refused a use")
		}
	}
	if l.release() {
		t.Error("released the last user of an open lease")
	}
	if first, destroy := l.close(); !first || destroy {
		t.Errorf("close with a user: first %v, destroy %v", first, destroy)
	}
	if l.acquire() || !l.closed() {
		t.Error("a closed lease is open")
	}
	if !l.release() {
		t.Error("the last user after close does not destroy")
	}
	if first, destroy := l.close(); first || destroy {
		t.Errorf("second close: first %v, destroy %v", first, destroy)
	}
}

func TestLeaseUnderContention(t *testing.T) {
	for range 100 {
		var l lease
		var destroyed atomic.Int32
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				for l.acquire() {
					if destroyed.Load() != 0 {
						t.Error("in use after it was destroyed")
					}
					if l.release() {
						destroyed.Add(1)
					}
				}
			})
		}
		group.Go(func() {
			if _, destroy := l.close(); destroy {
				destroyed.Add(1)
			}
		})
		group.Wait()
		if n := destroyed.Load(); n != 1 {
			t.Fatalf("destroyed %d times", n)
		}
	}
}
