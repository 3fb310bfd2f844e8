package goroutines

import (
	"sync"
	"testing"
)

func TestGoroutinesAreDistinguished(t *testing.T) {
	var within Set
	if within.Here() {
		t.Error("a goroutine is there before any has entered")
	}
	var mu sync.Mutex
	seen := map[uint64]bool{}
	var group sync.WaitGroup
	for range 100 {
		group.Go(func() {
			leave := within.Enter()
			if !within.Here() {
				t.Error("a goroutine that entered is not there")
			}
			elsewhere := make(chan bool)
			go func() { elsewhere <- within.Here() }()
			if <-elsewhere {
				t.Error("a goroutine that has not entered is there")
			}
			leave()
			if within.Here() {
				t.Error("a goroutine that left is there")
			}
			mu.Lock()
			defer mu.Unlock()
			seen[goroutine()] = true
		})
	}
	group.Wait()
	if len(seen) != 100 || seen[0] {
		t.Errorf("100 goroutines have %d numbers", len(seen))
	}
}

// BenchmarkGoroutine measures the cost of identifying the running goroutine.
func BenchmarkGoroutine(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		goroutine()
	}
}
