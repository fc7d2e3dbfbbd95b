package contract

// AssessmentKind is the kind of an artifact that carries an assessment.
const AssessmentKind = "wr.assessment"

// Assessment is a set of dimensions that a step asks to be judged, as the workflow
// declares it.
type Assessment struct {
	ID         string      `json:"id"`
	Purpose    string      `json:"purpose"`
	Dimensions []Dimension `json:"dimensions"`
}

// Dimension is one question with the levels that answer it.
type Dimension struct {
	ID       string   `json:"id"`
	Purpose  string   `json:"purpose"`
	Levels   []string `json:"levels"`
	Required bool     `json:"required"`
}
