package suite

import "testing"

func TestSizesBetweenAreMultiplesOfTheTile(t *testing.T) {
	for _, c := range []struct {
		z               Size
		small, cpu, gpu int
		want            int
	}{
		{Small, 64, 384, 2048, 64}, {CPU, 64, 384, 2048, 384}, {GPU, 64, 384, 2048, 2048},
		{0.5, 64, 384, 2048, 128}, {1.5, 64, 384, 2048, 896}, {0.5, 100, 10_000, 10_000, 1000}, {1.5, 3, 7, 7, 7}, {0.5, 0, 0, 5, 0},
	} {
		if got := c.z.of(c.small, c.cpu, c.gpu); got != c.want {
			t.Errorf("size %v of %d, %d, %d is %d, want %d", c.z, c.small, c.cpu, c.gpu, got, c.want)
		}
	}
}

func TestEverySizeBetweenCanBeMade(t *testing.T) {
	for _, entry := range All {
		for _, z := range []Size{0.1, 0.3} {
			c := entry.New(z)
			if in, out := c.Transfers(); len(in)+len(out) == 0 || c.Name != entry.Name {
				t.Errorf("%s: nothing is transferred at size %v", entry.Name, z)
			}
		}
	}
}
