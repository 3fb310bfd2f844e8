// Package wholefile writes files of which a reader never sees a part.
package wholefile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// Write calls write with a temporary file in the folder of a name, and gives it the name. After an
// error, what had the name before is unchanged.
func Write(name string, write func(w io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	err = errors.Join(write(f), f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
