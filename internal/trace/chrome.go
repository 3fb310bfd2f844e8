package trace

import (
	"bufio"
	"io"
	"path/filepath"
	"strconv"
	"unicode/utf8"
)

// Chrome writes events in Chrome's trace-event format, as a JSON array. Perfetto and
// chrome://tracing show it: a process is a device or the host, a thread is a stream or a
// goroutine, and arrows lead from calls to the work that they caused.
type Chrome struct {
	w         *bufio.Writer
	written   int64
	err       error
	any       bool
	line      []byte
	processes map[string]int
	threads   map[*Track]int
	numbers   map[string]int // by process and thread
	flowed    map[uint64]bool
	places    map[Stack]string
	live      map[uint64]int64 // bytes by allocation
	memory    map[string]int64 // bytes by process
}

// NewChrome begins an array.
func NewChrome(w io.Writer) *Chrome {
	c := &Chrome{
		w: bufio.NewWriterSize(w, 1<<16), processes: map[string]int{}, threads: map[*Track]int{}, numbers: map[string]int{},
		flowed: map[uint64]bool{}, places: map[Stack]string{}, live: map[uint64]int64{}, memory: map[string]int64{},
	}
	c.put([]byte("["))
	return c
}

// put writes bytes.
func (c *Chrome) put(b []byte) {
	if c.err == nil {
		var n int
		n, c.err = c.w.Write(b)
		c.written += int64(n)
	}
}

// begin begins an event.
func (c *Chrome) begin(phase, name string, process, thread int) {
	c.line = c.line[:0]
	if c.any {
		c.line = append(c.line, ',')
	}
	c.any = true
	c.line = append(c.line, "\n{\"ph\":\""...)
	c.line = append(c.line, phase...)
	c.line = append(c.line, "\",\"name\":"...)
	c.line = appendJSON(c.line, name)
	c.number("pid", int64(process))
	c.number("tid", int64(thread))
}

func (c *Chrome) number(key string, v int64) {
	c.key(key)
	c.line = strconv.AppendInt(c.line, v, 10)
}

func (c *Chrome) text(key, v string) {
	c.key(key)
	c.line = appendJSON(c.line, v)
}

// time appends nanoseconds as microseconds.
func (c *Chrome) time(key string, ns int64) {
	c.key(key)
	if ns < 0 {
		c.line = append(c.line, '-')
		ns = -ns
	}
	c.line = strconv.AppendInt(c.line, ns/1000, 10)
	c.line = append(c.line, '.', byte('0'+ns/100%10), byte('0'+ns/10%10), byte('0'+ns%10))
}

// key appends a key; after an opening brace there is no comma.
func (c *Chrome) key(key string) {
	if c.line[len(c.line)-1] != '{' {
		c.line = append(c.line, ',')
	}
	c.line = append(c.line, '"')
	c.line = append(c.line, key...)
	c.line = append(c.line, "\":"...)
}

func (c *Chrome) open(key string) {
	c.key(key)
	c.line = append(c.line, '{')
}

func (c *Chrome) close() { c.line = append(c.line, '}') }

func (c *Chrome) end() {
	c.close()
	c.put(c.line)
}

// meta writes the name of a process or a thread.
func (c *Chrome) meta(what string, process, thread int, name string) {
	c.begin("M", what, process, thread)
	c.open("args")
	c.text("name", name)
	c.close()
	c.end()
}

// where returns the numbers of a track's process and thread, and writes their names first.
func (c *Chrome) where(t *Track) (process, thread int) {
	process, known := c.processes[t.Process]
	if !known {
		process = len(c.processes) + 1
		c.processes[t.Process] = process
		c.meta("process_name", process, 0, t.Process)
	}
	if thread, known = c.threads[t]; !known {
		name := t.Process + "\x00" + t.Thread
		if thread = c.numbers[name]; thread == 0 {
			thread = len(c.numbers) + 1
			c.numbers[name] = thread
			c.meta("thread_name", process, thread, t.Thread)
		}
		c.threads[t] = thread
	}
	return process, thread
}

// mostRemembered bounds what a writer remembers of operations and tracks.
const mostRemembered = 1 << 16

// Write writes an event.
func (c *Chrome) Write(e *Event) {
	if e.Kind == Alloc || e.Kind == Free {
		c.count(e)
		return
	}
	process, thread := c.where(e.Track)
	name := e.Label.Name
	if !e.OnDevice && e.Kind <= Graph {
		name = "launch " + name
	}
	if e.Kind == Mark {
		c.begin("i", name, process, thread)
		c.text("s", "t")
		c.time("ts", e.Start)
		if e.Text != "" {
			c.open("args")
			c.text("text", e.Text)
			c.close()
		}
		c.end()
		return
	}
	c.begin("X", name, process, thread)
	c.text("cat", e.Kind.String())
	c.time("ts", e.Start)
	c.time("dur", e.Duration)
	c.open("args")
	if e.Bytes > 0 {
		c.number("bytes", e.Bytes)
	}
	if e.Grid[0] > 0 {
		c.text("grid", dims(e.Grid))
		c.text("block", dims(e.Block))
	}
	if e.Label.File != "" {
		c.text("source", filepath.Base(e.Label.File)+":"+strconv.Itoa(e.Label.Line))
	}
	if at := c.place(e.Stack); at != "" {
		c.text("call", at)
	}
	if e.Section != nil {
		c.text("section", e.Section.Name)
	}
	if e.Weight > 1 {
		c.number("stands for", int64(e.Weight))
	}
	c.close()
	c.end()
	if e.Kind <= Fill && e.Op > 0 {
		c.flow(e, process, thread)
	}
}

// count writes the memory in use after an allocation or its end.
func (c *Chrome) count(e *Event) {
	switch bytes, known := c.live[e.Op]; {
	case e.Kind == Alloc && len(c.live) < mostRemembered:
		c.live[e.Op] = e.Bytes
		c.memory[e.Track.Process] += e.Bytes
	case e.Kind == Free && known:
		delete(c.live, e.Op)
		c.memory[e.Track.Process] -= bytes
	default:
		return
	}
	process, thread := c.where(e.Track)
	c.begin("C", "memory", process, thread)
	c.time("ts", e.Start)
	c.open("args")
	c.number("bytes", c.memory[e.Track.Process])
	c.close()
	c.end()
}

// flow writes the end of an arrow between what the host and what the device did.
func (c *Chrome) flow(e *Event, process, thread int) {
	phase, at := "s", e.Start
	if e.OnDevice {
		if c.flowed[e.Op] { // arrows lead to the first kernel of a graph
			return
		}
		if len(c.flowed) >= mostRemembered {
			clear(c.flowed)
		}
		c.flowed[e.Op] = true
		phase = "f"
	}
	c.begin(phase, "cause", process, thread)
	c.text("cat", "cause")
	c.number("id", int64(e.Op))
	c.time("ts", at)
	if e.OnDevice {
		c.text("bp", "e")
	}
	c.end()
}

// place returns the function and line of the program that a stack belongs to.
func (c *Chrome) place(s Stack) string {
	if s == 0 {
		return ""
	}
	if at, known := c.places[s]; known {
		return at
	}
	at := ""
	if frames := s.Frames(); len(frames) > 0 {
		f := frames[0]
		for _, o := range frames[1:] {
			if !internal(&f) && !generated(f.File) {
				break
			}
			f = o
		}
		at = f.Function + " (" + filepath.Base(f.File) + ":" + strconv.Itoa(f.Line) + ")"
	}
	c.places[s] = at
	return at
}

// generated reports whether a file was written by quern gen.
func generated(file string) bool { return filepath.Base(file) == "quern_gen.go" }

func dims(d [3]int32) string {
	return strconv.Itoa(int(d[0])) + "x" + strconv.Itoa(int(d[1])) + "x" + strconv.Itoa(int(d[2]))
}

// Note writes a message about the recording at the time of the last event.
func (c *Chrome) Note(name string, at int64) {
	process, thread := c.where(&noteTrack)
	c.begin("i", name, process, thread)
	c.text("s", "g")
	c.time("ts", at)
	c.end()
}

var noteTrack = Track{Process: "host", Thread: "recorder"}

// Flush writes what is buffered.
func (c *Chrome) Flush() error {
	if c.err == nil {
		c.err = c.w.Flush()
	}
	return c.err
}

// Close ends the array.
func (c *Chrome) Close() error {
	c.put([]byte("\n]\n"))
	return c.Flush()
}

// appendJSON appends s as a JSON string.
func appendJSON(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	if plain(s) {
		return append(append(b, s...), '"')
	}
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r < ' ':
			b = append(b, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}

// plain reports whether s is ASCII without characters that JSON escapes.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
