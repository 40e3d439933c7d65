import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Cluster, History, NodeHistory } from "../../src/client/answers.ts";
import { showText } from "../../src/domain/shown.ts";
import type { LocalSystem } from "../../src/local/system.ts";
import { startSystem } from "../../src/local/system.ts";
import { defaultOptions } from "../../src/simulator/default-options.ts";
import { launchChromium } from "../support/chromium.ts";
import { paced, PATIENCE_MS } from "../support/patience.ts";
import { HOSTILE_NAMES } from "../support/hostile-names.ts";

/**
 * The page in a real browser, against a live local system (`npm run test:page`). It needs a Chromium: `apt-get install chromium` on Debian, or
 * its path in CHROMIUM. With UPDATE=1 it writes the screenshot of docs/page.md.
 */

const SHOT = new URL("../../docs/images/page-now.png", import.meta.url).pathname;
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** What axe calls serious, each with some of its elements. */
const AUDIT = `axe.run().then(({ passes, violations }) => ({
  isAudited: passes.length > 10,
  violations: violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => [id, ...nodes.slice(0, 3).map(({ html }) => html)].join(" ")),
}))`;
const patiently = { interval: 100, timeout: PATIENCE_MS };

let system: LocalSystem;
let browser: Browser;

beforeAll(async () => {
  browser = await launchChromium();
  system = await startSystem({ simulator: { ...defaultOptions, keepLog: false }, speed: paced(60) });
  await put("config", PRICES);
  await put("request-sets/pbs", { version: 1, expirationInterval: 86_400, jobs: JOBS });
  await put("request-sets/hostile", { version: 1, expirationInterval: 86_400, jobs: hostileJobs() });
  // 30 nodes of hpc, 2 for the target, and those of the jobs in htc.
  const isAtWork = async () => {
    const { nodes, waiting } = await state();
    return (nodes.byPhase["ready"] ?? 0) > 40 && waiting.onTheirWay === 0;
  };
  await vi.waitUntil(isAtWork, { interval: 500, timeout: PATIENCE_MS });
});
afterAll(async () => {
  await browser?.close();
  await system?.close();
});

const PRICES = {
  prices: {
    currency: "USD",
    locations: {
      westeurope: {
        Standard_F2s_v2: { onDemand: 0.1, spot: 0.02 },
        Standard_F8s_v2: 0.4,
        Standard_HB120rs_v3: 4,
      },
    },
  },
};

/** The second one waits for quota, and the third for a node that nothing offers. */
const JOBS = [
  { name: "101", iterations: 30, user: "anna", constraints: [{ ncpus: 2, "node.nodearray": "htc" }] },
  { name: "102", iterations: 40, user: "bob", constraints: [{ ncpus: 120, "node.nodearray": "hpc" }] },
  { name: "103", constraints: [{ ngpus: 1 }] },
];

const hostileJobs = () =>
  HOSTILE_NAMES.map((name) => ({ name, user: name, constraints: [{ ncpus: 1, "node.nodearray": "htc" }] }));

async function put(path: string, body: unknown): Promise<void> {
  const url = `${system.url}/api/clusters/demo/${path}`;
  const headers = { "x-functions-key": system.keys.host };
  const answer = await fetch(url, { method: "PUT", headers, body: JSON.stringify(body) });
  expect({
    path,
    status: answer.status,
    rejected: JSON.parse(await answer.text()).rejectedJobs ?? [],
  }).toEqual({
    path,
    status: expect.toBeOneOf([200, 202]),
    rejected: [],
  });
}

async function state(): Promise<Cluster> {
  const answer = await fetch(`${system.url}/api/clusters/demo`, {
    headers: { "x-functions-key": system.keys.host },
  });
  return JSON.parse(await answer.text());
}

/** A tab, with all that goes wrong in it, and the newest answer of each path. */
interface Tab {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly faults: readonly string[];
  readonly urls: readonly string[];
  readonly answer: (path: string) => unknown;
}

async function openTab(options: Parameters<Browser["newContext"]>[0] = {}): Promise<Tab> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const faults: string[] = [];
  const urls: string[] = [];
  const answers = new Map<string, unknown>();
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") faults.push(message.text());
  });
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("dialog", (dialog) => {
    faults.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    urls.push(request.url());
    if (new URL(request.url()).origin !== system.url) faults.push(`a foreign request: ${request.url()}`);
  });
  page.on("response", (response) => {
    const { pathname } = new URL(response.url());
    if (response.status() === 200 && pathname.startsWith("/api/clusters"))
      void response.json().then(
        (body: unknown) => answers.set(pathname, body),
        () => undefined,
      );
  });
  return { page, context, faults, urls, answer: (path) => answers.get(path) };
}

const address = (): string => `${system.url}/api/page#key=${system.roleKeys.reader}`;

async function show(page: Page, view: string): Promise<void> {
  await page.evaluate(`location.hash = "#/demo/${view.toLowerCase()}"`);
  await page.locator(`nav.views a[aria-current]:text-is("${view}")`).waitFor();
}

const VIEWS = ["Now", "Demand", "Nodes", "Capacity", "History"];

/** The rows of a table as texts. */
const rowsOf = (page: Page, table: string): Promise<readonly (readonly string[])[]> =>
  page
    .locator(`table[aria-label="${table}"] tbody tr`)
    .evaluateAll((rows) =>
      rows.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent ?? "")),
    );

/** The figures at the top of a view by their names. */
const tilesOf = async (page: Page): Promise<Readonly<Record<string, string>>> =>
  Object.fromEntries(
    await page
      .locator("dl.tiles > div")
      .evaluateAll((tiles) =>
        tiles.map((tile) => [
          tile.querySelector("dt")?.textContent ?? "",
          tile.querySelector("dd")?.textContent ?? "",
        ]),
      ),
  );

describe.each([
  { theme: "light", width: 1440 },
  { theme: "light", width: 390 },
  { theme: "dark", width: 1440 },
  { theme: "dark", width: 390 },
] as const)("$theme, $width pixels", ({ theme, width }) => {
  test("the five views: no error, no foreign request, nothing that axe calls serious, no sideways scrolling", async () => {
    const { page, context, faults } = await openTab({ viewport: { width, height: 900 }, colorScheme: theme });
    await page.goto(address());
    for (const view of VIEWS) {
      await show(page, view);
      if (process.env["UPDATE"] === "1" && `${view} ${theme} ${width}` === "Now light 1440")
        await page.screenshot({ path: SHOT });
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
      await page.evaluate(AXE);
      const found: unknown = await page.evaluate(AUDIT);
      expect({ view, found }).toEqual({ view, found: { isAudited: true, violations: [] } });
    }
    expect(faults).toEqual([]);
    await context.close();
  });
});

test("the figures are those of the answers that the page got", async () => {
  const { page, context, answer } = await openTab();
  await page.goto(address());
  await show(page, "Now");
  await expect.poll(async () => (await tilesOf(page))["Nodes ready"], patiently).not.toBe(undefined);
  const shown = answer("/api/clusters/demo") as Cluster;
  const [row] = (answer("/api/clusters/demo/history") as History).rows;
  expect(await tilesOf(page)).toMatchObject({
    Demands: String(shown.plan?.demands),
    "Short of something": String(shown.waiting.unmet),
    "Nodes ready": String(shown.nodes.byPhase["ready"]),
    "Cost an hour": `${row?.pricePerHour?.toFixed(2)} USD`,
  });
  expect(await page.locator(".sentence").textContent()).toContain(
    `2 of ${shown.plan?.demands} demands cannot be had`,
  );
  expect((await rowsOf(page, "Node arrays")).map(([name, mode, , ready]) => [name, mode, ready])).toEqual(
    shown.nodearrays.map(({ name, mode, nodes }) => [name, mode, String(nodes.ready ?? 0)]),
  );

  await show(page, "Nodes");
  const { nodes } = answer("/api/clusters/demo") as Cluster;
  expect((await rowsOf(page, "Nodes")).map(([name]) => name)).toEqual(
    nodes.list.slice(0, 100).map(({ name }) => name),
  );
  const lives = (answer("/api/clusters/demo/history/nodes") as NodeHistory).rows;
  const life = lives.find(({ name }) => name === nodes.list[0]?.name);
  expect(await page.locator('table[aria-label="Nodes"] .bar-of').first().getAttribute("aria-label")).toMatch(
    new RegExp(`^asked for from ${life?.askedAt?.slice(11, 19)} for .*, then booting from .*needed from`),
  );
  expect((await rowsOf(page, "Nodes that have gone")).map(([name]) => name)).toEqual(
    lives.some(({ goneAt }) => goneAt !== undefined)
      ? lives.filter(({ goneAt }) => goneAt !== undefined).map(({ name }) => name)
      : ["None has gone."],
  );

  await show(page, "Demand");
  const { outcomes } = answer("/api/clusters/demo") as Cluster;
  expect((await rowsOf(page, "Demands")).map(([set, , , asked, placed]) => [set, asked, placed])).toEqual(
    outcomes.map(({ requestSet, asked, placed }) => [requestSet, String(asked), String(placed)]),
  );
  await page.getByRole("link", { name: "102", exact: true }).first().click();
  await page.getByText("Why pbs/102 is as it is").waitFor();
  expect(await page.locator("pre").textContent()).toContain("standardHBv3Family");

  await show(page, "Capacity");
  const { buckets } = answer("/api/clusters/demo") as Cluster;
  const room = buckets.map(({ machineType, available, spot }) => [
    spot ? `${machineType} (spot)` : machineType,
    String(available),
  ]);
  expect((await rowsOf(page, "Where nodes can be had")).map((cells) => [cells[1], cells[8]])).toEqual(room);

  await show(page, "History");
  await page.locator(".uplot").first().waitFor();
  await page.locator("summary").first().click();
  const { rows } = answer("/api/clusters/demo/history") as History;
  expect((await rowsOf(page, "Nodes")).map(([, , ready]) => ready)).toEqual(
    rows.slice(0, 100).map((one) => String(one.nodes["ready"] ?? 0)),
  );
  await page.locator("summary").nth(1).click();
  const arrays = rows.flatMap((one) => one.arrays ?? []);
  expect(arrays).not.toEqual([]);
  expect((await rowsOf(page, "Nodes by node array")).map((cells) => [cells[1], cells[2]])).toEqual(
    arrays.slice(0, 100).map(({ name = "all others", nodes }) => [name, String(nodes)]),
  );
  const up = (answer("/api/clusters/demo/history/nodes") as NodeHistory).rows.filter(
    ({ askedAt, firstReadyAt }) => askedAt !== undefined && firstReadyAt !== undefined,
  );
  expect(Object.keys(await tilesOf(page))).toContain(`Asked to ready, p95 (${up.length} nodes in 6h)`);
  await context.close();
});

test("hostile names are shown as text", async () => {
  const { page, context, faults } = await openTab();
  await page.goto(address());
  await show(page, "Demand");
  const ids = (await rowsOf(page, "Demands")).filter(([set]) => set === "hostile").map(([, id]) => id);
  expect(new Set(ids)).toEqual(new Set(HOSTILE_NAMES.map(showText)));
  await show(page, "Nodes");
  expect(await page.locator("main").locator("img, script, iframe, svg, style").count()).toBe(0);
  expect(await page.evaluate("window.pwned")).toBe(undefined);
  expect(faults).toEqual([]);
  await context.close();
});

test("a wrong key, an app that goes away and comes back, and an unknown cluster each have a sentence", async () => {
  const { page, context } = await openTab();
  await page.goto(`${system.url}/`);
  await page.getByLabel("Reader's key").fill("wrong");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("This is not a reader's key of this app.").waitFor();
  expect(await page.evaluate("sessionStorage.length")).toBe(0);

  await page.clock.install();
  await page.getByLabel("Reader's key").fill(system.roleKeys.reader);
  await page.getByRole("button", { name: "Sign in" }).click();
  await show(page, "Now");
  await context.setOffline(true);
  await page.clock.fastForward(20_000);
  await page.getByText("The app does not answer.").waitFor();
  expect(await page.locator(".sentence").textContent()).toContain("cannot be had");
  await context.setOffline(false);
  await page.clock.fastForward(20_000);
  await page.getByText("The app does not answer.").waitFor({ state: "hidden" });

  await page.evaluate("location.hash = '#/gone/now'");
  await page.getByText('cluster "gone" is not in AUTOSCALER_CLUSTERS').waitFor();
  // Nothing of the cluster before is left.
  expect(await page.locator("main").textContent()).toBe("Nothing could be read yet.");
  await context.close();
});

test("it asks again only while it is seen, and what has not changed is not sent again", async () => {
  const { page, context, urls } = await openTab();
  await page.clock.install();
  await page.goto(address());
  await show(page, "Now");
  const statuses: number[] = [];
  page.on("response", (response) => statuses.push(response.status()));
  for (let time = 0; !statuses.includes(304) && time < 30; time += 1) {
    await page.clock.fastForward(15_100);
    await page.waitForLoadState("networkidle");
  }
  expect(statuses).toContain(304);
  await page.evaluate(
    "Object.defineProperty(document, 'hidden', { value: true }); document.dispatchEvent(new Event('visibilitychange'))",
  );
  const before = urls.length;
  await page.clock.fastForward(120_000);
  await page.waitForLoadState("networkidle");
  expect(urls.length).toBe(before);
  await context.close();
});

test("the key of a deployed app is in no address, and in no storage of another tab; one in an address is not used", async () => {
  const { page, context, urls } = await openTab();
  const deployed = "https://autoscaler.example";
  await context.route(`${deployed}/**`, async (route) => {
    const url = route.request().url().replace(deployed, system.url);
    // The local host takes no request of another origin.
    const { origin: _origin, ...headers } = route.request().headers();
    await route.fulfill({ response: await route.fetch({ url, headers }) });
  });
  const key = system.roleKeys.reader;
  await page.goto(`${deployed}/api/page#key=${key}`);
  await page.getByText("The address had a key.").waitFor();
  expect(page.url()).toBe(`${deployed}/api/page`);
  await page.goto(`${deployed}/api/page?code=${key}`);
  await page.getByText("The address had something behind a question mark.").waitFor();
  expect(page.url()).toBe(`${deployed}/api/page`);
  const own = urls.length;
  await page.getByLabel("Reader's key").fill(key);
  await page.getByRole("button", { name: "Sign in" }).click();
  for (const view of VIEWS) await show(page, view);
  expect([...urls.slice(own), page.url()].filter((url) => url.includes(key))).toEqual([]);
  const other = await context.newPage();
  await other.goto(`${deployed}/api/page`);
  await other.getByLabel("Reader's key").waitFor();
  expect(await other.evaluate("sessionStorage.length + localStorage.length + document.cookie.length")).toBe(
    0,
  );
  // Its icon may still be on its way.
  await context.unrouteAll({ behavior: "ignoreErrors" });
  await context.close();
});

test("a cluster that is only observed shows both worlds", async () => {
  await put("config", { ...PRICES, mode: "observe" });
  const { page, context, faults } = await openTab();
  await expect.poll(async () => (await state()).observing, patiently).toContain("observing only");
  await page.goto(address());
  await page.getByText("The autoscaler would have now: htc: ").waitFor();
  expect((await tilesOf(page))["Mode"]).toBe("observe");
  expect(faults).toEqual([]);
  await context.close();
});
