package peers_test

import (
	"fmt"
	"slices"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/prefab"
	"github.com/vastgo/vast/sched"
)

// Swords and armors are instances of templates, and coins are entities with an amount. A relation leads from
// each item to its container. A player takes the items of a chest, puts on an armor, and is attacked.
//
// Original: Flecs, examples/cpp/game_mechanics/inventory_system/src/main.cpp, 230 lines. Here: 118.
func Example_inventory() {
	type Amount int
	type Health int
	type Attack int
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	p, names := prefab.New(w), w.Names()
	amount, health, attack := vast.NewColumn[Amount](w), vast.NewColumn[Health](w), vast.NewColumn[Attack](w)
	sword, armor, coin := vast.NewTag(w, "Sword"), vast.NewTag(w, "Armor"), vast.NewTag(w, "Coin")
	worn := vast.NewTag(w, "Worn")
	containedBy := vast.NewRelation(w, "ContainedBy", vast.RelationOptions{OnDelete: vast.Cascade})
	inventory := vast.NewRelation(w, "Inventory", vast.RelationOptions{})

	item := func(name string, kind vast.Tag, points Health, damage Attack) prefab.Template {
		e := w.Archetype(kind, health, attack).New()
		health.Set(e, points)
		attack.Set(e, damage)
		_, _ = names.Set(e, name)
		return p.Mark(e)
	}
	item("WoodenSword", sword, 5, 1)
	item("IronArmor", armor, 20, 0)
	ironSword, woodenArmor := item("IronSword", sword, 10, 2), item("WoodenArmor", armor, 10, 0)
	nameOf := func(e vast.Entity) string {
		if node, ok := p.NodeOf(e); ok {
			e = node
		}
		return names.Text(e)
	}
	kindOf := func(e vast.Entity) vast.Tag {
		kinds := []vast.Tag{sword, armor, coin}
		return kinds[slices.IndexFunc(kinds, func(kind vast.Tag) bool { return kind.Has(e) })]
	}
	containerOf := func(e vast.Entity) vast.Entity {
		if inside, ok := inventory.Target(e); ok {
			return inside
		}
		return e
	}
	put := func(e, into vast.Entity) {
		if n := amount.Get(e); n != nil {
			if same, ok := w.Query(kindOf(e), amount).To(containedBy, containerOf(into)).First(); ok {
				*amount.Get(same) += *n
				w.Delete(e)
				return
			}
		}
		containedBy.Set(e, containerOf(into))
	}
	transfer := func(to, from vast.Entity) {
		fmt.Println(">> transfer items from", nameOf(from), "to", nameOf(to))
		for _, e := range slices.Collect(containedBy.Sources(containerOf(from))) {
			put(e, to)
		}
	}
	list := func(of vast.Entity) {
		fmt.Println(nameOf(of) + "'s inventory:")
		for e := range containedBy.Sources(containerOf(of)) {
			if n := amount.Get(e); n != nil {
				fmt.Println("-", *n, kindOf(e).Name())
			} else {
				fmt.Println("-", nameOf(e), "of kind", kindOf(e).Name())
			}
		}
		if containedBy.CountSources(containerOf(of)) == 0 {
			fmt.Println("- empty")
		}
	}
	suffer := func(e vast.Entity, points Health) {
		if *health.Get(e) -= points; *health.Get(e) > 0 {
			fmt.Println("-", nameOf(e), "has", *health.Get(e), "health left")
			return
		}
		fmt.Println("-", nameOf(e), "is destroyed")
		w.Delete(e)
	}
	strike := func(player, weapon vast.Entity) {
		fmt.Println(">>", nameOf(player), "is attacked with a", nameOf(weapon))
		left := Health(*attack.Get(weapon))
		if left == 0 {
			fmt.Println("- the weapon is a dud")
			return
		}
		if shield, ok := w.Query(armor, worn).To(containedBy, containerOf(player)).First(); ok {
			blocked := min(left, *health.Get(shield))
			left -= blocked
			suffer(shield, blocked)
		} else {
			fmt.Println("-", nameOf(player), "fights without armor")
		}
		suffer(weapon, 1)
		if left > 0 {
			suffer(player, left)
		}
	}
	purse := func(n Amount, into vast.Entity) {
		e := w.Archetype(coin, amount).New()
		amount.Set(e, n)
		put(e, into)
	}

	chest, player := w.Archetype().New(), w.Archetype(health).New()
	_, _ = names.Set(chest, "Chest")
	_, _ = names.Set(player, "Player")
	health.Set(player, 10)
	inventory.Set(player, w.Archetype().New())
	put(ironSword.Instantiate(), chest)
	put(woodenArmor.Instantiate(), chest)
	purse(30, chest)
	purse(20, player)
	list(chest)
	list(player)
	transfer(player, chest)
	list(player)
	list(chest)
	if e, ok := w.Query(armor).To(containedBy, containerOf(player)).First(); ok {
		worn.Add(e)
	}
	strike(player, ironSword.Instantiate())
	// Output:
	// Chest's inventory:
	// - IronSword of kind Sword
	// - WoodenArmor of kind Armor
	// - 30 Coin
	// Player's inventory:
	// - 20 Coin
	// >> transfer items from Chest to Player
	// Player's inventory:
	// - 50 Coin
	// - IronSword of kind Sword
	// - WoodenArmor of kind Armor
	// Chest's inventory:
	// - empty
	// >> Player is attacked with a IronSword
	// - WoodenArmor has 8 health left
	// - IronSword has 9 health left
}

// Each scene has systems and entities of its own.
//
// Original: Flecs, examples/cpp/game_mechanics/scene_management/src/main.cpp, 91 lines. Here: 49.
func Example_scenes() {
	type Position struct{ X, Y float64 }
	type Health int
	type Scene string
	const menu, game = Scene("menu"), Scene("game")
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	position, health := vast.NewColumn[Position](w), vast.NewColumn[Health](w)
	button, names := vast.NewHeapColumn[string](w), w.Names()
	s := sched.New(w, sched.Options{Workers: 1})
	defer s.Close()
	scene := sched.NewState(s, menu)
	enter := func(v Scene, name string, at Position, fill func(vast.Entity)) {
		scene.OnEnter(v, sched.System{Name: "enter " + string(v), Exclusive: true, Run: func(*sched.Context) {
			fmt.Println(">> the scene is", scene.Get())
			w.DeleteAll(w.Query(position))
			e := w.Archetype(position).New()
			position.Set(e, at)
			fill(e)
			_, _ = names.Set(e, name)
		}})
	}
	enter(menu, "start button", Position{50, 50}, func(e vast.Entity) { button.Add(e, "Play the game!") })
	enter(game, "player", Position{}, func(e vast.Entity) { health.Add(e, 2) })

	s.Add(sched.System{Name: "print", Reads: sched.Columns(position, names), Run: func(*sched.Context) {
		for e := range w.Query(position).All() {
			fmt.Println(names.Text(e), *position.Get(e))
		}
	}})
	s.Add(sched.System{Name: "lose health", Writes: sched.Columns(health), If: scene.In(game),
		Run: func(*sched.Context) {
			for e := range w.Query(health).All() {
				fmt.Println(*health.Get(e), "health remaining")
				*health.Get(e)--
			}
		}})
	s.Add(sched.System{Name: "print button", Reads: sched.Columns(button), If: scene.In(menu),
		Run: func(*sched.Context) {
			for e := range w.Query(button).All() {
				fmt.Printf("button says %q\n", *button.Get(e))
			}
		}})
	for _, next := range []Scene{menu, game, game, game, menu, game} {
		scene.SetBetween(next)
		if err := s.Tick(); err != nil {
			panic(err)
		}
	}
	// Output:
	// >> the scene is menu
	// start button {50 50}
	// button says "Play the game!"
	// >> the scene is game
	// player {0 0}
	// 2 health remaining
	// player {0 0}
	// 1 health remaining
	// player {0 0}
	// 0 health remaining
	// >> the scene is menu
	// start button {50 50}
	// button says "Play the game!"
	// >> the scene is game
	// player {0 0}
	// 2 health remaining
}
