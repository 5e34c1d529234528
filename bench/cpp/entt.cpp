// The works of the peers entt, entt-batch and entt-group. Each work is what the documentation of EnTT
// recommends for the same result. A work that names storages looks them up once, before the timing begins.
// Only views and prefab look storages up in the timed work.

#include "bench.hpp"

#include <entt/entt.hpp>

#include <memory>

// An entity of EnTT has 20 bits for its number: too few for much more than a million entities. This type has
// 24 bits for the number and 8 bits for the version.
enum class entity : std::uint32_t {};

struct entity_layout {
	using value_type = entity;
	using entity_type = std::uint32_t;
	using version_type = std::uint16_t;
	static constexpr entity_type entity_mask = 0xFFFFFF;
	static constexpr entity_type version_mask = 0xFF;
};

template<>
struct entt::entt_traits<entity> : entt::basic_entt_traits<entity_layout> {
	static constexpr std::size_t page_size = ENTT_SPARSE_PAGE;
};

using registry = entt::basic_registry<entity>;

// world holds the state of a work. All functions of a side (see bench.hpp) share one world.
struct world {
	registry r;
	std::vector<entity> entities;
	entt::storage_for_t<Position, entity> &pos = r.storage<Position>();
	entt::storage_for_t<Velocity, entity> &vel = r.storage<Velocity>();
	double sum = 0;

	explicit world(long n) : entities(static_cast<std::size_t>(n)) {}

	void create() {
		for (auto &e : entities) {
			e = r.create();
			pos.emplace(e);
			vel.emplace(e);
		}
	}
	void create_batch() {
		r.create(entities.begin(), entities.end());
		pos.insert(entities.begin(), entities.end());
		vel.insert(entities.begin(), entities.end());
	}
	void destroy() {
		for (auto e : entities) {
			r.destroy(e);
		}
	}
	void destroy_batch() { r.destroy(entities.begin(), entities.end()); }

	long alive() { return long(r.storage<entity>().free_list()); }
	// check_crowd checks that there are n entities with both components, whose velocities are zero.
	std::string check_crowd(long n) {
		long found = 0;
		double total = 0;
		for (auto [e, p, v] : r.view<Position, Velocity>().each()) {
			found++;
			total += v.x;
		}
		return expect("entities found", double(found), double(n)) +
		       expect("entities alive", double(alive()), double(n)) +
		       expect("sum of velocities", total, 0);
	}
	double sum_x() {
		double total = 0;
		for (auto [e, p] : r.view<Position>().each()) {
			total += p.x;
		}
		return total;
	}
};

// move is a function object, because compilers do not inline calls of a function pointer.
constexpr auto move = [](Position &p, const Velocity &v) {
	p.x += v.x;
	p.y += v.y;
};

static std::shared_ptr<world> moving(long n) {
	auto w = std::make_shared<world>(0);
	for (long i = 0; i < 10 * n; i++) {
		w->pos.emplace(w->r.create());
	}
	for (long i = 0; i < n; i++) {
		auto e = w->r.create();
		w->pos.emplace(e);
		w->vel.emplace(e, Velocity{1, double(i % 4)});
	}
	return w;
}

static side query_view(long n) {
	auto w = moving(n);
	return query_side(n, [w] { w->r.view<Position, const Velocity>().each(move); },
	                  [w] { return w->sum_x(); });
}

static side query_group(long n) {
	auto w = moving(n);
	auto group = w->r.group<Position, Velocity>();
	return query_side(n, [group] { group.each(move); }, [w] { return w->sum_x(); });
}

static std::shared_ptr<world> editing(long n, long stride) {
	auto w = std::make_shared<world>(0);
	for (long i = 0; i < n; i++) {
		auto e = w->r.create();
		w->pos.emplace(e);
		if (i % stride == 0) {
			w->entities.push_back(e);
		}
	}
	return w;
}

static void add_remove(world &w) {
	for (auto e : w.entities) {
		w.vel.emplace(e);
	}
	for (auto e : w.entities) {
		w.vel.erase(e);
	}
}

static std::string check_edits(world &w) {
	auto left = expect("velocities after removing", double(w.vel.size()), 0);
	w.vel.insert(w.entities.begin(), w.entities.end());
	return left + expect("velocities after adding", double(w.vel.size()), double(w.entities.size()));
}

static side edit(long n) {
	auto w = editing(n, 1);
	return {n, [w] { add_remove(*w); }, nullptr, [w](long) { return check_edits(*w); }};
}

static side edit_batch(long n) {
	auto w = editing(n, 1);
	return {n, [w] {
		w->vel.insert(w->entities.begin(), w->entities.end());
		w->vel.erase(w->entities.begin(), w->entities.end());
	}, nullptr, [w](long) { return check_edits(*w); }};
}

struct gains {
	long gained = 0, lost = 0;
	void on_gain(registry &, entity) { gained++; }
	void on_loss(registry &, entity) { lost++; }
};

static side observe(long n) {
	auto w = editing(n, toggled_every);
	auto g = std::make_shared<gains>();
	w->r.on_construct<Velocity>().connect<&gains::on_gain>(*g);
	w->r.on_destroy<Velocity>().connect<&gains::on_loss>(*g);
	const long units = long(w->entities.size());
	return {units, [w, g] { add_remove(*w); }, nullptr, [w, g, units](long done) {
		auto wrong = expect("gains", double(g->gained), double(units * done)) +
		             expect("losses", double(g->lost), double(units * done));
		return wrong + check_edits(*w); // adds components, which the observers count
	}};
}

// The work copies entities as EnTT's documentation shows: each storage that contains the original gains a
// copy of the original's value.
static side copy_entities(long n) {
	auto w = std::make_shared<world>(n);
	auto original = w->r.create();
	w->pos.emplace(original);
	w->vel.emplace(original, Velocity{template_x, 0});
	return create_side(n, n, [w, original] {
		for (auto &copied : w->entities) {
			copied = w->r.create();
			for (auto [id, storage] : w->r.storage()) {
				if (storage.contains(original)) {
					storage.push(copied, storage.value(original));
				}
			}
		}
	}, [w] { w->destroy_batch(); }, [w](long m) {
		return expect("entities", double(w->alive()), double(m + 1)) +
		       expect("velocities", double(w->vel.size()), double(m + 1));
	});
}

struct InstanceOf { entity of; };

// EnTT has no templates: the work creates a batch with the values of the template.
static side prefab(long n) {
	auto w = std::make_shared<world>(n);
	auto made = w->r.create(); // has the values in a component of its own, so that views pass over it
	struct values { Position p; Velocity v; };
	w->r.emplace<values>(made, values{{}, {template_x, 0}});
	auto &links = w->r.storage<InstanceOf>();
	return create_side(n, n, [w, made, &links] {
		const auto from = w->r.get<values>(made);
		w->r.create(w->entities.begin(), w->entities.end());
		w->pos.insert(w->entities.begin(), w->entities.end(), from.p);
		w->vel.insert(w->entities.begin(), w->entities.end(), from.v);
		links.insert(w->entities.begin(), w->entities.end(), InstanceOf{made});
	}, [w] { w->destroy_batch(); }, [w, &links](long m) {
		double total = 0;
		for (auto [e, v, link] : w->r.view<Velocity, InstanceOf>().each()) {
			total += v.x;
		}
		return expect("instances", double(links.size()), double(m)) +
		       expect("sum of velocities", total, double(m) * template_x);
	});
}

struct Family { entity parent = entt::null, first = entt::null, next = entt::null; };

// EnTT has no hierarchies: the work follows links in a component, as clonetree.go does for Ark.
static side clone_tree(long n) {
	const long trees = n / tree_size;
	auto w = std::make_shared<world>(trees);
	auto &family = w->r.storage<Family>();
	std::vector<entity> original(tree_size);
	w->r.create(original.begin(), original.end());
	for (int i = 0; i < tree_size; i++) {
		w->pos.emplace(original[i]);
		w->vel.emplace(original[i], Velocity{double(i), 0});
		family.emplace(original[i], Family{i == 0 ? entt::null : original[0], entt::null, entt::null});
		if (i > 0) {
			(i == 1 ? family.get(original[0]).first : family.get(original[i - 1]).next) = original[i];
		}
	}
	auto copy = [w, &family](entity from) {
		auto made = w->r.create();
		w->pos.emplace(made, Position(w->pos.get(from)));
		w->vel.emplace(made, Velocity(w->vel.get(from)));
		family.emplace(made);
		return made;
	};
	auto undo = [w, &family] {
		for (auto root : w->entities) {
			for (auto child = family.get(root).first; child != entt::null;) {
				auto next = family.get(child).next;
				w->r.destroy(child);
				child = next;
			}
			w->r.destroy(root);
		}
	};
	auto work = [w, &family, copy, root = original[0]] {
		for (auto &made : w->entities) {
			made = copy(root);
			entity last = entt::null;
			for (auto child = family.get(root).first; child != entt::null; child = family.get(child).next) {
				auto copied = copy(child);
				family.get(copied).parent = made;
				(last == entt::null ? family.get(made).first : family.get(last).next) = copied;
				last = copied;
			}
		}
	};
	auto s = create_side(trees, trees, work, undo, [w, &family](long m) {
		double total = 0;
		for (long i = 0; i < m; i++) {
			auto root = w->entities[i];
			for (auto child = family.get(root).first; child != entt::null; child = family.get(child).next) {
				total += family.get(child).parent == root ? w->vel.get(child).x : 0;
			}
		}
		return expect("entities", double(w->alive()), double((m + 1) * tree_size)) +
		       expect("sum of velocities", total, double(m * tree_size * (tree_size - 1) / 2));
	});
	s.units = trees * tree_size;
	return s;
}

struct TargetedHit { entity target; Hit hit; };

struct receiver {
	long events = 0;
	double sum = 0;
	void receive(const TargetedHit &h) {
		events++;
		sum += h.hit.damage;
	}
};

static side events(long n) {
	auto w = std::make_shared<world>(n);
	w->r.create(w->entities.begin(), w->entities.end());
	auto to = std::make_shared<receiver>();
	auto dispatcher = std::make_shared<entt::dispatcher>();
	dispatcher->sink<TargetedHit>().connect<&receiver::receive>(*to);
	return event_side(n, &to->events, &to->sum, [w, to, dispatcher] {
		long i = 0;
		for (auto e : w->entities) {
			dispatcher->enqueue(TargetedHit{e, Hit{damage_of(i++)}});
		}
		dispatcher->update<TargetedHit>();
	});
}

// The group is sorted by team once, because the teams do not change.
static side group_by(long n, any_team_of of) {
	auto w = std::make_shared<world>(0);
	auto group = w->r.group<Position, Team>();
	for (long i = 0; i < n; i++) {
		auto e = w->r.create();
		w->pos.emplace(e, Position{random_x(i), 0});
		w->r.emplace<Team>(e).number = of(i, n);
	}
	group.sort<Team>([](const Team &a, const Team &b) { return a.number < b.number; });
	auto sums = std::make_shared<std::vector<double>>(team_count);
	return team_side(n, of, sums->data(), [w, group, sums] {
		int current = 0;
		double sum = 0;
		group.each([&](const Position &p, const Team &team) {
			if (team.number != current) {
				(*sums)[current] += sum;
				current = team.number;
				sum = 0;
			}
			sum += p.x;
		});
		(*sums)[current] += sum;
	});
}

struct Parent { entity of; };

static side join(long n, any_parent_of of) {
	auto w = std::make_shared<world>(parent_count(n));
	auto &chosen = w->r.storage<Chosen>();
	auto group = w->r.group<Position, Parent>();
	w->r.create(w->entities.begin(), w->entities.end());
	for (long i = 0; i < parent_count(n); i++) {
		if (is_chosen(i)) {
			chosen.emplace(w->entities[i]);
		}
	}
	for (long i = 0; i < n; i++) {
		auto e = w->r.create();
		w->pos.emplace(e, Position{random_x(i), 0});
		w->r.emplace<Parent>(e, Parent{w->entities[of(i, n)]});
	}
	return join_side(n, of, &w->sum, [w, &chosen, group] {
		double sum = 0;
		group.each([&](const Position &p, const Parent &parent) {
			if (chosen.contains(parent.of)) {
				sum += p.x;
			}
		});
		w->sum += sum;
	});
}

int main(int argc, char **argv) {
	return serve(argc, argv, {
		{"query2comp", "entt", query_view},
		{"query2comp", "entt-group", query_group},
		{"hierarchy_join", "entt", [](long n) { return join(n, scattered); }},
		{"hierarchy_join_born", "entt", [](long n) { return join(n, parent_by_parent); }},
		{"group_by", "entt", [](long n) { return group_by(n, any_team); }},
		{"group_by_regrouped", "entt", [](long n) { return group_by(n, any_team); }},
		{"group_by_born", "entt", [](long n) { return group_by(n, team_by_team); }},
		{"add_remove", "entt", edit},
		{"add_remove", "entt-batch", edit_batch},
		{"observe", "entt", observe},
		{"events", "entt", events},
		{"create2comp", "entt", [](long n) { return create_by(n, &world::create); }},
		{"create2comp", "entt-batch", [](long n) { return create_by(n, &world::create_batch); }},
		{"clone2comp", "entt", copy_entities},
		{"clone_tree", "entt", clone_tree},
		{"prefab2comp", "entt-batch", prefab},
		{"delete2comp", "entt", [](long n) { return destroy_by(n, &world::destroy); }},
		{"delete2comp", "entt-batch", [](long n) { return destroy_by(n, &world::destroy_batch); }},
	});
}
