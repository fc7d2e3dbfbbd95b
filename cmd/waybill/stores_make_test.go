//go:build linux

package main

import (
	"encoding/json"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/store/config"
)

// remake replaces the store of this version. It is only for an unreleased format: the store of
// a released version is written once and must be readable by every later version.
var remake = flag.Bool("remake-store", false, "with -update, replace the golden store of this format version")

// goldenSources are the workflows that the golden stores' runs follow.
var goldenSources = map[string]string{
	"checklist.json": `{"id":"demo.checklist","name":"Checklist","description":"d","version":"1.0.0",
 "inputs":[{"contextKey":"ticket","reason":"needs_user_artifact","description":"the number of the ticket"}],
 "steps":[{"id":"look","title":"Look","prompt":"Look at {{ticket}}.","notesRequired":true},
  {"id":"deep","title":"Look deeper","prompt":"p","runCondition":{"var":"severity","equals":"high"}},
  {"id":"decide","title":"Decide","prompt":"p","validationCriteria":[{"type":"contains","value":"Decision:","message":"state the decision"}]}]}`,
	"loop.json": `{"id":"demo.loop","name":"Loop","description":"d","version":"1.0.0","steps":[
 {"id":"again","type":"loop","title":"Again","loop":{"type":"while","maxIterations":3,"conditionSource":{"kind":"artifact_contract","contractRef":"wr.contracts.loop_control"}},
  "body":[{"id":"try","title":"Try","prompt":"p","outputContract":{"contractRef":"wr.contracts.loop_control"}}]},
 {"id":"each","type":"loop","title":"Each","loop":{"type":"forEach","items":"parts","itemVar":"part","maxIterations":5},
  "body":[{"id":"do","title":"Do","prompt":"Do {{part}}."}]}]}`,
	"ship.json": `{"id":"demo.ship","name":"Ship","description":"d","version":"1.0.0","steps":[
 {"id":"ship","title":"Ship it","prompt":"p","requireConfirmation":{"kind":"human_approval"}},{"id":"after","title":"After","prompt":"p"}]}`,
	"command.json": `{"id":"demo.command","name":"Command","description":"d","version":"1.0.0","steps":[
 {"id":"say","title":"Say","action":{"kind":"command","argv":["printf","done"]}}]}`,
	"conditions.json": `{"id":"demo.conditions","name":"Conditions","description":"d","version":"1.0.0","steps":[
 {"id":"early","title":"Early","prompt":"p","runCondition":{"var":"again","equals":true}},
 {"id":"look","title":"Look","prompt":"p","notesRequired":true},
 {"id":"careful","title":"Careful","prompt":"p","runCondition":{"var":"severity","equals":"High"}},
 {"id":"urgent","title":"Urgent","prompt":"p","runCondition":{"var":"urgent","in":[true,1]}},
 {"id":"wait","title":"Wait","prompt":"p","requireConfirmation":{"var":"severity","equals":"High"},
  "promptFragments":[{"id":"slow","text":"Slowly.","when":{"var":"severity","equals":"High"}}]},
 {"id":"rounds","type":"loop","title":"Rounds","loop":{"type":"while","condition":{"var":"more","equals":true},"maxIterations":3},
  "body":[{"id":"round","title":"Round","prompt":"p"}]},
 {"id":"each","type":"loop","title":"Each","loop":{"type":"forEach","items":"parts","itemVar":"part","maxIterations":2},
  "body":[{"id":"do","title":"Do","prompt":"Do {{part}}."}]},
 {"id":"end","title":"End","prompt":"p"}]}`,
	"values.json": `{"id":"demo.values","name":"Values","description":"d","version":"1.0.0",
 "inputs":[{"contextKey":"ticket","reason":"needs_user_artifact","description":"the number of the ticket"}],"steps":[
 {"id":"find","title":"Find for {{ticket}}","action":{"kind":"command","argv":["sh","-c","printf '{\"services\":[\"api\",\"web\"],\"for\":\"%s\"}' \"$1\" | tee \"$WAYBILL_OUTPUT\"","sh","{{ticket}}"]},
  "outputs":{"found":"json:/for"}},
 {"id":"pick","title":"Pick","prompt":"Which one for {{found}}?","inputs":[{"contextKey":"service","reason":"needs_user_choice","choiceKind":"scope_boundary",
   "choicesFrom":{"step":"find","pointer":"/services"},"description":"the service"}]},
 {"id":"settle","title":"Settle","action":{"kind":"wait","until":"{{since}}"}},
 {"id":"say","title":"Say","action":{"kind":"command","argv":["printf","%s","{{service}}"]},"outputs":{"result":"stdout"}},
 {"id":"describe","title":"Describe","prompt":"Describe {{result}}.","notesRequired":true}]}`,
	"later.json": `{"id":"demo.later","name":"Later","description":"d","version":"1.0.0","steps":[
 {"id":"later","title":"Later","action":{"kind":"wait","for":"300d"}},{"id":"then","title":"Then","prompt":"p"}]}`,
	"review.json": `{"id":"demo.review","name":"Review","description":"d","version":"1.0.0","steps":[
 {"id":"plan","title":"Plan","prompt":"p","notesRequired":true,"requireConfirmation":{"kind":"human_approval","expiresAfter":"3d"}},
 {"id":"act","title":"Act","prompt":"p"}]}`,
	"checks.json": `{"id":"demo.checks","name":"Checks","description":"d","version":"1.0.0","steps":[
 {"id":"prove","title":"Prove","prompt":"Make the report pass.","notesRequired":true,"checks":[
  {"id":"report","argv":["cat","report.tap"],"expect":{"tests":{"min":2,"failed":0}}},
  {"id":"file","argv":["cat","pinned.txt"],"pins":["pinned.txt"],"expect":{"exit":0}}]}]}`,
	"report.tap": "1..2\nok 1 one\nnot ok 2 two\n", "good.tap": "1..2\nok 1 one\nok 2 two\n", "pinned.txt": "kept\n",
	"long.txt":      strings.Repeat("A long note. Ünïcode. ", 1000),
	"continue.json": `{"kind":"wr.loop_control","decision":"continue"}`,
	"stop.json":     `{"kind":"wr.loop_control","decision":"stop"}`,
	"result.json":   `{"kind":"result","n":1,"text":"Ünïcode"}`,
	"private.json":  `{"kind":"private","text":"to be erased"}`,
	"pack.json": `{"kind":"workflow-chain-pack","title":"Pack","rationale":"r","artifact":{"name":"team.pack","version":"1.0.0","workflows":[
 {"id":"team.learned","name":"Learned","description":"d","version":"1.0.0","steps":[{"id":"a","title":"A","prompt":"p"}]}]}}`,
	"pack2.json": `{"kind":"workflow-chain-pack","title":"Pack","rationale":"r","artifact":{"name":"team.pack","version":"1.1.0","workflows":[
 {"id":"team.learned","name":"Learned","description":"d","version":"1.0.0","steps":[{"id":"a","title":"A","prompt":"Look twice"}]}]}}`,
	"prompt.json":  `{"kind":"prompt-template","title":"Prompt","artifact":{"templateId":"writer","version":"1.0.0","kind":"user","text":"Write {{what}}."}}`,
	"nightly.json": `{"kind":"automation","artifact":{"automationId":"nightly","schedule":{"cron":"0 3 * * *","timezone":"Europe/Berlin"},"workflowId":"team.learned"}}`,
}

// goldenCalls create one of each kind of record. "approve", "trust" and settings of the policy answer at a terminal,
// "tear" damages the disk, "hook" ends an agent's turn; "!" marks a call that ends with status 3; words in braces are
// replaced by values of earlier calls.
var goldenCalls = []string{
	"config set lockWaitMs 3000", "config set agentMaxAutonomy guided",
	"start checklist.json --title Complete --set ticket=T1 --set severity=high",
	"continue --run @last --notes one --artifact result.json --artifact private.json",
	"continue --run @last --notes two", "continue --run @last --notes Decision:yes",
	"keep {Complete}", "forget .git",
	"start checklist.json --title Blocked --set ticket=T2", "! continue --run @last --done",
	"start loop.json --title Loops --set parts=[\"x\"]", "continue --run @last --notes n --artifact continue.json",
	"continue --run @last --notes n --artifact stop.json", "continue --run @last --notes n",
	"start checklist.json --title Branches --set ticket=T3", "checkpoint --run @last --notes kept",
	"continue --run @last --notes one", "fork @last",
	"runs cancel @last --reason over",
	"trust command.json", "run command.json",
	"start ship.json --title Approved", "! continue --run @last --notes plan", "approve", "continue --run @last --done",
	"continue --run @last --notes n",
	"--store other start ship.json --title Travelled", "! --store other continue --run @last --notes plan",
	"--store other approve",
	"--store other export @last -o travelled.json", "import travelled.json", "import travelled.json --as-new",
	"start checklist.json --title Deleted --set ticket=T4", "sessions delete @last --yes --reason trial",
	"start checklist.json --title Unfinished --set ticket=T5", "continue --run @last --notes one",
	"! continue --run @last --notes undecided", "tear", "repair --apply --yes",
	"artifacts erase {private.json} --yes --reason private", "keys rotate --yes",
	"export {Complete} -o bundle.json",
}

// learningCalls create annotations, proposals and installations, which the first store of this
// format does not contain.
var learningCalls = []string{
	"annotate {Complete} --rating 4 --note good", "annotate {Complete} --label slow",
	"annotate {Complete} --correction other", "annotate {Complete} --flag --confidence 0.5",
	"retract {Complete}",
	"config set principals {\"sam\":{\"roles\":[\"reviewer\",\"lead\"],\"uid\":{uid}}}",
	"config set roles {\"lead\":[\"proposals:apply\",\"proposals:override\"]}",
	"propose pack.json --from-run {Complete} --reason learned",
	"proposals revise {proposal} pack2.json --reason better",
	"proposals approve {proposal}", "proposals apply {proposal}",
	"propose prompt.json", "! proposals apply {proposal}", "proposals reject {proposal} --reason no",
	"proposals archive {proposal}",
	"propose nightly.json", "proposals approve {proposal}", "proposals apply {proposal}",
	"proposals rollback {proposal} --reason noisy",
	"export {Complete} -o bundle.json",
}

// conditionCalls create runs of a workflow with conditions and a list, in form 1 of compiled
// workflows. Each waits where form 2 would decide otherwise.
var conditionCalls = []string{
	"start conditions.json --title Complete --set again=true --set parts=[]",
	"continue --run @last --notes early", "continue --run @last --notes look", "continue --run @last --notes wait",
	"continue --run @last --notes end",
	"start conditions.json --title Unfinished --set severity=high --set urgent=yes --set more=yes --set parts=[]",
	"start conditions.json --title Blocked --set severity=HIGH --set urgent=1. --set parts=[]",
	"! continue --run @last --done",
	"start conditions.json --title Strict --set severity=high --set urgent=\"yes\" --set parts=[\"x\",\"y\",\"z\"]",
	"export {Complete} -o bundle.json",
}

// form2Calls create runs of workflows in form 2: values in commands and their outputs, choices from a result, notes that
// are longer than a recap, waits, an approval that was sent back, ends of an agent's turn that hooks refused, and
// checks that failed, changed and passed.
var form2Calls = []string{
	"trust values.json", "trust checks.json",
	"start values.json --title Complete --set ticket=T1 --set since=2020-01-01T00:00:00Z", "! run --run @last",
	"! continue --run @last --notes n --set service=none", "continue --run @last --notes n --set service=web",
	"! run --run @last", "continue --run @last --notes-file long.txt",
	"start values.json --title Waits --set ticket=T2 --set since=2999-01-01T00:00:00Z", "! run --run @last",
	"continue --run @last --notes n --set service=api",
	"start later.json --title Later",
	"start review.json --title Approved", "! continue --run @last --notes plan", "send-back",
	"! continue --run @last --notes better", "approve", "continue --run @last --done", "hook", "hook", "hook",
	"continue --run @last --notes n",
	"start checks.json --title Proved", "! continue --run @last --notes claimed", "copy good.tap report.tap",
	"continue --run @last --notes proved",
	"start checks.json --title Changed", "copy good.tap pinned.txt", "! continue --run @last --notes changed",
	"start checklist.json --title Blocked --set ticket=T3", "! continue --run @last --done",
	"start checklist.json --title Unfinished --set ticket=T4", "continue --run @last --notes one",
	"export {Complete} -o bundle.json",
}

// goldenStores are the stores in the format of this version, each created when its kinds of
// records were added.
var goldenStores = map[string][]string{"v1": goldenCalls,
	"v1-learning":   append(goldenCalls[:len(goldenCalls)-1:len(goldenCalls)-1], learningCalls...),
	"v1-conditions": conditionCalls, "v1-form2": form2Calls}

// TestMakeStore writes the missing golden stores of this version of the format. It does not
// change existing ones.
func TestMakeStore(t *testing.T) {
	for name, calls := range goldenStores {
		t.Run(name, func(t *testing.T) { makeStore(t, name, calls) })
	}
}

func makeStore(t *testing.T, name string, calls []string) {
	golden, err := filepath.Abs("../../testdata/stores/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(golden); !*update || err == nil && !*remake {
		t.Skip("made once per version of the format")
	}
	// The store names the directory in which its commands were trusted.
	dir := filepath.Join(os.TempDir(), "project")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	t.Chdir(dir)
	g := goldenStore{t, dir}
	files := map[string]string{".git/HEAD": "ref: refs/heads/main\n"}
	for name, text := range goldenSources {
		files[name] = text
	}
	for name, text := range files {
		_ = os.MkdirAll(filepath.Dir(name), 0o700)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	names := map[string]string{"{private.json}": artifactOf(t, "private.json"), "{uid}": strconv.Itoa(os.Getuid())}
	for _, call := range calls {
		for name, is := range names {
			call = strings.ReplaceAll(call, name, is)
		}
		args := strings.Fields(call)
		switch {
		case args[0] == "propose":
			var doc struct{ Data struct{ ID string } }
			if err := json.Unmarshal(
				[]byte(g.waybill(0, append([]string{"proposals", "create", "--as", "sam", "--json"}, args[1:]...)...)),
				&doc); err != nil {
				t.Fatal(err)
			}
			names["{proposal}"] = doc.Data.ID
		case args[0] == "retract":
			var list struct {
				Annotations []struct{ AnnotationID string }
			}
			g.data(&list, "annotations", "list", args[1])
			g.waybill(0, "annotations", "retract", args[1], list.Annotations[1].AnnotationID, "--reason", "wrong",
				"--as", "sam")
		case args[len(args)-1] == "approve", args[0] == "proposals" && args[1] == "approve",
			args[0] == "config" && isPolicy(args[2]), args[0] == "trust":
			g.confirm(append(args, "--as", "sam")...)
		case args[0] == "tear":
			tearLast(t, filepath.Join(dir, "home/local"))
		case args[0] == "send-back":
			g.confirm("send-back", "--reason", "Name the owner", "--as", "sam")
		case args[0] == "hook":
			if status := run([]string{"guard", "hook", "Stop", "--client", "codex"},
				strings.NewReader(`{"session_id":"chat"}`), io.Discard, io.Discard, g.env()); status != 0 {
				t.Fatal(status)
			}
		case args[0] == "copy":
			text, err := os.ReadFile(args[1])
			if err == nil {
				err = os.WriteFile(args[2], text, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		case args[0] == "forget":
			_ = os.RemoveAll(args[1])
		case args[0] == "keep":
			g.waybill(0, "sessions", "keep", args[1], "--reason", "model", "--as", "sam")
		case args[0] == "!":
			g.waybill(3, append(args[1:], "--as", "sam")...)
		default:
			out := g.waybill(0, append(args, "--as", "sam", "--json")...)
			if m := regexp.MustCompile(`--title (\w+)`).FindStringSubmatch(call); m != nil {
				var doc struct {
					Data struct{ Session struct{ RunID string } }
				}
				if err := json.Unmarshal([]byte(out), &doc); err != nil {
					t.Fatal(err)
				}
				names["{"+m[1]+"}"] = doc.Data.Session.RunID
			}
		}
	}
	if err := os.RemoveAll(golden); err != nil {
		t.Fatal(err)
	}
	copyStore(t, filepath.Join(dir, "home/local"), filepath.Join(golden, "store"), 0o755, 0o644)
	text, err := os.ReadFile("bundle.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(golden, "bundle.json"), text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// confirm calls a command at a terminal and confirms what it asks. Its environment has nothing of this machine, since
// trust records the variables that checks get.
func (g goldenStore) confirm(args ...string) {
	g.Helper()
	name, err := exec.LookPath("waybill")
	if err != nil {
		g.Fatal(err)
	}
	s := terminalOf(g.T, g.dir, name, args...)
	s.cmd.Env = []string{"HOME=" + g.dir, "WAYBILL_HOME=" + filepath.Join(g.dir, "home"), "PATH=/usr/bin:/bin", "TERM=xterm"}
	s.start(80)
	s.expect("[y/N]")
	s.typeText("y\n")
	s.expectExit(0)
}

// isPolicy reports a key that is set at a terminal only, with any value.
func isPolicy(key string) bool {
	return slices.ContainsFunc(config.Table, func(row config.Row) bool { return string(row.Key) == key && row.Policy })
}
