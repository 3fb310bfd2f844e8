package p

import "quern.dev/kernel"

var scale float32 = 2

func init() { scale = 3 }

var computed = seed()

func seed() int32 { return 7 }

var weights = []float32{1, 2, 1}

//quern:kernel
func mutableVariable(t kernel.Thread, out []float32) {
	out[0] *= scale
}

//quern:kernel
func computedVariable(t kernel.Thread, out []int32) {
	out[0] = computed
}

//quern:kernel
func sliceVariable(t kernel.Thread, out []float32) {
	out[0] = weights[1]
}

var Exported = [4]float32{1, 2, 3, 4}

//quern:kernel
func exportedVariable(t kernel.Thread, out []float32) {
	out[0] = Exported[1]
}

//quern:kernel
func sharedTooLarge(t kernel.Thread, out []float32) {
	tile := kernel.Shared[[256][256]float32](t)
	tile[0][0] = out[0]
}

//quern:kernel
func sharedTooLargeTogether(t kernel.Thread, out []float32) {
	a := kernel.Shared[[32768]float32](t)
	b := kernel.Shared[[32768]float32](t)
	a[0], b[0] = out[0], out[1]
}

//quern:kernel
func sharedInLoop(t kernel.Thread, out []float32) {
	for i := range 4 {
		tile := kernel.Shared[[4]float32](t)
		tile[i] = out[i]
	}
}

//quern:kernel
func atomicOnLocal(t kernel.Thread, out []int32) {
	var n int32
	kernel.AtomicAdd(&n, 1)
	out[0] = n
}

//quern:kernel
func changesThread(t kernel.Thread, out []int32) {
	t.ThreadIdx.X = 3
	u := kernel.Thread{}
	out[0] = int32(u.Global())
}

type holder struct{ T kernel.Thread }

//quern:kernel
func keepsThread(t kernel.Thread, out []int32) {
	h := holder{t}
	out[h.T.Global()] = 1
	var many [2]kernel.Thread
	out[0] = int32(many[0].Global())
}

//quern:kernel
func dynamicOfSlices(t kernel.Thread, out []int32) {
	s := kernel.Dynamic[[]int32](t)
	out[0] = s[0][0]
}

//quern:kernel
func dynamicOfNothing(t kernel.Thread, out []int32) {
	out[0] = int32(len(kernel.Dynamic[struct{}](t)))
}

//quern:kernel
func asyncCopyOfWrongSize(t kernel.Thread, in []float64, out []float64) {
	s := kernel.Shared[[8][3]float64](t)
	kernel.AsyncCopy(t, &s[0], (*[3]float64)(in))
	b := kernel.Shared[[8]int16](t)
	var local int16
	kernel.AsyncCopy(t, &b[0], &local)
}

//quern:kernel
func asyncWaitForVariable(t kernel.Thread, n int, out []float64) {
	kernel.AsyncWait(t, n)
	kernel.AsyncWait(t, -1)
}

//quern:kernel
func scopes(t kernel.Thread, scope kernel.Scope, out []int32) {
	kernel.AtomicAdd(&out[0], 1, scope)
	kernel.Fence(kernel.BlockScope, kernel.DeviceScope)
	out[1] = kernel.LoadAcquire(&out[2], 7)
}

//quern:kernel
func orderedAccessOfLocal(t kernel.Thread, out []int32) {
	var n int32
	kernel.StoreRelease(&n, 1)
	out[0] = kernel.LoadRelaxed(&n)
}

//quern:kernel
func arrayOfNothing(t kernel.Thread, out []float64) {
	p := (*[0]float64)(out)
	out[0] = float64(len(p))
}

var counters = [4]int32{1, 2, 3, 4}

//quern:kernel
func atomicOnTable(t kernel.Thread, out []int32) {
	kernel.AtomicAdd(&counters[1], 1)
	out[0] = kernel.LoadAcquire(&counters[2])
}

//quern:kernel block=128
func tileOfFloat64(t kernel.Thread, n int, maps []kernel.TileMap, a []float64) {
	arrived := kernel.Shared[kernel.CopyBarrier](t)
	tile := kernel.Shared[[512][4]float32](t)
	var own kernel.TileMap
	kernel.MapTiles(t, &maps[0], a, n, n, n, 64)
	kernel.MapTiles(t, &own, a, n, n, n, 64)
	kernel.BulkCopyTile(t, arrived, tile[:], &maps[0], a, n, n, n, 0, 0)
	kernel.BulkWait(t, arrived)
}
