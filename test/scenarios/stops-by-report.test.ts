import { describe, expect, test } from "vitest";
import type { DemandMessage } from "../../src/wire/message/message.ts";
import { oneArray } from "./clusters.ts";
import { HostsStage } from "./hosts-stage.ts";

/** A scheduler that reports all nodes each 20 s: which are busy, and the others as idle, and as closed if so set. */
class Reporter {
  readonly busy = new Set<string>();
  readonly stage: HostsStage;
  readonly closed: boolean;
  targets: readonly { readonly name: string; readonly count: number }[] = [];

  constructor(stage: HostsStage, closed: boolean) {
    this.stage = stage;
    this.closed = closed;
  }

  message(): DemandMessage {
    return {
      version: 1,
      cluster: "demo",
      expirationInterval: 300,
      revision: this.stage.clock.now(),
      nodearrays: this.targets.map(({ name, count }) => ({ Name: name, TargetCount: count })),
      schedulerNodes: this.stage.readyNodes.map(({ nodeId, hostname }) => {
        const isBusy = this.busy.has(nodeId);
        const state = isBusy ? "open" : this.closed ? "closed" : undefined;
        return {
          hostname,
          jobs: isBusy ? ["job1"] : [],
          ...(state === undefined ? {} : { state }),
        };
      }),
    };
  }
}

describe("a job starts on a node whose stop is being saved", () => {
  test.each([
    ["the host has no state", false],
    ["the host was closed", true],
  ])(
    "%s: the report that says so is durable before the plan is: the node is not stopped",
    async (_, closed) => {
      const stage = new HostsStage({ simulator: oneArray("demo") });
      const reporter = new Reporter(stage, closed);
      reporter.targets = [{ name: "execute", count: 2 }];
      await stage.pass(10);
      stage.push(reporter.message());
      await stage.pass(120);
      reporter.targets = [{ name: "execute", count: 1 }];
      stage.every(20, () => stage.push(reporter.message()));
      let hit: string | undefined;
      stage.interference = {
        async save(host, { plan }, save) {
          const [id] = plan?.terminates ?? [];
          const other = stage.hosts.find((one) => one !== host);
          if (id === undefined || other === undefined || hit !== undefined) return save();
          hit = id;
          reporter.busy.add(id);
          await stage.clock.sleep(1);
          await stage.accept(reporter.message(), other);
          return save();
        },
      };
      await stage.pass(1500);
      expect(hit).toBeDefined();
      expect(stage.stoppedAt(hit ?? "")).toBeUndefined();
      // The other one is idle, and the job's node serves the target.
      expect(stage.count("terminate-accepted")).toBe(1);
    },
  );
});

test("a job starts between the commit of a stop and its send: the record is read once more, and the node stays", async () => {
  const stage = new HostsStage({ simulator: oneArray("demo") });
  const reporter = new Reporter(stage, false);
  reporter.targets = [{ name: "execute", count: 2 }];
  await stage.pass(10);
  stage.push(reporter.message());
  await stage.pass(120);
  reporter.targets = [{ name: "execute", count: 1 }];
  stage.every(20, () => stage.push(reporter.message()));
  let hit: string | undefined;
  stage.interference = {
    async save(host, { plan }, save) {
      const saved = await save();
      const [id] = plan?.terminates ?? [];
      const other = stage.hosts.find((one) => one !== host);
      if (id === undefined || other === undefined || hit !== undefined) return saved;
      hit = id;
      reporter.busy.add(id);
      await stage.clock.sleep(1);
      await stage.accept(reporter.message(), other);
      return saved;
    },
  };
  await stage.pass(1500);
  expect(hit).toBeDefined();
  expect(stage.stoppedAt(hit ?? "")).toBeUndefined();
  expect(stage.count("terminate-accepted")).toBe(1);
  expect((await stage.record())?.intents).toEqual([]);
});

test("a node that asks every four minutes is not stopped by reports, one that does not ask is", async () => {
  const stage = new HostsStage({ simulator: oneArray("demo") });
  const reporter = new Reporter(stage, true);
  reporter.targets = [{ name: "execute", count: 3 }];
  await stage.pass(10);
  stage.push(reporter.message());
  await stage.pass(120);
  const [asker] = stage.readyNodes;
  if (asker === undefined) throw new Error("no node");
  // It asks only about its earlier questions: none of these begins a stop.
  stage.every(20, () => stage.push(reporter.message()));
  stage.every(240, () => void stage.ask(asker, undefined, { begin: "no" }));
  reporter.targets = [];
  await stage.pass(1500);
  expect(stage.count("terminate-accepted")).toBe(2);
  expect(stage.stoppedAt(asker.nodeId)).toBeUndefined();
});

describe("stops are sent before slow creates of the same plan", () => {
  test.each([2, 10, 20])(
    "creates take %i s: the stop reaches CycleCloud within 2 s of its plan",
    async (seconds) => {
      const { clusters, ...rest } = oneArray("demo");
      const [cluster] = clusters;
      const [array] = cluster?.arrays ?? [];
      if (cluster === undefined || array === undefined) throw new Error("no array");
      const simulator = {
        ...rest,
        clusters: [{ ...cluster, arrays: ["execute", "b", "c"].map((name) => ({ ...array, name })) }],
      };
      const stage = new HostsStage({
        simulator,
        between: (send, clock) => async (request) => {
          if (request.path.endsWith("/create")) await clock.sleep(seconds * 1000);
          return send(request);
        },
      });
      const reporter = new Reporter(stage, false);
      reporter.targets = [{ name: "execute", count: 2 }];
      await stage.pass(10);
      stage.push(reporter.message());
      await stage.pass(140);
      let more = 0;
      stage.every(20, () => {
        // From 420 s on each message asks for one node more of each of two other arrays.
        if (stage.seconds > 420) more += 1;
        reporter.targets = [
          { name: "execute", count: 1 },
          { name: "b", count: more },
          { name: "c", count: more },
        ];
        stage.push(reporter.message());
      });
      let decided: { readonly id: string; readonly at: number; readonly creates: number } | undefined;
      stage.interference = {
        save(_, { plan }, save) {
          const [id] = plan?.terminates ?? [];
          if (plan !== undefined && id !== undefined && decided === undefined)
            decided = { id, at: stage.seconds, creates: plan.creates.length };
          return save();
        },
      };
      await stage.pass(1200);
      expect(decided?.creates).toBeGreaterThan(0);
      const stopped = stage.stoppedAt(decided?.id ?? "") ?? Number.POSITIVE_INFINITY;
      expect(stopped - (decided?.at ?? 0)).toBeLessThanOrEqual(2);
    },
  );
});
