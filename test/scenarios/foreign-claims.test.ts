import { describe, expect, test } from "vitest";
import type { SenderRule } from "../../src/domain/sender-rules.ts";
import type { DemandMessage } from "../../src/wire/message/message.ts";
import { SENDER_RULE } from "../support/sender-rule.ts";
import { DEFAULT_POLICY } from "../../src/domain/policy.ts";
import { oneArray, target } from "./clusters.ts";
import { HostsStage } from "./hosts-stage.ts";
import { Stage } from "./stage.ts";

/** Jobs that a set claims on the nodes of another one (docs/protocol.md, Claims). */

const HOUR = 3600;
const MINUTE = 60;

const rule = (requestSets: string, more: Partial<SenderRule> = {}): SenderRule => ({
  ...SENDER_RULE,
  requestSets: [requestSets],
  ...more,
});
const RULES = [rule("pbs*"), rule("evil*", { hosts: false, pools: false, dynamicArrays: false })];

/** Three nodes that pbs asked for. After that each of these says what it says, each minute, for as long as it says something. */
async function threeNodes(senders: readonly SenderRule[] | undefined) {
  const stage = new HostsStage({
    simulator: oneArray("demo"),
    hosts: 1,
    ...(senders === undefined ? {} : { policy: { senders } }),
  });
  const push = (requestSet: string, message: Partial<DemandMessage>): void =>
    stage.push({
      version: 1,
      cluster: "demo",
      requestSet,
      expirationInterval: 180,
      revision: stage.clock.now(),
      ...message,
    });
  const target = { nodearrays: [{ Name: "execute", TargetCount: 3 }] };
  push("pbs", target);
  await stage.pass(2 * MINUTE);
  const hosts = stage.readyNodes.map(({ hostname }) => hostname);
  expect(hosts).toHaveLength(3);
  const says = (act: () => void, seconds = MINUTE): void => stage.every(seconds, act);
  return { stage, push, hosts, says };
}

type Three = Awaited<ReturnType<typeof threeNodes>>;

/** All hosts, closed and without a job. */
const idle = (hosts: readonly string[]) => hosts.map((hostname) => ({ hostname, jobs: [], state: "closed" }));

/** One job on all of these hosts. */
const claim = (hosts: readonly string[]): Partial<DemandMessage> => ({
  jobs: [
    {
      name: "ghost",
      iterations: hosts.length,
      constraints: { ncpus: 1 },
      placed: hosts.map((hostname) => ({ hostname, iterations: 1 })),
    },
  ],
});

const nothing = (hosts: readonly string[]): Partial<DemandMessage> => ({
  jobs: [],
  schedulerNodes: idle(hosts),
});

describe("pbs calls its three nodes idle, and evil says that a job of its own runs on them", () => {
  const begin = async (senders: readonly SenderRule[] | undefined, nameOf: (minutes: number) => string) => {
    const three = await threeNodes(senders);
    const { stage, push, hosts, says } = three;
    const start = stage.clock.now();
    says(() => push("pbs", nothing(hosts)));
    says(() => push(nameOf((stage.clock.now() - start) / 60_000), claim(hosts)));
    return three;
  };
  const stopped = ({ stage }: Three): number => stage.count("terminate-accepted");

  test("the claim counts for an hour; then they stop, and no node comes in their place", async () => {
    const three = await begin(RULES, () => "evil");
    await three.stage.pass(59 * MINUTE);
    expect(stopped(three)).toBe(0);
    await three.stage.pass(11 * MINUTE);
    expect(stopped(three)).toBe(3);
    await three.stage.pass(HOUR);
    expect(three.stage.count("create-accepted")).toBe(1);
  });

  test("whatever its sets are called, it is one hour", async () => {
    const three = await begin(RULES, (minutes) => `evil-${Math.floor(minutes / 20)}`);
    await three.stage.pass(59 * MINUTE);
    expect(stopped(three)).toBe(0);
    await three.stage.pass(11 * MINUTE);
    expect(stopped(three)).toBe(3);
  });

  test("claimed once, for a day, while only evil has a rule: the same hour", async () => {
    const own = rule("evil", { hosts: false, pools: false, dynamicArrays: false, maxPriority: -1e9 });
    const three = await threeNodes([own]);
    const { stage, push, hosts, says } = three;
    says(() => push("pbs", nothing(hosts)));
    push("evil", { ...claim(hosts), expirationInterval: 86_400 });
    await stage.pass(59 * MINUTE);
    expect(stopped(three)).toBe(0);
    await stage.pass(11 * MINUTE);
    expect(stopped(three)).toBe(3);
  });

  test.each([
    { name: "without rules", senders: undefined },
    { name: "of one rule for both", senders: [rule("*")] },
    { name: "if no rule names either", senders: [rule("slurm")] },
  ])("it counts as long as it is asked for $name", async ({ senders }) => {
    const three = await begin(senders, () => "evil");
    await three.stage.pass(3 * HOUR);
    expect(stopped(three)).toBe(0);
  });
});

describe("a job that runs for 30 hours is never stopped", () => {
  const run: Partial<DemandMessage> = { jobs: [{ name: "long", constraints: { ncpus: 4 } }] };
  const running = (hostname: string | undefined): Partial<DemandMessage> => ({
    jobs: [
      { name: "long", constraints: { ncpus: 4 }, placed: [{ hostname: hostname ?? "?", iterations: 1 }] },
    ],
  });

  test("its hosts come from a set of their own, with a rule of its own, which calls the host idle", async () => {
    const senders = [rule("pbs"), rule("pbs-hosts"), rule("*", { hosts: false })];
    const stage = new HostsStage({ simulator: oneArray("demo"), hosts: 1, policy: { senders } });
    const push = (requestSet: string, message: Partial<DemandMessage>): void =>
      stage.push({
        version: 1,
        cluster: "demo",
        requestSet,
        expirationInterval: 1800,
        revision: stage.clock.now(),
        ...message,
      });
    push("pbs", run);
    await stage.pass(2 * MINUTE);
    const [node] = stage.readyNodes;
    stage.every(10 * MINUTE, () => push("pbs", running(node?.hostname)));
    const amounts = { resources: { ncpus: 4 }, available: { ncpus: 4 } };
    stage.every(10 * MINUTE, () =>
      push("pbs-hosts", {
        schedulerNodes: stage.readyNodes.map(({ hostname }) => ({
          hostname,
          jobs: [],
          state: "closed",
          ...amounts,
        })),
      }),
    );
    await stage.pass(30 * HOUR);
    expect(stage.count("terminate-accepted")).toBe(0);
    expect(stage.count("create-accepted")).toBe(1);
  });

  test("on a node that another sender asked for, which reports no hosts, while a third one calls it idle with amounts", async () => {
    const senders = [rule("team-a"), rule("team-b"), rule("*")];
    const stage = new HostsStage({ simulator: oneArray("demo"), hosts: 1, policy: { senders } });
    const push = (requestSet: string, message: Partial<DemandMessage>): void =>
      stage.push({
        version: 1,
        cluster: "demo",
        requestSet,
        expirationInterval: 1800,
        revision: stage.clock.now(),
        ...message,
      });
    push("team-a", run);
    await stage.pass(2 * MINUTE);
    const [node] = stage.readyNodes;
    push("team-a", { jobs: [] });
    stage.every(10 * MINUTE, () => push("team-b", running(node?.hostname)));
    push("team-b", running(node?.hostname));
    const amounts = { resources: { ncpus: 4 }, available: { ncpus: 4 } };
    stage.every(MINUTE, () =>
      push("third", {
        schedulerNodes: [{ hostname: node?.hostname ?? "?", jobs: [], state: "closed", ...amounts }],
      }),
    );
    await stage.pass(5 * HOUR);
    expect(stage.count("terminate-accepted")).toBe(0);
  });

  test("on a node from before the rules, of which it is not known who had work there", async () => {
    const stage = new Stage({ simulator: oneArray("demo") });
    await stage.push(target("demo", 3, { requestSet: "pbs" }));
    await stage.pass(2 * MINUTE);
    stage.configure({ ...DEFAULT_POLICY, senders: RULES });
    await stage.push(target("demo", 3, { requestSet: "pbs" }));
    await stage.pass(2 * MINUTE);
    const hosts = stage.readyNodes.map(({ hostname }) => hostname);
    for (let minute = 0; minute < 180; minute += 1) {
      const envelope = { version: 1 as const, cluster: "demo", expirationInterval: 180 };
      await stage.push({ ...envelope, requestSet: "pbs", ...nothing(hosts) });
      await stage.push({ ...envelope, requestSet: "evil", ...claim(hosts) });
      await stage.pass(MINUTE);
    }
    expect(stage.eventsOf("terminate-accepted")).toEqual([]);
  });
});

test("a set that had demand planned on the node claims it as long as it asks", async () => {
  const { stage, push, hosts, says } = await threeNodes(RULES);
  // Two slots of evil's own are put on the nodes that are there.
  push("evil", { jobs: [{ name: "real", iterations: 3, constraints: { ncpus: 4 } }] });
  await stage.pass(2 * MINUTE);
  says(() => push("pbs", nothing(hosts)));
  says(() => push("evil", claim(hosts)));
  await stage.pass(3 * HOUR);
  expect(stage.count("terminate-accepted")).toBe(0);
});
