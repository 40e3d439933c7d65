import { gzipSync } from "node:zlib";
import type { Browser, CDPSession, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildPage } from "../../infra/build-page.ts";
import { showJson } from "../../src/domain/shown.ts";
import { launchChromium } from "../support/chromium.ts";
import { memoryTable } from "../support/memory-table.ts";
import { LargeCluster } from "./large-cluster.ts";

/** The page with 10,000 nodes, 2,000 request sets and a month of history, in processor time of the browser's thread. */

const PREPARE_MS = 900_000;
const SETS = 2000;
const NODES = 10_000;
const MOST_PACKED_BYTES = 500_000;
const MOST_HEAP_BYTES = 200_000_000;
/** Of a click with all that follows from it. */
const MOST_MS = 1000;
/** Of twenty turns of the wheel: less than the longest task that people do not notice. */
const MOST_SCROLL_MS = 200;
const ORIGIN = "http://127.0.0.1:9";
const NOW = Date.UTC(2026, 0, 31);

let browser: Browser;
/** By path and query. */
const answers = new Map<string, string>();

beforeAll(async () => {
  browser = await launchChromium();
  const cluster = new LargeCluster(memoryTable({ sleep: () => Promise.resolve() }), SETS);
  await cluster.prepare();
  await cluster.push(0, SETS, SETS);
  for (let minute = 0; minute < 5; minute += 1) {
    await cluster.reconcile();
    cluster.pass(60);
  }
  let query = "";
  for (const page of await cluster.answers()) {
    answers.set(`/api/clusters/demo${query}`, showJson(page));
    query = `?page=${encodeURIComponent(page.next ?? "")}`;
  }
  let after = "";
  for (const lives of await cluster.nodeHistory()) {
    answers.set(`/api/clusters/demo/history/nodes${after}`, showJson(lives));
    after = lives.next ?? "";
  }
  answers.set(
    "/api/clusters",
    showJson({ clusters: [{ cluster: "demo", health: { ok: true, notes: [], warnings: [] } }] }),
  );
  answers.set("/api/clusters/demo/history", showJson(monthOfHistory()));
}, PREPARE_MS);
afterAll(() => browser?.close());

/** As many rows as the page asks for, and as many plans as an answer has. */
function monthOfHistory(): object {
  const at = (index: number, of: number) => new Date(NOW - ((30 * 86_400_000) / of) * index).toISOString();
  const rows = Array.from({ length: 600 }, (_, index) => ({
    at: at(index, 600),
    plan: 600 - index,
    nodes: { ready: 5000 + ((index * 37) % 5000), coming: index % 90 },
    inFlight: 0,
    liveSets: SETS,
    created: 0,
    terminated: 0,
    unmet: index % 7,
    idle: index % 300,
    pricePerHour: 1000 + index,
    idlePricePerHour: index,
    currency: "USD",
  }));
  const planCounts = Array.from({ length: 1000 }, (_, index) => ({
    plan: index,
    at: at(1000 - index, 1000),
    created: 1,
    started: 0,
    terminated: 1,
    nodes: index,
    demands: SETS,
    unmet: index % 7,
  }));
  return { cluster: "demo", rows, keptPlans: [], planCounts };
}

async function openPage(): Promise<Page> {
  const { files } = await buildPage();
  const types: Readonly<Record<string, string>> = {
    js: "text/javascript",
    css: "text/css",
    svg: "image/svg+xml",
  };
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.route(`${ORIGIN}/**`, (route) => {
    const { pathname, search, searchParams } = new URL(route.request().url());
    const name = pathname === "/api/page" ? "index.html" : pathname.replace("/api/page/", "");
    const file = files[name];
    if (file !== undefined)
      return route.fulfill({ body: file, contentType: types[name.split(".")[1] ?? ""] ?? "text/html" });
    // How far back is no matter here.
    const isHistory = pathname.includes("/history");
    const key = pathname + (isHistory ? (searchParams.get("page") ?? "") : search);
    const body = answers.get(key) ?? "";
    const headers = { etag: `"${key}"`, "autoscaler-time": new Date(NOW).toISOString() };
    const isKnown = route.request().headers()["if-none-match"] === headers.etag;
    return route.fulfill(
      isKnown ? { status: 304, headers } : { body, headers, contentType: "application/json" },
    );
  });
  return page;
}

/** The processor time of the page's thread that some work takes, with what follows within half a second. */
async function costOf(client: CDPSession, page: Page, work: () => Promise<unknown>): Promise<number> {
  const taken = async () => {
    const { metrics } = await client.send("Performance.getMetrics");
    return 1000 * (metrics.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN);
  };
  const before = await taken();
  await work();
  await page.waitForTimeout(500);
  return (await taken()) - before;
}

test("no answer is large when packed", () => {
  const packed = [...answers].map(([path, text]) => ({ path, bytes: gzipSync(text).length }));
  expect(packed.filter(({ bytes }) => bytes > MOST_PACKED_BYTES)).toEqual([]);
  expect(packed.length).toBeGreaterThan(5);
});

test("each view and each click takes less than a second, scrolling is smooth, and memory is small", async () => {
  const page = await openPage();
  const client = await page.context().newCDPSession(page);
  await client.send("Performance.enable", { timeDomain: "threadTicks" });
  const costs: Record<string, number> = {};
  const step = async (name: string, wait: string, work: () => Promise<unknown>) => {
    const act = async () => {
      await work();
      await page.locator(wait).first().waitFor();
    };
    costs[name] = Math.round(await costOf(client, page, act));
  };
  await step("first view", "dl.tiles", () => page.goto(`${ORIGIN}/api/page#key=any`));
  expect(await page.locator("dl.tiles").textContent()).toContain(NODES.toLocaleString("en-US"));
  for (const view of ["Nodes", "Demand", "Capacity", "History", "Now", "Nodes"])
    await step(view, `nav.views a[aria-current]:text-is("${view}")`, () =>
      page.locator("nav.views").getByRole("link", { name: view }).click(),
    );
  await page.getByText(`${NODES.toLocaleString("en-US")} of`).waitFor();
  await step("filter", "a:text-is('execute-9999')", () =>
    page.getByLabel("Filter Nodes", { exact: true }).fill("execute-9999"),
  );
  await step("no filter", "a:text-is('execute-1')", () =>
    page.getByLabel("Filter Nodes", { exact: true }).fill(""),
  );
  await step("sort", "th[aria-sort=ascending]", () =>
    page.getByRole("button", { name: "Why it is up" }).click(),
  );
  await step("turn over", "text=101 to 200 of", () =>
    page.getByRole("button", { name: "Next", exact: true }).last().click(),
  );
  const slow = Object.entries(costs).filter(([, cost]) => !(cost < MOST_MS));
  expect({ slow, costs }).toEqual({ slow: [], costs });
  const scrolled = await costOf(client, page, async () => {
    for (let turn = 0; turn < 20; turn += 1) await page.mouse.wheel(0, 300);
  });
  expect(scrolled).toBeLessThan(MOST_SCROLL_MS);
  await client.send("HeapProfiler.collectGarbage");
  const { usedSize } = await client.send("Runtime.getHeapUsage");
  expect(usedSize).toBeLessThan(MOST_HEAP_BYTES);
  console.log(JSON.stringify({ costs, scrolled: Math.round(scrolled), heapMB: Math.round(usedSize / 1e6) }));
});
