package trace

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
)

// RecordVersion is the version of the format of recordings.
const RecordVersion = 1

// Encoder writes events for package internal/report, as lines of text. A line begins with a
// letter that says what it is. Numbers of stacks, labels, tracks and shapes are defined before
// they are used; 0 is none. A text that ends within a line is a complete recording up to it.
//
//	h VERSION EPOCH PID "GO" "PROGRAM" "MODULE" "ARG" ...
//	d "PROCESS" "NAME" "BACKEND" "ARCHITECTURE" MULTIPROCESSORS MEMORY
//	f ID LINE "FUNCTION" "FILE"
//	s ID FRAME ...
//	l ID LINE "NAME" "FILE"
//	t ID "PROCESS" "THREAD"
//	p ID GRID BLOCK REGISTERS SHARED READ WRITE
//	e KIND DEVICE LABEL TRACK START DURATION BYTES STACK OP SECTION SHAPE HOST DATA WAITS WEIGHT
//	u KIND DEVICE LABEL TRACK COUNT DURATION BYTES STACK   sum of events that were removed
//	n "NOTE"
//	x LOST BEFORE
type Encoder struct {
	w       *bufio.Writer
	written int64 // bytes
	err     error
	line    []byte
	frames  map[location]int
	stacks  map[Stack]bool
	labels  map[*Label]int
	tracks  map[*Track]int
	shapes  map[*Shape]int
	devices int
}

// NewEncoder begins a recording.
func NewEncoder(w io.Writer) *Encoder {
	c := &Encoder{
		w: bufio.NewWriterSize(w, 1<<16), frames: map[location]int{}, stacks: map[Stack]bool{},
		labels: map[*Label]int{}, tracks: map[*Track]int{}, shapes: map[*Shape]int{},
	}
	program, _ := os.Executable() // "" if it is not known
	main := ""
	if i, ok := debug.ReadBuildInfo(); ok {
		main = i.Main.Path
	}
	c.begin('h')
	c.int(RecordVersion)
	c.int(Epoch.UnixNano())
	c.int(int64(os.Getpid()))
	c.text(runtime.Version())
	c.text(program)
	c.text(main)
	for _, a := range os.Args {
		c.text(a)
	}
	c.end()
	return c
}

func (c *Encoder) begin(what byte) { c.line = append(c.line[:0], what) }
func (c *Encoder) int(v int64)     { c.line = strconv.AppendInt(append(c.line, ' '), v, 10) }
func (c *Encoder) uint(v uint64)   { c.line = strconv.AppendUint(append(c.line, ' '), v, 10) }
func (c *Encoder) text(s string)   { c.line = strconv.AppendQuote(append(c.line, ' '), s) }
func (c *Encoder) flag(v bool)     { c.int(int64(map[bool]int{true: 1}[v])) }
func (c *Encoder) dims(d [3]int32) { c.int(int64(d[0])); c.int(int64(d[1])); c.int(int64(d[2])) }

func (c *Encoder) end() {
	c.line = append(c.line, '\n')
	if c.err == nil {
		var n int
		n, c.err = c.w.Write(c.line)
		c.written += int64(n)
	}
}

// Event writes an event.
func (c *Encoder) Event(e *Event) {
	stack, label, track, shape := c.stack(e.Stack), c.label(e.Label), c.track(e.Track), c.shape(e.Shape)
	section := c.label(e.Section)
	if e.Shape == nil && e.Grid[0] > 0 {
		shape = c.shape(&Shape{Grid: e.Grid, Block: e.Block})
	}
	c.begin('e')
	c.int(int64(e.Kind))
	c.flag(e.OnDevice)
	c.int(int64(label))
	c.int(int64(track))
	c.int(e.Start)
	c.int(e.Duration)
	c.int(e.Bytes)
	c.int(stack)
	c.uint(e.Op)
	c.int(int64(section))
	c.int(int64(shape))
	c.uint(e.Host)
	c.uint(e.Data)
	c.flag(e.Waits)
	c.int(int64(max(1, e.Weight)))
	c.end()
}

// stack defines a stack.
func (c *Encoder) stack(s Stack) int64 {
	if s == 0 || c.stacks[s] {
		return int64(s)
	}
	c.stacks[s] = true
	var ids []int
	for _, f := range s.Frames() {
		at := location{function: f.Function, file: f.File, line: f.Line}
		id := c.frames[at]
		if id == 0 {
			id = len(c.frames) + 1
			c.frames[at] = id
			c.begin('f')
			c.int(int64(id))
			c.int(int64(f.Line))
			c.text(f.Function)
			c.text(f.File)
			c.end()
		}
		ids = append(ids, id)
	}
	c.begin('s')
	c.int(int64(s))
	for _, id := range ids {
		c.int(int64(id))
	}
	c.end()
	return int64(s)
}

func (c *Encoder) label(l *Label) int {
	if l == nil {
		return 0
	}
	id := c.labels[l]
	if id == 0 {
		id = len(c.labels) + 1
		c.labels[l] = id
		c.begin('l')
		c.int(int64(id))
		c.int(int64(l.Line))
		c.text(l.Name)
		c.text(l.File)
		c.end()
	}
	return id
}

func (c *Encoder) track(t *Track) int {
	id := c.tracks[t]
	if id == 0 {
		id = len(c.tracks) + 1
		c.tracks[t] = id
		c.begin('t')
		c.int(int64(id))
		c.text(t.Process)
		c.text(t.Thread)
		c.end()
	}
	return id
}

func (c *Encoder) shape(s *Shape) int {
	if s == nil {
		return 0
	}
	id := c.shapes[s]
	if id == 0 {
		id = len(c.shapes) + 1
		c.shapes[s] = id
		c.begin('p')
		c.int(int64(id))
		c.dims(s.Grid)
		c.dims(s.Block)
		c.int(int64(s.Registers))
		c.int(int64(s.Shared))
		c.int(s.Read)
		c.int(s.Write)
		c.end()
	}
	return id
}

// Note writes a message about the recording.
func (c *Encoder) Note(note string) {
	c.begin('n')
	c.text(note)
	c.end()
}

// Lost writes how many events were lost because there was no room, and how many are before this
// file.
func (c *Encoder) Lost(lost, before uint64) {
	c.begin('x')
	c.uint(lost)
	c.uint(before)
	c.end()
}

// Flush writes the devices that were opened since, and what is buffered.
func (c *Encoder) Flush() error {
	list := Devices()
	for _, d := range list[min(c.devices, len(list)):] {
		c.begin('d')
		c.text(d.Process)
		c.text(d.Name)
		c.text(d.Backend)
		c.text(d.Architecture)
		c.int(int64(d.Multiprocessors))
		c.int(d.Memory)
		c.end()
	}
	c.devices = len(list)
	if c.err == nil {
		c.err = c.w.Flush()
	}
	return c.err
}

// sumKey is what events of a recording are summed by when they are removed.
type sumKey struct {
	kind     Kind
	onDevice bool
	label    *Label
	track    *Track
	stack    Stack
}

type sum struct{ count, duration, bytes int64 }

// recordFileSize is the size at which a new file is begun. The previous one is kept.
const recordFileSize = 256 << 20

// recordFile is a recording for the quern command, bounded in size.
type recordFile struct {
	name     string
	size     int64
	messages io.Writer
	file     *os.File
	encoder  *Encoder
	sums     map[sumKey]*sum // of all events
	total    uint64          // events so far
	before   uint64          // of them, in earlier files
	note     string
	lost     uint64
	failed   bool
	cpu      cpuProfile
}

func newRecordFile(name string, size int64, messages io.Writer) (*recordFile, error) {
	f := &recordFile{name: name, size: size, messages: messages, sums: map[sumKey]*sum{}}
	if err := f.create(); err != nil {
		return nil, err
	}
	if err := f.cpu.start(name); err != nil {
		fmt.Fprintf(messages, "quern: %s: no profile of the CPU: %v\n", RecordVariable, err)
	}
	return f, nil
}

// PreviousRecord returns the name of the file with the part of a recording before a file.
func PreviousRecord(name string) string { return name + ".1" }

// Inspects asks for the memory of copies.
func (f *recordFile) Inspects() {}

func (f *recordFile) create() error {
	// A child of the program that opens a device too must not write into its file.
	file, err := os.OpenFile(f.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	f.file, f.encoder = file, NewEncoder(file)
	f.note, f.lost = "", 0
	for k, s := range f.sums {
		c := f.encoder
		label, track, stack := c.label(k.label), c.track(k.track), c.stack(k.stack)
		c.begin('u')
		c.int(int64(k.kind))
		c.flag(k.onDevice)
		c.int(int64(label))
		c.int(int64(track))
		c.int(s.count)
		c.int(s.duration)
		c.int(s.bytes)
		c.int(stack)
		c.end()
	}
	return f.encoder.Flush()
}

// Events writes events.
func (f *recordFile) Events(list []Event) {
	if f.failed {
		return
	}
	for i := range list {
		e := &list[i]
		f.encoder.Event(e)
		k := sumKey{e.Kind, e.OnDevice, e.Label, e.Track, e.Stack}
		s := f.sums[k]
		if s == nil {
			if len(f.sums) >= mostSamples {
				k.stack, k.track = 0, &noteTrack
				s = f.sums[k]
			}
			if s == nil {
				s = new(sum)
				f.sums[k] = s
			}
		}
		weight := int64(max(1, e.Weight))
		s.count += weight
		s.duration += e.Duration * weight
		s.bytes += e.Bytes * weight
	}
	f.total += uint64(len(list))
}

// Round completes the file, and begins a new one if it is large.
func (f *recordFile) Round(s Summary) {
	if f.failed {
		return
	}
	if s.Note != f.note {
		f.note = s.Note
		f.encoder.Note(s.Note)
	}
	if s.Lost != f.lost {
		f.lost = s.Lost
		f.encoder.Lost(s.Lost, f.before)
	}
	err := f.encoder.Flush()
	if err == nil && f.encoder.written > f.size && !s.Final {
		err = f.rotate()
	}
	if s.Final {
		f.file.Close()
	}
	if err == nil {
		err = f.cpu.round(s)
	}
	if err != nil {
		f.failed = true
		fmt.Fprintf(f.messages, "quern: %s: %v; the recording ends here\n", RecordVariable, err)
	}
}

// rotate begins a new file and keeps the previous one. Each file begins with the sums of what
// was before it, so nothing is missing in totals.
func (f *recordFile) rotate() error {
	if err := f.file.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.name, PreviousRecord(f.name)); err != nil {
		return err
	}
	f.before = f.total
	if err := f.create(); err != nil {
		return err
	}
	f.encoder.Lost(f.lost, f.before)
	return f.encoder.Flush()
}
