import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { accessible, corpus, done, end, fits, inert, skip, Store, window } from "./harness.mjs";

describe("console", { skip }, () => {
  let store, server;
  before(async () => { store = new Store().fill(); });
  after(async () => { await end(); store.remove(); });

  /** open starts a console and opens it in a window as a person does. */
  const open = async (options = {}, ...flags) => {
    if (server) await stop();
    server = await store.console(...flags);
    const page = await window({ ...options, from: server.url });
    await page.goto("file://" + server.file);
    await page.waitForSelector("main#main #runs");
    return page;
  };
  const stop = async () => {
    server.kill("SIGINT");
    assert.equal(await server.ended, 0);
    server = undefined;
  };
  const go = async (page, place, selector) => {
    await page.evaluate((to) => { location.hash = to; }, "#" + place);
    await page.waitForSelector(selector);
  };
  after(async () => { if (server) await stop(); });

  for (const width of [400, 1400]) {
    for (const scheme of ["light", "dark"]) {
      test(`pages are accessible and inert at ${width} px, ${scheme}`, async () => {
        const page = await open({ width, scheme });
        for (const [place, selector] of [["/runs", "#runs table"], ["/runs/" + store.done, "#integrity"], ["/runs/" + store.open, "#integrity"],
          ["/inbox", "#inbox"], ["/proposals", "#proposals table"], ["/proposals/" + store.proposal, "#history"], ["/feedback", "#workflows table"],
          ["/doctor", "#checks table"]]) {
          await go(page, place, selector);
          await fits(page);
          await inert(page, 1);
          await accessible(page);
          if (process.env.PICTURES) await page.screenshot({ path: path.join(process.env.PICTURES, `console${place.replaceAll("/", "-").slice(0, 12)}-${width}-${scheme}.png`), fullPage: true });
        }
        assert.ok((await page.textContent("body")).length > 0);
        await done(page);
      });
    }
  }

  test("hostile text is shown as text", async () => {
    const page = await open();
    await go(page, "/runs/" + store.done, "#integrity");
    const text = await page.evaluate(() => {
      for (const d of document.querySelectorAll("details")) d.open = true;
      return document.querySelector("main").textContent;
    });
    for (const part of corpus.slice(0, 3)) assert.ok(text.includes(part), part);
    assert.ok(!text.includes("\u202e"));
    await done(page);
  });

  test("a filter selects, its address can be kept, and says what excludes", async () => {
    const page = await open();
    await page.selectOption("#f-status", "complete");
    await page.click(".filters button");
    await page.waitForFunction(() => document.querySelectorAll("#runs tbody tr").length === 1);
    assert.equal(await page.getAttribute("#runs tbody tr", "data-run"), store.done);
    assert.match(page.url(), /#\/runs\?status=complete$/);
    await page.reload();
    await page.waitForFunction(() => document.querySelectorAll("#runs tbody tr").length === 1);
    await page.fill("#f-text", "no such text");
    await page.press("#f-text", "Enter");
    await page.waitForSelector("[data-excluded]");
    await done(page);
  });

  test("the keyboard reaches a run, its sections and its folds", async () => {
    const page = await open();
    await page.focus("#runs tbody a");
    await page.keyboard.press("Enter");
    await page.waitForSelector("#steps");
    await page.focus('.toc a[href="#timeline"]');
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement.id), "timeline");
    await page.focus("#graph summary");
    const before = await page.evaluate(() => document.querySelector("#graph details").open);
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.querySelector("#graph details").open), !before);
    await done(page);
  });

  test("a run grows as it happens, and folds stay as they are", async () => {
    const page = await open();
    await go(page, "/runs/" + store.open, "#integrity");
    const steps = () => page.evaluate(() => document.querySelectorAll("#timeline tbody tr").length);
    await page.evaluate(() => { document.querySelector("#graph details").open = true; globalThis.kept = document.querySelector("#graph summary"); });
    const before = await steps();
    store.waybill(["checkpoint", "--run", store.open, "--notes", "A checkpoint that appears"]);
    await page.waitForFunction((n) => document.querySelectorAll("#timeline tbody tr").length > n, before, { timeout: 15000 });
    assert.ok(await page.evaluate(() => document.querySelector("#graph details").open), "a fold was closed");
    assert.ok(await page.evaluate(() => globalThis.kept.isConnected), "what did not change was replaced");
    assert.match(await page.textContent("main"), /A checkpoint that appears/);
    await inert(page, 1);
    await done(page);
  });

  test("the list of runs changes too", async () => {
    const page = await open();
    const before = await page.evaluate(() => document.querySelectorAll("#runs tbody tr").length);
    store.waybill(["start", "flow.json", "--title", "A run that appears"]);
    await page.waitForFunction((n) => document.querySelectorAll("#runs tbody tr").length > n, before, { timeout: 15000 });
    await done(page);
  });

  test("a run that is deleted while it is watched, and a damaged session, are said on the page", async () => {
    const run = store.json(["start", "flow.json", "--title", "Soon deleted"]).session;
    const damaged = store.json(["start", "flow.json", "--title", "Soon damaged"]).session;
    const page = await open();
    await go(page, "/runs/" + run.runId, "#integrity");
    store.waybill(["sessions", "delete", run.sessionId, "--yes"]);
    await page.waitForSelector('[data-code="RUN_NOT_FOUND"]', { timeout: 15000 });
    // A list reads a session again when its manifest changes.
    const manifest = path.join(store.dir, "home", "local", "sessions", damaged.sessionId, "manifest.jsonl");
    fs.chmodSync(manifest, 0o600);
    fs.writeFileSync(manifest, fs.readFileSync(manifest, "utf8").replace(/(sha256:)./g, "$1x"));
    await go(page, "/runs", "#unreadable");
    assert.match(await page.textContent("#unreadable"), new RegExp(damaged.sessionId));
    assert.ok(await page.evaluate(() => document.querySelectorAll("#runs tbody tr").length) > 1);
    // The browser reports the status 404 of the page that was asked for again.
    page.wrong = page.wrong.filter((w) => !w.includes("404"));
    await done(page);
  });

  test("the file opens the console once, and the end is said", async () => {
    const page = await open();
    assert.equal(fs.existsSync(server.file), false);
    const other = await window({ from: server.url });
    await other.goto(server.url + "/#token=" + server.token);
    await other.waitForFunction(() => document.getElementById("state").textContent.includes("not admitted"));
    assert.equal(await other.evaluate(() => document.querySelector("table")), null);
    assert.deepEqual(other.wrong.filter((w) => !w.includes("403")), []);
    await other.context().close();
    await stop();
    await page.waitForFunction(() => document.getElementById("state").textContent.includes("has ended"));
    await done(page);
  });

  test("a command can be copied", async () => {
    const page = await open();
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: server.url });
    await go(page, "/runs/" + store.open, "#next");
    await page.click("#next button.copy");
    await page.waitForFunction(() => document.getElementById("state").textContent.startsWith("Copied: waybill"));
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), await page.textContent("#next code.cmd"));
    await done(page);
  });
});
