package conformance

import (
	"context"
	"errors"
	"strings"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

func TestSimulatorDetectsMistakes(t *testing.T) {
	src, err := sources.ReadFile("misuse.go")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(src), "\n")
	for _, c := range []struct {
		name   string
		launch func(s *gpu.Stream, g gpu.Grid, in, out *gpu.Buffer[int32]) error
		kind   gpu.FaultKind
		line   string // part of the line
	}{
		{"a data race in global memory", func(s *gpu.Stream, g gpu.Grid, _, out *gpu.Buffer[int32]) error {
			return LaunchGlobalRace(s, g, out)
		}, gpu.DataRace, "t.Global()/2"},
		{"a data race between blocks", func(s *gpu.Stream, g gpu.Grid, _, out *gpu.Buffer[int32]) error {
			return LaunchRaceBetweenBlocks(s, g, out)
		}, gpu.DataRace, "out[0] += 1"},
		{"a missing barrier", LaunchMissingBarrier, gpu.Uninitialized, "= s[31-t.ThreadIdx.X]"},
		{"a data race in shared memory", LaunchSharedRace, gpu.DataRace, "+= s[t.ThreadIdx.X]"},
		{"unwritten memory", func(s *gpu.Stream, g gpu.Grid, _, out *gpu.Buffer[int32]) error {
			fresh, err := gpu.Alloc[int32](s.Device(), 64)
			if err != nil {
				return err
			}
			defer fresh.Close()
			return LaunchReadsUnwritten(s, g, fresh, out)
		}, gpu.Uninitialized, "= in[t.Global()]"},
		{"an unchecked index out of bounds", LaunchUncheckedOutOfBounds, gpu.BadAddress, "in[t.Global()+len(in)]"},
		{"a kernel that does not end", func(s *gpu.Stream, g gpu.Grid, _, out *gpu.Buffer[int32]) error {
			return LaunchNeverEnds(s, g, out)
		}, gpu.StepBudget, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := gputest.Open(t, gpu.Config{Device: "sim", Sim: gpu.SimOptions{Steps: 1 << 20}})
			s, in, out := d.DefaultStream(), gputest.Upload(t, d, make([]int32, 64)), gputest.Upload(t, d, make([]int32, 64))
			if err := c.launch(s, gpu.Blocks(dim(2), dim(32)), in, out); err != nil {
				t.Fatal(err)
			}
			err := s.Synchronize(context.Background())
			var ke *gpu.KernelError
			if !errors.As(err, &ke) {
				t.Fatalf("got %v, want a KernelError", err)
			}
			if ke.Kind != c.kind || ke.File != "quern.dev/internal/conformance/misuse.go" || ke.Line < 1 || !strings.Contains(lines[ke.Line-1], c.line) {
				t.Errorf("got %v at %s:%d (%q), want %v at a line with %q", ke.Kind, ke.File, ke.Line, lines[max(ke.Line-1, 0)], c.kind, c.line)
			}
			if err := s.Synchronize(context.Background()); err != nil {
				t.Errorf("a second wait returned %v", err)
			}
		})
	}
}
