// Makes docs/pictures from a real run: a terminal, a report and the console, as README.md and docs/tour.md show them.
// The run is that of the tour, whose workflow and sentences are read from its page. "make pictures" calls this.
import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { deflateSync, inflateSync } from "node:zlib";
import { end, skip, Store, window } from "./harness.mjs";

if (skip) throw new Error(skip);
const root = fileURLToPath(new URL("../..", import.meta.url));
const tour = fs.readFileSync(path.join(root, "docs/tour.md"), "utf8");
const pictures = path.join(root, "docs/pictures");
fs.mkdirSync(pictures, { recursive: true });

/** columns is the width of the terminal. */
const columns = 88;
/** colors are those of the 16 names of a terminal that the program uses. */
const colors = ["#1d2024", "#ff9b95", "#7fd495", "#f0c063", "#8fc1ff", "#d3a9f5", "#7fd1d8", "#e6e7e3"];

const escape = (text) => text.replace(/[&<>]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[c]);

/** html returns what a terminal shows as HTML: text in colors, bold and dim. Other sequences are an error. */
function html(screen) {
  let style = {};
  return screen.replaceAll("\r", "").split(/(\x1b\[[0-9;]*m)/).map((part) => {
    const codes = /^\x1b\[([0-9;]*)m$/.exec(part);
    if (!codes) {
      if (/[\x00-\x09\x0b-\x1f]/.test(part)) throw new Error("not rendered: " + JSON.stringify(part));
      const css = [style.bold && "font-weight:700", style.dim && "opacity:.62", style.color && "color:" + style.color].filter(Boolean);
      return css.length && part ? `<span style="${css.join(";")}">${escape(part)}</span>` : escape(part);
    }
    for (const code of codes[1].split(";").map(Number)) {
      if (code === 0) style = {};
      else if (code === 1) style = { ...style, bold: true };
      else if (code === 2) style = { ...style, dim: true };
      else if (code >= 30 && code <= 37) style = { ...style, color: colors[code - 30] };
      else throw new Error("unknown style " + code);
    }
    return "";
  }).join("");
}

/** terminal is a page that looks like a window with calls and what they printed. */
const terminal = (calls) => `<!DOCTYPE html><meta charset="utf-8"><style>
body{margin:0;display:inline-block}
.window{background:#15171a}
.bar{background:#2a2d32;padding:9px 13px;display:flex;gap:8px}
.bar i{width:12px;height:12px;border-radius:50%;background:#5b6068}
pre{margin:0;padding:14px 20px 18px;width:${columns}ch;font:15px/1.42 "DejaVu Sans Mono",monospace;color:#e6e7e3}
b{color:#7fd495}</style><div class="window"><div class="bar"><i></i><i></i><i></i></div><pre>${
  calls.map(([typed, screen]) => `<b>$</b> ${escape(typed)}\n${html(screen).trim()}`).join("\n\n")}</pre></div>`;

/** typed runs a command line at a terminal of its own: it gives each answer where one is asked for, and returns the screen. */
function typed(store, line, answers = []) {
  const child = spawn("script", ["-qec", `stty cols ${columns} rows 60; ${line}`, "/dev/null"],
    { cwd: store.work, env: { ...store.env, TERM: "xterm-256color", WAYBILL_PAGER: "cat", SHELL: "/bin/sh",
      PATH: path.dirname(process.env.WAYBILL) + ":" + process.env.PATH } });
  let screen = "", seen = 0;
  child.stdout.on("data", (b) => {
    screen += b;
    if (/(› |N\] )$/.test(screen.replace(/\x1b\[[0-9;?]*[A-Za-z]/g, "")) && screen.length > seen) {
      seen = screen.length;
      child.stdin.write((answers.shift() ?? "\x04") + "\n");
    }
  });
  return new Promise((resolve, reject) => child.on("exit", (status) => status ? reject(new Error(`${line}: ${status}\n${screen}`)) : resolve(screen)));
}

/** small makes a PNG small: at most 128 colors, those that occur most, and for other pixels the nearest of these. */
function small(png) {
  const width = png.readUInt32BE(16), height = png.readUInt32BE(20), channels = png[25] === 6 ? 4 : 3, data = [];
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) {
    if (png.toString("latin1", at + 4, at + 8) === "IDAT") data.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
  }
  const raw = inflateSync(Buffer.concat(data)), row = width * channels, pixels = Buffer.alloc(row * height);
  for (let y = 0; y < height; y++) { // the five filters of the format
    const filter = raw[y * (row + 1)];
    for (let x = 0; x < row; x++) {
      const a = x >= channels ? pixels[y * row + x - channels] : 0, b = y ? pixels[(y - 1) * row + x] : 0;
      const c = x >= channels && y ? pixels[(y - 1) * row + x - channels] : 0, p = a + b - c;
      const [pa, pb, pc] = [Math.abs(p - a), Math.abs(p - b), Math.abs(p - c)];
      const guess = [0, a, b, (a + b) >> 1, pa <= pb && pa <= pc ? a : pb <= pc ? b : c][filter];
      pixels[y * row + x] = raw[y * (row + 1) + 1 + x] + guess;
    }
  }
  const counts = new Map(), at = (i) => pixels.readUIntBE(i * channels, 3);
  for (let i = 0; i < width * height; i++) counts.set(at(i), (counts.get(at(i)) ?? 0) + 1);
  const palette = [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, 128).map(([color]) => color);
  const far = (a, b) => ((a >> 16) - (b >> 16)) ** 2 + ((a >> 8 & 255) - (b >> 8 & 255)) ** 2 + ((a & 255) - (b & 255)) ** 2;
  const nearest = new Map();
  for (const color of counts.keys()) {
    nearest.set(color, palette.reduce((best, other, i) => far(color, other) < far(color, palette[best]) ? i : best, 0));
  }
  const out = Buffer.alloc((width + 1) * height);
  for (let i = 0; i < width * height; i++) out[i + Math.floor(i / width) + 1] = nearest.get(at(i));
  const head = Buffer.concat([png.subarray(16, 24), Buffer.from([8, 3, 0, 0, 0])]); // 8 bits, a palette
  const colorsOf = Buffer.from(palette.flatMap((color) => [color >> 16, color >> 8 & 255, color & 255]));
  return Buffer.concat([png.subarray(0, 8), chunk("IHDR", head), chunk("PLTE", colorsOf), chunk("IDAT", deflateSync(out, { level: 9, memLevel: 9 })),
    chunk("IEND", Buffer.alloc(0))]);
}

/** chunk is a part of a PNG with its length and checksum. */
function chunk(name, data) {
  const body = Buffer.concat([Buffer.from(name, "latin1"), data]), frame = Buffer.alloc(8);
  let crc = ~0;
  for (const byte of body) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >>> 1 ^ 0xedb88320 : crc >>> 1;
  }
  frame.writeUInt32BE(data.length);
  frame.writeInt32BE(~crc, 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}

/** keep writes a picture of an element with a margin, or of what the window shows. */
async function keep(page, name, selector, margin = 16) {
  const box = selector && await page.locator(selector).boundingBox();
  const png = await page.screenshot(box ? { fullPage: true, clip: { x: box.x - margin, y: box.y - margin, width: box.width + 2 * margin,
    height: box.height + 2 * margin } } : {});
  fs.writeFileSync(path.join(pictures, name + ".png"), small(png));
  console.log(`docs/pictures/${name}.png: ${fs.statSync(path.join(pictures, name + ".png")).size} bytes`);
}

const store = new Store();
try {
  execFileSync("git", ["init", "-q", "-b", "main"], { cwd: store.work, env: store.env });
  store.file("ship.yaml", /```yaml ship\.yaml\n([^]*?)```/.exec(tour)[1]);
  store.file("backup.yaml", "id: team.backup\nname: Back up\ndescription: Copy and compare.\nversion: 1.0.0\nsteps:\n" +
    '  - id: copy\n    title: Copy\n    action: {kind: command, argv: [sh, -c, "echo copied 812 files"]}\n');
  const said = [...tour.matchAll(/^ {2}› (.*)$/gm)].map((m) => m[1]), review = /--rating (\d) --note "([^"]*)"/.exec(tour);
  store.waybill(["run", "backup.yaml", "--trust", "--title", "Backup of Friday", "--as", "night-job"]);
  store.waybill(["start", "ship.yaml", "--title", "Ship 1.5", "--as", "Ben"]);
  store.waybill(["run", "ship.yaml", "--trust", "--title", "Ship 1.4", "--as", "night-job"], [3]);
  store.waybill(["continue", "--run", "@last", "--done", "--as", "agent"], [3]);

  const calls = [];
  for (const line of ["waybill runs list", "waybill runs show"]) calls.push([line, await typed(store, line)]);
  let page = await window({ scale: 2 });
  await page.setContent(terminal(calls));
  await keep(page, "terminal", ".window", 0);
  const server = await store.console();
  page = await window({ width: 960, height: 560, scale: 2, scheme: "dark", from: server.url });
  await page.goto("file://" + server.file);
  await page.waitForSelector("#runs table");
  await page.evaluate((dir) => { // the store of a picture is in a folder that nobody has
    const text = document.querySelector(".kicker").lastChild;
    text.data = text.data.replace(dir, "~/.local/share/waybill");
  }, path.join(store.dir, "home"));
  await keep(page, "console");
  server.kill("SIGINT");
  await server.ended;

  await typed(store, "waybill run --run @last --as Ada", [...said, "y"]);
  store.waybill(["annotate", "@last", "--rating", review[1], "--note", review[2], "--as", "Ada"]);
  store.waybill(["runs", "report", "@last", "-o", "report.html"]);
  page = await window({ width: 840, height: 860, scale: 2 });
  await page.goto("file://" + path.join(store.work, "report.html"));
  await keep(page, "report");
  await page.evaluate(() => { document.querySelector("#steps details").open = true; }); // what the command printed
  await keep(page, "report-steps", "#steps");
} finally {
  await end();
  store.remove();
}
