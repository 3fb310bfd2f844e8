// Package interop tests that other libraries understand what packages gpu and npy
// hand them, and the other way round: NumPy, PyTorch and CuPy, in a Python
// interpreter that the test opens in its own process, and in other processes.
//
// The interpreter is the one of the command python3, or of what the environment
// variable QUERN_TEST_PYTHON names. What is not there is skipped.
package interop
