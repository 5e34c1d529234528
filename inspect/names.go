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
	maxNames    = 50      // largest number of names in an answer
	namesAtOnce = 2000    // largest number of names read in a look (see Inspector.look)
	namesLooked = 1 << 20 // largest number of names read for a request
	maxName     = 256     // number of bytes after which a shown name is cut; largest size of a prefix
)

// namer returns the source of names. Call namer only in a look.
func (in *Inspector) namer() Namer {
	if in.options.Names != nil {
		return in.options.Names
	}
	if names, ok := probe.NamesOf(in.world); ok {
		return worldNames{in.world, names}
	}
	return noNames{}
}

// nameOf returns the name of an entity, or "" for an entity without a name. Only the first maxName bytes of a
// longer name are returned, and "…". Call nameOf only in a look.
func (in *Inspector) nameOf(e vast.Entity) string {
	if name, ok := in.namer().Name(e); ok {
		return shortName(name)
	}
	return ""
}

func shortName(name string) string {
	if len(name) > maxName {
		return strings.ToValidUTF8(name[:maxName], "") + "…"
	}
	return name
}

// find returns the living entity that an edit names. It refuses ref.Any if this text has the form of an ID
// and is also the name of another entity. Call find only in a look.
func (in *Inspector) find(ref value.Reference) (vast.Entity, error) {
	id, name := ref.ID+ref.Any, ref.Name+ref.Any // at most one field of ref is set
	_, _, isID := parseID(id)
	byID, alive := in.entity(id)
	byName, named := vast.Entity{}, false
	if name != "" {
		byName, named = in.namer().Find(name)
		named = named && in.world.Alive(byName)
	}
	switch {
	case named && isID && byName != byID:
		return vast.Entity{}, fmt.Errorf(`%q is the name of entity %v and looks like an ID: `+
			`write {"id": %[1]q} or {"name": %[1]q}`, name, byName)
	case alive:
		return byID, nil
	case named:
		return byName, nil
	case isID:
		return vast.Entity{}, fmt.Errorf("entity %s is no longer alive", id)
	case ref.ID != "":
		return vast.Entity{}, fmt.Errorf("an entity ID is a slot and a generation, such as 17.3, not %.40q",
			id)
	}
	return vast.Entity{}, fmt.Errorf("no entity has the name %.80q", name)
}

type noNames struct{}

func (noNames) Name(vast.Entity) (string, bool)  { return "", false }
func (noNames) Find(string) (vast.Entity, bool)  { return vast.Entity{}, false }
func (noNames) Suggest(string, int) []Suggestion { return nil }

type worldNames struct {
	world *vast.World
	names *vast.Names
}

func (n worldNames) Name(e vast.Entity) (string, bool)    { return n.names.Of(e) }
func (n worldNames) Find(name string) (vast.Entity, bool) { return n.names.Find(name) }

// Suggest returns the exact match first, then further names in the order of their slots, because vast.Names
// has no order of importance. Suggest reads at most namesAtOnce names. The route /names reads more names, in
// several looks.
func (n worldNames) Suggest(prefix string, most int) []Suggestion {
	walk := nameWalk{names: n, prefix: prefix, most: most}
	walk.step()
	return walk.found
}

// nameWalk finds names that begin with a text, ignoring case. Each look reads some of the names.
type nameWalk struct {
	names  worldNames
	prefix string
	most   int

	next   int // next slot to read
	looked int // number of names read
	found  []Suggestion
}

// step reads some more names and reports whether the walk is done.
func (k *nameWalk) step() (done bool) {
	if k.next == 0 {
		if e, ok := k.names.Find(k.prefix); ok {
			k.found = append(k.found, Suggestion{Name: k.prefix, Entity: e})
		}
	}
	left := namesAtOnce
	slots := k.names.world.Slots()
	for run := range probe.All(k.names.world.Query(k.names.names)).Between(k.next, slots).Runs() {
		for i := range run.Len() {
			if left == 0 || len(k.found) >= k.most {
				return len(k.found) >= k.most || k.looked >= namesLooked
			}
			e := run.Entity(i)
			left--
			k.looked++
			k.next = int(e.Slot()) + 1
			name, ok := k.names.Name(e)
			if ok && name != k.prefix && len(name) >= len(k.prefix) &&
				strings.EqualFold(name[:len(k.prefix)], k.prefix) {
				k.found = append(k.found, Suggestion{Name: name, Entity: e})
			}
		}
	}
	return true
}

type nameAnswer struct {
	Name   string `json:"name"`
	Detail string `json:"detail"` // tells entities with the same name apart; may be empty
	ID     string `json:"id"`
}

func (in *Inspector) suggestNames(r *http.Request) (any, error) {
	prefix := r.URL.Query().Get("prefix")
	if len(prefix) > maxName {
		return nil, badRequest("prefix must have at most %d bytes, not %d", maxName, len(prefix))
	}
	limit, err := wholeNumber(r, "limit", 10, 1, maxNames)
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
		answer.Names = append(answer.Names, nameAnswer{shortName(s.Name), shortName(s.Detail),
			s.Entity.String()})
	}
	return answer, err
}

// wholeNumber returns a parameter of a request as a whole number, or the argument absent if the parameter is
// missing or empty.
func wholeNumber(r *http.Request, name string, absent, least, most int) (int, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return absent, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, badRequest("%s must be a whole number from %d to %d, not %.40q", name, least, most, text)
	}
	return n, nil
}
