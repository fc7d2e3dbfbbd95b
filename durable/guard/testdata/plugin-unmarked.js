// Keeps agents at the open step of a run of Waybill. Written by 'waybill guard install opencode';
// 'waybill guard uninstall opencode' removes it.
import { spawn } from "node:child_process"

const argv = ["/old/way bill","--store","/s"]

// answer runs a hook and returns its answer, {} if there is none: a hook never stops the client.
const answer = (event, session, cwd) =>
  new Promise((done) => {
    const words = [...argv.slice(1), "guard", "hook", event, "--client", "opencode"]
    const child = spawn(argv[0], words, { stdio: ["pipe", "pipe", "ignore"], timeout: 5000 })
    let out = ""
    child.stdout.on("data", (part) => { out += out.length < 65536 ? part : "" })
    child.on("error", () => done({}))
    child.on("close", () => {
      try { done(JSON.parse(out)) } catch { done({}) }
    })
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify({ session_id: session, cwd, hook_event_name: event }))
  })

export const WaybillGuard = async ({ client, directory }) => {
  const others = new Set() // sessions that another session began
  const aborted = new Set() // sessions that the user interrupted
  const say = (id, text, noReply) =>
    client.session.prompt({ path: { id }, body: { noReply, parts: [{ type: "text", text }] } })
  return {
    event: async ({ event }) => {
      const of = event.properties ?? {}
      const id = of.sessionID ?? of.info?.id
      if (event.type === "session.created" && of.info?.parentID) others.add(id)
      if (event.type === "session.error" && of.error?.name === "MessageAbortedError") aborted.add(id)
      if (!id || others.has(id)) return
      if (event.type === "session.created" || event.type === "session.compacted") {
        const text = (await answer(event.type, id, directory)).hookSpecificOutput?.additionalContext
        if (text) await say(id, text, true)
      }
      if (event.type === "session.idle" && !aborted.delete(id)) {
        const text = (await answer(event.type, id, directory)).reason
        if (text) await say(id, text, false)
      }
    },
  }
}
