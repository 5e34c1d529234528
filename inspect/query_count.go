package inspect

import "net/http"

type countAnswer struct {
	Count   int  `json:"count"`
	Scanned int  `json:"scanned"` // number of slots searched
	Exact   bool `json:"exact"`   // whether Count is complete and describes one moment
}

// countEntities answers with the number of entities that match a query.
func (in *Inspector) countEntities(r *http.Request) (any, error) {
	s, err := in.searchFor(r, wanted{}, answerTime)
	if err != nil {
		return nil, err
	}
	defer s.end()
	var a countAnswer
	err = s.walk(func(_ int, _ []uint64, n int) bool {
		a.Count += n
		return false
	})
	if err != nil {
		return nil, err
	}
	a.Scanned, a.Exact = s.scanned(), s.whole()
	return a, nil
}
