import { expect, test } from "vitest";
import { z } from "zod";
import packageJson from "../../package.json" with { type: "json" };
import { runCommand } from "../cli/run-command.ts";
import { startMain } from "../support/run-main.ts";
import { paced } from "../support/patience.ts";

const status = z.object({ nodes: z.array(z.object({ Name: z.string(), Template: z.string() })) });
const patiently = { interval: 100 };

test("--serve says how to reach everything, makes nodes of a target, goes on with what it knew when the app is killed, and leaves no process behind", async () => {
  const run = startMain(["--serve", "--speed", String(paced(120))]);
  try {
    await expect.poll(() => run.said(), patiently).toContain("Ctrl-C stops everything.");
    const said = run.said();
    /** What is printed after a label. */
    const after = (label: string, value: RegExp): string =>
      new RegExp(`^${label} +(${value.source})`, "m").exec(said)?.[1] ?? `nothing after "${label}"`;
    const health = after("function app", /http:\S+/);
    const key = after("function key", /\S+/);
    const state = after("state of the cluster", /http:\S+/);
    const simulator = after("CycleCloud simulator", /http:\S+/);
    const password = after(".*user autoscaler, password", /\S+/);
    expect(after("connection string", /\S+/)).toMatch(
      /^DefaultEndpointsProtocol=http;.*QueueEndpoint=http:\/\/127\./,
    );
    expect(after("master key", /\S+/)).not.toBe(key);
    for (const role of ["sender", "reader", "operator"])
      expect(after(`${role} key`, /\S+/)).toMatch(/^[0-9a-f]{64}$/);

    await expect.poll(async () => (await fetch(health)).status, patiently).toBe(200);
    expect((await fetch(state)).status).toBe(200);

    const set = `${new URL(state).origin}/api/clusters/demo/request-sets/try`;
    const body = '{"version":1,"nodearrays":[{"Name":"htc","TargetCount":3}],"expirationInterval":86400}';
    expect((await fetch(set, { method: "PUT", body })).status).toBe(401);
    const headers = { "x-functions-key": key };
    expect((await fetch(set, { method: "PUT", headers, body })).status).toBe(202);

    const authorization = `Basic ${Buffer.from(`autoscaler:${password}`).toString("base64")}`;
    const templates = async () => {
      const answer = await fetch(`${simulator}/clusters/demo/status?nodes=true`, {
        headers: { authorization },
      });
      return status.parse(await answer.json()).nodes.map((node) => node.Template);
    };
    await expect
      .poll(async () => (await templates()).filter((template) => template === "htc"), patiently)
      .toEqual(["htc", "htc", "htc"]);

    const words = ["verify", "--url", new URL(state).origin, "--key", key];
    const verified = await runCommand(
      [...words, "--master-key", after("master key", /\S+/)],
      {},
      { release: packageJson.version, environment: { AUTOSCALER_SIMULATED_CLOCK: "as exported" } },
    );
    expect(verified.out.split("\n").at(-1)).toBe("9 checks passed, 1 not applicable");
    expect(verified.out).toContain(
      "functions  25 functions, each of them enabled; trigger sync: not applicable",
    );
    expect(verified.code).toBe(0);

    process.kill(Number(after("process of the app", /\d+/)), "SIGKILL");
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
    await expect(fetch(health)).rejects.toThrow();
    await expect(fetch(simulator)).rejects.toThrow();
  } finally {
    if (run.anyLeft()) run.signal("SIGKILL");
  }
});
