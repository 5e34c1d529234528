package inspect

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"
)

const (
	// freshTime is how long a picture is shown to others who ask for the same.
	freshTime = 400 * time.Millisecond
	// paintTime is the least time between the beginnings of two paintings.
	paintTime = 100 * time.Millisecond
	// maxWaiting is how many requests may wait for pictures.
	maxWaiting = 64
)

// gallery keeps the views and the pictures that are being painted or were painted a moment ago, so that many who look at
// the same window cost one painting.
type gallery struct {
	views   []*exhibit
	turn    chan struct{} // holds a token while a picture is painted
	waiting chan struct{} // holds a token for each request for a picture

	mu       sync.Mutex
	pictures map[pictureKey]*painting
	next     time.Time // when the next painting may begin
}

// exhibit is a view and what is asked of it once.
type exhibit struct {
	View
	describe func() viewAnswer
}

// pictureKey says what is on a picture.
type pictureKey struct {
	view          *exhibit
	window        Bounds
	columns, rows int
}

// painting is a picture, once ready is closed.
type painting struct {
	ready chan struct{}
	bytes []byte
	err   error
}

func newGallery(views []View) *gallery {
	g := &gallery{turn: make(chan struct{}, 1), waiting: make(chan struct{}, maxWaiting),
		pictures: make(map[pictureKey]*painting)}
	for _, v := range views {
		v = v.withDefaults()
		if g.find(v.ID) != nil {
			panic(fmt.Sprintf("inspect: Options.Views: two views have the ID %q", v.ID))
		}
		e := &exhibit{View: v}
		e.describe = sync.OnceValue(e.description)
		g.views = append(g.views, e)
	}
	return g
}

func (g *gallery) find(id string) *exhibit {
	for _, e := range g.views {
		if e.ID == id {
			return e
		}
	}
	return nil
}

// window checks what a client asks for, and brings a window of a view that wraps to where it begins within the bounds.
func (e *exhibit) window(b Bounds) (Bounds, error) {
	if !b.valid() {
		return b, badRequest("a window needs x0 < x1 and y0 < y1")
	}
	width, height := e.Bounds.X1-e.Bounds.X0, e.Bounds.Y1-e.Bounds.Y0
	const most, least = 8, 1e-9
	if b.X1-b.X0 > most*width || b.Y1-b.Y0 > most*height || b.X1-b.X0 < least*width || b.Y1-b.Y0 < least*height {
		return b, badRequest("a window is between %g and %d times as large as the bounds", least, most)
	}
	if !e.Wraps {
		return b, nil
	}
	if b.X1-b.X0 > width {
		return b, badRequest("a window goes around once at most: its x1 is at most x0 + %g", width)
	}
	around := width * math.Floor((b.X0-e.Bounds.X0)/width)
	b.X0, b.X1 = b.X0-around, b.X1-around
	return b, nil
}

// picture returns the bytes of a picture that is at most freshTime old.
func (in *Inspector) picture(ctx context.Context, key pictureKey) ([]byte, error) {
	g := in.gallery
	select {
	case g.waiting <- struct{}{}:
		defer func() { <-g.waiting }()
	default:
		return nil, tooBusy("%d requests wait for pictures already", maxWaiting)
	}
	for {
		p, mine := g.claim(key)
		if mine {
			p.bytes, p.err = in.paint(ctx, key)
			g.hang(key, p)
			return p.bytes, p.err
		}
		select {
		case <-p.ready:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		// Who began to paint may have left: then it is somebody else's turn.
		if !errors.Is(p.err, context.Canceled) || ctx.Err() != nil {
			return p.bytes, p.err
		}
	}
}

// claim returns the painting of a picture, and whether the caller is to make it.
func (g *gallery) claim(key pictureKey) (p *painting, mine bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if p := g.pictures[key]; p != nil {
		return p, false
	}
	p = &painting{ready: make(chan struct{})}
	g.pictures[key] = p
	return p, true
}

// hang shows a painting to those who wait for it, and to others for a while. One that failed is taken away at once.
func (g *gallery) hang(key pictureKey, p *painting) {
	defer close(p.ready)
	remove := func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.pictures, key)
	}
	if p.err != nil {
		remove()
		return
	}
	time.AfterFunc(freshTime, remove)
}

// paint makes a picture, when it is its turn.
func (in *Inspector) paint(ctx context.Context, key pictureKey) (bytes []byte, err error) {
	g := in.gallery
	select {
	case g.turn <- struct{}{}:
		defer func() { <-g.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := g.pace(ctx); err != nil {
		return nil, err
	}
	// The program's own code may panic: those who wait are to know.
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("the view %s failed to paint: %v", key.view.ID, v)
		}
	}()
	p := newPicture(&key.view.View, key.window, key.columns, key.rows)
	if err := in.look(ctx, func() bool { return key.view.Paint(p) }); err != nil {
		return nil, err
	}
	return p.bytes(), nil
}

// pace waits until another painting may begin.
func (g *gallery) pace(ctx context.Context) error {
	g.mu.Lock()
	wait := time.Until(g.next)
	g.next = time.Now().Add(max(wait, 0) + paintTime)
	g.mu.Unlock()
	if wait <= 0 {
		return nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
