package protocol

import "fmt"

// Version is a version of the program. It runs the ticks of all regions from its first tick until the next
// version begins. A later version continues each region from a checkpoint of the last tick of the previous
// version.
type Version struct {
	From uint64 // the first tick of the version
	Code Hash   // identifies the version
}

// codeOf returns the code of the version that runs a tick, or zero if all versions begin after the tick.
func (o *Options) codeOf(tick uint64) (code Hash) {
	for _, v := range o.Versions() {
		if v.From > tick {
			break
		}
		code = v.Code
	}
	return code
}

// The method runs returns ErrVersion if an earlier version must run the tick after the newest checkpoint, and
// ErrEnd if a later version must run that tick. p is the pointer to the newest checkpoint.
func (r *owner) runs(p *pointer) error {
	if p.Tick+1 < r.o.From {
		return fmt.Errorf("the newest checkpoint is of tick %d, and this version begins after tick %d: %w",
			p.Tick, r.o.From-1, ErrVersion)
	}
	for _, v := range r.o.Versions() {
		if v.From > r.o.From && p.Tick+1 >= v.From {
			return ErrEnd
		}
	}
	return nil
}
