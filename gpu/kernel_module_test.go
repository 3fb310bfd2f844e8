package gpu

import (
	"errors"
	"testing"

	"quern.dev/gpu/compiled"
	"quern.dev/internal/archive"
)

func forOlder(m archive.Module) archive.Module {
	m.Older = true
	return m
}

func TestOlderDevicesGetTheModuleMadeForThem(t *testing.T) {
	const modern, older, other = ".version 7.0\n.target sm_80\nmodern", ".version 6.0\n.target sm_50\nolder", ".version 6.0\n.target sm_80\nother"
	const only, anywhere = ".version 8.0\n.target sm_90a\nonly", ".version 7.0\n.target sm_80\nanywhere"
	info := kernelInfo{Kernel: compiled.Kernel{Name: "k", Code: codeOf(module("k", "narrow", modern), forOlder(module("k", "narrow", older)), module("k", "wide", other),
		module("k", "proven", only), forOlder(module("k", "proven", anywhere)))}}
	for _, test := range []struct {
		name       string
		variant    string
		capability int
		want       string
	}{
		{"a device that has the instructions", "narrow", 90, modern},
		{"a device that has just them", "narrow", 80, modern},
		{"a device that lacks them", "narrow", 75, older},
		{"a device without a capability", "narrow", 0, modern},
		{"a variant that needs none", "wide", 86, other},
		{"the only device that has the instructions", "proven", 90, only},
		{"a newer device than the only one", "proven", 100, anywhere},
		{"an older device than the only one", "proven", 80, anywhere},
	} {
		if got, err := info.module(test.variant, test.capability); err != nil || got != test.want {
			t.Errorf("%s: got %q, error %v; want %q", test.name, got, err, test.want)
		}
	}
}

func TestAKernelThatNeedsANewerDeviceIsACapabilityError(t *testing.T) {
	for _, code := range []*compiled.Code{
		codeOf(module("k", "wide", ".version 7.0\n.target sm_80\n")),
		codeOf(module("k", "wide", ".version 8.0\n.target sm_90\n"), forOlder(module("k", "wide", ".version 7.0\n.target sm_80\n"))),
	} {
		info := kernelInfo{Kernel: compiled.Kernel{Name: "k", Code: code}}
		_, err := info.module("wide", 75)
		e, ok := errors.AsType[*CapabilityError](err)
		if !ok || e.Major != 7 || e.Minor != 5 || e.Need != "8.0" || !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("error is %v, want one that says 8.0 is needed", err)
		}
	}
}
