package report

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strconv"
	"time"

	"quern.dev/internal/trace"
)

// Frame is a function and a line of a call stack.
type Frame struct {
	Function, File string
	Line           int
}

// Label is a name with the position of its source.
type Label struct {
	Name, File string
	Line       int
}

// kernel returns the name of a kernel with its package, as in [ptxvm.KernelCount].
func (l Label) kernel() string { return path.Dir(l.File) + "." + l.Name }

// Track is a sequence of events.
type Track struct{ Process, Thread string }

// Event is something that happened; see [trace.Event]. Numbers of labels, tracks, stacks and
// shapes are indices of the lists of its Recording; 0 is none.
type Event struct {
	Kind            trace.Kind
	OnDevice        bool
	Waits           bool
	Label, Track    int32
	Stack, Section  int32
	Shape           int32
	Start, Duration int64 // nanoseconds since the epoch
	Bytes           int64
	Op              uint64
	Host, Data      uint64
	Weight          int64 // number of operations that it stands for
}

// Sum is the sum of events that were removed to bound the size of a recording.
type Sum struct {
	Kind                   trace.Kind
	OnDevice               bool
	Label, Track, Stack    int32
	Count, Duration, Bytes int64
}

// Recording is what a program has recorded.
type Recording struct {
	Epoch   time.Time
	Process int
	Go      string
	Program string   // file
	Module  string   // import path of the main package
	Args    []string // with the name of the program
	Devices []trace.Device
	Note    string
	Lost    uint64 // events for which there was no room
	Removed uint64 // events of which only Sums are left
	Cut     bool   // the recording ends within a line: the program was killed

	Labels []Label
	Tracks []Track
	Stacks [][]Frame
	Shapes []trace.Shape
	Events []Event
	Sums   []Sum
}

// ReadFiles reads a recording from the file with a name and the one before it, if there is one.
func ReadFiles(name string) (*Recording, error) {
	r := newRecording()
	previous := trace.PreviousRecord(name)
	for _, file := range []string{previous, name} {
		f, err := os.Open(file)
		if file == previous && errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err == nil {
			err = r.read(f, file != name || len(r.Events) == 0)
			f.Close()
		}
		if err != nil {
			return nil, fmt.Errorf("read recording: %w", err)
		}
	}
	return r, nil
}

// Read reads a recording.
func Read(from io.Reader) (*Recording, error) {
	r := newRecording()
	if err := r.read(from, true); err != nil {
		return nil, fmt.Errorf("read recording: %w", err)
	}
	return r, nil
}

func newRecording() *Recording {
	return &Recording{Labels: make([]Label, 1), Tracks: make([]Track, 1), Stacks: make([][]Frame, 1), Shapes: make([]trace.Shape, 1)}
}

// reader reads one file of a recording, whose numbers differ from those of the Recording.
type reader struct {
	*Recording
	sums                           bool
	frames                         []Frame
	labels, tracks, stacks, shapes numbers

	labelOf map[Label]int32
	trackOf map[Track]int32
}

// numbers maps the numbers in a file to indices.
type numbers map[int64]int32

// read adds a file. sums says whether it is the first, whose sums count.
func (r *Recording) read(from io.Reader, sums bool) error {
	d := &reader{Recording: r, sums: sums, labels: numbers{}, tracks: numbers{}, stacks: numbers{}, shapes: numbers{},
		labelOf: map[Label]int32{}, trackOf: map[Track]int32{}}
	for i, l := range r.Labels {
		d.labelOf[l] = int32(i)
	}
	for i, t := range r.Tracks {
		d.trackOf[t] = int32(i)
	}
	in := bufio.NewReaderSize(from, 1<<20)
	for n := 1; ; n++ {
		line, err := in.ReadSlice('\n')
		switch {
		case err == io.EOF:
			r.Cut = len(line) > 0
			if n == 1 {
				return errors.New("the file is empty: no device was opened, or the program was killed before")
			}
			return nil
		case err != nil:
			return fmt.Errorf("line %d: %w", n, err)
		}
		f := fields{line: line[:len(line)-1]}
		if n == 1 && f.peek() != 'h' {
			return errors.New("the file is not a recording")
		}
		d.line(&f)
		if f.failed {
			return fmt.Errorf("line %d is damaged: %.40q", n, line)
		}
	}
}

// line reads a line.
func (d *reader) line(f *fields) {
	what := f.peek()
	f.line = f.line[min(1, len(f.line)):]
	switch what {
	case 'h':
		d.header(f)
	case 'd':
		d.Devices = append(d.Devices, trace.Device{Process: f.text(), Name: f.text(), Backend: f.text(), Architecture: f.text(),
			Multiprocessors: int(f.int()), Memory: f.int()})
	case 'f':
		f.int() // they are numbered from 1
		line := int(f.int())
		d.frames = append(d.frames, Frame{Line: line, Function: f.text(), File: f.text()})
	case 's':
		id := f.int()
		var list []Frame
		for len(f.line) > 0 && !f.failed {
			if n := f.int(); n > 0 && int(n) <= len(d.frames) {
				list = append(list, d.frames[n-1])
			} else {
				f.failed = true
			}
		}
		d.stacks[id] = int32(len(d.Stacks))
		d.Stacks = append(d.Stacks, list)
	case 'l':
		id, line := f.int(), int(f.int())
		l := Label{Line: line, Name: f.text(), File: f.text()}
		d.labels[id] = number(&d.Labels, d.labelOf, l)
	case 't':
		id := f.int()
		d.tracks[id] = number(&d.Tracks, d.trackOf, Track{f.text(), f.text()})
	case 'p':
		id := f.int()
		d.shapes[id] = int32(len(d.Shapes))
		d.Shapes = append(d.Shapes, trace.Shape{Grid: f.dims(), Block: f.dims(), Registers: int32(f.int()), Shared: int32(f.int()), Read: f.int(), Write: f.int()})
	case 'e':
		d.Events = append(d.Events, d.event(f))
	case 'u':
		s := Sum{Kind: trace.Kind(f.int()), OnDevice: f.int() != 0, Label: f.index(d.labels), Track: f.index(d.tracks),
			Count: f.int(), Duration: f.int(), Bytes: f.int(), Stack: f.index(d.stacks)}
		if d.sums {
			d.Sums = append(d.Sums, s)
		}
	case 'n':
		d.Note = f.text()
	case 'x':
		d.Lost = f.uint()
		if removed := f.uint(); d.sums {
			d.Removed = removed
		}
	}
}

func (d *reader) header(f *fields) {
	if v := f.int(); v != trace.RecordVersion {
		f.failed = true
		return
	}
	d.Epoch = time.Unix(0, f.int())
	d.Process = int(f.int())
	d.Go, d.Program, d.Module = f.text(), f.text(), f.text()
	d.Args, d.Devices = nil, nil
	for len(f.line) > 0 && !f.failed {
		d.Args = append(d.Args, f.text())
	}
}

func (d *reader) event(f *fields) Event {
	var e Event
	e.Kind = trace.Kind(f.int())
	e.OnDevice = f.int() != 0
	e.Label, e.Track = f.index(d.labels), f.index(d.tracks)
	e.Start, e.Duration, e.Bytes = f.int(), f.int(), f.int()
	e.Stack = f.index(d.stacks)
	e.Op = f.uint()
	e.Section, e.Shape = f.index(d.labels), f.index(d.shapes)
	e.Host, e.Data = f.uint(), f.uint()
	e.Waits = f.int() != 0
	e.Weight = f.int()
	return e
}

func number[T comparable](list *[]T, of map[T]int32, v T) int32 {
	id, known := of[v]
	if !known {
		id = int32(len(*list))
		of[v] = id
		*list = append(*list, v)
	}
	return id
}

// fields reads the fields of a line.
type fields struct {
	line   []byte
	failed bool
}

func (f *fields) peek() byte {
	if len(f.line) == 0 {
		return 0
	}
	return f.line[0]
}

// next returns the next field, which is a number.
func (f *fields) next() []byte {
	f.line = bytes.TrimPrefix(f.line, []byte{' '})
	i := bytes.IndexByte(f.line, ' ')
	if i < 0 {
		i = len(f.line)
	}
	field := f.line[:i]
	f.line = f.line[i:]
	return field
}

func (f *fields) int() int64 {
	field := f.next()
	negative := len(field) > 0 && field[0] == '-'
	if negative {
		field = field[1:]
	}
	v := int64(f.digits(field))
	if negative {
		return -v
	}
	return v
}

func (f *fields) uint() uint64 { return f.digits(f.next()) }

func (f *fields) digits(field []byte) uint64 {
	var v uint64
	f.failed = f.failed || len(field) == 0
	for _, c := range field {
		f.failed = f.failed || c < '0' || c > '9'
		v = v*10 + uint64(c-'0')
	}
	return v
}

func (f *fields) text() string {
	f.line = bytes.TrimPrefix(f.line, []byte{' '})
	quoted, err := strconv.QuotedPrefix(string(f.line))
	if err != nil {
		f.failed = true
		return ""
	}
	f.line = f.line[len(quoted):]
	s, err := strconv.Unquote(quoted)
	f.failed = f.failed || err != nil
	return s
}

func (f *fields) dims() [3]int32 { return [3]int32{int32(f.int()), int32(f.int()), int32(f.int())} }

// index returns the index that a number in the file stands for; 0 stands for none.
func (f *fields) index(n numbers) int32 {
	id := f.int()
	at, known := n[id]
	f.failed = f.failed || id != 0 && !known
	return at
}
