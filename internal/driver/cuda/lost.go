package cuda

import "slices"

// lostCodes are the results (CUresult) after which a context answers every call with
// the same result until the process ends.
var lostCodes = []int{
	214, // CUDA_ERROR_ECC_UNCORRECTABLE
	220, // CUDA_ERROR_NVLINK_UNCORRECTABLE
	700, // CUDA_ERROR_ILLEGAL_ADDRESS
	702, // CUDA_ERROR_LAUNCH_TIMEOUT
	709, // CUDA_ERROR_CONTEXT_IS_DESTROYED
	710, // CUDA_ERROR_ASSERT
	714, // CUDA_ERROR_HARDWARE_STACK_ERROR
	715, // CUDA_ERROR_ILLEGAL_INSTRUCTION
	716, // CUDA_ERROR_MISALIGNED_ADDRESS
	717, // CUDA_ERROR_INVALID_ADDRESS_SPACE
	718, // CUDA_ERROR_INVALID_PC
	719, // CUDA_ERROR_LAUNCH_FAILED
}

// lost reports whether a result means that the context can no longer be used.
func lost(code int) bool { return slices.Contains(lostCodes, code) }
