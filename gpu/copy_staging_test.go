package gpu

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"

	"quern.dev/internal/driver/cuda/fakecuda"
)

// pattern returns n bytes from which their offset can be told.
func pattern(n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(i*7 ^ i>>11)
	}
	return p
}

// slotsFull is the size in bytes of a copy that reuses slots.
var slotsFull = stagingChunk * stagingSlots * (min(stagingWorkers, runtime.GOMAXPROCS(0)) + 1)

func TestLargeCopiesArriveWhole(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		s := d.DefaultStream()
		for _, n := range []int{stagingMinimum - 1, stagingMinimum, stagingMinimum + 1, slotsFull + 5} {
			want := pattern(n)
			b := must[*Buffer[byte]](t)(Alloc[byte](d, n+2))
			do(t, Zero(s, b))
			src := slices.Clone(want)
			do(t, CopyIn(s, b.Slice(1, n+1), src))
			clear(src)
			got := download(t, s, b)
			if got[0] != 0 || got[n+1] != 0 || !slices.Equal(got[1:n+1], want) {
				t.Errorf("%d bytes changed on the way", n)
			}
			do(t, b.Close())
		}
	})
}

// copiesMuch makes the device stage its next large copy.
func copiesMuch(d *Device) { d.staging.unstaged = stagingPays }

// Allocating page-locked memory takes longer than the copies of a small program.
func TestCopiesAreStagedOnceThatPays(t *testing.T) {
	lib := fakecuda.New(1)
	d := openFake(t, lib)
	d.staging.unstaged = 0
	s := d.DefaultStream()
	const n = stagingPays / 4
	b := upload(t, s, make([]byte, n)...)
	host := make([]byte, n)
	for copied := 2; copied < 4; copied++ {
		if d.staging.made != 0 {
			t.Fatalf("staged after %d bytes", (copied-1)*n)
		}
		do(t, CopyIn(s, b, host))
	}
	do(t, Download(t.Context(), s, host, b))
	if d.staging.made != 1 {
		t.Error("not staged after a copy that pays")
	}
	closeAll(t, b, d)

	d = openFake(t, fakecuda.New(1))
	d.staging.unstaged = 0
	b = upload(t, d.DefaultStream(), make([]byte, stagingPays)...)
	if d.staging.made != 1 {
		t.Error("one large copy is not staged")
	}
	closeAll(t, b, d)
}

func TestLargeCopiesAreStaged(t *testing.T) {
	lib := fakecuda.New(1)
	d := openFake(t, lib)
	s := d.DefaultStream()
	b := upload(t, s, pattern(stagingMinimum)...)
	download(t, s, b)
	if len(d.staging.idle) != 1 || d.staging.made != 1 {
		t.Errorf("%d stagers, %d of them idle", d.staging.made, len(d.staging.idle))
	}
	closeAll(t, b, d)
	if left := lib.Left(); left != "" {
		t.Errorf("left in the driver: %s", left)
	}
}

func TestCopiesWorkWhereMemoryCannotBePinned(t *testing.T) {
	lib := fakecuda.New(1)
	d := openFake(t, lib)
	s := d.DefaultStream()
	lib.Fail("cuMemHostAlloc", fakecuda.OutOfMemory)
	want := pattern(stagingMinimum + 1)
	b := upload(t, s, want...)
	if !slices.Equal(download(t, s, b), want) {
		t.Error("the copy is wrong")
	}
	if d.staging.made != 0 || !d.staging.failed {
		t.Errorf("staging: %d made, failed %v", d.staging.made, d.staging.failed)
	}
	closeAll(t, b, d)
}

func TestPageLockedMemoryIsCopiedWithoutStaging(t *testing.T) {
	d := openFake(t, fakecuda.New(1))
	s := d.DefaultStream()
	h, b := hostBuffer(t, d, pattern(stagingMinimum+1)...), must[*Buffer[byte]](t)(Alloc[byte](d, stagingMinimum+1))
	do(t, CopyIn(s, b, h.Data()))
	do(t, Fill(s, b.Slice(0, 1), 200))
	do(t, Download(context.Background(), s, h.Data(), b))
	if h.Data()[0] != 200 || !slices.Equal(h.Data()[1:], pattern(h.Len())[1:]) {
		t.Error("the copy is wrong")
	}
	if d.staging.made != 0 {
		t.Error("the copy was staged")
	}
	closeAll(t, h, b, d)
}

func TestBusyStreamsDoNotHoldUpTheCopiesOfOthers(t *testing.T) {
	lib := fakecuda.New(1)
	d := openFake(t, lib)
	s := must[*Stream](t)(d.NewStream(context.Background()))
	var streams []*Stream
	for range maxStagers {
		streams = append(streams, must[*Stream](t)(d.NewStream(context.Background())))
	}
	host := pattern(stagingMinimum)
	b := must[*Buffer[byte]](t)(Alloc[byte](d, len(host)))

	lib.Busy = make(chan struct{}) // no stream makes progress
	for _, busy := range streams {
		copiesMuch(d)
		m := busy.takeStager(stagingMinimum)
		do(t, m.slots[0].sent(busy))
		d.putStager(m)
	}
	if m := s.takeStager(stagingMinimum); m != nil {
		t.Error("there is more page-locked memory than there should be, or it is in use")
	}
	do(t, CopyIn(s, b, host))
	if m := streams[1].takeStager(stagingMinimum); m == nil || m.stream != streams[1] {
		t.Error("a stream does not get its own memory again")
	} else {
		d.putStager(m)
	}
	close(lib.Busy)
	if !slices.Equal(download(t, s, b), host) {
		t.Error("the copy is wrong")
	}
	if d.staging.made != maxStagers || len(d.staging.idle) != maxStagers {
		t.Errorf("%d stagers, %d of them idle", d.staging.made, len(d.staging.idle))
	}
	for _, s := range streams {
		do(t, s.Close())
	}
	closeAll(t, b, s, d)
	if left := lib.Left(); left != "" {
		t.Errorf("left in the driver: %s", left)
	}
}

func TestErrorsOfStagedCopiesLeaveTheDeviceUsable(t *testing.T) {
	host := pattern(slotsFull + 5)
	for _, function := range []string{
		"cuMemHostAlloc", "cuEventCreate", "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuEventRecord", "cuEventSynchronize", "cuEventQuery", "cuCtxSetCurrent",
	} {
		t.Run(function, func(t *testing.T) {
			lib := fakecuda.New(1)
			d := openFake(t, lib)
			s, other := d.DefaultStream(), must[*Stream](t)(d.NewStream(context.Background()))
			b := must[*Buffer[byte]](t)(Alloc[byte](d, len(host)))
			use := func() error {
				for _, s := range []*Stream{s, other} {
					if err := CopyIn(s, b, host); err != nil {
						return err
					}
					if err := Download(context.Background(), s, make([]byte, len(host)), b); err != nil {
						return err
					}
				}
				return nil
			}
			lib.Fail(function, fakecuda.InvalidValue)
			if err := use(); err != nil {
				if e, ok := errors.AsType[*Error](err); !ok || e.Code != fakecuda.InvalidValue {
					t.Errorf("got %v", err)
				}
			}
			do(t, use())
			if !slices.Equal(download(t, s, b), host) {
				t.Error("a copy after the error is wrong")
			}
			closeAll(t, b, other, d)
			if left := lib.Left(); left != "" {
				t.Errorf("left in the driver: %s", left)
			}
		})
	}
}

func TestStagedCopiesOfSeveralGoroutines(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		var group sync.WaitGroup
		for g := range 6 {
			group.Go(func() {
				s, err := d.NewStream(context.Background())
				if err != nil {
					t.Error(err)
					return
				}
				want := pattern(stagingMinimum + g*100001)
				for i := range want {
					want[i] += byte(g)
				}
				b, err := Upload(s, want)
				if err != nil {
					t.Error(err)
					return
				}
				got := make([]byte, len(want))
				if err := errors.Join(Download(context.Background(), s, got, b), b.Close(), s.Close()); err != nil {
					t.Error(err)
				}
				if !slices.Equal(got, want) {
					t.Errorf("goroutine %d: wrong values", g)
				}
			})
		}
		group.Wait()
	})
}

func TestACancelledDownloadLeavesTheSliceAsItWas(t *testing.T) {
	lib := fakecuda.New(1)
	d := openFake(t, lib)
	s := d.DefaultStream()
	b := upload(t, s, pattern(stagingMinimum)...)
	host := make([]byte, stagingMinimum)
	lib.Busy, lib.Waits = make(chan struct{}), make(chan string)
	ctx, cancel := context.WithCancel(context.Background())
	result := make(chan error)
	go func() { result <- Download(ctx, s, host, b) }()
	<-lib.Waits
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if slices.ContainsFunc(host, func(v byte) bool { return v != 0 }) {
		t.Error("the slice has changed")
	}
	lib.Waits = nil
	close(lib.Busy)
	if !slices.Equal(download(t, s, b), pattern(stagingMinimum)) {
		t.Error("a later download is wrong")
	}
	closeAll(t, b, d)
	if left := lib.Left(); left != "" {
		t.Errorf("left in the driver: %s", left)
	}
}
