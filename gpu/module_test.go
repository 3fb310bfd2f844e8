package gpu

import "testing"

func TestOlderDevicesGetTheModuleMadeForThem(t *testing.T) {
	const modern, older, other = ".version 7.0\n.target sm_80\nmodern", ".version 6.0\n.target sm_50\nolder", ".version 6.0\n.target sm_80\nother"
	info := KernelInfo{Name: "k", PTX: "//quern:module k narrow\n" + modern + "\n//quern:module k narrow older\n" + older + "\n//quern:module k wide\n" + other}
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
		{"a variant without replacement", "wide", 75, other},
	} {
		if got, err := info.module(test.variant, test.capability); err != nil || got != test.want {
			t.Errorf("%s: got %q, error %v; want %q", test.name, got, err, test.want)
		}
	}
}
