package memory

import (
	"context"
	"errors"
	"math"
	"testing"
	"unsafe"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/kernel"
)

// putWords compares the words that all devices store for messages with the bytes of the
// messages. Words after a message must stay unchanged.
func putWords[M any](t *testing.T, d *gpu.Device, messages []M, launch func(s *gpu.Stream, g gpu.Grid, step int, messages *gpu.Buffer[M], out *gpu.Buffer[uint64]) error) {
	t.Helper()
	size := int(unsafe.Sizeof(messages[0]))
	step := (size+3)/4 + 1
	want := make([]uint64, len(messages)*step)
	for i := range messages {
		p := unsafe.Slice((*byte)(unsafe.Pointer(&messages[i])), size)
		for w := range step - 1 {
			want[i*step+w] = uint64(i+1) << 32
		}
		for at, b := range p {
			want[i*step+at/4] |= uint64(b) << (at % 4 * 8)
		}
	}
	out := gputest.Upload(t, d, make([]uint64, len(want)))
	launched(t, launch(d.DefaultStream(), line(1, 32), step, gputest.Upload(t, d, messages), out))
	gputest.Equal(t, gputest.Download(t, d, out), want)

	plain := make([]uint64, len(want))
	each(1, 32, func(th kernel.Thread) { putsWords(th, step, messages, plain) })
	gputest.Equal(t, plain, want)
}

func TestWordsOfMessages(t *testing.T) {
	parcels := make([]parcel, 5)
	crates := make([]crate, 3)
	for i := range parcels {
		p := &parcels[i]
		p.Flag, p.Code, p.Small, p.Tiny, p.Length = i%2 == 1, 200+code(i), -3, -7, length(i)/3
		p.Open, p.Half, p.Weight, p.Count = [3]bool{true, i > 2, true}, kernel.ToFloat16(-1.5), math.Copysign(0, -1), -1<<40+i
		p.Place.Lanes, p.Place.Brain, p.Place.Big = [5]uint8{1, 2, 3, 4, 0xff}, kernel.ToBFloat16(3), 1<<63+5
		p.Wave, p.Sum, p.Last = complex(1, -2), ^uint(0), -1
	}
	for i := range crates {
		c := &crates[i]
		c.Head, c.Tail = 0xabcd, 0xef
		for k := range c.Numbers {
			c.Numbers[k] = uint16(k*1001 + i)
		}
		for k := range c.Text {
			c.Text[k] = uint8(k*7 + i)
		}
		for k := range c.Points {
			p := &c.Points[k]
			p.X, p.Y, p.N = float64(k), -1/float64(k+1), uint32(k*k)
		}
		for k := range c.Odd {
			c.Odd[k] = [3]uint8{uint8(k), uint8(k + 1), uint8(k * 3)}
		}
		for k := range c.Unit {
			c.Unit[k] = [4]uint8{uint8(k), 1, 2, uint8(i)}
		}
	}
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		putWords(t, d, parcels, LaunchPutsWords[parcel])
		putWords(t, d, crates, LaunchPutsWords[crate])
		putWords(t, d, []bytes9{{1, 2, 3, 4, 5, 6, 7, 8, 9}, {}}, LaunchPutsWords[bytes9])
		putWords(t, d, []float32{1, -0.1, float32(math.Inf(1))}, LaunchPutsWords[float32])
		putWords(t, d, []flag{true, false}, LaunchPutsWords[flag])
		putWords(t, d, []int64{-2, 1 << 40}, LaunchPutsWords[int64])
	})
}

// getWords compares messages with what all devices load from their words. The last message has two
// tags, and the one before it has none.
func getWords[M any](t *testing.T, d *gpu.Device, m M, launch func(s *gpu.Stream, g gpu.Grid, step int, words *gpu.Buffer[uint64], messages *gpu.Buffer[M], tags *gpu.Buffer[uint64]) error) {
	t.Helper()
	n := (int(unsafe.Sizeof(m)) + 3) / 4
	words, want, tags := make([]uint64, 4*n), make([]M, 4), make([]uint64, 4)
	for i := range want {
		tag := uint64(i+1) % 3 << 32 // 1, 2, 0, 1
		kernel.PutWords(words, i*n, tag, &m)
		if i == 3 && n > 1 {
			words[i*n+n-1] ^= 1 << 40
			tag = 0
		}
		if tag != 0 {
			want[i], tags[i] = m, tag
		}
	}
	messages, got := gputest.Upload(t, d, make([]M, len(want))), gputest.Upload(t, d, []uint64{9, 9, 9, 9})
	launched(t, launch(d.DefaultStream(), line(1, 32), n, gputest.Upload(t, d, words), messages, got))
	gputest.Equal(t, gputest.Download(t, d, got), tags)
	for i, m := range gputest.Download(t, d, messages) {
		if any(m) != any(want[i]) {
			t.Errorf("message %d: got %v, want %v", i, m, want[i])
		}
	}

	plain, plainTags := make([]M, len(want)), make([]uint64, len(want))
	each(1, 32, func(th kernel.Thread) { getsWords(th, n, words, plain, plainTags) })
	gputest.Equal(t, plainTags, tags)
	for i, m := range plain {
		if any(m) != any(want[i]) {
			t.Errorf("message %d in plain Go: got %v, want %v", i, m, want[i])
		}
	}
}

func TestMessagesFromWords(t *testing.T) {
	p := parcel{Flag: true, Code: 200, Small: -3, Tiny: -7, Length: 0.1, Weight: -0.5, Count: -1 << 40, Wave: complex(1, -2), Sum: 1 << 63, Last: -1}
	p.Open, p.Half, p.Place.Lanes, p.Place.Brain, p.Place.Big = [3]bool{true, false, true}, kernel.ToFloat16(-1.5), [5]uint8{1, 2, 3, 4, 255}, kernel.ToBFloat16(3), 1<<63+5
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		getWords(t, d, p, LaunchGetsWords[parcel])
		getWords(t, d, bytes9{1, 2, 3, 4, 5, 6, 7, 8, 9}, LaunchGetsWords[bytes9])
		getWords(t, d, float32(-0.1), LaunchGetsWords[float32])
		getWords(t, d, flag(true), LaunchGetsWords[flag])
		getWords(t, d, int64(-1<<40), LaunchGetsWords[int64])
	})
}

func TestWordsOfSharedMemory(t *testing.T) {
	const step, n = 35, 16
	want := make([]uint64, n*step)
	for i := range n {
		for k := range n {
			want[i*step+2*k] = uint64(i+1)<<32 | uint64(k)
			want[i*step+2*k+1] = uint64(i+1)<<32 | uint64(math.Float32bits(float32(k)/2))
		}
	}
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		out := gputest.Upload(t, d, make([]uint64, len(want)))
		launched(t, LaunchSharedWords(d.DefaultStream(), line(1, n), step, out))
		gputest.Equal(t, gputest.Download(t, d, out), want)
	})
}

func TestWordsOutsideTheSlice(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		for _, c := range []struct {
			name     string
			from     int
			reported int64 // index; -1 for no failure
		}{
			{"all in the slice", 2, -1},
			{"the last past the end", 3, 5},
			{"the first before its start", -1, 0},
			{"the last beyond the largest index", math.MaxInt, math.MaxInt},
		} {
			out := gputest.Upload(t, d, make([]uint64, 5))
			s, err := d.NewStream(context.Background())
			launched(t, err)
			launched(t, LaunchWordsBeyond(s, line(1, 1), c.from, out))
			err = s.Synchronize(context.Background())
			fault, failed := errors.AsType[*gpu.KernelError](err)
			switch {
			case !failed && c.reported != -1:
				t.Errorf("%s: got %v, want a failed check", c.name, err)
			case failed && c.reported == -1:
				t.Errorf("%s: %v", c.name, err)
			case failed && (fault.Kind != gpu.OutOfRange || c.from > 0 && fault.Index != c.reported):
				t.Errorf("%s: %v", c.name, err)
			}
		}
	})
}
