package ptx

// barrier waits for all threads of the block.
func (g *generator) barrier() { g.emit("bar.sync", intOperand(b32Class, 0)) }

// fence orders the thread's memory accesses for the whole device.
func (g *generator) fence() { g.emit("membar.gl") }
