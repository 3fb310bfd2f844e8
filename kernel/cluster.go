package kernel

import (
	"fmt"
	"reflect"
	"unsafe"
)

// SyncGrid waits until every thread of the grid has called it. What a thread
// wrote before is visible to all others after.
//
// All blocks of the grid have to be resident at once, which limits their number:
// a launch of more fails before anything runs, with an error that tells the
// limit. Kernels that call SyncGrid are launched as others are.
func (t Thread) SyncGrid() { t.sync(ofGrid) }

// SyncCluster waits until every thread of the cluster has called it. What a
// thread wrote before, to shared memory too, is visible to the others after.
func (t Thread) SyncCluster() { t.sync(ofCluster) }

// ClusterRank returns the block's number in its cluster, X running fastest.
//
// A cluster is blocks that run at the same time and can use each other's shared
// memory. The directive declares how many: //quern:kernel cluster=2, or 2x2. They
// are neighbours in the grid, whose extents have to be multiples of theirs; a
// cluster has at most 8. Kernels without the option have clusters of one block.
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

// ClusterShared returns a pointer to what p, a pointer into the block's shared
// memory, points to in the block of the cluster with the given rank. That block
// must have begun and must not have ended: between the first access and either
// there has to be a SyncCluster.
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
	at := uintptr(unsafe.Pointer(p)) // compared only; p is in the heap, which does not move
	for i, v := range b.variables {
		first := uintptr(unsafe.Pointer(unsafe.SliceData(v.bytes)))
		if first <= at && at+unsafe.Sizeof(*p) <= first+uintptr(len(v.bytes)) {
			return (*T)(unsafe.Pointer(&other.variable(i, v).bytes[at-first]))
		}
	}
	if first := uintptr(unsafe.Pointer(unsafe.SliceData(b.dynamic))); first <= at && at+unsafe.Sizeof(*p) <= first+uintptr(b.dynamicBytes) {
		return (*T)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(other.dynamic)), at-first))
	}
	panic("kernel: ClusterShared of a pointer that is not into shared memory")
}

func noBlock(rank, size int) string {
	return fmt.Sprintf("kernel: ClusterShared of block %d of a cluster of %d", rank, size)
}

// variable returns variable i, which is of the type of like.
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
		panic("kernel: " + r.String() + " in a block of " + t.BlockDim.String() + " threads of which only one is running; run the block with kernel.Each")
	}
}
