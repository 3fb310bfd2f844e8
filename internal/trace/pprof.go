package trace

import (
	"compress/gzip"
	"io"
	"maps"
	"os"
	"slices"
	"time"
)

// Profile sums events by call stack. It writes them in pprof's format
// (github.com/google/pprof/proto/profile.proto).
type Profile struct {
	sums     map[sampleKey]*sample
	begin    time.Time
	from, to int64 // of the events, since Epoch
	any      bool
}

// sampleKey is what events are summed by.
type sampleKey struct {
	stack   Stack
	label   *Label
	kind    Kind
	section *Label
	process string
}

// sample has a value for each of sampleTypes.
type sample [4]int64

var sampleTypes = [len(sample{})][2]string{
	{"gpu", "nanoseconds"}, {"copied", "bytes"}, {"launches", "count"}, {"waiting", "nanoseconds"},
}

// mostSamples bounds the size of a profile. Further events are summed without their call
// stack.
const mostSamples = 1 << 16

// NewProfile makes an empty profile.
func NewProfile() *Profile { return &Profile{sums: map[sampleKey]*sample{}, begin: time.Now()} }

// Add adds an event. It reports whether the profile changed.
func (p *Profile) Add(e *Event) bool {
	var s sample
	switch {
	case e.OnDevice && e.Kind <= Fill:
		s[0] = e.Duration * int64(e.Weight)
	case e.OnDevice:
		return false
	case e.Kind <= Graph:
		s[2] = int64(e.Weight)
	case e.Kind <= CopyPeer:
		s[1] = e.Bytes * int64(e.Weight)
	}
	if e.Waits {
		s[3] = e.Duration * int64(e.Weight)
	}
	if s == (sample{}) {
		return false
	}
	k := sampleKey{stack: e.Stack, label: e.Label, kind: e.Kind, section: e.Section}
	if e.OnDevice {
		k.process = e.Track.Process
	}
	sum := p.sums[k]
	if sum == nil {
		if len(p.sums) >= mostSamples {
			k.stack, k.section = 0, nil
			sum = p.sums[k]
		}
		if sum == nil {
			sum = new(sample)
			p.sums[k] = sum
		}
	}
	for i, v := range s {
		sum[i] += v
	}
	if !p.any {
		p.from, p.any = e.Start, true
	}
	p.from, p.to = min(p.from, e.Start), max(p.to, e.Start+e.Duration)
	return true
}

// Fields of the messages of profile.proto.
const (
	profileSampleType    = 1
	profileSample        = 2
	profileMapping       = 3
	profileLocation      = 4
	profileFunction      = 5
	profileString        = 6
	profileTime          = 9
	profileDuration      = 10
	profileComment       = 13
	profileDefaultSample = 14

	valueType = 1
	valueUnit = 2

	sampleLocation = 1
	sampleValue    = 2
	sampleLabel    = 3

	labelKey = 1
	labelStr = 2

	mappingID        = 1
	mappingFile      = 5
	mappingFunctions = 7
	mappingFiles     = 8
	mappingLines     = 9

	locationID      = 1
	locationMapping = 2
	locationAddress = 3
	locationLine    = 4

	lineFunction = 1
	lineLine     = 2

	functionID     = 1
	functionName   = 2
	functionSystem = 3
	functionFile   = 4
)

// encoder writes a profile.
type encoder struct {
	out       message
	strings   map[string]int64
	list      []string
	functions map[[2]string]uint64
	locations map[location]uint64
}

// location is a line of a function.
type location struct {
	function, file string
	line           int
	pc             uintptr
}

// WriteTo writes the profile, compressed.
func (p *Profile) Write(w io.Writer, comment string) error {
	e := &encoder{strings: map[string]int64{}, functions: map[[2]string]uint64{}, locations: map[location]uint64{}}
	e.text("")
	for _, t := range sampleTypes {
		var m message
		m.int(valueType, e.text(t[0]))
		m.int(valueUnit, e.text(t[1]))
		e.out.bytes(profileSampleType, m)
	}
	for _, k := range slices.SortedFunc(maps.Keys(p.sums), func(a, b sampleKey) int { return int(p.sums[b][0] - p.sums[a][0]) }) {
		e.sample(k, p.sums[k])
	}
	e.mapping()
	for _, s := range e.list {
		e.out.bytes(profileString, []byte(s))
	}
	e.out.int(profileTime, p.begin.UnixNano())
	e.out.int(profileDuration, p.to-p.from)
	e.out.int(profileDefaultSample, e.strings["gpu"])
	if comment != "" {
		e.out.int(profileComment, e.comment(comment))
	}
	z := gzip.NewWriter(w)
	if _, err := z.Write(e.out); err != nil {
		return err
	}
	return z.Close()
}

// mapping says that all locations are in the program, and need no symbols: pprof looks for them
// otherwise.
func (e *encoder) mapping() {
	var m message
	m.int(mappingID, 1)
	if file, err := os.Executable(); err == nil {
		m.int(mappingFile, e.text(file))
	}
	m.int(mappingFunctions, 1)
	m.int(mappingFiles, 1)
	m.int(mappingLines, 1)
	e.out.bytes(profileMapping, m)
}

// comment returns the number of a string, after the strings have been written.
func (e *encoder) comment(s string) int64 {
	n := e.text(s)
	e.out.bytes(profileString, []byte(s))
	return n
}

func (e *encoder) sample(k sampleKey, v *sample) {
	var locations, values, m message
	leaf := location{function: leafName(k), file: k.label.File, line: k.label.Line}
	locations.varint(e.location(leaf))
	for _, f := range k.stack.Frames() {
		locations.varint(e.location(location{f.Function, f.File, f.Line, f.PC}))
	}
	for _, n := range v {
		values.varint(uint64(n))
	}
	m.bytes(sampleLocation, locations)
	m.bytes(sampleValue, values)
	e.label(&m, "kind", k.kind.String())
	if k.process != "" {
		e.label(&m, "device", k.process)
	}
	if k.section != nil {
		e.label(&m, "section", k.section.Name)
	}
	e.out.bytes(profileSample, m)
}

// leafName is the name of the innermost frame, which stands for the device's work.
func leafName(k sampleKey) string {
	switch k.kind {
	case Launch:
		return "kernel " + k.label.Name
	default:
		return k.label.Name
	}
}

func (e *encoder) label(m *message, key, value string) {
	var l message
	l.int(labelKey, e.text(key))
	l.int(labelStr, e.text(value))
	m.bytes(sampleLabel, l)
}

func (e *encoder) text(s string) int64 {
	n, known := e.strings[s]
	if !known {
		n = int64(len(e.list))
		e.strings[s] = n
		e.list = append(e.list, s)
	}
	return n
}

func (e *encoder) location(l location) uint64 {
	id := e.locations[l]
	if id > 0 {
		return id
	}
	id = uint64(len(e.locations) + 1)
	e.locations[l] = id
	key := [2]string{l.function, l.file}
	f := e.functions[key]
	if f == 0 {
		f = uint64(len(e.functions) + 1)
		e.functions[key] = f
		var m message
		m.int(functionID, int64(f))
		m.int(functionName, e.text(l.function))
		m.int(functionSystem, e.text(l.function))
		m.int(functionFile, e.text(l.file))
		e.out.bytes(profileFunction, m)
	}
	var line, m message
	line.int(lineFunction, int64(f))
	line.int(lineLine, int64(l.line))
	m.int(locationID, int64(id))
	m.int(locationMapping, 1)
	m.int(locationAddress, int64(l.pc))
	m.bytes(locationLine, line)
	e.out.bytes(profileLocation, m)
	return id
}

// message is an encoded protocol buffer.
type message []byte

func (m *message) varint(v uint64) {
	for v >= 0x80 {
		*m = append(*m, byte(v)|0x80)
		v >>= 7
	}
	*m = append(*m, byte(v))
}

// int appends a number. Zero is left out.
func (m *message) int(field int, v int64) {
	if v != 0 {
		m.varint(uint64(field) << 3)
		m.varint(uint64(v))
	}
}

func (m *message) bytes(field int, b []byte) {
	m.varint(uint64(field)<<3 | 2)
	m.varint(uint64(len(b)))
	*m = append(*m, b...)
}
