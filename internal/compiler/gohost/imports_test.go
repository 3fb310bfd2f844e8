package gohost_test

import (
	"slices"
	"testing"

	"quern.dev/internal/compiler/gohost"
)

func TestImportNames(t *testing.T) {
	for _, c := range []struct {
		name     string
		reserved []string
		paths    []string
		names    []string
		specs    []string
	}{
		{
			"a package has the name that its path ends with", nil,
			[]string{"math/bits", "quern.dev/kernel"}, []string{"bits", "kernel"},
			[]string{`"math/bits"`, `"quern.dev/kernel"`},
		},
		{
			"the name is stated where the package might have another", nil,
			[]string{"example.org/go-colour", "example.org/noise"}, []string{"gocolour", "noise"},
			[]string{`gocolour "example.org/go-colour"`, `noise "example.org/noise"`},
		},
		{
			"a version is not a name", nil,
			[]string{"math/rand/v2", "example.org/noise/v3"}, []string{"rand", "noise"},
			[]string{`noise "example.org/noise/v3"`, `rand "math/rand/v2"`},
		},
		{
			"two packages have two names", nil,
			[]string{"example.org/a/noise", "example.org/b/noise", "example.org/a/noise"}, []string{"noise", "noise2", "noise"},
			[]string{`noise "example.org/a/noise"`, `noise2 "example.org/b/noise"`},
		},
		{
			"reserved names are not given away", []string{"math"},
			[]string{"math"}, []string{"math2"},
			[]string{`math2 "math"`},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			im := gohost.NewImports("example.org/main", c.reserved...)
			for i, p := range c.paths {
				if got := im.Name(p); got != c.names[i] {
					t.Errorf("%s is named %s, want %s", p, got, c.names[i])
				}
			}
			if got := im.Specs(); !slices.Equal(got, c.specs) {
				t.Errorf("imports %q, want %q", got, c.specs)
			}
		})
	}
}
