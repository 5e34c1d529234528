package vast

type position struct{ X, Y float64 }
type velocity struct{ X, Y float64 }
