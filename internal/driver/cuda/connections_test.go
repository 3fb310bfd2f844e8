package cuda

import (
	"os"
	"testing"
)

func TestTheDriverIsAskedForAllQueuesThatThereAre(t *testing.T) {
	for _, tt := range []struct{ set, want string }{{"", "32"}, {"4", "4"}} {
		t.Setenv(connectionsVariable, tt.set)
		if err := connect(); err != nil {
			t.Fatal(err)
		}
		if got := os.Getenv(connectionsVariable); got != tt.want {
			t.Errorf("%q: %s is %q, want %q", tt.set, connectionsVariable, got, tt.want)
		}
	}
}
