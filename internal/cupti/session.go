package cupti

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

// The buffers that CUPTI fills. A launch takes about 300 bytes.
const (
	bufferSize  = 4 << 20
	bufferCount = 12
)

// quiet are the functions of the driver whose calls are not recorded, where CUPTI can leave
// single functions out: those that programs call all the time, and that cause no work
// (cupti_driver_cbid.h).
var quiet = []uintptr{
	9,        // cuDeviceGetAttribute
	120,      // cuEventQuery
	123, 780, // cuEventElapsedTime
	125, 439, // cuStreamQuery
	303, 304, // cuCtxSetCurrent, cuCtxGetCurrent
	310, 450, // cuPointerGetAttribute, cuPointerGetAttributes
	372, 373, // cuGetErrorString, cuGetErrorName
}

type api struct {
	lib  Library
	addr [symbolCount]uintptr
}

func newAPI(lib Library) (*api, error) {
	a := &api{lib: lib}
	for i, name := range symbolNames {
		if a.addr[i] = lib.Lookup(name); a.addr[i] == 0 && symbol(i) < requiredCount {
			return nil, missing(symbol(i))
		}
	}
	return a, nil
}

func missing(s symbol) error {
	return fmt.Errorf("this version of CUPTI has no function %s", symbolNames[s])
}

// argPool holds argument lists, so that calls do not allocate.
var argPool = sync.Pool{New: func() any { return new([4]uintptr) }}

// raw calls a function. Pointers to Go memory in args must point to the heap.
func (a *api) raw(s symbol, args ...uintptr) int {
	buf := argPool.Get().(*[4]uintptr)
	n := copy(buf[:], args)
	r := a.lib.Call(a.addr[s], buf[:n])
	argPool.Put(buf)
	return int(int32(r))
}

// call calls a function. What pointers in args point to is moved to the heap and kept alive.
//
//go:uintptrescapes
func (a *api) call(s symbol, args ...uintptr) error { return a.check(s, a.raw(s, args...)) }

func (a *api) check(s symbol, code int) error {
	if code == success {
		return nil
	}
	e := &Error{Op: symbolNames[s], Code: code, Text: fmt.Sprintf("error %d", code), Hint: hints[code]}
	p := new(struct{ text *byte })
	var pins runtime.Pinner
	defer pins.Unpin()
	pins.Pin(p)
	if a.raw(getResultString, uintptr(code), uintptr(unsafe.Pointer(p))) == success && p.text != nil {
		e.Text = string(cString(p.text))
	}
	return e
}

// buffers are the memory of the process for records. CUPTI may keep a buffer after the end
// of a session, so they are not freed.
type buffers struct {
	free chan unsafe.Pointer
	full chan filled
}

// filled is a buffer with records.
type filled struct {
	at    unsafe.Pointer
	valid uintptr
}

// attached is the state of a library that outlives sessions.
type attached struct {
	buffers                      buffers
	request, complete, subscribe uintptr // C functions
}

var (
	mu         sync.Mutex // guards the following, and Start and Stop
	current    *Session
	attachment = map[Library]*attached{}
)

// attach prepares callbacks and buffers, once per library.
func attach(lib Library) (*attached, error) {
	if t := attachment[lib]; t != nil {
		return t, nil
	}
	t := &attached{buffers: buffers{free: make(chan unsafe.Pointer, bufferCount), full: make(chan filled, bufferCount)}}
	for range bufferCount {
		p, err := lib.Memory(bufferSize)
		if err != nil {
			return nil, fmt.Errorf("no memory for activity records: %w", err)
		}
		t.buffers.free <- p
	}
	b := &t.buffers
	t.request = lib.Callback(func(buffer *unsafe.Pointer, size, records *uintptr) {
		*buffer, *size, *records = nil, 0, 0
		select {
		case *buffer = <-b.free:
			*size = bufferSize
		default: // CUPTI drops and counts the records
		}
	})
	t.complete = lib.Callback(func(context unsafe.Pointer, stream uint32, buffer unsafe.Pointer, size, valid uintptr) {
		if buffer == nil {
			return
		}
		select {
		case b.full <- filled{buffer, valid}:
		default: // there are no more buffers than room
		}
	})
	t.subscribe = lib.Callback(func(user unsafe.Pointer, domain, id uint32, data unsafe.Pointer) {})
	attachment[lib] = t
	return t, nil
}

// Session records activity. Push, Pop and Now are safe for concurrent use; the other methods
// are not.
type Session struct {
	api        *api
	attached   *attached
	subscriber uintptr
	version    uint32
	kinds      []uintptr // that were enabled

	next      unsafe.Pointer // the record that was read last
	names     map[string]string
	functions map[uint32]string
	dropped   atomic.Uint64
}

// ErrActive is returned by Start if there is a session.
var ErrActive = errors.New("a CUPTI session is active")

// Start begins a session.
func Start(lib Library) (*Session, error) {
	mu.Lock()
	defer mu.Unlock()
	if current != nil {
		return nil, ErrActive
	}
	a, err := newAPI(lib)
	if err != nil {
		return nil, err
	}
	s := &Session{api: a, names: map[string]string{}, functions: map[uint32]string{}}
	if err := s.start(); err != nil {
		return nil, err
	}
	current = s
	return s, nil
}

func (s *Session) start() error {
	if err := s.api.call(getVersion, uintptr(unsafe.Pointer(&s.version))); err != nil {
		return err
	}
	var err error
	if s.attached, err = attach(s.api.lib); err != nil {
		return err
	}
	return s.Resume()
}

// Resume continues recording after Pause. It fails if another tool has begun to use CUPTI.
func (s *Session) Resume() error {
	// A subscription keeps other tools from replacing the callbacks below, and fails if this
	// session would replace theirs.
	if err := s.api.call(subscribe, uintptr(unsafe.Pointer(&s.subscriber)), s.attached.subscribe, 0); err != nil {
		s.subscriber = 0
		return err
	}
	if err := s.record(); err != nil {
		return errors.Join(err, s.Pause())
	}
	return nil
}

// record enables what a session records.
func (s *Session) record() error {
	if err := s.api.call(registerCallbacks, s.attached.request, s.attached.complete); err != nil {
		return err
	}
	for i, kind := range enabled {
		err := s.api.call(enable, kind)
		if err == nil {
			s.kinds = append(s.kinds, kind)
		} else if i == 0 {
			return err
		}
	}
	if s.api.addr[enableDriverAPI] != 0 {
		for _, id := range quiet {
			s.api.raw(enableDriverAPI, id, 0) // an unknown function is not called either
		}
	}
	return nil
}

// Pause stops recording activities that have not begun, until Resume. While a session pauses,
// CUPTI adds nothing to the calls of the driver.
func (s *Session) Pause() error {
	var errs []error
	for _, kind := range s.kinds {
		errs = append(errs, s.api.call(disable, kind))
	}
	s.kinds = nil
	if s.subscriber != 0 {
		errs = append(errs, s.api.call(unsubscribe, s.subscriber))
		s.subscriber = 0
	}
	return errors.Join(errs...)
}

// Version returns the version of CUPTI's interface, such as 130000.
func (s *Session) Version() int { return int(s.version) }

// Push marks the calls of the driver that this OS thread makes until Pop.
func (s *Session) Push(mark uint64) {
	s.api.raw(pushExternal, externalKindCustom, uintptr(mark))
}

// Pop ends the mark of the last Push of this thread.
func (s *Session) Pop() { s.api.raw(popExternal, externalKindCustom, 0) }

// Now returns the time of CUPTI's clock in nanoseconds.
func (s *Session) Now() uint64 {
	var t uint64
	if s.api.call(getTimestamp, uintptr(unsafe.Pointer(&t))) != nil {
		return 0
	}
	return t
}

// Read calls f with the records of the activities that have ended. f must not keep the
// record. With all, records of activities that have not ended come too, and will not come
// again.
//
// CUPTI returns a buffer when all of its records are complete. So the record of a kernel
// that runs for long delays those that share its buffer.
func (s *Session) Read(all bool, f func(*Record)) error {
	flag := uintptr(0)
	if all {
		flag = 1
	}
	if err := s.api.call(flushAll, flag); err != nil {
		return err
	}
	for {
		select {
		case b := <-s.attached.buffers.full:
			s.scan(b, f)
			s.attached.buffers.free <- b.at
		default:
			var n uintptr
			if s.api.call(getNumDropped, 0, 0, uintptr(unsafe.Pointer(&n))) == nil {
				s.dropped.Add(uint64(n))
			}
			return nil
		}
	}
}

// scan reads the records of a buffer.
func (s *Session) scan(b filled, f func(*Record)) {
	var r Record
	s.next = nil
	for s.api.raw(getNextRecord, uintptr(b.at), b.valid, uintptr(unsafe.Pointer(&s.next))) == success && s.next != nil {
		if s.read(s.next, &r) {
			f(&r)
		}
	}
}

// Waiting reports whether filled buffers wait for Read.
func (s *Session) Waiting() bool { return len(s.attached.buffers.full) > 0 }

// Dropped returns the number of records that CUPTI had no room for.
func (s *Session) Dropped() uint64 { return s.dropped.Load() }

// Stop ends the session. f gets the last records.
func (s *Session) Stop(f func(*Record)) error {
	mu.Lock()
	defer mu.Unlock()
	if current != s {
		return nil
	}
	err := s.Read(true, f)
	err = errors.Join(err, s.Pause())
	current = nil
	return err
}
