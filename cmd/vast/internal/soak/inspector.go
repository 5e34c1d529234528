package soak

import (
	"bufio"
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/inspect"
)

// requests are valid and invalid requests to an inspector, with the status codes of the responses.
var requests = []struct {
	path   string
	status int
}{
	{"", 200}, {"api/v1/world", 200}, {"api/v1/entities?query=place", 200},
	{"api/v1/count?query=place,!ill", 200}, {"api/v1/memory", 200},
	{"api/v1/overview", 200}, {"api/v1/entities/0.1", 200},
	{"api/v1/entities/zzz", 400}, {"api/v1/entities?query=((", 400},
	{"api/v1/nothing", 404}, {"api/v1/memory/picture", 200}, {"metrics", 200},
}

// patience is the timeout of the clients and of the inspector. Responses take far less time.
const patience = time.Minute

// inspectors starts an inspector in each round, sends requests to it, and closes it. About half of the
// inspectors close while they send a stream.
func inspectors(t *tally) churn {
	return churn{name: "inspector", round: func(r *rand.Rand) {
		w := vast.NewWorld(vast.Options{Name: "soak inspected", MaxEntities: 1 << 10})
		at, _ := vast.NewColumn[place](w), vast.NewTag(w, "ill")
		w.Archetype(at).NewN(100, func(vast.Run) {})
		in := mustReturn(inspect.Serve(context.Background(), w, inspect.Options{Patience: patience}))
		stop, stopped := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(stopped)
			w.Idle(func() { <-stop })
		}()
		transport := &http.Transport{}
		client := &http.Client{Transport: transport, Timeout: patience}
		base, _, _ := strings.Cut(in.URL(), "#")
		for range 4 {
			request := requests[r.IntN(len(requests))]
			response := mustReturn(client.Get(base + request.path))
			body := mustReturn(io.ReadAll(response.Body))
			mustSucceed(response.Body.Close())
			must(response.StatusCode == request.status && len(body) > 0,
				"the response to %q is %s, not %d: %.200s", request.path, response.Status, request.status,
				body)
			t.operations.Add(1)
		}
		stream := mustReturn(client.Get(base + "api/v1/stream?topic=overview"))
		mustReturn(bufio.NewReader(stream.Body).ReadString('\n'))
		if r.IntN(2) == 0 { // the client ends the stream
			mustSucceed(stream.Body.Close())
			mustSucceed(in.Close())
		} else { // the inspector ends the stream
			mustSucceed(in.Close())
			mustSucceed(stream.Body.Close())
		}
		transport.CloseIdleConnections()
		close(stop)
		<-stopped
		mustSucceed(w.Close())
	}}
}
