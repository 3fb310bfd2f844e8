package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quern.dev/internal/archive"
)

func TestPTXPrintsModules(t *testing.T) {
	data, err := archive.Write(nil, []archive.Module{
		{Kernel: "saxpy", Variant: "narrow", Text: "fma %r1;\n"},
		{Kernel: "saxpy", Variant: "narrow", Older: true, Text: "mul %r2;\n"},
		{Kernel: "scale[int8]", Variant: "wide", Text: "ret;\n"},
	})
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), archive.File)
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args      []string
		want, err string
	}{
		{[]string{name}, "saxpy/narrow\nsaxpy/narrow-older\nscale[int8]/wide\n", ""},
		{[]string{name, "saxpy/narrow"}, "// saxpy/narrow\nfma %r1;\n// saxpy/narrow-older\nmul %r2;\n", ""},
		{[]string{name, "scale"}, "// scale[int8]/wide\nret;\n", ""},
		{[]string{name, "other"}, "", "there is no module other"},
		{[]string{filepath.Join(filepath.Dir(name), "none")}, "", "no such file"},
	} {
		var out strings.Builder
		cmd := ptxCommand()
		cmd.SetArgs(tt.args)
		cmd.SetOut(&out)
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		err := cmd.Execute()
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%v: error %v, want %q", tt.args, err, tt.err)
		}
		if out.String() != tt.want {
			t.Errorf("%v: got %q, want %q", tt.args, out.String(), tt.want)
		}
	}
}
