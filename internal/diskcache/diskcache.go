package diskcache

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Key identifies an entry.
type Key [sha256.Size]byte

// Cache is a directory of entries.
type Cache struct {
	dir string
	max int
	err error // why the directory is unusable
}

// In returns the cache in a directory, which the first Put creates. It holds at
// most the given number of entries.
func In(dir string, most int) *Cache { return &Cache{dir: dir, max: most} }

// User returns the cache with the given name in the user's cache directory.
func User(name string, most int) *Cache {
	dir, err := os.UserCacheDir()
	return &Cache{dir: filepath.Join(dir, "quern", name), max: most, err: err}
}

const (
	entrySuffix = ".entry"
	tempPattern = "*.tmp"

	// abandoned is the age at which a temporary file is removed, because its
	// writer must have failed.
	abandoned = time.Hour
)

// Path returns the file name of an entry.
func (c *Cache) Path(k Key) string { return filepath.Join(c.dir, hex.EncodeToString(k[:])+entrySuffix) }

// header returns the first line of an entry with the given content.
func header(data []byte) []byte {
	sum := sha256.Sum256(data)
	return []byte("quern " + hex.EncodeToString(sum[:]) + "\n")
}

// Get returns an entry and marks it as used now.
func (c *Cache) Get(k Key) (data []byte, ok bool) {
	if c.err != nil {
		return nil, false
	}
	text, err := os.ReadFile(c.Path(k))
	if err != nil {
		return nil, false
	}
	end := bytes.IndexByte(text, '\n') + 1
	data = text[end:]
	if !bytes.Equal(text[:end], header(data)) {
		return nil, false
	}
	now := time.Now()
	os.Chtimes(c.Path(k), now, now) // on failure, the entry is removed too early, which is harmless
	return data, true
}

// Put writes an entry and removes the least recently used ones above the limit.
func (c *Cache) Put(k Key, data []byte) error {
	if c.err != nil {
		return c.err
	}
	if err := os.MkdirAll(c.dir, 0o777); err != nil {
		return err
	}
	f, err := os.CreateTemp(c.dir, tempPattern)
	if err != nil {
		return err
	}
	_, err = f.Write(append(header(data), data...))
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), c.Path(k))
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return c.prune(time.Now())
}

// prune removes the least recently used entries above the limit, and temporary
// files that other processes have left behind.
func (c *Cache) prune(now time.Time) error {
	list, err := os.ReadDir(c.dir)
	if err != nil {
		return err
	}
	type entry struct {
		path string
		used time.Time
	}
	var entries []entry
	var errs []error
	for _, e := range list {
		info, err := e.Info()
		if err != nil {
			continue // removed by another process
		}
		path := filepath.Join(c.dir, e.Name())
		temporary, _ := filepath.Match(tempPattern, e.Name())
		switch {
		case filepath.Ext(e.Name()) == entrySuffix:
			entries = append(entries, entry{path, info.ModTime()})
		case temporary && now.Sub(info.ModTime()) > abandoned:
			errs = append(errs, remove(path))
		}
	}
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(b.used.Compare(a.used), cmp.Compare(a.path, b.path))
	})
	for _, e := range entries[min(c.max, len(entries)):] {
		errs = append(errs, remove(e.path))
	}
	return errors.Join(errs...)
}

// remove removes a file that another process may have removed.
func remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
