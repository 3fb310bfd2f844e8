package p

import "quern.dev/kernel"

type stage struct {
	arrived kernel.CopyBarrier
	part    [32]int32
}

func (s stage) first() int32 { return s.part[0] }

type outer struct{ stage }

func wait(t kernel.Thread, b kernel.CopyBarrier) { kernel.BulkWait(t, &b) }

//quern:kernel block=32
func dynamicBarriers(t kernel.Thread, x []int32) {
	kernel.BulkWait(t, &kernel.Dynamic[kernel.CopyBarrier](t)[0])
	x[0] = kernel.Dynamic[stage](t)[0].part[0]
	x[1] = kernel.Dynamic[[2]outer](t)[0][0].part[0]
}

//quern:kernel block=32
func copiedBarriers(t kernel.Thread, x []int32) {
	b := kernel.Shared[kernel.CopyBarrier](t)
	s := kernel.Shared[[2]outer](t)
	c := *b
	kernel.BulkCopy(t, b, s[0].part[:], x)
	*b = c
	*b = kernel.CopyBarrier{}
	wait(t, *b)
	for _, o := range s {
		x[0] += o.part[0]
	}
	x[1] = s[1].first()
}

// Addresses of barriers are kept and passed, and what is beside one is copied.
//
//quern:kernel block=32
func pointers(t kernel.Thread, x []int32) {
	s := kernel.Shared[[2]stage](t)
	b := &s[1].arrived
	for i := range s {
		kernel.BulkCopy(t, &s[i].arrived, s[i].part[:], x)
	}
	kernel.BulkWait(t, b)
	part := s[0].part
	x[0] = part[1]
}
