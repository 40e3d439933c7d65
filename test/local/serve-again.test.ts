import { expect, test } from "vitest";
import { startMain } from "../support/run-main.ts";
import { paced } from "../support/patience.ts";

const patiently = { interval: 100 };

test("--serve: a function app that is killed is reported, and goes on with what it knew", async () => {
  const run = startMain(["--serve", "--speed", String(paced(60))]);
  try {
    await expect.poll(() => run.said(), patiently).toContain("Ctrl-C stops everything.");
    const after = (label: string, value: RegExp): string =>
      new RegExp(`^${label} +(${value.source})`, "m").exec(run.said())?.[1] ?? `nothing after "${label}"`;
    const state = after("state of the cluster", /http:\S+/);
    const set = `${new URL(state).origin}/api/clusters/demo/request-sets/try`;
    const headers = { "x-functions-key": after("function key", /\S+/) };
    const body = '{"version":1,"nodearrays":[{"Name":"htc","TargetCount":2}],"expirationInterval":86400}';
    expect((await fetch(set, { method: "PUT", headers, body })).status).toBe(202);

    const kill = () => process.kill(Number(after("process of the app", /\d+/)), "SIGKILL");
    kill();
    await expect
      .poll(() => run.said(), patiently)
      .toMatch(/^\d\d:\d\d:\d\dZ the function app has ended \(SIGKILL\); it is started again in 1 s$/m);
    await expect
      .poll(() => run.said(), patiently)
      .toMatch(/^\d\d:\d\d:\d\dZ the function app runs again \(process \d+, started again 1 time\)$/m);
    const answer = await fetch(set, { headers });
    expect({ status: answer.status, body: await answer.json() }).toMatchObject({
      status: 200,
      body: { state: "live" },
    });

    run.signal("SIGINT");
    const { code, stdout } = await run.ended;
    expect(code).toBe(0);
    expect(stdout.trimEnd().split("\n").at(-1)).toBe("stopped; nothing is left running");
    expect(run.anyLeft()).toBe(false);
  } finally {
    if (run.anyLeft()) run.signal("SIGKILL");
  }
});
