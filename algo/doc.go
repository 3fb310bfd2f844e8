// Package algo has parallel algorithms on buffers: reductions, scans, sorting, merging, sets,
// searches, selection, runs of equal elements, histograms, and moving elements by index. They run on every device.
//
//	total, err := gpu.Alloc[float32](dev, 1)
//	err = algo.Reduce(s, algo.Sum[float32](), total, x)
//	err = algo.Scan(s, algo.Max[float32](), y, x)
//	err = algo.SortPairs(s, keys, values)
//
// Functions add work to a stream and return. They do not wait, and results such as the number of
// selected elements stay on the device, in buffers of one element.
//
// # Operators
//
// Many functions take an operator: a Go function that quern gen compiles into their kernels. A
// [Combine] is for reductions and scans, a [Predicate] for selections, a [Less] for sorting,
// merging, sets and searches, and an [Equal] for runs of equal elements. [Sum], [Product], [Min],
// [Max], [NonZero], [Ascending], [Descending] and [Same] exist for the types of [Number]. Others
// are functions with a directive that names their kind:
//
//	// longer returns the longer of two vectors.
//	//
//	//quern:op algo.Combine
//	func longer(a, b kernel.Vec2[float32]) kernel.Vec2[float32] {
//		if a.Dot(a) < b.Dot(b) {
//			return b
//		}
//		return a
//	}
//
//	// above reports whether a reading is above the limit.
//	//
//	//quern:op algo.Predicate
//	func above(r Reading, limit float32) bool { return r.Celsius > limit }
//
// quern gen declares OpLonger, a Combine[kernel.Vec2[float32]], and OpAbove(limit float32), which
// returns a Predicate[Reading]: parameters after those of the kind are bound when the operator is
// used.
//
//	err = algo.Reduce(s, OpLonger, longest, vectors)
//	err = algo.Select(s, OpAbove(80), hot, count, readings)
//
// An operator is written in the kernel language. It must not fail: on a GPU, a scan whose operator
// panics does not end before the driver ends it.
//
// # Memory
//
// Functions that need temporary memory take it from the pool of the device, or from a
// [gpu.Workspace], their last argument, whose size [gpu.MeasureWorkspace] finds out. Otherwise
// nothing is allocated. All functions can be recorded in graphs.
//
// A result must not share memory with an argument or another result, unless a function says that
// it may be the same buffer. Functions return an error if it does. Neighbouring parts of a buffer
// share no memory.
//
// Counts and positions are of type int, which is not a [Number]. [gpu.Reinterpret] makes them int64
// for functions with an operator:
//
//	err = algo.ScanExclusive(s, algo.Sum[int64](), 0, starts, gpu.Reinterpret[int64](lengths))
//
// # Determinism
//
// Every function has the same result in each run on a device, except that [Scan], [ScanByKey]
// and [ReduceByKey] with an operator that rounds may group earlier tiles differently on a GPU.
// Reductions divide their work by the number of elements only. [SumCompensated] adds as if with twice the precision.
//
// # Errors
//
// Arguments are checked before anything is added to the stream. An [*Error] names the function, the
// argument and the rule. It matches [gpu.ErrInvalid].
package algo
