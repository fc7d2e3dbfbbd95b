#!/usr/bin/env bash
# Drives waybill through a temporary store, verifies what it wrote with verify.py, damages copies of it in
# every kind of file, and expects the verifier to see that. WAYBILL names another binary, PYTHON another Python.
set -u
here=$(cd "$(dirname "$0")" && pwd)
waybill=${WAYBILL:-$here/../../bin/waybill}
interpreter=$("${PYTHON:-python3}" -c 'import sys; print(sys.executable)') || exit 2
python() { "$interpreter" -S "$@"; } # no wrapper of it, nor its site-packages: they are slow
export PYTHONDONTWRITEBYTECODE=1
unset WAYBILL_HOME
[ -x "$waybill" ] || { echo "check.sh: $waybill does not exist; build it, or set WAYBILL" >&2; exit 2; }
case $waybill in /*) ;; *) waybill=$PWD/$waybill ;; esac

tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
umask 077
cp "$here/workflow.json" "$here/sweep.json" "$here/people.json" "$here/checked.json" "$tmp/"
cd "$tmp" || exit 2
passed=0 failed=0

check() { # check DESCRIPTION WANTED GOT
  if [ "$2" = "$3" ]; then passed=$((passed + 1)); echo "ok    $1"
  else failed=$((failed + 1)); echo "FAIL  $1: $3 instead of $2"; fi
}
drive() { # drive STATUS ANSWER COMMAND...
  local want=$1 answer=$2; shift 2
  "$waybill" "$@" --store store >"$answer" 2>"$answer.err" </dev/null
  check "waybill $1 → $answer" "$want" $?
}
member() { python -c 'import json, sys; print(json.load(open(sys.argv[1]))["data"][sys.argv[2]])' "$1" "$2"; }
tokens() { state=$(member "$1" stateToken) ack=$(member "$1" ackToken); }
verify() { # verify DESCRIPTION STATUS STORE [ARGUMENTS]
  local what=$1 want=$2 dir=$3; shift 3
  python "$here/verify.py" "$dir" "$@" >out 2>&1
  local got=$?
  check "$what" "$want" $got
  [ $got = "$want" ] || cat out
}
same() { # same DESCRIPTION STORE: both verifiers have the same sessions, health and codes, or both an error
  "$waybill" verify --json --store "$2" >theirs.json 2>theirs.err </dev/null
  python "$here/verify.py" "$2" --json >ours.json 2>ours.err
  check "  both say the same of $1" "" "$(python "$here/compare.py" ours.json theirs.json 2>&1)"
}
says_nothing() { check "  no finding" 0 "$(grep -c -e '^error ' -e '^warn ' out)"; }
copy() { rm -rf copy; cp -R store copy; }
says() { check "  $1 says $2" yes "$(grep -q " $2 " out && echo yes || echo no)"; }
flip() { # flip FILE [OFFSET]: one bit of one byte
  python - "$@" <<'PY'
import sys
with open(sys.argv[1], "r+b") as f:
    data = f.read()
    at = int(sys.argv[2]) if len(sys.argv) > 2 else len(data) // 2
    at += len(data) if at < 0 else 0
    f.seek(at)
    f.write(bytes([data[at] ^ 1]))
PY
}
cut() { # cut FILE SIZE: a negative size counts from the end
  python -c 'import os, sys; n = int(sys.argv[2]); os.truncate(sys.argv[1], n if n >= 0 else os.path.getsize(sys.argv[1]) + n)' "$1" "$2"
}

echo "# The verifier's own parts"
python "$here/blake3.py"; check "BLAKE3 against its vectors" 0 $?
python "$here/jcs.py"; check "strict JSON and JCS" 0 $?
python "$here/vectors.py" "$here/../format"; check "documents that are changed in one way" 0 $?
cp -R "$here/../format/store" example; chmod -R go= example
verify "the example store of the page" 0 example; says_nothing; same "the example" example

echo "# A store"
drive 0 start.json start workflow.json --json --title 'Größe 😀' \
  --set severity=0.25 --set '😀=1e21' --set 'deep={"ﬂ":[1e-7,123456.789,-0.5,1.50],"😀":null}'
tokens start.json; first_state=$state first_ack=$ack
drive 3 blocked.json continue --json --state "$state" --ack "$ack"
tokens blocked.json
printf '{"text":"caf\\u00e9","kind":"demo.finding","n":1.50}' >finding.json
printf 'plain\n' >plain.txt
drive 0 second.json continue --json --state "$state" --ack "$ack" --notes 'Größe 😀 𝒳 “done”' \
  --set ticket=T-7 --set ratio=3.14159 --artifact finding.json --artifact plain.txt
tokens second.json; second_state=$state
drive 3 invalid.json continue --json --state "$state" --ack "$ack" --notes 'nothing decided'
tokens invalid.json
drive 0 done.json continue --json --state "$state" --ack "$ack" --notes 'Decision: go'
check "the run is complete" True "$(member done.json isComplete)"
cp -R store before
drive 0 replay.json continue --json --state "$second_state" --ack "$ack" --notes 'Decision: go'
check "a replay wrote nothing" "" "$(diff -r before store)"
drive 0 again.json continue --json --state "$second_state"
tokens again.json
drive 0 fork.json continue --json --state "$state" --ack "$ack" --notes 'Decision: another way'
drive 0 run.txt run workflow.json --trust --yes --notes 'Decision: 𝒳' --set ticket=T-8 --set severity=0.75
drive 0 unfinished.json start workflow.json --json --key nightly --set severity=1
python "$here/person.py" "$waybill" trust workflow.json --store store >trust.txt; check "a person trusts it" 0 $?
drive 0 config.txt config set lockWaitMs 5000
for name in ci board; do
  cp store/keys/http.json older.json 2>/dev/null
  python "$here/person.py" "$waybill" serve keys add $name --scope runs:read,manifest:read --store store >key.txt
  check "a person adds the key $name" 0 $?
done
rm -rf before

echo "# What it wrote"
verify "the store is whole" 0 store; same "the store" store
cat out
check "three sessions are healthy" 3 "$(grep -c '^sess_.* healthy ' out)"
check "no finding" 0 "$(grep -c -e '^error ' -e '^warn ' out)"
verify "answers as JSON" 0 store --json
check "which is JSON" 0 "$(python -m json.tool <out >/dev/null; echo $?)"
check "every requestDigest was made again" yes "$(python -c 'import json, sys
made, all = json.load(sys.stdin)["requests"]; print("yes" if made == all > 5 else "%d of %d" % (made, all))' <out)"
verify "its tokens, with the keys" 0 store --keyring store/keys/keyring.json --token "$first_state" --token "$first_ack" --token "$ack"
last=${first_state%?} end=${first_state##*.} other=A
case $end in A*) other=B ;; esac
verify "a token with another signature" 5 store --keyring store/keys/keyring.json --token "${first_state%.*}.$other${end#?}"
verify "a token that is cut" 5 store --token "$last"
verify "no store" 2 "$tmp/nothing"
verify "no argument that is known" 2 store --unknown

echo "# Loops, checkpoints, an approval, forks and ends"
sweep() { # sweep STATUS ANSWER COMMAND...: in a store of its own
  local want=$1 answer=$2; shift 2
  "$waybill" "$@" --store loops >"$answer" 2>"$answer.err" </dev/null
  check "waybill $1 → $answer" "$want" $?
}
go() { # go STATUS ARGUMENTS: an attempt that brings something
  n=$((n + 1)); local status=$1; shift
  sweep "$status" "step-$n.json" continue --run "$run" --json "$@"
}
bare() { # bare STATUS: an attempt that brings nothing
  sweep 0 tokens.json continue --run "$run" --json; tokens tokens.json
  n=$((n + 1)); sweep "$1" "step-$n.json" continue --json --state "$state" --ack "$ack"
}
at() { check "  pending" "$1" "$(python -c 'import json, sys
p = json.load(open(sys.argv[1]))["data"]["pending"]; print(p["stepInstanceKey"] if p else None)' "step-$n.json")"; }
artifact() { printf '%s' "$2" >"$1.json"; }
n=0
artifact stop '{"kind":"wr.loop_control","decision":"stop","loopId":"rounds","metadata":{"confidence":80,"own":[1]}}'
artifact more '{"kind":"wr.loop_control","decision":"continue"}'
artifact wrong '{"kind":"wr.loop_control","decision":"perhaps"}'
artifact tried '{"kind":"wr.capability_observation","capability":"delegation","result":"success","attemptContext":"system_probe"}'
artifact claimed '{"kind":"wr.capability_observation","capability":"web_browsing","claim":"unavailable"}'
artifact failed '{"kind":"wr.capability_observation","capability":"web_browsing","result":"failure","summary":"no page came"}'
artifact left '{"kind":"wr.divergence","reason":"efficiency_skip","summary":"One file was enough.","own":true}'
artifact high '{"kind":"wr.assessment","assessmentId":"ready","dimensions":{"risk":"high"}}'
artifact low '{"kind":"wr.assessment","dimensions":{"risk":{"level":"low","rationale":"tested"},"reach":"few"}}'
artifact result '{"kind":"demo.result","n":1}'
sweep 0 sweep.json.out start sweep.json --json --title Loops --set 'files=["a","b","c"]' --set build=green --autonomy full_auto_stop_on_user_deps
run=$(python -c 'import json; print(json.load(open("sweep.json.out"))["data"]["session"]["runId"])')
go 3 --artifact claimed.json
go 0 --artifact tried.json --artifact failed.json; at files@0::read
go 0 --notes 'Read a.' --artifact left.json --set quick=true; at files@0/rounds@0::fix
go 3 --artifact wrong.json
sweep 0 kept.json checkpoint --run "$run" --json --notes 'Half of a.' --artifact result.json
sweep 0 kept-again.json checkpoint --run "$run" --json --notes 'More of a.'
go 0 --artifact more.json; at files@0/rounds@1::fix
go 0 --artifact stop.json --set quick=false; at files@0/rounds@1::check
go 0 --notes Checked. --risk aggressive; at files@1::read
go 0 --notes 'Read b.' --set build=red; at files@1/rounds@0::fix
go 0 --artifact stop.json; at files@1/rounds@0::check
sweep 0 branch.json fork "$run" --json --title 'Another way'
go 0 --notes Checked.; at files@2::read
go 0 --notes 'Read c.'; go 0 --artifact stop.json; go 0 --notes Checked.; at twice@0::again
go 0 --notes Once.; at twice@1::again
go 0 --notes Twice.; at mend@0::repair
go 3 --notes 'Not known.' --set build=null
go 3 --notes 'It depends on force.' --set build=green
go 0 --notes Repaired. --set force=false; at judge
go 3 --artifact high.json
go 0 --artifact low.json; at release
go 3 --notes 'All of it.' --artifact result.json
sweep 3 refused.json approve "$run" --json
python "$here/terminal.py" "$waybill" approve "$run" --store loops --as sam --comment 'Looked at it.' >approve.txt; check "waybill approve, at a terminal" 0 $?
go 3 --notes 'All of it, and more.'
python "$here/terminal.py" "$waybill" approve "$run" --store loops >approve.txt; check "waybill approve, again" 0 $?
bare 0; at None
branch=$(python -c 'import json; print(json.load(open("branch.json"))["data"]["session"]["runId"])')
sweep 0 cancel.json runs cancel "$branch" --json --failed --reason 'The other way was better.'
sweep 1 closed.json continue --run "$branch" --json --notes 'Too late.'
run=$branch
sweep 0 wild.json start sweep.json --json --set build=red --autonomy full_auto_never_stop
run=$(python -c 'import json; print(json.load(open("wild.json"))["data"]["session"]["runId"])')
go 0 --artifact claimed.json --artifact tried.json; at twice@0::again
bare 0; go 0 --notes Twice.; at mend@0::repair
go 0 --set build=null --set force=null; at never@0::wait
bare 0; at judge
go 0 --artifact high.json; at release
bare 3
python "$here/terminal.py" "$waybill" approve "$run" --store loops >approve.txt; check "waybill approve, in a run that never stops" 0 $?
sweep 0 asked.json export "$run" -o asked.bundle
sweep 0 fork-end.json fork "$run" --json --at release
bare 0; at None
verify "the store with loops is whole" 0 loops; says_nothing; same "the store with loops" loops
cat out
python "$here/verify.py" loops --json >ours.json; check "snapshots were held against their workflows" yes "$(python -c 'import json
d = json.load(open("ours.json")); print("yes" if d["snapshots"] > 20 and d["requests"][0] == d["requests"][1] > 20 else d)')"
looped=$(member sweep.json.out session | grep -o 'sess_[a-z2-7]*')
forked=$(member branch.json session | grep -o 'sess_[a-z2-7]*')
forge() { # forge DESCRIPTION CODE SESSION ...: facts that no program of ours records are no damage, and are seen
  rm -rf copy; cp -R loops copy; rm -rf copy/sessions/*/cache
  local what=$1 code=$2; shift 2
  python "$here/forge.py" copy "$@" || check "forge $what" made failed
  verify "$what" 0 copy; says it "$code"; same "it" copy
}
snapshot() { python -c 'import json, sys
refs = [e["data"]["snapshotRef"] for f in sorted(__import__("glob").glob("loops/sessions/%s/events/*" % sys.argv[1]))
        for e in map(json.loads, open(f)) if e["kind"] == "node_created" and e["data"]["nodeKind"] == "step"]
print(json.dumps(refs[int(sys.argv[2])]))' "$1" "$2"; }
index() { python -c 'import json, sys
print([e["eventIndex"] for f in sorted(__import__("glob").glob("loops/sessions/%s/events/*" % sys.argv[1]))
       for e in map(json.loads, open(f)) if e["kind"] == sys.argv[2]][int(sys.argv[3])])' "$1" "$2" "$3"; }
forge "a run closed for another reason" inconsistent "$forked" run_closed 0 'data.reason="another"'
forge "a run closed as cancelled that was to fail" inconsistent "$forked" run_closed 0 'data.outcome="cancelled"'
forge "a fork of a head that never was" inconsistent "$forked" run_started 0 "data.forkedFrom.head=\"sha256:$(printf '0%.0s' $(seq 64))\""
forge "a fork with the snapshot of another node" inconsistent "$forked" node_created 0 "data.snapshotRef=$(snapshot "$looped" 1)"
forge "a checkpoint with another snapshot" inconsistent "$looped" node_created 3 "data.snapshotRef=$(snapshot "$looped" 0)"
forge "a loop that went round without a decision" inconsistent "$looped" node_created 5 "data.snapshotRef=$(snapshot "$looped" 2)"
forge "a loop that ended against its decision" inconsistent "$looped" node_created 5 "data.snapshotRef=$(snapshot "$looped" 6)"
forge "a capability that is available all the same" inconsistent "$looped" capability_observed 2 'data.status="available"'
forge "a divergence for another reason" inconsistent "$looped" divergence_recorded 0 'data.reason="safety_stop"'
forge "an approval by an agent" segment_order "$looped" node_output_appended -1 'actor.kind="agent"'
forge "a trace before the capability" segment_order "$looped" swap "$(index "$looped" decision_trace_appended 1)" "$(index "$looped" capability_observed 2)"
forge "an audit line of an unknown action" unknown_version audit action_recorded 0 'data.action="another"'
forge "an audit line of an unknown kind" unknown_version audit action_recorded 0 'kind="action_seen"'
forge "an audit line of another person" inconsistent audit action_recorded 0 'actor.kind="engine"'
unfounded() { # unfounded DESCRIPTION ...: lines that no session has the fact of
  rm -rf copy; cp -R loops copy; rm -rf copy/cache
  local what=$1; shift
  python "$here/forge.py" copy audit "$@" || check "forge $what" made failed
  verify "$what" 5 copy; says it audit_unfounded; same "it" copy
}
unfounded "an audit line of another event" action_recorded 0 data.source.eventIndex=1
unfounded "an audit line of another action" action_recorded 0 'data.action="cancel"' 'data.details.x="y"'
unfounded "an audit line of another run" action_recorded 1 'data.target.id="run_aaaaaaaaaaaaaaaaaaaaaaaaaa"'
rm -rf copy; cp -R loops copy; rm -rf copy/cache; cut copy/audit/manifest.jsonl "$(python -c 'print(len(b"".join(open("copy/audit/manifest.jsonl", "rb").readlines()[:-1])))')"
rm "copy/audit/$(cd copy/audit && ls events/* | tail -1)"; verify "an audit log without its last line" 0 copy; says it audit_incomplete; same "it" copy
rm -rf copy; cp -R loops copy; rm -rf copy/cache copy/sessions/*/cache; python "$here/forge.py" copy "$looped" run_started 0 'eventId="evt_aaaaaaaaaaaaaaaaaaaaaaaaaa"'
verify "an event id that does not follow from its key" 5 copy; says it event_id; same "it" copy
forge "two outputs of one decision that differ" inconsistent "$looped" node_output_appended -1 'data.decision.by="ada"'
forge "a gap of a blocked attempt that is a warning" inconsistent "$looped" gap_recorded 0 'data.severity="warning"'

echo "# Waits"
cat >wait.json <<'END'
{"id":"demo.wait","name":"Wait","description":"d","version":"1.0.0","steps":[
 {"id":"past","title":"Past","action":{"kind":"wait","until":"2001-01-01T00:00:00Z"}},
 {"id":"twice","title":"Twice","type":"loop","loop":{"type":"for","count":2,"maxIterations":2},"body":[
  {"id":"pause","title":"Pause","action":{"kind":"wait","for":"1s"}}]},
 {"id":"value","title":"Value","action":{"kind":"wait","until":"{{at}}"}}]}
END
waits() { # waits STATUS ANSWER COMMAND...: in a store of its own
  local want=$1 answer=$2; shift 2
  "$waybill" "$@" --store waits >"$answer" 2>"$answer.err" </dev/null
  check "waybill $1 → $answer" "$want" $?
}
waits 0 wait.txt start wait.json
waits 0 wait.txt due --run
waits 3 wait.txt run --run @last
sleep 1.1
waits 0 wait.txt due --run
sleep 1.1
waits 0 wait.txt due --run
waits 3 wait.txt continue --run @last --set at=2001-01-01T01:00:00+01:00
waits 0 wait.txt due --run
check "the run is complete" yes "$(grep -q 'is complete' wait.txt && echo yes || echo no)"
verify "a store with waits" 0 waits; cat out; says_nothing; same "the store with waits" waits
echo "# Host steps"
cat >host.json <<'END'
{"id":"demo.host","name":"Host","description":"d","version":"1.0.0","steps":[
 {"id":"same","title":"Same","action":{"kind":"host","typeId":"core.identity"}},
 {"id":"pause","title":"Pause","action":{"kind":"host","typeId":"core.delay","config":{"defaultMs":30000}}},
 {"id":"call","title":"Call","action":{"kind":"host","typeId":"core.ai.callPrompt","config":{"any":{"thing":[1]}}}},
 {"id":"end","title":"End","action":{"kind":"host","typeId":"core.fail","config":{"code":"E1","message":"m"}}}]}
END
hosts() { # hosts STATUS ANSWER COMMAND...: in a store of its own
  local want=$1 answer=$2; shift 2
  "$waybill" "$@" --store hosts >"$answer" 2>"$answer.err" </dev/null
  check "waybill $1 → $answer" "$want" $?
}
hosts 0 host.txt start host.json
hosts 3 host.txt run --run @last
hosts 3 host.txt continue --run @last --notes done
verify "a store with host steps" 0 hosts; cat out; says_nothing; same "the store with host steps" hosts
echo "# Decisions of people"
decide() { # decide STATUS COMMAND...: at a terminal, in a store of its own
  local want=$1; shift
  python "$here/terminal.py" "$waybill" "$@" --store people >decide.txt; check "waybill $1, at a terminal" "$want" $?
}
people() { # people STATUS COMMAND...: in that store, without one
  local want=$1; shift
  "$waybill" "$@" --store people --json >people.out 2>people.err </dev/null; check "waybill $1 in people" "$want" $?
}
began() { people 0 start people.json --title "$1"; run=$(grep -o 'run_[a-z2-7]*' people.out | head -1) session=$(grep -o 'sess_[a-z2-7]*' people.out | head -1); }
again() { people 0 continue --run "$run"; tokens people.out; people "$1" continue --state "$state" --ack "$ack"; }
began Changed; changed=$session
people 3 continue --run "$run" --notes 'A plan.'
people 3 send-back "$run" --reason 'No.'
decide 0 send-back "$run" --reason "Say who does it. $(printf 'é%.0s' $(seq 300))"
again 3
people 3 continue --run "$run" --notes 'A plan.'
check "  the same outputs are not accepted" yes "$(grep -q 'was sent back by' people.out && echo yes || echo no)"
people 3 continue --run "$run" --notes 'A plan by Ada.'
decide 0 approve "$run" --as sam --comment Good.
again 0
people 3 continue --run "$run" --notes Shipped.
decide 1 approve "$run"
decide 1 deny "$run" --reason 'It was shipped from here.'
began Denied; denied=$session
people 3 continue --run "$run" --notes 'Another plan.'
decide 0 deny "$run" --reason 'Not any more.'
people 1 continue --run "$run" --notes 'Once more.'
verify "the store with decisions is whole" 0 people; says_nothing; same "the store with decisions" people
check "  an account where a gate asks for it" 1 "$(cat people/sessions/*/events/* | grep -c '"data":{"account":"uid:')"
check "  what was decided, and refused, is in the audit log" "deny deny send_back send_back" "$(python -c 'import glob, json
print(*sorted(e["data"]["action"] for f in glob.glob("people/audit/events/*") for e in map(json.loads, open(f)) if e["data"].get("action") in ("send_back", "deny")))')"
forge_people() { # forge_people DESCRIPTION CODE SESSION ...
  rm -rf copy; cp -R people copy; rm -rf copy/cache copy/sessions/*/cache
  local what=$1 code=$2; shift 2
  python "$here/forge.py" copy "$@" || check "forge $what" made failed
  verify "$what" 0 copy; says it "$code"; same "it" copy
}
nth() { python -c 'import glob, json, sys
print([i for i, e in enumerate(e for f in sorted(glob.glob("people/sessions/%s/events/*" % sys.argv[1])) for e in map(json.loads, open(f))
                               if e["kind"] == "node_output_appended") if e["data"].get("decision", {}).get("decision") == sys.argv[2]][0])' "$1" "$2"; }
back=$(nth "$changed" sent_back) no=$(nth "$denied" denied)
forge_people "a decision with another reason than its artifact" artifact_form "$changed" node_output_appended "$back" 'data.decision.reason="Fine."'
forge_people "a decision about something else" artifact_form "$changed" node_output_appended "$back" "data.decision.shownDigest=\"sha256:$(printf '0%.0s' $(seq 64))\""
forge_people "a step sent back by another person" inconsistent "$changed" node_output_appended "$back" 'data.decision.by="ada"'
forge_people "a denial by an agent" segment_order "$denied" node_output_appended "$no" 'actor.kind="agent"'
forge_people "a denial that ends the run for another reason" inconsistent "$denied" run_closed 0 'data.reason="another"'
forge_people "a denial that cancels the run" inconsistent "$denied" run_closed 0 'data.outcome="cancelled"'
forge_people "a gap of a step sent back that is a warning" inconsistent "$changed" gap_recorded 2 'data.severity="warning"'
forge_people "an approval that had expired" inconsistent "$changed" advance_recorded -2 'timestampMs=99999999999999'

echo "# Checks of steps"
checked() { # checked STATUS COMMAND...: in a store of its own
  local want=$1; shift
  "$waybill" "$@" --store checks --json >checks.out 2>checks.err </dev/null; check "waybill $1 in checks" "$want" $?
}
cat >suite.sh <<'SH'
echo TAP version 13
echo 1..2
echo ok 1
if [ -f fixed ]; then echo ok 2; else echo not ok 2; fi
SH
checked 0 start checked.json --set n=2
run=$(grep -o 'run_[a-z2-7]*' checks.out | head -1) session=$(grep -o 'sess_[a-z2-7]*' checks.out | head -1)
checked 3 continue --run "$run" --notes Done.
python "$here/terminal.py" "$waybill" trust checked.json --store checks >trusted.txt; check "waybill trust, at a terminal" 0 $?
checked 3 continue --run "$run" --notes Done.
check "  both checks are named, with their tests and their output" yes "$(grep -q '"id":"named"' checks.out && grep -q '"outputTail":"TAP' checks.out && echo yes || echo no)"
checked 3 continue --run "$run" --notes Done. --set n=3
touch fixed; checked 0 continue --run "$run" --notes Done.
echo 'echo ok' >>suite.sh; checked 3 continue --run "$run" --notes Done.
sed '$d' suite.sh >put.back; mv put.back suite.sh; checked 0 continue --run "$run" --notes Done.
checked 0 continue --run "$run" --done
check "  nothing of the output is in the log" 0 "$(cat checks/sessions/*/events/* | grep -c outputTail)"
verify "the store with checks is whole" 0 checks; says_nothing; same "the store with checks" checks
result() { python -c 'import glob, hashlib, json, sys
found = [e for f in sorted(glob.glob("checks/sessions/*/events/*")) for e in map(json.loads, open(f)) if e["kind"] == "node_output_appended"]
of = lambda e: open("checks/artifacts/" + e["data"]["payload"]["sha256"].replace(":", "_")).read()
at = [i for i, e in enumerate(found) if e["data"]["payload"].get("artifactKind") == "wr.check_result"]
print(json.dumps([[i, found[i]["data"]["payload"]["sha256"], found[i]["data"]["payload"]["byteLength"], json.loads(of(found[i]))["checkId"]] for i in at]))' ; }
pick() { result | python -c 'import json, sys
print(*[r for r in json.load(sys.stdin) if r[3] == sys.argv[1]][int(sys.argv[2])][:3])' "$1" "$2"; }
forge_checks() { # forge_checks DESCRIPTION CODE ...
  rm -rf copy; cp -R checks copy; rm -rf copy/cache copy/sessions/*/cache
  local what=$1 code=$2; shift 2
  python "$here/forge.py" copy "$session" "$@" || check "forge $what" made failed
  verify "$what" 0 copy; says it "$code"; same "it" copy
}
set -- $(pick unit 0) $(pick unit 2)
digest=$2 bytes=$3 passed_at=$4
forge_checks "an attempt that advanced with the result of a refused one" inconsistent node_output_appended "$passed_at" \
  "data.payload.sha256=\"$digest\"" "data.payload.byteLength=$bytes"
forge_checks "a refused attempt that names one of two checks" inconsistent advance_recorded 0 'data.outcome={"blockers":{"blockers":[{"check":{"id":"unit"},"code":"INVALID_REQUIRED_OUTPUT","message":"m","pointer":{"kind":"workflow_step","stepId":"verify"}}]},"kind":"blocked"}'
forge_checks "a result that a caller sent" inconsistent node_output_appended "$passed_at" 'actor.kind="agent"'
"$waybill" export "$run" --store checks -o checks.bundle >export.txt 2>&1 </dev/null; check "waybill export of checks" 0 $?
"$waybill" import checks.bundle --as-new --store checks >import.txt 2>&1 </dev/null; check "waybill import of checks, as new" 0 $?
verify "checks in a session with other ids" 0 checks; says_nothing; same "the store with checks twice" checks

echo "# Hooks"
mkdir -p repo/.git; printf 'ref: refs/heads/main\n' >repo/.git/HEAD
(cd repo && "$waybill" start ../workflow.json --store ../hooks --set severity=1 >../hooked.txt 2>&1 </dev/null); check "waybill start in a repository" 0 $?
for n in 1 2 3 4; do (cd repo && printf '{"session_id":"chat"}' | "$waybill" guard hook Stop --store ../hooks) >"hook-$n.txt"; done
check "  the end of a turn is refused twice" 2 "$(cat hook-*.txt | grep -c '"decision":"block"')"
check "  three records" 3 "$(cat hooks/sessions/*/events/* | grep -c '"kind":"guard_noted"')"
"$waybill" continue --run @last --store hooks --set ticket=T-9 --notes 'Seen.' >hooked.txt 2>&1 </dev/null; check "waybill continue" 0 $?
verify "the store with records of hooks is whole" 0 hooks; says_nothing; same "the store with records of hooks" hooks
session=$(ls hooks/sessions)
forge_hooks() { # forge_hooks DESCRIPTION CODE MEMBER=JSON: of the last record
  rm -rf copy; cp -R hooks copy; rm -rf copy/cache copy/sessions/*/cache
  python "$here/forge.py" copy "$session" guard_noted -1 "$3" || check "forge $1" made failed
  verify "$1" 0 copy; says it "$2"; same "it" copy
}
forge_hooks "a record with another count" inconsistent data.refusals=3
forge_hooks "a record of an agent" segment_order 'actor.kind="agent"'
forge_hooks "a record that is not ignorable" unknown_version ignorable=false

echo "# Bundles"
bundle() { # bundle DESCRIPTION STATUS ARGUMENTS: what bundle.py says of bundles
  local what=$1 want=$2; shift 2
  python "$here/bundle.py" "$@" >out 2>&1
  local got=$?
  check "$what" "$want" $got
  [ $got = "$want" ] || cat out
}
into() { # into STATUS STORE COMMAND...: the answer is in into.json
  local want=$1 dir=$2; shift 2
  "$waybill" "$@" --store "$dir" --json >into.json 2>into.err </dev/null
  check "waybill $1 $2" "$want" $?
}
mkdir bundles
for dir in store loops example people hooks; do
  for s in $(ls "$dir/sessions"); do
    into 0 "$dir" export "$s" -o "bundles/$dir-$s.json"
    bundle "  it holds, and stands for the files of the store" 0 "bundles/$dir-$s.json" --against "$dir"
    into 0 moved import "bundles/$dir-$s.json"
    into 0 elsewhere import --as-new "bundles/$dir-$s.json"
  done
  bundle "bundles of $dir, and what an import made" 0 "bundles/$dir-"* --against moved
  bundle "bundles of $dir, and what an import under new ids made" 0 "bundles/$dir-"* --renewed elsewhere
done
for dir in moved elsewhere; do
  verify "$dir is whole" 0 $dir; says_nothing; same "$dir" $dir
  "$waybill" runs list --store $dir --json >list.json 2>list.err
  for run in $(python -c 'import json; print(*[r["runId"] for r in json.load(open("list.json"))["data"]["runs"]])'); do
    into 0 $dir replay "$run"
  done
done
cp -R elsewhere before; into 0 elsewhere import --as-new "$(ls bundles/loops-* | head -1)"
check "a second import wrote nothing" "" "$(diff -r -x '.*lock' before elsewhere)"; rm -rf before
renamed=$(python -c 'import json; print(json.load(open("into.json"))["data"]["sessionId"])')
into 0 elsewhere export "$renamed" -o bundles/again.json; into 0 third import --as-new bundles/again.json
bundle "an import of an import" 0 bundles/again.json --against elsewhere --renewed third
unfinished=$(member unfinished.json session | grep -o 'run_[a-z2-7]*')
into 0 moved continue --run "$unfinished"
same_content() { python -c 'import json, sys; a, b = (json.load(open(f)) for f in sys.argv[1:]); print(a["session"] == b["session"] and a["integrity"] == b["integrity"])' "$@"; }
into 0 moved export "$looped" -o bundles/back.json
check "  the same content" True "$(same_content "bundles/loops-$looped.json" bundles/back.json)"

into 0 asked import asked.bundle
run=$(member wild.json session | grep -o 'run_[a-z2-7]*')
into 0 asked continue --run "$run"; tokens into.json
into 3 asked continue --state "$state" --ack "$ack"
check "  an approval that was given elsewhere does not count" yes "$(grep -q USER_ONLY_DEPENDENCY into.json && echo yes || echo no)"
verify "asked is whole" 0 asked; same "asked" asked

python "$here/forge.py" example sess_aihge25qelb43nyo2uzheououe annotate remarks 3; find example -type d -exec chmod 700 {} + ; chmod -R go= example
python "$here/forge.py" example sess_aihge25qelb43nyo2uzheououe annotate other_9 1; chmod -R go= example
verify "a session with side logs" 0 example; says_nothing; same "side logs" example
into 0 example export sess_aihge25qelb43nyo2uzheououe -o bundles/sides.json
into 0 sides import bundles/sides.json; into 0 sides import --as-new bundles/sides.json
bundle "side logs go along" 0 bundles/sides.json --against sides --renewed sides
verify "sides is whole" 0 sides; says_nothing; same "sides" sides
for file in remarks/manifest.jsonl remarks/events/00000001-00000001.jsonl; do
  rm -rf copy; cp -R sides copy; flip "copy/sessions/sess_aihge25qelb43nyo2uzheououe/$file"; verify "a bit flips in $file" 5 copy; same "it" copy
  check "  the session is healthy" 1 "$(grep -c '^sess_aihge25qelb43nyo2uzheououe healthy ' out)"
done

# A session comes home: events and annotations are added behind those of the store, then an import that did not finish.
into 0 homeless start workflow.json --set severity=1; home=$(grep -o 'run_[a-z2-7]*' into.json | head -1)
into 0 homeless export "$home" -o bundles/away.json
into 0 guest import bundles/away.json; into 0 guest annotate "$home" --label there
into 0 guest continue --run "$home" --notes 'Elsewhere' --set ticket=T-9; into 0 guest export "$home" -o bundles/home.json
into 0 homeless import bundles/home.json --accept
verify "a session that came home" 0 homeless; says_nothing; same "a session that came home" homeless
check "  its mark is an interval" 1 "$(grep -l '"from":' homeless/sessions/*/imported.json | wc -l | tr -d ' ')"
into 0 homeless export "$home" --hand-over -o bundles/over.json; verify "a hand-over" 0 homeless; says_nothing; same "a hand-over" homeless
into 0 homeless runs take-back "$home"; verify "the end of a hand-over" 0 homeless; says_nothing; same "it" homeless
python - homeless/sessions/*/imported.json "$here" <<'PY'
import glob, os, sys
sys.path.insert(0, sys.argv[2])
import jcs
from control import load_control
mark, folder = load_control(sys.argv[1], "imported")[1], os.path.dirname(sys.argv[1])
events = max(int(n[9:17]) for n in os.listdir(os.path.join(folder, "events"))) + 1
mark["pending"], mark["events"] = {"events": events}, events + 9
for first in (events, events + 4):
    with open(os.path.join(folder, "events", "%08d-%08d.jsonl" % (first, first + 3)), "w") as f:
        os.fchmod(f.fileno(), 0o600)
with open(sys.argv[1], "wb") as f:
    f.write(jcs.encode({"data": mark, "kind": "imported", "sha256": jcs.digest(jcs.encode(mark)), "v": 1}))
PY
verify "an import that did not finish" 0 homeless; says it orphan_segment; same "an import that did not finish" homeless
into 3 homeless continue --run "$home" --notes 'Here again' --set ticket=T-9
verify "  a writer removes what it left" 0 homeless; says_nothing; same "it" homeless

rm -rf copy; cp -R loops copy; rm -rf copy/sessions/*/cache
printf x >>"$(ls copy/sessions/"$looped"/events/* | tail -1)"
into 5 copy export "$looped" -o bundles/damaged.json
into 0 copy export "$looped" --salvage -o bundles/salvage.json
into 0 salvaged import bundles/salvage.json
bundle "a salvage" 0 bundles/salvage.json --renewed salvaged
verify "salvaged is whole" 0 salvaged; says_nothing; same "salvaged" salvaged
check "  its mark says so" 1 "$(grep -l '"salvage":true' salvaged/sessions/*/imported.json | wc -l | tr -d ' ')"

into 0 secrets start workflow.json --set severity=1; run=$(grep -o 'run_[a-z2-7]*' into.json | head -1)
printf '{"kind":"demo.finding","text":"ghp_abcdefghijklmnopqrstuvwxyz0123456789"}' >secret.json
"$waybill" continue --run "$run" --store secrets --json --notes 'It is AKIAIOSFODNN7EXAMPLE.' --set ticket=T-1 --artifact secret.json >secret.out 2>&1
into 0 secrets export "$run" --redact -o bundles/redacted.json
bundle "a redacted one" 0 bundles/redacted.json
check "  nothing is left of it" False "$(python -c 'import base64, json
d = json.load(open("bundles/redacted.json")); rest = json.dumps(d) + "".join(base64.b64decode(a).decode() for a in d["session"]["artifacts"].values())
print("ghp_" in rest or "AKIA" in rest)')"
into 0 shared import bundles/redacted.json; verify "shared is whole" 0 shared; says_nothing; same "shared" shared

mkdir mutants
python "$here/mutants.py" "bundles/example-sess_aihge25qelb43nyo2uzheououe.json" mutants >wanted.txt
python "$here/bundle.py" $(sed 's:^:mutants/:; s: .*::' wanted.txt) >ours.txt
"$waybill" import mutants/sealed-nothing.json --store strict >/dev/null 2>&1
find strict -type f ! -name '.*' -exec cksum {} + | sort >before.txt
grep -v ' ok$' wanted.txt >refused.txt; grep ' ok$' wanted.txt >taken.txt
code() { "$waybill" import "mutants/$1" --store "$2" --json 2>/dev/null </dev/null | python -c 'import json, sys; print(sys.argv[1], json.load(sys.stdin).get("error", {"code": "ok"})["code"])' "$1"; }
while read -r name _; do code "$name" strict; done <refused.txt >theirs.txt
check "what is refused leaves nothing" "" "$(find strict -type f ! -name '.*' -exec cksum {} + | sort | diff before.txt -)"
while read -r name _; do rm -rf taken; code "$name" taken; done <taken.txt >>theirs.txt
verdict() { python - "$1" wanted.txt ours.txt theirs.txt <<'PY'
import sys
wanted, ours, theirs = (dict(line.split()[:2] for line in open(f)) for f in sys.argv[2:])
for name, code in wanted.items():
    found = {"ours": ours[name], "theirs": theirs[name]}[sys.argv[1]]
    if found != code and (code != "refused" or found == "ok") or found != ours[name]:
        print(name, found, "instead of", code)
PY
}
check "$(grep -c . wanted.txt) bundles that are changed in one way, to bundle.py" "" "$(verdict ours)"
check "  and to waybill" "" "$(verdict theirs)"

cp -R loops repaired; printf x >>"$(ls repaired/sessions/"$looped"/events/* | tail -1)"
into 0 repaired repair "$looped" --apply --yes
verify "a repaired store" 0 repaired; same "a repaired store" repaired
check "  the repair is on record" True "$(python -c 'import sys; sys.path.insert(0, sys.argv[1]); from control import load_control
print(sorted(load_control(sys.argv[2], "repair")[1]) == ["actor", "atMs", "findings", "health", "kept", "owner", "root", "steps"])' "$here" "$(ls repaired/quarantine/*/repair.json)")"

echo "# Marks, tombstones, the trash and the audit log"
into 0 moved sessions keep "$looped" --reason 'The model.'
erased=$(cd moved && ls artifacts | head -1); rm -rf before; cp -R moved before
into 0 moved artifacts erase "sha256:${erased#sha256_}" --reason 'A secret.' --yes
into 0 moved sessions delete "$forked" --reason 'A trial.' --yes
verify "kept, erased and deleted" 0 moved; same "kept, erased and deleted" moved
trashed=$(cd moved && ls -d trash/*)
find moved -name cache -prune -exec rm -rf {} +
marked() { rm -rf copy; cp -R moved copy; }
for file in "sessions/$looped/keep" "sessions/$looped/imported.json" "artifacts/$erased.erased" "$trashed/trash.json"; do
  marked; flip "copy/$file"; verify "a bit flips in $file" 5 copy; says it control_damaged; same "$file" copy
  marked; cut "copy/$file" -1; verify "the last byte of $file is gone" 5 copy; says it control_damaged; same "$file" copy
done
marked; rm "copy/artifacts/$erased.erased"; verify "a tombstone is gone" 5 copy; says it object_missing; same "it" copy
for file in manifest.jsonl $(cd moved/audit && ls events/* | sed -n '1p;3p;$p'); do
  marked; flip "copy/audit/$file"; verify "a bit flips in audit/$file" 5 copy; same "it" copy
done
marked; rm "copy/audit/$(cd moved/audit && ls events/* | sed -n 2p)"; verify "a segment of audit is gone" 5 copy; says it segment_missing; same "it" copy
marked; cut copy/audit/manifest.jsonl -50; verify "audit/manifest.jsonl is cut: a warning" 0 copy; says it uncommitted_tail; same "it" copy
marked; mv "copy/audit/$(cd moved/audit && ls events/* | tail -1)" copy/audit/events/00009999-00009999.jsonl; verify "a segment of audit begins beyond the end" 5 copy; same "it" copy
marked; cp "before/artifacts/$erased" copy/artifacts/; verify "a tombstone, and the bytes" 0 copy; says it artifact_erased; same "it" copy
marked; cp -R copy/audit copy/other_9; verify "another side log of the store" 0 copy; same "it" copy
marked; touch copy/audit/stray; chmod 644 copy/audit/events/00000000-*; verify "a stray file in audit" 0 copy; says it unknown_file; says it permissions; same "it" copy
check "the audit log has its ids derived" True "$(python "$here/verify.py" moved --json | python -c 'import json, sys
d = json.load(sys.stdin); print(d["sideLogs"][0]["path"] == "audit" and d["sideLogs"][0]["events"] > 15 and not [f for f in d["findings"] if f["path"] == "audit"])')"

echo "# The log of answers to idempotency keys"
answers() { copy; python "$here/forge.py" copy idempotency answer 3; chmod -R go= copy; }
answers; verify "a log of answers" 0 copy; says_nothing; same "it" copy
answers; flip copy/idempotency/events/00000001-00000001.jsonl; verify "a bit of an answer" 5 copy; same "it" copy
answers; cut copy/idempotency/manifest.jsonl -9; verify "a cut answer" 0 copy; same "it" copy
answers; python "$here/forge.py" copy idempotency response_recorded 1 data.status=401; verify "a status that is not kept" 0 copy; says it unknown_version; same "it" copy
answers; python "$here/forge.py" copy idempotency response_recorded 1 'data.more=1'; verify "an unknown member" 0 copy; says it unknown_version; same "it" copy
answers; python "$here/forge.py" copy idempotency response_recorded 2 'data.route=""'; verify "an answer without a route" 0 copy; says it unknown_version; same "it" copy
store_id=$(grep -o 'store_[a-z2-7]*' store/store.json | head -1) key="response_recorded:$(grep -o 'store_[a-z2-7]*' store/store.json | head -1):7"
answers; python "$here/forge.py" copy idempotency response_recorded 1 data.ordinal=7 "dedupeKey=\"$key\""
verify "an answer with an id of another one" 5 copy; says it event_id; same "it" copy
answers; python "$here/forge.py" copy idempotency response_recorded 1 data.ordinal=7 "dedupeKey=\"$key\"" \
  "eventId=\"$(python -c 'import sys; sys.path.insert(0, sys.argv[1]); import blake3; print(blake3.derive_id("evt", *sys.argv[2:]))' "$here" "$store_id" "$key")\""
verify "an answer with another index" 5 copy; says it broken_reference; same "it" copy
answers; touch copy/idempotency/stray; verify "a stray file beside answers" 0 copy; says it unknown_file; same "it" copy

session=$(grep -o 'sess_[a-z2-7]*' done.json | head -1)
[ -n "$session" ] || session=$(grep -l '"forkedFrom\|non_tip' store/sessions/*/events/* | head -1 | cut -d/ -f3)
manifest=sessions/$session/manifest.jsonl
segments=$(cd store && ls "sessions/$session/events/"* )
one() { (cd store && ls $1 | head -1); }

echo "# One byte in each kind of file"
for file in store.json config.json trust.json keys/keyring.json keys/http.json "$manifest" $segments \
  $(cd store && ls snapshots/* artifacts/* workflows/pinned/*); do
  copy; flip "copy/$file"; verify "a bit flips in $file" 5 copy
  case $file in store.json|trust.json|keys/http.json|artifacts/*) same "$file" copy ;; esac
done
for at in 0 1 -1 -2; do
  copy; flip "copy/$manifest" $at; verify "a bit flips in the manifest at $at" 5 copy
done

echo "# Something is cut off, or gone"
group=$(python "$here/verify.py" store --json | python -c 'import json, sys
print([s["head"]["groupAt"] for s in json.load(sys.stdin)["sessions"] if s["id"] == sys.argv[1]][0])' "$session")
uncached() { copy; rm -rf "copy/sessions/$session/cache"; } # the head cache is a witness of its own
copy; cut "copy/$manifest" "$group"; verify "the last group is gone, and the head cache knows" 5 copy; says it lost_tail; same "a lost group" copy
flip "copy/sessions/$session/cache/head-8" 0; verify "a head cache with a wrong seal is none" 0 copy; says it uncommitted_tail; same "a broken seal" copy
uncached; cut "copy/$manifest" "$group"; verify "exactly the last group is gone: a warning" 0 copy; says it uncommitted_tail; same "a lost group without cache" copy
uncached; cut "copy/$manifest" -1; verify "the last newline is gone: a warning" 0 copy; says it uncommitted_tail
uncached; cut "copy/$manifest" $((group + 100)); verify "a part of the last group: a warning" 0 copy; says it uncommitted_tail; same "a torn group" copy
copy; cut "copy/$manifest" $((group - 1)); verify "more than the last group is gone" 5 copy; says it lost_tail
copy; cut "copy/$manifest" 0; verify "the manifest is empty" 5 copy; says it lost_tail; same "an empty manifest" copy
copy; rm "copy/$manifest"; verify "the manifest is gone" 5 copy; says it lost_tail
copy; printf x >>"copy/$manifest"; verify "a byte behind the manifest" 5 copy; says it manifest_damaged; same "a byte behind" copy
for file in $segments $(one 'snapshots/*') $(one 'artifacts/*') $(one 'workflows/pinned/*') store.json keys/keyring.json; do
  copy; cut "copy/$file" -1; verify "the last byte of $file is gone" 5 copy
done
for file in $(echo "$segments" | head -1) $(echo "$segments" | tail -1) $(one 'snapshots/*') $(one 'artifacts/*') $(one 'workflows/pinned/*'); do
  copy; rm "copy/$file"; verify "$file is gone" 5 copy; same "$file" copy
done

echo "# What is no damage"
copy; printf x >"copy/sessions/$session/events/00000001-00000001.jsonl"; verify "a segment that no group names" 0 copy; says it orphan_segment; same "an orphan" copy
copy; chmod 644 copy/trust.json; verify "others can read a control file" 0 copy; says it permissions; same "permissions" copy
copy; printf x >copy/snapshots/.tmp-00; verify "a file on its way" 0 copy; check "no finding" 0 "$(grep -c '^warn' out)"
copy; printf x >copy/stray; verify "an unknown file" 0 copy; says it unknown_file; same "a stray file" copy
copy; chmod 644 copy/keys/keyring.json; verify "others can open the keyring" 5 copy; says it control_damaged; same "the keyring" copy

copy; chmod 644 copy/keys/http.json; verify "others can open the keys of programs" 5 copy; says it control_damaged; same "the keys" copy
copy; touch copy/keys/stray; verify "an unknown file beside the keys" 0 copy; says it unknown_file; same "a stray file in keys" copy
copy; cp older.json copy/keys/http.json; verify "an older copy of the keys" 5 copy; says it policy_unconfirmed; same "older keys" copy
copy; rm copy/keys/http.json; verify "the keys are gone" 5 copy; says it policy_unconfirmed; same "no keys" copy
python - copy/keys/http.json "$here" <<'PY'
import sys
sys.path.insert(0, sys.argv[2])
import jcs
data = {"keys": [{"addedMs": 1, "name": "thief", "scopes": ["runs:read"], "sha256": "sha256:" + "0" * 64}]}
with open(sys.argv[1], "wb") as f:
    f.write(jcs.encode({"data": data, "kind": "http_keys", "sha256": jcs.digest(jcs.encode(data)), "v": 1}))
PY
chmod 600 copy/keys/http.json; verify "a key that was added by editing" 5 copy; says it policy_unconfirmed; same "an edited list" copy

echo "$passed passed, $failed failed"
[ $failed = 0 ]
