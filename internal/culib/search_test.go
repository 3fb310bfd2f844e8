package culib

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quern.dev/internal/engine"
)

func TestLibrariesAreSearchedInOrder(t *testing.T) {
	dir := t.TempDir()
	file := "libcublasLt.so.12"
	for _, f := range []string{
		"own/" + file,
		"toolkit/lib64/" + file,
		"packages/nvidia/cublas/lib/" + file,
		"packages/nvidia/cu13/lib/libcublasLt.so.13",
		"venv/lib/python3.12/site-packages/nvidia/cublas/lib/" + file,
		"home/targets/x86_64-linux/lib/" + file,
	} {
		path := filepath.Join(dir, filepath.FromSlash(f))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	at := func(s string) string { return filepath.Join(dir, s) }
	set := map[string]string{
		Variable:      strings.Join([]string{at("own"), "", at("toolkit"), at("packages")}, string(os.PathListSeparator)),
		"CUDA_HOME":   at("home"),
		"VIRTUAL_ENV": at("venv"),
	}
	d := &descriptions[engine.BLAS]
	var got []string
	for _, p := range places(d, file, func(name string) string { return set[name] }) {
		if !strings.HasPrefix(p, "/usr/local/cuda") { // of this machine
			got = append(got, strings.TrimPrefix(p, dir+"/"))
		}
	}
	want := []string{
		"own/" + file, "toolkit/lib64/" + file, "packages/nvidia/cublas/lib/" + file,
		file,
		"home/targets/x86_64-linux/lib/" + file,
		"venv/lib/python3.12/site-packages/nvidia/cublas/lib/" + file,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
	t.Setenv(Variable, set[Variable])
	for cuda, first := range map[int]string{0: at("packages/nvidia/cu13/lib/libcublasLt.so.13"), 13: at("packages/nvidia/cu13/lib/libcublasLt.so.13"), 12: at("own/" + file)} {
		if list := candidates(d, cuda); list[0] != first {
			t.Errorf("CUDA %d: %q", cuda, list)
		}
	}
	if list := candidates(d, 11); len(list) != 0 {
		t.Errorf("CUDA 11: %q", list)
	}
}
