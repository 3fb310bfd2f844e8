package types

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/kernel"
)

func TestConstantStrings(t *testing.T) {
	const n = 200
	rng := rand.New(rand.NewPCG(3, 4))
	numbers, index, sequence := make([]uint32, n), make([]int64, n), make([]uint8, n)
	text := ""
	for i := range numbers {
		numbers[i], index[i] = rng.Uint32(), rng.Int64N(1000)
		sequence[i] = "ACGTN"[rng.IntN(5)]
		text += fmt.Sprintf("%08x", numbers[i])
	}
	wantSequence, wantLetters := make([]uint8, n), make([][6]uint8, n)
	kernel.Each(kernel.Dim3{X: 7}, kernel.Dim3{X: 32}, func(th kernel.Thread) {
		complement(th, sequence, wantSequence)
		letters(th, index, wantLetters)
	})
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		hex, other, rows := gputest.Upload(t, d, make([]uint8, 8*n)), gputest.Upload(t, d, make([]uint8, n)), gputest.Upload(t, d, make([][6]uint8, n))
		for _, err := range []error{
			LaunchHexadecimal(s, gpu.Linear(n), gputest.Upload(t, d, numbers), hex),
			LaunchComplement(s, gpu.Linear(n), gputest.Upload(t, d, sequence), other),
			LaunchLetters(s, gpu.Linear(n), gputest.Upload(t, d, index), rows),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		gputest.Equal(t, gputest.Download(t, d, hex), []uint8(text))
		gputest.Equal(t, gputest.Download(t, d, other), wantSequence)
		gputest.Equal(t, gputest.Download(t, d, rows), wantLetters)
	})
}

func TestStringIndicesAreChecked(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		out := gputest.Upload(t, d, make([]uint8, 4))
		for _, test := range []struct {
			launch        func(*gpu.Stream, gpu.Grid, *gpu.Buffer[int32], *gpu.Buffer[uint8]) error
			index, length int64
		}{{LaunchLetterAt, 4, 4}, {LaunchLetterAt, -1, 4}, {LaunchLetterOfNothing, 0, 0}} {
			x := gputest.Upload(t, d, []int32{0, 1, int32(test.index), 3}[2:3])
			if err := test.launch(s, gpu.Blocks(gpu.Dim3{X: 1}, gpu.Dim3{X: 1}), x, out); err != nil {
				t.Fatal(err)
			}
			fault, ok := errors.AsType[*gpu.KernelError](s.Synchronize(context.Background()))
			if !ok || fault.Kind != gpu.OutOfRange || fault.Index != test.index || fault.Length != test.length {
				t.Errorf("index %d: have %v", test.index, fault)
			}
		}
	})
}
