// Package nvrtc compiles CUDA C with NVIDIA's NVRTC if it is installed:
//
//	c, err := nvrtc.Open("")
//	cubin, err := c.Compile("saxpy.cu", text, "sm_90")
//
// It searches for the library where the dynamic linker, the CUDA toolkit and Python
// packages install it.
package nvrtc
