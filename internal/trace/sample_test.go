package trace

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"quern.dev/internal/cupti"
	"quern.dev/internal/cupti/fakecupti"
)

// launches begins and ends n launches as package gpu does, each of 1 us on the device, and
// returns how many were recorded.
func launches(r *Recorder, n int) (recorded int) {
	for i := range n {
		weight := r.Take(saxpy)
		if weight == 0 {
			continue
		}
		recorded++
		o := r.Begin(Launch, saxpy, stream, 0)
		o.StandsFor(weight)
		o.End(false)
		o.OnDevice(int64(i)*2000, int64(i)*2000+1000)
	}
	return recorded
}

func noCUPTI(t *testing.T) {
	t.Cleanup(SetLibrary(func() (cupti.Library, error) { return nil, cupti.ErrActive }))
}

// alone keeps the recorder's goroutine from adapting, so that the test can.
func (r *Recorder) alone(t *testing.T, f func(adapt func(operations, sinceMilliseconds int64))) {
	t.Helper()
	r.round.Lock()
	defer r.round.Unlock()
	f(func(operations, since int64) {
		r.sampler.count.Store(operations)
		r.sampler.looked = Now() - since*1e6
		r.adapt()
	})
}

func TestASampleStandsForAllOperations(t *testing.T) {
	noCUPTI(t)
	const n, every = 100_000, 100
	m, f := NewMemory(1<<20), NewProfile()
	stop := Start(m)
	stopOther := Start(profileSink{f})
	r := Active()
	r.sampler.all.Store(true) // so that only the test adapts
	r.sampler.every.Store(every)
	r.sampler.active.Store(true)
	recorded := launches(r, n)
	stopOther()
	stop()
	if recorded < n/every*8/10 || recorded > n/every*12/10 {
		t.Errorf("%d of %d operations were recorded, want about %d", recorded, n, n/every)
	}
	device, host := int64(0), int64(0)
	for _, e := range m.All() {
		if e.OnDevice {
			device += int64(e.Weight)
		} else {
			host += int64(e.Weight)
		}
	}
	// What follows the last recorded operation is missing.
	if device != host || device > n || device < n-2*every {
		t.Errorf("the recorded operations stand for %d on the host and %d on the device, want %d", host, device, n)
	}
	var sums sample
	for _, s := range f.sums {
		for i := range sums {
			sums[i] += s[i]
		}
	}
	if sums[0] != device*1000 || sums[2] != host {
		t.Errorf("the profile has %d ns of the device in %d launches, want %d in %d", sums[0], sums[2], device*1000, host)
	}
}

type profileSink struct{ *Profile }

func (p profileSink) Events(list []Event) {
	for i := range list {
		p.Add(&list[i])
	}
}
func (profileSink) Round(Summary) {}

func TestEveryOperationIsRecordedOnRequest(t *testing.T) {
	noCUPTI(t)
	record(t, 10, func(r *Recorder) {
		r.RecordAll()
		r.alone(t, func(adapt func(operations, since int64)) { adapt(1_000_000, 100) })
		if got := launches(r, 10_000); got != 10_000 {
			t.Errorf("%d of 10000 operations were recorded", got)
		}
	})
}

func TestManyGoroutinesTakeSamples(t *testing.T) {
	const n, workers, every = 20_000, 8, 50
	var c countdown
	var sum atomic.Int64
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for range n {
				sum.Add(int64(c.take(every)))
			}
		})
	}
	group.Wait()
	if got := sum.Load(); got > n*workers || got < n*workers*9/10 {
		t.Errorf("samples stand for %d operations, want %d", got, n*workers)
	}
}

func TestCUPTIPausesWhileThereAreTooManyOperations(t *testing.T) {
	lib := &fakecupti.Library{}
	t.Cleanup(SetLibrary(func() (cupti.Library, error) { return lib, nil }))
	m := record(t, 10, func(r *Recorder) {
		if !r.UseCUDA() {
			t.Fatal("CUPTI is not used")
		}
		r.alone(t, func(adapt func(operations, since int64)) {
			adapt(mostFull/20, 100)
			if kinds, _ := lib.Enabled(); !r.UseCUDA() || len(kinds) == 0 {
				t.Error("CUPTI pauses although there are few operations")
			}
			adapt(mostFull, 100)
			if kinds, _ := lib.Enabled(); r.UseCUDA() || len(kinds) != 0 || r.sampler.every.Load() < 2 {
				t.Errorf("with ten times as many operations as it can record, CUPTI records %v", kinds)
			}
			adapt(1, 100)
			if r.UseCUDA() {
				t.Error("CUPTI continues at once")
			}
			r.sampler.busy = Now() - 2*int64(calmTime)
			adapt(1, 100)
			if kinds, _ := lib.Enabled(); !r.UseCUDA() || len(kinds) == 0 {
				t.Error("CUPTI does not continue when it is calm")
			}
		})
	})
	if !strings.Contains(m.Note(), "too many") || !strings.Contains(m.Note(), "CUPTI 13.0") {
		t.Errorf("the note is %q", m.Note())
	}
}

// A busy program must not be held up by a recorder that takes samples: neither by CUPTI, nor by
// rounds that follow each other.
func TestWhileCUPTIPausesItIsLeftAlone(t *testing.T) {
	lib := &fakecupti.Library{}
	t.Cleanup(SetLibrary(func() (cupti.Library, error) { return lib, nil }))
	record(t, 10, func(r *Recorder) {
		r.UseCUDA()
		r.alone(t, func(adapt func(operations, since int64)) { adapt(mostFull, 100) })
		if _, subscribed := lib.Subscriptions(); r.UseCUDA() || subscribed {
			t.Fatalf("CUPTI does not pause, or is subscribed to: %v", subscribed)
		}
		r.round.Lock()
		r.sampler.paused.Add(-int64(calmTime) - 1)
		before := lib.Calls()
		select {
		case <-r.wake:
		default:
		}
		launches(r, 100*mostAtOnce)
		select {
		case <-r.wake:
			t.Error("operations of which a sample is taken begin a round")
		default:
		}
		r.pass(false)
		r.round.Unlock()
		if n := lib.Calls() - before; n != 0 {
			t.Errorf("CUPTI is called %d times", n)
		}
	})
	if count, subscribed := lib.Subscriptions(); subscribed || count != 1 {
		t.Errorf("%d subscriptions, now %v", count, subscribed)
	}
}

func TestASampleGoesOnIfAnotherToolTakesCUPTIMeanwhile(t *testing.T) {
	lib := &fakecupti.Library{}
	t.Cleanup(SetLibrary(func() (cupti.Library, error) { return lib, nil }))
	record(t, 10, func(r *Recorder) {
		r.UseCUDA()
		r.alone(t, func(adapt func(operations, since int64)) {
			adapt(mostFull, 100)
			lib.Fail = map[string]int{"cuptiSubscribe": 39}
			for range 3 {
				r.sampler.busy = Now() - 2*int64(calmTime)
				adapt(1, 100)
			}
			if kinds, _ := lib.Enabled(); r.UseCUDA() || len(kinds) != 0 {
				t.Errorf("CUPTI records %v for two tools", kinds)
			}
			lib.Fail = nil
			adapt(1, 100)
			if !r.UseCUDA() {
				t.Error("CUPTI does not continue when the other tool has ended")
			}
		})
	})
}
