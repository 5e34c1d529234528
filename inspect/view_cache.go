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
	freshTime  = 400 * time.Millisecond // time for which a picture serves later requests
	paintTime  = 100 * time.Millisecond // shortest time between the starts of two paintings
	maxWaiting = 64                     // limit of the requests that wait for pictures
)

// viewCache keeps the views, the pictures that are being painted, and the last pictures. Requests with
// the same pictureKey share one painting.
type viewCache struct {
	views   []*servedView
	turn    chan struct{} // holds a token while a picture is painted
	waiting chan struct{} // holds a token for each request for a picture

	mu       sync.Mutex
	pictures map[pictureKey]*cachedPicture
	next     time.Time // earliest start of the next painting
}

type servedView struct {
	View
	describe func() viewAnswer // makes the description at the first call
}

type pictureKey struct {
	view          *servedView
	window        Bounds
	columns, rows int
}

// cachedPicture is a picture. bytes and err are valid after ready is closed.
type cachedPicture struct {
	ready chan struct{}
	bytes []byte
	err   error
}

func newViewCache(views []View) *viewCache {
	g := &viewCache{turn: make(chan struct{}, 1), waiting: make(chan struct{}, maxWaiting),
		pictures: make(map[pictureKey]*cachedPicture)}
	for _, v := range views {
		v = v.withDefaults()
		if g.find(v.ID) != nil {
			panic(fmt.Sprintf("inspect: Options.Views: two views have the ID %q", v.ID))
		}
		e := &servedView{View: v}
		e.describe = sync.OnceValue(e.description)
		g.views = append(g.views, e)
	}
	return g
}

func (g *viewCache) find(id string) *servedView {
	for _, e := range g.views {
		if e.ID == id {
			return e
		}
	}
	return nil
}

// window checks the requested window b. If the view wraps, window moves b so that b.X0 lies within the bounds
// of the view.
func (e *servedView) window(b Bounds) (Bounds, error) {
	if !b.valid() {
		return b, badRequest("a window needs x0 < x1 and y0 < y1")
	}
	width, height := e.Bounds.X1-e.Bounds.X0, e.Bounds.Y1-e.Bounds.Y0
	const most, least = 8, 1e-9
	if b.X1-b.X0 > most*width || b.Y1-b.Y0 > most*height || b.X1-b.X0 < least*width ||
		b.Y1-b.Y0 < least*height {
		return b, badRequest("a window must be %g to %d times as wide and as high as the bounds", least, most)
	}
	if !e.Wraps {
		return b, nil
	}
	if b.X1-b.X0 > width {
		return b, badRequest("a window must not be wider than the view: x1 must be at most x0 + %g", width)
	}
	around := width * math.Floor((b.X0-e.Bounds.X0)/width)
	b.X0, b.X1 = b.X0-around, b.X1-around
	return b, nil
}

// picture returns the bytes of a picture that is at most freshTime old.
func (in *Inspector) picture(ctx context.Context, key pictureKey) ([]byte, error) {
	g := in.views
	select {
	case g.waiting <- struct{}{}:
		defer func() { <-g.waiting }()
	default:
		return nil, tooBusy("%d requests already wait for pictures: try again", maxWaiting)
	}
	for {
		p, mine := g.claim(key)
		if mine {
			p.bytes, p.err = in.paint(ctx, key)
			g.publish(key, p)
			return p.bytes, p.err
		}
		select {
		case <-p.ready:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		// If the painting request was cancelled, the next call of claim lets a waiting request paint.
		if !errors.Is(p.err, context.Canceled) || ctx.Err() != nil {
			return p.bytes, p.err
		}
	}
}

// claim returns the picture for a key. mine reports whether the caller must paint the picture.
func (g *viewCache) claim(key pictureKey) (p *cachedPicture, mine bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if p := g.pictures[key]; p != nil {
		return p, false
	}
	p = &cachedPicture{ready: make(chan struct{})}
	g.pictures[key] = p
	return p, true
}

// publish hands a picture to the requests that wait for it, and keeps the picture for freshTime. It does not
// keep a failed painting.
func (g *viewCache) publish(key pictureKey, p *cachedPicture) {
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

// paint waits until no other picture is being painted, and then paints a picture.
func (in *Inspector) paint(ctx context.Context, key pictureKey) (bytes []byte, err error) {
	g := in.views
	select {
	case g.turn <- struct{}{}:
		defer func() { <-g.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := g.pace(ctx); err != nil {
		return nil, err
	}
	// Paint is code of the program and may panic. The waiting requests then get an error.
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

// pace waits until the next painting may start.
func (g *viewCache) pace(ctx context.Context) error {
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
