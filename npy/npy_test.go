package npy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"quern.dev/internal/testmodule"
	"quern.dev/kernel"
)

// reads checks what is in a file that NumPy wrote, and, if it is written as this
// package writes, that it writes the same bytes.
func reads[T Element](t *testing.T, file string, same bool, shape []int, want ...T) {
	t.Helper()
	name := filepath.Join("testdata", file)
	a, err := ReadFile[T](name)
	if err != nil {
		t.Error(err)
		return
	}
	if !slices.Equal(a.Shape, shape) || !reflect.DeepEqual(append([]T{}, a.Data...), append([]T{}, want...)) {
		t.Errorf("%s: shape %v, data %v; want %v, %v", file, a.Shape, a.Data, shape, want)
	}
	if !same {
		return
	}
	theirs, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var ours bytes.Buffer
	if err := Write(&ours, a); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(ours.Bytes(), theirs) {
		t.Errorf("%s: written\n%q, NumPy wrote\n%q", file, ours.Bytes(), theirs)
	}
}

func TestFilesOfNumPyAreReadAndWritten(t *testing.T) {
	testmodule.NeedSource(t)
	half := func(v float32) kernel.Float16 { return kernel.ToFloat16(v) }
	reads[float32](t, "float32.npy", true, []int{2, 3}, 0, 0.5, 1, 1.5, 2, 2.5)
	reads[float64](t, "float64_columns.npy", false, []int{2, 3}, 0, 0.5, 1, 1.5, 2, 2.5)
	reads[int32](t, "int32_big.npy", false, []int{2, 3}, 0, -70000, -140000, -210000, -280000, -350000)
	reads[bool](t, "bool.npy", true, []int{2, 3}, false, true, false, true, false, true)
	reads(t, "float16.npy", true, []int{2, 3}, half(0), half(0.25), half(0.5), half(0.75), half(1), half(1.25))
	reads[complex64](t, "complex64.npy", true, []int{2, 3}, 3i, 1+4i, 2+5i, 3, 4+1i, 5+2i)
	cube := make([]uint8, 24)
	for i := range cube {
		cube[i] = uint8(i)
	}
	reads(t, "uint8_cube.npy", false, []int{2, 3, 4}, cube...)
	reads[int64](t, "int64_single.npy", true, nil, -5)
	reads[uint16](t, "uint16_none.npy", true, []int{0, 4})
	reads[int64](t, "version3.npy", false, []int{2, 3}, 0, 1, 2, 3, 4, 5)
	type meters float32
	reads[meters](t, "float32.npy", true, []int{2, 3}, 0, 0.5, 1, 1.5, 2, 2.5)
}

func TestArchivesOfNumPyAreRead(t *testing.T) {
	testmodule.NeedSource(t)
	for _, file := range []string{"stored.npz", "compressed.npz"} {
		a, err := OpenArchive(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		weights, err := ReadFrom[float32](a, "weights")
		if err != nil || !slices.Equal(weights.Data, []float32{0, 0.5, 1, 1.5, 2, 2.5}) {
			t.Errorf("%s: %v, %v", file, weights, err)
		}
		if h, err := a.Header("weights"); err != nil || !reflect.DeepEqual(h, Header{Type: "<f4", Shape: []int{2, 3}}) {
			t.Errorf("%s: %+v, %v", file, h, err)
		}
		if _, err := ReadFrom[float32](a, "no such"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", file, err)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestArchivesComeBack(t *testing.T) {
	for _, compress := range []bool{false, true} {
		var file bytes.Buffer
		w := NewArchiveWriter(&file)
		w.Compress = compress
		long := Array[uint64]{Shape: []int{300, 1000}, Data: make([]uint64, 300000)}
		for i := range long.Data {
			long.Data[i] = uint64(i)
		}
		for _, err := range []error{
			Add(w, "long", long),
			Add(w, "one", Array[int]{Data: []int{7}}),
			is(Add(w, "one", Array[int]{Data: []int{8}}), fs.ErrExist),
			w.Close(),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		a, err := NewArchive(bytes.NewReader(file.Bytes()), int64(file.Len()))
		if err != nil {
			t.Fatal(err)
		}
		if names := a.Names(); !slices.Equal(names, []string{"long", "one"}) {
			t.Errorf("names %v", names)
		}
		got, err := ReadFrom[uint64](a, "long")
		if err != nil || !slices.Equal(got.Data, long.Data) || !slices.Equal(got.Shape, long.Shape) {
			t.Errorf("long: shape %v, %v", got.Shape, err)
		}
		if got, err := ReadFrom[int](a, "one"); err != nil || got.Data[0] != 7 || len(got.Shape) != 0 {
			t.Errorf("one: %v, %v", got, err)
		}
		damaged := bytes.Clone(file.Bytes())
		damaged[len(damaged)/2] ^= 1
		if a, err = NewArchive(bytes.NewReader(damaged), int64(len(damaged))); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadFrom[uint64](a, "long"); !errors.Is(err, ErrFormat) {
			t.Errorf("damaged data: %v", err)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestFilesComeBack(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.npy")
	a := Array[complex128]{Shape: []int{2}, Data: []complex128{1, 2i}}
	if err := WriteFile(name, a); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadFile[complex128](name); err != nil || !reflect.DeepEqual(got, a) {
		t.Errorf("%v, %v", got, err)
	}
	if err := Write(io.Discard, Array[int8]{Shape: []int{2, 2}, Data: make([]int8, 3)}); err == nil {
		t.Error("an array with too few elements is written")
	}
}

// file makes a file with a header.
func file(header, data string) string {
	return magic + "\x01\x00" + string(binary.LittleEndian.AppendUint16(nil, uint16(len(header)))) + header + data
}

func TestDamagedFiles(t *testing.T) {
	testmodule.NeedSource(t)
	const good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }"
	if _, err := Read[float32](strings.NewReader(file(good, "12345678"))); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, file, want string
		is               error
	}{
		{"nothing", "", "npy: not a valid NumPy file: the header ends too early", ErrFormat},
		{"another file", "%PDF-1.4 ", `npy: not a valid NumPy file: it does not begin with "\x93NUMPY"`, ErrFormat},
		{"a later version", magic + "\x07\x00", "npy: not a valid NumPy file: version 7.0 of the format", ErrFormat},
		{"a long header", magic + "\x02\x00\xff\xff\xff\xff", "npy: not a valid NumPy file: a header of 4294967295 bytes", ErrFormat},
		{"half a header", file(good, "")[:30], "npy: not a valid NumPy file: the header ends too early", ErrFormat},
		{"too few data", file(good, "1234567"), "npy: not a valid NumPy file: the data ends too early", ErrFormat},
		{"a missing key", file("{'descr': '<f4', 'shape': (2,), }", ""), "the keys are not descr, fortran_order and shape", ErrFormat},
		{"a key twice", file("{'descr': '<f4', 'descr': '<f4'}", ""), `key "descr" is there twice`, ErrFormat},
		{"an unknown key", file("{'x': '<f4'}", ""), `unknown key "x"`, ErrFormat},
		{"a negative length", file(strings.Replace(good, "2", "-2", 1), ""), `want a length at "-2,), }"`, ErrFormat},
		{"a long length", file(strings.Replace(good, "2", strings.Repeat("9", 40), 1), ""), "length 9999", ErrFormat},
		{"more than the address space", file(strings.Replace(good, "2,", "4611686018427387904, 4", 1), ""), "shape [4611686018427387904 4]", ErrFormat},
		{"a shape that the file has not", file(strings.Replace(good, "2,", "1000000000000,", 1), "1234"), "the data ends too early", ErrFormat},
		{"an open string", file("{'descr", ""), "want a string", ErrFormat},
		{"more behind the end", file(good+" x", "12345678"), "want the end", ErrFormat},
		{"no comma", file("{'descr': '<f4' 'shape': (2,)}", ""), "want , or }", ErrFormat},
		{"a word", file("{'fortran_order': Maybe}", ""), "want True or False", ErrFormat},
		{"another type", file(strings.Replace(good, "<f4", "<f8", 1), ""), `npy: the elements are of type "<f8", not float32`, nil},
		{"an empty type", file(strings.Replace(good, "<f4", "", 1), ""), `npy: the elements are of type "", not float32`, nil},
	} {
		_, err := Read[float32](strings.NewReader(c.file))
		if err == nil || !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v\nwant %s", c.name, err, c.want)
		}
	}
	if _, err := ReadFile[float32]("testdata/words.npy"); !isType(err, "<U2") {
		t.Errorf("text: %v", err)
	}
	if _, err := ReadFile[int32]("testdata/record.npy"); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("records: %v", err)
	}
	if _, err := ReadFile[int32]("testdata/none.npy"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, err := OpenArchive("testdata/make.py"); !errors.Is(err, ErrFormat) {
		t.Errorf("no archive: %v", err)
	}
}

func isType(err error, have string) bool {
	e, ok := errors.AsType[*TypeError](err)
	return ok && e.Have == have
}

func TestBoolsAreTrueOrFalse(t *testing.T) {
	a, err := Read[bool](strings.NewReader(file("{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }", "\x00\x01\x02")))
	if err != nil || !slices.Equal(a.Data, []bool{false, true, true}) || bytesOf(a.Data)[2] != 1 {
		t.Errorf("%v, %v", a, err)
	}
}

// What is read can be written and comes back.
func FuzzRead(f *testing.F) {
	names, err := filepath.Glob("testdata/*.npy")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := Read[int32](bytes.NewReader(b))
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := Write(&out, a); err != nil {
			t.Fatal(err)
		}
		again, err := Read[int32](&out)
		if err != nil || !slices.Equal(again.Data, a.Data) || !slices.Equal(again.Shape, a.Shape) {
			t.Fatalf("%v, %v; was %v", again, err, a)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	var file bytes.Buffer
	a := Array[float32]{Shape: []int{1024, 4096}, Data: make([]float32, 4<<20)}
	if err := Write(&file, a); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(file.Len()))
	for b.Loop() {
		if _, err := Read[float32](bytes.NewReader(file.Bytes())); err != nil {
			b.Fatal(err)
		}
	}
}
