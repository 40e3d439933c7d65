import { describe, expect, test } from "vitest";
import { SchedulerModel } from "../../../src/local/workload/scheduler-model.ts";
import type { SchedulerOptions } from "../../../src/local/workload/scheduler-events.ts";
import type { WorkloadJob } from "../../../src/local/workload/workload-job.ts";

/** A job in seconds; `walltime` unknown unless given. */
function job(name: string, processors: number, run: number, walltime?: number): WorkloadJob {
  const walltimeMs = walltime === undefined ? undefined : walltime * 1000;
  return { name, submitMs: 0, processors, runMs: run * 1000, walltimeMs };
}

/** A scheduler with hosts `h1`, `h2`, ... of these cores, up since 0. */
function schedulerWith(cores: readonly number[], options: Partial<SchedulerOptions> = {}): SchedulerModel {
  const model = new SchedulerModel({ maxSlots: cores.reduce((sum, one) => sum + one, 0), ...options });
  cores.forEach((count, index) =>
    model.hostUp({ hostname: `h${index + 1}`, instanceId: `i${index + 1}`, cores: count }, 0),
  );
  return model;
}

function startedNames(model: SchedulerModel, now: number): readonly string[] {
  return model.advance(now).started.map(({ name }) => name);
}

const to = { cluster: "prod", requestSet: "standard", expirationInterval: 300 };

describe("first come, first served", () => {
  test("jobs start in order as room appears, ends take effect at their own time", () => {
    const model = schedulerWith([2]);
    model.submit(job("a", 2, 10), 0);
    model.submit(job("b", 1, 5), 0);
    model.submit(job("c", 1, 5), 0);
    expect(startedNames(model, 0)).toEqual(["a"]);
    expect(model.nextEventAt()).toBe(10_000);
    expect(model.advance(12_000)).toEqual({
      ended: [
        {
          name: "a",
          processors: 2,
          hosts: 1,
          submittedAt: 0,
          startedAt: 0,
          endedAt: 10_000,
          outcome: "completed",
        },
      ],
      started: [
        { name: "b", at: 12_000, hostnames: ["h1"] },
        { name: "c", at: 12_000, hostnames: ["h1"] },
      ],
    });
    model.advance(17_000);
    expect(model.nextEventAt()).toBeUndefined();
    expect(model.statistics()).toEqual({
      submitted: 3,
      completed: 3,
      killed: 0,
      waiting: 0,
      running: 0,
      slotsAsked: 0,
      hosts: 1,
      freeSlots: 2,
      meanWaitSeconds: 8,
      p95WaitSeconds: 12,
    });
    // (2 x 10 + 5 + 5) core seconds on nodes of 2 cores.
    expect(model.leastNodeHours(2)).toBeCloseTo(15 / 3600, 12);
  });

  test("without hosts jobs queue; they start when hosts come, also spread over several", () => {
    const model = schedulerWith([], { maxSlots: 8 });
    expect(model.submit(job("wide", 6, 10), 0)).toEqual({ kind: "queued" });
    expect(startedNames(model, 1000)).toEqual([]);
    model.hostUp({ hostname: "h1", instanceId: "i1", cores: 4 }, 2000);
    expect(startedNames(model, 2000)).toEqual([]);
    model.hostUp({ hostname: "h2", instanceId: "i2", cores: 4 }, 3000);
    expect(model.advance(3000).started).toEqual([{ name: "wide", at: 3000, hostnames: ["h1", "h2"] }]);
  });

  test("what could never start, or is already known, is not queued", () => {
    const model = schedulerWith([4]);
    expect(model.submit(job("wide", 5, 10), 0)).toEqual({ kind: "too-wide", processors: 5, maxSlots: 4 });
    model.submit(job("a", 1, 10), 0);
    expect(model.submit(job("a", 1, 10), 0)).toEqual({ kind: "name-taken", name: "a" });
    expect(model.statistics().submitted).toBe(1);
  });
});

describe("EASY backfilling on four cores: `long` holds three for 100 s, the head wants all four", () => {
  test.each([
    { name: "overtakes when it ends before the head can start", candidate: job("c", 1, 100), starts: true },
    { name: "not when it would end later", candidate: job("c", 1, 101), starts: false },
    { name: "not when it needs more than is free", candidate: job("c", 2, 1), starts: false },
    { name: "its walltime counts, not its run time", candidate: job("c", 1, 1, 101), starts: false },
    { name: "a walltime that is too short is believed", candidate: job("c", 1, 500, 100), starts: true },
  ])("$name", ({ candidate, starts }) => {
    const model = schedulerWith([4]);
    model.submit(job("long", 3, 100), 0);
    model.submit(job("head", 4, 10), 0);
    model.submit(candidate, 0);
    expect(startedNames(model, 0)).toEqual(starts ? ["long", "c"] : ["long"]);
  });

  test("beside the head, as many slots may be taken for long as it leaves", () => {
    const model = schedulerWith([8]);
    model.submit(job("long", 5, 100), 0);
    model.submit(job("head", 6, 10), 0);
    for (const name of ["c1", "c2", "c3"]) model.submit(job(name, 1, 1000), 0);
    // At 100 s the head takes 6 of 8; 2 are left beside it.
    expect(startedNames(model, 0)).toEqual(["long", "c1", "c2"]);
    expect(startedNames(model, 100_000)).toEqual(["head"]);
  });

  test("the reservation goes by the expected ends, not by the order of the starts", () => {
    const model = schedulerWith([4]);
    model.submit(job("late", 1, 500), 0);
    model.submit(job("soon", 1, 50), 0);
    model.submit(job("later", 1, 900), 0);
    model.submit(job("head", 2, 10), 0);
    model.submit(job("c", 1, 60), 0);
    // One is free and `soon` gives the second at 50 s: 60 s would be too long.
    expect(startedNames(model, 0)).toEqual(["late", "soon", "later"]);
    expect(startedNames(model, 50_000)).toEqual(["head"]);
  });

  test("one pass looks at so many jobs behind the head", () => {
    const model = schedulerWith([8], { backfillDepth: 2 });
    model.submit(job("long", 5, 100), 0);
    model.submit(job("head", 8, 10), 0);
    for (const name of ["c1", "c2", "c3"]) model.submit(job(name, name === "c1" ? 4 : 1, 10), 0);
    expect(startedNames(model, 0)).toEqual(["long", "c2"]);
  });

  test("slots on closed hosts do not come back for the head", () => {
    const model = schedulerWith([2, 2, 2], { patienceMs: 0 });
    model.submit(job("first", 2, 50), 0);
    model.submit(job("second", 2, 100), 0);
    model.advance(0);
    model.closeHost("h1");
    model.submit(job("head", 4, 10), 0);
    model.submit(job("c", 1, 80), 0);
    // h1 would have been free at 50 s; so the head waits for h2 at 100 s, and 80 s fit before that.
    expect(startedNames(model, 0)).toEqual(["c"]);
  });
});

describe("hosts still to come", () => {
  function waitForNodes(patienceMs: number): SchedulerModel {
    const model = schedulerWith([2], { maxSlots: 10, patienceMs });
    model.submit(job("head", 8, 100), 0);
    return model;
  }

  test("the head counts on them, so that others may use what it leaves of the whole cluster", () => {
    const model = waitForNodes(60_000);
    for (const name of ["c1", "c2", "c3"]) model.submit(job(name, 1, 1000), 0);
    expect(startedNames(model, 0)).toEqual(["c1", "c2"]);
    // The other 8 slots are the head's, however many small jobs ask.
    model.hostUp({ hostname: "h2", instanceId: "i2", cores: 4 }, 10_000);
    expect(startedNames(model, 10_000)).toEqual([]);
    model.hostUp({ hostname: "h3", instanceId: "i3", cores: 4 }, 20_000);
    expect(startedNames(model, 20_000)).toEqual(["head"]);
  });

  test("when patience ends and the hosts that are there cannot do, nobody overtakes any more", () => {
    const model = waitForNodes(60_000);
    expect(startedNames(model, 0)).toEqual([]);
    model.submit(job("c1", 1, 5), 59_999);
    expect(startedNames(model, 59_999)).toEqual(["c1"]);
    model.submit(job("c2", 1, 5), 60_000);
    expect(startedNames(model, 60_000)).toEqual([]);
    expect(startedNames(model, 3_600_000)).toEqual([]);
  });

  test("a steady stream of small jobs cannot starve a wide one on a full-size cluster", () => {
    const model = schedulerWith([4, 4]);
    let headStartedAt: number | undefined;
    for (let second = 0; second < 200 && headStartedAt === undefined; second++) {
      if (second === 10) model.submit(job("head", 8, 10), 10_000);
      model.submit(job(`small-${second}`, 1, 8), second * 1000);
      headStartedAt = model.advance(second * 1000).started.find(({ name }) => name === "head")?.at;
    }
    // The last small job that started before the head came ends at 9 + 8 s.
    expect(headStartedAt).toBe(17_000);
  });
});

describe("hosts come and go", () => {
  test("a lost host kills its jobs; they run again from the start, before younger ones", () => {
    const model = schedulerWith([2, 2]);
    model.submit(job("spread", 4, 10), 0);
    model.submit(job("younger", 2, 10), 0);
    model.advance(0);
    expect(model.hostGone("h2", 4000)).toEqual({ killed: ["spread"] });
    expect(model.advance(4000).ended.map(({ name, outcome }) => [name, outcome])).toEqual([
      ["spread", "killed"],
    ]);
    expect(model.statistics()).toMatchObject({ killed: 1, completed: 0, waiting: 2, slotsAsked: 6 });
    model.hostUp({ hostname: "h2", instanceId: "i3", cores: 2 }, 5000);
    expect(startedNames(model, 5000)).toEqual(["spread"]);
    expect(model.nextEventAt()).toBe(15_000);
    model.advance(15_000);
    expect(model.statistics()).toMatchObject({ killed: 1, completed: 1, meanWaitSeconds: 5 });
  });

  test("a job that ended before its host went was not killed", () => {
    const model = schedulerWith([1]);
    model.submit(job("a", 1, 10), 0);
    model.advance(0);
    expect(model.hostGone("h1", 10_000)).toEqual({ killed: [] });
    expect(model.statistics()).toMatchObject({ killed: 0, completed: 1, hosts: 0 });
  });

  test("the same name with another instance is another machine, with the same it is the same", () => {
    const model = schedulerWith([1]);
    model.submit(job("a", 1, 10), 0);
    model.advance(0);
    model.hostUp({ hostname: "h1", instanceId: "i1", cores: 1 }, 1000);
    expect(model.statistics()).toMatchObject({ running: 1, killed: 0 });
    model.hostUp({ hostname: "h1", instanceId: "i9", cores: 1 }, 2000);
    expect(model.statistics()).toMatchObject({ running: 0, killed: 1, hosts: 1 });
  });

  test("an unknown host cannot go, close or open", () => {
    const model = schedulerWith([1]);
    expect(model.hostGone("h7", 0)).toEqual({ killed: [] });
    model.closeHost("h7");
    model.openHost("h7");
    expect(model.statistics()).toMatchObject({ hosts: 1, freeSlots: 1 });
  });

  test("a closed host finishes its job, gets no other, and takes jobs again when opened", () => {
    const model = schedulerWith([2]);
    model.submit(job("a", 1, 10), 0);
    model.advance(0);
    model.closeHost("h1");
    model.submit(job("b", 1, 10), 1000);
    expect(startedNames(model, 20_000)).toEqual([]);
    expect(model.statistics()).toMatchObject({ completed: 1, waiting: 1, freeSlots: 0 });
    model.openHost("h1");
    expect(startedNames(model, 21_000)).toEqual(["b"]);
  });
});

describe("idle hosts", () => {
  test("idle since they came up or since their last job ended; busy and closed ones are not", () => {
    const model = schedulerWith([1, 1, 1]);
    model.submit(job("a", 1, 100), 0);
    model.submit(job("b", 1, 1000), 0);
    model.advance(0);
    model.hostUp({ hostname: "h4", instanceId: "i4", cores: 1, stopUrl: "http://stop" }, 50_000);
    model.advance(100_000);
    model.closeHost("h3");
    expect(model.nextIdleAt(300)).toBe(350_000);
    expect(model.idleHosts(349_999, 300)).toEqual([]);
    expect(model.idleHosts(400_000, 300)).toEqual([
      { hostname: "h4", instanceId: "i4", stopUrl: "http://stop", idleSince: 50_000 },
      { hostname: "h1", instanceId: "i1", stopUrl: undefined, idleSince: 100_000 },
    ]);
  });

  test("a host that was closed or lost with a job on it is not idle when the job is over", () => {
    const model = schedulerWith([1, 1, 1]);
    model.submit(job("one", 1, 10), 0);
    model.submit(job("two", 2, 10), 0);
    model.advance(0);
    model.closeHost("h1");
    model.hostGone("h2", 5000);
    model.advance(500_000);
    expect(model.idleHosts(1_000_000, 300).map(({ hostname }) => hostname)).toEqual(["h3"]);
  });

  test("opened again it goes on being idle, or begins anew when told so", () => {
    const model = schedulerWith([1, 1]);
    for (const hostname of ["h1", "h2"]) model.closeHost(hostname);
    expect([model.idleHosts(400_000, 300), model.nextIdleAt(300)]).toEqual([[], undefined]);
    model.openHost("h1");
    model.openHost("h2", 400_000);
    expect(model.idleHosts(400_000, 300).map(({ hostname }) => hostname)).toEqual(["h1"]);
    expect(model.idleHosts(700_000, 300).map(({ hostname }) => hostname)).toEqual(["h1", "h2"]);
  });

  test("the observer hears the first job of a host begin and the last one end", () => {
    const heard: string[] = [];
    const model = schedulerWith([2], {
      observer: {
        hostBusy: ({ at, hostname, instanceId }) => heard.push(`busy ${hostname} ${instanceId} ${at}`),
        hostIdle: ({ at, hostname, instanceId }) => heard.push(`idle ${hostname} ${instanceId} ${at}`),
      },
    });
    model.submit(job("a", 1, 10), 0);
    model.submit(job("b", 1, 20), 0);
    model.advance(0);
    model.advance(15_000);
    expect(heard).toEqual(["busy h1 i1 0"]);
    model.closeHost("h1");
    model.advance(25_000);
    expect(heard).toEqual(["busy h1 i1 0", "idle h1 i1 20000"]);
  });
});

describe("a host lost with jobs on it", () => {
  const lose = (lostAt: number) => {
    const heard: string[] = [];
    const model = schedulerWith([2, 2], {
      observer: {
        hostBusy: ({ at, hostname }) => heard.push(`busy ${hostname} ${at}`),
        hostIdle: ({ at, hostname }) => heard.push(`idle ${hostname} ${at}`),
      },
    });
    model.submit(job("wide", 4, 10), 0);
    model.advance(0);
    heard.length = 0;
    model.hostGone("h1", lostAt);
    return heard;
  };

  test("was not idle before; the other hosts of its jobs are now", () => {
    expect(lose(5000)).toEqual(["idle h2 5000"]);
  });

  test("was idle if its jobs had ended by then, be it in the same instant", () => {
    expect(lose(10_000)).toEqual(["idle h1 10000", "idle h2 10000"]);
  });
});

describe("demand message", () => {
  function halfFull(): SchedulerModel {
    const model = schedulerWith([4, 4], { maxSlots: 16 });
    model.submit(job("a", 6, 10), 0);
    model.submit(job("b", 9, 10), 0);
    model.advance(0);
    model.closeHost("h1");
    return model;
  }

  test("running jobs with their places, waiting ones without, hosts with what is free", () => {
    expect(halfFull().demandMessage(1500.7, to)).toEqual({
      version: 1,
      cluster: "prod",
      requestSet: "standard",
      revision: 1500,
      expirationInterval: 300,
      jobs: [
        {
          name: "a",
          constraints: [{ ncpus: 1 }],
          iterations: 6,
          placed: [
            { hostname: "h1", iterations: 4 },
            { hostname: "h2", iterations: 2 },
          ],
        },
        { name: "b", constraints: [{ ncpus: 1 }], iterations: 9 },
      ],
      schedulerNodes: [
        { hostname: "h1", resources: { ncpus: 4 }, available: { ncpus: 0 }, jobs: ["a"], state: "closed" },
        { hostname: "h2", resources: { ncpus: 4 }, available: { ncpus: 2 }, jobs: ["a"], state: "open" },
      ],
    });
  });

  test("what has not changed is the same object in the next message", () => {
    const model = halfFull();
    const before = model.demandMessage(1000, to);
    model.openHost("h1");
    const after = model.demandMessage(2000, to);
    expect(after.jobs.map((entry, index) => entry === before.jobs[index])).toEqual([true, true]);
    expect(after.schedulerNodes.map((entry, index) => entry === before.schedulerNodes[index])).toEqual([
      false,
      true,
    ]);
    model.advance(10_000);
    expect(model.demandMessage(10_000, to).jobs).toEqual([before.jobs[1]]);
  });

  test("slots asked are those of the message", () => {
    const model = halfFull();
    expect(model.slotsAsked).toBe(15);
    model.hostGone("h2", 5000);
    expect(model.slotsAsked).toBe(15);
    expect(model.demandMessage(5000, to).jobs).toEqual([
      { name: "a", constraints: [{ ncpus: 1 }], iterations: 6 },
      { name: "b", constraints: [{ ncpus: 1 }], iterations: 9 },
    ]);
  });
});
