// Package devicetest runs tests on every device of the machine.
//
//	func TestScale(t *testing.T) {
//		devicetest.Each(t, func(t *testing.T, d *gpu.Device) {
//			x := devicetest.Upload(t, d, []float32{1, 2, 3})
//			if err := LaunchScale(d.DefaultStream(), gpu.Linear(3), 2, x); err != nil {
//				t.Fatal(err)
//			}
//			got := devicetest.Download(t, d, x)
//			...
//		})
//	}
package devicetest

import (
	"context"
	"testing"

	"quern.dev/gpu"
)

// Each runs f as a subtest on every device of the machine. Devices that are
// there but cannot be used are skipped with the reason.
func Each(t *testing.T, f func(t *testing.T, d *gpu.Device)) {
	t.Helper()
	for _, info := range gpu.Devices() {
		t.Run(info.ID, func(t *testing.T) {
			if info.Err != nil {
				t.Skipf("%s is not usable: %v; quern doctor says what to do", info.ID, info.Err)
			}
			d, err := gpu.Open(gpu.Config{Device: info.ID})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := d.Close(); err != nil {
					t.Error(err)
				}
			})
			f(t, d)
		})
	}
}

// Upload returns a buffer with the values, which is closed when the test ends.
func Upload[T any](t testing.TB, d *gpu.Device, values []T) *gpu.Buffer[T] {
	t.Helper()
	b, err := gpu.Upload(d.DefaultStream(), values)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// Download waits for the device and returns the buffer's values.
func Download[T any](t testing.TB, d *gpu.Device, b *gpu.Buffer[T]) []T {
	t.Helper()
	values := make([]T, b.Len())
	if err := gpu.Download(context.Background(), d.DefaultStream(), values, b); err != nil {
		t.Fatal(err)
	}
	return values
}
