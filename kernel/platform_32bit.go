//go:build 386 || arm || mips || mipsle

package kernel

// An int in a kernel has 64 bits, also where the kernel was compiled to Go. The Go
// compiler prints this name as its error message.
const _ = quern_needs_a_64_bit_platform
