package fakecuda

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"unsafe"

	"quern.dev/internal/ptxvm"
)

// Result codes (CUresult).
const (
	Success         = 0
	InvalidValue    = 1
	OutOfMemory     = 2
	NoDevice        = 100
	InvalidPTX      = 218
	InvalidContext  = 201
	InvalidHandle   = 400
	NotFound        = 500
	NotReady        = 600
	IllegalAddress  = 700
	LaunchResources = 701

	PeerAccessUnsupported    = 217
	PeerAccessAlreadyEnabled = 704
	LaunchFailed             = 719

	AlreadyRegistered = 712
	NotRegistered     = 713
)

var resultNames = map[int]string{
	InvalidValue:    "CUDA_ERROR_INVALID_VALUE",
	OutOfMemory:     "CUDA_ERROR_OUT_OF_MEMORY",
	NoDevice:        "CUDA_ERROR_NO_DEVICE",
	InvalidPTX:      "CUDA_ERROR_INVALID_PTX",
	InvalidContext:  "CUDA_ERROR_INVALID_CONTEXT",
	InvalidHandle:   "CUDA_ERROR_INVALID_HANDLE",
	NotFound:        "CUDA_ERROR_NOT_FOUND",
	IllegalAddress:  "CUDA_ERROR_ILLEGAL_ADDRESS",
	LaunchResources: "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",

	PeerAccessUnsupported:    "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED",
	PeerAccessAlreadyEnabled: "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED",
	LaunchFailed:             "CUDA_ERROR_LAUNCH_FAILED",

	AlreadyRegistered: "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
	NotRegistered:     "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
}

// Library is a driver library. Set its exported fields before using it.
type Library struct {
	Version int             // of CUDA, such as 12040; 0 is 13000
	Devices int             // number of GPUs
	Major   int             // of their compute capability; 0 is 9
	Missing map[string]bool // functions that the library lacks
	Memory  int64           // per device in bytes; 0 is 1 GiB

	// Unlinked: the devices cannot access each other's memory.
	Unlinked bool

	// Copied counts the bytes copied from one device to another.
	Copied map[[2]int]int64

	// Advised lists the advice (CUmem_advise) given about managed memory.
	Advised []int

	// OldLaunch: launches need a current context, like other calls.
	OldLaunch bool

	// Idle: calls do nothing, for measuring their cost.
	Idle bool

	// Busy, if not nil, is work that streams and events wait for. It ends when the
	// channel is closed.
	Busy   chan struct{}
	busyMu sync.Mutex // guards Busy, which may change while others wait

	// Waits, if not nil, receives the name of each function that starts to wait for
	// Busy.
	Waits chan string

	called map[string]bool // see Watch; guarded by mu

	// Lag, if not nil, makes streams do their work later than requested, as determined
	// by the random numbers.
	Lag *rand.Rand

	// Blocks, if not 0, makes launches run asynchronously, with that many blocks of
	// each at a time.
	Blocks int

	mu       sync.Mutex
	lag      lag
	works    works
	fail     map[string]int
	current  int              // calls that made a context current without a call that used it
	contexts map[int]uintptr  // current context by thread
	owner    map[uintptr]int  // device by handle and address
	lost     map[int]int      // result code by device
	peers    map[[2]int]bool  // enabled access
	onHost   map[uintptr]bool // managed memory that is on the host
	next     uintptr
	memory   map[uintptr][]uint64 // by address
	pools    map[uintptr]*pool    // that own memory, by address
	hosts    map[uintptr]bool     // memory of hostWords, by address
	fenced   [][]byte             // oldest first
	used     int64
	objects  map[uintptr]any     // by handle
	awaited  map[uintptr]awaited // by stream handle

	strings map[string]*byte
	names   []string // of functions, by address less one
}

type (
	stream   struct{ priority int32 }
	event    struct{ recorded bool }
	module   struct{ *ptxvm.Module }
	function struct {
		name string
		*ptxvm.Module
		late bool // its next launch waits until no kernel runs
	}
)

// New returns a library with the given number of devices.
func New(devices int) *Library {
	l := &Library{
		Devices: devices,
		fail:    make(map[string]int),
		next:    0x1000,
		memory:  make(map[uintptr][]uint64),
		pools:   make(map[uintptr]*pool),
		hosts:   make(map[uintptr]bool),
		objects: make(map[uintptr]any),
		strings: make(map[string]*byte),

		contexts: make(map[int]uintptr),
		owner:    make(map[uintptr]int),
		lost:     make(map[int]int),
		peers:    make(map[[2]int]bool),
		Copied:   make(map[[2]int]int64),
		onHost:   make(map[uintptr]bool),
	}
	for name := range functions {
		l.names = append(l.names, name)
	}
	return l
}

// Fail makes the next call of a function return the result code.
func (l *Library) Fail(function string, code int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fail[function] = code
}

// Left describes leaked objects, "" if there are none.
func (l *Library) Left() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.memory) == 0 && len(l.objects) == 0 {
		return ""
	}
	return fmt.Sprintf("%d allocations of %d bytes, objects %v", len(l.memory), l.used, l.objects)
}

// Lookup returns the address of a function.
func (l *Library) Lookup(name string) uintptr {
	if l.Missing[name] {
		return 0
	}
	for i, known := range l.names {
		if known == name {
			return uintptr(i + 1)
		}
	}
	return 0
}

// Watch starts recording which functions are called. Watched stops it.
func (l *Library) Watch() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.called = map[string]bool{}
}

// Watched returns the names of the functions called since Watch.
func (l *Library) Watched() map[string]bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	called := l.called
	l.called = nil
	return called
}

// Call calls a function.
func (l *Library) Call(address uintptr, args []uintptr) uintptr {
	if l.Idle {
		return Success
	}
	name := l.names[address-1]
	if code := l.wait(name); code != Success {
		return uintptr(code)
	}
	if code := l.hold(name, args); code != Success {
		return uintptr(code)
	}
	if l.Blocks > 0 {
		if code, done := l.beside(name, args); done {
			return uintptr(code)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.called != nil {
		l.called[name] = true
	}
	if code, ok := l.fail[name]; ok {
		delete(l.fail, name)
		return uintptr(code)
	}
	if code := l.lostCode(name, args); code != Success {
		if functions[name].inContext {
			l.current--
		}
		return uintptr(code)
	}
	f := functions[name]
	if f.inContext || name == "cuLaunchKernel" && l.OldLaunch {
		if l.current == 0 {
			return InvalidContext
		}
		// The next call may come from another thread, which has no context.
		l.current--
	}
	if code, queued := l.later(name, args); queued || code != Success {
		return uintptr(code)
	}
	return uintptr(f.run(l, args))
}

// Occupy keeps the devices busy until the returned channel is closed. Earlier waits
// still wait for the channel that was set then.
func (l *Library) Occupy() chan<- struct{} {
	l.busyMu.Lock()
	defer l.busyMu.Unlock()
	l.Busy = make(chan struct{})
	return l.Busy
}

// wait waits for the work that keeps the devices busy, or announces that it waits.
func (l *Library) wait(name string) int {
	l.busyMu.Lock()
	busy := l.Busy
	l.busyMu.Unlock()
	if busy == nil {
		return Success
	}
	switch name {
	case "cuStreamSynchronize", "cuEventSynchronize":
		if l.Waits != nil {
			l.Waits <- name
		}
		<-busy
	case "cuStreamQuery", "cuEventQuery":
		select {
		case <-busy:
		default:
			return NotReady
		}
	}
	return Success
}

// add creates a handle for an object.
func (l *Library) add(to uintptr, object any) int {
	l.next += 16
	l.objects[l.next] = object
	l.owner[l.next] = l.device()
	*at[uintptr](to) = l.next
	return Success
}

// remove destroys the object of a handle.
func (l *Library) remove(handle uintptr) int {
	if _, ok := l.objects[handle]; !ok {
		return InvalidHandle
	}
	delete(l.objects, handle)
	delete(l.owner, handle)
	return Success
}

// object returns the object of a handle.
func object[T any](l *Library, handle uintptr) (T, bool) {
	o, ok := l.objects[handle].(T)
	return o, ok
}

func (l *Library) capacity() int64 {
	if l.Memory > 0 {
		return l.Memory
	}
	return 1 << 30
}

func (l *Library) allocate(to, size uintptr) int {
	if size == 0 {
		return InvalidValue
	}
	if int64(size) > l.capacity()-l.used {
		return OutOfMemory
	}
	l.adopt(to, make([]uint64, (size+7)/8))
	return Success
}

// allocateHost is allocate, for memory that is fenced once it is freed.
func (l *Library) allocateHost(to, size uintptr) int {
	if size == 0 || int64(size) > l.capacity()-l.used {
		return l.allocate(to, size)
	}
	words, ok := hostWords(int(size+7) / 8)
	if !ok {
		return l.allocate(to, size)
	}
	l.hosts[l.adopt(to, words)] = true
	return Success
}

// adopt assigns memory to the current device and writes its address.
func (l *Library) adopt(to uintptr, words []uint64) uintptr {
	address := uintptr(unsafe.Pointer(unsafe.SliceData(words)))
	l.memory[address] = words
	l.owner[address] = l.device()
	l.used += int64(len(words)) * 8
	*at[uintptr](to) = address
	return address
}

func (l *Library) release(address uintptr) int {
	words, ok := l.memory[address]
	if !ok {
		return InvalidValue
	}
	l.place(address, true)
	l.used -= int64(len(words)) * 8
	if p := l.pools[address]; p != nil {
		p.out -= int64(len(words)) * 8
	}
	l.forget(address)
	delete(l.pools, address)
	delete(l.owner, address)
	return Success
}

// forget removes memory from the library's records.
func (l *Library) forget(address uintptr) {
	if l.hosts[address] {
		l.fence(l.memory[address])
		delete(l.hosts, address)
	}
	delete(l.memory, address)
}

// cString returns the address of a zero-terminated string.
func (l *Library) cString(s string) uintptr {
	if l.strings[s] == nil {
		l.strings[s] = unsafe.SliceData(append([]byte(s), 0))
	}
	return uintptr(unsafe.Pointer(l.strings[s]))
}

// at converts an address back to a pointer; the caller passed it as one.
func at[T any](address uintptr) *T {
	return *(**T)(unsafe.Pointer(&address))
}

func bytes(address, n uintptr) []byte { return unsafe.Slice(at[byte](address), n) }

// goString reads a zero-terminated string.
func goString(address uintptr) string {
	n := uintptr(0)
	for *at[byte](address + n) != 0 {
		n++
	}
	return string(bytes(address, n))
}
