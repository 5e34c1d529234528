package inspect

import (
	"context"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"
)

// prefix begins the paths of the JSON interface.
const prefix = "/api/v1/"

// requestTime bounds the time to answer a request that is not a stream.
const requestTime = 30 * time.Second

// route answers one kind of request below [prefix].
type route struct {
	method  string
	pattern string // pattern for http.ServeMux, such as entities/{id}
	write   bool   // whether the request changes the world or the program
	// A route has either answer or raw. answer returns the value to send as JSON. raw writes the answer
	// itself; raw may return an error only if it has written nothing.
	answer func(r *http.Request) (any, error)
	raw    func(w http.ResponseWriter, r *http.Request) error
	stream bool // whether raw may take longer than requestTime
}

func (in *Inspector) routes() []route {
	own := slices.Concat(
		in.worldRoutes(),
		in.viewRoutes(),
		in.streamRoutes(),
		in.systemsRoutes(),
		in.controlRoutes(),
		in.documentRoutes(),
		in.memoryRoutes(),
		in.entityRoutes(),
		in.searchRoutes(),
		in.overviewRoutes(),
		in.sqlRoutes(),
	)
	return append(own, in.handlerRoutes(own)...)
}

// handler returns the handler of all requests. The routes answer the requests below [prefix].
func (in *Inspector) handler(routes []route) http.Handler {
	mux := http.NewServeMux()
	methods := make(map[string][]string)
	for _, r := range routes {
		mux.Handle(r.method+" "+prefix+r.pattern, in.handle(r))
		methods[r.pattern] = append(methods[r.pattern], r.method)
	}
	mux.HandleFunc(prefix, func(w http.ResponseWriter, r *http.Request) {
		fail(w, notFound("there is no %s: %sopenapi.json lists all paths", r.URL.Path, prefix))
	})
	for pattern, allowed := range methods {
		mux.HandleFunc(prefix+pattern, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Allow", strings.Join(allowed, ", "))
			fail(w, &problem{Status: http.StatusMethodNotAllowed, Code: "method",
				Message: fmt.Sprintf("%s does not accept %s: use %s", r.URL.Path, r.Method,
					strings.Join(allowed, " or "))})
		})
	}
	in.addMonitoring(mux)
	mux.Handle("/", pageHandler())
	return http.HandlerFunc(func(to http.ResponseWriter, r *http.Request) {
		w := &answering{ResponseWriter: to}
		setHeaders(w.Header())
		extend(w)
		defer recovered(w)
		if r.ContentLength != 0 {
			// Close the connection after the answer. Otherwise the server would wait for the unread part of
			// the body, which the client could send slowly.
			w.Header().Set("Connection", "close")
			defer func() { _ = http.NewResponseController(w).SetReadDeadline(time.Now()) }()
		}
		if err := in.guard.checkHost(r); err != nil {
			fail(w, err)
			return
		}
		if r.ContentLength > maxBodyBytes {
			fail(w, &http.MaxBytesError{Limit: maxBodyBytes})
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBodyBytes)
		mux.ServeHTTP(w, r)
	})
}

// answering is a response writer that records whether the answer has begun.
type answering struct {
	http.ResponseWriter
	begun bool
}

// Unwrap returns the wrapped writer, for http.ResponseController.
func (w *answering) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *answering) WriteHeader(status int) {
	w.begun = true
	w.ResponseWriter.WriteHeader(status)
}

func (w *answering) Write(b []byte) (int, error) {
	w.begun = true
	return w.ResponseWriter.Write(b)
}

func (in *Inspector) handle(rt route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := in.mayAsk(rt, r); err != nil {
			fail(w, err)
			return
		}
		if rt.stream {
			// The deadline for reading the request must not end the stream.
			_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
		} else {
			ctx, cancel := context.WithTimeout(r.Context(), requestTime)
			defer cancel()
			r = r.WithContext(ctx)
		}
		if rt.raw != nil {
			if err := rt.raw(w, r); err != nil {
				fail(w, err)
			}
			return
		}
		v, err := rt.answer(r)
		extend(w)
		if err != nil {
			fail(w, err)
			return
		}
		answer(w, http.StatusOK, v)
	})
}

// mayAsk returns an error for a forbidden request, such as a writing request to a read-only inspector.
func (in *Inspector) mayAsk(rt route, r *http.Request) error {
	if err := in.guard.checkOrigin(r); err != nil {
		return err
	}
	if rt.write && !in.options.ReadWrite {
		return &problem{Status: http.StatusForbidden, Code: "readOnly",
			Message: "the inspector is read-only: to allow writing, set inspect.Options.ReadWrite (vast " +
				"earth: -inspect-write)"}
	}
	if rt.write || in.guard.tokenForReading {
		if err := in.guard.checkToken(r); err != nil {
			return err
		}
	}
	if rt.write && r.ContentLength != 0 {
		return checkJSON(r)
	}
	return nil
}

// checkJSON refuses a body whose declared type is not JSON. An HTML form of another site cannot send the type
// application/json.
func checkJSON(r *http.Request) error {
	t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err == nil && t == "application/json" {
		return nil
	}
	return &problem{Status: http.StatusUnsupportedMediaType, Code: "type",
		Message: "the header Content-Type must be application/json"}
}

// recovered sends an error if a handler has panicked. The inspected program continues.
func recovered(w *answering) {
	switch v := recover(); {
	case v == nil:
	case v == http.ErrAbortHandler || w.begun:
		panic(http.ErrAbortHandler) // the client sees that the answer is incomplete
	default:
		fail(w, fmt.Errorf("the inspector failed: %v", v))
	}
}
