package gpu

import (
	"context"
	"testing"

	"quern.dev/internal/driver"
	"quern.dev/internal/driver/cuda"
	"quern.dev/internal/driver/cuda/fakecuda"
)

// everyDevice runs a test on each device of the machine, and on the CUDA back end
// with a fake driver that computes on the CPU. The test must close what it opens.
func everyDevice(t *testing.T, test func(t *testing.T, d *Device)) {
	t.Helper()
	for _, info := range Devices() {
		if info.Err != nil {
			continue
		}
		t.Run(info.ID, func(t *testing.T) {
			d, err := Open(Config{Device: info.ID})
			if err != nil {
				t.Fatal(err)
			}
			copiesMuch(d)
			test(t, d)
			if err := d.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		})
	}
	t.Run("fake cuda", func(t *testing.T) {
		lib := fakecuda.New(1)
		d := openFake(t, lib)
		test(t, d)
		if err := d.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		if left := lib.Left(); left != "" {
			t.Errorf("left in the driver: %s", left)
		}
	})
}

// openFake opens the first device of a driver library.
func openFake(t testing.TB, lib *fakecuda.Library) *Device {
	t.Helper()
	withCUDA(t, lib)
	d, err := Open(Config{Device: "cuda:0"})
	if err != nil {
		t.Fatal(err)
	}
	copiesMuch(d)
	return d
}

// withCUDA makes the devices of lib the CUDA devices until the test ends.
func withCUDA(t testing.TB, lib cuda.Library) {
	replaceBackend(t, CUDA, func(Config) []driver.Candidate { return cuda.CandidatesOf(lib) })
}

func replaceBackend(t testing.TB, name Backend, list func(Config) []driver.Candidate) {
	old := backends
	t.Cleanup(func() { backends = old })
	backends = append([]backend(nil), old...)
	for i := range backends {
		if backends[i].name == name {
			backends[i].list = list
		}
	}
}

// do fails the test if err is not nil.
func do(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// must returns v, and fails the test if err is not nil.
func must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// upload makes a buffer, which is closed when the test ends.
func upload[T any](t testing.TB, s *Stream, host ...T) *Buffer[T] {
	t.Helper()
	return must[*Buffer[T]](t)(Upload(s, host))
}

// download returns the contents of a buffer.
func download[T any](t testing.TB, s *Stream, b *Buffer[T]) []T {
	t.Helper()
	host := make([]T, b.Len())
	do(t, Download(context.Background(), s, host, b))
	return host
}

// closeAll closes buffers.
func closeAll(t testing.TB, closers ...interface{ Close() error }) {
	t.Helper()
	for _, c := range closers {
		do(t, c.Close())
	}
}
