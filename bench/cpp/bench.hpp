// The part of the C++ programs that does not depend on a store: the components, the results that a work must
// have, and the protocol between a program and the bench tool, which cpp.go describes.

#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

// The component types, as in components.go and in the files of the works. All members are zero at first.
struct Position { double x = 0, y = 0; };
struct Velocity { double x = 0, y = 0; };
struct Team { std::int32_t number = 0; float color[3] = {}; };
struct Chosen {};
struct Hit { double damage = 0; };

// A side is a work, set up and ready to be timed, like side in measure.go.
struct side {
	long units; // entities of a repetition
	std::function<void()> work;
	std::function<void()> undo; // reverses the work after each repetition; empty if the work needs no undo
	// check returns a message if the state is wrong, or an empty text. done is the number of repetitions.
	std::function<std::string(long done)> check;
};

inline std::string expect(const char *name, double got, double want) {
	if (got == want) {
		return "";
	}
	return std::string(name) + ": got " + std::to_string(got) + ", want " + std::to_string(want);
}

// create_side makes a side whose work creates or deletes entities. after is the number of entities after the
// work; units - after entities are left after the undo. check(n) checks that there are n entities.
inline side create_side(long units, long after, std::function<void()> work, std::function<void()> undo,
                        std::function<std::string(long n)> check) {
	return {units, work, undo, [=](long) {
		work();
		std::string wrong = check(after);
		undo();
		return wrong.empty() ? check(units - after) : wrong;
	}};
}

// create_by makes a side whose work creates n entities by a method of a world.
template <class world> side create_by(long n, void (world::*create)()) {
	auto w = std::make_shared<world>(n);
	return create_side(n, n, [w, create] { ((*w).*create)(); }, [w] { w->destroy_batch(); },
	                   [w](long m) { return w->check_crowd(m); });
}

// destroy_by makes a side whose work deletes n entities by a method of a world.
template <class world> side destroy_by(long n, void (world::*destroy)()) {
	auto w = std::make_shared<world>(n);
	w->create();
	return create_side(n, 0, [w, destroy] { ((*w).*destroy)(); }, [w] { w->create(); },
	                   [w](long m) { return w->check_crowd(m); });
}

// The values of the works, as in random.go, groupby.go, events.go and join.go.
inline double random_x(long i) { return double(i % 1021 + 1); }
inline double damage_of(long i) { return double((i & 1023) + 1); }
inline std::uint64_t hashed(std::uint64_t i) { return i * 0x9e3779b97f4a7c15u; }

constexpr int team_count = 16;
inline int any_team(long i, long) { return int((hashed(i) >> 32) % team_count); }
inline int team_by_team(long i, long n) { return int(i * team_count / n); }

inline long parent_count(long n) { return std::max(1L, n / 16); }
inline long scattered(long i, long n) { return long((hashed(i) >> 32) % std::uint64_t(parent_count(n))); }
inline long parent_by_parent(long i, long n) { return i * parent_count(n) / n; }
inline bool is_chosen(long parent) { return hashed(parent) >> 63 == 0; }

constexpr int tree_size = 16;   // entities in each tree of the work clone_tree
constexpr double template_x = 3; // Velocity.x of a template, and of an entity that a work clones
constexpr long toggled_every = 10;

using any_team_of = int (*)(long i, long n);
using any_parent_of = long (*)(long i, long n);

inline side query_side(long n, std::function<void()> work, std::function<double()> sum) {
	return {n, work, nullptr, [=](long done) { return expect("sum of x", sum(), double(n) * double(done)); }};
}

inline side team_side(long n, any_team_of of, const double *sums, std::function<void()> work) {
	return {n, work, nullptr, [=](long done) {
		std::vector<double> want(team_count);
		for (long i = 0; i < n; i++) {
			want[of(i, n)] += random_x(i) * double(done);
		}
		for (int i = 0; i < team_count; i++) {
			if (sums[i] != want[i]) {
				return expect("sum of a team", sums[i], want[i]);
			}
		}
		return std::string();
	}};
}

inline side join_side(long n, any_parent_of of, const double *sum, std::function<void()> work) {
	return {n, work, nullptr, [=](long done) {
		double want = 0;
		for (long i = 0; i < n; i++) {
			want += is_chosen(of(i, n)) ? random_x(i) * double(done) : 0;
		}
		return expect("sum of x", *sum, want);
	}};
}

inline side event_side(long n, const long *events, const double *sum, std::function<void()> work) {
	return {n, work, nullptr, [=](long done) {
		double want = 0;
		for (long i = 0; i < n; i++) {
			want += damage_of(i) * double(done);
		}
		return expect("events", double(*events), double(n * done)) + expect("damage", *sum, want);
	}};
}

// now returns a time in nanoseconds.
inline long now() {
	return std::chrono::duration_cast<std::chrono::nanoseconds>(
	    std::chrono::steady_clock::now().time_since_epoch()).count();
}

// read_time returns the time of reps repetitions of the work, without the undo. If the side has an undo, the
// result includes the time of one reading of the clock for each repetition.
inline long read_time(const side &s, long reps) {
	if (!s.undo) {
		long start = now();
		for (long i = 0; i < reps; i++) {
			s.work();
		}
		return now() - start;
	}
	long total = 0;
	for (long i = 0; i < reps; i++) {
		long start = now();
		s.work();
		total += now() - start;
		s.undo();
	}
	return total;
}

// clock_cost returns the time between two readings of the clock without work, as clockCost in measure.go.
inline long clock_cost() {
	const side nothing{1, [] {}, [] {}, nullptr};
	const long reps = 10000;
	long least = std::numeric_limits<long>::max();
	for (int round = 0; round < 20; round++) {
		least = std::min(least, read_time(nothing, reps) / reps);
	}
	return least;
}

// A maker sets up a work for n entities.
using maker = std::function<side(long n)>;

// An entry has the maker of a work for a peer.
struct entry {
	const char *work, *peer;
	maker make;
};

// serve sets up the work that the arguments name, and answers the lines of the standard input.
inline int serve(int argc, char **argv, const std::vector<entry> &entries) {
	if (argc != 4) {
		std::fprintf(stderr, "usage: %s work peer n\n", argv[0]);
		return 2;
	}
	auto found = std::find_if(entries.begin(), entries.end(), [&](const entry &e) {
		return e.work == std::string(argv[1]) && e.peer == std::string(argv[2]);
	});
	if (found == entries.end()) {
		std::fprintf(stderr, "%s: no work %s of the peer %s\n", argv[0], argv[1], argv[2]);
		return 2;
	}
	const side s = found->make(std::atol(argv[3]));
	const long cost = s.undo ? clock_cost() : 0;
	std::cout << "{\"units\": " << s.units << "}" << std::endl;
	std::string command;
	long count = 0;
	while (std::cin >> command >> count) {
		if (command == "run") {
			std::cout << "{\"ns\": " << std::max(1L, read_time(s, count) - count * cost) << "}" << std::endl;
		} else {
			std::cout << "{\"wrong\": \"" << s.check(count) << "\"}" << std::endl;
		}
	}
	return 0;
}
