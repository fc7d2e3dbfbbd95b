// The script of the console: it exchanges the token for a bearer, loads pages with it, and loads a page again when the
// server says that it may have changed. It makes no content: pages are made by the server.
"use strict";
(() => {
  const view = document.getElementById("view"), state = document.getElementById("state");
  const pages = document.querySelector("nav.bar");
  const key = "waybill-bearer";
  let bearer = "", here = "", stream = null, loads = 0;

  const say = (text, bad) => {
    state.textContent = text;
    state.className = bad ? "bad" : "";
  };
  // ended says that this window cannot show anything any more.
  const ended = (why) => {
    stop();
    say(why, true);
    const start = document.getElementById("start");
    if (start) start.textContent = why;
  };
  const stop = () => {
    if (stream) stream.abort();
    stream = null;
  };
  const place = () => (location.hash.startsWith("#/") ? location.hash.slice(1) : "/runs");
  const ask = (path, more) => fetch(path, { headers: { Authorization: "Bearer " + bearer }, cache: "no-store", ...more });

  // exchange returns whether this window has a bearer.
  const exchange = async () => {
    const found = /^#token=([\w-]+)$/.exec(location.hash);
    if (!found) {
      bearer = sessionStorage.getItem(key) || "";
      return bearer !== "";
    }
    history.replaceState(null, "", "/#/runs");
    const answer = await fetch("/session", { method: "POST", headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ token: found[1] }) });
    if (!answer.ok) return false;
    bearer = (await answer.json()).bearer;
    sessionStorage.setItem(key, bearer);
    return true;
  };

  // local makes the addresses of pages ones of this window: only its script has the bearer.
  const local = (root) => {
    for (const a of root.querySelectorAll('a[href^="/"]')) a.setAttribute("href", "#" + a.getAttribute("href"));
    for (const code of root.querySelectorAll("code.cmd")) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "copy";
      button.textContent = "Copy";
      button.setAttribute("aria-label", "Copy the command " + code.textContent);
      code.after(" ", button);
    }
  };
  const copy = async (code) => {
    try {
      await navigator.clipboard.writeText(code.textContent);
      say("Copied: " + code.textContent);
    } catch {
      getSelection().selectAllChildren(code);
      say("Selected: " + code.textContent);
    }
  };

  // folds are the opened and closed parts, by the element with an id around each.
  const folds = (root, each) => {
    const count = new Map();
    for (const d of root.querySelectorAll("details")) {
      const at = d.closest("[id]"), name = at ? at.id : "";
      const n = count.get(name) || 0;
      count.set(name, n + 1);
      each(name + ":" + n, d);
    }
  };

  // merge makes an element equal to another one. What is equal already stays, with focus and scrolling.
  const merge = (old, fresh) => {
    if (old.isEqualNode(fresh)) return;
    if (old.nodeName !== fresh.nodeName || !old.attributes) {
      old.replaceWith(fresh);
      return;
    }
    for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name)) old.removeAttribute(name);
    for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    if (old === document.activeElement && old.matches("input, select")) return;
    const rest = new Set(old.childNodes), next = [...fresh.childNodes];
    const like = (n) => [...rest].find((o) => o.nodeName === n.nodeName && (o.id || "") === (n.id || ""));
    let at = old.firstChild;
    for (const n of next) {
      const same = like(n);
      if (!same) {
        old.insertBefore(n, at);
        continue;
      }
      rest.delete(same);
      if (same === at) at = at.nextSibling;
      else old.insertBefore(same, at);
      merge(same, n);
    }
    for (const o of rest) o.remove();
  };

  // show puts a page in the place of the one that is shown.
  const show = (next, again) => {
    const old = view.querySelector("main"), fresh = next.querySelector("main");
    if (!fresh) return;
    local(next.body);
    if (again && old) {
      const open = new Map();
      folds(old, (name, d) => open.set(name, d.open));
      folds(fresh, (name, d) => { if (open.has(name)) d.open = open.get(name); });
      if (old.isEqualNode(fresh)) return;
      const top = view.querySelector("header.top"), head = next.querySelector("header.top");
      if (top && head) merge(top, head);
      merge(old, fresh);
      say("Updated " + new Date().toISOString().slice(11, 19) + " UTC");
      return;
    }
    view.replaceChildren(...next.body.querySelectorAll("header.top, main, footer"));
    document.title = next.title + " · Waybill console";
    for (const a of pages.querySelectorAll("a")) {
      if (("#" + here).startsWith(a.getAttribute("href"))) a.setAttribute("aria-current", "page");
      else a.removeAttribute("aria-current");
    }
  };

  // load shows the page at a place of this window.
  const load = async (again) => {
    const path = place(), mine = ++loads;
    if (!again) {
      stop();
      here = path;
      say("Loading…");
    }
    let answer, text;
    try {
      answer = await ask(path);
      text = await answer.text();
    } catch {
      say("The console does not answer. Run waybill console again.", true);
      return;
    }
    if (mine !== loads) return;
    if (answer.status === 403) {
      sessionStorage.removeItem(key);
      ended("This window is not admitted any more. Run waybill console again.");
      return;
    }
    if (!(answer.headers.get("Content-Type") || "").startsWith("text/html")) {
      say(text.trim(), true);
      return;
    }
    show(new DOMParser().parseFromString(text, "text/html"), again);
    if (!again) {
      say("");
      const main = view.querySelector("main");
      if (main) main.focus({ preventScroll: true });
      scrollTo(0, 0);
      follow(path);
    }
  };

  // follow reads the messages of the server about a page.
  const follow = async (path) => {
    const control = new AbortController();
    stream = control;
    const [name, query] = path.split("?");
    const url = "/changes?path=" + encodeURIComponent(name) + (query ? "&" + query : "");
    for (let wait = 1000; !control.signal.aborted; wait = Math.min(2 * wait, 15000)) {
      try {
        const answer = await ask(url, { signal: control.signal });
        if (answer.status === 403) return ended("This window is not admitted any more. Run waybill console again.");
        if (answer.status === 503) return say((await answer.text()).trim(), true);
        const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
        for (let rest = ""; ;) {
          const { value, done } = await reader.read();
          if (done) break;
          wait = 1000;
          const messages = (rest + value).split("\n\n");
          rest = messages.pop();
          if (messages.some((m) => m.startsWith("event: closed"))) return ended("The console has ended.");
          if (messages.some((m) => m.startsWith("event: changed"))) await load(true);
        }
      } catch {
        if (control.signal.aborted) return;
        say("The console does not answer.", true);
      }
      await new Promise((wake) => setTimeout(wake, wait));
    }
  };

  document.addEventListener("click", (e) => {
    const button = e.target.closest && e.target.closest("button.copy");
    if (button) {
      copy(button.previousElementSibling);
      return;
    }
    const a = e.target.closest && e.target.closest('a[href^="#"]');
    if (!a || a.getAttribute("href").startsWith("#/")) return;
    // A place on this page: the address of the window names the page.
    e.preventDefault();
    const at = document.getElementById(decodeURIComponent(a.getAttribute("href").slice(1)));
    if (!at) return;
    if (!at.hasAttribute("tabindex")) at.setAttribute("tabindex", "-1");
    at.scrollIntoView();
    at.focus({ preventScroll: true });
  });
  document.addEventListener("submit", (e) => {
    e.preventDefault();
    const query = new URLSearchParams();
    for (const [name, value] of new FormData(e.target)) if (value) query.append(name, value);
    const to = "#" + here.split("?")[0] + (String(query) ? "?" + query : "");
    if (location.hash === to) load(false);
    else location.hash = to;
  });
  addEventListener("hashchange", () => { if (location.hash.startsWith("#/")) load(false); });

  local(document.body);
  exchange().then((ok) => {
    if (ok) load(false);
    else ended("This window is not admitted. Run waybill console, and open the file that it prints.");
  }, () => ended("The console does not answer. Run waybill console again."));
})();
