package main

import (
	"github.com/waybill/waybill/durable/fault"
)

// sure asks before something goes that cannot be had back as it was. show is what
// it is about, and stands above the question. Where nobody is at a terminal nobody can
// be asked: the call must say --yes, and never waits for input that cannot come.
func (a *app) sure(yes bool, question string, show func(*page)) error {
	if yes {
		return nil
	}
	// With --json a program reads the answer, even where a terminal is near.
	if !a.isTerminal(a.in) || a.common.json {
		return fault.New(fault.UsageError, "nobody is here who could be asked: %s", question).
			Suggest("Say --yes if it is to be done, or do it at a terminal.")
	}
	if !a.agree(show, question+" [y/N] ") {
		return disagreed()
	}
	return nil
}

// disagreed is the answer to a no, or to no answer.
func disagreed() error {
	return fault.New(fault.RunWaiting, "nobody agreed to it").Suggest("Nothing was changed.")
}
