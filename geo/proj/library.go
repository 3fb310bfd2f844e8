package proj

import (
	"os"
	"runtime"
	"strings"
	"sync"
	"unsafe"
)

// functions are those of PROJ, by their names in proj.h. Strings that end with a zero byte, and arrays, are pointers.
type functions struct {
	proj_context_create                func() uintptr
	proj_context_destroy               func(context uintptr) uintptr
	proj_context_set_enable_network    func(context uintptr, enabled int32) int32
	proj_context_get_database_metadata func(context uintptr, key *byte) *byte
	proj_context_errno                 func(context uintptr) int32
	proj_errno_string                  func(code int32) *byte
	proj_log_func                      func(context uintptr, data uintptr, f uintptr)
	proj_log_level                     func(context uintptr, level int32) int32
	proj_create                        func(context uintptr, definition *byte) uintptr
	proj_as_wkt                        func(context, pj uintptr, kind int32, options **byte) *byte
	proj_create_crs_to_crs_from_pj     func(context, source, target, area uintptr, options **byte) uintptr
	proj_normalize_for_visualization   func(context, pj uintptr) uintptr
	proj_area_create                   func() uintptr
	proj_area_set_bbox                 func(area uintptr, west, south, east, north float64)
	proj_area_destroy                  func(area uintptr)
	proj_trans_generic                 func(pj uintptr, direction int32, x *float64, stepX, nx uintptr, y *float64, stepY, ny uintptr, z *float64, stepZ, nz uintptr, t *float64, stepT, nt uintptr) uintptr
	proj_errno                         func(pj uintptr) int32
	proj_errno_reset                   func(pj uintptr) int32
	proj_destroy                       func(pj uintptr) uintptr
}

// Library is an open PROJ. It is never closed. It is safe for concurrent use.
type Library struct {
	functions
	file string
	log  uintptr // a function for PROJ

	version func() string
}

// Open opens a shared library of PROJ: the file with a name, or that of the environment variable QUERN_PROJ, or the usual
// one. An error matches ErrMissing or ErrVersion.
func Open(name string) (*Library, error) {
	names := []string{name}
	if name == "" {
		if names[0] = os.Getenv("QUERN_PROJ"); names[0] == "" {
			names = candidates()
		}
	}
	var first error
	for _, file := range names {
		l, err := open(file)
		if err == nil {
			return l, nil
		}
		if first == nil || len(names) > 1 && isVersion(err) {
			first = err
		}
	}
	if len(names) == 1 || isVersion(first) {
		return nil, first
	}
	return nil, failure(ErrMissing, "open", "", "PROJ is not installed; install it (Debian: libproj25, Homebrew: proj), or name its shared library with QUERN_PROJ")
}

func isVersion(err error) bool { e, ok := err.(*Error); return ok && e.Kind == ErrVersion }

var opened struct {
	sync.Mutex
	libraries map[string]*Library
}

func open(file string) (*Library, error) {
	opened.Lock()
	defer opened.Unlock()
	if l := opened.libraries[file]; l != nil {
		return l, nil
	}
	l := &Library{file: file}
	if err := l.bind(); err != nil {
		return nil, err
	}
	l.version = sync.OnceValue(func() string {
		c := l.context()
		defer l.free(c)
		key := cString("PROJ.VERSION")
		return goString(l.proj_context_get_database_metadata(c.handle, &key[0]))
	})
	if opened.libraries == nil {
		opened.libraries = map[string]*Library{}
	}
	opened.libraries[file] = l
	return l, nil
}

// File returns the name by which the library was opened.
func (l *Library) File() string { return l.file }

// Version returns the version of PROJ's database, such as "9.1.1", or "" if PROJ does not find it.
func (l *Library) Version() string { return l.version() }

// String returns PROJ, its version and the file.
func (l *Library) String() string {
	return strings.Join(strings.Fields("PROJ "+l.Version()+" ("+l.file+")"), " ")
}

func cString(s string) []byte { return append([]byte(s), 0) }

func goString(p *byte) string {
	if p == nil {
		return ""
	}
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
}

// context is one of PROJ's, for one thread at a time.
type context struct {
	handle uintptr
	id     uintptr
}

// messages are what contexts report, by their ids.
var messages struct {
	sync.Mutex
	next uintptr
	last map[uintptr]string
}

// report is called by PROJ with an error or a warning. It keeps the first one.
func report(id uintptr, level uintptr, text *byte) uintptr {
	messages.Lock()
	defer messages.Unlock()
	if s, ok := messages.last[id]; ok && s == "" {
		messages.last[id] = goString(text)
	}
	return 0
}

// context makes a context that reports errors, and has no network.
func (l *Library) context() context {
	messages.Lock()
	if messages.last == nil {
		messages.last = map[uintptr]string{}
	}
	messages.next++
	c := context{id: messages.next}
	messages.last[c.id] = ""
	messages.Unlock()
	const errorsOnly = 1
	c.handle = l.proj_context_create()
	l.proj_log_func(c.handle, c.id, l.log)
	l.proj_log_level(c.handle, errorsOnly)
	l.proj_context_set_enable_network(c.handle, 0)
	return c
}

// free frees a context.
func (l *Library) free(c context) {
	l.proj_context_destroy(c.handle)
	messages.Lock()
	delete(messages.last, c.id)
	messages.Unlock()
}

// reason returns what PROJ said since the last call, or else the text of the last error.
func (l *Library) reason(c context) string {
	messages.Lock()
	s := messages.last[c.id]
	messages.last[c.id] = ""
	messages.Unlock()
	if s != "" {
		return s
	}
	if code := l.proj_context_errno(c.handle); code != 0 {
		if s = goString(l.proj_errno_string(code)); s != "" {
			return s
		}
	}
	return "it gives no reason"
}

// workers is how many contexts a transform has at most.
func workers() int { return runtime.GOMAXPROCS(0) }
