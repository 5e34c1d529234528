package vastsql

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/longtest"
)

// Account is the money of an entity. Twin is always ^Gold, which shows whether a row mixes two moments.
type Account struct{ Gold, Twin int64 }

// Purse is more money of some entities.
type Purse struct{ Coins int32 }

// Region groups the entities.
type Region struct{ Number uint8 }

const (
	soakEntities = 3000
	soakGold     = 100 * soakEntities // sum of all Gold and Coins at any moment
	soakRegions  = 7
)

// soakWorld is a world of 60 ticks a second in which entities pay each other, are born and die. The sum of
// all money stays the same.
type soakWorld struct {
	w        *vast.World
	accounts vast.Column[Account]
	purses   vast.SparseColumn[Purse]
	regions  vast.Column[Region]
	entities []vast.Entity
	rng      *rand.Rand
	ids      []atomic.Uint64 // IDs of entities, for the clients
	delays   []time.Duration // how long visits delayed each tick
	noise    []time.Duration // how late the operating system woke the owner of the world for each tick
	ticks    int
}

func newSoakWorld(seed uint64) *soakWorld {
	s := &soakWorld{w: vast.NewWorld(vast.Options{}), rng: rand.New(rand.NewPCG(seed, 0)),
		ids: make([]atomic.Uint64, soakEntities)}
	s.accounts = vast.NewColumn[Account](s.w)
	s.purses = vast.NewSparseColumn[Purse](s.w)
	s.regions = vast.NewColumn[Region](s.w)
	for i := range soakEntities {
		e := s.born(i, 100)
		s.entities = append(s.entities, e)
		if i%10 == 0 {
			s.pay(e, -3)
			s.purses.Add(e, Purse{3})
		}
	}
	return s
}

func (s *soakWorld) born(i int, gold int64) vast.Entity {
	e := s.w.Archetype(s.accounts, s.regions).New()
	s.accounts.Set(e, Account{gold, ^gold})
	s.regions.Set(e, Region{uint8(i % soakRegions)})
	s.ids[i].Store(e.ID())
	return e
}

func (s *soakWorld) pay(e vast.Entity, gold int64) {
	now := s.accounts.Get(e).Gold + gold
	s.accounts.Set(e, Account{now, ^now})
}

// tick makes payments, moves gold into purses and back, and replaces entities.
func (s *soakWorld) tick() {
	pick := func() (int, vast.Entity) {
		i := s.rng.IntN(len(s.entities))
		return i, s.entities[i]
	}
	for range 100 {
		_, from := pick()
		_, to := pick()
		amount := int64(s.rng.IntN(20))
		s.pay(from, -amount)
		s.pay(to, amount)
		if s.purses.Has(from) {
			s.pay(from, int64(s.purses.Get(from).Coins))
			s.purses.Remove(from)
		} else if coins := s.rng.Int32N(5); coins > 2 {
			s.pay(from, -int64(coins))
			s.purses.Add(from, Purse{coins})
		}
	}
	for range 5 {
		i, dead := pick()
		gold := s.accounts.Get(dead).Gold
		if s.purses.Has(dead) {
			gold += int64(s.purses.Get(dead).Coins)
		}
		s.w.Delete(dead)
		s.entities[i] = s.born(i, gold)
	}
}

// run runs ticks until the context ends. Statements read the world between two ticks.
func (s *soakWorld) run(ctx context.Context) {
	clock := time.NewTicker(time.Second / 60)
	defer clock.Stop()
	for ctx.Err() == nil {
		s.tick()
		s.ticks++
		var due time.Time
		s.w.Idle(func() {
			select {
			case at := <-clock.C:
				due = time.Now()
				s.noise = append(s.noise, due.Sub(at))
			case <-ctx.Done():
				due = time.Now()
			}
		})
		s.delays = append(s.delays, time.Since(due))
	}
}

// soakClient asks one kind of question and checks the answer.
type soakClient struct {
	name string
	ask  func(ctx context.Context, db *sql.DB, rng *rand.Rand, w *soakWorld) error
}

// asked returns an error if the result of a statement is not the single number want.
func asked(ctx context.Context, db *sql.DB, text string, want int) error {
	got, err := soakRows(ctx, db, text)
	if err == nil && fmt.Sprint(got) != fmt.Sprint([]int{want}) {
		err = fmt.Errorf("%s: got %v, want %d", text, got, want)
	}
	return err
}

// soakRows returns the values of a statement with one column.
func soakRows(ctx context.Context, db *sql.DB, text string, args ...any) (all []any, err error) {
	rows, err := db.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var v any
		if err := rows.Scan(&v); err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, errors.Join(rows.Err(), rows.Close())
}

var soakClients = []soakClient{
	{"aggregates", func(ctx context.Context, db *sql.DB, rng *rand.Rand, w *soakWorld) error {
		return errors.Join(
			asked(ctx, db, "SELECT (SELECT sum(gold) FROM account) + (SELECT sum(coins) FROM purse)",
				soakGold),
			asked(ctx, db, "SELECT count(*) FROM account", soakEntities),
			asked(ctx, db, "WITH a AS (SELECT sum(gold) AS s, sum(twin) AS t, count(*) AS n FROM account) "+
				"SELECT s + t + n FROM a", 0),
			asked(ctx, db, "SELECT sum(s) FROM (SELECT sum(gold) AS s FROM account WHERE gold > 100 "+
				"UNION ALL SELECT sum(gold) FROM account WHERE gold <= 100 "+
				"UNION ALL SELECT sum(coins) FROM purse)", soakGold))
	}},
	{"joins", func(ctx context.Context, db *sql.DB, rng *rand.Rand, w *soakWorld) error {
		return asked(ctx, db, "SELECT sum(a.gold + ifnull(p.coins, 0)) FROM account a "+
			"JOIN region r USING (entity) LEFT JOIN purse p USING (entity)", soakGold)
	}},
	{"groups", func(ctx context.Context, db *sql.DB, rng *rand.Rand, w *soakWorld) error {
		return errors.Join(
			asked(ctx, db, "SELECT sum(s) - (SELECT sum(gold) FROM account) "+
				"FROM (SELECT number, sum(gold) AS s FROM account JOIN region USING (entity) "+
				"GROUP BY number)", 0),
			asked(ctx, db, "SELECT count(*) FROM (SELECT number FROM region GROUP BY number)", soakRegions))
	}},
	{"points", func(ctx context.Context, db *sql.DB, rng *rand.Rand, w *soakWorld) error {
		for range 20 {
			id := int64(w.ids[rng.IntN(soakEntities)].Load())
			got, err := soakRows(ctx, db, "SELECT gold + twin FROM account WHERE entity = ?", id)
			if err == nil && len(got) > 0 && fmt.Sprint(got) != "[-1]" { // no row: the entity has died
				err = fmt.Errorf("got %v for entity %d, want -1", got, id)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}},
	{"cancelled", func(ctx context.Context, db *sql.DB, rng *rand.Rand, w *soakWorld) error {
		within, cancel := context.WithTimeout(ctx, time.Duration(rng.IntN(3000))*time.Microsecond)
		defer cancel()
		got, err := soakRows(within, db, "SELECT sum(a.gold > b.gold) FROM account a, account b")
		if !errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("a cancelled statement returned %v, %w", got, err)
		} else {
			err = nil
		}
		return err
	}},
	{"unread", func(ctx context.Context, db *sql.DB, rng *rand.Rand, w *soakWorld) error {
		rows, err := db.QueryContext(ctx, "SELECT gold, twin FROM account")
		if err != nil {
			return err
		}
		for range rng.IntN(20) {
			rows.Next()
		}
		return rows.Close()
	}},
	{"slow", func(ctx context.Context, db *sql.DB, rng *rand.Rand, w *soakWorld) error {
		_, err := soakRows(ctx, db, "SELECT count(*) FROM account a, account b, account c "+
			"WHERE a.gold = b.twin + c.gold")
		var limit *LimitError
		if !errors.As(err, &limit) || limit.Option != "MaxTime" {
			return fmt.Errorf("a statement that takes too long returned %w", err)
		}
		return nil
	}},
	{"large", func(ctx context.Context, db *sql.DB, rng *rand.Rand, w *soakWorld) error {
		_, err := soakRows(ctx, db, "SELECT hex(zeroblob(30000000))")
		var limit *LimitError
		if !errors.As(err, &limit) || limit.Option != "MaxMemoryBytes" && limit.Option != "MaxTime" {
			return fmt.Errorf("a statement that takes too much memory returned %w", err)
		}
		return nil
	}},
}

// TestSoak runs statements of several clients on a soakWorld. Each answer must be that of one moment. In a
// long test, the memory of the process must not grow, and the delays of ticks by statements are limited.
// VAST_SOAK sets the length of the test, for example VAST_SOAK=1h.
func TestSoak(t *testing.T) {
	length := time.Duration(longtest.Pick(int(600*time.Millisecond), int(time.Minute)))
	if text := os.Getenv("VAST_SOAK"); text != "" {
		var err error
		if length, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	s := newSoakWorld(seed)
	db, err := Open(s.w, Options{MaxTime: 100 * time.Millisecond, MaxMemoryBytes: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	long, err := Open(s.w, Options{MaxTime: time.Hour, MaxPause: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	owned, endOwner := context.WithCancel(t.Context())
	var owner, clients sync.WaitGroup
	owner.Go(func() { s.run(owned) })
	end := time.Now().Add(length)
	counts := make([]atomic.Int64, len(soakClients))
	for i, c := range soakClients {
		from := long // because a busy machine may delay these answers
		if c.name == "slow" || c.name == "large" {
			from = db
		}
		clients.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(i+1)))
			for first := true; first || time.Now().Before(end) && !t.Failed(); first = false {
				start := time.Now()
				if err := c.ask(t.Context(), from, rng, s); err != nil {
					t.Errorf("%s: %v", c.name, err)
					return
				}
				counts[i].Add(1)
				pause := 20*time.Millisecond + 4*time.Since(start) // leaves processor time to the others
				time.Sleep(rand.N(pause))
			}
		})
	}
	ended := make(chan struct{})
	go func() {
		clients.Wait()
		close(ended)
	}()
	memory := soakMemory(end, ended)
	<-ended
	endOwner()
	owner.Wait()
	if err := errors.Join(db.Close(), long.Close(), s.w.Close()); err != nil {
		t.Error(err)
	}
	for i, c := range soakClients {
		t.Logf("%-10s %d times", c.name, counts[i].Load())
	}
	delays, noise := quantiles(s.delays), quantiles(s.noise)
	t.Logf("%d ticks in %v; median, 99%%, 99.9%% and maximum of delays by statements: %v, by the system: %v",
		s.ticks, length, delays, noise)
	t.Logf("MB in use and resident: %.1f", memory)
	if !longtest.Enabled() || t.Failed() {
		return
	}
	// On a busy machine, a delay includes time in which the process does not run.
	if most := (Options{}).withDefaults().MaxPause + 4*noise[2]; delays[2] > most {
		t.Errorf("the delay of ticks at 99.9%% is %v, want at most %v", delays[2], most)
	}
	for _, column := range []int{0, 1} {
		n := len(memory)
		early, late := mean(memory[n/4:n/2], column), mean(memory[3*n/4:], column)
		if late > 1.1*early+4 {
			t.Errorf("memory grew from %.1f MB to %.1f MB", early, late)
		}
	}
}

// soakMemory measures memory up to 40 times, until the time end or until the channel ended is closed. A
// measurement consists of the bytes in use on the Go heap after a collection and the resident memory of the
// process, both in MB.
func soakMemory(end time.Time, ended <-chan struct{}) (all [][2]float64) {
	clock := time.NewTicker(time.Until(end) / 40)
	defer clock.Stop()
	for range 40 {
		select {
		case <-clock.C:
		case <-ended:
			return all
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		all = append(all, [2]float64{float64(m.HeapAlloc) / 1e6, residentMB()})
	}
	return all
}

// quantiles returns the median, the quantiles 0.99 and 0.999, and the largest duration.
func quantiles(all []time.Duration) (found [4]time.Duration) {
	slices.Sort(all)
	for i, part := range []float64{0.5, 0.99, 0.999, 1} {
		found[i] = all[int(part*float64(len(all)-1))]
	}
	return found
}

func mean(all [][2]float64, column int) (sum float64) {
	for _, v := range all {
		sum += v[column]
	}
	return sum / float64(len(all))
}

// residentMB returns the resident memory of the process, or 0 if the system does not report it.
func residentMB() float64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var total, resident float64
	if _, err := fmt.Fscan(bytes.NewReader(text), &total, &resident); err != nil {
		return 0
	}
	return resident * float64(os.Getpagesize()) / 1e6
}
