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
	ptx := [][]byte{append([]byte(emptyPTX), 0)}
	first, err := d.compiled(ptx)
	if err != nil {
		t.Fatal(err)
	}
	lib.Fail("cuLinkComplete", fakecuda.InvalidPTX) // nothing is to be compiled
	again, err := d.compiled(ptx)
	if err != nil || !bytes.Equal(first, again) {
		t.Errorf("compiled again: %d bytes of %d, %v", len(again), len(first), err)
	}
	other := [][]byte{append([]byte(emptyPTX+"// other\n"), 0)}
	if _, err := d.compiled(other); err == nil {
		t.Error("other PTX has the same code")
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// witness is a driver, and a resident that writes down what is called while it is away.
type witness struct {
	*fakecuda.Library
	names  map[uintptr]string
	away   bool
	pauses int
	calls  []string // while it is away
	beside []string
}

func (w *witness) Lookup(name string) uintptr {
	address := w.Library.Lookup(name)
	w.names[address] = name
	return address
}

func (w *witness) Call(address uintptr, args []uintptr) uintptr {
	switch name := w.names[address]; {
	case name == "cuCtxSetCurrent": // goes before any other, and waits for nothing
	case w.away:
		w.calls = append(w.calls, name)
	default:
		w.beside = append(w.beside, name)
	}
	return w.Library.Call(address, args)
}

func (w *witness) Quiesce(driver.Operation) error {
	w.away = true
	w.pauses++
	return nil
}

func (w *witness) Resume() error {
	w.away = false
	return nil
}

// witnessed opens a device with a witness, and closes it after the test.
func witnessed(t *testing.T) (driver.Device, *witness) {
	w := &witness{Library: fakecuda.New(1), names: map[uintptr]string{}}
	dev, err := candidates(w, nil)[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	dev.AddResident(w)
	t.Cleanup(func() {
		dev.RemoveResident(w)
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
		if left := w.Left(); left != "" {
			t.Error("left in the driver:", left)
		}
	})
	return dev, w
}

func TestResidentsAreAwayForOneCallOfALoad(t *testing.T) {
	dev, w := witnessed(t)
	kernel := &driver.Kernel{Name: "empty", PTX: emptyPTX}
	for _, kernels := range [][]*driver.Kernel{{kernel}, {kernel, kernel, kernel}} {
		w.pauses, w.calls, w.beside = 0, nil, nil
		functions, err := dev.LoadTogether(kernels)
		if err != nil {
			t.Fatal(err)
		}
		if w.pauses != 1 || !slices.Equal(w.calls, []string{"cuKernelGetFunction"}) {
			t.Errorf("%d kernels: %d pauses with %v, want one with the first cuKernelGetFunction", len(kernels), w.pauses, w.calls)
		}
		others := 0
		for _, name := range w.beside {
			if name == "cuKernelGetFunction" {
				others++
			}
		}
		if others != len(kernels)-1 {
			t.Errorf("%d kernels: %d calls of cuKernelGetFunction beside the resident", len(kernels), others)
		}
		if err := driver.CloseAll(functions); err != nil {
			t.Error(err)
		}
	}
}

// failing is a resident after whose first pause a kernel of a library is not found.
type failing struct{ *witness }

func (f failing) Resume() error {
	if f.pauses == 1 {
		f.Fail("cuKernelGetFunction", fakecuda.NotFound)
	}
	return f.witness.Resume()
}

// The first kernel has put the library into the context by then.
func TestALibraryWhoseSecondKernelIsNotFoundIsUnloaded(t *testing.T) {
	dev, w := witnessed(t)
	dev.RemoveResident(w)
	dev.AddResident(failing{w})
	defer dev.RemoveResident(failing{w})
	kernel := &driver.Kernel{Name: "empty", PTX: emptyPTX}
	functions, err := dev.LoadTogether([]*driver.Kernel{kernel, kernel})
	if err != nil {
		t.Fatal(err)
	}
	// Then each is loaded by itself.
	if want := []string{"cuKernelGetFunction", "cuLibraryUnload", "cuKernelGetFunction", "cuKernelGetFunction"}; !slices.Equal(w.calls, want) {
		t.Errorf("the resident was away for %v, want %v", w.calls, want)
	}
	if err := driver.CloseAll(functions); err != nil {
		t.Error(err)
	}
}
