// Keeps agents at the open step of a run of Waybill, in OpenCode 1.18.29 and newer and in OpenCode 2. Written by
// 'waybill guard install opencode'; 'waybill guard uninstall opencode' removes it. The first line has the digest of the
// others: a changed text is neither replaced nor removed.
import { spawn } from "node:child_process"

const argv = []

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

// step returns the text about the open step after an event, refusal the one about a turn that ended at it.
const step = async (event, id, cwd) => (await answer(event, id, cwd)).hookSpecificOutput?.additionalContext
const refusal = async (id, cwd) => (await answer("session.idle", id, cwd)).reason

// server is the plugin of OpenCode 1.
const server = async ({ client, directory }) => {
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
        const text = await step(event.type, id, directory)
        if (text) await say(id, text, true)
      }
      if (event.type === "session.idle" && !aborted.delete(id)) {
        const text = await refusal(id, directory)
        if (text) await say(id, text, false)
      }
    },
  }
}

// setup is the plugin of OpenCode 2. Each location has an instance of it, and each instance gets the events of all
// sessions. An execution that failed or was interrupted is not the end of a turn.
const setup = (ctx) => {
  const here = ctx.location.directory
  const begun = new Set() // sessions whose start was seen
  const on = async (type, sessionID) => {
    const start = type === "session.created" || type === "session.execution.started"
    const compacted = type === "session.compaction.ended"
    if (!sessionID || !compacted && !(start && !begun.has(sessionID)) && type !== "session.execution.succeeded") return
    const session = await ctx.session.get({ sessionID })
    if (session.parentID || session.location?.directory !== here) return
    if (start || compacted) {
      begun.add(sessionID)
      const text = await step(compacted ? "session.compacted" : "session.created", sessionID, here)
      if (text) await ctx.session.synthetic({ sessionID, text, resume: false })
      return
    }
    const text = await refusal(sessionID, here)
    if (text) await ctx.session.prompt({ sessionID, text })
  }
  const stop = new AbortController()
  const listen = async () => {
    for await (const event of ctx.event.subscribe({ signal: stop.signal })) {
      try { await on(event.type, event.data?.sessionID) } catch {}
    }
  }
  listen().catch(() => {})
  return () => stop.abort()
}

export default { id: "waybill-guard", server, setup }
