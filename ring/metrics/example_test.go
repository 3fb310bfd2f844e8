package metrics_test

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"quern.dev/gpu"
	"quern.dev/ring"
	"quern.dev/ring/metrics"
)

func ExampleHandler() {
	dev, err := gpu.Open(gpu.Config{Require: gpu.CPU})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	rt, err := ring.New(dev, ring.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer rt.Close()
	server := httptest.NewServer(metrics.Handler(rt))
	defer server.Close()
	r, err := http.Get(server.URL)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	fmt.Println(strings.Contains(string(text), fmt.Sprintf(`quern_ring_actors{device="cpu",runtime="%d",state="active"} 0`, rt.Number())), err)
	// Output: true <nil>
}
