// Package bench compares Quern with its peers. It consists of programs and scripts:
//
//	bench/build       builds everything that a GPU machine needs into .gpu/
//	bench/run         runs there and prints one table with Quern, CuPy, numba-cuda
//	                  and CUDA C; needs Python with CuPy and numba-cuda, but no Go
//	go run ./bench/cpu
//	                  compares the CPU device with hand-written parallel Go
//
// Package advise judges the predictions of profile.Advise, package occupancy compares
// occupancies with Nsight Compute's, and babelstream.cu is the CUDA form of the five kernels
// that quern bench device measures.
//
// The folders warp and wms have Python programs that compare with GDAL and MapServer.
//
// The generated files of the kernels are not in the repository. bench/build generates
// them. Before go run, write them once with
//
//	go run ./internal/overlay/cmd -write
//
// Package mosaic measures time and memory of a mosaic of 100,000 x 100,000 pixels. warp/compare.py and ortho/compare.py compare with
// gdalwarp and orthority.
//
// Package parity compares many kinds of kernels with CUDA C. Its program cpu compares them
// with hand-written Go.
//
// The kernels are in bench/kernels, and the same algorithms in CUDA C are in
// bench/kernels.cu. Every result is checked before it is timed: inputs are random, outputs
// are poisoned, and the reference is computed in float64.
package bench
