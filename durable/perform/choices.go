package perform

import (
	"cmp"
	"context"
	"fmt"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/contract"
	"github.com/waybill/waybill/ports"
)

// askFile asks for an artifact that only a file can supply. It is the first
// question, so that a person without the file has not typed notes in vain.
func (s *stepRun) askFile(ctx context.Context, req *advance.Request) error {
	w := s.requirements()
	if w.pack == nil || !s.Person.Present() || w.optional && s.retried {
		return nil
	}
	q := ports.FileQuestion{Text: fmt.Sprintf("This step requires a result of kind %s, as a JSON file.",
		w.pack.ArtifactKind), Example: w.pack.Example,
		Command: s.submitLine("--artifact", "FILE").Line(), Optional: w.optional || s.neverStops()}
	if w.optional {
		q.Text = fmt.Sprintf("This step accepts a result of kind %s, as a JSON file.", w.pack.ArtifactKind)
	}
	for {
		artifact, err := s.Person.File(ctx, q)
		if err != nil || len(artifact.Bytes) == 0 {
			return err
		}
		// An invalid file is reported here and not sent: a refused attempt
		// would be recorded.
		q.Wrong = nil
		for _, m := range w.pack.Check(artifact.JSON) {
			q.Wrong = append(q.Wrong, m.String())
		}
		if len(q.Wrong) == 0 {
			req.Artifacts = append(req.Artifacts, artifact)
			return nil
		}
	}
}

// askChoices asks the questions that a person answers by choosing, and builds
// the artifacts from the answers.
func (s *stepRun) askChoices(ctx context.Context, req *advance.Request) error {
	if !s.Person.Present() || s.result != nil && !s.result.OK() { // a failed command is not assessed
		return nil
	}
	w := s.requirements()
	var err error
	if w.probe != "" {
		err = s.askProbe(ctx, w.probe, req)
	}
	for i := 0; err == nil && i < len(w.assessments); i++ {
		err = s.askAssessment(ctx, w.assessments[i], req)
	}
	if err == nil && w.decides {
		err = s.askDecision(ctx, w.loop, req)
	}
	return err
}

// askProbe asks whether a capability works, and adds the capability artifact.
func (s *stepRun) askProbe(ctx context.Context, capability string, req *advance.Request) error {
	answer, err := s.Person.Ask(ctx, ports.Question{Text: "You tried it. Did it work?",
		Choices: []string{"success", "failure"}, Inline: true, Optional: s.neverStops()})
	if err != nil || answer == "" {
		return err
	}
	req.Artifacts = append(req.Artifacts, artifactOf(contract.CapabilityKind, "capability", capability, "result",
		answer))
	return nil
}

// askAssessment asks for the level of each dimension, and adds the assessment
// artifact.
func (s *stepRun) askAssessment(ctx context.Context, a contract.Assessment, req *advance.Request) error {
	levels := canon.OfMembers()
	for _, d := range a.Dimensions {
		level, err := s.Person.Ask(ctx, ports.Question{Text: cmp.Or(d.Purpose, d.ID), Key: d.ID, Choices: d.Levels,
			Inline:   true,
			Optional: !d.Required || s.neverStops()})
		if err != nil {
			return err
		}
		if level != "" {
			levels = levels.With(d.ID, canon.OfString(level))
		}
	}
	if levels.Len() == 0 && s.neverStops() {
		return nil // the engine records a gap for what is missing
	}
	v := artifactOf(contract.AssessmentKind, "assessmentId", a.ID).JSON.With("dimensions", levels)
	req.Artifacts = append(req.Artifacts, advance.JSONArtifact(v))
	return nil
}

// reasonCharsMax is the limit of the loop control contract for a summary.
const reasonCharsMax = 1024

// askDecision asks whether the loop continues, and adds the decision artifact.
func (s *stepRun) askDecision(ctx context.Context, loop *compile.Loop, req *advance.Request) error {
	text := "Repeat the loop, or stop?"
	if rounds := RoundsOf(s.flow, s.answer.Pending.StepInstanceKey, s.answer.Context()); len(rounds) > 0 {
		last := rounds[len(rounds)-1]
		text = fmt.Sprintf("Round %d of %q is done. Repeat the loop, or stop?", last.N, last.Loop)
	}
	decision, err := s.Person.Ask(ctx, ports.Question{Text: text, Choices: []string{"continue", "stop"}, Inline: true,
		Optional: s.neverStops()})
	if err != nil || decision == "" {
		return err
	}
	why, err := s.Person.Ask(ctx, ports.Question{Text: "Why? Enter for no reason", Optional: true})
	if err != nil {
		return err
	}
	a := artifactOf(contract.LoopControlKind, "decision", decision)
	if loop != nil && loop.Control.LoopID != "" {
		a.JSON = a.JSON.With("loopId", canon.OfString(loop.Control.LoopID))
	}
	if why != "" {
		a.JSON = a.JSON.With("summary", canon.OfString(reason.Truncate(why, reasonCharsMax)))
	}
	req.Artifacts = append(req.Artifacts, advance.JSONArtifact(a.JSON))
	return nil
}

// artifactOf builds an artifact of a kind from pairs of text members.
func artifactOf(kind string, members ...string) advance.Artifact {
	v := canon.OfMembers().With("kind", canon.OfString(kind))
	for i := 0; i+1 < len(members); i += 2 {
		v = v.With(members[i], canon.OfString(members[i+1]))
	}
	return advance.JSONArtifact(v)
}
