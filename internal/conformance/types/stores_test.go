package types

import (
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/kernel"
)

// A thread sees what it has written, through whichever slice.
func TestWrittenAndReadAgain(t *testing.T) {
	const n = 67
	which := make([]int32, n)
	for i := range which {
		which[i] = int32(3*i + i/5)
	}
	at := make([]int32, n)
	for i := range at {
		at[i] = int32(2 * i)
	}
	for _, same := range []bool{false, true} {
		start := func() []int32 {
			x := make([]int32, 4*n)
			for i := range x {
				x[i] = int32(1000 + i)
			}
			return x
		}
		x, y, out, line, p := start(), start(), make([]int32, n), start(), make([]parts, n)
		yOf := func() []int32 {
			if same {
				return x
			}
			return y
		}
		kernel.Each(kernel.Dim3{X: (n + 31) / 32, Y: 1, Z: 1}, kernel.Dim3{X: 32, Y: 1, Z: 1}, func(t kernel.Thread) {
			chain(t, 40, x, yOf(), out)
			moving(t, at, line)
			bits(t, which, p)
		})
		gputest.Each(t, func(t *testing.T, d *gpu.Device) {
			s := d.DefaultStream()
			upX, upY := gputest.Upload(t, d, start()), gputest.Upload(t, d, start())
			if same {
				upY = upX
			}
			upOut, upLine, upP := gputest.Upload(t, d, make([]int32, n)), gputest.Upload(t, d, start()), gputest.Upload(t, d, make([]parts, n))
			launched(t, LaunchChain(s, blocks(n), 40, upX, upY, upOut))
			launched(t, LaunchMoving(s, blocks(n), gputest.Upload(t, d, at), upLine))
			launched(t, LaunchBits(s, blocks(n), gputest.Upload(t, d, which), upP))
			expect(t, "x", gputest.Download(t, d, upX), x)
			if !same {
				expect(t, "y", gputest.Download(t, d, upY), y)
			}
			expect(t, "out", gputest.Download(t, d, upOut), out)
			expect(t, "line", gputest.Download(t, d, upLine), line)
			expect(t, "parts", gputest.Download(t, d, upP), p)
		})
	}
}
