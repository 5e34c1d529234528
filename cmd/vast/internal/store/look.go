package store

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/cmd/vast/internal/saved"
	"github.com/vastgo/vast/inspect"
	"github.com/vastgo/vast/internal/theme"
	library "github.com/vastgo/vast/store"
)

//go:embed page
var page embed.FS

func look(o options, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	s, err := newLooker(ctx, o.path, o.moment)
	if err != nil {
		return finish(stderr, "store look", err)
	}
	err = s.serve(ctx, o.addr, func(address string) {
		fmt.Fprintf(stdout, "%s\nCtrl-C ends the server.\n", address)
		if o.browse {
			if err := openBrowser(address); err != nil {
				fmt.Fprintf(stderr, "vast store look: cannot open a browser: %v\n", err)
			}
		}
	})
	return finish(stderr, "store look", errors.Join(err, s.close()))
}

// looker serves the moments of a folder, one moment at a time.
type looker struct {
	ctx     context.Context
	path    string
	moments []file // oldest first; a saved file has one moment, with the number 0

	mu      sync.Mutex
	current *openMoment
	closed  bool  // set by close; show fails after close
	closing error // errors of closing earlier moments
}

// openMoment is a loaded moment with the inspector that serves it.
type openMoment struct {
	number  uint64
	world   *vast.World
	inspect *inspect.Inspector
	proxy   *httputil.ReverseProxy
	dropped []string
	stop    chan struct{} // closed to end admit
	stopped chan struct{} // closed when admit returns
}

// newLooker finds the moments of a folder and shows the given moment. Moment 0 is the newest.
func newLooker(ctx context.Context, path string, moment uint64) (*looker, error) {
	files, err := library.Files(path)
	if err != nil {
		return nil, err
	}
	s := &looker{ctx: ctx, path: path}
	for _, f := range files {
		if (f.Kind == library.FileCheckpoint || f.Kind == library.FileWorld) && f.Err == nil {
			s.moments = append(s.moments, describe(f))
		}
	}
	if len(s.moments) == 0 {
		return nil, errors.New("no checkpoint can be read: vast store verify names the damaged files")
	}
	if moment == 0 {
		moment = s.moments[len(s.moments)-1].Number
	}
	return s, s.show(moment)
}

// show loads the moment with this number and shows it in place of the current moment.
func (s *looker) show(number uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return http.ErrServerClosed
	}
	if s.current != nil && s.current.number == number {
		return nil
	}
	w, report, err := saved.Load(s.path, number, 0)
	if err != nil {
		return err
	}
	in, err := inspect.Serve(s.ctx, w, inspect.Options{})
	if err != nil {
		return errors.Join(err, w.Close())
	}
	to := &url.URL{Scheme: "http", Host: in.Addr().String()}
	next := &openMoment{number: number, world: w, inspect: in, dropped: report.Dropped,
		stop: make(chan struct{}), stopped: make(chan struct{}), proxy: &httputil.ReverseProxy{
			Rewrite: func(r *httputil.ProxyRequest) {
				r.SetURL(to)
				r.Out.Host = r.In.Host // the inspector compares Host with Origin
			},
			ModifyResponse: admitFrame,
			FlushInterval:  -1, // pass each event of a stream on immediately
			ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
				http.Error(w, "the page has changed to another moment: reload", http.StatusBadGateway)
			},
		}}
	go next.admit()
	old := s.current
	s.current = next
	if old != nil {
		s.closing = errors.Join(s.closing, old.close())
	}
	return nil
}

// admitFrame lets the page of this server show the inspector's page in a frame.
func admitFrame(r *http.Response) error {
	policy := r.Header.Get("Content-Security-Policy")
	r.Header.Set("Content-Security-Policy", strings.Replace(policy, "frame-ancestors 'none'",
		"frame-ancestors 'self'", 1))
	r.Header.Set("X-Frame-Options", "SAMEORIGIN")
	return nil
}

// admit lets the inspector visit the world until stop is closed. The goroutine of admit owns the world.
func (m *openMoment) admit() {
	defer close(m.stopped)
	m.world.Idle(func() { <-m.stop })
}

func (m *openMoment) close() error {
	err := m.inspect.Close()
	close(m.stop)
	<-m.stopped
	return errors.Join(err, m.world.Close())
}

func (s *looker) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == nil || s.closed {
		return nil
	}
	s.closed = true
	return errors.Join(s.closing, s.current.close())
}

// serve calls ready with the address of the page, and answers requests until ctx ends.
func (s *looker) serve(ctx context.Context, addr string, ready func(address string)) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	if tcp, ok := l.Addr().(*net.TCPAddr); !ok || !tcp.IP.IsLoopback() {
		return errors.Join(fmt.Errorf("-addr %s: other machines could reach the page, and the page "+
			"needs no token: use 127.0.0.1", addr), l.Close())
	}
	server := &http.Server{Handler: s, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second,
		IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	defer context.AfterFunc(ctx, func() { server.Close() })()
	ready("http://" + l.Addr().String() + pagePath)
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// pagePath is the URL path of the page around the inspector.
const pagePath = "/store/"

// ServeHTTP serves the page around the inspector, leads a browser from / to that page, and passes all other
// requests to the inspector.
func (s *looker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !isLocal(r) {
		http.Error(w, "the host must be an IP address or localhost, and the request must come from this site",
			http.StatusForbidden)
		return
	}
	name, own := strings.CutPrefix(r.URL.Path, pagePath)
	if !own {
		if r.URL.Path == "/" && r.Header.Get("Sec-Fetch-Dest") == "document" {
			http.Redirect(w, r, pagePath, http.StatusSeeOther)
			return
		}
		s.mu.Lock()
		proxy := s.current.proxy
		s.mu.Unlock()
		proxy.ServeHTTP(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Security-Policy",
		"default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; "+
			"frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	switch {
	case name == "show" && r.Method == http.MethodPost:
		s.answer(w, r, func() (any, error) {
			n, err := numberOf(r, "moment")
			if err == nil {
				err = s.show(n)
			}
			return s.state(), err
		})
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		http.Error(w, "use GET", http.StatusMethodNotAllowed)
	case name == "moments":
		s.answer(w, r, func() (any, error) { return s.state(), nil })
	case name == "compare":
		s.answer(w, r, func() (any, error) { return s.compare(r) })
	default:
		s.file(w, name)
	}
}

// isLocal reports whether the host of a request is an IP address or localhost. It returns false for a request
// from a page of another site.
func isLocal(r *http.Request) bool {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	site := r.Header.Get("Sec-Fetch-Site")
	return (net.ParseIP(strings.Trim(host, "[]")) != nil || strings.EqualFold(host, "localhost")) &&
		(site == "" || site == "same-origin" || site == "none")
}

func numberOf(r *http.Request, name string) (uint64, error) {
	n, err := strconv.ParseUint(r.URL.Query().Get(name), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s must be the number of a moment", name)
	}
	return n, nil
}

// state returns the data for the page: the path, the moments, the number of the shown moment, and what was
// left out when it was loaded.
func (s *looker) state() any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return struct {
		Path    string   `json:"path"`
		Moments []file   `json:"moments"`
		Shown   uint64   `json:"shown"`
		Dropped []string `json:"dropped,omitempty"`
	}{s.path, s.moments, s.current.number, s.current.dropped}
}

// compare compares the moments whose numbers are the query parameters before and after.
func (s *looker) compare(r *http.Request) (d *difference, err error) {
	worlds := make([]*vast.World, 2)
	for i, name := range []string{"before", "after"} {
		n, err := numberOf(r, name)
		if err == nil {
			worlds[i], _, err = saved.Load(s.path, n, 0)
		}
		if err != nil {
			if i == 1 {
				err = errors.Join(err, worlds[0].Close())
			}
			return nil, err
		}
	}
	d = compare(worlds[0], worlds[1])
	return d, errors.Join(worlds[0].Close(), worlds[1].Close())
}

func (s *looker) answer(w http.ResponseWriter, r *http.Request, f func() (any, error)) {
	v, err := f()
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		w.WriteHeader(http.StatusUnprocessableEntity)
		v = map[string]string{"error": err.Error()}
	}
	_ = json.NewEncoder(w).Encode(v) // fails only if the browser has closed the connection
}

var contentTypes = map[string]string{".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8",
	".js": "text/javascript; charset=utf-8"}

func (s *looker) file(w http.ResponseWriter, name string) {
	if name == "" {
		name = "look.html"
	}
	b, err := page.ReadFile(path.Join("page", name))
	if err != nil {
		b, err = theme.Files.ReadFile(name)
	}
	kind, known := contentTypes[path.Ext(name)]
	if err != nil || !known {
		http.Error(w, "this page does not exist", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(b)
}

func openBrowser(address string) error {
	switch runtime.GOOS {
	case "windows":
		return exec.Command("rundll32", "url.dll,FileProtocolHandler", address).Start()
	case "darwin":
		return exec.Command("open", address).Start()
	default:
		return exec.Command("xdg-open", address).Start()
	}
}
