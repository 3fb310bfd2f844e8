package cuda

import (
	"bytes"
	"testing"

	"quern.dev/internal/diskcache"
	"quern.dev/internal/driver/cuda/fakecuda"
)

func TestMachineCodeIsKept(t *testing.T) {
	lib := fakecuda.New(1)
	dev, err := candidates(lib, diskcache.In(t.TempDir(), 4))[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	d := dev.(*device)
	ptx := [][]byte{append([]byte(emptyPTX), 0)}
	first, err := d.compiled(ptx)
	if err != nil {
		t.Fatal(err)
	}
	lib.Fail("cuLinkComplete", fakecuda.InvalidPTX) // nothing is to be compiled
	again, err := d.compiled(ptx)
	if err != nil || !bytes.Equal(first, again) {
		t.Errorf("compiled again: %d bytes of %d, %v", len(again), len(first), err)
	}
	other := [][]byte{append([]byte(emptyPTX+"// other\n"), 0)}
	if _, err := d.compiled(other); err == nil {
		t.Error("other PTX has the same code")
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}
