package gputest

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"quern.dev/gpu"
)

// DevicesVariable is the environment variable that restricts the devices used by
// [Each] and [Compare]. Its value is a list of devices or kinds of devices, such
// as "cpu,sim" or "cuda:1".
const DevicesVariable = "QUERN_TEST_DEVICES"

// Each runs f as a subtest on every device of the machine. The device is closed
// after the subtest and its cleanups. The subtest fails if f leaves resources of
// the device open.
func Each(t *testing.T, f func(t *testing.T, dev *gpu.Device)) {
	t.Helper()
	infos, err := selectDevices(gpu.Devices(), os.Getenv(DevicesVariable))
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range infos {
		t.Run(info.ID, func(t *testing.T) {
			t.Helper()
			if info.Err != nil {
				t.Skipf("%s is not usable: %v; run go tool quern doctor for advice", info.ID, info.Err)
			}
			f(t, Open(t, gpu.Config{Device: info.ID}))
		})
	}
}

// Open opens a device for the test and closes it when the test ends. The test
// fails if it leaves resources of the device open. If the device does not exist,
// the test is skipped.
func Open(t testing.TB, config gpu.Config) *gpu.Device {
	t.Helper()
	dev, err := gpu.Open(config)
	if errors.Is(err, gpu.ErrNoDevice) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		t.Helper()
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	})
	return dev
}

// selectDevices returns the devices that a list names, or all of them if the list
// is empty.
func selectDevices(infos []gpu.DeviceInfo, list string) ([]gpu.DeviceInfo, error) {
	if strings.TrimSpace(list) == "" {
		return infos, nil
	}
	var out []gpu.DeviceInfo
	for _, name := range strings.Split(list, ",") {
		name = strings.TrimSpace(name)
		kind, _, _ := strings.Cut(name, ":")
		found := false
		for _, i := range infos {
			if i.ID != name && string(i.Backend) != name && !(i.Err != nil && string(i.Backend) == kind) {
				continue
			}
			if i.Err != nil {
				return nil, &deviceError{list, name, i.Err}
			}
			found = true
			if !slices.ContainsFunc(out, func(o gpu.DeviceInfo) bool { return o.ID == i.ID }) {
				out = append(out, i)
			}
		}
		if !found {
			return nil, &deviceError{list, name, errors.New("no such device; use cpu, sim, cuda or cuda:1")}
		}
	}
	return out, nil
}

// deviceError reports that a device named by the environment cannot be used.
type deviceError struct {
	list, name string
	err        error
}

func (e *deviceError) Error() string {
	return "gputest: " + DevicesVariable + "=" + e.list + ": " + e.name + ": " + e.err.Error()
}

func (e *deviceError) Unwrap() error { return e.err }

// Upload returns a buffer with a copy of the values. The buffer is closed when
// the test ends.
func Upload[T any](t testing.TB, dev *gpu.Device, values []T) *gpu.Buffer[T] {
	t.Helper()
	b, err := gpu.Upload(dev.DefaultStream(), values)
	return closeAtEnd(t, b, err)
}

// Alloc returns a buffer of n elements for results. The buffer is closed when the
// test ends. It is filled with poison, so that elements that no kernel writes are
// noticed: floats are NaN, the bytes of integers are 0xA5, and bools are false.
func Alloc[T any](t testing.TB, dev *gpu.Device, n int) *gpu.Buffer[T] {
	t.Helper()
	values := make([]T, n)
	fill(values, ofDevice)
	return Upload(t, dev, values)
}

// Download waits for the device's default stream and returns the elements of the
// buffer. The test fails if a kernel has failed.
func Download[T any](t testing.TB, dev *gpu.Device, b *gpu.Buffer[T]) []T {
	t.Helper()
	values := make([]T, b.Len())
	if err := gpu.Download(t.Context(), dev.DefaultStream(), values, b); err != nil {
		t.Fatal(err)
	}
	return values
}

// closeAtEnd closes a buffer when the test ends.
func closeAtEnd[T any](t testing.TB, b *gpu.Buffer[T], err error) *gpu.Buffer[T] {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		t.Helper()
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}
