package fakecupti

import (
	"fmt"
	"hash/crc32"
	"unsafe"
)

// Sample is what was sampled at an instruction.
type Sample struct {
	Code     []byte // of the module
	Function string
	Offset   uint64
	Reasons  map[uint32]uint32 // numbers of samples, by index of the reason
}

// Position is a line of source.
type Position struct {
	Dir, File string
	Line      uint32
}

// Reasons are the names of the reasons, by index.
var Reasons = []string{"smsp__pcsamp_warps_issue_stalled_selected", "smsp__pcsamp_warps_issue_stalled_long_scoreboard", "smsp__pcsamp_warps_issue_stalled_long_scoreboard_not_issued"}

// The layouts of cupti_pcsampling.h.
type (
	samplingBuffer struct {
		_         uintptr // size
		room      uintptr
		total     uint64
		_         uint64 // dropped
		count     uintptr
		remaining uintptr
		_         uint64 // part
		at        unsafe.Pointer
		_         uint64 // of other modules
		_         uint8  // overflow
	}
	pcRecord struct {
		size     uintptr
		code     uint64
		offset   uint64
		function uint32
		_        uint32
		name     *byte
		count    uintptr
		reasons  unsafe.Pointer
		_        uint64
	}
	contextParameters struct {
		size, _, context uintptr
		more             [3]uintptr
	}
	attribute struct {
		kind, _ uint32
		data    [3]uintptr
	}
)

const (
	invalidParameter = 1
	invalidOperation = 18
)

var samplingFunctions = map[string]func(l *Library, p uintptr) uintptr{
	"cuptiPCSamplingEnable": func(l *Library, p uintptr) uintptr {
		c := pointer[contextParameters](p)
		if _, on := l.sampling[c.context]; on || c.size != 24 {
			return invalidOperation
		}
		if l.sampling == nil {
			l.sampling = map[uintptr]*samplingBuffer{}
		}
		l.sampling[c.context] = nil
		return 0
	},
	"cuptiPCSamplingDisable": func(l *Library, p uintptr) uintptr {
		c := pointer[contextParameters](p)
		b, on := l.sampling[c.context]
		if !on {
			return invalidOperation
		}
		delete(l.sampling, c.context)
		if b != nil {
			l.deliver(b, len(l.Sampled))
		}
		return 0
	},
	"cuptiPCSamplingGetNumStallReasons": func(l *Library, p uintptr) uintptr {
		*pointer[uintptr](pointer[contextParameters](p).more[0]) = uintptr(len(Reasons))
		return 0
	},
	"cuptiPCSamplingGetStallReasons": func(l *Library, p uintptr) uintptr {
		c := pointer[contextParameters](p)
		for i, name := range Reasons {
			// CUPTI returns them in no order.
			at := uintptr(len(Reasons) - 1 - i)
			*(*uint32)(unsafe.Add(unsafe.Pointer(pointer[byte](c.more[1])), 4*at)) = uint32(i)
			text := *(**byte)(unsafe.Add(unsafe.Pointer(pointer[byte](c.more[2])), 8*at))
			copy(unsafe.Slice(text, 128), name+"\x00")
		}
		return 0
	},
	"cuptiPCSamplingSetConfigurationAttribute": func(l *Library, p uintptr) uintptr {
		c := pointer[contextParameters](p)
		for _, a := range unsafe.Slice(pointer[attribute](c.more[1]), c.more[0]) {
			if a.kind == 8 {
				l.sampling[c.context] = pointer[samplingBuffer](a.data[0])
			}
		}
		return 0
	},
	"cuptiPCSamplingGetData": func(l *Library, p uintptr) uintptr {
		c := pointer[contextParameters](p)
		if _, on := l.sampling[c.context]; !on {
			return invalidOperation
		}
		l.deliver(pointer[samplingBuffer](c.more[0]), 1) // the rest remains
		return 0
	},
	"cuptiGetCubinCrc": func(l *Library, p uintptr) uintptr {
		c := pointer[struct {
			size, length uintptr
			code         *byte
			checksum     uint64
		}](p)
		c.checksum = checksum(unsafe.Slice(c.code, c.length))
		return 0
	},
	"cuptiGetSassToSourceCorrelation": func(l *Library, p uintptr) uintptr {
		c := pointer[struct {
			size     uintptr
			code     *byte
			function *byte
			length   uintptr
			line     uint32
			_        uint32
			offset   uint64
			file     *byte
			dir      *byte
		}](p)
		n := 0
		for *(*byte)(unsafe.Add(unsafe.Pointer(c.function), n)) != 0 {
			n++
		}
		at, ok := l.Positions[fmt.Sprintf("%s+%d", unsafe.Slice(c.function, n), c.offset)]
		if !ok {
			return invalidParameter
		}
		c.line, c.file, c.dir = at.Line, l.cString(at.File), l.cString(at.Dir)
		return 0
	},
}

func checksum(code []byte) uint64 { return uint64(crc32.ChecksumIEEE(code)) << 8 }

// deliver fills a buffer with at most so many of the samples.
func (l *Library) deliver(b *samplingBuffer, most int) {
	b.count, b.total = 0, 0
	for ; len(l.Sampled) > 0 && int(b.count) < min(most, int(b.room)); l.Sampled = l.Sampled[1:] {
		s := &l.Sampled[0]
		r := (*pcRecord)(unsafe.Add(b.at, b.count*unsafe.Sizeof(pcRecord{})))
		r.code, r.offset, r.name, r.count = checksum(s.Code), s.Offset, l.cString(s.Function), 0
		for i := range uint32(len(Reasons)) {
			if n := s.Reasons[i]; n > 0 {
				*(*[2]uint32)(unsafe.Add(r.reasons, 8*r.count)) = [2]uint32{i, n}
				r.count++
				b.total += uint64(n)
			}
		}
		b.count++
	}
	b.remaining = uintptr(len(l.Sampled))
}
