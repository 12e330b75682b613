package toxiproxy_test

import (
	"os"
	"testing"

	tclient "github.com/Shopify/toxiproxy/v2/client"
)

var toxiproxyURL = os.Getenv("TOXIPROXY_URL")

// WithServer gives each test of the module the server at $TOXIPROXY_URL without proxies, and leaves none behind.
func WithServer(t *testing.T, f func(string)) {
	clear := func() {
		proxies, err := tclient.NewClient(toxiproxyURL).Proxies()
		if err != nil {
			t.Fatal("cannot list the proxies:", err)
		}
		for _, proxy := range proxies {
			if err := proxy.Delete(); err != nil {
				t.Error("cannot delete a proxy:", err)
			}
		}
	}

	clear()
	defer clear()
	f(toxiproxyURL)
}
