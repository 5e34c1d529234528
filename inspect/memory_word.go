package inspect

import (
	"cmp"
	"fmt"
	"math"
	"net/http"

	"github.com/vastgo/vast/probe"
)

// maxSlot is the largest slot number that a request may give.
const maxSlot = min(math.MaxUint32, math.MaxInt)

// wordAnswer describes a word of 64 slots.
type wordAnswer struct {
	Word  int `json:"word"`
	First int `json:"first"` // first slot of the word
	// Bits of the slots that hold an entity, as 16 hexadecimal digits. The last digit has the bits of the
	// first four slots.
	Live        string     `json:"live"`
	Slots       []slotInfo `json:"slots"`
	Columns     []presence `json:"columns"`     // columns in which at least one of the slots has a component
	Archetype   []string   `json:"archetype"`   // components of the archetype that owns the word
	Owned       bool       `json:"owned"`       // whether an archetype owns the word
	ExtentFirst int        `json:"extentFirst"` // first slot of the extent that holds the word
	ExtentSlots int        `json:"extentSlots"`
}

type slotInfo struct {
	Slot  int    `json:"slot"`
	Uses  int    `json:"uses"` // generation of the slot's last entity: see probe.Uses
	Alive bool   `json:"alive"`
	ID    string `json:"id"` // ID of the entity in the slot; empty if no entity lives there
	Name  string `json:"name"`
}

// presence holds the presence bits of a column for a word.
type presence struct {
	Column  int    `json:"column"`
	Name    string `json:"name"`
	Storage string `json:"storage"`
	Private bool   `json:"private"` // whether the column holds data of targets: see probe.ColumnInfo
	Slots   string `json:"slots"`   // presence bits in the format of wordAnswer.Live
	Size    int    `json:"size"`    // size of an element in bytes
}

func (in *Inspector) describeWord(r *http.Request) (any, error) {
	slot, err := wholeNumber(r, "slot", -1, 0, maxSlot)
	if err != nil || slot < 0 {
		return nil, cmp.Or(err, badRequest("slot is missing: give a slot of the word"))
	}
	a := wordAnswer{Word: slot / 64, First: slot &^ 63, Slots: []slotInfo{}, Columns: []presence{},
		Archetype: []string{}}
	beyond := false
	next := 0 // index of the next column to read
	err = in.look(r.Context(), func() bool {
		w := in.world
		if beyond = slot >= w.Options().MaxEntities; beyond {
			return true
		}
		if len(a.Slots) == 0 {
			a.findSlots(in)
		}
		columns := in.model.look()
		for end := next + 256; next < len(columns); next++ {
			if next == end {
				return false
			}
			c := &columns[next]
			if bits := probe.Presence(w, c.col, a.Word); bits != 0 {
				a.Columns = append(a.Columns, presence{c.ID, c.Name, c.Storage, c.info.Private,
					hexadecimal(bits), c.Size})
			}
		}
		return true
	})
	if beyond {
		return nil, notFound("the world has fewer than %d slots", slot+1)
	}
	return a, err
}

// findSlots reads the slots, and the extent that holds them. Call findSlots only inside in.look.
func (a *wordAnswer) findSlots(in *Inspector) {
	w := in.world
	a.Live = hexadecimal(probe.Presence(w, nil, a.Word))
	for slot := a.First; slot < a.First+64; slot++ {
		info := slotInfo{Slot: slot, Uses: int(probe.Uses(w, slot))}
		if e, alive := probe.EntityAt(w, slot); alive {
			info.Alive, info.ID, info.Name = true, e.String(), in.nameOf(e)
		}
		a.Slots = append(a.Slots, info)
	}
	x, names, owned := ownerOf(w, a.First)
	a.Owned, a.ExtentFirst, a.ExtentSlots, a.Archetype = owned, x.First, x.Slots, names
}

func hexadecimal(bits uint64) string { return fmt.Sprintf("%016x", bits) }
