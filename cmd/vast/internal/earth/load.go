package earth

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	simulation "github.com/vastgo/vast/cmd/vast/earth"
	"github.com/vastgo/vast/cmd/vast/earth/places"
	"github.com/vastgo/vast/cmd/vast/internal/cli"
	"github.com/vastgo/vast/cmd/vast/internal/tty"
	"github.com/vastgo/vast/vm"
)

// stage is the progress of loading. A total of 0 means that the total is unknown.
type stage struct {
	name        string
	done, total int
}

func (s stage) String() string {
	if s.total <= 0 {
		return s.name
	}
	return fmt.Sprintf("%s %d %%", s.name, 100*s.done/s.total)
}

// loaded is a world, its checkpoints, its places, and the index of these places for an inspector.
type loaded struct {
	earth *simulation.Earth
	saves *saves // nil without -data
	index *index // nil without an inspector
	list  *places.List
}

// load makes the world. It shows one line of progress if stderr is a terminal. If load cannot make the world,
// or a signal arrives first, it returns a zero loaded and the exit status.
func load(o options, signals <-chan os.Signal, stderr io.Writer) (loaded, int) {
	type result struct {
		loaded
		err error
	}
	// results is buffered, so that the goroutine can end after a signal has ended load.
	results, stages := make(chan result, 1), make(chan stage, 1)
	go func() {
		l, err := build(o, func(name string, done, total int) {
			select {
			case stages <- stage{name, done, total}:
			default: // load need not show each stage
			}
		})
		results <- result{l, err}
	}()

	show := tty.Is(stderr)
	var shown time.Time
	clear := func() {
		if !shown.IsZero() {
			fmt.Fprint(stderr, "\r\x1b[K")
		}
	}
	for {
		select {
		case s := <-stages:
			// At most 20 lines a second, because some terminals are slower than the stages.
			if show && time.Since(shown) > 50*time.Millisecond {
				clear()
				fmt.Fprintf(stderr, "%s", s)
				shown = time.Now()
			}
		case r := <-results:
			clear()
			_, noMemory := errors.AsType[*vm.Error](r.err)
			_, noFolder := errors.AsType[*folderError](r.err)
			if noMemory || noFolder {
				return loaded{}, cli.Fail(stderr, "earth", r.err, cli.Failure)
			}
			if r.err != nil {
				return loaded{}, cli.Fail(stderr, "earth", r.err, cli.Misuse)
			}
			return r.loaded, cli.Success
		case s := <-signals:
			clear()
			return loaded{}, cli.Status(s)
		}
	}
}

func build(o options, progress func(name string, done, total int)) (l loaded, err error) {
	const reading = "reading places"
	option := places.Options{Progress: func(done, total int) { progress(reading, done, total) }}
	var list *places.List
	if o.places == "" {
		list, err = places.Embedded(option)
	} else {
		list, err = places.Open(o.places, option)
	}
	if err != nil {
		return l, err
	}
	l.list = list
	c := simulation.Config{
		Travellers: o.travellers, Places: list, Seed: o.seed, Workers: o.workers, Limit: o.limit(),
		Progress: progress,
	}
	if o.data != "" {
		l.saves = newSaves()
		c.Data, c.DropTail, c.Notify = o.data, o.dropTail, l.saves.add
		c.Apply = applyEdit
		if c.Seed, c.Travellers, err = o.keptIn(o.data); err != nil {
			return l, err
		}
	}
	var indexing sync.WaitGroup
	if o.inspect != noInspector {
		indexing.Go(func() { l.index = newIndex(list) })
	}
	defer indexing.Wait()
	if l.earth, err = simulation.New(c); err != nil {
		if o.data != "" && !errors.Is(err, simulation.ErrOther) {
			err = &folderError{withRemedy(o.data, err)}
		}
		return l, err
	}
	if l.saves != nil {
		l.saves.store, l.saves.seed, l.saves.resumed = l.earth.Store(), c.Seed, l.earth.Resumed()
	}
	return l, nil
}
