package gpu

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"quern.dev/internal/driver/cuda/fakecuda"
)

func TestBufferOpenedByItsHandle(t *testing.T) {
	lib := fakecuda.New(1)
	d := openFake(t, lib)
	s := d.DefaultStream()
	b := upload(t, s, 1, 2, 3, 4, 5, 6)
	text := must[[]byte](t)(json.Marshal(must[IPCHandle](t)(b.Slice(2, 5).IPCHandle())))
	var h IPCHandle
	do(t, json.Unmarshal(text, &h))
	opened := must[*Buffer[int]](t)(OpenIPC[int](d, h))
	if got := download(t, s, opened); !slices.Equal(got, []int{3, 4, 5}) {
		t.Errorf("read %v", got)
	}
	do(t, Fill(s, opened.Slice(1, 2), 9))
	if got := download(t, s, b); !slices.Equal(got, []int{1, 2, 3, 9, 5, 6}) {
		t.Errorf("read %v", got)
	}
	closeAll(t, opened, b, d)
	if left := lib.Left(); left != "" {
		t.Errorf("left in the driver: %s", left)
	}
}

func TestHandlesThatCannotBeOpened(t *testing.T) {
	lib := fakecuda.New(1)
	d := openFake(t, lib)
	b := upload[int32](t, d.DefaultStream(), 1, 2, 3)
	good := must[IPCHandle](t)(b.IPCHandle())
	strange := good
	strange.Memory = make([]byte, 64)
	cpu := must[*Device](t)(Open(Config{Device: "cpu"}))
	host := upload[int32](t, cpu.DefaultStream(), 1)
	empty := upload[int32](t, d.DefaultStream())
	closed := upload[int32](t, d.DefaultStream(), 1)
	do(t, closed.Close())
	pooled := acquire[int32](t, d.Pool(), d.DefaultStream(), 3)
	var driver *Error
	for _, c := range []struct {
		name string
		err  error
		is   error
		want string
	}{
		{"no handle", second(OpenIPC[int32](d, IPCHandle{})), ErrInvalid, "gpu: open ipc handle: the handle names memory with 0 bytes, want 64"},
		{"elements that do not fit", second(OpenIPC[int64](d, good)), ErrInvalid, "the handle's size of 12 bytes is not a multiple of the element size 8"},
		{"elements that a device has not", second(OpenIPC[*int](d, good)), ErrInvalid, "cannot hold elements of type *int"},
		{"a device without handles", second(OpenIPC[int32](cpu, good)), errors.ErrUnsupported, "memory of cpu has no IPC handle"},
		{"memory without a handle", second(host.IPCHandle()), errors.ErrUnsupported, "memory of cpu has no IPC handle"},
		{"no memory", second(empty.IPCHandle()), ErrInvalid, "gpu: ipc handle: an empty buffer has no IPC handle"},
		{"memory of a pool", second(pooled.IPCHandle()), ErrInvalid, "gpu: ipc handle: a buffer of a pool has no IPC handle; use Alloc"},
		{"an offset between elements", second(OpenIPC[int32](d, IPCHandle{Memory: good.Memory, Offset: 2, Size: 4})), ErrInvalid, "the handle's offset of 2 bytes is not a multiple of 4, the alignment of an element"},
		{"a closed buffer", second(closed.IPCHandle()), ErrClosed, "buffer is closed"},
		{"nil", second((*Buffer[int32])(nil).IPCHandle()), ErrInvalid, "buffer is nil"},
	} {
		if !errors.Is(c.err, c.is) || !strings.Contains(fmt.Sprint(c.err), c.want) {
			t.Errorf("%s: %v", c.name, c.err)
		}
	}
	if _, err := OpenIPC[int32](d, strange); !errors.As(err, &driver) || driver.Name != "CUDA_ERROR_INVALID_HANDLE" {
		t.Errorf("memory that is not there: %v", err)
	}
	closeAll(t, pooled, b, host, empty, d, cpu)
}

func TestHandlesOnASystemWithoutThem(t *testing.T) {
	lib := fakecuda.New(1)
	lib.Missing = map[string]bool{"cuIpcGetMemHandle": true, "cuIpcOpenMemHandle_v2": true}
	d := openFake(t, lib)
	b := upload(t, d.DefaultStream(), 1)
	var driver *Error
	for _, err := range []error{second(b.IPCHandle()), second(OpenIPC[int](d, IPCHandle{Memory: make([]byte, 64), Size: 8}))} {
		if !errors.As(err, &driver) || driver.Name != "not found" {
			t.Errorf("got %v", err)
		}
	}
	closeAll(t, b, d)
}

// ipcVariable makes the test process open the handle in this variable.
const ipcVariable = "QUERN_TEST_IPC"

// Two processes share memory of a GPU.
func TestProcessesShareMemory(t *testing.T) {
	if text := os.Getenv(ipcVariable); text != "" {
		openAndFill(t, text)
		return
	}
	d, err := Open(Config{Require: CUDA})
	if err != nil {
		t.Skipf("needs a GPU: %v; go tool quern doctor says what to do", err)
	}
	s := d.DefaultStream()
	b := upload(t, s, ramp(1000)...)
	do(t, s.Synchronize(t.Context()))
	text := must[[]byte](t)(json.Marshal(must[IPCHandle](t)(b.Slice(10, 20).IPCHandle())))
	other := exec.Command(os.Args[0], "-test.run", "^TestProcessesShareMemory$", "-test.v")
	other.Env = append(os.Environ(), ipcVariable+"="+string(text))
	out, err := other.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines := bufio.NewScanner(strings.NewReader(string(out)))
	opened := false
	for lines.Scan() {
		opened = opened || strings.Contains(lines.Text(), "opened [10 11 12 13 14 15 16 17 18 19]")
	}
	if !opened {
		t.Errorf("the other process printed\n%s", out)
	}
	want := ramp(1000)
	for i := 10; i < 20; i++ {
		want[i] = -1
	}
	if got := download(t, s, b); !slices.Equal(got, want) {
		t.Errorf("after the other process: %v", got[:30])
	}
	closeAll(t, b, d)
}

func openAndFill(t *testing.T, text string) {
	var h IPCHandle
	do(t, json.Unmarshal([]byte(text), &h))
	d := must[*Device](t)(Open(Config{Require: CUDA}))
	s := d.DefaultStream()
	b := must[*Buffer[float32]](t)(OpenIPC[float32](d, h))
	fmt.Println("opened", download(t, s, b))
	do(t, Fill(s, b, -1))
	do(t, s.Synchronize(t.Context()))
	closeAll(t, b, d)
}
