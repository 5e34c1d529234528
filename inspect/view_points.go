package inspect

import (
	"context"
	"database/sql"
	"encoding/binary"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vastgo/vast"
)

// maxPoints is the largest number of entities in an answer of servePoints.
const maxPoints = 100_000

// pointList is the entities of a statement that have a position in a view.
type pointList struct {
	more     bool      // whether the statement has more than maxPoints entities
	places   []float32 // x and y of each entity
	entities []vast.Entity
}

// servePoints sends the positions of the entities in the column entity of a statement, in the format of
// pointList.bytes.
func (in *Inspector) servePoints(w http.ResponseWriter, r *http.Request) error {
	e, err := in.view(r)
	if err != nil {
		return err
	}
	if e.Where == nil {
		return badRequest("the view %s gives no positions of entities: use a view with View.Where", e.ID)
	}
	statement := r.URL.Query().Get("q")
	if _, err := in.mayRun(r, statement); err != nil {
		return err
	}
	ids, more, err := in.entitiesOf(r.Context(), statement)
	if err != nil {
		return err
	}
	list := pointList{more: more, places: make([]float32, 0, 2*len(ids)),
		entities: make([]vast.Entity, 0, len(ids))}
	err = in.look(r.Context(), func() (done bool) {
		for begun := time.Now(); len(ids) > 0; ids = ids[1:] {
			if len(ids)%32 == 0 && time.Since(begun) > lookTime {
				return false
			}
			if !in.world.Alive(ids[0]) {
				continue
			}
			if x, y, ok := e.Where(ids[0]); ok && drawable(x) && drawable(y) {
				list.places = append(list.places, float32(x), float32(y))
				list.entities = append(list.entities, ids[0])
			}
		}
		return true
	})
	if err != nil {
		return err
	}
	body := list.bytes()
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	extend(w)
	_, _ = w.Write(body) // a client that is gone is not an error
	return nil
}

// entitiesOf returns up to maxPoints entities of a statement. more reports whether the statement has more
// entities.
func (in *Inspector) entitiesOf(ctx context.Context, statement string) (ids []vast.Entity, more bool,
	err error) {
	s, err := in.begin(ctx, statement)
	if err != nil {
		return nil, false, err
	}
	defer s.end()
	at := slices.IndexFunc(s.columns, func(c *sql.ColumnType) bool {
		return strings.EqualFold(c.Name(), "entity")
	})
	if at < 0 {
		return nil, false, badRequest("the statement has no column entity: select the entities to show, " +
			"for example SELECT entity or SELECT target AS entity")
	}
	var id any
	into := make([]any, len(s.columns))
	for i := range into {
		into[i] = ignored{}
	}
	into[at] = &id
	for ; s.more; s.next() {
		if err := s.rows.Scan(into...); err != nil {
			return nil, false, err
		}
		switch v := id.(type) {
		case nil:
			continue
		case int64:
			if len(ids) == maxPoints {
				return ids, true, nil
			}
			ids = append(ids, vast.EntityOf(uint64(v)))
		default:
			return nil, false, badRequest("the column entity holds %v: it must hold entities, as the "+
				"columns entity, source and target of the world's tables do", id)
		}
	}
	if err := s.err(); err != nil {
		return nil, false, err
	}
	return ids, false, nil
}

// ignored is the destination of a value that the caller does not need.
type ignored struct{}

// Scan implements sql.Scanner.
func (ignored) Scan(any) error { return nil }

// bytes encodes the list, in little-endian order:
//   - the bytes vpts
//   - uint32: the number of entities
//   - uint32: 1 if the statement has more entities, otherwise 0
//   - uint32: 0
//   - float32: x and y of each entity
//   - uint32: slot and generation of each entity
func (l *pointList) bytes() []byte {
	b := make([]byte, 0, 16+16*len(l.entities))
	b = append(b, "vpts"...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(l.entities)))
	more := uint32(0)
	if l.more {
		more = 1
	}
	b = binary.LittleEndian.AppendUint32(b, more)
	b = binary.LittleEndian.AppendUint32(b, 0)
	for _, v := range l.places {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	for _, e := range l.entities {
		b = binary.LittleEndian.AppendUint32(b, e.Slot())
		b = binary.LittleEndian.AppendUint32(b, e.Generation())
	}
	return b
}
