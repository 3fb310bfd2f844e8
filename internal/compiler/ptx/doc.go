// Package ptx is the back end that compiles a kernel to PTX, the assembly language of
// NVIDIA GPUs.
//
// Emit takes one kernel in its final form (package ir, StageFinal) and returns
// a module with one entry:
//
//	m, err := ptx.Emit(kernel, ptx.Options{})
//	os.WriteFile("saxpy.ptx", []byte(m.Text), 0o666)
//
// The text is deterministic, and declares the lowest PTX version and target that its
// instructions need.
//
// # Parameters
//
// The entry has the kernel's parameters in order: a scalar is one parameter, a slice
// two (address and length; the capacity equals the length), a struct or array a block
// of bytes in Go's layout. Two more parameters follow: quern_fault, the address of the
// control block through which a failing thread reports, and quern_kernel, a number that
// the report repeats.
//
// # Registers
//
// Every scalar variable is one mutable virtual register for its whole life, and every
// intermediate value is a fresh one: ptxas builds its own SSA form, shares common
// subexpressions, hoists invariant code out of loops and allocates registers. It does
// not narrow 64-bit index arithmetic, so a 32-bit index is scaled with mul.wide,
// and addresses in shared and local memory are 32-bit sums throughout.
//
//   - Integers of 8 and 16 bits live in 32-bit registers, always sign- or
//     zero-extended from their own width: operations that can leave it are
//     followed by an extension.
//   - A bool is a predicate register; in memory it is a byte.
//   - A slice is three registers: address, length, and capacity where that is
//     read.
//   - A pointer or slice whose assignments all come from one address space is an
//     address in that space; any other is a generic address. In memory, pointers
//     are generic.
//   - A variable that has its address taken or that is an array or a struct
//     lives in local memory; a parameter of such a type that is only read stays
//     in parameter memory.
//
// # Floating point
//
// Operations round to nearest even. Operations marked strict, and those separated by an
// explicit conversion in the Go source, have the .rn modifier, which also prevents
// ptxas from contracting a multiplication and an addition; the others do not.
//
// # Faults
//
// A failed check jumps to a cold block after the body. This block loads the index, the
// length and the number of the site into three registers and jumps to the single block
// that claims the control block, writes the record and ends the thread. Module.Sites
// maps the number to the site.
//
// # Not done here
//
// The package does not optimize beyond selecting instructions, does not inline (a Call
// is an error), and does not copy arrays and structs as a whole: earlier passes have
// removed these.
package ptx
