package peers_test

import (
	"bytes"
	"context"
	"fmt"
	"reflect"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/observe"
	"github.com/vastgo/vast/prefab"
	"github.com/vastgo/vast/probe"
	"github.com/vastgo/vast/sched"
	"github.com/vastgo/vast/shared"
	"github.com/vastgo/vast/store"
)

// Positions in the world are computed from positions relative to the parent: a loop visits parents before
// their children.
//
// Original: Flecs, examples/cpp/queries/hierarchy/src/main.cpp, 39 lines. Here: 33.
func Example_transforms() {
	type Local struct{ X, Y float64 }
	type Global struct{ X, Y float64 }
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	local, global, names := vast.NewColumn[Local](w), vast.NewColumn[Global](w), w.Names()
	w.Require(local, global)
	childOf := vast.NewRelation(w, "ChildOf", vast.RelationOptions{})
	add := func(name string, parent vast.Entity, at Local) vast.Entity {
		e := w.Archetype(local).New()
		local.Set(e, at)
		childOf.Set(e, parent)
		_, _ = names.Set(e, name)
		return e
	}
	sun := add("Sun", vast.Entity{}, Local{1, 1})
	add("Mercury", sun, Local{1, 1})
	add("Venus", sun, Local{2, 2})
	earth := add("Earth", sun, Local{3, 3})
	add("Moon", earth, Local{0.1, 0.1})

	for s := range w.Query(local).Without(childOf).Slots() {
		*global.At(s) = Global(*local.At(s))
	}
	for run := range childOf.InDepthOrder(w.Query(local)) {
		for i, parent := range childOf.Targets(run) {
			from, at := global.At(parent), local.Slice(run)[i]
			global.Slice(run)[i] = Global{from.X + at.X, from.Y + at.Y}
		}
	}
	for e := range w.Query(global).All() {
		fmt.Println(names.Text(e), *global.Get(e))
	}
	// Output:
	// Sun {1 1}
	// Mercury {2 2}
	// Venus {3 3}
	// Earth {4 4}
	// Moon {4.1 4.1}
}

// Variants of a template change and add components. An instance of a variant has the components of the
// template and of the variant, and can have values of its own.
//
// Original: Flecs, examples/cpp/prefabs/variant/src/main.cpp, 45 lines. Here: 32.
func Example_variants() {
	type Attack struct{ Value float64 }
	type Defense struct{ Value float64 }
	type Capacity struct{ Value float64 }
	type Speed struct{ Value float64 }
	type Position struct{ X, Y float64 }
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	p := prefab.New(w)
	attack, defense := vast.NewColumn[Attack](w), vast.NewColumn[Defense](w)
	capacity, speed := vast.NewColumn[Capacity](w), vast.NewColumn[Speed](w)
	position := vast.NewColumn[Position](w)

	base := w.Archetype(speed, defense).New()
	speed.Set(base, Speed{50})
	defense.Set(base, Defense{25})
	ship := p.Mark(base)

	variant := ship.Instantiate()
	capacity.Add(variant, Capacity{100})
	defense.Set(variant, Defense{50})
	mammoth := p.Mark(variant).Override("Capacity.Value", 500)

	frigate := ship.Instantiate()
	attack.Add(frigate, Attack{100})
	defense.Set(frigate, Defense{75})
	speed.Set(frigate, Speed{125})
	p.Mark(frigate)

	mine := mammoth.Instantiate()
	position.Add(mine, Position{10, 20})
	defense.Set(mine, Defense{100})
	for s := range w.Query(position, speed, defense, capacity).Slots() {
		fmt.Println(*position.At(s), *speed.At(s), *defense.At(s), *capacity.At(s))
	}
	// Output:
	// {10 20} {50} {100} {500}
}

// An observer waits until an entity and its parent have a position. The observer of the original also hears
// of later writes to both positions.
//
// Original: Flecs, examples/cpp/observers/propagate/src/main.cpp, 20 lines. Here: 19.
func Example_observeParent() {
	type Position struct{ X, Y float64 }
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	position, childOf := vast.NewColumn[Position](w), vast.NewRelation(w, "ChildOf", vast.RelationOptions{})
	o := observe.New(w)
	defer o.Close()
	both := w.Query(position).Where(childOf, w.Query(position))
	o.Add(observe.Observer{Query: both, Entered: func(e observe.Event) {
		parent, _ := childOf.Target(e.Entity)
		fmt.Println("self", *position.Get(e.Entity), "parent", *position.Get(parent))
	}})
	p, e := w.Archetype().New(), w.Archetype().New()
	childOf.Set(e, p)
	position.Add(e, Position{10, 20})
	o.Run(nil) // the parent has no position yet
	position.Add(p, Position{1, 2})
	o.Run(nil)
	// Output: self {10 20} parent {1 2}
}

// A loop visits the characters of each cell of a map together, and another loop those of one cell.
//
// Original: Flecs, examples/cpp/queries/group_iter/src/main.cpp, 54 lines. Here: 27.
func Example_groups() {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	npc, names := vast.NewHeapColumn[string](w), w.Names()
	inCell := vast.NewRelation(w, "InCell", vast.RelationOptions{})
	add := func(cell vast.Entity, role string) {
		e := w.Archetype(npc).New()
		npc.Set(e, role)
		inCell.Set(e, cell)
	}
	var cells [4]vast.Entity
	for i := range cells {
		cells[i] = w.Archetype().New()
		_, _ = names.Set(cells[i], fmt.Sprintf("cell %d,%d", i/2, i%2))
	}
	for i, role := range []string{"merchant", "beggar", "mage", "soldier", "merchant", "soldier", "beggar"} {
		add(cells[i%4], role)
	}
	for cell, run := range shared.GroupByTarget(w.Query(npc), inCell) {
		for s := range run.Slots() {
			fmt.Println(names.Text(cell), *npc.At(s))
		}
	}
	for s := range w.Query(npc).To(inCell, cells[2]).Slots() {
		fmt.Println("near the player:", *npc.At(s))
	}
	// Output:
	// cell 0,0 merchant
	// cell 0,0 merchant
	// cell 0,1 beggar
	// cell 0,1 soldier
	// cell 1,0 mage
	// cell 1,0 beggar
	// cell 1,1 soldier
	// near the player: mage
	// near the player: beggar
}

// A query follows two relations: it finds the ranged units in the platoons of one player.
//
// Original: Flecs, examples/cpp/queries/setting_variables/src/main.cpp, 50 lines. Here: 25.
func Example_unitsOfPlayer() {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	ranged, wizard := vast.NewTag(w, "Ranged"), vast.NewTag(w, "Wizard")
	marksman, warrior := vast.NewTag(w, "Marksman"), vast.NewTag(w, "Warrior")
	w.Require(wizard, ranged)
	w.Require(marksman, ranged)
	inPlatoon := vast.NewRelation(w, "InPlatoon", vast.RelationOptions{})
	ofPlayer := vast.NewRelation(w, "OfPlayer", vast.RelationOptions{})
	var players [100]vast.Entity
	for i := range players {
		players[i] = w.Archetype().New()
		for range 3 {
			platoon := w.Archetype().New()
			ofPlayer.Set(platoon, players[i])
			for _, class := range []vast.Tag{warrior, marksman, wizard} {
				inPlatoon.Set(w.Archetype(class).New(), platoon)
			}
		}
	}

	mine := w.Query(ranged).Where(inPlatoon, w.Query().To(ofPlayer, players[0]))
	for unit, platoon := range inPlatoon.Pairs(mine) {
		fmt.Println("unit", unit.Index(), "in platoon", platoon.Index(), "is a wizard:", wizard.HasAt(unit))
	}
	// Output:
	// unit 128 in platoon 1 is a wizard: false
	// unit 129 in platoon 2 is a wizard: false
	// unit 130 in platoon 3 is a wizard: false
	// unit 192 in platoon 1 is a wizard: true
	// unit 193 in platoon 2 is a wizard: true
	// unit 194 in platoon 3 is a wizard: true
}

// A component has a type that the program makes at run time.
//
// Original: Flecs, examples/cpp/reflection/runtime_component/src/main.cpp, 15 lines. Here: 13.
func Example_runtimeComponent() {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	float := reflect.TypeFor[float32]()
	typ := reflect.StructOf([]reflect.StructField{{Name: "X", Type: float}, {Name: "Y", Type: float}})
	position := probe.NewColumn(w, "Position", probe.StorageDense, typ)
	e := w.Archetype(position).New()
	v := reflect.New(typ).Elem()
	v.Field(0).SetFloat(10)
	v.Field(1).SetFloat(20)
	probe.SetValue(position, e, v)
	fmt.Println(w.Sprint(e))
	// Output: 0.1 {Position{X:10 Y:20}}
}

// The entities of a world become JSON, and the JSON becomes entities of a second world. A system then moves
// the entities of both worlds.
//
// Original: Flecs, examples/cpp/reflection/world_ser_deser/src/main.cpp, 44 lines. Here: 42.
func Example_worldAsJSON() {
	type Position struct{ X, Y float64 }
	type Velocity struct{ X, Y float64 }
	type module struct {
		*sched.Schedule
		position vast.Column[Position]
		velocity vast.Column[Velocity]
	}
	load := func() module {
		w := vast.NewWorld(vast.Options{})
		m := module{sched.New(w, sched.Options{}), vast.NewColumn[Position](w), vast.NewColumn[Velocity](w)}
		m.Add(sched.System{Name: "move", Reads: sched.Columns(m.velocity), Writes: sched.Columns(m.position),
			Run: func(c *sched.Context) {
				for s := range w.Query(m.position, m.velocity).Slots() {
					p, v := m.position.At(s), m.velocity.At(s)
					*p = Position{p.X + v.X, p.Y + v.Y}
					fmt.Println("moved to", *p)
				}
			}})
		return m
	}
	a, b := load(), load()
	for _, m := range []module{a, b} {
		defer m.World().Close()
		defer m.Close()
	}
	for i, s := range a.World().Archetype(a.position, a.velocity).NewEach(2) {
		*a.position.At(s), *a.velocity.At(s) = Position{10 + 20*float64(i), 20}, Velocity{1, -1}
	}
	var json bytes.Buffer
	if err := store.WriteJSON(a.World(), &json, store.Options{}); err != nil {
		panic(err)
	}
	if _, err := store.ReadJSON(b.World(), &json, store.Options{}); err != nil {
		panic(err)
	}
	for _, m := range []module{a, b} {
		if err := m.RunTicks(context.Background(), 1); err != nil {
			panic(err)
		}
	}
	// Output:
	// moved to {11 19}
	// moved to {31 19}
	// moved to {11 19}
	// moved to {31 19}
}
