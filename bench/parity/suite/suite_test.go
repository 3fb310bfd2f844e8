package suite

import (
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

// TestKernelsMatchHandWrittenGo runs every kernel on every device, with and without
// bounds checks.
func TestKernelsMatchHandWrittenGo(t *testing.T) {
	for _, entry := range All {
		t.Run(entry.Name, func(t *testing.T) {
			c := entry.New(Small)
			if c.Name != entry.Name {
				t.Fatalf("the case is named %s", c.Name)
			}
			c.ByHand()
			gputest.Each(t, func(t *testing.T, d *gpu.Device) {
				b, err := c.Bind(d.DefaultStream())
				if err != nil {
					t.Fatal(err)
				}
				defer b.Close()
				for _, k := range []*gpu.Kernel{c.Kernel.Checked, c.Kernel.Unchecked} {
					if err := b.Reset(); err != nil {
						t.Fatal(err)
					}
					if err := b.Launch(k); err != nil {
						t.Fatal(err)
					}
					if err := b.Compare(t.Context()); err != nil {
						t.Errorf("%s: %v", k.Name(), err)
					}
				}
			})
		})
	}
}
