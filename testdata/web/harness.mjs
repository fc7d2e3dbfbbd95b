// Package of helpers for the browser tests: a store with runs that contain hostile text, and pages that record what a
// browser complains about. WAYBILL is the binary under test, CHROMIUM the browser.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { chromium } from "playwright-core";

const axe = createRequire(import.meta.url)("axe-core");
export const executablePath = process.env.CHROMIUM || "/usr/bin/chromium";
const waybill = process.env.WAYBILL;

/** skip is why the tests cannot run here, false if they can. */
export const skip = !waybill ? "WAYBILL does not name the program; use 'make web'"
  : !fs.existsSync(executablePath) ? "Chromium is not installed (Debian: apt-get install chromium)" : false;

/** corpus is text that would become a program if it were written into a page as it is. */
export const corpus = [
  "<script>window.xss=1</script>",
  '"><img src=x onerror="window.xss=1">',
  "'><svg onload=window.xss=1>",
  "[click](javascript:window.xss=1)",
  "<a href='javascript:window.xss=1'>x</a>",
  "![x](https://example.invalid/x.png)",
  "<https://example.invalid/> [ref]: javascript:window.xss=1",
  "</style><script>window.xss=1</script>",
  "]]></svg></title></textarea><script>window.xss=1</script>",
  "&lt;script&gt;window.xss=1&lt;/script&gt;",
  "{{constructor.constructor('window.xss=1')()}}",
  "\u202egnp.exe \u2066x\u2069",
];
const hostile = corpus.join(" ");
/** short fits a title. */
const short = corpus.slice(0, 3).join(" ");

/** Store is a store in a folder of its own, with a repository as working directory. */
export class Store {
  constructor() {
    this.dir = fs.mkdtempSync(path.join(os.tmpdir(), "waybill-web-"));
    this.work = path.join(this.dir, "work");
    fs.mkdirSync(this.work);
    this.env = { ...process.env, HOME: this.dir, WAYBILL_HOME: path.join(this.dir, "home"), XDG_RUNTIME_DIR: this.dir,
      GIT_CONFIG_GLOBAL: "/dev/null" };
    this.file("flow.json", JSON.stringify({ id: "web.flow", name: "Flow " + short, description: "x", version: "1.0.0", steps: [
      { id: "look", title: "Look " + short, prompt: "Look at it. " + hostile },
      { id: "test", title: "Test", prompt: "Run", action: { kind: "command", argv: ["sh", "-c", "cat hostile.txt; cat hostile.txt >&2"] } },
      { id: "ship", title: "Ship", prompt: "Ship it" }] }));
    this.file("hostile.txt", hostile);
  }
  file(name, text) {
    fs.writeFileSync(path.join(this.work, name), text);
    return name;
  }
  /** waybill runs the program and returns its output; a status of the list is accepted. */
  waybill(args, accepted = [0]) {
    try {
      return execFileSync(waybill, args, { cwd: this.work, env: this.env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
    } catch (e) {
      if (accepted.includes(e.status)) return e.stdout;
      throw new Error(`waybill ${args.join(" ")}: ${e.status} ${e.stdout} ${e.stderr}`);
    }
  }
  json(args, accepted) {
    return JSON.parse(this.waybill([...args, "--json"], accepted)).data;
  }
  /** fill adds a complete run, an open one and a proposal, all with hostile text. */
  fill() {
    const git = (...args) => execFileSync("git", args, { cwd: this.work, env: this.env, stdio: "ignore" });
    git("init", "-q");
    git("checkout", "-q", "-b", 'x"><img/src=x/onerror=window.xss=1>');
    const done = this.waybill(["run", "flow.json", "--trust", "--notes", "Notes " + hostile, "--title", "Done " + short, "--goal", hostile, "--json"]);
    this.done = JSON.parse(done).data.runId;
    this.open = this.json(["start", "flow.json", "--title", "Open " + short]).session.runId;
    this.waybill(["annotate", this.done, "--correction", hostile, "--note", hostile]);
    this.waybill(["annotate", this.done, "--label", corpus[1]]);
    this.file("proposal.json", JSON.stringify({ kind: "workflow-chain-pack", title: "Proposal " + short, rationale: hostile,
      artifact: { id: "web.other", name: short, description: hostile, version: "1.0.0", steps: [{ id: "a", title: short, prompt: hostile }] } }));
    this.proposal = this.json(["proposals", "create", "proposal.json"]).id;
    this.artifact();
    return this;
  }
  /** artifact hands in an artifact whose content and type are hostile. */
  artifact() {
    this.file("artifact.json", JSON.stringify({ kind: "web.note", contentType: "text/html", content: hostile }));
    this.waybill(["continue", "--run", this.open, "--notes", "One " + hostile, "--artifact", "artifact.json"]);
  }
  remove() {
    fs.rmSync(this.dir, { recursive: true, force: true });
  }
  /** console starts the console and resolves when it listens. */
  async console(...flags) {
    const child = spawn(waybill, ["console", "--json", "--no-open", ...flags], { cwd: this.work, env: this.env, stdio: ["ignore", "pipe", "pipe"] });
    child.log = "";
    child.stderr.on("data", (b) => { child.log += b; });
    child.ended = new Promise((resolve) => child.on("exit", resolve));
    const line = await new Promise((resolve, reject) => {
      let text = "";
      child.stdout.on("data", (b) => { if ((text += b).includes("\n")) resolve(text); });
      child.on("exit", () => reject(new Error("the console ended: " + child.log)));
    });
    return Object.assign(child, JSON.parse(line).data);
  }
}

let browser;

/** window opens a browser window that records errors and requests elsewhere. */
export async function window({ width = 1400, height = 900, scale = 1, scheme = "light", from = "" } = {}) {
  browser ??= await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync"] });
  const context = await browser.newContext({ viewport: { width, height }, deviceScaleFactor: scale, colorScheme: scheme });
  const page = await context.newPage();
  page.wrong = [];
  page.on("console", (m) => { if (["error", "warning"].includes(m.type())) page.wrong.push("console: " + m.text()); });
  page.on("pageerror", (e) => page.wrong.push("error: " + e));
  page.on("dialog", (d) => { page.wrong.push("dialog: " + d.message()); d.dismiss(); });
  page.on("request", (r) => {
    if (!(from && r.url().startsWith(from)) && !r.url().startsWith("file:")) page.wrong.push("request elsewhere: " + r.url());
  });
  return page;
}

/** done closes a window and fails if the browser complained. */
export async function done(page) {
  assert.deepEqual(page.wrong, []);
  await page.context().close();
}

/** end closes the browser. */
export async function end() {
  if (browser) await browser.close();
  browser = undefined;
}

/** fits fails if the page is wider than the window: something is cut, or has to be scrolled to the side. */
export async function fits(page) {
  const [content, room, wide] = await page.evaluate(() => [document.scrollingElement.scrollWidth, innerWidth,
    [...document.querySelectorAll("main *")].filter((e) => e.getBoundingClientRect().right > innerWidth && !e.closest(".scroll"))
      .map((e) => e.outerHTML.slice(0, 120))]);
  assert.ok(content <= room, `${page.url()} has ${content} of ${room} pixels: ${wide.slice(-2).join(" | ")}`);
}

/** accessible fails for a serious violation that axe-core finds. */
export async function accessible(page) {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  const serious = violations.filter((v) => ["serious", "critical"].includes(v.impact))
    .map((v) => `${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map((n) => n.html).join(" | ")}`);
  assert.deepEqual(serious, []);
}

/** inert fails if any text became a program, an image, a frame or a link to elsewhere but those of Markdown. */
export async function inert(page, scripts) {
  const found = await page.evaluate(() => ({
    ran: globalThis.xss ?? null,
    scripts: document.querySelectorAll("script").length,
    loads: document.querySelectorAll("img, iframe, object, embed, video, audio, source, base, use, image, foreignObject").length,
    handlers: [...document.querySelectorAll("*")].filter((e) => [...e.attributes].some((a) => /^on/i.test(a.name) || a.name === "style")).map((e) => e.outerHTML),
    links: [...document.querySelectorAll("[href]")].map((a) => a.getAttribute("href")).filter((h) => !/^(#|\/|\.\/|https:\/\/|http:\/\/|mailto:)/.test(h)),
  }));
  assert.deepEqual(found, { ran: null, scripts, loads: 0, handlers: [], links: [] });
}
