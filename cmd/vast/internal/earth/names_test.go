package earth

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vastgo/vast"
	simulation "github.com/vastgo/vast/cmd/vast/earth"
	"github.com/vastgo/vast/cmd/vast/earth/places"
)

const namesakes = `name,lat,lon,country,population
Paris,48.85,2.35,FR,2138551
Paris,33.66,-95.56,US,24782
Paris,36.3,-88.33,US,10156
Pariis,1,1,EE,50
Łódź,51.77,19.47,PL,768755
Saint-Étienne,45.43,4.39,FR,176280
São Paulo,-23.55,-46.64,BR,10021295
"Paris, Texas",33.6,-95.5,US,5
Washington D.C. (old),38.9,-77,US,7
Nowhere,0,0,,0
`

func readList(t testing.TB, text string) *places.List {
	t.Helper()
	l, err := places.Read(strings.NewReader(text), "test", places.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestFold(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"Zürich", "zurich"}, {"Łódź", "lodz"}, {"Saint-Étienne", "saint etienne"},
		{"ÅLESUND", "alesund"}, {"Straße", "strasse"},
		{"İzmir", "izmir"}, {"Hawaiʻi", "hawai'i"}, {"rome", "rome"}, {"", ""}, {"東京", "東京"},
		{"\xff\xfe", "\uFFFD\uFFFD"},
		{"Thành phố Hồ Chí Minh", "thanh pho ho chi minh"},
	} {
		if got := fold(c.name); got != c.want {
			t.Errorf("%q is folded to %q, want %q", c.name, got, c.want)
		}
	}
}

func TestFindPlaces(t *testing.T) {
	x := newIndex(readList(t, namesakes))
	for _, c := range []struct{ text, want string }{
		{"Paris", "Paris, FR"}, {"PARIS", "Paris, FR"}, {"paris, fr", "Paris, FR"},
		{"Paris,US", "Paris, US"}, {"Paris, US (2)", "Paris, US (2)"},
		{"Paris (2)", "Paris, US"}, {"Paris (3)", "Paris, US (2)"},
		{"Paris, Texas", "Paris, Texas, US"}, {"lodz", "Łódź, PL"},
		{"saint etienne", "Saint-Étienne, FR"}, {" São-Paulo ", "São Paulo, BR"}, {"Nowhere", "Nowhere"},
		{"Washington D.C. (old)", "Washington D.C. (old), US"},
		{"Par", ""}, {"Paris, DE", ""}, {"Paris, US (3)", ""}, {"Paris (0)", ""},
		{"Paris (-1)", ""}, {"Paris (2", ""}, {"", ""}, {",", ""}, {"(2)", ""},
	} {
		got := ""
		if place, ok := x.find(c.text); ok {
			got = x.name(place)
		}
		if got != c.want {
			t.Errorf("%q finds %q, want %q", c.text, got, c.want)
		}
	}
}

func TestSuggestPlaces(t *testing.T) {
	x := newIndex(readList(t, namesakes))
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{"par", 9, "[Paris, FR Paris, US Paris, US (2) Pariis, EE Paris, Texas, US]"},
		{"PAR", 2, "[Paris, FR Paris, US]"},
		{"paris", 9, "[Paris, FR Paris, US Paris, US (2) Paris, Texas, US]"},
		{"paris, u", 9, "[Paris, US Paris, US (2) Paris, Texas, US]"},
		{"ł", 9, "[Łódź, PL]"}, {"sã", 9, "[São Paulo, BR Saint-Étienne, FR]"}, {"sa", 9,
			"[São Paulo, BR Saint-Étienne, FR]"}, {"x", 9, "[]"}, {"", 2, "[São Paulo, BR Paris, FR]"},
		{"par", 0, "[]"}, {"zzzz", 9, "[]"},
	} {
		names := []string{}
		for _, place := range x.suggest(c.text, c.most) {
			names = append(names, x.name(place))
		}
		if got := fmt.Sprint(names); got != c.want {
			t.Errorf("%q suggests %s, want %s", c.text, got, c.want)
		}
	}
}

func TestEmbeddedPlacesAreFound(t *testing.T) {
	list, err := places.Embedded(places.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x := newIndex(list)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 5000 {
		place := random.IntN(list.Len())
		if got, ok := x.find(x.name(place)); !ok || got != place {
			t.Errorf("find(%q) = %d, %v, want place %d", x.name(place), got, ok, place)
		}
	}
	for _, text := range []string{"p", "par", "sao p", "new y", "s", "san", "san ", ""} {
		found := x.suggest(text, 5)
		if len(found) == 0 {
			t.Fatalf("%q suggests nothing", text)
		}
		for i, place := range found {
			if !strings.HasPrefix(fold(list.Name(place)), text) || i > 0 &&
				list.Population(found[i-1]) < list.Population(place) {
				t.Errorf("%q suggests %s after %s", text, x.name(place), x.name(found[max(0, i-1)]))
			}
		}
	}
}

func TestNamesOfEntities(t *testing.T) {
	list := readList(t, namesakes)
	e, err := simulation.New(simulation.Config{Travellers: 100, Places: list, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	n := names{newIndex(list), e}
	paris, ok := n.Find("paris")
	if name, named := n.Name(paris); !ok || !named || name != "Paris, FR" {
		t.Errorf("Find(\"paris\") = %v, %v, with the name %q; want Paris, FR", paris, ok, name)
	}
	if _, ok := n.Find("Atlantis"); ok {
		t.Error("Find finds Atlantis, which is not in the list")
	}
	if name, ok := n.Name(vast.Entity{}); ok {
		t.Errorf("the zero entity has the name %q", name)
	}
	if s := n.Suggest("lo", 5); len(s) != 1 || s[0].Name != "Łódź, PL" ||
		s[0].Detail != "768,755 inhabitants" {
		t.Errorf("\"lo\" suggests %+v", s)
	}
}

func BenchmarkNames(b *testing.B) {
	list, err := places.Embedded(places.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("index", func(b *testing.B) {
		for b.Loop() {
			newIndex(list)
		}
	})
	x := newIndex(list)
	for _, text := range []string{"", "s", "san", "paris"} {
		b.Run("suggest "+text, func(b *testing.B) {
			for b.Loop() {
				x.suggest(text, 20)
			}
		})
	}
	b.Run("find", func(b *testing.B) {
		for b.Loop() {
			x.find("Paris, FR")
		}
	})
	b.Run("name", func(b *testing.B) {
		place, _ := x.find("Paris, FR")
		for b.Loop() {
			x.name(place)
		}
	})
}
