package compiled

import (
	"reflect"
	"testing"

	"quern.dev/kernel"
)

func TestDescriptionsAreReadAsTheyWereWritten(t *testing.T) {
	for _, k := range []Kernel{
		{},
		{
			Name: "blur", Entry: "blur_float32", Package: "example.com/a", Handler: "h", Pos: "blur.go:14", HostOnly: true,
			Params: []Param{{Name: "x", Kind: Slice, Type: "p", Size: 8, Layout: "struct{X float32}", ReadOnly: true}, {Name: "n", Type: "int", Size: 8}},
			Variants: []Variant{
				{Name: "coarse", Limits: []int64{-1, 1 << 62, -1 << 63}, Threads: 4, Adjacent: true},
				{Name: "wide", Sites: []Site{{Kind: PanicSite, File: "blur.go", Line: 300, Col: 1, Text: "no"}}},
			},
			Special: []Special{{Name: "radius=1", Section: "blur[radius=1]", Entry: "e", Limits: []int64{7}, Variants: []Variant{{Name: "wide"}}, Shared: 1024}},
			Block:   kernel.Dim3{X: 256, Y: 1, Z: 1}, Shared: 1 << 20, Cluster: kernel.Dim3{X: 2},
			Formats: []Format{{Text: "%d\n", Args: []string{"int"}}}, Cooperative: true,
		},
	} {
		info := k.Info()
		if got, err := parseInfo(info); err != nil || !reflect.DeepEqual(got, k) {
			t.Errorf("got %+v, %v, want %+v", got, err, k)
		}
		for n := range info {
			if _, err := parseInfo(info[:n]); err == nil {
				t.Errorf("%d of %d bytes are read", n, len(info))
			}
		}
	}
}
