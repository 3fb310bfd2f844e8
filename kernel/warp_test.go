package kernel_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"quern.dev/kernel"
)

// lanes runs f once for each thread of a block and returns the results.
func lanes[T any](threads int, f func(t kernel.Thread) T) []T {
	out := make([]T, threads)
	kernel.Each(kernel.Dim3{X: 1}, kernel.Dim3{X: threads}, func(t kernel.Thread) { out[t.ThreadIdx.X] = f(t) })
	return out
}

func TestWarpOperations(t *testing.T) {
	number := func(f func(t kernel.Thread) int) string { return fmt.Sprint(lanes(5, f)) }
	for _, c := range []struct {
		name, got, want string
	}{
		{"Shuffle takes one lane's value", number(func(t kernel.Thread) int { return kernel.Shuffle(t, t.Lane()*10, 3) }), "[30 30 30 30 30]"},
		{"Shuffle of a lane that does not exist", number(func(t kernel.Thread) int { return kernel.Shuffle(t, t.Lane()*10, 9) }), "[0 10 20 30 40]"},
		{"Shuffle takes lanes modulo 32", number(func(t kernel.Thread) int { return kernel.Shuffle(t, t.Lane()*10, 34) }), "[20 20 20 20 20]"},
		{"ShuffleUp", number(func(t kernel.Thread) int { return kernel.ShuffleUp(t, t.Lane()*10, 2) }), "[0 10 0 10 20]"},
		{"ShuffleDown", number(func(t kernel.Thread) int { return kernel.ShuffleDown(t, t.Lane()*10, 2) }), "[20 30 40 30 40]"},
		{"ShuffleXor", number(func(t kernel.Thread) int { return kernel.ShuffleXor(t, t.Lane()*10, 1) }), "[10 0 30 20 40]"},
		{"Ballot", number(func(t kernel.Thread) int { return int(kernel.Ballot(t, t.Lane()%2 == 0)) }), "[21 21 21 21 21]"},
		{"MatchAny", number(func(t kernel.Thread) int { return int(kernel.MatchAny(t, t.Lane()/2)) }), "[3 3 12 12 16]"},
		{"a sum", number(func(t kernel.Thread) int { return kernel.WarpReduceAdd(t, t.Lane()) }), "[10 10 10 10 10]"},
		{"a maximum", number(func(t kernel.Thread) int { return kernel.WarpReduceMax(t, -t.Lane()) }), "[0 0 0 0 0]"},
		{"running sums", number(func(t kernel.Thread) int { return kernel.WarpScanAdd(t, t.Lane()) }), "[0 1 3 6 10]"},
		{"sums of those below", number(func(t kernel.Thread) int { return kernel.WarpScanExclusiveAdd(t, t.Lane()) }), "[0 0 1 3 6]"},
		{"operations in turn", number(func(t kernel.Thread) int {
			v := 0
			for range 3 {
				v += kernel.WarpReduceAdd(t, 1) + kernel.ShuffleUp(t, t.Lane(), 1)
				t.Sync()
			}
			return v
		}), "[15 15 18 21 24]"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", c.name, c.got, c.want)
		}
	}
	all := lanes(70, func(t kernel.Thread) uint32 {
		mask, same := kernel.MatchAll(t, t.Warp() < 2 || t.Lane() == 0)
		if !same {
			return 7
		}
		return mask
	})
	want := slices.Repeat([]uint32{1<<32 - 1}, 64)
	if !slices.Equal(all, append(want, 7, 7, 7, 7, 7, 7)) {
		t.Errorf("MatchAll: %v", all)
	}
}

func TestEachReportsMissingThreads(t *testing.T) {
	for _, c := range []struct {
		name string
		body func(t kernel.Thread)
		want string
	}{
		{"a lane that has returned", func(t kernel.Thread) {
			if t.Lane() != 5 {
				kernel.Ballot(t, true)
			}
		}, "waits in Ballot, but lane 5 of its warp has returned; all threads of a warp call its operations together"},
		{"a lane that waits for the block", func(t kernel.Thread) {
			if t.Lane() == 1 {
				t.Sync()
			} else {
				t.SyncWarp()
			}
		}, "waits in SyncWarp, but lane 1 of its warp waits in Sync"},
		{"lanes in different operations", func(t kernel.Thread) {
			if t.Lane() < 16 {
				kernel.Any(t, true)
			} else {
				kernel.All(t, true)
			}
		}, "waits in Any, but lane 16 of its warp waits in All at "},
		{"lanes in the same operation of different branches", func(t kernel.Thread) {
			if t.Lane() < 16 {
				kernel.Shuffle(t, 1, 0)
			} else {
				kernel.Shuffle(t, 2, 0)
			}
		}, "waits in Shuffle, but lane 16 of its warp waits in Shuffle at "},
		{"a block that does not reach the grid's barrier", func(t kernel.Thread) {
			if t.BlockIdx.X == 0 {
				t.SyncGrid()
			}
		}, "waits in SyncGrid, but another block has ended"},
		{"threads at different barriers", func(t kernel.Thread) {
			if t.ThreadIdx.X < 3 {
				t.SyncGrid()
			} else {
				t.Sync()
			}
		}, "waits in SyncGrid, but thread 3x0x0 of the block waits in Sync"},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer func() {
				e, ok := recover().(*kernel.ThreadError)
				if !ok || !strings.Contains(e.Error(), c.want) {
					t.Errorf("got  %v\nwant %s", e, c.want)
				}
			}()
			kernel.Each(kernel.Dim3{X: 2}, kernel.Dim3{X: 40}, c.body)
		})
	}
}

func TestClusters(t *testing.T) {
	var got [8]int
	kernel.EachCluster(kernel.Dim3{X: 4, Y: 2}, kernel.Dim3{X: 2}, kernel.Dim3{X: 2, Y: 2}, 16, func(t kernel.Thread) {
		v := kernel.Shared[[2]int](t)
		v[t.ThreadIdx.X] = 10*t.BlockIdx.Y + t.BlockIdx.X
		bytes := kernel.Dynamic[uint8](t)
		bytes[3] = uint8(t.ClusterRank())
		t.SyncCluster()
		next := (t.ClusterRank() + 1) % t.ClusterSize()
		sum := kernel.ClusterShared(t, &v[1], next)
		got[t.BlockIdx.Y*4+t.BlockIdx.X] = *sum*100 + int(*kernel.ClusterShared(t, &bytes[3], next))
		t.SyncCluster()
	})
	if want := [8]int{101, 1002, 301, 1202, 1103, 0, 1303, 200}; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	defer func() {
		if v := recover(); v == nil {
			t.Error("a block ended while another waited for it")
		}
	}()
	kernel.EachCluster(kernel.Dim3{X: 2}, kernel.Dim3{X: 2}, kernel.Dim3{X: 2}, 0, func(t kernel.Thread) {
		if t.ClusterRank() == 1 {
			t.SyncCluster()
		}
	})
}
