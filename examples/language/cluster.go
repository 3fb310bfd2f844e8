package language

import "quern.dev/kernel"

// diffuse simulates diffusion. Each step needs the whole result of the last one.
//
//quern:kernel
func diffuse(t kernel.Thread, steps int, x, y []float32) {
	n := len(x)
	for range steps {
		for i := t.Global(); i < n; i += t.Stride() {
			y[i] = (x[max(i-1, 0)] + 2*x[i] + x[min(i+1, n-1)]) / 4
		}
		t.SyncGrid()
		for i := t.Global(); i < n; i += t.Stride() {
			x[i] = y[i]
		}
		t.SyncGrid()
	}
}

// clusterHistogram counts bytes in clusters of two blocks. Each block holds half
// of the counters in its shared memory.
//
//quern:kernel cluster=2 block=128
func clusterHistogram(t kernel.Thread, data []uint8, counts []int32) {
	half := kernel.Shared[[128]int32](t)
	half[t.ThreadIdx.X] = 0
	t.SyncCluster()
	for i := t.Global(); i < len(data); i += t.Stride() {
		bin := int(data[i])
		kernel.AtomicAdd(&kernel.ClusterShared(t, half, bin/128)[bin%128], 1)
	}
	t.SyncCluster()
	bin := t.ClusterRank()*128 + t.ThreadIdx.X
	kernel.AtomicAdd(&counts[bin%(128*t.ClusterSize())], half[t.ThreadIdx.X])
}
