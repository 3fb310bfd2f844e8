package example

import "quern.dev/gpu"

// Acquire acquires buffers of n elements each.
func Acquire[T any](scope *gpu.Scope, n int, buffers ...**gpu.Buffer[T]) (err error) {
	for _, b := range buffers {
		if *b, err = gpu.AcquireIn[T](scope, n); err != nil {
			return err
		}
	}
	return nil
}
