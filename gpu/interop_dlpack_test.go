package gpu

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"quern.dev/internal/dlpack"
	"quern.dev/internal/driver/cuda/fakecuda"
	"quern.dev/kernel"
)

func TestDLPackRoundTrip(t *testing.T) {
	type point struct{ X, Y float32 }
	everyDevice(t, func(t *testing.T, d *Device) {
		if d.Backend() == Sim {
			b := upload(t, d.DefaultStream(), 1)
			if _, err := ExportDLPack(b, DLManagedTensor); !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("export from the simulator: %v", err)
			}
			do(t, b.Close())
			return
		}
		roundTrip(t, d, 1, 2, 3)
		roundTrip(t, d, true, false)
		roundTrip(t, d, 1i, 2)
		roundTrip[uint8](t, d)
		roundTrip(t, d, kernel.ToFloat16(3))
		roundTrip(t, d, kernel.ToBFloat16(3))
		b := upload(t, d.DefaultStream(), point{1, 2})
		if _, err := ExportDLPack(b, DLManagedTensor); !errors.Is(err, ErrInvalid) {
			t.Errorf("export of structs: %v", err)
		}
		do(t, b.Close())
	})
}

func roundTrip[T comparable](t *testing.T, d *Device, values ...T) {
	t.Helper()
	for _, f := range []DLPackFormat{DLManagedTensor, DLManagedTensorVersioned} {
		b := upload(t, d.DefaultStream(), values...)
		p := must[unsafe.Pointer](t)(ExportDLPack(b, f, len(values), 1))
		do(t, b.Close())
		again, shape, err := ImportDLPack[T](d, f, p)
		do(t, err)
		if got := download(t, d.DefaultStream(), again); !slices.Equal(got, values) || !slices.Equal(shape, []int{len(values), 1}) {
			t.Errorf("%T through %s: %v of shape %v", values, f.Capsule(), got, shape)
		}
		do(t, again.Close())
	}
}

func TestTensorsThatCannotBeBuffers(t *testing.T) {
	d := must[*Device](t)(Open(Config{Device: "cpu"}))
	data := []float32{1, 2, 3, 4}
	of := func(change func(*dlpack.Versioned)) unsafe.Pointer {
		v := &dlpack.Versioned{Major: 1, Tensor: dlpack.Tensor{
			Data: uintptr(unsafe.Pointer(&data[0])), Device: dlpack.Device{Type: dlpack.CPU}, Dims: 2,
			Type:  dlpack.DataType{Code: dlpack.Float, Bits: 32, Lanes: 1},
			Shape: &[]int64{2, 2}[0], Strides: &[]int64{2, 1}[0],
		}}
		change(v)
		return unsafe.Pointer(v)
	}
	for _, c := range []struct {
		want   string
		change func(*dlpack.Versioned)
	}{
		{"<nil>", func(*dlpack.Versioned) {}},
		{"<nil>", func(v *dlpack.Versioned) { v.Tensor.Strides = nil }},
		{"<nil>", func(v *dlpack.Versioned) { v.Tensor.Dims = 0 }},
		{"<nil>", func(v *dlpack.Versioned) { v.Tensor.Shape, v.Tensor.Strides = &[]int64{0, 7}[0], &[]int64{9, 9}[0] }},
		{"unsupported DLPack version 2.0, want 1", func(v *dlpack.Versioned) { v.Major = 2 }},
		{"the tensor is read-only", func(v *dlpack.Versioned) { v.Flags = dlpack.ReadOnly }},
		{"the tensor is on device {2 0}, not {1 0}", func(v *dlpack.Versioned) { v.Tensor.Device.Type = dlpack.CUDA }},
		{"type {2 64 1} (code, bits, lanes), not {2 32 1} of float32", func(v *dlpack.Versioned) { v.Tensor.Type.Bits = 64 }},
		{"type {2 32 4}", func(v *dlpack.Versioned) { v.Tensor.Type.Lanes = 4 }},
		{"strides [1 2]: make the elements contiguous", func(v *dlpack.Versioned) { v.Tensor.Strides = &[]int64{1, 2}[0] }},
		{"a tensor of 2 dimensions without a shape", func(v *dlpack.Versioned) { v.Tensor.Shape = nil }},
		{"a tensor of -1 dimensions", func(v *dlpack.Versioned) { v.Tensor.Dims = -1 }},
		{"shape [-1 2]", func(v *dlpack.Versioned) { v.Tensor.Shape = &[]int64{-1, 2}[0] }},
		{"shape [4611686018427387904 4]", func(v *dlpack.Versioned) { v.Tensor.Shape, v.Tensor.Strides = &[]int64{1 << 62, 4}[0], nil }},
		{"not aligned to 4 bytes", func(v *dlpack.Versioned) { v.Tensor.ByteOffset = 2 }},
	} {
		b, _, err := ImportDLPack[float32](d, DLManagedTensorVersioned, of(c.change))
		if got := fmt.Sprint(err); !strings.Contains(got, c.want) || err != nil && !errors.Is(err, ErrInvalid) {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
		do(t, b.Close())
	}
	b := upload(t, d.DefaultStream(), 1, 2, 3)
	areInvalid(t, map[string]error{
		"a nil tensor":     third(ImportDLPack[float32](d, DLManagedTensor, nil)),
		"a nil device":     third(ImportDLPack[float32](nil, DLManagedTensor, of(func(*dlpack.Versioned) {}))),
		"an import format": third(ImportDLPack[float32](d, 7, nil)),
		"an export format": second(ExportDLPack(b, 7)),
		"a nil buffer":     second(ExportDLPack[int](nil, DLManagedTensor)),
		"a larger shape":   second(ExportDLPack(b, DLManagedTensor, 2, 2)),
		"a negative shape": second(ExportDLPack(b, DLManagedTensor, -1, -3)),
		"an endless shape": second(ExportDLPack(b, DLManagedTensor, 1<<62, 4)),
	})
	closeAll(t, b, d)
}

func third[A, B any](_ A, _ B, err error) error { return err }

func TestArrayInterface(t *testing.T) {
	lib := fakecuda.New(1)
	d := openFake(t, lib)
	s := d.DefaultStream()
	b := upload(t, s, ramp(8)...)
	text := string(must[[]byte](t)(b.Slice(2, 8).CUDAArrayInterface(s, 2, 3)))
	want := fmt.Sprintf(`{"shape":[2,3],"typestr":"<f4","data":[%d,false],"strides":null,"stream":%d,"version":3}`, b.mem.drv.Addr+8, s.Handle())
	if text != want || s.Handle() == 0 {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	var plain map[string]any
	do(t, json.Unmarshal(must[[]byte](t)(b.CUDAArrayInterface(nil)), &plain))
	if plain["stream"] != nil || fmt.Sprint(plain["shape"]) != "[8]" {
		t.Errorf("without stream and shape: %v", plain)
	}
	cpu := must[*Device](t)(Open(Config{Device: "cpu"}))
	host := upload(t, cpu.DefaultStream(), 1)
	if err := second(host.CUDAArrayInterface(nil)); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("of the CPU: %v", err)
	}
	areInvalid(t, map[string]error{
		"another device's stream": second(b.CUDAArrayInterface(cpu.DefaultStream())),
		"a larger shape":          second(b.CUDAArrayInterface(nil, 3, 3)),
		"a nil buffer":            second((*Buffer[int])(nil).CUDAArrayInterface(nil)),
	})
	if cpu.DefaultStream().Handle() != 0 || (*Stream)(nil).Handle() != 0 {
		t.Error("a stream that is not CUDA's has a handle")
	}
	closeAll(t, b, host, d, cpu)
}

// BenchmarkDLPack measures exporting a buffer and calling the deleter.
func BenchmarkDLPack(b *testing.B) {
	d := must[*Device](b)(Open(Config{Device: "cpu"}))
	x := upload(b, d.DefaultStream(), ramp(8)...)
	b.ReportAllocs()
	for b.Loop() {
		p := must[unsafe.Pointer](b)(ExportDLPack(x, DLManagedTensorVersioned, 2, 4))
		dlpack.Delete(p, true)
	}
	closeAll(b, x, d)
}
