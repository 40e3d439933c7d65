import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import type { LocalApp } from "../support/local-app.ts";
import { startLocalApp } from "../support/local-app.ts";
import { answeringServer } from "../support/answering-server.ts";
import { runCommand } from "../cli/run-command.ts";
import { paced } from "../support/patience.ts";

/** Demand, report and pools of one set, sent in messages of their own. */

let app: LocalApp;
beforeAll(async () => {
  app = await startLocalApp({
    clusters: ["prod"],
    speed: paced(60),
    settings: { "AzureWebJobs.snapshot.Disabled": "true" },
  });
});
afterAll(() => app.close());

const patiently = { interval: 20 };
const address = (set: string) => `/api/clusters/prod/request-sets/${set}`;
const put = (set: string, members: object) =>
  app.call("PUT", address(set), { version: 1, expirationInterval: 3600, ...members });
const get = async (set: string) => (await app.call("GET", address(set))).body;
const TARGET = [{ Name: "other", TargetCount: 1 }];
const HOSTS = [{ hostname: "ip-1", jobs: ["7"] }];

const run = (words: string, files: Readonly<Record<string, unknown>> = {}) =>
  runCommand([...words.split(" "), "-c", "prod", "--url", app.host.url, "--key", app.host.keys.host], files);
const UNTIL = "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z";

describe("a report alone", () => {
  test("leaves the demand as it is, with its expiry; both are shown", async () => {
    await put("split", { nodearrays: TARGET });
    const before = await get("split");
    expect(before).toMatchObject({ demands: 1, reportsHosts: false });
    expect(before).not.toHaveProperty("report");
    const { expiresAt } = z.object({ expiresAt: z.string() }).parse(before);

    const reported = await put("split", { schedulerNodes: HOSTS, expirationInterval: 7200 });
    expect(reported).toMatchObject({
      status: 202,
      body: { changed: false, taken: ["schedulerNodes"], older: [], rejectedJobs: [] },
    });
    expect(await get("split")).toMatchObject({
      state: "live",
      demands: 1,
      expiresAt,
      expirationInterval: 3600,
      reportsHosts: true,
      report: { live: true, expirationInterval: 7200 },
    });
  });

  test("also by the queue; and a set that only reports is listed, asks for nothing, and can be emptied", async () => {
    const message = { version: 1, cluster: "prod", requestSet: "hosts", expirationInterval: 3600 };
    await app.send("demand", JSON.stringify({ ...message, schedulerNodes: HOSTS }));
    await expect
      .poll(() => get("hosts"), patiently)
      .toMatchObject({ state: "empty", demands: 0, reportsHosts: true, report: { live: true } });
    const { body } = await app.call("GET", "/api/clusters/prod");
    expect(body).toMatchObject({
      demand: expect.arrayContaining([
        expect.objectContaining({ requestSet: "hosts", state: "empty", reportsHosts: true }),
      ]),
    });
    await app.call("DELETE", address("hosts"));
    const emptied = await get("hosts");
    expect(emptied).toMatchObject({ state: "lapsed", reportsHosts: false });
    expect(emptied).not.toHaveProperty("report");
  });
});

describe("parts of several ages in one message", () => {
  const revision = (ago: number) => ({ revision: Math.floor(app.clock.now()) - ago });

  test("the answer names what is taken and what is older; 409 only if nothing is taken", async () => {
    const newer = revision(0);
    const older = revision(60_000);
    const pools = [{ name: "licence", total: 3, used: 0 }];
    await put("aged", { ...newer, pools });
    expect(
      await put("aged", { ...older, nodearrays: TARGET, pools: [{ ...pools[0], total: 9 }] }),
    ).toMatchObject({
      status: 202,
      body: { taken: ["demand"], older: ["pools"] },
    });
    expect(await get("aged")).toMatchObject({ ...older, demands: 1, pools: { live: true, ...newer } });
    expect(await put("aged", { ...older, pools })).toMatchObject({
      status: 409,
      body: { title: "Older revision", held: newer.revision },
    });
  });

  test("a message with nothing at all is refused and says how a set is emptied", async () => {
    expect(await put("aged", {})).toMatchObject({
      status: 400,
      body: {
        problems: [
          {
            path: "",
            found: "nothing",
            expected:
              'at least one of nodearrays, jobs, schedulerNodes, pools; to empty a set send "jobs": []',
          },
        ],
      },
    });
    expect(await get("aged")).toMatchObject({ demands: 1 });
    expect(await put("aged", { ...revision(0), jobs: [] })).toMatchObject({
      status: 202,
      body: { taken: ["demand"] },
    });
    expect(await get("aged")).toMatchObject({ state: "empty", demands: 0 });
  });
});

describe("push of a file without targets and jobs", () => {
  test("a report alone leaves the demand of its set as it is, and says so", async () => {
    const files = {
      "jobs.json": { expirationInterval: 3600, jobs: [{ name: "a", constraints: { ncpus: 64 } }] },
      "hosts.json": { expirationInterval: 7200, schedulerNodes: [{ hostname: "ip-1" }] },
    };
    expect((await run("push jobs.json -s pbs", files)).out).toMatch(
      new RegExp(`^accepted: request set pbs, valid until ${UNTIL}; asks for 1 job, 1 slot$`),
    );
    const reported = await run("push hosts.json -s pbs", files);
    expect(reported).toMatchObject({ code: 0, err: "" });
    expect(reported.out).toMatch(
      new RegExp(
        `^accepted: schedulerNodes of request set pbs; its demand stays as it is, valid until ${UNTIL}$`,
      ),
    );
    const shown = await run("demand -s pbs");
    expect(shown.out).toMatch(new RegExp(`^pbs: live, 1 demand, until ${UNTIL}`));
    expect(shown.out).toMatch(new RegExp(`^report: until ${UNTIL}$`, "m"));
  });

  test("a file with none of the four lists is refused with the way to empty a set, by HTTP and by the queue", async () => {
    const files = { "empty.json": { expirationInterval: 3600 } };
    const expected =
      'found nothing, expected at least one of nodearrays, jobs, schedulerNodes, pools; to empty a set send "jobs": []';
    expect(await run("push empty.json", files)).toEqual({
      code: 2,
      out: "",
      err: `400 Bad request: ${expected}`,
    });
    const queue = ["push", "empty.json", "-c", "prod", "--queue", app.azurite.connectionString];
    const queued = await runCommand(queue, files);
    expect(queued.code).toBe(2);
    expect(queued.err).toContain(expected);
  });

  test("parts of which something newer is held are named", async () => {
    const body = {
      requestSet: "pbs",
      expiresAt: "2026-01-01T00:00:00Z",
      changed: true,
      taken: ["demand"],
      older: ["schedulerNodes", "pools"],
      rejectedJobs: [],
    };
    const { url } = await answeringServer(202, JSON.stringify(body), {});
    const reach = ["-c", "prod", "--url", url, "--key", "k"];
    expect(await runCommand(["push", "f", ...reach], { f: { jobs: [] } })).toEqual({
      code: 0,
      out: "accepted: request set pbs, valid until 2026-01-01T00:00:00Z; not taken, because a newer one is known: schedulerNodes and pools",
      err: "",
    });
  });
});
