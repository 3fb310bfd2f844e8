// Package interop tests that packages gpu and npy exchange data correctly with other
// libraries, in both directions: with NumPy, PyTorch and CuPy, in a Python interpreter
// that the test loads into its own process, and in other processes.
//
// The interpreter is python3, or the command named by the environment variable
// QUERN_TEST_PYTHON. Tests skip libraries that are not installed.
package interop
