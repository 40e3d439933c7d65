import { expect, test } from "vitest";
import { oneArray, target } from "./clusters.ts";
import { Stage } from "./stage.ts";

const HOUR = 3600;

/** Four nodes of pure target demand that lapses after ten minutes. No scheduler reports, and no node asks. */
async function fourForgottenNodes(log?: (event: string, fields: object) => void): Promise<Stage> {
  const stage = new Stage({ simulator: oneArray("demo"), ...(log === undefined ? {} : { log }) });
  await stage.during(stage.push(target("demo", 4, { expirationInterval: 600 })));
  await stage.pass(300);
  expect(stage.readyNodes).toHaveLength(4);
  return stage;
}

test("nodes that nobody needs and nobody reports on: a warning in health, status and event log, and healthy all the same", async () => {
  const events: unknown[] = [];
  const stage = await fourForgottenNodes((event, fields) => {
    if (event === "nodes-not-needed") events.push(fields);
  });
  await stage.pass(300);
  expect((await stage.state("demo")).health).toMatchObject({ ok: true, warnings: [] });
  expect(events).toEqual([]);

  await stage.pass(HOUR);
  const { health, troubles, nodes } = await stage.state("demo");
  expect(health.ok).toBe(true);
  expect(health.warnings).toEqual([
    expect.stringMatching(/^4 nodes are not needed, the first of them since 2026-01-01T00:/),
  ]);
  expect(troubles).toEqual([{ kind: "nodes-not-needed", text: health.warnings[0], count: 1 }]);
  expect(events.at(-1)).toMatchObject({ cluster: "demo", nodes: 4 });
  expect(nodes.count).toBe(4);
});

test("a report that shows them idle ends the warning, the marks say what they wait for, and the next report ends the nodes", async () => {
  const stage = await fourForgottenNodes();
  await stage.pass(HOUR);
  const schedulerNodes = stage.readyNodes.map(({ hostname }) => ({
    hostname,
    jobs: [],
    state: "closed" as const,
  }));
  const report = () =>
    stage.during(
      stage.push({
        cluster: "demo",
        requestSet: "hosts",
        version: 1,
        expirationInterval: 7200,
        schedulerNodes,
      }),
    );
  await report();
  await stage.pass(600);
  const marked = await stage.state("demo");
  expect(marked.health.warnings).toEqual([]);
  expect(marked.nodes.list.map(({ why }) => why)).toEqual(
    Array.from({ length: 4 }, () =>
      expect.stringMatching(
        /^marked to be stopped \(idle\): waiting for a report later than 01:\d\d:\d\dZ; the last is from 01:05:\d\dZ$/,
      ),
    ),
  );
  await report();
  await stage.pass(120);
  expect(stage.eventsOf("terminate-accepted")).toHaveLength(4);
});

test("enabled false: plan, state and explain say what would be done, and nothing of it is", async () => {
  const stage = new Stage({ simulator: oneArray("demo"), policy: { mode: "observe" } });
  await stage.during(stage.push(target("demo", 4, { expirationInterval: HOUR })));
  await stage.pass(600);
  expect(stage.eventsOf("node-created")).toEqual([]);
  const { plan, health } = await stage.state("demo");
  expect(health.ok).toBe(true);
  expect(plan?.withheld).toEqual({
    creates: [{ bucket: expect.stringMatching(/^execute\//), count: 4 }],
    starts: [],
    terminates: [],
  });
  const told = await stage.explain("demo", { kind: "job", job: "nodearray:execute" });
  expect(told.kind === "explained" ? told.body.text.split("\n") : told).toEqual([
    "target standard/nodearray:execute asks for 4 nodes; rank 1 of 1",
    "4 of 4 would be placed, 4 of them on nodes that are not up: the mode is observe",
    expect.stringMatching(/^the plan would create 4 x execute\/\S+, but the mode is observe$/),
    "observing only: nothing is created or stopped",
    "in the virtual fleet (only in the record) this plan changed nothing",
  ]);
});
