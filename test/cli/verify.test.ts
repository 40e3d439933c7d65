import { describe, expect, test } from "vitest";
import { linesOf, openStage, problem, RESOURCE_ID } from "./verify-stage.ts";

/** `verify`: each known failure of the first hour, as an administrator reads it. */

const AZURE = ["--resource-id", RESOURCE_ID];

test("all is well: each check says what it found, and the end is 0", async () => {
  const { verify, waited, url } = await openStage({});
  const { code, out, err } = await verify(AZURE);
  expect(out.split("\n")).toEqual([
    `ok              address    ${url} answers`,
    "ok              functions  25 functions, each of them enabled",
    "ok              no key     HTTP 401",
    "ok              key        the key opens the app",
    "ok              storage    tables and queues answer",
    "ok              version    release 1.2.3",
    "ok              clock      the clocks agree",
    "ok              timer      ticked 2 times, the last at 2026-11-22T12:02:00.000Z",
    "ok              queue      wake message wake-1 came through",
    "ok              cyclecloud reached, signed in and read: demo",
    "10 checks passed",
  ]);
  // It began 30 s after a minute: 90 s for two ticks, and 10 s for the message.
  expect({ code, waited: waited() }).toEqual({ code: 0, waited: 100 });
  expect(err.split("\n")).toEqual([
    "timer: waiting for 2 ticks of the timer, which come once a minute; 0 of 2 ticks; it last ran at 2026-11-22T12:00:00.000Z; 300 s left",
    "timer: 1 of 2 ticks; it last ran at 2026-11-22T12:01:00.000Z; 270 s left",
    "queue: waiting for a wake message to come through the queue demand; wake message wake-1 is in the queue, and no function has read it; 300 s left",
  ]);
});

test("--json has every check as data, and nothing else on standard output", async () => {
  const { verify } = await openStage({ version: "1.2.2" });
  const { code, out } = await verify(["--json", "--wait", "0"]);
  expect(code).toBe(1);
  const { ok, checks } = JSON.parse(out);
  expect(ok).toBe(false);
  expect(checks).toHaveLength(10);
  expect(checks[5]).toEqual({
    check: "version",
    state: "failed",
    found: "the app runs release 1.2.2, and this command is 1.2.3",
    whatToDo:
      "Deploy the package of this release; or, if the app is the newer one, use the command of its release. After a deployment, instances of the release before may answer for some minutes.",
    waitsFor: "the app to run release 1.2.3",
    waitedSeconds: 0,
    cutShort: true,
  });
});

describe("what heals while it waits", () => {
  const MISMATCH = problem(
    503,
    "Cannot tell now",
    "peek at queue demand-rejected: AuthorizationPermissionMismatch: This request is not authorized to perform this operation using this permission.",
  );

  test("storage refuses the new role for 7 minutes", async () => {
    const { verify, waited } = await openStage({
      clusters: (seconds) => (seconds < 420 ? MISMATCH : undefined),
    });
    const { code, out, err } = await verify(AZURE);
    expect(code).toBe(0);
    expect(linesOf(out, "storage")).toBe("ok              storage    tables and queues answer");
    // One line as it begins, and one a minute.
    const lines = err.split("\n").filter((line) => line.startsWith("storage: "));
    expect(lines).toHaveLength(7);
    expect(lines[0]).toBe(
      "storage: waiting for tables and queues to answer the app's identity; HTTP 503 Cannot tell now: peek at queue demand-rejected: AuthorizationPermissionMismatch: This request is not authorized to perform this operation using this permission.; 1800 s left",
    );
    expect(lines[6]).toMatch(/; 1440 s left$/);
    expect(waited()).toBeGreaterThan(420);
  });

  test("Azure refuses the new role of who is signed in for 4 minutes", async () => {
    const { verifyWithoutKey, waited } = await openStage({
      listed: (seconds) =>
        seconds < 240
          ? {
              status: 403,
              body: { error: { code: "AuthorizationFailed", message: "no action functions/read" } },
            }
          : { body: { value: ALL.map((name) => ({ name: `scaler/${name}` })) } },
    });
    const { code, out, err } = await verifyWithoutKey(AZURE);
    expect(code).toBe(0);
    expect(linesOf(out, "functions")).toBe("ok              functions  25 functions, each of them enabled");
    expect(err).toContain(
      "functions: waiting for the 25 functions of this release in the list of Azure's management API; no list: HTTP 403: no action functions/read; 900 s left",
    );
    // 240 s for the role, 30 s to the next minute, then one more tick, and 10 s for the message.
    expect(waited()).toBe(340);
  });

  test("functions are missing until the second sync", async () => {
    const { verify, seen } = await openStage({
      listed: (_seconds, syncs) =>
        syncs < 2 ? ["WarmUp"] : { body: { value: ALL.map((name) => ({ name: `scaler/${name}` })) } },
    });
    const { code, out, err } = await verify(AZURE);
    expect(code).toBe(0);
    expect(linesOf(out, "functions")).toMatch(/^ok /);
    expect(err).toContain(
      "functions: waiting for the 25 functions of this release in the list of Azure's management API; missing: autostop, cluster, clusters, comparison, config, config-history, demand, end-down, explain, health, history, node-history, openapi, page, page-file, plan, rejected-messages, request-set, restored, rollback-config, snapshot, tick, wake, write-config, write-request-set; asked Azure to read the triggers again; 900 s left",
    );
    expect(seen.filter((request) => request.includes("/sync"))).toHaveLength(2);
  });

  test("credentials were refused a while ago, and are right now: the app's rest is waited for", async () => {
    const resting = {
      outcome: "troubled",
      trouble: {
        kind: "denied",
        message: "CycleCloud: credentials were refused at 2026-11-22T11:59:00.000Z; no call for 300 s",
      },
    };
    const { verify, waited } = await openStage({
      tick: (seconds) => (seconds < 210 ? { body: resting } : undefined),
    });
    expect((await verify(AZURE)).code).toBe(0);
    // Read from 100 s on, every 15 s.
    expect(waited()).toBe(220);
  });
});

const ALL =
  "autostop cluster clusters comparison config config-history demand end-down explain health history node-history openapi page page-file plan rejected-messages request-set restored rollback-config snapshot tick wake write-config write-request-set".split(
    " ",
  );

const trouble = (kind: string, message: string) => ({
  tick: () => ({ body: { outcome: "troubled", trouble: { kind, message } } }),
});

describe("what does not heal is named, with what to do", () => {
  test.each([
    {
      name: "storage still refuses after 30 minutes",
      play: {
        state: () => problem(503, "Cannot tell now", "load demo: AuthorizationPermissionMismatch: no"),
      },
      check: "storage",
      says: "waited 1800 s for tables and queues to answer the app's identity. Found: HTTP 503 Cannot tell now: load demo: AuthorizationPermissionMismatch: no What to do: The app's identity has no right to this: give it Storage Queue Data Contributor and Storage Table Data Contributor on the storage account (and Storage Blob Data Owner for the host). A new role can take up to 30 minutes: run verify again then.",
    },
    {
      name: "storage behind a firewall",
      play: { clusters: () => problem(503, "Cannot tell now", "peek: AuthorizationFailure: not authorized") },
      check: "storage",
      says: "What to do: The storage account's network rules refuse the app: the app needs the virtual network",
    },
    {
      name: "the timer is silent",
      play: { isTimerSilent: true as const },
      check: "timer",
      says: "waited 300 s for 2 ticks of the timer, which come once a minute. Found: 0 of 2 ticks; the timer has never run What to do: Restart the app: timers are known to stop after a deployment, and a restart mends that.",
    },
    {
      name: "the timer ticked before the deployment, and never since",
      play: { timerStoppedAt: "2026-11-22T11:58:00.000Z" },
      check: "timer",
      says: "Found: 0 of 2 ticks; it last ran at 2026-11-22T11:58:00.000Z What to do: Restart the app",
    },
    {
      name: "the queue is not read",
      play: { queueSeconds: undefined },
      check: "queue",
      says: "Found: wake message wake-1 is in the queue, and no function has read it What to do: The app can write the queue, and its queue function does not read it.",
    },
    {
      name: "a wake message cannot be sent",
      play: {
        wake: () => problem(503, "Cannot tell now", "send to queue demand: AuthorizationPermissionMismatch"),
      },
      check: "queue",
      says: "no wake message could be sent: HTTP 503 Cannot tell now: send to queue demand: AuthorizationPermissionMismatch What to do: The app's identity needs Storage Queue Data Contributor",
    },
    {
      name: "a wrong password in CycleCloud",
      play: trouble("denied", "GET /clusters/demo/status: HTTP 401: Unauthorized"),
      check: "cyclecloud",
      says: "waited 0 s for the app to reach CycleCloud, to sign in, and to find the cluster. Found: demo: CycleCloud is reached, and refuses the credentials: GET /clusters/demo/status: HTTP 401: Unauthorized What to do: Correct username and password",
    },
    {
      name: "CycleCloud's private address is not reached by the app",
      play: trouble("unreachable", "GET /clusters/demo/status: connect ETIMEDOUT 10.1.0.4:443"),
      check: "cyclecloud",
      says: "waited 420 s for the app to reach CycleCloud, to sign in, and to find the cluster. Found: demo: CycleCloud is not reached: GET /clusters/demo/status: connect ETIMEDOUT 10.1.0.4:443 What to do: The app, not this machine, must reach the address in AUTOSCALER_CLUSTERS. A private address needs the app in the virtual network, with a route, DNS, and a network security group that lets it pass; a network that this deployment made (network=new) must be peered with CycleCloud's.",
    },
    {
      name: "a cluster that CycleCloud does not have",
      play: trouble("not-found", "CycleCloud has no such cluster: demo"),
      check: "cyclecloud",
      says: "Found: demo: CycleCloud is reached and signed in, and has no such cluster: CycleCloud has no such cluster: demo What to do: Compare name in AUTOSCALER_CLUSTERS with the name in CycleCloud",
    },
    {
      name: "a clock 10 minutes off",
      play: { clockAhead: 600 },
      check: "clock",
      says: "waited 0 s for the app's clock to agree with this machine's within 60 s. Found: the app's clock is 600 s ahead of this machine's What to do: Correct the clock of this machine (NTP)",
    },
    {
      name: "a clock 10 minutes behind",
      play: { clockAhead: -600 },
      check: "clock",
      says: "Found: the app's clock is 600 s behind this machine's",
    },
    {
      name: "an older release that names itself",
      play: { version: "1.1.0" },
      check: "version",
      says: "waited 300 s for the app to run release 1.2.3. Found: the app runs release 1.1.0, and this command is 1.2.3 What to do: Deploy the package of this release",
    },
    {
      name: "a release from before releases were named",
      play: { version: undefined },
      check: "version",
      says: "Found: the app does not name its release, so it is older than 1.2.3",
    },
    {
      name: "functions that never come, however often the triggers are read again",
      play: { listed: () => ALL.filter((name) => name !== "snapshot") },
      check: "functions",
      says: "waited 900 s for the 25 functions of this release in the list of Azure's management API. Found: missing: snapshot; asked Azure to read the triggers again What to do: Look for an error at the start of the app in its log",
    },
    {
      name: "functions of another release",
      play: { listed: () => [...ALL, "webhook"] },
      check: "functions",
      says: "Found: not of this release: webhook; asked Azure",
    },
    {
      name: "a function that is disabled",
      play: {
        listed: () => ({
          body: {
            value: ALL.map((name) => ({
              name: `scaler/${name}`,
              properties: { name, isDisabled: name === "demand" },
            })),
          },
        }),
      },
      check: "functions",
      says: "waited 0 s for the 25 functions of this release in the list of Azure's management API. Found: disabled: demand What to do: Remove from the app settings, or set to false: AzureWebJobs.demand.Disabled.",
    },
    {
      name: "who is signed in may not list functions",
      play: {
        listed: () => ({
          status: 403,
          body: { error: { code: "AuthorizationFailed", message: "no action functions/read" } },
        }),
      },
      check: "functions",
      says: "waited 900 s for the 25 functions of this release in the list of Azure's management API. Found: no list: HTTP 403: no action functions/read",
    },
    {
      name: "nobody is signed in",
      play: { signIn: () => Promise.reject(new Error("CredentialUnavailableError: run az login\nand more")) },
      check: "functions",
      says: "Found: no token for the management API: CredentialUnavailableError: run az login What to do: Sign in: az login, or give this machine an identity.",
    },
    {
      name: "app settings with problems",
      play: { clusters: () => problem(503, "The app settings have problems", "AUTOSCALER_CLUSTERS") },
      check: "key",
      says: "Found: HTTP 503 The app settings have problems: AUTOSCALER_CLUSTERS What to do: Correct these app settings.",
    },
  ])("$name", async ({ play, check, says }) => {
    const { verify } = await openStage(play);
    const { code, out } = await verify(AZURE);
    expect(code).toBe(1);
    const lines = linesOf(out, check);
    expect(lines).toMatch(/^FAILED /);
    expect(lines).toContain(says);
    expect(out.split("\n").at(-1)).toContain(`1 failed (${check})`);
  });
});
