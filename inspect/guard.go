package inspect

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// guard decides which requests are answered.
type guard struct {
	hosts           []string // accepted host names, in lower case
	tokenForReading bool
	token           [sha256.Size]byte
}

func newGuard(o Options, loopback bool) guard {
	g := guard{hosts: []string{"localhost"}, tokenForReading: !loopback,
		token: sha256.Sum256([]byte(o.Token))}
	for _, h := range o.Hosts {
		g.hosts = append(g.hosts, strings.ToLower(h))
	}
	return g
}

func newToken() string { return rand.Text() }

// checkHost refuses a request whose Host header holds an unknown name. This stops DNS rebinding: another site
// makes its own host name resolve to this machine, but requests of its pages still carry that name. IP
// addresses are accepted, because they cannot be rebound.
func (g *guard) checkHost(r *http.Request) error {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
	if net.ParseIP(host) != nil || slices.Contains(g.hosts, host) {
		return nil
	}
	return &problem{Status: http.StatusForbidden, Code: "host",
		Message: "unknown host name: use the server's address, or add the name to Options.Hosts"}
}

// checkOrigin refuses requests from pages of other sites. It accepts a request without the headers
// Sec-Fetch-Site and Origin, because programs that are not browsers do not send these headers.
func (g *guard) checkOrigin(r *http.Request) error {
	foreign := &problem{Status: http.StatusForbidden, Code: "origin",
		Message: "the request comes from a page of another site"}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
	default:
		return foreign
	}
	if origins := r.Header.Values("Origin"); len(origins) > 0 {
		u, err := url.Parse(origins[0])
		if len(origins) > 1 || err != nil || u.Host == "" || !strings.EqualFold(u.Host, r.Host) {
			return foreign
		}
	}
	return nil
}

// checkToken refuses requests without the token. The comparison takes constant time, so its duration reveals
// nothing about the token.
func (g *guard) checkToken(r *http.Request) error {
	given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	sum := sha256.Sum256([]byte(given))
	if subtle.ConstantTimeCompare(sum[:], g.token[:]) == 1 && ok {
		return nil
	}
	return &problem{Status: http.StatusUnauthorized, Code: "token",
		Message: "this request needs the token: open the whole address that the program printed, with the " +
			"part after #, or " +
			"send the header Authorization: Bearer TOKEN"}
}

// setHeaders restricts what a browser may do with an answer.
func setHeaders(h http.Header) {
	h.Set("Content-Security-Policy",
		"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "+
			"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store") // the page's own files override this
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
}
