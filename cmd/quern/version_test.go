package main

import (
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

func TestVersion(t *testing.T) {
	setting := func(pairs ...string) (list []debug.BuildSetting) {
		for i := 0; i < len(pairs); i += 2 {
			list = append(list, debug.BuildSetting{Key: pairs[i], Value: pairs[i+1]})
		}
		return list
	}
	for _, c := range []struct {
		name string
		info debug.BuildInfo
		want string
	}{
		{"installed", debug.BuildInfo{Main: debug.Module{Path: "quern.dev", Version: "v1.2.3"}}, "v1.2.3"},
		{"built in a clone", debug.BuildInfo{Main: debug.Module{Path: "quern.dev", Version: "(devel)"}, Settings: setting("vcs.revision", "0123456789abcdef", "vcs.modified", "true")}, "(devel) 0123456789ab, changed"},
		{"built in a clone, with a version that has the commit", debug.BuildInfo{Main: debug.Module{Path: "quern.dev", Version: "v0.0.0-20260101000000-0123456789ab"}, Settings: setting("vcs.revision", "0123456789abcdef")}, "v0.0.0-20260101000000-0123456789ab"},
		{"a tool of a module, from a folder", debug.BuildInfo{Main: debug.Module{Path: "quern.dev", Version: "v0.0.0", Replace: &debug.Module{Path: "../quern", Version: "(devel)"}}}, "v0.0.0 => ../quern"},
		{"otherwise", debug.BuildInfo{}, "of unknown version"},
	} {
		if got := version(&c.info, true); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	for _, arg := range []string{"version", "--version"} {
		code, stdout, stderr := quern(t, arg)
		if code != 0 || stderr != "" || !strings.HasPrefix(stdout, "quern ") || !strings.HasSuffix(stdout, ", "+runtime.Version()+" "+runtime.GOOS+"/"+runtime.GOARCH+"\n") {
			t.Errorf("%s: exit code %d, standard error %q, standard output %q", arg, code, stderr, stdout)
		}
	}
}
