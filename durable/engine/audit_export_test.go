package engine

// Act lets tests carry out what no use case of this package does.
var Act = (*Engine).act
