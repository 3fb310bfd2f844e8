package language

import (
	"quern.dev/algo"
	"quern.dev/gpu"
	"quern.dev/kernel"
)

// longer returns the longer of two vectors.
//
//quern:op algo.Combine
func longer(a, b kernel.Vec2[float32]) kernel.Vec2[float32] {
	if a.Dot(a) < b.Dot(b) {
		return b
	}
	return a
}

// longest writes the longest of the vectors to result[0].
func longest(s *gpu.Stream, vectors, result *gpu.Buffer[kernel.Vec2[float32]]) error {
	return algo.Reduce(s, OpLonger, result, vectors)
}
