package gpu

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"quern.dev/internal/driver/cuda/fakecuda"
)

func TestOpenAllOpensTheDevicesOfOneKind(t *testing.T) {
	for _, test := range []struct {
		name   string
		gpus   int
		env    string
		config Config
		want   []string
	}{
		{"all GPUs if there are any", 3, "", Config{}, []string{"cuda:0", "cuda:1", "cuda:2"}},
		{"the CPU without a GPU", 0, "", Config{}, []string{"cpu"}},
		{"the device of the environment", 3, "cuda:1", Config{}, []string{"cuda:1"}},
		{"all of a back end of the environment", 2, "cuda", Config{}, []string{"cuda:0", "cuda:1"}},
		{"the simulator by name", 2, "", Config{Device: "sim"}, []string{"sim"}},
		{"a required back end", 2, "", Config{Require: CPU}, []string{"cpu"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			lib := fakecuda.New(test.gpus)
			withCUDA(t, lib)
			t.Setenv(DeviceVariable, test.env)
			devs := must[[]*Device](t)(OpenAll(test.config))
			var ids []string
			for _, d := range devs {
				ids = append(ids, d.ID())
			}
			if !slices.Equal(ids, test.want) {
				t.Errorf("opened %v, want %v", ids, test.want)
			}
			do(t, CloseAll(devs))
			checkLeft(t, lib)
		})
	}
	withCUDA(t, fakecuda.New(0))
	if _, err := OpenAll(Config{Require: CUDA}); !errors.Is(err, ErrNoDevice) {
		t.Errorf("without a GPU: %v", err)
	}
}

// everyFew runs a test on several devices of each kind.
func everyFew(t *testing.T, test func(t *testing.T, devs []*Device)) {
	for _, id := range []string{"cpu", "sim"} {
		t.Run(id, func(t *testing.T) {
			var devs []*Device
			for range 3 {
				devs = append(devs, must[*Device](t)(Open(Config{Device: id})))
			}
			test(t, devs)
			do(t, CloseAll(devs))
		})
	}
	t.Run("fake cuda", func(t *testing.T) {
		lib := fakecuda.New(3)
		withCUDA(t, lib)
		devs := must[[]*Device](t)(OpenAll(Config{Device: "cuda"}))
		test(t, devs)
		do(t, CloseAll(devs))
		checkLeft(t, lib)
	})
}

func TestRowsAreSpreadAndGathered(t *testing.T) {
	everyFew(t, func(t *testing.T, devs []*Device) {
		for _, test := range []struct {
			rows, rowLen int
			want         []int // rows of each device
		}{
			{9, 4, []int{3, 3, 3}},
			{11, 5, []int{3, 3, 5}},
			{2, 7, []int{0, 0, 2}},
			{0, 7, []int{0, 0, 0}},
			{4, 0, []int{1, 1, 2}},
		} {
			t.Run(fmt.Sprintf("%d rows of %d", test.rows, test.rowLen), func(t *testing.T) {
				host := ramp(test.rows * test.rowLen)
				x := must[*Distributed[float32]](t)(Distribute(devs, test.rows, test.rowLen, host))
				first := 0
				for i, p := range x.Parts() {
					if p.Device != devs[i] || p.First != first || p.Rows != test.want[i] || p.Data.Len() != p.Rows*test.rowLen {
						t.Errorf("part %d: %+v", i, p)
					}
					first += p.Rows
				}
				if x.Rows() != test.rows || x.RowLen() != test.rowLen {
					t.Errorf("%d rows of %d", x.Rows(), x.RowLen())
				}
				got := make([]float32, len(host))
				do(t, x.Gather(context.Background(), got))
				if !slices.Equal(got, host) {
					t.Errorf("gathered %v", got)
				}
				closeAll(t, x, x)
			})
		}
	})
}

func TestEachDeviceWorksOnItsPart(t *testing.T) {
	k := NewKernel(saxpyInfo)
	everyFew(t, func(t *testing.T, devs []*Device) {
		const rows, rowLen = 10, 16
		x := must[*Distributed[float32]](t)(Distribute(devs, rows, rowLen, ramp(rows*rowLen)))
		do(t, x.OnEach(context.Background(), func(ctx context.Context, p Part[float32]) error {
			n := p.Data.Len()
			return launchSaxpy(k, p.Device.DefaultStream(), Linear(n), 1, n, p.Data, p.Data)
		}))
		got := make([]float32, rows*rowLen)
		do(t, x.Gather(context.Background(), got))
		for i, v := range got {
			if v != 2*float32(i) {
				t.Fatalf("element %d is %v", i, v)
			}
		}
		// Gather returns a fault on one device with the device's number.
		p := x.Parts()[1]
		do(t, launchSaxpy(k, p.Device.DefaultStream(), Blocks(Dim3{X: 1}, Dim3{X: p.Data.Len() + 1}), 1, p.Data.Len()+1, p.Data, p.Data))
		err := x.Gather(context.Background(), got)
		if _, ok := errors.AsType[*KernelError](err); !ok || !strings.HasPrefix(err.Error(), "gpu: gather: device 1 (") {
			t.Errorf("gathering after a fault: %v", err)
		}
		do(t, x.Close())
	})
}

func TestBadDistributionsNameTheMistake(t *testing.T) {
	cpu := must[*Device](t)(Open(Config{Device: "cpu"}))
	closed := must[*Device](t)(Open(Config{Device: "cpu"}))
	do(t, closed.Close())
	devs := []*Device{cpu, cpu}
	x := must[*Distributed[int]](t)(AllocDistributed[int](devs, 4, 2))
	shut := must[*Distributed[int]](t)(AllocDistributed[int](devs, 4, 2))
	do(t, shut.Close())
	ctx := context.Background()
	for _, test := range []struct {
		name string
		err  error
		is   error
		want string
	}{
		{"no devices", second(AllocDistributed[int](nil, 1, 1)), ErrInvalid, "gpu: alloc distributed: no devices"},
		{"negative rows", second(AllocDistributed[int](devs, -1, 1)), ErrInvalid, "-1 rows of 1 elements"},
		{"too many elements", second(AllocDistributed[int8](devs, 1<<40, 1<<40)), ErrInvalid, "too large"},
		{"a closed device", second(AllocDistributed[int]([]*Device{cpu, closed}, 4, 1)), ErrClosed, "gpu: alloc distributed: device 1 (cpu): alloc: device cpu is closed"},
		{"a nil device", second(AllocDistributed[int]([]*Device{nil, cpu}, 4, 1)), ErrInvalid, "gpu: alloc distributed: device 0 (): alloc: device is nil"},
		{"a short slice", second(Distribute(devs, 4, 2, make([]int, 7))), ErrInvalid, "gpu: distribute: slice of 7 elements for 4 rows of 2"},
		{"gathering to a long slice", x.Gather(ctx, make([]int, 9)), ErrInvalid, "gpu: gather: slice of 9 elements for 4 rows of 2"},
		{"gathering what is closed", shut.Gather(ctx, make([]int, 8)), ErrClosed, "gpu: gather: device 0 (cpu): download: buffer is closed"},
		{"gathering the zero value", new(Distributed[int]).Gather(ctx, nil), ErrInvalid, "gpu: gather: distributed matrix was not made by Distribute or AllocDistributed"},
		{"calling for the parts of the zero value", new(Distributed[int]).OnEach(ctx, func(context.Context, Part[int]) error { return nil }), ErrInvalid, "gpu: on each: distributed matrix was not made by Distribute or AllocDistributed"},
		{"calling for the parts of nil", (*Distributed[int])(nil).OnEach(ctx, func(context.Context, Part[int]) error { return nil }), ErrInvalid, "gpu: on each: distributed matrix is nil"},
		{"calling no function for the parts", x.OnEach(ctx, nil), ErrInvalid, "gpu: on each: function is nil"},
		{"calling no function", OnEach(ctx, devs, nil), ErrInvalid, "gpu: on each: function is nil"},
		{"gathering nil", (*Distributed[int])(nil).Gather(ctx, nil), ErrInvalid, "distributed matrix is nil"},
	} {
		if !errors.Is(test.err, test.is) || !strings.Contains(test.err.Error(), test.want) {
			t.Errorf("%s: %v", test.name, test.err)
		}
	}
	do(t, x.Close())
	do(t, cpu.Close()) // reports leaks
}

func TestOnEachCancelsTheOthersAndNamesTheFailedDevice(t *testing.T) {
	cpu := must[*Device](t)(Open(Config{Device: "cpu"}))
	devs := []*Device{cpu, cpu, cpu}
	broken := errors.New("broken")
	err := OnEach(context.Background(), devs, func(ctx context.Context, i int, d *Device) error {
		if i == 1 {
			return broken
		}
		<-ctx.Done()
		return ctx.Err()
	})
	if !errors.Is(err, broken) || errors.Is(err, context.Canceled) || err.Error() != "device 1 (cpu): broken" {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err = OnEach(ctx, devs, func(ctx context.Context, i int, d *Device) error { return d.Synchronize(ctx) })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled context: %v", err)
	}
	do(t, OnEach(context.Background(), nil, func(context.Context, int, *Device) error { return broken }))
	do(t, cpu.Close())
}

func TestOnEachKeepsErrorsThatSayMoreThanCancelled(t *testing.T) {
	cpu := must[*Device](t)(Open(Config{Device: "cpu"}))
	devs := []*Device{cpu, cpu}
	full, bad := errors.New("disk full"), errors.New("bad row")
	for _, test := range []struct {
		name  string
		other func(ctx context.Context) error
		want  string
	}{
		{"the context's error", context.Context.Err, ""},
		{"a wait's error", cpu.Synchronize, ""},
		{"a wrapped one", func(ctx context.Context) error { return fmt.Errorf("shard 7 lost (%w)", ctx.Err()) }, "\ndevice 1 (cpu): shard 7 lost (context canceled)"},
		{"one that is joined", func(ctx context.Context) error { return errors.Join(bad, ctx.Err()) }, "\ndevice 1 (cpu): bad row\ncontext canceled"},
	} {
		err := OnEach(context.Background(), devs, func(ctx context.Context, i int, _ *Device) error {
			if i == 0 {
				return full
			}
			<-ctx.Done()
			return test.other(ctx)
		})
		if !errors.Is(err, full) || err.Error() != "device 0 (cpu): disk full"+test.want {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	err := OnEach(context.Background(), devs, func(context.Context, int, *Device) error { return context.Canceled })
	if want := "device 0 (cpu): context canceled\ndevice 1 (cpu): context canceled"; err == nil || err.Error() != want {
		t.Errorf("nothing but cancellations of the program's own: %v", err)
	}
	do(t, cpu.Close())
}

func TestOnEachReturnsPanics(t *testing.T) {
	cpu := must[*Device](t)(Open(Config{Device: "cpu"}))
	x := must[*Distributed[int]](t)(AllocDistributed[int]([]*Device{cpu, cpu}, 4, 2))
	broken := errors.New("broken")
	for name, err := range map[string]error{
		"of a function for devices": OnEach(context.Background(), []*Device{cpu, cpu}, func(_ context.Context, i int, _ *Device) error {
			if i == 1 {
				panic(broken)
			}
			return nil
		}),
		"of a function for parts": x.OnEach(context.Background(), func(_ context.Context, p Part[int]) error {
			if p.First == 2 {
				panic(broken)
			}
			return nil
		}),
	} {
		p, ok := errors.AsType[*PanicError](err)
		if !ok || !errors.Is(err, broken) || err.Error() != "device 1 (cpu): panic: broken" || !strings.Contains(string(p.Stack), "multi_test.go") {
			t.Errorf("a panic %s: %v", name, err)
		}
	}
	do(t, x.Close())
	do(t, cpu.Close())
}
