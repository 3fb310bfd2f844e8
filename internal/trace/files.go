package trace

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Environment variables that name the files to write.
const (
	TraceVariable   = "QUERN_TRACE"
	ProfileVariable = "QUERN_PPROF"
	RecordVariable  = "QUERN_RECORD"    // for the quern command
	AllVariable     = "QUERN_TRACE_ALL" // if it is not empty, every operation is recorded
)

// Environment starts a recording into the files that the environment names, once per
// process. Messages go to standard error.
var Environment = sync.OnceFunc(func() {
	StartFiles(processName(os.Getenv(TraceVariable)), processName(os.Getenv(ProfileVariable)), os.Getenv(RecordVariable), os.Stderr)
})

// processName replaces %p in the name of a file by the number of the process.
func processName(name string) string {
	return strings.ReplaceAll(name, "%p", strconv.Itoa(os.Getpid()))
}

// errShared is the error of a file that another process has written meanwhile.
var errShared = errors.New("another process writes the file; give each one its own, with %p in the name for the number of the process")

// StartFiles starts a recording into files; "" is none. stop ends it.
func StartFiles(trace, profile, record string, messages io.Writer) (stop func()) {
	var stops []func() error
	if trace != "" {
		if f, err := newTraceFile(trace, traceFileSize, messages); err != nil {
			fmt.Fprintf(messages, "quern: %s: %v; no trace is written\n", TraceVariable, err)
		} else {
			stops = append(stops, Start(f))
		}
	}
	if profile != "" && trace != "" && sameFile(profile, trace) {
		fmt.Fprintf(messages, "quern: %s: it names the same file as %s; no profile is written\n", ProfileVariable, TraceVariable)
	} else if profile != "" {
		if f, err := newProfileFile(profile, messages); err != nil {
			fmt.Fprintf(messages, "quern: %s: %v; no profile is written\n", ProfileVariable, err)
		} else {
			stops = append(stops, Start(f))
		}
	}
	if record != "" {
		if f, err := newRecordFile(record, recordFileSize, messages); errors.Is(err, os.ErrExist) {
			fmt.Fprintf(messages, "quern: process %d is not recorded: the report has the first process that opens a device\n", os.Getpid())
		} else if err != nil {
			fmt.Fprintf(messages, "quern: %s: %v; nothing is recorded\n", RecordVariable, err)
		} else {
			stops = append(stops, Start(f))
		}
	}
	if len(stops) > 0 {
		stops = append(stops, Start(&notes{messages: messages}))
		if r := Active(); r != nil && os.Getenv(AllVariable) != "" {
			r.RecordAll()
		}
	}
	return func() {
		for _, stop := range stops {
			stop()
		}
	}
}

// sameFile reports whether two names are those of one file.
func sameFile(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// notes writes messages about a recording that is not as good as it could be.
type notes struct {
	messages io.Writer
	last     string
}

func (n *notes) Events([]Event) {}

func (n *notes) Round(s Summary) {
	if s.Note != n.last && !strings.HasPrefix(s.Note, fromCUPTI) {
		fmt.Fprintf(n.messages, "quern: recording: %s\n", s.Note)
	}
	n.last = s.Note
}

// traceFileSize is the size at which a new file is begun. The previous one is kept.
const traceFileSize = 256 << 20

// ending ends the array of a trace file. The next round replaces it.
const ending = "\n]\n"

// traceFile is a file in Chrome's format, which is complete after each round.
type traceFile struct {
	name     string
	size     int64
	messages io.Writer
	file     *os.File
	chrome   *Chrome
	complete int64  // size without the ending when the file was last complete
	removed  uint64 // events in files that are gone
	current  uint64 // events in this file
	previous uint64 // events in the previous file
	last     int64  // time of the last event
	note     string
	lost     uint64
	changed  bool
	failed   bool
	shared   bool // with another process
}

func newTraceFile(name string, size int64, messages io.Writer) (*traceFile, error) {
	f := &traceFile{name: name, size: size, messages: messages}
	return f, f.create()
}

func (f *traceFile) create() error {
	file, err := os.Create(f.name)
	if err != nil {
		return err
	}
	f.file, f.chrome = file, NewChrome(file)
	f.note, f.lost, f.complete = "", 0, 0
	return f.finish()
}

// finish makes the file complete for now.
func (f *traceFile) finish() error {
	if err := f.chrome.Flush(); err != nil {
		return err
	}
	if _, err := f.file.WriteAt([]byte(ending), f.chrome.written); err != nil {
		return err
	}
	f.complete = f.chrome.written
	return nil
}

// foreign reports whether another process has written the file since it was complete.
func (f *traceFile) foreign() bool {
	i, err := f.file.Stat()
	return err == nil && i.Mode().IsRegular() && i.Size() != f.complete+int64(len(ending))
}

// cut restores the last complete version of the file, after an error.
func (f *traceFile) cut() {
	if f.complete > 0 && f.file.Truncate(f.complete) == nil {
		_, _ = f.file.WriteAt([]byte(ending), f.complete) // the error is already reported
	}
}

// Events writes events.
func (f *traceFile) Events(list []Event) {
	if f.failed || f.shared {
		return
	}
	if !f.changed && f.foreign() {
		f.shared = true // which Round reports
		return
	}
	for i := range list {
		f.chrome.Write(&list[i])
		f.last = max(f.last, list[i].Start)
	}
	f.current += uint64(len(list))
	f.changed = true
}

// Round completes the file, and begins a new one if it is large.
func (f *traceFile) Round(s Summary) {
	if f.failed {
		return
	}
	if f.shared {
		f.failed = true
		f.file.Close()
		fmt.Fprintf(f.messages, "quern: %s: %s: %v\n", TraceVariable, f.name, errShared)
		return
	}
	if s.Note != f.note && s.Note != "" {
		f.note, f.changed = s.Note, true
		f.chrome.Note(s.Note, f.last)
	}
	if s.Lost != f.lost {
		f.lost, f.changed = s.Lost, true
		f.chrome.Note(lostNote(s.Lost), f.last)
	}
	if !f.changed && !s.Final {
		return
	}
	f.changed = false
	err := f.finish()
	if err == nil && f.chrome.written > f.size {
		err = f.rotate()
	}
	if err != nil {
		f.cut()
	}
	if s.Final || err != nil {
		f.file.Close()
	}
	if err != nil {
		f.failed = true
		fmt.Fprintf(f.messages, "quern: %s: %v; the trace ends here\n", TraceVariable, err)
	}
}

// rotate begins a new file and keeps the previous one.
func (f *traceFile) rotate() error {
	if err := f.file.Close(); err != nil {
		return err
	}
	extension := filepath.Ext(f.name)
	if err := os.Rename(f.name, strings.TrimSuffix(f.name, extension)+".1"+extension); err != nil {
		return err
	}
	f.removed += f.previous
	f.previous, f.current = f.current, 0
	if err := f.create(); err != nil {
		return err
	}
	if f.removed > 0 {
		f.chrome.Note(fmt.Sprintf("%d earlier events were removed to bound the size of the trace", f.removed), f.last)
	}
	return nil
}

func lostNote(n uint64) string { return fmt.Sprintf("%d events were lost: there was no room", n) }

// Time between two versions of a profile file: at least profileInterval, and profileShare
// times as long as writing takes.
const (
	profileInterval = 200 * time.Millisecond
	profileShare    = 20
)

// profileFile is a file in pprof's format. It is replaced by newer versions.
type profileFile struct {
	name     string
	messages io.Writer
	profile  *Profile
	changed  bool
	next     time.Time // when the next version is due
	last     os.FileInfo
	failed   bool
}

func newProfileFile(name string, messages io.Writer) (*profileFile, error) {
	name, err := replaceable(name)
	if err != nil {
		return nil, err
	}
	f := &profileFile{name: name, messages: messages, profile: NewProfile()}
	return f, f.write("")
}

// replaceable returns the file that a name stands for, after symbolic links. It is an error if
// renaming another file to it would replace something else than a file, such as /dev/null.
func replaceable(name string) (string, error) {
	i, err := os.Stat(name)
	if err != nil {
		return name, nil // creating the file reports what is wrong
	}
	if !i.Mode().IsRegular() {
		return "", &os.PathError{Op: "replace", Path: name, Err: errors.New("not a regular file")}
	}
	return filepath.EvalSymlinks(name)
}

// Events adds events.
func (f *profileFile) Events(list []Event) {
	for i := range list {
		if f.profile.Add(&list[i]) {
			f.changed = true
		}
	}
}

// Round replaces the file if the profile has changed.
func (f *profileFile) Round(s Summary) {
	if f.failed || !f.changed || !s.Urgent && time.Now().Before(f.next) {
		return
	}
	note := s.Note
	if s.Lost > 0 {
		note = strings.TrimPrefix(note+"; "+lostNote(s.Lost), "; ")
	}
	if err := f.write(note); err != nil {
		f.failed = true
		fmt.Fprintf(f.messages, "quern: %s: %v; the profile ends here\n", ProfileVariable, err)
	}
}

// write writes a file and renames it, so that there is always a complete one.
func (f *profileFile) write(note string) error {
	begin := time.Now()
	if i, err := os.Stat(f.name); err == nil && f.last != nil && !os.SameFile(i, f.last) {
		return &os.PathError{Op: "replace", Path: f.name, Err: errShared}
	}
	file, err := os.CreateTemp(filepath.Dir(f.name), filepath.Base(f.name)+".*")
	if err != nil {
		return err
	}
	err = f.profile.Write(file, note)
	if err == nil {
		err = file.Chmod(0o644)
	}
	if err == nil {
		f.last, err = file.Stat()
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(file.Name(), f.name)
	}
	if err != nil {
		os.Remove(file.Name())
		return err
	}
	now := time.Now()
	f.changed, f.next = false, now.Add(max(profileInterval, profileShare*now.Sub(begin)))
	return nil
}
