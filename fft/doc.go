// Package fft computes discrete Fourier transforms on every device: complex and real ones, of
// one to three dimensions and any length, in batches and with strides; convolutions and
// correlations; power spectra.
//
//	plan, err := fft.NewPlan[complex64](dev, fft.Desc{Shape: []int{4096}, Batch: 1000})
//	defer plan.Close()
//	err = plan.Forward(s, spectrum, signal)
//	...
//	err = plan.Inverse(s, signal, spectrum)
//
// A plan ([Plan], [RealPlan], [Convolution]) is made once for a shape and used many times.
// It chooses the kernels and holds tables of roots of unity on the device, which it computes
// in float64 and rounds once. Its methods queue work on a stream.
//
// # Conventions
//
// The forward transform has a negative exponent, as in NumPy, FFTW and cuFFT:
//
//	X[k] = sum over j of x[j] * exp(-2*pi*i*j*k/n)
//
// Spectra are in the usual order: frequency 0, the positive ones, then the negative ones
// ([Frequencies], [Shift]). Arrays are in row-major order. By default, Inverse divides by the
// number of points ([Norm]). [Layout] describes strided arrays, as the advanced interface
// of FFTW does. What is read may overlap, as the sections of a spectrogram do; what is
// written must not.
//
// # Lengths
//
// Lengths whose prime factors are at most 13 are transformed directly, with work
// proportional to n*log(n). Other lengths are convolutions (Bluestein): two transforms of
// two to four times as many points. Powers of two are the fastest. A GPU reads and writes the
// data once for up to 8192 points, twice for up to 2^24, and three times beyond that; for
// lengths that are not powers of two, once for up to about 4000 points, and twice for up to
// about 10^6. The limits for columns of a matrix in one pass are 4096 and about 1000 points.
// Package cudalib makes cuFFT compute the transforms of a stream, where it is installed.
//
// # Errors
//
// The relative error of a transform, as the root mean square of all elements, is at most
// 5e-8*log2(n) for complex64 and 4e-16*log2(n) for complex128, with 1 instead of the
// logarithm for n = 1. Tests check these bounds against float64. For random numbers and n
// from 2^8 to 2^20, the measured errors are 1.3e-8*log2(n) and 9e-17*log2(n) at most, where n
// is a power of two.
//
// Invalid arguments are an [*Error], which names the operation, the argument and the rule,
// and matches gpu.ErrInvalid. Nothing is written then. Input and output of a call may be the
// same elements only where the method says so; anything else that overlaps is refused by the call:
// a plan does not know the buffers.
//
// # Determinism and concurrency
//
// Results have the same bits in each run on a device. They differ between devices in the
// last bits, because the order of operations does. Plans are safe for concurrent use.
//
// # Memory
//
// Transforms that take several passes, real transforms and convolutions need temporary
// memory, about as much as the data: from the device's pool, or a [gpu.Workspace]. In steady
// state nothing is allocated. All calls can be recorded in graphs; the plan must stay open
// as long as the graph is used.
package fft

//go:generate go tool quern gen
