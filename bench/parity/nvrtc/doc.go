// Package nvrtc compiles CUDA C with NVIDIA's NVRTC, where that is installed:
//
//	c, err := nvrtc.Open("")
//	cubin, err := c.Compile("saxpy.cu", text, "sm_90")
//
// The library is looked for in the places where the dynamic linker, the CUDA
// toolkit and Python's packages have it.
package nvrtc
