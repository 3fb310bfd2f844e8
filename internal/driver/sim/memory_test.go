package sim

import (
	"errors"
	"strings"
	"testing"

	"quern.dev/internal/driver"
	"quern.dev/internal/ptxvm"
)

func TestAllocationsBeyondTheMemorySayHowMuchIsInUse(t *testing.T) {
	d, err := Candidate(Options{}).Open()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Alloc(100); err != nil {
		t.Fatal(err)
	}
	for _, size := range []int64{ptxvm.DefaultLimit, ptxvm.DefaultLimit + 1} {
		_, err = d.Alloc(size)
		if !errors.Is(err, driver.ErrOutOfMemory) || !strings.Contains(err.Error(), "of the simulator's 8589934592 in use") || strings.Contains(err.Error(), "ptxvm") {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}
