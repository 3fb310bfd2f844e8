// Package random fills buffers with random numbers: uniform, normal, exponential,
// gamma, beta, Poisson and Bernoulli distributions, integers in a range, choices with
// weights, permutations, and quasi-random Sobol sequences.
//
// # Sequences
//
// A [Source] names a sequence by a seed and a stream. Each number is a function of
// the seed, the stream and its index:
//
//	src := random.Source{Seed: 42, Stream: 1}
//	err = random.Normal(s, src, x, 0, 1)                // x[i] has the distribution of src.Normal32(i)
//	err = random.Normal(s, src.At(1000), y, 0, 1)       // y[i] is the number with index 1000+i
//
// So an array gets the same numbers in one piece or in several, on one device or on
// many: fill the part that begins at element n from src.At(n). Nothing is stored
// between calls, and calls need no order.
//
// Distributions use the same random bits. Arrays that have to be independent need
// different streams. There are 2^64 streams of 2^48 numbers for each seed.
//
// A graph that has recorded a call computes the same numbers each time it runs.
//
// # The same bits everywhere
//
// Every number has the same bits on every device and on every processor, and it does
// not change between versions of this package. The generator is Philox4x32-10 (Salmon
// et al., 2011), as in kernel.Random, whose words are those of [Source.Uint32].
// Logarithms, sines and powers are computed by polynomials, with operations that
// every device rounds alike; kernel.Random.Normal and Exponential are faster on some
// devices, but their last bits differ between devices.
//
// # In kernels
//
// The methods of [Source], [Bijection] and the function [Choose] are in the kernel
// language. A kernel takes a Source as a parameter and computes the numbers that it
// needs, without memory:
//
//	//quern:kernel
//	func jitter(t kernel.Thread, src random.Source, x []float32) {
//		if i := t.Global(); i < len(x) {
//			x[i] += src.Normal32(uint64(i))
//		}
//	}
//
// They are plain Go too: src.Normal32(7) on the host is element 7 of a buffer that
// [Normal] fills. A method computes a group of two to four numbers to return one of
// them, so the functions that fill buffers take less time per number.
//
// # Calls
//
// Functions add work to the stream and return. They allocate nothing, neither on the
// device nor on the host, except those that make an [Alias] or a [Sobol]. Arguments
// are checked first: an [Error] names the function, the argument and the rule, and
// nothing is written. All functions and types are safe for concurrent use.
package random
