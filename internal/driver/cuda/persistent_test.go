package cuda

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"quern.dev/internal/driver"
	"quern.dev/internal/driver/cuda/fakecuda"
)

// stayPTX is a kernel that runs until a word is not zero, for at most 10 seconds.
const stayPTX = `.version 6.0
.target sm_50
.address_size 64
.visible .entry stay(.param .u64 word)
{
	.reg .pred %p<3>;
	.reg .b32 %r<2>;
	.reg .b64 %rd<6>;
	ld.param.u64 %rd1, [word];
	mov.u64 %rd2, %globaltimer;
	add.s64 %rd3, %rd2, 10000000000;
again:
	ld.volatile.global.u32 %r1, [%rd1];
	setp.ne.u32 %p1, %r1, 0;
	@%p1 bra done;
	mov.u64 %rd4, %globaltimer;
	setp.lt.s64 %p2, %rd4, %rd3;
	@%p2 bra again;
done:
	ret;
}
`

// workPTX returns a kernel that no driver has compiled before. Its threads have the
// given number of bytes of local memory.
func workPTX(local int) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry work(.param .u64 to)\n{\n\t.local .align 16 .b8 box[%d];\n", max(local, 16))
	b.WriteString("\t.reg .f32 %f<9>;\n\t.reg .b32 %r<4>;\n\t.reg .b64 %rd<8>;\n\tld.param.u64 %rd1, [to];\n\tmov.u32 %r1, %tid.x;\n\tcvt.rn.f32.u32 %f1, %r1;\n\tmov.f32 %f2, %f1;\n")
	for range 1500 {
		fmt.Fprintf(&b, "\tfma.rn.f32 %%f2, %%f2, 0f%08x, %%f1;\n\tsin.approx.f32 %%f1, %%f2;\n", 0x3f000000+rand.Uint32N(1<<20))
	}
	fmt.Fprintf(&b, "\tcvt.rzi.u32.f32 %%r2, %%f2;\n\tand.b32 %%r2, %%r2, %d;\n\tcvt.u64.u32 %%rd2, %%r2;\n\tmov.u64 %%rd4, box;\n\tcvta.local.u64 %%rd4, %%rd4;\n\tadd.u64 %%rd3, %%rd4, %%rd2;\n", max(local, 16)-4&^3)
	b.WriteString("\tst.volatile.f32 [%rd3], %f1;\n\tld.volatile.u32 %r3, [%rd4];\n\tst.global.u32 [%rd1], %r3;\n\tret;\n}\n")
	return b.String()
}

// twoPTX returns two such kernels: work and more.
func twoPTX() string {
	work := workPTX(0)
	return work + strings.Replace(work[strings.Index(work, ".visible"):], "work", "more", 1)
}

// beside is a GPU on which a kernel runs until it is told to stop.
type beside struct {
	dev    *device
	word   *uint32 // read by the kernel
	at     uint64
	on     uintptr // the kernel's stream
	stays  *function
	stream *stream // another stream
	memory driver.Memory
}

func newBeside(t *testing.T) *beside {
	g := newGPU(t)
	x := &beside{dev: g.dev, stream: g.stream}
	p, err := x.dev.AllocHost(4)
	if err != nil {
		t.Fatal(err)
	}
	m, err := x.dev.MapHost(p, 4)
	if err != nil {
		t.Fatal(err)
	}
	x.word, x.at = (*uint32)(p), m.Addr
	f, err := x.dev.Load(&driver.Kernel{Name: "stay", PTX: stayPTX})
	if err != nil {
		t.Fatal(err)
	}
	x.stays = f.(*function)
	if err := x.dev.call(cuStreamCreate, uintptr(unsafe.Pointer(&x.on)), streamNonBlocking); err != nil {
		t.Fatal(err)
	}
	if x.memory, err = x.dev.Alloc(1 << 20); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(x.dev.Free(x.memory), x.dev.handles(cuStreamDestroy, x.on), f.Close(), x.dev.FreeHost(p)); err != nil {
			t.Error(err)
		}
	})
	return x
}

// launch launches a kernel with one pointer argument.
func (x *beside) launch(f, on uintptr, to uint64) error {
	args := &struct {
		to uint64
		at [1]unsafe.Pointer
	}{to: to}
	args.at[0] = unsafe.Pointer(&args.to)
	return x.dev.call(cuLaunchKernel, f, 1, 1, 1, 32, 1, 1, 0, on, uintptr(unsafe.Pointer(&args.at)), 0)
}

func (x *beside) stay() error {
	atomic.StoreUint32(x.word, 0)
	return x.launch(x.stays.handle, x.on, x.at)
}

func (x *beside) leave() error {
	atomic.StoreUint32(x.word, 1)
	return x.dev.handles(cuStreamSynchronize, x.on)
}

// blocks reports whether a call waits for the running kernel, and how long the call
// took. A call that has not returned after the timeout counts as waiting.
func (x *beside) blocks(timeout time.Duration, call func() error) (bool, time.Duration, error) {
	if err := x.stay(); err != nil {
		return false, 0, err
	}
	done := make(chan error, 1)
	begin := time.Now()
	go func() { done <- call() }()
	select {
	case err := <-done:
		took := time.Since(begin)
		return false, took, errors.Join(err, x.leave())
	case <-time.After(timeout):
		err := x.leave()
		return true, time.Since(begin), errors.Join(err, <-done)
	}
}

// probe is a driver call to test.
type probe struct {
	name   string
	waits  bool // for the running kernel
	slow   bool // it compiles
	before func() error
	call   func() error
	after  func() error
}

// handle returns the address of a handle that a call writes.
func handle(p *uintptr) uintptr { return uintptr(unsafe.Pointer(p)) }

// TestDriverCallsWhileAKernelRuns measures which driver functions wait until no
// kernel runs: waitsForAll must list them all.
func TestDriverCallsWhileAKernelRuns(t *testing.T) {
	x := newBeside(t)
	for _, p := range append(x.probes(), x.shared(t)...) {
		x.ask(t, p, 80*time.Millisecond)
	}
}

// The fake driver treats libraries and streams like the real one.
func TestTheFakeDriverWhileAKernelRuns(t *testing.T) {
	lib := fakecuda.New(1)
	lib.Blocks = 8
	t.Cleanup(Substitute(lib))
	x := newBeside(t)
	for _, p := range x.probes() {
		if (strings.Contains(p.name, "ibrary") || strings.Contains(p.name, "more than")) && !x.ask(t, p, 500*time.Millisecond) && p.waits {
			t.Errorf("%s does not wait for a kernel that stays", p.name)
		}
	}
}

// probes returns calls to make while the kernel runs.
func (x *beside) probes() []probe {
	d := x.dev
	var h, h2, module, library uintptr
	var many []uintptr
	more := 0
	var mem driver.Memory
	var host unsafe.Pointer
	var mark driver.Event
	var pool driver.Pool
	var image driver.Texture
	var other driver.Stream
	var load driver.Function
	var exec driver.GraphExec
	var code []byte
	none := func() error { return nil }
	alloc := func() (err error) { mem, err = d.Alloc(1 << 20); return }
	hostAlloc := func() (err error) { host, err = d.AllocHost(1 << 20); return }
	freeHost := func() error { return d.FreeHost(host) }
	free := func() error { return d.Free(mem) }
	page := make([]byte, 1<<20)
	register := func() error { return d.RegisterHost(unsafe.Pointer(unsafe.SliceData(page)), 1<<20) }
	unregister := func() error { return d.UnregisterHost(unsafe.Pointer(unsafe.SliceData(page))) }
	sync := func() error { return d.handles(cuStreamSynchronize, x.stream.handle) }
	newPool := func() (err error) { pool, err = d.NewPool(0); return }
	closePool := func() error { return pool.Close() }
	poolAlloc := func() (err error) { mem, err = pool.Alloc(x.stream, 1<<20); return }
	poolFree := func() error { return pool.Free(x.stream, mem) }
	newStream := func() (err error) { other, err = d.NewStream(0); return }
	closeStream := func() error { return other.Close() }
	newEvent := func() (err error) { mark, err = d.NewEvent(true); return }
	closeEvent := func() error { return mark.Close() }
	closeLoad := func() error { return load.Close() }
	loadPTX := func(local int) error {
		k := &driver.Kernel{Name: "work", PTX: workPTX(local)}
		f, err := d.Load(k)
		load = f
		return err
	}
	compiled := func(local int) func() error {
		return func() (err error) { code, err = d.compile(append([]byte(workPTX(local)), 0), false); return }
	}
	local := 1 << 10
	growing := func() error {
		local += 1 << 10
		return compiled(local)()
	}
	limit := func() error { return d.handles(cuCtxSetLimit, limitStack, uintptr(local)) }
	loadCode := func() error {
		return d.call(cuModuleLoadDataEx, handle(&module), uintptr(unsafe.Pointer(unsafe.SliceData(code))), 0, 0, 0)
	}
	unload := func() error { return d.handles(cuModuleUnload, module) }
	function := func() error {
		return d.call(cuModuleGetFunction, handle(&h), module, uintptr(unsafe.Pointer(unsafe.SliceData([]byte("work\x00")))))
	}
	ask := func() error {
		var v int32
		return d.call(cuFuncGetAttribute, uintptr(unsafe.Pointer(&v)), functionRegisters, h)
	}
	run := func() error { return errors.Join(x.launch(h, x.stream.handle, x.memory.Addr), sync()) }
	loadLibrary := func() error {
		return d.call(cuLibraryLoadData, handle(&library), uintptr(unsafe.Pointer(unsafe.SliceData(code))), 0, 0, 0, 0, 0, 0)
	}
	libraryKernel := func() error {
		return d.call(cuLibraryGetKernel, handle(&h2), library, uintptr(unsafe.Pointer(unsafe.SliceData([]byte("work\x00")))))
	}
	libraryFunction := func() error { return d.call(cuKernelGetFunction, handle(&h), h2) }
	two := func() (err error) { code, err = d.compile([]byte(twoPTX()+"\x00"), false); return }
	secondKernel := func() error {
		return d.call(cuLibraryGetKernel, handle(&h2), library, uintptr(unsafe.Pointer(unsafe.SliceData([]byte("more\x00")))))
	}
	unloadLibrary := func() error { return d.handles(cuLibraryUnload, library) }
	funcLoad := func() error { return d.handles(cuFuncLoad, h) }
	nodes := []driver.GraphNode{{Kind: driver.GraphFill, Dst: x.memory, Data: []byte{1}, Count: 64}}
	newGraph := func() (err error) { exec, err = d.NewGraphExec(nodes, func(error) {}); return }
	runGraph := func() error { return errors.Join(exec.Launch(x.stream), sync()) }
	newTexture := func() (err error) {
		image, err = d.NewTexture(driver.TextureInfo{Width: 64, Height: 64, Channels: 1, Texels: driver.Float32})
		return
	}
	small := make([]byte, 1<<16)
	both := func(f ...func() error) func() error {
		return func() error {
			for _, g := range f {
				if err := g(); err != nil {
					return err
				}
			}
			return nil
		}
	}
	return []probe{
		{name: "launch on another stream", before: both(compiled(0), loadCode, function), call: run, after: unload},
		{name: "cuMemAlloc", call: alloc, after: free},
		{name: "cuMemFree", waits: true, before: alloc, call: free},
		{name: "cuMemFreeAsync of memory of cuMemAlloc", before: alloc, call: func() error {
			return errors.Join(d.handles(cuMemFreeAsync, uintptr(mem.Addr), x.stream.handle), sync())
		}},
		{name: "cuMemHostAlloc", call: hostAlloc, after: freeHost},
		{name: "cuMemFreeHost", waits: true, before: hostAlloc, call: freeHost},
		{name: "cuMemHostRegister", call: register, after: unregister},
		{name: "cuMemHostUnregister", waits: true, before: register, call: unregister},
		{name: "pageable copies", call: func() error {
			return errors.Join(x.stream.CopyIn(x.memory, unsafe.Pointer(unsafe.SliceData(page)), 1<<20), x.stream.CopyOut(unsafe.Pointer(unsafe.SliceData(page)), x.memory, 1<<20))
		}},
		{name: "copies of page-locked memory", before: hostAlloc, after: freeHost, call: func() error {
			return errors.Join(x.stream.CopyInAsync(x.memory, host, 1<<20), x.stream.CopyOutAsync(host, x.memory, 1<<20), sync())
		}},
		{name: "memset", call: func() error { return errors.Join(x.stream.Fill(x.memory, []byte{7}, 1<<16), sync()) }},
		{name: "cuMemGetInfo", call: func() error { _, _, err := d.Memory(); return err }},
		{name: "cuStreamCreate", call: newStream, after: closeStream},
		{name: "cuStreamCreate of more than there is room for", waits: true, call: func() (err error) {
			more += 100
			for range more {
				many = append(many, 0)
				err = errors.Join(err, d.call(cuStreamCreate, uintptr(unsafe.Pointer(&many[len(many)-1])), streamNonBlocking))
			}
			return err
		}, after: func() (err error) {
			for _, handle := range many {
				err = errors.Join(err, d.handles(cuStreamDestroy, handle))
			}
			many = nil
			return err
		}},
		{name: "cuEventCreate of 5000", call: func() (err error) {
			for range 5000 {
				many = append(many, 0)
				err = errors.Join(err, d.call(cuEventCreate, uintptr(unsafe.Pointer(&many[len(many)-1])), 0))
			}
			return err
		}, after: func() (err error) {
			for _, handle := range many {
				err = errors.Join(err, d.handles(cuEventDestroy, handle))
			}
			many = nil
			return err
		}},
		{name: "cuStreamDestroy", before: newStream, call: closeStream},
		{name: "cuStreamDestroy with work", before: both(newStream, compiled(0), loadCode, function), after: unload, call: func() error {
			return errors.Join(x.launch(h, other.(*stream).handle, x.memory.Addr), d.handles(cuStreamDestroy, other.(*stream).handle))
		}},
		{name: "event create, record, wait, destroy", call: func() error {
			return errors.Join(newEvent(), x.stream.Record(mark), d.handles(cuEventSynchronize, mark.(*event).handle), closeEvent())
		}},
		{name: "cuMemPoolCreate", call: newPool, after: closePool},
		{name: "cuMemAllocFromPoolAsync", before: newPool, call: both(poolAlloc, sync), after: both(poolFree, sync, closePool)},
		{name: "cuMemFreeAsync", before: both(newPool, poolAlloc, sync), call: both(poolFree, sync), after: closePool},
		{name: "cuMemPoolTrimTo", before: both(newPool, poolAlloc, poolFree, sync), call: func() error { return pool.Trim() }, after: closePool},
		{name: "cuMemPoolDestroy", before: both(newPool, poolAlloc, poolFree, sync), call: closePool},
		{name: "cuLink* (compile)", slow: true, call: compiled(0)},
		{name: "cuModuleLoadDataEx of PTX", waits: true, slow: true, call: func() error { return loadPTX(0) }, after: closeLoad},
		{name: "cuModuleLoadDataEx of code", waits: true, before: compiled(0), call: loadCode, after: unload},
		{name: "cuModuleGetFunction", before: both(compiled(0), loadCode), call: function, after: unload},
		{name: "cuFuncGetAttribute", before: both(compiled(0), loadCode, function), call: ask, after: unload},
		{name: "cuFuncLoad", before: both(compiled(0), loadCode, function), call: funcLoad, after: unload},
		{name: "first launch", before: both(compiled(0), loadCode, function), call: run, after: unload},
		{name: "first launch after cuFuncGetAttribute", before: both(compiled(0), loadCode, function, ask), call: run, after: unload},
		{name: "first launch after cuFuncLoad", before: both(compiled(0), loadCode, function, funcLoad), call: run, after: unload},
		{name: "load of code: module, function, cuFuncLoad", waits: true, before: compiled(0), call: both(loadCode, function, funcLoad), after: unload},
		{name: "cuModuleUnload", waits: true, before: both(compiled(0), loadCode, function), call: unload},
		{name: "cuLibraryLoadData of code", before: compiled(0), call: loadLibrary, after: unloadLibrary},
		{name: "cuLibraryGetKernel", before: both(compiled(0), loadLibrary), call: libraryKernel, after: unloadLibrary},
		{name: "cuKernelGetFunction of a library", waits: true, before: both(compiled(0), loadLibrary, libraryKernel), call: libraryFunction, after: unloadLibrary},
		{name: "cuKernelGetFunction of a library's second", before: both(two, loadLibrary, libraryKernel, libraryFunction, secondKernel), call: libraryFunction, after: unloadLibrary},
		// The function is looked up while the kernel runs: if it is looked up earlier,
		// nothing waits.
		{name: "first launch of a library's second", waits: true, before: both(two, loadLibrary, libraryKernel, libraryFunction, secondKernel), call: both(libraryFunction, funcLoad, run), after: unloadLibrary},
		{name: "cuFuncLoad of a library's", before: both(compiled(0), loadLibrary, libraryKernel, libraryFunction), call: funcLoad, after: unloadLibrary},
		{name: "first launch of a library's", before: both(compiled(0), loadLibrary, libraryKernel, libraryFunction, funcLoad), call: run, after: unloadLibrary},
		{name: "cuLibraryUnload", waits: true, before: both(compiled(0), loadLibrary, libraryKernel, libraryFunction, funcLoad), call: unloadLibrary},
		{name: "more local memory: load", waits: true, before: growing, call: both(loadCode, function, funcLoad), after: unload},
		{name: "more local memory: launch", waits: true, before: both(growing, loadCode, function, funcLoad), call: run, after: unload},
		{name: "more local memory: cuCtxSetLimit", waits: true, before: func() error { local += 1 << 10; return nil }, call: limit},
		{name: "more local memory: launch after cuCtxSetLimit", before: both(growing, loadCode, function, funcLoad, limit), call: run, after: unload},
		{name: "more local memory: second launch", before: both(growing, loadCode, function, funcLoad, run), call: run, after: unload},
		{name: "a texture: create", call: newTexture, after: func() error { return image.Close() }},
		{name: "a texture: store", before: newTexture, after: func() error { return image.Close() }, call: func() error {
			return image.Store(x.stream, unsafe.Pointer(unsafe.SliceData(small)))
		}},
		{name: "cuTexObjectDestroy", before: newTexture, call: func() error { return d.handles(cuTexObjectDestroy, uintptr(image.Object())) },
			after: func() error { return d.handles(cuArrayDestroy, image.(*texture).array) }},
		{name: "cuArrayDestroy", waits: true, before: both(newTexture, func() error { return d.handles(cuTexObjectDestroy, uintptr(image.Object())) }),
			call: func() error { return d.handles(cuArrayDestroy, image.(*texture).array) }},
		{name: "cuMemAllocManaged", call: func() (err error) { mem, _, err = d.AllocManaged(1 << 20); return }, after: free},
		{name: "managed memory: fault, prefetch, host access", before: func() (err error) { mem, host, err = d.AllocManaged(1 << 20); return }, after: free, call: func() error {
			*(*byte)(host) = 3
			err := errors.Join(x.dev.Prefetch(x.stream, mem, 1<<20, false), x.stream.Fill(mem, []byte{9}, 64), sync())
			if *(*byte)(host) != 9 {
				err = errors.Join(err, errors.New("not 9"))
			}
			return err
		}},
		{name: "managed memory: free", waits: true, before: func() (err error) { mem, host, err = d.AllocManaged(1 << 20); *(*byte)(host) = 1; return }, call: free},
		{name: "graph: capture and instantiate", call: newGraph, after: func() error { return exec.Close() }},
		{name: "graph: launch", before: newGraph, call: runGraph, after: func() error { return exec.Close() }},
		{name: "graph: close", before: both(newGraph, runGraph), call: func() error {
			g := exec.(*graphExec)
			return d.handles(cuGraphExecDestroy, g.program.handle)
		}, after: none},
		{name: "Stream.Call", call: func() error { return errors.Join(x.stream.CallHost(func() {}), sync()) }},
		{name: "cuIpcGetMemHandle", call: func() error { _, _, err := d.Share(x.memory); return err }},
	}
}

// shared returns calls that use memory of another process.
func (x *beside) shared(t *testing.T) []probe {
	child := newOther(t, x.dev)
	if child == nil {
		return nil
	}
	var memory driver.Memory
	open := func() (err error) { memory, err = x.dev.OpenShared(*child); return }
	closed := func() error { return x.dev.CloseShared(memory) }
	return []probe{
		{name: "cuIpcOpenMemHandle", call: open, after: closed},
		{name: "cuIpcCloseMemHandle", waits: true, before: open, call: closed},
	}
}

// ask makes the call alone and then while the kernel runs, and reports whether it waits
// for the kernel.
func (x *beside) ask(t *testing.T, p probe, timeout time.Duration) bool {
	step := func(f func() error) {
		if f == nil {
			return
		}
		if err := safely(f)(); err != nil {
			t.Errorf("%s: %v", p.name, err)
		}
	}
	step(p.before)
	begin := time.Now()
	step(p.call)
	alone := time.Since(begin)
	step(p.after)
	step(p.before)
	if p.slow {
		timeout = 1500 * time.Millisecond
	}
	waits, took, err := x.blocks(timeout, safely(p.call))
	if err != nil {
		t.Errorf("%s: %v", p.name, err)
	}
	step(p.after)
	mark := ""
	if waits != p.waits {
		mark = "   <-- not as the table says"
	}
	if waits && !p.waits {
		t.Errorf("%s waits for a kernel that stays", p.name)
	}
	t.Logf("%-46s alone %10v, beside %10v, waits %v%s", p.name, alone, took, waits, mark)
	return waits
}

// safely converts a panic to an error.
func safely(f func() error) func() error {
	return func() (err error) {
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("panic: %v", r)
			}
		}()
		return f()
	}
}

// newOther starts a process that has shared memory, and returns its handle.
func newOther(t *testing.T, d *device) *driver.Handle {
	cmd := exec.Command(os.Args[0], "-test.run=^TestOtherProcess$", "-test.v")
	cmd.Env = append(os.Environ(), "QUERN_OTHER_PROCESS=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), "handle "); ok {
			var h driver.Handle
			if n, err := hex.Decode(h[:], []byte(text)); err != nil || n != len(h) {
				t.Fatal(n, err)
			}
			return &h
		}
	}
	return nil
}

func TestOtherProcess(t *testing.T) {
	if os.Getenv("QUERN_OTHER_PROCESS") == "" {
		t.Skip("runs as the other process of tests that set QUERN_OTHER_PROCESS")
	}
	g := newGPU(t)
	m, err := g.dev.Alloc(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	h, _, err := g.dev.Share(m)
	if err != nil {
		fmt.Println("no handles:", err)
		return
	}
	fmt.Printf("handle %x\n", h[:])
	bufio.NewReader(os.Stdin).ReadByte()
	if err := g.dev.Free(m); err != nil {
		t.Fatal(err)
	}
}

// yielding is an owner of a persistent kernel that ends the kernel on request.
type yielding struct {
	*beside
	quiesced int
}

func (y *yielding) Quiesce(driver.Operation) error {
	y.quiesced++
	return y.leave()
}

func (y *yielding) Resume() error { return y.stay() }

// Any number of streams can be created while a persistent kernel runs, and few of them
// interrupt it.
func TestStreamsWithAPersistentKernel(t *testing.T) {
	lib := fakecuda.New(1)
	lib.Blocks = 8
	t.Cleanup(Substitute(lib))
	x := newBeside(t)
	y := &yielding{beside: x}
	x.dev.AddPersistent(y)
	if err := x.stay(); err != nil {
		t.Fatal(err)
	}
	least, greatest := x.dev.Priorities()
	for round := range 3 {
		var list []driver.Stream
		for i := range 100 {
			s, err := x.dev.NewStream(least + i%(greatest-least+1)*(i%2))
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, s)
		}
		handles := map[uintptr]bool{0: true}
		for _, s := range list {
			if h := s.(*stream).handle; handles[h] {
				t.Fatalf("stream %#x is zero or not unique", h)
			}
			handles[s.(*stream).handle] = true
		}
		for _, s := range list {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if most := 12; y.quiesced > most*(round+1) {
			t.Errorf("after %d rounds the persistent kernel was stopped %d times", round+1, y.quiesced)
		}
	}
	if err := x.leave(); err != nil {
		t.Fatal(err)
	}
	x.dev.RemovePersistent(y)
}
