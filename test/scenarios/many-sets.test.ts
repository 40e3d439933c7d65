import { expect, test } from "vitest";
import { IS_DEEP } from "../property/runs.ts";
import { jobSet, RENEW_SECONDS, SETS, urgentTarget, waitsForTargets, wideNodes } from "./many-sets.ts";
import { oneArray } from "./clusters.ts";
import { HostsStage } from "./hosts-stage.ts";
import { Stage } from "./stage.ts";

/** A message costs in proportion to the sets that there are: of a quarter of them all takes a sixteenth of the time. */
const sets = IS_DEEP ? SETS : SETS / 4;
/** Of 64 cores each. */
const nodes = Math.ceil(sets / 64);

test(`${sets} sets renew every 60 s while a status takes 3 s: a new target is asked for within 10 s, with at most 13 status calls in any 60 s`, async () => {
  const stage = new Stage({
    simulator: wideNodes(),
    between: (send, clock) => async (request) => {
      const answer = await send(request);
      if (request.path.endsWith("/status")) await clock.sleep(3000);
      return answer;
    },
  });
  const gapMs = (RENEW_SECONDS * 1000) / sets;
  let next = 0;
  const begin = stage.clock.now();
  stage.join({
    nextEventAt: () => begin + next * gapMs,
    step: async (now) => {
      for (; begin + next * gapMs <= now; next += 1) stage.send(jobSet(next % sets, now));
    },
  });
  await stage.pass(RENEW_SECONDS * 2);
  expect(stage.eventsOf("node-created")).toHaveLength(nodes);

  // Every 7 s, so that targets arrive in all stages of the observations, which are 5 s apart and last 3 s.
  const targets: { at: number; count: number }[] = [];
  for (let count = nodes + 1; count <= nodes + 10; count += 1) {
    targets.push({ at: stage.clock.now(), count });
    stage.send(urgentTarget(count, stage.clock.now()));
    await stage.pass(7);
  }
  const waits = waitsForTargets(targets, stage.eventsOf("create-accepted"));
  expect(waits).not.toContain(undefined);
  expect(Math.max(...waits.map((wait) => wait ?? Infinity))).toBeLessThanOrEqual(10);
  expect(stage.simulator.summarize().mostStatusCallsIn60Seconds).toBeLessThanOrEqual(13);
  // Observations are as frequent as the rule allows while each of them is wanted: the limit is reached.
  expect(stage.simulator.summarize().mostStatusCallsIn60Seconds).toBeGreaterThanOrEqual(8);
  expect(stage.eventsOf("terminate-accepted")).toEqual([]);
  // Time is virtual. The real duration is no measure: beside other loads it is several times as long.
}, 120_000);

test("a small set is acknowledged while the body of a large one is packed", async () => {
  const stage = new HostsStage({ simulator: oneArray("demo") });
  const [host] = stage.hosts;
  if (host === undefined) throw new Error("no host");
  const jobs = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ name: `job-${at}`, constraints: { ncpus: 1 + (at % 4) } }));
  await stage.accept({ version: 1, cluster: "demo", requestSet: "first", jobs: jobs(1) }, host);
  const order: string[] = [];
  const accept = (requestSet: string, count: number) =>
    stage
      .accept({ version: 1, cluster: "demo", requestSet, jobs: jobs(count) }, host)
      .then(() => order.push(requestSet));
  await Promise.all([accept("large", 50_000), accept("small", 1)]);
  expect(order).toEqual(["small", "large"]);
  expect((await stage.record())?.sets.size).toBe(3);
});
