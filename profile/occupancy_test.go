package profile_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"quern.dev/gpu"
	"quern.dev/profile"
	"quern.dev/profile/internal/kernels"
)

func TestOccupancyIsThatOfTheDevice(t *testing.T) {
	d := open(t)
	for _, k := range kernels.All() {
		for _, dynamic := range []int{0, 40 << 10} {
			table, err := profile.Occupancy(k, d, dynamic)
			if err != nil {
				t.Fatal(err)
			}
			if rows := len(table.Rows); rows != 32 && rows != 1 || table.Kernel != k.Name() {
				t.Errorf("%s: %d rows", table.Kernel, len(table.Rows))
			}
			for _, r := range table.Rows {
				o, err := k.Occupancy(d, gpu.Dim3{X: r.Block}, dynamic)
				if err != nil || o.Blocks != r.Blocks || o.Threads != r.Threads || o.Limit != r.Limit || table.Ratio(r) != o.Ratio() {
					t.Errorf("%s, %d bytes, block %d: %+v, the device says %+v, %v", k.Name(), dynamic, r.Block, r, o, err)
				}
			}
		}
	}
}

// TestOccupancyForAnArchitectureIsThatOfItsDriver compares the calculation with the driver.
func TestOccupancyForAnArchitectureIsThatOfItsDriver(t *testing.T) {
	d := openCUDA(t)
	compared := 0
	for _, k := range kernels.All() {
		for _, dynamic := range []int{0, 1000, 20 << 10, 40 << 10, 100 << 10} {
			measured, err := profile.Occupancy(k, d, dynamic)
			if errors.Is(err, gpu.ErrInvalid) {
				continue // more shared memory than the device has
			}
			check(t, err)
			calculated, err := profile.OccupancyFor(measured.Architecture, measured.Resources)
			check(t, err)
			for _, r := range measured.Rows {
				if c := calculated.Rows[r.Block/32-1]; c != r {
					t.Errorf("%s: calculated %+v, the driver says %+v", k.Name(), c, r)
				}
				compared++
			}
		}
	}
	t.Logf("%d block sizes compared", compared)
}

func TestOccupancyForArchitectures(t *testing.T) {
	for _, c := range []struct {
		architecture      string
		registers, shared int
		block             int
		want              string
	}{
		{"sm_90", 32, 0, 256, "8 blocks, 100 %, threads"},
		{"sm_90", 64, 0, 256, "4 blocks, 50 %, registers"},
		{"sm_75", 32, 0, 256, "4 blocks, 100 %, threads"},
		{"sm_75", 32, 64 << 10, 256, "1 blocks, 25 %, shared memory"},
		{"sm_86", 32, 0, 32, "16 blocks, 33 %, blocks"},
		{"sm_89", 40, 0, 512, "3 blocks, 100 %, threads"},
		{"sm_120", 255, 0, 1024, "0 blocks, 0 %, registers"},
	} {
		table, err := profile.OccupancyFor(c.architecture, profile.KernelResources{Registers: c.registers, Shared: c.shared})
		if err != nil {
			t.Fatal(err)
		}
		r := table.Rows[c.block/32-1]
		if got := fmt.Sprintf("%d blocks, %.0f %%, %s", r.Blocks, 100*table.Ratio(r), r.Limit); got != c.want || r.Block != c.block {
			t.Errorf("%+v: %s", c, got)
		}
	}
	for want, f := range map[string]func() error{
		`no architecture "sm_10"; use sm_75, sm_80,`: func() error { _, err := profile.OccupancyFor("sm_10", profile.KernelResources{}); return err },
		"256 registers; want 0 to 255": func() error {
			_, err := profile.OccupancyFor("sm_90", profile.KernelResources{Registers: 256})
			return err
		},
		"want 0 to 101376": func() error {
			_, err := profile.OccupancyFor("sm_120", profile.KernelResources{Shared: 200 << 10})
			return err
		},
		"kernel is nil": func() error { _, err := profile.Occupancy(nil, nil, 0); return err },
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestOccupancyIsPlotted(t *testing.T) {
	table, err := profile.OccupancyFor("sm_90", profile.KernelResources{Registers: 40, Shared: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	table.Kernel = "a<b>"
	var b bytes.Buffer
	if err := table.WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	bars := 0
	for x := xml.NewDecoder(&b); ; {
		token, err := x.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if s, ok := token.(xml.StartElement); ok && s.Name.Local == "title" {
			bars++
		}
	}
	if bars != 32 {
		t.Errorf("%d bars", bars)
	}
}
