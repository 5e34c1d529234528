package plan

// kind is a kind of work of the cores.
type kind int

const (
	ticking kind = iota
	decoding
	encoding
	appending
	delivering
	syncing
	saving
	telling
	calling
	kinds
)

// kindNames has the name of each kind, for Result.Mostly.
var kindNames = [kinds]string{"ticks", "decoding messages", "encoding messages", "appending messages",
	"delivering messages", "syncs", "checkpoints", "statuses", "moving pointers"}

// mostly returns what the cores do for most of their time.
func (s *simulation) mostly() string {
	most := ticking
	for k, us := range s.spent {
		if us > s.spent[most] {
			most = kind(k)
		}
	}
	return kindNames[most]
}
