//go:build 386 || arm || mips || mipsle

package gpu

// An int in a kernel has 64 bits, also where it was compiled to Go. The name is
// the message that the Go compiler prints.
const _ = quern_needs_a_64_bit_platform
