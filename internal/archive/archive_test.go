package archive

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func random(r *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		b.WriteByte(" abcdef\n"[r.IntN(8)])
	}
	return b.String()
}

func TestReadReturnsWhatWasWritten(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	modules := []Module{
		{Kernel: "saxpy", Variant: "coarse", Text: random(r, 1000)},
		{Kernel: "saxpy", Variant: "wide", Text: ""},
		{Kernel: "saxpy", Variant: "wide", Older: true, Text: random(r, 100_000)},
		{Kernel: "load[int8,[16]example.com/a/b.T]", Variant: "narrow", Text: "x"},
		{Kernel: "load[int8]", Variant: "narrow", Text: "mov %r007, %rd+5, %rd8, $L9;"},
		{Kernel: "blur[radius=1]", Variant: "narrow", Text: "y"},
		{Kernel: "addReduce[int8]", Variant: "wide", Text: "z"},
		{Kernel: "addReduce[int8]", Variant: "wide", Older: true, Text: "zz"},
		{Kernel: "minReduce[int8]", Variant: "wide", Text: "z"},
	}
	kernels := []Kernel{
		{"saxpy", "saxpy", random(r, 1000)}, {"load[int8]", "load", ""}, {"blur", "blur", "b"},
		{"addReduce[int8]", "Reduce", "a"}, {"minReduce[int8]", "Reduce", "m"}, {"onCPU", "onCPU", "c"},
	}
	data, err := Write(kernels, modules)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Write(kernels, modules)
	if err != nil || !slices.Equal(data, again) {
		t.Errorf("writing it again gives different bytes, error %v", err)
	}
	a, err := Open(string(data))
	if err != nil {
		t.Fatal(err)
	}
	got, err := a.Modules()
	if err != nil || !slices.Equal(got, modules) {
		t.Errorf("got %+v, error %v", got, err)
	}
	if got, err := a.Kernels(); err != nil || !slices.Equal(got, kernels) {
		t.Errorf("got %+v, error %v", got, err)
	}
	for _, k := range kernels {
		if info, found, err := a.Info(k.Name); info != k.Info || !found || err != nil {
			t.Errorf("%s: %q, %v, %v", k.Name, info, found, err)
		}
	}
	if _, found, err := a.Info("saxp"); found || err != nil {
		t.Errorf("found %v, error %v", found, err)
	}
	for _, m := range modules {
		if text, found, err := a.Text(m.Kernel, m.Variant, m.Older); text != m.Text || !found || err != nil {
			t.Errorf("%s %s: %q, %v, %v", m.Kernel, m.Variant, text, found, err)
		}
	}
	if _, found, err := a.Text("saxpy", "coarse", true); found || err != nil {
		t.Errorf("found %v, error %v", found, err)
	}
}

func TestSumIdentifiesTheModules(t *testing.T) {
	sum := func(modules ...Module) string {
		data, err := Write(nil, modules)
		if err != nil {
			t.Fatal(err)
		}
		a, err := Open(string(data))
		if err != nil {
			t.Fatal(err)
		}
		return a.Sum()
	}
	one, two := Module{Kernel: "k", Variant: "wide", Text: "ret;"}, Module{Kernel: "l", Variant: "wide", Text: "exit;"}
	first := sum(one, two)
	if again := sum(one, two); again != first {
		t.Error("the same modules have different sums")
	}
	seen := map[string]bool{first: true}
	for _, modules := range [][]Module{
		{two, one}, {one}, {}, {one, two, two},
		{{Kernel: "k", Variant: "wide", Text: "reT;"}, two},
		{one, {Kernel: "k", Variant: "wide", Older: true, Text: "ret;"}, two},
		{one, {Kernel: "k", Variant: "wide", Older: true, Text: "exit;"}, two},
		{{Kernel: "k", Variant: "narrow", Text: "ret;"}, two},
		{{Kernel: "kk", Variant: "wide", Text: "ret;"}, two},
	} {
		s := sum(modules...)
		if seen[s] {
			t.Errorf("%v has the same sum as other modules", modules)
		}
		seen[s] = true
	}
}

// Damaged files cause no panic, and every changed byte of the text is detected.
func TestDamagedFiles(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	text := random(r, 5000)
	data, err := Write(nil, []Module{{Kernel: "k", Variant: "wide", Text: text}})
	if err != nil {
		t.Fatal(err)
	}
	var want string
	open := func(data []byte) (sum, got string, err error) {
		a, err := Open(string(data))
		if err != nil {
			return "", "", err
		}
		verified := a.Verify()
		modules, err := a.Modules()
		if err != nil {
			if verified == nil && a.Sum() == want {
				t.Errorf("Verify accepts an archive that cannot be read: %v", err)
			}
			return "", "", err
		}
		for _, m := range modules {
			got += m.Text
		}
		return a.Sum(), got, nil
	}
	want, _, err = open(data)
	if err != nil {
		t.Fatal(err)
	}
	for at := range data {
		changed := slices.Clone(data)
		changed[at] ^= byte(1 + r.IntN(255))
		if sum, got, err := open(changed); err == nil && sum == want && got != text {
			t.Errorf("byte %d: a changed text is accepted", at)
		}
		_, _, _ = open(changed[:at])
	}
}

// Git treats a file as binary, and leaves its line endings alone, if one of the
// first 8000 bytes is zero.
func TestGitTreatsArchivesAsBinary(t *testing.T) {
	data, err := Write(nil, []Module{{Kernel: "k", Variant: "wide", Text: strings.Repeat("ret;\n", 10_000)}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(data[:min(8000, len(data))], 0) {
		t.Error("there is no zero byte")
	}
}

func TestRegistersAreNumberedFromDefinitions(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"add %r1, %r2, %rd1;\nadd %r4, %r1, %r3;\nadd %r2, %r2, %r4;", "add %r+, %r-1, %rd-1;\nadd %r+2, %r3, %r1;\nadd %r-3, %r0, %r-2;"},
		{"\tst.u32 [%rd1+8], %r2;\n\tld %r1, [%rd1+8];", "\tst.u32 [%rd-1+8], %r-2;\n\tld %r+, [%rd-1+8];"},
		{"ld {%r1, %r2}, [%rd1];\n// %r3 a, %r4 b", "ld {%r+, %r+}, [%rd-1];\n// %r+ a, %r+ b"},
		{"@%p1 bra $L3;\n$L3:\n$L0:\n", "@%p-1 bra $L-3;\n$L+2:\n$L-4:\n"},
		{".reg .b32 %r<22>;\nmov %r1, %tid.x;\n100%", ".reg .b32 %r<22>;\nmov %r+, %tid.x;\n100%"},
	} {
		if got := relative(tt.text); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.text, got, tt.want)
		}
		if got := absolute(tt.want); got != tt.text {
			t.Errorf("%s: got %s, want %s", tt.want, got, tt.text)
		}
	}
}

func FuzzRepeats(f *testing.F) {
	f.Add(strings.Repeat("add %r1, %r2;\n", 100), uint(7), uint(60))
	f.Fuzz(func(t *testing.T, text string, from, to uint) {
		half, end := len(text)/2, len(text)
		r := newRepeats(text)
		r.extend(half)
		data := []string{string(r.block())}
		r.extend(half + (end-half)/2)
		r.extend(end)
		data = append(data, string(r.block()))
		read := func(at int) (*block, error) {
			if at < half {
				return readBlock(data[0], 0, half)
			}
			return readBlock(data[1], half, end)
		}
		to = min(to, uint(end))
		from = min(from, to)
		if got, err := appendText(nil, int(from), int(to-from), read); err != nil || string(got) != text[from:to] {
			t.Errorf("got %q, %v", got, err)
		}
		data[1] = text // damaged data causes no panic
		_, _ = appendText(nil, half, end-half, read)
	})
}

func TestSimilarModulesTakeLittleSpace(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	text := random(r, 100_000)
	size := func(modules ...Module) int {
		data, err := Write(nil, modules)
		if err != nil {
			t.Fatal(err)
		}
		return len(data)
	}
	first, second := Module{Kernel: "k[int8]", Variant: "wide", Text: text}, Module{Kernel: "k[int16]", Variant: "wide", Text: text[:60_000] + "changed" + text[60_000:]}
	if one, two := size(first), size(first, second); two > one+100 {
		t.Errorf("one module takes %d bytes, two take %d", one, two)
	}
}
