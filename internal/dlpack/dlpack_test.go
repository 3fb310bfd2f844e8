package dlpack

import (
	"testing"
	"unsafe"
)

// The sizes and offsets match those that a C compiler computes for dlpack.h on
// 64-bit machines.
func TestStructuresMatchC(t *testing.T) {
	if unsafe.Sizeof(uintptr(0)) != 8 {
		t.Skip("needs a 64-bit machine, whose sizes these are")
	}
	var v Versioned
	var m Managed
	for _, c := range []struct {
		name       string
		have, want uintptr
	}{
		{"DLTensor", unsafe.Sizeof(v.Tensor), 48},
		{"DLTensor.dtype", unsafe.Offsetof(v.Tensor.Type), 20},
		{"DLTensor.byte_offset", unsafe.Offsetof(v.Tensor.ByteOffset), 40},
		{"DLManagedTensor", unsafe.Sizeof(m), 64},
		{"DLManagedTensor.deleter", unsafe.Offsetof(m.Deleter), 56},
		{"DLManagedTensorVersioned", unsafe.Sizeof(v), 80},
		{"DLManagedTensorVersioned.deleter", unsafe.Offsetof(v.Deleter), 16},
		{"DLManagedTensorVersioned.dl_tensor", unsafe.Offsetof(v.Tensor), 32},
	} {
		if c.have != c.want {
			t.Errorf("%s: %d, want %d", c.name, c.have, c.want)
		}
	}
}

func TestTensorsAreDeletedOnce(t *testing.T) {
	for _, versioned := range []bool{false, true} {
		ended := 0
		before := Outstanding()
		p, err := New(Tensor{}, nil, nil, versioned, func() { ended++ })
		if err != nil {
			t.Skipf("needs a platform where C can call Go: %v", err)
		}
		if Outstanding() != before+1 {
			t.Error("the tensor is not outstanding")
		}
		Delete(p, versioned)
		Delete(p, versioned)
		if ended != 1 || Outstanding() != before {
			t.Errorf("ended %d times, %d outstanding", ended, Outstanding()-before)
		}
	}
}
