// Package cudalib lets blas, fft and sparse use NVIDIA's libraries cuBLASLt, cuFFT and cuSPARSE
// where they are installed. A program that does not import it neither links nor opens them, and
// none of them is ever required.
//
//	err := cudalib.Use(s, cudalib.Auto)                // s is a *gpu.Stream
//	err = blas.Gemm(s, blas.NoTrans, blas.NoTrans, 1, a, b, 0, c)
//	fmt.Println(cudalib.Ran(s))                        // blas.Gemm: Vendor (cuBLASLt 13.1.0): measured 12µs, Quern 15µs
//
// # Engines
//
// An [Engine] is a setting of a stream, and applies to the operations that are added to it
// afterwards. [Quern], the default, is Quern's own kernels. [Vendor] is NVIDIA's libraries;
// what they do not support is an error. [Auto] is the faster of the two: for each class of
// problems, it measures both when the first one is computed, and it uses Quern's kernels where
// the libraries are missing, do not support an operation, or the device is not a GPU.
//
// [Ran] tells what computed the last operation of a stream, and why. [Choices] lists what Auto
// has measured, and [Libraries] what is installed.
//
// # Operations
//
//	blas    Gemm, GemmEpilogue, GemmBatched   float32, float64
//	        GemmTensor                        float32 (TF32), Float16, BFloat16
//	        GemmInteger                       int8, where cuBLASLt has it: sizes and strides
//	                                          are multiples of 4, B transposed, A not
//	fft     Forward and Inverse of a Plan and a RealPlan
//	sparse  MulVec, MulMat                    without transposition
//
// cuBLASLt adds a bias with an element for each column, applies ReLU and GELU, and adds a
// residual if there is no activation and beta is 0. cuFFT does not normalize, so Quern multiplies
// its results: inverse transforms are faster with fft.NormNone. Queueing a call takes 10 to 30
// microseconds of the host's time instead of 5 to 15, and cuSPARSE's matrix product seems to wait
// for the device. Other operations of these packages, also
// those that multiply matrices as a part of their work, always use Quern's kernels.
//
// Arguments are checked, and errors are named, as without an engine. The bounds for errors of
// results hold for both engines, but the bits of results differ. With Auto, other bits can come
// from another run of a program, because a measurement can turn out differently; use Quern or
// Vendor where that matters. For the same reason sparse products use cuSPARSE's deterministic
// algorithms. cuSPARSE does not check the indices of a matrix.
//
// # Measurements
//
// A measurement takes some milliseconds to a second and waits for the stream. Its results are
// written to temporary memory as large as the operation's, so operands keep their contents. If
// that memory cannot be had, Quern's kernels run, and the next call tries again. The result is
// kept for the device, and on disk as gpu.Tune does, so it is measured again only if the kernels,
// the library, the driver or the device have changed. Sizes within about a fifth of each other
// share a result; Fourier transforms share it if only their number differs.
//
// A [gpu.Workspace] is asked for what the chosen engine needs, so with Auto a call with
// [gpu.MeasureWorkspace] may measure.
//
// # Graphs
//
// Calls of the libraries cannot be recorded. On a stream that records a graph, Auto uses Quern's
// kernels, and Vendor returns an error.
//
// # Finding the libraries
//
// The libraries of CUDA 12 and 13 can be used, on Linux. They are searched in this order, and
// of each place those of the latest version that the driver supports come first:
//
//   - The folders in the environment variable QUERN_CUDALIB, separated by colons. A folder is a
//     toolkit's (/usr/local/cuda), that of the files, or Python's site-packages.
//   - Where the dynamic loader looks: LD_LIBRARY_PATH, the system's folders.
//   - The toolkit: CUDA_HOME, CUDA_PATH, /usr/local/cuda, and the latest of /usr/local/cuda-*.
//   - The active Python environment: VIRTUAL_ENV, CONDA_PREFIX. The packages are nvidia-cublas,
//     nvidia-cufft and nvidia-cusparse.
//
// # Errors
//
// An [*Error] names the library, its function and code, what is wrong, and what to do. It matches
// [ErrMissing] if the library is not installed or too old, errors.ErrUnsupported if it cannot
// compute the operation, and gpu.ErrOutOfMemory.
//
// # Memory and concurrency
//
// Temporary memory comes from the call's workspace, or the device's pool; products take up to 32
// MiB. Handles are made on first use, and released when the device is closed; the transforms of
// an FFT plan, when the plan is closed. All functions are safe for concurrent use. Calls for the
// same shape, the same FFT plan, and all calls of cuSPARSE on a device take turns while they
// queue their work. While actors are running on the device, they pause during each call of a
// library.
package cudalib
