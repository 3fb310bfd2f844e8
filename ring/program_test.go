package ring

import "testing"

func TestMessagesTakenAtOnceFitTheirSharedMemory(t *testing.T) {
	type small struct{ Words [4]uint32 }
	type middle struct{ Words [16]uint32 }
	type large struct{ Words [1024]uint32 }
	for _, tt := range []struct {
		name  string
		shape func(*Options) uint32
		o     Options
		want  uint32
	}{
		{"small ones", batchFor[small], Options{}, 64},
		{"of 64 bytes", batchFor[middle], Options{}, 52},
		{"large ones", batchFor[large], Options{}, leastBatch},
		{"as many as is asked", batchFor[large], Options{Batch: 32}, 32},
		{"no more than the mailbox has", batchFor[small], Options{Capacity: 16}, 16},
	} {
		if err := tt.o.normalise(); err != nil {
			t.Fatal(err)
		}
		if got := tt.shape(&tt.o); got != tt.want {
			t.Errorf("%s: %d at once, want %d", tt.name, got, tt.want)
		}
	}
}

func batchFor[M any](o *Options) uint32 { return shapeOf[M, M](o).Batch }
