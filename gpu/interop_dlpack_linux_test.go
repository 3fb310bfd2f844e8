package gpu

import (
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"
	"quern.dev/internal/testmodule"
)

// library compiles the C library of the tests.
func library(t *testing.T) uintptr {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("needs a C compiler: put cc on PATH")
	}
	name := filepath.Join(t.TempDir(), "dlpack.so")
	if out, err := exec.Command(cc, "-std=c11", "-Wall", "-Werror", "-shared", "-fPIC", "-pthread", "-o", name, "testdata/dlpack.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return must[uintptr](t)(purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL))
}

func callC(t *testing.T, lib uintptr, name string, args ...uintptr) uintptr {
	t.Helper()
	r, _, _ := purego.SyscallN(must[uintptr](t)(purego.Dlsym(lib, name)), args...)
	return r
}

func TestCReadsBuffers(t *testing.T) {
	testmodule.NeedSource(t)
	lib := library(t)
	d := must[*Device](t)(Open(Config{Device: "cpu"}))
	want := int64(0)
	for i := range 12 {
		want += int64((i/4)*100+i%4) * int64(i+2)
	}
	for format, consume := range map[DLPackFormat]string{DLManagedTensorVersioned: "consume_versioned", DLManagedTensor: "consume"} {
		b := upload(t, d.DefaultStream(), ramp(20)...)
		p := must[unsafe.Pointer](t)(ExportDLPack(b.Slice(2, 14), format, 3, 4))
		do(t, b.Close()) // the memory stays until C has called the deleter
		if got := int64(callC(t, lib, consume, uintptr(p))); got != want {
			t.Errorf("%s: the sum is %d, want %d", consume, got, want)
		}
		if b.mem.lease.Acquire() || b.mem.drv.Host != nil {
			t.Errorf("%s: the memory is not free after the deleter", consume)
		}
	}
	do(t, d.Close())
}

func TestBuffersOfC(t *testing.T) {
	testmodule.NeedSource(t)
	lib := library(t)
	d := must[*Device](t)(Open(Config{Device: "cpu"}))
	at := callC(t, lib, "produce")
	b, shape, err := ImportDLPack[float32](d, DLManagedTensorVersioned, *(*unsafe.Pointer)(unsafe.Pointer(&at)))
	do(t, err)
	if got := download(t, d.DefaultStream(), b); !slices.Equal(got, ramp(12)) || !slices.Equal(shape, []int{3, 4}) {
		t.Errorf("read %v of shape %v", got, shape)
	}
	do(t, Fill(d.DefaultStream(), b.Slice(0, 4), 5))
	if ended := callC(t, lib, "tensors_ended"); ended != 0 {
		t.Error("the tensor has ended before its buffer was closed")
	}
	closeAll(t, b, b)
	if ended := callC(t, lib, "tensors_ended"); ended != 1 {
		t.Errorf("closing the buffer has ended %d tensors", ended)
	}
	do(t, d.Close())
}
