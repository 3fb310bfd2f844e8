package kernels

import (
	"testing"

	"quern.dev/gentest"
)

func TestGenerated(t *testing.T) { gentest.UpToDate(t) }
