package interop

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/internal/dlpack"
	"quern.dev/npy"
)

// peers lists the libraries and the devices whose memory they accept.
var peers = []struct {
	module  string
	backend gpu.Backend
	device  string // the device argument of arange, in Python
	wait    string
	counts  bool // an exported array holds a Python reference
}{
	{"numpy", gpu.CPU, "", "", true},
	{"torch", gpu.CPU, "", "", false},
	{"torch", gpu.CUDA, ", device='cuda'", "torch.cuda.synchronize()", false},
	{"cupy", gpu.CUDA, "", "cupy.cuda.Device().synchronize()", true},
}

func openDevice(t *testing.T, backend gpu.Backend) *gpu.Device {
	t.Helper()
	d, err := gpu.Open(gpu.Config{Require: backend})
	if err != nil {
		t.Skipf("needs a device: %v; go tool quern doctor says what to do", err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// each runs a test with every library and both DLPack structures.
func each(t *testing.T, test func(t *testing.T, i int, p *python, d *gpu.Device, f gpu.DLPackFormat)) {
	for i, peer := range peers {
		for _, f := range []gpu.DLPackFormat{gpu.DLManagedTensor, gpu.DLManagedTensorVersioned} {
			t.Run(fmt.Sprintf("%s on %s, %s", peer.module, peer.backend, f.Capsule()), func(t *testing.T) {
				d := openDevice(t, peer.backend)
				test(t, i, with(t, peer.module), d, f)
			})
		}
	}
}

func truth(b bool) string {
	if b {
		return "True"
	}
	return "False"
}

func do(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestLibrariesReadAndWriteBuffers(t *testing.T) {
	each(t, func(t *testing.T, i int, p *python, d *gpu.Device, f gpu.DLPackFormat) {
		s, peer := d.DefaultStream(), peers[i]
		b := gputest.Upload(t, d, []float32{9, 0, 1, 2, 3, 4, 5, 9})
		do(t, s.Synchronize(t.Context()))
		x, err := gpu.ExportDLPack(b.Slice(1, 7), f, 2, 3)
		do(t, err)
		device := "(1, 0)"
		if peer.backend == gpu.CUDA {
			device = "(2, 0)"
		}
		p.do(t, "x = %s.from_dlpack(Tensor(%d, %s, %s))", peer.module, x, truth(f == gpu.DLManagedTensorVersioned), device)
		p.do(t, "check(tuple(x.shape), (2, 3)); check(values(x), [0, 1, 2, 3, 4, 5])")
		p.do(t, "check(str(x.dtype).split('.')[-1], 'float32')")
		want := []float32{9, 0, 1, 2, 3, 4, 5, 9}
		if peer.module != "numpy" || f == gpu.DLManagedTensorVersioned { // otherwise NumPy treats the array as read-only
			p.do(t, "x *= 2\n%s", peer.wait)
			want = []float32{9, 0, 2, 4, 6, 8, 10, 9}
		}
		if got := gputest.Download(t, d, b); !slices.Equal(got, want) {
			t.Errorf("read after Python: %v", got)
		}
		// The library keeps the memory alive and releases it on another thread.
		do(t, b.Close())
		p.do(t, "check(values(x)[1:3], [%v, %v])", want[2], want[3])
		if n := dlpack.Outstanding(); n != 1 {
			t.Errorf("Python holds %d tensors", n)
		}
		p.do(t, "def forget():\n  global x\n  del x\n  gc.collect()\non_thread(forget)")
		if n := dlpack.Outstanding(); n != 0 {
			t.Errorf("Python has not released %d tensors", n)
		}
	})
}

func TestImportsBuffersOfLibraries(t *testing.T) {
	each(t, func(t *testing.T, i int, p *python, d *gpu.Device, f gpu.DLPackFormat) {
		peer := peers[i]
		p.do(t, "x = %[1]s.arange(6, dtype=%[1]s.float32%[2]s).reshape(2, 3)\n%[3]s", peer.module, peer.device, peer.wait)
		p.do(t, "references = sys.getrefcount(x)")
		r := new(tensor)
		p.do(t, "give(x, %s, %d)", truth(f == gpu.DLManagedTensorVersioned), r.at())
		runtime.KeepAlive(r)
		if _, _, err := gpu.ImportDLPack[float64](d, f, r.p); err == nil || !strings.Contains(err.Error(), "not {2 64 1} of float64") {
			t.Errorf("import as another type: %v", err)
		}
		b, shape, err := gpu.ImportDLPack[float32](d, f, r.p)
		do(t, err)
		if got := gputest.Download(t, d, b); !slices.Equal(got, []float32{0, 1, 2, 3, 4, 5}) || !slices.Equal(shape, []int{2, 3}) {
			t.Errorf("read %v of shape %v", got, shape)
		}
		s := d.DefaultStream()
		do(t, gpu.Fill(s, b.Slice(1, 3), 7))
		do(t, s.Synchronize(t.Context()))
		p.do(t, "check(values(x), [0, 7, 7, 3, 4, 5])")
		do(t, b.Close())
		if peer.counts {
			p.do(t, "check(sys.getrefcount(x), references)")
		}
		p.do(t, "y = x.T")
		p.do(t, "give(y, %s, %d)", truth(f == gpu.DLManagedTensorVersioned), r.at())
		if _, _, err := gpu.ImportDLPack[float32](d, f, r.p); err == nil || !strings.Contains(err.Error(), "make the elements contiguous") {
			t.Errorf("import with strides: %v", err)
		}
	})
}

func TestArrayInterface(t *testing.T) {
	for _, peer := range []struct{ module, from, wait string }{
		{"cupy", "cupy.asarray", "cupy.cuda.Device().synchronize()"},
		{"torch", "torch.as_tensor", "torch.cuda.synchronize()"},
	} {
		t.Run(peer.module, func(t *testing.T) {
			d := openDevice(t, gpu.CUDA)
			p := with(t, peer.module)
			s := d.DefaultStream()
			b := gputest.Upload(t, d, []float32{9, 0, 1, 2, 3, 4, 5, 9})
			text, err := b.Slice(1, 7).CUDAArrayInterface(s, 2, 3)
			do(t, err)
			device := ""
			if peer.module == "torch" {
				device = ", device='cuda'"
			}
			p.do(t, "x = %s(Array(%q)%s)", peer.from, text, device)
			p.do(t, "check(tuple(x.shape), (2, 3)); check(values(x), [0, 1, 2, 3, 4, 5])\nx += 1\n%s", peer.wait)
			if got := gputest.Download(t, d, b); !slices.Equal(got, []float32{9, 1, 2, 3, 4, 5, 6, 9}) {
				t.Errorf("read after Python: %v", got)
			}
			p.do(t, "del x; gc.collect()")
		})
	}
}

func TestNumPyFiles(t *testing.T) {
	p := with(t, "numpy")
	dir := t.TempDir()
	theirs, ours := filepath.Join(dir, "theirs"), filepath.Join(dir, "ours.npz")
	p.do(t, "numpy.savez_compressed(%q, x=numpy.linspace(0, 1, 5), y=numpy.asfortranarray(numpy.arange(6, dtype='>u2').reshape(2, 3)))", theirs)
	a, err := npy.OpenArchive(theirs + ".npz")
	do(t, err)
	x, err := npy.ReadFrom[float64](a, "x")
	do(t, err)
	y, err := npy.ReadFrom[uint16](a, "y")
	do(t, err)
	if !slices.Equal(x.Data, []float64{0, 0.25, 0.5, 0.75, 1}) || !slices.Equal(y.Data, []uint16{0, 1, 2, 3, 4, 5}) {
		t.Errorf("read %v and %v", x, y)
	}
	do(t, a.Close())
	do(t, npy.WriteFile(filepath.Join(dir, "one.npy"), npy.Array[complex64]{Shape: []int{1, 2}, Data: []complex64{1i, 2}}))
	p.do(t, "check(numpy.load(%q).tolist(), [[1j, 2]])", filepath.Join(dir, "one.npy"))
	file, err := os.Create(ours)
	do(t, err)
	w := npy.NewArchiveWriter(file)
	do(t, npy.Add(w, "x", x))
	do(t, npy.Add(w, "y", y))
	do(t, w.Close())
	do(t, file.Close())
	p.do(t, "z = numpy.load(%q)\ncheck(z['x'].tolist(), [0, 0.25, 0.5, 0.75, 1]); check(z['y'].tolist(), [[0, 1, 2], [3, 4, 5]]); check(z['y'].dtype, numpy.uint16)", ours)
}

//go:embed ipc.py
var ipc string

func TestExportedMemoryOpensInAnotherProcess(t *testing.T) {
	d := openDevice(t, gpu.CUDA)
	with(t, "cupy")
	b := gputest.Upload(t, d, []float32{9, 0, 1, 2, 9})
	do(t, d.Synchronize(t.Context()))
	handle, err := b.Slice(1, 4).IPCHandle()
	do(t, err)
	text, err := json.Marshal(handle)
	do(t, err)
	out, err := exec.Command(interpreter(), "-c", ipc, "open", string(text)).Output()
	do(t, explain(err))
	if got := strings.TrimSpace(string(out)); got != "[0.0, 1.0, 2.0]" {
		t.Errorf("the process read %s", got)
	}
	if got := gputest.Download(t, d, b); !slices.Equal(got, []float32{9, 0, 3, 6, 9}) {
		t.Errorf("read after the process: %v", got)
	}
}

func TestImportsMemoryOfAnotherProcess(t *testing.T) {
	d := openDevice(t, gpu.CUDA)
	with(t, "cupy")
	other := exec.Command(interpreter(), "-c", ipc, "name")
	in, err := other.StdinPipe()
	do(t, err)
	out, err := other.StdoutPipe()
	do(t, err)
	do(t, other.Start())
	lines := json.NewDecoder(out)
	var handle gpu.IPCHandle
	do(t, lines.Decode(&handle))
	b, err := gpu.OpenIPC[float32](d, handle)
	do(t, err)
	if got := gputest.Download(t, d, b); !slices.Equal(got, []float32{0, 1, 2, 3, 4, 5}) {
		t.Errorf("read %v", got)
	}
	do(t, gpu.Fill(d.DefaultStream(), b.Slice(0, 2), 8))
	do(t, b.Close())
	do(t, in.Close())
	var after []float32
	do(t, lines.Decode(&after))
	if !slices.Equal(after, []float32{8, 8, 2, 3, 4, 5}) {
		t.Errorf("the process then prints %v", after)
	}
	io.Copy(io.Discard, out)
	do(t, other.Wait())
}

// explain adds the error output of a process to its error.
func explain(err error) error {
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return fmt.Errorf("%w: %s", err, e.Stderr)
	}
	return err
}
