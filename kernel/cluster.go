package kernel

import (
	"fmt"
	"reflect"
	"unsafe"
)

// SyncGrid waits until every thread of the grid has called it. Writes that a
// thread made before the call are visible to all other threads after it.
//
// All blocks of the grid must be resident at once, which limits their number. A
// launch with more blocks fails before anything runs, with an error that gives
// the limit. Kernels that call SyncGrid are launched like any other.
func (t Thread) SyncGrid() { t.sync(ofGrid) }

// SyncCluster waits until every thread of the cluster has called it. Writes that
// a thread made before the call, including those to shared memory, are visible to
// the other threads of the cluster after it.
func (t Thread) SyncCluster() { t.sync(ofCluster) }

// ClusterRank returns the block's number within its cluster, with X varying
// fastest.
//
// A cluster is a set of blocks that run at the same time and can access each
// other's shared memory. The directive declares its size: //quern:kernel
// cluster=2, or 2x2. The blocks of a cluster are neighbors in the grid. The
// extents of the grid must be multiples of those of the cluster, and a cluster
// has at most 8 blocks. Without the option, every block is a cluster of its own.
func (t Thread) ClusterRank() int {
	if t.state == nil {
		return 0
	}
	c, i := t.state.block.extent, t.BlockIdx
	return i.X%c.X + c.X*(i.Y%c.Y+c.Y*(i.Z%c.Z))
}

// ClusterSize returns the number of blocks in a cluster.
func (t Thread) ClusterSize() int {
	if t.state == nil {
		return 1
	}
	return len(t.state.block.cluster)
}

// ClusterShared returns the address, in the block with the given rank of the same
// cluster, that corresponds to p. p must point into the block's shared memory.
// The other block must be running: call SyncCluster before the first access and
// after the last one.
//
//	tile := kernel.Shared[[256]float32](t)
//	tile[t.ThreadIdx.X] = v
//	t.SyncCluster()
//	other := kernel.ClusterShared(t, tile, t.ClusterRank()^1)
//	v += other[t.ThreadIdx.X]
//	t.SyncCluster()
func ClusterShared[T any](t Thread, p *T, rank int) *T {
	if t.state == nil {
		if rank != 0 {
			panic(noBlock(rank, 1))
		}
		return p
	}
	b := t.state.block
	if rank < 0 || rank >= len(b.cluster) {
		panic(noBlock(rank, len(b.cluster)))
	}
	other := b.cluster[rank]
	at := uintptr(unsafe.Pointer(p)) // for comparison only; p is on the heap, which does not move
	for i, v := range b.variables {
		first := uintptr(unsafe.Pointer(unsafe.SliceData(v.bytes)))
		if first <= at && at+unsafe.Sizeof(*p) <= first+uintptr(len(v.bytes)) {
			return (*T)(unsafe.Pointer(&other.variable(i, v).bytes[at-first]))
		}
	}
	if first := uintptr(unsafe.Pointer(unsafe.SliceData(b.dynamic))); first <= at && at+unsafe.Sizeof(*p) <= first+uintptr(b.dynamicBytes) {
		return (*T)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(other.dynamic)), at-first))
	}
	panic("kernel: ClusterShared: the pointer does not point into shared memory; pass the address of a kernel.Shared or kernel.Dynamic variable")
}

func noBlock(rank, size int) string {
	return fmt.Sprintf("kernel: ClusterShared: rank %d is out of range; the cluster has %d blocks", rank, size)
}

// variable returns variable i. It creates variables of the same type as like
// where they are missing.
func (b *blockState) variable(i int, like variable) *variable {
	for len(b.variables) <= i {
		p := reflect.New(reflect.TypeOf(like.pointer).Elem())
		b.variables = append(b.variables, variable{pointer: p.Interface(), bytes: unsafe.Slice((*byte)(p.UnsafePointer()), len(like.bytes))})
	}
	return &b.variables[i]
}

func (t Thread) sync(r reach) {
	if t.state != nil {
		t.state.sync(r)
		return
	}
	if t.BlockDim.Count() > 1 || r == ofGrid && t.GridDim.Count() > 1 {
		panic("kernel: " + r.String() + " in a block of " + t.BlockDim.String() + " threads, but only one thread is running; run the block with kernel.Each")
	}
}
