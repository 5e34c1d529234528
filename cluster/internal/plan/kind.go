package plan

// kind is a kind of work on the cores.
type kind int

const (
	ticking kind = iota
	decoding
	encoding
	appending
	delivering
	syncing
	saving
	reporting
	pointing
	kinds
)

// kindNames are the texts of Result.Mostly.
var kindNames = [kinds]string{"ticks", "decoding messages", "encoding messages", "appending messages",
	"delivering messages", "syncs", "checkpoints", "statuses", "moving pointers"}

// mostly returns the name of the kind of work that takes the most time.
func (s *simulation) mostly() string {
	most := ticking
	for k, us := range s.spent {
		if us > s.spent[most] {
			most = kind(k)
		}
	}
	return kindNames[most]
}
