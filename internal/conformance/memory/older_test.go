package memory

import (
	"strings"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gpu/compiled"
	"quern.dev/gputest"
	"quern.dev/internal/archive"
	"quern.dev/kernel"
)

// olderKernel returns the kernel compiled from the PTX for older devices, in its wide
// form. Those devices lack instructions of the usual PTX.
func olderKernel(t *testing.T, k *gpu.Kernel) *gpu.Kernel {
	t.Helper()
	code, err := archive.Open(quern_gen_zip)
	if err != nil {
		t.Fatal(err)
	}
	text, found, err := code.Text(k.Name(), "wide", true)
	if !found || err != nil {
		t.Fatalf("there is no module of %s for older devices (error %v)", k.Name(), err)
	}
	if !strings.Contains(text, ".target sm_50\n") && !strings.Contains(text, ".target sm_60\n") {
		t.Fatalf("the module of %s for older devices has a newer target:\n%s", k.Name(), text)
	}
	return gpu.NewKernel(compiled.Kernel{Name: k.Name(), Params: k.Params(), Code: &compiled.Code{Modules: []archive.Module{{Text: text}}}})
}

func TestModulesForOlderDevices(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		a := numbers[float32](2 * 5 * 256)
		want := make([]float32, 128)
		each(2, 64, func(th kernel.Thread) { pipeline(th, 5, a, want) })
		out := gputest.Upload(t, d, make([]float32, 128))
		launched(t, olderKernel(t, quernPipeline).Launch(s, line(2, 64), 5, gputest.Upload(t, d, a), out))
		gputest.Equal(t, gputest.Download(t, d, out), want)

		clear(want)
		each(2, 64, func(th kernel.Thread) { bulkPipeline(th, 5, a, want) })
		launched(t, olderKernel(t, quernBulkPipeline).Launch(s, line(2, 64), 5, gputest.Upload(t, d, a), out))
		gputest.Equal(t, gputest.Download(t, d, out), want)

		x := numbers[int32](1000)
		wantSums := make([]int32, 1000)
		sum := int32(0)
		for i, v := range x {
			sum += v
			wantSums[i] = sum
		}
		b := gputest.Upload(t, d, x)
		launched(t, olderKernel(t, quernScan).Launch(s, line(16, 64), b, gputest.Upload(t, d, make([]uint32, 1)), gputest.Upload(t, d, make([]uint64, 16))))
		gputest.Equal(t, gputest.Download(t, d, b), wantSums)
	})
}
