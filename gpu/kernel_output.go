package gpu

import (
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"sync"

	"quern.dev/internal/driver"
)

// output is the destination of what a device's kernels print. Several streams may
// write to it.
type output struct {
	mu sync.Mutex
	w  io.Writer
}

func newOutput(w io.Writer) *output {
	if w == nil {
		w = os.Stdout
	}
	return &output{w: w}
}

// deliver writes what kernels have printed in the stream's finished work.
func (s *Stream) deliver() error {
	messages, dropped, err := s.drv.Output()
	if len(messages) == 0 && dropped == 0 {
		return driverError("read output", err)
	}
	var text strings.Builder
	for _, m := range messages {
		text.WriteString(s.dev.message(m))
	}
	if dropped > 0 {
		fmt.Fprintf(&text, "gpu: %s dropped: kernels printed more than %d KiB between two waits on the stream\n",
			count(dropped, "message"), driver.OutputSize>>10)
	}
	o := s.dev.output
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, err := io.WriteString(o.w, text.String()); err != nil {
		return driverError("write output of kernels", err)
	}
	return driverError("read output", err)
}

// message returns the text of a message of kernel.Printf.
func (d *Device) message(m driver.Message) string {
	if m.Text != "" {
		return m.Text
	}
	r, _ := d.loadedByID(m.ID)
	if r == nil || m.Format >= len(r.kernel.info.Formats) {
		return ""
	}
	f := &r.kernel.info.Formats[m.Format]
	args, words := make([]any, len(f.Args)), m.Args
	for i, typ := range f.Args {
		if constant, err := strconv.Unquote(typ); err == nil {
			args[i] = constant
			continue
		}
		if len(words) == 0 {
			return ""
		}
		args[i], words = printed(typ, words[0]), words[1:]
	}
	return fmt.Sprintf(f.Text, args...)
}

// printed returns the value of the given Go type that a message stores in 64 bits.
func printed(typ string, bits uint64) any {
	switch typ {
	case "bool":
		return bits != 0
	case "int8":
		return int8(bits)
	case "int16":
		return int16(bits)
	case "int32":
		return int32(bits)
	case "int64":
		return int64(bits)
	case "int":
		return int64(bits)
	case "uint8":
		return uint8(bits)
	case "uint16":
		return uint16(bits)
	case "uint32":
		return uint32(bits)
	case "float32":
		return math.Float32frombits(uint32(bits))
	case "float64":
		return math.Float64frombits(bits)
	default:
		return bits
	}
}
