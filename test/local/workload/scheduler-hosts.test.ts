import { describe, expect, test } from "vitest";
import { SchedulerModel } from "../../../src/local/workload/scheduler-model.ts";
import { job, schedulerWith, startedNames } from "./small-scheduler.ts";

const to = { cluster: "prod", requestSet: "standard", expirationInterval: 300 };

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
