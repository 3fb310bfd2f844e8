package gpu

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"quern.dev/internal/driver/cuda/fakecuda"
	"quern.dev/internal/freelist"
)

// withResident opens a device with persistent kernels.
func withResident(t *testing.T, lib *fakecuda.Library) (*Device, *watcher) {
	t.Helper()
	d, w := openFake(t, lib), new(watcher)
	d.AddPersistent(w)
	return d, w
}

// nothingLeft closes the device and checks that nothing leaks.
func nothingLeft(t *testing.T, lib *fakecuda.Library, d *Device) {
	t.Helper()
	do(t, d.Close())
	if left := lib.Left(); left != "" {
		t.Errorf("left in the driver: %s", left)
	}
}

func alloc[T any](t testing.TB, d *Device, n int) *Buffer[T] {
	t.Helper()
	return must[*Buffer[T]](t)(Alloc[T](d, n))
}

func allocHost[T any](t testing.TB, d *Device, n int) *HostBuffer[T] {
	t.Helper()
	return must[*HostBuffer[T]](t)(AllocHost[T](d, n))
}

func TestMemoryIsAllocatedAndFreedWithPersistentKernels(t *testing.T) {
	lib := fakecuda.New(1)
	d := openFake(t, lib)
	before, s := alloc[float32](t, d, 1<<10), d.DefaultStream()
	hostBefore := allocHost[float32](t, d, 1<<12)
	w := new(watcher)
	d.AddPersistent(w)
	closeAll(t, alloc[float32](t, d, 1000)) // makes the pool
	free, _ := d.Memory()
	var at uint64
	for i := range 10 {
		b := must[*Buffer[float32]](t)(Upload(s, ramp(1000)))
		if got := download(t, s, b); got[999] != 999 {
			t.Errorf("read %v", got[999])
		}
		if i > 0 && b.at().Addr != at {
			t.Error("the memory is not used again")
		}
		at = b.at().Addr
		closeAll(t, b, b)
		if now, _ := d.Memory(); now != free {
			t.Errorf("%d bytes are free, before %d", now, free)
		}
	}
	var page unsafe.Pointer
	for i := range 10 {
		h := allocHost[byte](t, d, 5000+i)
		if i > 0 && h.at() != page {
			t.Error("the page-locked memory is not used again")
		}
		page = h.at()
		do(t, CopyInAsync(s, alloc[byte](t, d, 5000+i), h))
		closeAll(t, h, h)
	}
	closeAll(t, hostBefore)
	if h := allocHost[byte](t, d, 16<<10); h.at() == page {
		t.Error("memory for 5000 bytes was given out for 16 KiB")
	} else {
		closeAll(t, h)
	}
	if w.quiesced > 0 {
		t.Errorf("the persistent kernels paused %d times", w.quiesced)
	}
	closeAll(t, before)
	if w.quiesced != 1 {
		t.Errorf("earlier memory was freed, and the persistent kernels paused %d times", w.quiesced)
	}
	var leak *LeakError
	if err := d.Close(); !errors.As(err, &leak) || leak.Buffers != 10 || len(leak.Holders) != 1 || !strings.HasSuffix(leak.Holders[0].File, "persistent_memory_test.go") {
		t.Errorf("%v", err)
	}
	if left := lib.Left(); left != "" {
		t.Errorf("left in the driver: %s", left)
	}
}

func TestMemoryKeptForPersistentKernelsIsBounded(t *testing.T) {
	lib := fakecuda.New(1)
	d, w := withResident(t, lib)
	empty, _ := d.Memory()
	var buffers []*Buffer[byte]
	var hosts []*HostBuffer[byte]
	for range 80 {
		buffers = append(buffers, alloc[byte](t, d, 1<<20))
		hosts = append(hosts, allocHost[byte](t, d, 1<<20-5))
	}
	for _, b := range buffers {
		closeAll(t, b)
	}
	if w.quiesced > 0 {
		t.Errorf("the persistent kernels paused %d times for memory of the device", w.quiesced)
	}
	for _, h := range hosts {
		closeAll(t, h)
	}
	if w.quiesced != 16 {
		t.Errorf("80 MiB of page-locked memory were closed, and the persistent kernels paused %d times, want 16", w.quiesced)
	}
	if free, _ := d.Memory(); empty-free > 2*maxKept+1<<10 {
		t.Errorf("%d MiB are kept", (empty-free)>>20)
	}
	d.RemovePersistent(w)
	if free, _ := d.Memory(); empty-free > 1<<10 {
		t.Errorf("%d bytes are kept without residents", empty-free)
	}
	nothingLeft(t, lib, d)
}

func TestMemoryKeptForPersistentKernelsIsFreedWhenMemoryIsShort(t *testing.T) {
	lib := fakecuda.New(1)
	lib.Memory = 8 << 20
	d, w := withResident(t, lib)
	closeAll(t, alloc[byte](t, d, 5<<20))
	b := alloc[byte](t, d, 6<<20)
	if w.quiesced > 0 {
		t.Errorf("the persistent kernels paused %d times", w.quiesced)
	}
	_, err := Alloc[byte](d, 3<<20)
	e, ok := errors.AsType[*OutOfMemoryError](err)
	if !ok || len(e.Holders) != 1 || e.Holders[0].Bytes != 6<<20 || !strings.HasPrefix(err.Error(), "gpu: alloc 3145728 bytes: ") {
		t.Errorf("%v", err)
	}
	if h := e.Holders[0]; !strings.HasSuffix(h.File, "persistent_memory_test.go") {
		t.Errorf("the memory is held by %v", h)
	}
	closeAll(t, b, allocHost[byte](t, d, 1<<20))
	lib.Fail("cuMemHostAlloc", fakecuda.OutOfMemory)
	closeAll(t, allocHost[byte](t, d, 1<<16))
	if w.quiesced != 1 {
		t.Errorf("no more memory could be locked, and the persistent kernels paused %d times for what was kept", w.quiesced)
	}
	lib.Fail("cuMemHostAlloc", fakecuda.OutOfMemory)
	h := allocHost[byte](t, d, 1<<17)
	lib.Fail("cuMemHostAlloc", fakecuda.OutOfMemory)
	if _, err := AllocHost[byte](d, 1<<18); !errors.Is(err, ErrPinned) {
		t.Errorf("nothing is kept: %v, want ErrPinned", err)
	}
	closeAll(t, h)
	nothingLeft(t, lib, d)
}

// TestDroppedMemoryIsGivenBackWhenMemoryIsShort makes the driver's pool keep what the
// device's pool has dropped, and allocates elsewhere on the device.
func TestDroppedMemoryIsGivenBackWhenMemoryIsShort(t *testing.T) {
	lib := fakecuda.New(1)
	lib.Memory = 100 << 20
	d, w := withResident(t, lib)
	small := alloc[byte](t, d, 1)
	closeAll(t, alloc[byte](t, d, 65<<20))
	if free, _ := d.Memory(); free > 50<<20 {
		t.Fatalf("%d MiB are free: the driver has kept nothing", free>>20)
	}
	d.able.persistent.RemovePersistent(owner{w, d}) // like a different device of the GPU
	b := alloc[byte](t, d, 90<<20)
	closeAll(t, b, small)
	nothingLeft(t, lib, d)
}

func TestMemoryWithWorkIsNotReusedWithPersistentKernels(t *testing.T) {
	lib := fakecuda.New(1)
	d, w := withResident(t, lib)
	s := d.DefaultStream()
	other := must[*Stream](t)(d.NewStream(t.Context()))
	second := must[*Device](t)(Open(Config{Device: "cuda:0"}))
	foreign := upload[float32](t, second.DefaultStream(), ramp(1000)...)
	u := must[*Unified[float32]](t)(NewUnified[float32](d, 1000))
	view := must[*Buffer[float32]](t)(u.WriteDevice(other))
	for _, c := range []struct {
		name string
		b    *Buffer[float32]
		work func(b *Buffer[float32]) error
		end  interface{ Close() error }
	}{
		{"a fill", nil, func(b *Buffer[float32]) error { return Fill(other, b, 1) }, nil},
		{"a copy of another device", nil, func(b *Buffer[float32]) error { return CopyPeer(second.DefaultStream(), b, foreign) }, nil},
		{"work on a view of a unified array", view, func(b *Buffer[float32]) error { return Fill(other, b, 1) }, u},
	} {
		b := c.b
		if b == nil {
			b = alloc[float32](t, d, 1000)
		}
		end := c.end
		if end == nil {
			end = b
		}
		busy := lib.Occupy()
		do(t, c.work(b))
		closeAll(t, end)
		next := alloc[float32](t, d, 1000)
		if next.at() == b.at() {
			t.Errorf("%s: the memory is given out while it is in use", c.name)
		}
		close(busy)
		closeAll(t, next)
		do(t, s.Synchronize(t.Context()))
	}
	for d.persistentMemory.pool.Stats().Buffers > 0 { // a goroutine has waited for the other device
		time.Sleep(time.Millisecond)
	}
	if w.quiesced > 0 {
		t.Errorf("the persistent kernels paused %d times", w.quiesced)
	}
	closeAll(t, foreign, second)
	nothingLeft(t, lib, d)
}

func TestMemoryWithPersistentKernelsFollowsTheOrderOfStreams(t *testing.T) {
	for seed := range uint64(20) {
		lib := fakecuda.New(1)
		lib.Lag = rand.New(rand.NewPCG(seed, 4))
		d, w := withResident(t, lib)
		streams := []*Stream{d.DefaultStream(), must[*Stream](t)(d.NewStream(t.Context())), must[*Stream](t)(d.NewStream(t.Context()))}
		var results []*Buffer[int]
		for i := range 40 {
			s, next := streams[i%3], streams[(i+1)%3]
			b, sum := alloc[int](t, d, 100), must[*Buffer[int]](t)(Acquire[int](d.Pool(), s, 100))
			do(t, Fill(s, b, i))
			do(t, Copy(s, sum, b))
			do(t, Fill(next, alloc[int](t, d, 100), -1))
			closeAll(t, b)
			results = append(results, sum)
		}
		for i, r := range results {
			if got := download(t, streams[0], r); slices.ContainsFunc(got, func(v int) bool { return v != i }) {
				t.Fatalf("seed %d: buffer %d holds %v", seed, i, got[0])
			}
		}
		if w.quiesced > 0 {
			t.Errorf("seed %d: the persistent kernels paused %d times", seed, w.quiesced)
		}
	}
}

// A kernel on a detached stream may run for long; nothing else waits for it.
func TestMemoryOfDetachedStreamsIsFreedOnceTheyAreDone(t *testing.T) {
	lib := fakecuda.New(1)
	d, w := withResident(t, lib)
	detached := must[*Stream](t)(d.NewStream(t.Context(), Detached()))
	b := alloc[byte](t, d, maxKept+1)
	do(t, Fill(detached, b, 1))
	lib.Busy, lib.Waits = make(chan struct{}), make(chan string)
	do(t, b.Close())
	select {
	case name := <-lib.Waits:
		if name != "cuEventSynchronize" {
			t.Errorf("waits in %s", name)
		}
	case <-time.After(10 * time.Second):
		t.Error("the memory was freed in the order of a stream that others wait for")
	}
	close(lib.Busy)
	go func() {
		for range lib.Waits {
		}
	}()
	d.RemovePersistent(w)
	do(t, d.Close())
	for lib.Left() != "" { // the waiting goroutine frees the memory, and then the device
		time.Sleep(time.Millisecond)
	}
}

func TestPersistentKernelsRemovedInBetween(t *testing.T) {
	lib := fakecuda.New(1)
	d, w := withResident(t, lib)
	s := d.DefaultStream()
	b, h := upload[float32](t, s, 1, 2, 3), allocHost[byte](t, d, 1<<16)
	kept := allocHost[byte](t, d, 1<<16)
	closeAll(t, kept)
	d.RemovePersistent(w)
	if got := download(t, s, b); !slices.Equal(got, []float32{1, 2, 3}) {
		t.Errorf("read %v", got)
	}
	closeAll(t, h, b)
	plain := alloc[byte](t, d, 100)
	if plain.mem.pooled() != nil {
		t.Error("memory is taken from the pool without residents")
	}
	d.AddPersistent(w)
	again := alloc[byte](t, d, 100)
	d.RemovePersistent(w)
	closeAll(t, plain, again)
	if w.quiesced > 0 {
		t.Errorf("the persistent kernels paused %d times", w.quiesced)
	}
	nothingLeft(t, lib, d)
}

// Freeing host memory waits for the kernels that read it.
func TestMappedMemoryIsNotKept(t *testing.T) {
	lib := fakecuda.New(1)
	d, w := withResident(t, lib)
	h := allocHost[float32](t, d, 1<<12)
	must[*Buffer[float32]](t)(h.Mapped())
	closeAll(t, h)
	if w.quiesced != 1 {
		t.Errorf("the persistent kernels paused %d times", w.quiesced)
	}
	nothingLeft(t, lib, d)
}

func TestMemoryWithPersistentKernelsAndOtherLibraries(t *testing.T) {
	lib := fakecuda.New(1)
	d, _ := withResident(t, lib)
	b := upload[float32](t, d.DefaultStream(), 1, 2, 3)
	if _, err := b.IPCHandle(); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "while actors were running") {
		t.Errorf("a handle for other processes: %v", err)
	}
	tensor := must[unsafe.Pointer](t)(ExportDLPack(b, DLManagedTensorVersioned))
	closeAll(t, b)
	again, _, err := ImportDLPack[float32](d, DLManagedTensorVersioned, tensor)
	do(t, err)
	if got := download(t, d.DefaultStream(), again); !slices.Equal(got, []float32{1, 2, 3}) {
		t.Errorf("read %v", got)
	}
	if next := alloc[float32](t, d, 3); next.at() == again.at() {
		t.Error("memory that another library holds was given out")
	} else {
		closeAll(t, next)
	}
	closeAll(t, again)
	nothingLeft(t, lib, d)
}

func TestDevicesWithoutResidentKernelsKeepNothing(t *testing.T) {
	for _, backend := range []Backend{CPU, Sim} {
		d := must[*Device](t)(Open(Config{Require: backend}))
		d.AddPersistent(new(watcher))
		b := alloc[byte](t, d, 1<<16)
		closeAll(t, b, allocHost[byte](t, d, 1<<16))
		if b.mem.pooled() != nil || d.persistentMemory.pages.Bytes() > 0 {
			t.Errorf("%s keeps memory", backend)
		}
		closeAll(t, d)
	}
}

func TestSizesOfPagesThatAreKept(t *testing.T) {
	for _, c := range []struct{ size, made, room int64 }{
		{1, 4 << 10, 0},
		{4<<10 - 1, 4 << 10, 0},
		{4 << 10, 4 << 10, 4 << 10},
		{4<<10 + 1, 8 << 10, 4 << 10},
		{1<<20 - 1, 1 << 20, 512 << 10},
		{1<<20 + 1, 2 << 20, 1 << 20},
		{5<<20 + 1, 6 << 20, 5 << 20},
		{64 << 20, 64 << 20, 64 << 20},
		{64<<20 + 1, 64<<20 + 1, 64 << 20},
	} {
		if made, room := pagesFor(c.size), pagesOf(c.size); made != c.made || room != c.room {
			t.Errorf("%d bytes: %d are allocated, want %d; %d bytes have room for %d, want %d", c.size, made, c.made, c.size, room, c.room)
		}
	}
}

// Streams are made and closed while memory stays.
func TestMemoryWithPersistentKernelsForgetsClosedStreams(t *testing.T) {
	lib := fakecuda.New(1)
	d, _ := withResident(t, lib)
	b := alloc[byte](t, d, 100)
	for range 100 {
		s := must[*Stream](t)(d.NewStream(context.Background()))
		do(t, Fill(s, b, 1))
		closeAll(t, s)
	}
	if n := b.mem.pooled().uses.Visitors(); n > 1 {
		t.Errorf("the memory knows %d streams", n)
	}
	closeAll(t, b)
	nothingLeft(t, lib, d)
}

// Each size that is kept has its own class, so that kept memory is always large enough.
func TestPagesAreKeptByTheirSize(t *testing.T) {
	classes := map[int]int64{}
	for size := int64(1); size <= maxKept; size += max(1, size/64) {
		rounded := pagesFor(size)
		if rounded < size || pagesOf(rounded) != rounded {
			t.Fatalf("%d bytes become %d, which are kept as %d", size, rounded, pagesOf(rounded))
		}
		if other, ok := classes[pageClass(rounded)]; ok && other != rounded {
			t.Fatalf("%d and %d bytes are of one class", rounded, other)
		}
		classes[pageClass(rounded)] = rounded
	}
	var b persistentMemory
	b.pages.Add(&freelist.Item[pages]{Value: pages{size: maxKept}, Size: maxKept, Class: pageClass(maxKept)})
	if p, ok := b.take(maxKept + 1); ok {
		t.Errorf("%d bytes for %d", p.size, maxKept+1)
	}
}
