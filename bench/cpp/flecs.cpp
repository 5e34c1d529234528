// The works of the peers flecs and flecs-batch. Each work is what the documentation of Flecs recommends for
// the same result. Tables and queries are looked up once, before the work.

#include "bench.hpp"

#include <flecs.h>

#include <memory>

using flecs::entity_t;

// world holds what the works share. The functions of a side (bench.hpp) share the ownership of one world.
struct world {
	flecs::world w;
	std::vector<entity_t> entities;
	const entity_t pos = w.component<Position>(), vel = w.component<Velocity>();
	// table is the table of the entities with both components.
	flecs::table_t *const table = ecs_table_add_id(w, ecs_table_add_id(w, nullptr, pos), vel);
	double sum = 0;

	explicit world(long n) : entities(static_cast<std::size_t>(n)) {}

	void create() {
		for (auto &e : entities) {
			e = ecs_new_w_table(w, table);
		}
	}
	void create_batch() {
		ecs_bulk_desc_t desc = {};
		desc.count = std::int32_t(entities.size());
		desc.table = table;
		ecs_bulk_init(w, &desc);
	}
	void destroy() {
		for (auto e : entities) {
			ecs_delete(w, e);
		}
	}
	void destroy_batch() { ecs_table_clear_entities(w, table); } // ecs_delete_with also deletes the table

	// check_crowd checks that there are n entities with both components, whose velocities are zero.
	std::string check_crowd(long n) {
		long found = 0, alive = 0;
		double total = 0;
		w.query<const Position, const Velocity>().each([&](const Position &, const Velocity &v) {
			found++;
			total += v.x;
		});
		for (auto e : entities) { // create_batch does not keep the entities
			alive += e != 0 && ecs_is_alive(w, e);
		}
		return expect("entities found", double(found), double(n)) +
		       expect("entities alive", double(alive), double(entities.empty() || entities[0] == 0 ? 0 : n)) +
		       expect("sum of velocities", total, 0);
	}
};

static side query_run(long n) {
	auto w = std::make_shared<world>(0);
	for (long i = 0; i < 10 * n; i++) {
		ecs_new_w_id(w->w, w->pos);
	}
	for (long i = 0; i < n; i++) {
		*w->w.entity(ecs_new_w_table(w->w, w->table)).try_get_mut<Velocity>() = {1, double(i % 4)};
	}
	auto q = w->w.query_builder<Position, const Velocity>().cached().build();
	return query_side(n, [w, q] {
		q.run([](flecs::iter &it) {
			while (it.next()) {
				auto p = &it.field<Position>(0)[0];
				auto v = &it.field<const Velocity>(1)[0];
				for (std::size_t i = 0, count = it.count(); i < count; i++) {
					p[i].x += v[i].x;
					p[i].y += v[i].y;
				}
			}
		});
	}, [w] {
		double total = 0;
		w->w.query<const Position>().each([&](const Position &p) { total += p.x; });
		return total;
	});
}

static std::shared_ptr<world> editing(long n, long stride) {
	auto w = std::make_shared<world>(0);
	for (long i = 0; i < n; i++) {
		auto e = ecs_new_w_id(w->w, w->pos);
		if (i % stride == 0) {
			w->entities.push_back(e);
		}
	}
	return w;
}

static void add(world &w) {
	for (auto e : w.entities) {
		ecs_add_id(w.w, e, w.vel);
	}
}

static void add_remove(world &w) {
	add(w);
	for (auto e : w.entities) {
		ecs_remove_id(w.w, e, w.vel);
	}
}

static std::string check_edits(world &w) {
	auto left = expect("velocities after removing", double(w.w.count<Velocity>()), 0);
	add(w);
	return left + expect("velocities after adding", double(w.w.count<Velocity>()), double(w.entities.size()));
}

static side edit(long n) {
	auto w = editing(n, 1);
	return {n, [w] { add_remove(*w); }, nullptr, [w](long) { return check_edits(*w); }};
}

struct gains { long gained = 0, lost = 0; };

static side observe(long n) {
	auto w = editing(n, toggled_every);
	auto g = std::make_shared<gains>();
	auto observer = [w](flecs::entity_t event) {
		return w->w.observer<Velocity>().with<Position>().filter().event(event);
	};
	observer(flecs::OnAdd).each([g](Velocity &) { g->gained++; });
	observer(flecs::OnRemove).each([g](Velocity &) { g->lost++; });
	const long units = long(w->entities.size());
	return {units, [w] { add_remove(*w); }, nullptr, [w, g, units](long done) {
		auto wrong = expect("gains", double(g->gained), double(units * done)) +
		             expect("losses", double(g->lost), double(units * done));
		return wrong + check_edits(*w); // adds components, which the observers count
	}};
}

static side copy_entities(long n) {
	auto w = std::make_shared<world>(n);
	auto original = ecs_new_w_table(w->w, w->table);
	w->w.entity(original).set<Velocity>({template_x, 0});
	return create_side(n, n, [w, original] {
		for (auto &copied : w->entities) {
			copied = ecs_clone(w->w, 0, original, true);
		}
	}, [w] {
		w->destroy();
	}, [w](long m) {
		double total = 0;
		for (auto e : w->entities) {
			total += ecs_is_alive(w->w, e) ? w->w.entity(e).get<Velocity>().x : 0;
		}
		return expect("velocities", double(w->w.count<Velocity>()), double(m + 1)) +
		       expect("sum of velocities", total, double(m) * template_x);
	});
}

// An instance gets components of its own, because this is the default of OnInstantiate.
static side prefab(long n) {
	auto w = std::make_shared<world>(0);
	auto made = w->w.prefab().set<Position>({}).set<Velocity>({template_x, 0});
	const auto pair = ecs_pair(EcsIsA, made.id());
	const auto first = ecs_new_w_id(w->w, pair);
	const auto table = ecs_get_table(w->w, first);
	ecs_delete(w->w, first);
	return create_side(n, n, [w, pair, n] { ecs_bulk_new_w_id(w->w, pair, std::int32_t(n)); },
	                   [w, table] { ecs_table_clear_entities(w->w, table); }, [w, made](long m) {
		long found = 0;
		double total = 0;
		w->w.query_builder<const Velocity>().term_at(0).self().with(flecs::IsA, made).build().each(
		    [&](const Velocity &v) {
			found++;
			total += v.x;
		});
		return expect("instances", double(found), double(m)) +
		       expect("sum of velocities", total, double(m) * template_x);
	});
}

// The tree is a prefab, because Flecs copies children only of prefabs.
static side instances(long n) {
	const long trees = n / tree_size;
	auto w = std::make_shared<world>(trees);
	auto root = w->w.prefab().set<Position>({}).set<Velocity>({});
	for (int i = 1; i < tree_size; i++) {
		w->w.prefab().child_of(root).set<Position>({}).set<Velocity>({double(i), 0});
	}
	const auto pair = ecs_pair(EcsIsA, root.id());
	auto s = create_side(trees, trees, [w, pair] {
		for (auto &made : w->entities) {
			made = ecs_new_w_id(w->w, pair);
		}
	}, [w] { w->destroy(); }, [w](long m) {
		double total = 0;
		for (long i = 0; i < m; i++) {
			auto root = w->w.entity(w->entities[i]);
			root.children([&](flecs::entity child) { total += child.get<Velocity>().x; });
		}
		return expect("entities", double(w->w.count<Velocity>()), double((m + 1) * tree_size)) +
		       expect("sum of velocities", total, double(m * tree_size * (tree_size - 1) / 2));
	});
	s.units = trees * tree_size;
	return s;
}

// Flecs calls the observer while the event is emitted.
static side events(long n) {
	auto w = std::make_shared<world>(n);
	w->create();
	struct result { long events = 0; double sum = 0; };
	auto to = std::make_shared<result>();
	w->w.observer<Position>().event<Hit>().each([to](flecs::iter &it, std::size_t, Position &) {
		to->events++;
		to->sum += it.param<Hit>()->damage;
	});
	ecs_id_t ids[] = {w->pos};
	return event_side(n, &to->events, &to->sum, [w, to, ids, hit = w->w.component<Hit>().id()] {
		const ecs_type_t type = {const_cast<ecs_id_t *>(ids), 1};
		ecs_event_desc_t desc = {};
		desc.event = hit;
		desc.ids = &type;
		desc.observable = w->w;
		long i = 0;
		for (auto e : w->entities) {
			const Hit value{damage_of(i++)};
			desc.entity = e;
			desc.const_param = &value;
			ecs_emit(w->w, &desc);
		}
	});
}

// The relation to the team keeps the entities of a team in a table of their own.
static side group_by(long n, any_team_of of) {
	auto w = std::make_shared<world>(0);
	auto in_team = w->w.entity().add(flecs::Exclusive);
	auto teams = std::make_shared<std::vector<flecs::entity>>();
	for (int i = 0; i < team_count; i++) {
		teams->push_back(w->w.entity());
	}
	for (long i = 0; i < n; i++) {
		w->w.entity().add(in_team, (*teams)[of(i, n)]).set<Position>({random_x(i), 0});
	}
	auto q = w->w.query_builder<const Position>().with(in_team, flecs::Wildcard).cached()
	             .group_by(in_team).build();
	auto sums = std::make_shared<std::vector<double>>(team_count);
	return team_side(n, of, sums->data(), [w, q, teams, sums] {
		for (int i = 0; i < team_count; i++) {
			double sum = 0;
			q.set_group((*teams)[i]).run([&](flecs::iter &it) {
				while (it.next()) {
					auto p = &it.field<const Position>(0)[0];
					for (std::size_t j = 0, count = it.count(); j < count; j++) {
						sum += p[j].x;
					}
				}
			});
			(*sums)[i] += sum;
		}
	});
}

// The cached query has the tables of the children whose parent is chosen.
static side join(long n, any_parent_of of) {
	auto w = std::make_shared<world>(0);
	std::vector<flecs::entity> parents;
	for (long i = 0; i < parent_count(n); i++) {
		auto e = w->w.entity();
		if (is_chosen(i)) {
			e.add<Chosen>();
		}
		parents.push_back(e);
	}
	for (long i = 0; i < n; i++) {
		w->w.entity().child_of(parents[of(i, n)]).set<Position>({random_x(i), 0});
	}
	auto q = w->w.query_builder<const Position>().with<Chosen>().parent().cached().build();
	return join_side(n, of, &w->sum, [w, q] {
		double sum = 0;
		q.run([&](flecs::iter &it) {
			while (it.next()) {
				auto p = &it.field<const Position>(0)[0];
				for (std::size_t i = 0, count = it.count(); i < count; i++) {
					sum += p[i].x;
				}
			}
		});
		w->sum += sum;
	});
}

int main(int argc, char **argv) {
	return serve(argc, argv, {
		{"query2comp", "flecs", query_run},
		{"hierarchy_join", "flecs", [](long n) { return join(n, scattered); }},
		{"hierarchy_join_born", "flecs", [](long n) { return join(n, parent_by_parent); }},
		{"group_by", "flecs", [](long n) { return group_by(n, any_team); }},
		{"group_by_regrouped", "flecs", [](long n) { return group_by(n, any_team); }},
		{"group_by_born", "flecs", [](long n) { return group_by(n, team_by_team); }},
		{"add_remove", "flecs", edit},
		{"observe", "flecs", observe},
		{"events", "flecs", events},
		{"create2comp", "flecs", [](long n) { return create_by(n, &world::create); }},
		{"create2comp", "flecs-batch", [](long n) { return create_by(n, &world::create_batch); }},
		{"clone2comp", "flecs", copy_entities},
		{"clone_tree", "flecs", instances},
		{"prefab2comp", "flecs-batch", prefab},
		{"delete2comp", "flecs", [](long n) { return destroy_by(n, &world::destroy); }},
		{"delete2comp", "flecs-batch", [](long n) { return destroy_by(n, &world::destroy_batch); }},
	});
}
