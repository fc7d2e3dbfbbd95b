import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { accessible, corpus, done, end, fits, inert, skip, Store, window } from "./harness.mjs";

describe("report", { skip }, () => {
  let store;
  before(() => {
    store = new Store().fill();
    store.waybill(["runs", "report", store.done, "-o", "done.html"]);
    store.waybill(["runs", "report", store.open, "-o", "open.html"]);
    store.waybill(["runs", "report", store.done, "--controls", "-o", "controls.html"]);
    store.waybill(["runs", "report", "--index", "all"]);
  });
  after(async () => { await end(); store.remove(); });
  const files = ["done.html", "open.html", "controls.html", "all/index.html"];
  const open = async (page, file) => { await page.goto("file://" + path.join(store.work, file)); };

  for (const width of [400, 1400]) {
    for (const scheme of ["light", "dark"]) {
      test(`pages are accessible, inert and complete at ${width} px, ${scheme}`, async () => {
        const page = await window({ width, scheme });
        for (const file of files) {
          await open(page, file);
          await fits(page);
          await inert(page, 0);
          await accessible(page);
          if (process.env.PICTURES) await page.screenshot({ path: path.join(process.env.PICTURES, `report-${path.basename(file, ".html")}-${width}-${scheme}.png`), fullPage: true });
        }
        await done(page);
      });
    }
  }

  test("a report needs no script", async () => {
    for (const file of files) assert.doesNotMatch(fs.readFileSync(path.join(store.work, file), "utf8"), /<script/);
  });

  test("hostile text is shown as text", async () => {
    const page = await window();
    await open(page, "done.html");
    const text = await page.evaluate(() => document.querySelector("main").textContent);
    for (const part of corpus.slice(0, 3)) assert.ok(text.includes(part), part);
    assert.ok(!text.includes("\u202e"));
    await done(page);
  });

  test("folds open by keyboard, and links lead to their sections", async () => {
    const page = await window();
    await open(page, "done.html");
    await page.focus("details summary");
    const before = await page.evaluate(() => document.querySelector("details").open);
    await page.keyboard.press("Space");
    assert.equal(await page.evaluate(() => document.querySelector("details").open), !before);
    for (const link of await page.$$(".toc a")) {
      const to = await link.getAttribute("href");
      assert.ok(await page.$(to), to);
    }
    await done(page);
  });

  test("the index leads to the reports", async () => {
    const page = await window();
    await open(page, "all/index.html");
    await page.click(`[data-run="${store.done}"] a`);
    await page.waitForSelector("#integrity");
    await done(page);
  });

  test("nothing is hidden in print", async () => {
    const page = await window();
    await open(page, "done.html");
    await page.emulateMedia({ media: "print" });
    const hidden = await page.evaluate(() => [...document.querySelectorAll("main details > :not(summary)")].filter((e) => e.getClientRects().length === 0).length);
    assert.equal(hidden, 0);
    await done(page);
  });
});
