package cupti

import (
	"errors"
	"fmt"
	"path"
	"runtime"
	"strings"
	"unsafe"
)

// Sampler samples the program counters of the warps in a context: each multiprocessor looks at one
// of its warps every few hundred cycles, and counts where it is and what it waits for. Kernels run
// as usual. Its methods must not run concurrently.
type Sampler struct {
	api     *api
	context uintptr // CUcontext
	reasons []string

	now, rest *samplingBuffer // of Read, and of Stop
	total     uint64
	dropped   uint64
}

// PCSamples are the samples at an instruction.
type PCSamples struct {
	Code     uint64 // checksum of the code that has the function, as from [Code.Checksum]
	Function string
	Offset   uint64 // of the instruction in the function, in bytes
	// Reasons are the numbers of samples by the index of the reason. The slice is reused.
	Reasons []ReasonSamples
}

// ReasonSamples says how many samples have a reason.
type ReasonSamples struct{ Reason, Samples uint32 }

// The layouts of cupti_pcsampling.h.
type (
	// samplingParameters are those of cuptiPCSamplingEnable, and others begin with them.
	samplingParameters struct {
		size, private, context uintptr
		more                   [3]uintptr
	}
	samplingAttribute struct {
		kind uint32
		_    uint32 // status
		data [3]uintptr
	}
	samplingBuffer struct {
		size           uintptr
		room           uintptr // instructions that fit
		total, dropped uint64
		count          uintptr // instructions that are there
		remaining      uintptr
		part           uint64
		at             unsafe.Pointer // to pcRecords
		foreign        uint64
		overflow       uint8
	}
	pcRecord struct {
		size     uintptr
		code     uint64
		offset   uint64
		function uint32
		_        uint32
		name     *byte
		count    uintptr
		reasons  unsafe.Pointer // to ReasonSamples
		_        uint64
	}
	checksumParameters struct {
		size, length uintptr
		code         *byte
		checksum     uint64
	}
	lineParameters struct {
		size     uintptr
		code     *byte
		function *byte
		length   uintptr
		line     uint32
		_        uint32
		offset   uint64
		file     *byte
		dir      *byte
	}
)

// Attributes (CUpti_PCSamplingConfigurationAttributeType) and their values.
const (
	attributeReasons    = 2
	attributeMode       = 5
	attributeBuffer     = 8
	continuousMode      = 1
	samplingBufferRoom  = 1 << 13 // instructions
	reasonNameSize      = 128
	errSamplingOverflow = 8 // CUPTI_ERROR_OUT_OF_MEMORY
)

// StartSampler begins to sample a context.
func StartSampler(lib Library, context uintptr) (*Sampler, error) {
	a, err := newAPI(lib)
	if err != nil {
		return nil, err
	}
	for i := samplingEnable; i < symbolCount; i++ {
		if a.addr[i] == 0 {
			return nil, missing(i)
		}
	}
	s := &Sampler{api: a, context: context}
	if err := s.call(samplingEnable); err != nil {
		return nil, err
	}
	if err := s.configure(); err != nil {
		return nil, errors.Join(err, s.call(samplingDisable))
	}
	return s, nil
}

// call calls a function with a structure of the context and more fields.
func (s *Sampler) call(f symbol, more ...uintptr) error {
	p := &samplingParameters{context: s.context}
	copy(p.more[:], more)
	p.size = unsafe.Offsetof(p.more) + uintptr(len(more))*unsafe.Sizeof(p.more[0])
	return s.api.call(f, uintptr(unsafe.Pointer(p)))
}

func (s *Sampler) configure() error {
	var pins runtime.Pinner
	defer pins.Unpin()
	n := new(uintptr)
	pins.Pin(n)
	if err := s.call(samplingReasonCount, uintptr(unsafe.Pointer(n))); err != nil {
		return err
	}
	if *n == 0 {
		return errors.New("CUPTI knows no reasons for which warps wait on this device")
	}
	indices, names, texts := make([]uint32, *n), make([]*byte, *n), make([]byte, *n*reasonNameSize)
	pins.Pin(&indices[0])
	pins.Pin(&names[0])
	pins.Pin(&texts[0])
	for i := range names {
		names[i] = &texts[i*reasonNameSize]
	}
	if err := s.call(samplingReasons, *n, uintptr(unsafe.Pointer(&indices[0])), uintptr(unsafe.Pointer(&names[0]))); err != nil {
		return err
	}
	for i, index := range indices {
		for int(index) >= len(s.reasons) {
			s.reasons = append(s.reasons, "")
		}
		s.reasons[index] = string(cString(&texts[i*reasonNameSize]))
	}
	var err error
	if s.now, err = s.buffer(int(*n)); err != nil {
		return err
	}
	if s.rest, err = s.buffer(int(*n)); err != nil {
		return err
	}
	attributes := &[...]samplingAttribute{
		{kind: attributeMode, data: [3]uintptr{continuousMode}},
		{kind: attributeReasons, data: [3]uintptr{*n, uintptr(unsafe.Pointer(&indices[0]))}},
		{kind: attributeBuffer, data: [3]uintptr{uintptr(unsafe.Pointer(s.rest))}},
	}
	pins.Pin(attributes)
	return s.call(samplingConfigure, uintptr(len(attributes)), uintptr(unsafe.Pointer(attributes)))
}

// buffer returns a buffer for samples with a number of reasons.
func (s *Sampler) buffer(reasons int) (*samplingBuffer, error) {
	const header, record = unsafe.Sizeof(samplingBuffer{}), unsafe.Sizeof(pcRecord{})
	each := uintptr(reasons) * unsafe.Sizeof(ReasonSamples{})
	p, err := s.api.lib.Memory(int(header + samplingBufferRoom*(record+each)))
	if err != nil {
		return nil, fmt.Errorf("no memory for samples: %w", err)
	}
	b := (*samplingBuffer)(p)
	b.size, b.room, b.at = header, samplingBufferRoom, unsafe.Add(p, header)
	records := unsafe.Slice((*pcRecord)(b.at), samplingBufferRoom)
	for i := range records {
		records[i].size = record
		records[i].reasons = unsafe.Add(b.at, samplingBufferRoom*record+uintptr(i)*each)
	}
	return b, nil
}

// Reasons returns the names of what a warp may be doing, by index; some are empty.
func (s *Sampler) Reasons() []string { return s.reasons }

// Total returns the number of samples so far, and how many of them were lost.
func (s *Sampler) Total() (all, lost uint64) { return s.total, s.dropped }

// Read calls f with the samples since the last call. f must not keep the samples. Those of the
// last tenth of a second may be missing.
func (s *Sampler) Read(f func(*PCSamples)) error {
	for {
		s.now.count, s.now.remaining = 0, 0
		var full *Error
		if err := s.call(samplingData, uintptr(unsafe.Pointer(s.now))); err != nil && (!errors.As(err, &full) || full.Code != errSamplingOverflow) {
			return err
		}
		s.scan(s.now, f)
		if s.now.remaining == 0 || s.now.count == 0 {
			return nil
		}
	}
}

// Stop ends sampling. f gets the last samples.
func (s *Sampler) Stop(f func(*PCSamples)) error {
	err := s.Read(f)
	s.rest.count = 0
	err = errors.Join(err, s.call(samplingDisable))
	s.scan(s.rest, f)
	return err
}

func (s *Sampler) scan(b *samplingBuffer, f func(*PCSamples)) {
	s.total += b.total
	s.dropped += b.dropped
	b.total, b.dropped = 0, 0
	for _, r := range unsafe.Slice((*pcRecord)(b.at), min(b.count, b.room)) {
		if r.name == nil {
			continue
		}
		f(&PCSamples{Code: r.code, Function: string(cString(r.name)), Offset: r.offset, Reasons: unsafe.Slice((*ReasonSamples)(r.reasons), r.count)})
	}
}

// Code is machine code of a module, to find the source of its instructions.
type Code struct {
	api  *api
	code []byte
}

// NewCode returns the code that a module has been loaded from.
func NewCode(lib Library, code []byte) (*Code, error) {
	if len(code) == 0 {
		return nil, errors.New("there is no code")
	}
	a, err := newAPI(lib)
	return &Code{a, code}, err
}

// Checksum returns what the samples have as Code.
func (c *Code) Checksum() (uint64, error) {
	var pins runtime.Pinner
	defer pins.Unpin()
	pins.Pin(&c.code[0])
	p := &checksumParameters{length: uintptr(len(c.code)), code: &c.code[0]}
	p.size = unsafe.Sizeof(*p)
	err := c.api.call(codeChecksum, uintptr(unsafe.Pointer(p)))
	return p.checksum, err
}

// Line returns the file and the line of an instruction. The error of an instruction that belongs
// to no line is not told apart from others.
func (c *Code) Line(function string, offset uint64) (file string, line int, err error) {
	var pins runtime.Pinner
	defer pins.Unpin()
	name := append([]byte(function), 0)
	pins.Pin(&c.code[0])
	pins.Pin(&name[0])
	p := &lineParameters{code: &c.code[0], length: uintptr(len(c.code)), function: &name[0], offset: offset}
	p.size = unsafe.Sizeof(*p)
	if err := c.api.call(codeLine, uintptr(unsafe.Pointer(p))); err != nil {
		return "", 0, err
	}
	var dir string
	if p.dir != nil {
		dir = string(cString(p.dir)) // CUPTI's strings are not freed: there are few instructions
	}
	if p.file != nil {
		file = string(cString(p.file))
	}
	if !strings.HasPrefix(file, "/") {
		file = path.Join(dir, file)
	}
	return file, int(p.line), nil
}
