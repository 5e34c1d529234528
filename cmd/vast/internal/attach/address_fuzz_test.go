package attach

import (
	"errors"
	"net/url"
	"testing"
)

// FuzzAddress checks that an accepted address gives a valid base URL without a secret.
func FuzzAddress(f *testing.F) {
	for _, seed := range []string{"8080", ":8080", "127.0.0.1:8080", "http://[::1]:1/#token=abc",
		"https://user:word@host/", "x:99999", "h\x00st:1", "://", "host:http", "ftp://a"} {
		f.Add(seed, "")
		f.Add(seed, "token")
	}
	f.Fuzz(func(t *testing.T, address, token string) {
		u, err := parse(address)
		if err != nil {
			if !errors.Is(err, errAddress) {
				t.Fatalf("%q: %v", address, err)
			}
			return
		}
		if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
			t.Fatalf("%q is parsed as %v", address, u)
		}
		p, err := New(address, token)
		if err != nil {
			return // the token is invalid
		}
		if back, err := url.Parse(p.base.String()); err != nil || back.Host != p.base.Host ||
			back.Fragment != "" || back.RawQuery != "" {
			t.Fatalf("%q has the base %v, which is parsed as %v, %v", address, p.base, back, err)
		}
		if p.Address() == "" {
			t.Fatalf("%q has no address to show", address)
		}
	})
}
