package output

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

// eachDevice runs f on every device. printed receives the output of its kernels.
func eachDevice(t *testing.T, f func(t *testing.T, d *gpu.Device, printed *bytes.Buffer)) {
	t.Helper()
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		var printed bytes.Buffer
		f(t, gputest.Open(t, gpu.Config{Device: d.ID(), Output: &printed}), &printed)
	})
}

func TestMessagesArriveInOrder(t *testing.T) {
	const n = 5
	flags := []bool{true, false, true, true, false}
	x := []float64{1.5, -2, 1e300, 0, 0.1}
	const big = 1 << 40
	var want [n][]string
	for i := range n {
		want[i] = append(want[i], fmt.Sprintf("thread %d: %v", i, flags[i]), fmt.Sprintf("%d %d %v", int8(-i), uint16(i)+65535, x[i]))
		for k := range 3 {
			want[i] = append(want[i], fmt.Sprintf("%d.%d %5.2f|%s|%x %d%%", i, k, float32(k)/4, "constant %d", uint32(i)<<28, uint64(big)))
		}
		want[i] = append(want[i], fmt.Sprintf("%v 36.5 2", int64(big)), "done")
	}
	eachDevice(t, func(t *testing.T, d *gpu.Device, printed *bytes.Buffer) {
		s := d.DefaultStream()
		dFlags, err := gpu.Upload(s, flags)
		if err != nil {
			t.Fatal(err)
		}
		defer dFlags.Close()
		dX, err := gpu.Upload(s, x)
		if err != nil {
			t.Fatal(err)
		}
		defer dX.Close()
		if err := LaunchReport(s, gpu.Blocks(gpu.Dim3{X: n}, gpu.Dim3{X: 1}), big, dFlags, dX); err != nil {
			t.Fatal(err)
		}
		if err := s.Synchronize(context.Background()); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(printed.String(), "\n"), "\n")
		total := 0
		for i := range n {
			total += len(want[i])
			if !isSubsequence(want[i], lines) {
				t.Errorf("the messages of thread %d are missing or out of order:\nwant %q\nhave %q", i, want[i], lines)
			}
		}
		if len(lines) != total {
			t.Errorf("%d lines, want %d", len(lines), total)
		}
		// Messages are delivered only once.
		if err := s.Synchronize(context.Background()); err != nil || strings.Count(printed.String(), "\n") != total {
			t.Errorf("after another wait: %v, %d lines", err, strings.Count(printed.String(), "\n"))
		}
	})
}

func isSubsequence(want, have []string) bool {
	for _, line := range have {
		if len(want) > 0 && want[0] == line {
			want = want[1:]
		}
	}
	return len(want) == 0
}

func TestDroppedMessagesAreCounted(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *gpu.Device, printed *bytes.Buffer) {
		s := d.DefaultStream()
		const threads, each = 64, 3000
		for round := range 2 {
			printed.Reset()
			if err := LaunchChatter(s, gpu.Blocks(gpu.Dim3{X: 2}, gpu.Dim3{X: threads / 2}), each); err != nil {
				t.Fatal(err)
			}
			if err := s.Synchronize(context.Background()); err != nil {
				t.Fatal(err)
			}
			text := strings.TrimSuffix(printed.String(), "\n")
			last := text[strings.LastIndexByte(text, '\n')+1:]
			var dropped int
			if _, err := fmt.Sscanf(last, "gpu: %d messages dropped:", &dropped); err != nil {
				t.Fatalf("round %d: the last line is %q: %v", round, last, err)
			}
			if delivered := strings.Count(text, "\n"); delivered+dropped != threads*each || delivered < 1000 {
				t.Errorf("round %d: %d messages delivered and %d dropped, want %d together", round, delivered, dropped, threads*each)
			}
		}
	})
}
