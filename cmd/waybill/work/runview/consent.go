package runview

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"strings"

	"github.com/waybill/waybill/cmd/waybill/cli/consent"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/invisible"
	"github.com/waybill/waybill/durable/perform"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/ports"
)

// CanConsent reports whether the person can be asked to confirm, approve or trust: stdin, stdout and
// stderr are the terminal. Other questions need only what Present reports.
func (v *View) CanConsent() bool { return v.asker != nil && v.asker.Able() }

// consent asks a question whose answer covers the text of show. The end of the input is
// ports.ErrPersonStopped.
func (v *View) consent(ctx context.Context, show func(*page.Page), question string) (string, error) {
	v.page.Blank()
	answer, err := v.asker.Ask(ctx, show, question)
	if errors.Is(err, io.EOF) {
		err = ports.ErrPersonStopped
	}
	return answer, err
}

// Confirm shows the step and its command, if any, and asks. Only "y" and "yes" confirm; "b" goes back.
func (v *View) Confirm(ctx context.Context, question string) (bool, error) {
	s := v.step
	answer, err := v.consent(ctx, func(p *page.Page) {
		v.describe(p)
		if len(s.Argv) > 0 {
			render.Command(p, "  ", s.Argv, s.Cwd, s.Env)
		}
		if s.Back {
			p.Line("  %s", p.Dim(backWord+" goes back to an earlier step"))
		}
	}, question+" [y/N]")
	v.headingShown, v.commandShown = true, len(s.Argv) > 0
	if err == nil && answer == backWord && s.Back {
		err = ports.ErrPersonBack
	}
	return consent.Yes(answer), err
}

// Approve shows the step and all output that the decision is bound to, and asks. Only "y" and "yes"
// approve, "s" sends the step back, "d" denies it, "e" asks for other notes; at the end of the input the
// error is ports.ErrPersonStopped. Where one decision alone is asked for, "y" makes it.
func (v *View) Approve(ctx context.Context, q ports.ApproveQuestion) (ports.ApprovalAnswer, error) {
	v.written = "" // what is submitted is recorded
	// What was shown when the step began may be out of date.
	v.step.Prompt, v.step.Refused = cmp.Or(q.Prompt, v.step.Prompt), nil
	answer, err := v.consent(ctx, func(p *page.Page) {
		v.describe(p)
		p.Blank()
		// An approval without any output is unusual, hence the warning sign.
		if q.Notes == "" && len(q.Results) == 0 {
			p.Text("  "+p.Warn("!")+" ", "Nothing was submitted for this step.")
		} else {
			p.Line("  %s", p.Bold("Submitted"))
		}
		if q.Notes != "" {
			p.Quote("  ", q.Notes, page.Plain)
		}
		for _, r := range q.Results {
			v.result(p, r)
		}
		for _, c := range q.Checks {
			render.Check(p, "  ", c)
		}
		decisions(p, q)
	}, cmp.Or(onlyQuestions[q.Decides], "Approve? [y/N]"))
	v.headingShown = true
	switch {
	case err != nil:
		return ports.ApprovalRefused, err
	case consent.Yes(answer):
		return cmp.Or(q.Decides, ports.ApprovalGiven), nil
	case q.Decides != "":
		return ports.ApprovalRefused, nil
	}
	return cmp.Or(approvalAnswers[answer], ports.ApprovalRefused), nil
}

// onlyQuestions are the questions about a decision that the command line chose.
var onlyQuestions = map[ports.ApprovalAnswer]string{
	ports.ApprovalSentBack: "Send it back? [y/N]", ports.ApprovalDenied: "Deny it and end the run? [y/N]"}

// approvalAnswers are the answers that decide something else than an approval, or ask for other notes;
// any other one leaves the step waiting.
var approvalAnswers = map[string]ports.ApprovalAnswer{"e": ports.ApprovalEdit, "edit": ports.ApprovalEdit,
	"s": ports.ApprovalSentBack, "send back": ports.ApprovalSentBack, "d": ports.ApprovalDenied, "deny": ports.ApprovalDenied}

// decisions writes who handed in the output, what was decided before, the difference to what was sent
// back, and the answers.
func decisions(p *page.Page, q ports.ApproveQuestion) {
	if len(q.By) > 0 {
		p.Text("  ", "Handed in by "+page.OneLine(page.List(q.By, "and")))
	}
	if len(q.Changes) > 0 {
		p.Blank()
		p.Line("  %s", p.Bold("Difference to what was sent back"))
		p.QuoteExactly("  ", strings.Join(q.Changes, "\n"), page.Plain)
	}
	if len(q.Decided)+len(q.Needed) > 0 {
		p.Blank()
	}
	for _, line := range q.Decided {
		p.Text("  ", page.OneLine(line))
	}
	if q.Needed != "" {
		p.Text("  ", page.OneLine(q.Needed))
	}
	p.Blank()
	if q.Decides != "" {
		p.Text("  ", "Reason: "+page.OneLine(q.Reason))
		return
	}
	p.Text("  "+p.Accent("y")+" ", "approve it")
	p.Text("  "+p.Accent("s")+" ", "send it back, with what has to change")
	p.Text("  "+p.Accent("d")+" ", "deny it: the run ends")
	p.Text("  "+p.Accent("e")+" ", "change the notes first; they are then shown again")
}

// describe writes what the person has to know about the step: the run, the position and title of the
// step, its prompt, warnings, and why an earlier attempt was not accepted.
func (v *View) describe(p *page.Page) {
	s := v.step
	if name := nameOf(v.run); name != "" {
		p.Text("", page.Name(name))
	}
	p.StyledText(p.Accent(positionOf(s)), page.Name(s.Title), p.Bold)
	if len(s.Rounds) > 0 {
		p.Text("  ", page.Name(perform.FormatRounds(s.Rounds)))
	}
	for _, w := range s.Warnings {
		p.Text("  "+p.Warn("!")+" ", w)
	}
	if s.Prompt != "" {
		p.Quote("  ", s.Prompt, markdown(p))
	}
	if len(s.Refused) > 0 {
		p.Line("  %s", p.Warn("Not accepted before, because:"))
	}
	for _, r := range s.Refused {
		p.Text("  "+p.Warn("!")+" ", r)
	}
}

// result writes an artifact: its name and content, or where to look at content that is not text. Of
// what is shown the person also sees type, size and digest.
func (v *View) result(p *page.Page, r ports.Result) {
	p.Text("  ", page.Name(r.Name))
	if r.ContentType != r.Name {
		p.Text("    ", "type "+page.Name(r.ContentType))
	}
	p.Text("    ", page.Plural(int(r.Bytes), "byte")+", "+r.Digest.String())
	switch {
	case !r.JSON.IsNull():
		p.QuoteExactly("  ", indented(r.JSON.JCS()), page.Plain)
	case r.IsText():
		p.QuoteExactly("  ", r.Text, page.Plain)
	default:
		p.Text("    ", "It is not text. Look at it with:")
		p.Unbroken("od -c " + command.Word(filepath.Join(v.opts.Store, filepath.FromSlash(r.Path))) + " | less")
	}
}

// indented returns JSON for a person: on lines of their own, and with escapes for characters that are
// not printed, so that they are seen as what they are.
func indented(text []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, text, "", "  ") != nil {
		return string(text)
	}
	return string(invisible.EscapeJSON(b.Bytes()))
}

// Trust shows all commands of a workflow and asks whether they may run: not at all, once, or always
// for this version, unless only once is possible. Every other answer and an empty line are a no; at the end of the input the error
// is ports.ErrPersonStopped.
func (v *View) Trust(ctx context.Context, q ports.TrustQuestion) (ports.TrustAnswer, error) {
	actions := catalog.Commands(q.Workflow)
	question := "Allow it? [y/a/N]"
	if q.OnlyOnce != "" {
		question = "Run " + page.Choose(len(actions), "it", "them") + " once? [y/N]"
	}
	answer, err := v.consent(ctx, func(p *page.Page) {
		render.Commands(p, q.Workflow.Name, q.Workflow.WorkflowID, q.Source, actions, q.Values)
		render.HomeFolders(p, q.Fixed)
		if q.OnlyOnce != "" {
			p.Text("  "+p.Warn("!")+" ", q.OnlyOnce)
			return
		}
		if v.opts.TrustRoot != "" {
			p.Text("  ", "\"Always\" counts in this repository or folder only:")
			p.Verbatim("    ", page.Argument(v.opts.TrustRoot), page.Plain)
		}
		// The three answers and their effects; "always" is recorded in the store.
		p.Text("  "+p.Accent("y")+" ", "run "+page.Choose(len(actions), "it", "them")+" once")
		p.Text("  "+p.Accent("a")+" ", "always allow this version of the workflow")
		p.Text("  "+p.Accent("n")+" ", "run nothing")
	}, question)
	v.page.Blank()
	given := cmp.Or(trustAnswers[answer], ports.TrustRefused)
	if q.OnlyOnce != "" && given == ports.TrustAlways {
		given = ports.TrustRefused // it was not offered
	}
	return given, err
}

// trustAnswers are the answers that allow the commands; any other one refuses them.
var trustAnswers = map[string]ports.TrustAnswer{
	"y": ports.TrustOnce, "yes": ports.TrustOnce, "a": ports.TrustAlways, "always": ports.TrustAlways}
