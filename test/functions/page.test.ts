import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildPage } from "../../infra/build-page.ts";
import type { LocalApp } from "../support/local-app.ts";
import { startLocalApp } from "../support/local-app.ts";

/** The page is served without a key and holds nothing; answers that it reads again and again say when nothing has changed. */

let app: LocalApp;
beforeAll(async () => {
  app = await startLocalApp({ clusters: ["prod"], speed: 1 });
});
afterAll(() => app.close());

const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
  fetch(`${app.host.url}${path}`, { headers, redirect: "manual" });

const KEYED = () => ({ "x-functions-key": app.host.keys.host });

async function put(set: string): Promise<void> {
  const body = { version: 1, nodearrays: [{ Name: "execute", TargetCount: 1 }] };
  expect((await app.call("PUT", `/api/clusters/prod/request-sets/${set}`, body)).status).toBe(202);
}

describe("the page", () => {
  test.each([
    { path: "/api/page", type: "text/html; charset=utf-8", holds: "<!doctype html>" },
    { path: "/api/page/page.js", type: "text/javascript; charset=utf-8", holds: "x-functions-key" },
    { path: "/api/page/page.css", type: "text/css; charset=utf-8", holds: ".uplot" },
    { path: "/api/page/icon.svg", type: "image/svg+xml", holds: "<svg" },
  ])(
    "$path needs no key, and runs nothing from elsewhere and nothing inline",
    async ({ path, type, holds }) => {
      const answer = await get(path);
      expect(answer.status).toBe(200);
      expect(answer.headers.get("content-type")).toBe(type);
      expect(await answer.text()).toContain(holds);
      const policy = (answer.headers.get("content-security-policy") ?? "").split("; ");
      expect(policy).toEqual(
        expect.arrayContaining([
          "default-src 'none'",
          "script-src 'self'",
          "connect-src 'self'",
          "frame-ancestors 'none'",
        ]),
      );
      expect(policy.join()).not.toMatch(/unsafe|https?:|\*/);
      expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    },
  );

  test.each(["/api/page/nothing", "/api/page/..%2Fpackage.json", "/api/page/constructor", "/api/page/.js"])(
    "%s is not there",
    async (path) => {
      expect((await get(path)).status).toBe(404);
    },
  );

  test("a browser that has it is told so", async () => {
    const etag = (await get("/api/page")).headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[\w-]{22}"$/);
    expect((await get("/api/page", { "if-none-match": etag })).status).toBe(304);
    expect((await get("/api/page", { "if-none-match": '"another"' })).status).toBe(200);
  });

  test("the local host leads there from its root", async () => {
    const answer = await get("/");
    expect([answer.status, answer.headers.get("location")]).toEqual([302, "/api/page"]);
  });

  test("its HTML names only files that there are", async () => {
    const { files } = await buildPage();
    const named = [...(files["index.html"] ?? "").matchAll(/(?:src|href)="([^"]+)"/g)].map(
      ([, name = ""]) => name,
    );
    expect(new Set(named)).toEqual(
      new Set(["/api/page/icon.svg", "/api/page/page.css", "/api/page/page.js"]),
    );
    expect(Object.keys(files).toSorted()).toEqual(["icon.svg", "index.html", "page.css", "page.js"]);
  });
});

describe("answers that are read again and again", () => {
  test.each([
    "/api/clusters",
    "/api/clusters/prod",
    "/api/clusters/prod/history?limit=1",
    "/api/clusters/prod/history/nodes",
    "/api/clusters/prod/comparison",
  ])("%s: 304 while nothing but ages has changed, with the app's clock", async (path) => {
    // An observation may come in between.
    await expect
      .poll(async () => {
        const first = await get(path, KEYED());
        const etag = first.headers.get("etag") ?? "";
        expect([first.status, etag]).toEqual([200, expect.stringMatching(/^W\/"[\w-]{22}"$/)]);
        const again = await get(path, { ...KEYED(), "if-none-match": etag });
        const time = again.headers.get("autoscaler-time") ?? "";
        expect(Math.abs(Date.parse(time) - app.clock.now())).toBeLessThan(60_000);
        return [again.status, await again.text()];
      })
      .toEqual([304, ""]);
  });

  test("what has changed is sent", async () => {
    const etag = (await get("/api/clusters/prod", KEYED())).headers.get("etag") ?? "";
    await put("changed");
    const again = await get("/api/clusters/prod", { ...KEYED(), "if-none-match": etag });
    expect(again.status).toBe(200);
    expect(again.headers.get("etag")).not.toBe(etag);
    expect(await again.text()).toContain('"changed"');
  });

  test("who accepts an answer of the last seconds may get an older one; everyone else gets what storage has now", async () => {
    const young = { ...KEYED(), "cache-control": "max-age=5" };
    const told = async (headers: Readonly<Record<string, string>>, set: string) =>
      (await (await get("/api/clusters/prod", headers)).text()).includes(`"${set}"`);
    await expect.poll(() => told(young, "changed")).toBe(true);
    const at = app.clock.now();
    await put("later");
    const isKept = !(await told(young, "later"));
    // On a machine that stands still for 5 s it may be over.
    if (app.clock.now() - at < 4000) expect(isKept).toBe(true);
    expect(await told(KEYED(), "later")).toBe(true);
    await expect.poll(() => told(young, "later")).toBe(true);
  });

  test("a caller without a key gets nothing of it", async () => {
    expect((await get("/api/clusters/prod", { "cache-control": "max-age=5" })).status).toBe(401);
  });

  test.each(["0", "2001", "x", "1.5"])("points=%s is refused", async (points) => {
    expect(await app.call("GET", `/api/clusters/prod/history?points=${points}`)).toMatchObject({
      status: 400,
      body: { problems: [{ path: "points", expected: "a whole number from 1 to 2000" }] },
    });
  });
});
