// Package irtest builds and runs intermediate representation in tests of the compiler's
// passes.
//
// The builders have short names so that a kernel in a test reads like its Go source.
// Run interprets a kernel for one thread, at any stage: a pass is correct if memory and
// fault are the same before and after it. Barriers do nothing, and every scalar takes
// one cell, so layout and races are out of scope.
//
//	x, i := irtest.Local("x", ir.SliceOf(ir.TFloat32)), irtest.Local("i", ir.TInt)
//	k := irtest.Kernel("fill", []*ir.Local{x}, []*ir.Local{i},
//		irtest.Set(i, irtest.Thread(ir.ThreadIdxX)),
//		irtest.SetPlace(irtest.Elem(x, ir.Get(i)), irtest.F32(1)))
package irtest
