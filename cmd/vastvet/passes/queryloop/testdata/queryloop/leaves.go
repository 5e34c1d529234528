package queryloop

import (
	"errors"
	"log"

	"github.com/vastgo/vast"
)

// rightByResult has loops that go on or end by the result of the change.
func rightByResult(w *vast.World, q vast.Query, done chan bool) int {
	for e := range q.All() {
		ok := w.Delete(e)
		if ok {
			break
		}
	}
	for e := range q.All() {
		if ok := w.Delete(e); ok {
			return 1
		}
	}
	for e := range q.All() {
		if w.Delete(e) == true {
			break
		}
	}
	for e := range q.All() {
		ok := w.Delete(e)
		if hp := w.Len(); ok && hp > 3 {
			break
		}
	}
	for e := range q.All() {
		switch w.Delete(e) {
		case true:
			return 1
		}
	}
	for e := range q.All() {
		switch any(w.Delete(e)).(type) {
		case bool:
			return 1
		}
	}
	for e := range q.All() {
		select {
		case done <- w.Delete(e):
			return 1
		default:
		}
	}
	return 0
}

func rightByError(w *vast.World) error {
	names := w.Names()
	for e := range w.Query().Without(names).All() {
		_, err := names.Set(e, "x")
		if err == nil {
			return nil
		}
	}
	return nil
}

func rightByLiteral(w *vast.World, q vast.Query, check func(bool) error) error {
	for e := range q.All() {
		if func() bool { return w.Delete(e) }() {
			break
		}
	}
	for e := range q.All() {
		if !func() bool { w.Delete(e); return false }() {
			break
		}
	}
	for e := range q.All() {
		err := func() error { w.Delete(e); return errors.New("gone") }()
		if err != nil {
			return err
		}
	}
	for e := range q.All() {
		if err := check(w.Delete(e)); err != nil {
			return err
		}
	}
	for e := range q.All() {
		ok := w.Delete(e)
		if err := check(ok); err != nil {
			return err
		}
	}
	return nil
}

func wrongByResult(w *vast.World, q vast.Query, fail func() error) error {
	for e := range q.All() {
		ok := w.Delete(e) // want `Delete changes the structure`
		if !ok {
			break
		}
	}
	for e := range q.All() {
		if !w.Delete(e) { // want `Delete changes the structure`
			break
		}
	}
	for e := range q.All() {
		if x := w.Delete(e); x { // want `Delete changes the structure`
			continue
		}
	}
	for e := range q.All() {
		w.Delete(e) // want `Delete changes the structure`
		if err := fail(); err != nil {
			return err
		}
	}
	names := w.Names()
	for e := range w.Query().Without(names).All() {
		if _, err := names.Set(e, "x"); err != nil { // want `Set changes the structure`
			return err
		}
	}
	return nil
}

// rightByFlag has loops that end by a flag that is set with the change.
func rightByFlag(w *vast.World, q vast.Query, p vast.Column[hp], list []vast.Entity,
	fail func() error) (err error) {
	for e := range q.All() {
		found := false
		for _, x := range list {
			if x == e {
				w.Delete(e)
				found = true
				break
			}
		}
		if found {
			break
		}
	}
	var done bool
	for e := range q.All() {
		if p.Get(e).Points == 0 {
			w.Delete(e)
			done = true
		}
		if p.Get(e).Points > 0 {
			continue
		}
		if done {
			break
		}
	}
	n := 0
	for e := range q.All() {
		w.Delete(e)
		n++
		if n == 1 {
			break
		}
	}
	for e := range q.All() {
		if err = fail(); err != nil {
			w.Delete(e)
		}
		if err != nil {
			return err
		}
	}
	for e := range q.All() {
		func() {
			if p.Get(e).Points == 0 {
				w.Delete(e)
				err = errors.New("gone")
			}
		}()
		if err != nil {
			return err
		}
	}
	return nil
}

func wrongAllTheSame(w *vast.World, q vast.Query, p vast.Column[hp], done bool) {
	for e := range q.All() {
		if p.Get(e).Points == 0 {
			w.Delete(e) // want `Delete changes the structure`
			continue
		}
		if done {
			break
		}
	}
	for e := range q.All() {
		if done {
			break
		}
		switch p.Get(e).Points {
		case 0:
			w.Delete(e) // want `Delete changes the structure`
		case 1:
			return
		}
	}
}

func die(s string) { panic(s) }

func dieLater(s string) { die(s) }

func rightByPanic(w *vast.World, q vast.Query) {
	for e := range q.All() {
		w.Delete(e)
		dieLater("gone")
	}
	for e := range q.All() {
		w.Delete(e)
		log.Panicln("gone")
	}
	for e := range q.All() {
		func() {
			w.Delete(e)
			die("gone")
		}()
	}
}

func wrongAtOnce(w *vast.World, q vast.Query) {
	for e := range q.All() {
		func() {
			w.Delete(e) // want `Delete changes the structure`
		}()
	}
	for e := range q.All() {
		_ = func() bool { return w.Delete(e) }() // want `Delete changes the structure`
	}
}
