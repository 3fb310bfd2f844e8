package gputest

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"quern.dev/gpu"
)

// DevicesVariable is the environment variable that restricts the devices which [Each]
// and [Compare] use: a list of devices or of kinds of them, as in "cpu,sim" or "cuda:1".
const DevicesVariable = "QUERN_TEST_DEVICES"

// Each runs f as a subtest on every device of the machine. The device is closed when the
// subtest has ended, with its cleanups; what f has not closed fails the subtest.
func Each(t *testing.T, f func(t *testing.T, dev *gpu.Device)) {
	t.Helper()
	infos, err := chosen(gpu.Devices(), os.Getenv(DevicesVariable))
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range infos {
		t.Run(info.ID, func(t *testing.T) {
			t.Helper()
			if info.Err != nil {
				t.Skipf("%s is not usable: %v; quern doctor says what to do", info.ID, info.Err)
			}
			f(t, Open(t, gpu.Config{Device: info.ID}))
		})
	}
}

// Open opens a device for the test and closes it when the test has ended. What the test
// has not closed then fails it. If there is no such device the test is skipped.
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

// chosen returns those of the devices that a list names, all of them if it is empty.
func chosen(infos []gpu.DeviceInfo, list string) ([]gpu.DeviceInfo, error) {
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
			return nil, &deviceError{list, name, errors.New("there is no such device; write cpu, sim, cuda or cuda:1")}
		}
	}
	return out, nil
}

// deviceError is why a device that the environment names cannot be used.
type deviceError struct {
	list, name string
	err        error
}

func (e *deviceError) Error() string {
	return "gputest: " + DevicesVariable + "=" + e.list + ": " + e.name + ": " + e.err.Error()
}

func (e *deviceError) Unwrap() error { return e.err }

// Upload returns a buffer with a copy of the values, which is closed when the test has
// ended.
func Upload[T any](t testing.TB, dev *gpu.Device, values []T) *gpu.Buffer[T] {
	t.Helper()
	b, err := gpu.Upload(dev.DefaultStream(), values)
	return kept(t, b, err)
}

// Alloc returns a buffer of n elements for results, which is closed when the test has
// ended. Its numbers are poison, so that an element that no kernel writes shows: NaN, and
// integers of bytes 0xA5. Bools are false.
func Alloc[T any](t testing.TB, dev *gpu.Device, n int) *gpu.Buffer[T] {
	t.Helper()
	values := make([]T, n)
	fill(values, ofDevice)
	return Upload(t, dev, values)
}

// Download waits for the default stream of the device and returns the elements of the
// buffer. If a kernel has failed, so does the test.
func Download[T any](t testing.TB, dev *gpu.Device, b *gpu.Buffer[T]) []T {
	t.Helper()
	values := make([]T, b.Len())
	if err := gpu.Download(t.Context(), dev.DefaultStream(), values, b); err != nil {
		t.Fatal(err)
	}
	return values
}

// kept closes a buffer when the test has ended.
func kept[T any](t testing.TB, b *gpu.Buffer[T], err error) *gpu.Buffer[T] {
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
