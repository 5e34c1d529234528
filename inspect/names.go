package inspect

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/inspect/internal/value"
	"github.com/vastgo/vast/probe"
)

const (
	namesMost   = 50      // that one request may ask for
	namesAtOnce = 2000    // that are looked at while the world stands still
	namesLooked = 1 << 20 // that are looked at for one request
	nameMost    = 256     // bytes of a name that are shown
)

// namer returns who says what entities are called. It is called while the world lets the inspector look.
func (in *Inspector) namer() Namer {
	if in.options.Names != nil {
		return in.options.Names
	}
	if names, ok := probe.NamesOf(in.world); ok {
		return worldNames{in.world, names}
	}
	return nobody{}
}

// nameOf returns what an entity is called, cut short; empty where it has no name. It is called while the world lets the
// inspector look.
func (in *Inspector) nameOf(e vast.Entity) string {
	if name, ok := in.namer().Name(e); ok {
		return shortName(name)
	}
	return ""
}

func shortName(name string) string {
	if len(name) > nameMost {
		return strings.ToValidUTF8(name[:nameMost], "") + "…"
	}
	return name
}

// find returns the living entity that an edit means. A text that has the form of an ID and is the name of
// another entity is refused, because it is not known which is meant. It is called while the world lets the
// inspector look.
func (in *Inspector) find(to value.Reference) (vast.Entity, error) {
	id, name := to.ID+to.Any, to.Name+to.Any // of the three one is set
	_, _, isID := parseID(id)
	byID, alive := in.entity(id)
	byName, named := vast.Entity{}, false
	if name != "" {
		byName, named = in.namer().Find(name)
		named = named && in.world.Alive(byName)
	}
	switch {
	case named && isID && byName != byID:
		return vast.Entity{}, fmt.Errorf(`%q is the name of entity %v, and has the form of an ID: `+
			`write {"id": %[1]q} or {"name": %[1]q}`, name, byName)
	case alive:
		return byID, nil
	case named:
		return byName, nil
	case isID:
		return vast.Entity{}, fmt.Errorf("entity %s is no longer alive", id)
	case to.ID != "":
		return vast.Entity{}, fmt.Errorf("an ID is a slot and a generation, such as 17.3, not %.40q", id)
	}
	return vast.Entity{}, fmt.Errorf("no entity is called %.80q", name)
}

// nobody is the Namer of a world without names.
type nobody struct{}

func (nobody) Name(vast.Entity) (string, bool)  { return "", false }
func (nobody) Find(string) (vast.Entity, bool)  { return vast.Entity{}, false }
func (nobody) Suggest(string, int) []Suggestion { return nil }

// worldNames are a world's vast.Names.
type worldNames struct {
	world *vast.World
	names *vast.Names
}

func (n worldNames) Name(e vast.Entity) (string, bool)    { return n.names.Of(e) }
func (n worldNames) Find(name string) (vast.Entity, bool) { return n.names.Find(name) }

// Suggest knows of no importance: what is called exactly so comes first, then the others by slot. It looks at the first
// names only; the route names looks at more, a part at a time.
func (n worldNames) Suggest(prefix string, most int) []Suggestion {
	walk := nameWalk{names: n, prefix: prefix, most: most}
	walk.step()
	return walk.found
}

// nameWalk looks for names that begin with a text, in any case of letters, a part at a time.
type nameWalk struct {
	names  worldNames
	prefix string
	most   int

	next   int // slot
	looked int
	found  []Suggestion
}

// step looks at some more names and reports whether that was all.
func (k *nameWalk) step() (done bool) {
	if k.next == 0 {
		if e, ok := k.names.Find(k.prefix); ok {
			k.found = append(k.found, Suggestion{Name: k.prefix, Entity: e})
		}
	}
	left := namesAtOnce
	slots := k.names.world.Slots()
	for run := range k.names.world.Query(k.names.names).Between(k.next, slots).Runs() {
		for i := range run.Len() {
			if left == 0 || len(k.found) >= k.most {
				return len(k.found) >= k.most || k.looked >= namesLooked
			}
			e := run.Entity(i)
			left--
			k.looked++
			k.next = int(e.Slot()) + 1
			name, ok := k.names.Name(e)
			if ok && name != k.prefix && len(name) >= len(k.prefix) && strings.EqualFold(name[:len(k.prefix)], k.prefix) {
				k.found = append(k.found, Suggestion{Name: name, Entity: e})
			}
		}
	}
	return true
}

// nameAnswer is a name that may be meant.
type nameAnswer struct {
	Name   string `json:"name"`
	Detail string `json:"detail"` // what tells it from others; may be empty
	ID     string `json:"id"`
}

// suggestNames answers with names that begin with a text.
func (in *Inspector) suggestNames(r *http.Request) (any, error) {
	prefix := r.URL.Query().Get("prefix")
	if len(prefix) > nameMost {
		return nil, badRequest("prefix has at most %d bytes, not %d", nameMost, len(prefix))
	}
	limit, err := wholeNumber(r, "limit", 10, 1, namesMost)
	if err != nil {
		return nil, err
	}
	var found []Suggestion
	var walk *nameWalk
	err = in.look(r.Context(), func() bool {
		names, own := in.namer().(worldNames)
		if !own {
			found = in.namer().Suggest(prefix, limit)
			return true
		}
		if walk == nil {
			walk = &nameWalk{names: names, prefix: prefix, most: limit}
		}
		done := walk.step()
		found = walk.found
		return done
	})
	answer := struct {
		Names []nameAnswer `json:"names"`
	}{make([]nameAnswer, 0, len(found))}
	for _, s := range found[:min(len(found), limit)] {
		answer.Names = append(answer.Names, nameAnswer{shortName(s.Name), shortName(s.Detail), s.Entity.String()})
	}
	return answer, err
}

// wholeNumber returns a whole number from a request's query, or what stands for none.
func wholeNumber(r *http.Request, name string, otherwise, least, most int) (int, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, badRequest("%s is a whole number from %d to %d, not %.40q", name, least, most, text)
	}
	return n, nil
}
