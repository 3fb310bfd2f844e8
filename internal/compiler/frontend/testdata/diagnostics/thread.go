package p

import "quern.dev/kernel"

func byPointer(t *kernel.Thread) int { return t.Global() + t.ThreadIdx.X }

//quern:kernel
func passesPointer(t kernel.Thread, out []int) {
	out[0] = byPointer(&t)
}

//quern:kernel
func keepsPointer(t kernel.Thread, out []int) {
	p := &t
	out[p.Global()] = p.BlockIdx.Y
	q := *p
	out[0] = q.Stride()
}

//quern:kernel
func declaresPointer(t kernel.Thread, out []int) {
	var p *kernel.Thread
	p.Sync()
	out[0] = p.Lane()
}

//quern:kernel
func callsThroughPointer(t kernel.Thread, out []int) {
	out[0] = (&t).Global()
	out[1] = (&t).BlockDim.X
}

//quern:kernel
func methodValue(t kernel.Thread, out []int) {
	global := t.Global
	out[0] = global()
}

//quern:kernel
func methodExpression(t kernel.Thread, out []int) {
	out[0] = kernel.Thread.Global(t)
	out[1] = (*kernel.Thread).Global(&t)
}

type embedding struct {
	kernel.Thread
	n int
}

//quern:kernel
func embeds(t kernel.Thread, out []int) {
	e := embedding{t, 1}
	out[0] = e.Global() + e.n + e.ThreadIdx.X
}

//quern:kernel
func inLiterals(t kernel.Thread, out []int) {
	out[0] = [2]kernel.Thread{t, t}[1].Global()
	out[1] = struct{ t kernel.Thread }{t}.t.Global()
	out[2] = [...]*kernel.Thread{&t}[0].Global()
}
