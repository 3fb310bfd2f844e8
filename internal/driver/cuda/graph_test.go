package cuda

import (
	"testing"

	"quern.dev/internal/driver"
	"quern.dev/internal/driver/cuda/fakecuda"
)

func TestDistantRowsOfABoxAreSeparateNodes(t *testing.T) {
	lib := fakecuda.New(1)
	dev, err := CandidatesOf(lib)[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	box := func(pitch int64) driver.GraphNode {
		side := func(addr uint64) driver.BoxSide {
			return driver.BoxSide{Memory: driver.Memory{Addr: addr}, Pitch: pitch, Rows: 3}
		}
		return driver.GraphNode{Kind: driver.GraphBox, Box: &driver.BoxCopy{
			Dst: side(1 << 40), Src: side(1 << 41), Width: 16, Height: 3, Depth: 1,
		}}
	}
	e, err := dev.(driver.Graphs).NewGraphExec([]driver.GraphNode{box(maxPitch), box(maxPitch + 1), {Kind: driver.GraphEmpty, After: []int{0, 1}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{1, 3, 4} {
		if got := len(e.(*graphExec).program.places[i].last); got != want {
			t.Errorf("node %d ends in %d of the driver's nodes, want %d", i, got, want)
		}
	}
	for _, c := range []interface{ Close() error }{e, dev} {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	if left := lib.Left(); left != "" {
		t.Errorf("left in the driver: %s", left)
	}
}
