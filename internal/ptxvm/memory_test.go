package ptxvm

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
)

func TestAddressesAreDeterministicAndFarApart(t *testing.T) {
	a, b := NewMemory(), NewMemory()
	var last uint64
	for i := range 10 {
		x := newBuffer(t, a, 100*i+1, "x")
		if y := newBuffer(t, b, 100*i+1, "y"); x.address != y.address {
			t.Errorf("allocation %d at %#x and %#x", i, x.address, y.address)
		}
		if x.address-last < 1<<30 || x.address%256 != 0 {
			t.Errorf("allocation at %#x after one at %#x", x.address, last)
		}
		last = x.address
	}
}

func TestHostAccess(t *testing.T) {
	m := NewMemory()
	x := newBuffer(t, m, 10, "x")
	if err := m.Fill(x.address, 10, []byte{1, 2}); err != nil {
		t.Fatal(err)
	}
	if err := m.Write(x.address+3, []byte{9, 9}); err != nil {
		t.Fatal(err)
	}
	if err := m.Copy(x.address+5, x.address+2, 5); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 10)
	if err := m.Read(x.address, got); err != nil {
		t.Fatal(err)
	}
	if want := []byte{1, 2, 1, 9, 9, 1, 9, 9, 2, 1}; !bytes.Equal(got, want) {
		t.Errorf("bytes %v, want %v", got, want)
	}
	if err := m.Read(0, nil); err != nil {
		t.Errorf("reading nothing: %v", err)
	}
	freed := newBuffer(t, m, 10, "freed")
	if err := m.Free(freed.address); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, detail string
		err          error
	}{
		{"read past the end", `1 bytes after the end`, m.Read(x.address+11, got[:1])},
		{"read across the end", `byte 5 of "x"`, m.Read(x.address+5, got[:6])},
		{"write before the start", `8 bytes before "x"`, m.Write(x.address-8, got)},
		{"fill outside of allocations", "no allocation there", m.Fill(64, 4, []byte{0})},
		{"fill with half a pattern", "not a multiple", m.Fill(x.address, 3, []byte{0, 0})},
		{"fill of negative size", "negative", m.Fill(x.address, -2, []byte{0, 0})},
		{"copy to freed memory", "freed", m.Copy(freed.address, x.address, 4)},
		{"copy from freed memory", "freed", m.Copy(x.address, freed.address, 4)},
		{"free twice", "already freed", m.Free(freed.address)},
		{"free inside an allocation", "not the address", m.Free(x.address + 1)},
		{"free outside of allocations", "not the address", m.Free(1 << 60)},
	} {
		var address *AddressError
		if !errors.As(c.err, &address) || !strings.Contains(c.err.Error(), c.detail) {
			t.Errorf("%s: %v, want %q", c.name, c.err, c.detail)
		}
	}
}

func TestMemoryIsLimited(t *testing.T) {
	for _, m := range []*Memory{NewMemory(), NewDirectMemory()} {
		m.SetLimit(100)
		x := newBuffer(t, m, 60, "x")
		if _, err := m.Alloc(60, "y"); !errors.Is(err, ErrOutOfMemory) {
			t.Errorf("allocation over the limit: %v", err)
		}
		if err := m.Free(x.address); err != nil {
			t.Fatal(err)
		}
		newBuffer(t, m, 60, "y")
		if m.Used() != 60 {
			t.Errorf("%d bytes in use", m.Used())
		}
		for _, size := range []int{0, -1, 1 << 40} {
			if _, err := m.Alloc(size, "z"); err == nil {
				t.Errorf("allocation of %d bytes", size)
			}
		}
	}
}

func TestFailedLoadOfModuleVariablesFreesMemory(t *testing.T) {
	m := mustParse(t, header+".global .b8 a[64];\n.global .b8 b[64];\n.entry k() { ret; }")
	memory := NewMemory()
	memory.SetLimit(100)
	err := m.Launch(context.Background(), "k", Config{Grid: [3]int{1, 1, 1}, Block: [3]int{1, 1, 1}, Memory: memory})
	if !errors.Is(err, ErrOutOfMemory) {
		t.Fatalf("error %v", err)
	}
	if memory.Used() != 0 {
		t.Errorf("%d bytes in use", memory.Used())
	}
}

func TestSlotsAreReusedAfterQuarantine(t *testing.T) {
	m := NewMemory()
	first := newBuffer(t, m, 8, "first")
	if err := m.Free(first.address); err != nil {
		t.Fatal(err)
	}
	again := false
	for range 2 * quarantineSize {
		b := newBuffer(t, m, 8, "b")
		again = again || b.address == first.address
		if err := m.Free(b.address); err != nil {
			t.Fatal(err)
		}
	}
	if !again {
		t.Error("the first slot was not used again")
	}
	if len(m.table) > quarantineSize+10 {
		t.Errorf("table of %d slots", len(m.table))
	}
}

func TestLaunchRejectsInvalidConfig(t *testing.T) {
	m := mustParse(t, header+`.visible .entry k(.param .u32 n) .maxntid 64 { ret; }
.visible .entry r() .reqntid 32, 2 { ret; }
.visible .entry l() { .local .b8 depot[524288]; ret; }
.visible .entry s() { .shared .b8 tile[1000]; ret; }
`)
	good := func() Config {
		return Config{Grid: [3]int{1, 1, 1}, Block: [3]int{1, 1, 1}, Memory: NewMemory(), Params: [][]byte{le32(1)}}
	}
	if err := m.Launch(context.Background(), "k", good()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, kernel string
		change       func(c *Config)
		message      string
	}{
		{"no kernel", "absent", func(c *Config) {}, "no such kernel"},
		{"no memory", "k", func(c *Config) { c.Memory = nil }, "Memory is nil"},
		{"empty grid", "k", func(c *Config) { c.Grid[1] = 0 }, "dimension 1"},
		{"large grid", "k", func(c *Config) { c.Grid[2] = 1 << 16 }, "dimension 2"},
		{"empty block", "k", func(c *Config) { c.Block[0] = 0 }, "dimension 0"},
		{"flat block", "k", func(c *Config) { c.Block[2] = 65 }, "dimension 2"},
		{"large block", "s", func(c *Config) { c.Block = [3]int{512, 4, 1}; c.Params = nil }, "2048 threads"},
		{"block over maxntid", "k", func(c *Config) { c.Block[0] = 65 }, "the kernel allows 64"},
		{"block other than reqntid", "r", func(c *Config) { c.Params = nil }, "the kernel requires"},
		{"no parameter", "k", func(c *Config) { c.Params = nil }, "0 parameters: want 1"},
		{"parameter of the wrong size", "k", func(c *Config) { c.Params[0] = le64(1) }, "parameter 0 (n) has 8 bytes: want 4"},
		{"too much dynamic shared memory", "s", func(c *Config) { c.Params = nil; c.DynamicShared = maxShared - 900 }, "the limit is"},
		{"negative dynamic shared memory", "s", func(c *Config) { c.Params = nil; c.DynamicShared = -1 }, "the limit is"},
		{"too much local memory", "l", func(c *Config) { c.Params = nil; c.Block[0] = 1024 }, "of local memory for each of 1024 threads"},
		{"negative budget", "k", func(c *Config) { c.MaxSteps = -1 }, "MaxSteps is -1"},
	} {
		config := good()
		c.change(&config)
		err := m.Launch(context.Background(), c.kernel, config)
		var launch *LaunchError
		if !errors.As(err, &launch) || !strings.Contains(err.Error(), c.message) {
			t.Errorf("%s: %v, want %q", c.name, err, c.message)
		}
	}
}

func TestMachineIsReusedWithAnotherShape(t *testing.T) {
	m := mustParse(t, kernel(own+"st.shared.u32 [%r3], %r1;\nbar.sync 0;\nld.shared.u32 %r5, [%r3];"+storeOwn))
	memory := NewMemory()
	out := newBuffer(t, memory, 4096, "out").zero()
	for i, threads := range []int{64, 128, 32, 1, 1024, 64} {
		err := m.Launch(context.Background(), "k", Config{
			Grid: [3]int{1, 1, 1}, Block: [3]int{threads, 1, 1}, DynamicShared: 16 * (i % 2),
			Params: [][]byte{out.param(), out.param()}, Memory: memory, Checks: i%3 != 2,
		})
		if err != nil {
			t.Fatalf("%d threads: %v", threads, err)
		}
		wantWords(t, out.words()[:threads], func(i int) uint32 { return uint32(i) })
	}
}

func TestAddressesInSharedAndLocalMemoryWrapAroundAt32Bits(t *testing.T) {
	const body = `
mov.u32 %r3, tile;
sub.u32 %r3, %r3, 400;
st.shared.u32 [%r3+400], 7;
ld.shared.u32 %r4, [tile];
mov.u32 %r3, depot;
sub.u32 %r3, %r3, 400;
st.local.u32 [%r3+404], 9;
ld.local.u32 %r5, [depot+4];
st.global.v2.u32 [%rd1], {%r4, %r5};
`
	out, err := runKernel(t, body, 1, Config{})
	if err != nil {
		t.Fatal(err)
	}
	if got := out.words()[:2]; got[0] != 7 || got[1] != 9 {
		t.Errorf("read %d, want 7 and 9", got)
	}
}
