package cuda

import (
	"bytes"
	"slices"
	"testing"

	"quern.dev/internal/diskcache"
	"quern.dev/internal/driver"
	"quern.dev/internal/driver/cuda/fakecuda"
)

func TestMachineCodeIsKept(t *testing.T) {
	lib := fakecuda.New(1)
	dev, err := candidates(lib, diskcache.In(t.TempDir(), 4))[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	d := dev.(*device)
	ptx := append([]byte(emptyPTX), 0)
	first, err := d.compiled(ptx)
	if err != nil {
		t.Fatal(err)
	}
	lib.Fail("cuLinkComplete", fakecuda.InvalidPTX) // nothing may be compiled
	again, err := d.compiled(ptx)
	if err != nil || !bytes.Equal(first, again) {
		t.Errorf("compiled again: %d bytes of %d, %v", len(again), len(first), err)
	}
	other := append([]byte(emptyPTX+"// other\n"), 0)
	if _, err := d.compiled(other); err == nil {
		t.Error("other PTX has the same code")
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

func TestLinkedCodeIsCompiledForAnyBlock(t *testing.T) {
	const head, tail = ".visible .entry f()", "{\n\tret;\n}\n\x00"
	if got := string(withoutBlockSize([]byte(head + "\n.reqntid 256, 1, 1\n" + tail))); got != head+"\n"+tail {
		t.Errorf("%q", got)
	}
	for _, same := range []string{head + "\n" + tail, head + "\n.reqntid 256, 1, 1\n.reqnctapercluster 2, 1, 1\n" + tail, head + "\n.reqntid 256"} {
		if got := string(withoutBlockSize([]byte(same))); got != same {
			t.Errorf("%q of %q", got, same)
		}
	}
}

// recorder is a driver library and an owner of a persistent kernel. It records the
// driver calls made while the kernel is stopped.
type recorder struct {
	*fakecuda.Library
	names  map[uintptr]string
	pauses int
	paused bool
	calls  []string
}

func (w *recorder) Lookup(name string) uintptr {
	address := w.Library.Lookup(name)
	w.names[address] = name
	return address
}

func (w *recorder) Call(address uintptr, args []uintptr) uintptr {
	// cuCtxSetCurrent precedes every other call and waits for nothing.
	if name := w.names[address]; w.paused && name != "cuCtxSetCurrent" {
		w.calls = append(w.calls, name)
	}
	return w.Library.Call(address, args)
}

func (w *recorder) Quiesce(driver.Operation) error {
	w.paused = true
	w.pauses++
	return nil
}

func (w *recorder) Resume() error {
	w.paused = false
	return nil
}

// openRecorded opens a device with a recorder, and closes it after the test.
func openRecorded(t *testing.T) (driver.Device, *recorder) {
	w := &recorder{Library: fakecuda.New(1), names: map[uintptr]string{}}
	dev, err := candidates(w, nil)[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	dev.(driver.PersistentKernels).AddPersistent(w)
	t.Cleanup(func() {
		dev.(driver.PersistentKernels).RemovePersistent(w)
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
		if left := w.Left(); left != "" {
			t.Error("left in the driver:", left)
		}
	})
	return dev, w
}

func TestALoadStopsPersistentKernelsForOneCall(t *testing.T) {
	dev, w := openRecorded(t)
	f, err := dev.Load(&driver.Kernel{Name: "empty", PTX: emptyPTX})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"cuKernelGetFunction"}; w.pauses != 1 || !slices.Equal(w.calls, want) {
		t.Errorf("%d pauses with %v, want one with %v", w.pauses, w.calls, want)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// It is then loaded as a module.
func TestALibraryWhoseKernelIsNotFoundIsUnloaded(t *testing.T) {
	dev, w := openRecorded(t)
	w.Fail("cuKernelGetFunction", fakecuda.NotFound)
	f, err := dev.Load(&driver.Kernel{Name: "empty", PTX: emptyPTX})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"cuLibraryUnload", "cuModuleLoadDataEx"} {
		if !slices.Contains(w.calls, name) {
			t.Errorf("calls while the persistent kernel was stopped: %v, want %s among them", w.calls, name)
		}
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}
