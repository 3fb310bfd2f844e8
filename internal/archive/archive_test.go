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
		{Kernel: "blur[radius=1]", Variant: "narrow", Text: "y"},
	}
	data, err := Write(modules)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Write(modules)
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
		data, err := Write(modules)
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
	data, err := Write([]Module{{Kernel: "k", Variant: "wide", Text: text}})
	if err != nil {
		t.Fatal(err)
	}
	open := func(data []byte) (sum, got string, err error) {
		a, err := Open(string(data))
		if err != nil {
			return "", "", err
		}
		modules, err := a.Modules()
		if err != nil {
			return "", "", err
		}
		for _, m := range modules {
			got += m.Text
		}
		return a.Sum(), got, nil
	}
	want, _, err := open(data)
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
	data, err := Write([]Module{{Kernel: "k", Variant: "wide", Text: strings.Repeat("ret;\n", 10_000)}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(data[:min(8000, len(data))], 0) {
		t.Error("there is no zero byte")
	}
}
