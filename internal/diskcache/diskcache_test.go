package diskcache

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

func key(n byte) Key { return Key{n} }

func put(t *testing.T, c *Cache, k Key, data string) {
	t.Helper()
	if err := c.Put(k, []byte(data)); err != nil {
		t.Fatal(err)
	}
}

func want(t *testing.T, c *Cache, k Key, data string) {
	t.Helper()
	got, ok := c.Get(k)
	if string(got) != data || ok != (data != "") {
		t.Errorf("entry %x is %q, %t, want %q", k[0], got, ok, data)
	}
}

func TestEntriesAreStoredByKey(t *testing.T) {
	c := In(filepath.Join(t.TempDir(), "new"), 8)
	want(t, c, key(1), "")
	put(t, c, key(1), "one")
	put(t, c, key(2), "two\nlines")
	put(t, c, key(1), "one again")
	want(t, c, key(1), "one again")
	want(t, c, key(2), "two\nlines")
	want(t, c, key(3), "")
}

func TestDamagedEntriesAreMissing(t *testing.T) {
	c := In(t.TempDir(), 8)
	put(t, c, key(1), "content")
	whole, err := os.ReadFile(c.Path(key(1)))
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		for _, damaged := range [][]byte{whole[:i], append(bytes.Clone(whole[:i]), append([]byte{whole[i] ^ 1}, whole[i+1:]...)...)} {
			if err := os.WriteFile(c.Path(key(1)), damaged, 0o666); err != nil {
				t.Fatal(err)
			}
			if data, ok := c.Get(key(1)); ok {
				t.Fatalf("%q was read as %q", damaged, data)
			}
		}
	}
	put(t, c, key(1), "content")
	want(t, c, key(1), "content")
}

func TestRecentlyUsedEntriesRemain(t *testing.T) {
	c := In(t.TempDir(), 3)
	age := func(k Key, hours int) {
		then := time.Now().Add(-time.Duration(hours) * time.Hour)
		if err := os.Chtimes(c.Path(k), then, then); err != nil {
			t.Fatal(err)
		}
	}
	for i := range byte(3) {
		put(t, c, key(i), fmt.Sprint("entry ", i))
		age(key(i), 10-int(i))
	}
	want(t, c, key(0), "entry 0") // used now
	put(t, c, key(3), "entry 3")
	want(t, c, key(0), "entry 0")
	want(t, c, key(1), "")
	want(t, c, key(2), "entry 2")
	want(t, c, key(3), "entry 3")
}

func TestOldTemporaryFilesAreRemoved(t *testing.T) {
	c := In(t.TempDir(), 3)
	young, old, other := filepath.Join(c.dir, "1.tmp"), filepath.Join(c.dir, "2.tmp"), filepath.Join(c.dir, "notes.txt")
	for _, name := range []string{young, old, other} {
		if err := os.WriteFile(name, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	then := time.Now().Add(-2 * time.Hour)
	for _, name := range []string{old, other} {
		if err := os.Chtimes(name, then, then); err != nil {
			t.Fatal(err)
		}
	}
	put(t, c, key(1), "content")
	for name, stays := range map[string]bool{young: true, old: false, other: true} {
		if _, err := os.Stat(name); (err == nil) != stays {
			t.Errorf("%s: %v", filepath.Base(name), err)
		}
	}
}

func TestWritersOfOneKeyDoNotMixTheirData(t *testing.T) {
	c := In(t.TempDir(), 4)
	var all sync.WaitGroup
	for i := range byte(8) {
		all.Go(func() {
			for range 20 {
				if err := c.Put(key(1), bytes.Repeat([]byte{i}, 1000)); err != nil {
					t.Error(err)
				}
				if data, ok := c.Get(key(1)); ok && !bytes.Equal(data, bytes.Repeat(data[:1], 1000)) {
					t.Error("an entry of two writers")
				}
			}
		})
	}
	all.Wait()
}

func TestWithoutADirectoryNothingIsStored(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	c := In(filepath.Join(blocked, "cache"), 4)
	if err := c.Put(key(1), nil); err == nil {
		t.Error("Put below a file has no error")
	}
	want(t, c, key(1), "")
	t.Setenv("HOME", "")
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("LocalAppData", "")
	c = User("test", 4)
	if err := c.Put(key(1), nil); err == nil {
		t.Error("Put without a cache directory has no error")
	}
	want(t, c, key(1), "")
}
