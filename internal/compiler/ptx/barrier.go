package ptx

import "quern.dev/internal/compiler/ir"

// barrier waits for all threads of the block.
func (g *generator) barrier() {
	g.tileFence()
	g.emit("bar.sync", intOperand(b32Class, 0))
}

// fence orders the thread's memory accesses for the threads of a scope, including loads
// after stores.
func (g *generator) fence(s ir.Scope) {
	g.emit("membar." + [...]string{ir.BlockScope: "cta", ir.DeviceScope: "gl", ir.SystemScope: "sys"}[s])
}
