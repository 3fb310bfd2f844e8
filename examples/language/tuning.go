package language

import (
	"context"
	"fmt"

	"quern.dev/gpu"
)

// tunedSums finds the fastest block size for columnSums on the device of s.
func tunedSums(ctx context.Context, s *gpu.Stream, width int, matrix, sums *gpu.Buffer[float32]) (*gpu.Tuned, error) {
	tuning := gpu.Tuning{Name: "columnSums", Problem: fmt.Sprintf("%d of %d", width, matrix.Len())}
	for _, threads := range []int{64, 128, 256, 512} {
		blocks := gpu.Dim3{X: (width + threads - 1) / threads}
		tuning.Candidates = append(tuning.Candidates, gpu.Candidate{
			Name: fmt.Sprintf("block=%d", threads),
			Launch: func(s *gpu.Stream) error {
				return LaunchColumnSums(s, gpu.Blocks(blocks, gpu.Dim3{X: threads}), width, matrix, sums)
			},
		})
	}
	return gpu.Tune(ctx, s, tuning)
}
