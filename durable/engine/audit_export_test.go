package engine

// Act lets tests carry out acts that no use case of this package has.
var Act = (*Engine).act
