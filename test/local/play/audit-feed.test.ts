import { describe, expect, test } from "vitest";
import { eventsOf, job, openFeed, seconds } from "./bench.ts";

describe("the scheduler learns of hosts from CycleCloud's events", () => {
  test("a host joins when its node is Ready, with its cores and where it may ask to stop", () => {
    const { feed, scheduler } = openFeed();
    const node = eventsOf(1);
    expect(feed.handle(node.created(0), scheduler)).toBe(false);
    expect(scheduler.statistics().hosts).toBe(0);
    expect(feed.handle(node.ready(300), scheduler)).toBe(true);
    expect(scheduler.statistics()).toMatchObject({ hosts: 1, freeSlots: 4 });
    expect(scheduler.idleHosts(seconds(600), 300)).toEqual([
      {
        hostname: "h1",
        instanceId: "i1",
        stopUrl: "http://autoscaler/api/autostop/demo/token",
        idleSince: seconds(300),
      },
    ]);
  });

  test.each([
    { name: "was stopped", leaves: eventsOf(1).stopped(400) },
    { name: "failed", leaves: eventsOf(1).failed(400) },
    { name: "vanished", leaves: eventsOf(1).gone(400) },
  ])("a host leaves once when its node $name", ({ leaves }) => {
    const { feed, scheduler } = openFeed();
    feed.handle(eventsOf(1).created(0), scheduler);
    feed.handle(eventsOf(1).ready(300), scheduler);
    expect(feed.handle(leaves, scheduler)).toBe(true);
    expect(scheduler.statistics().hosts).toBe(0);
    expect(feed.handle(eventsOf(1).gone(500), scheduler)).toBe(false);
  });

  test("a node that never was Ready leaves no host behind", () => {
    const { feed, scheduler } = openFeed();
    feed.handle(eventsOf(1).created(0), scheduler);
    expect(feed.handle(eventsOf(1).failed(200), scheduler)).toBe(false);
  });

  test("accepted creates are kept for the measure of latency; looks and refusals change nothing", () => {
    const { feed, scheduler } = openFeed();
    const accepted = {
      kind: "create-accepted",
      at: 5,
      cluster: "demo",
      asked: 3,
      added: 2,
      sets: [],
    } as const;
    expect(feed.handle(accepted, scheduler)).toBe(false);
    const observation = { kind: "status-read", at: 6, cluster: "demo", withNodes: true } as const;
    expect(feed.handle(observation, scheduler)).toBe(false);
    expect(feed.creates).toEqual([{ at: 5, added: 2 }]);
  });
});

describe("the auditor is told what both sides saw", () => {
  test("a node stopped with a job on it", () => {
    const { feed, scheduler } = openFeed();
    feed.auditor.demand({ at: 0, slots: 4, expiresAt: seconds(900) });
    feed.handle(eventsOf(1).created(1), scheduler);
    feed.handle(eventsOf(1).ready(300), scheduler);
    scheduler.submit(job("a", 0, 4, 600), 0);
    scheduler.advance(seconds(301));
    feed.handle(eventsOf(1).stopped(400), scheduler);
    const report = feed.auditor.report(seconds(500));
    expect(report.violations).toEqual([
      { kind: "busy-node-stopped", at: seconds(400), nodeId: "n1", busySince: seconds(301) },
    ]);
    expect(scheduler.statistics().killed).toBe(1);
  });

  test("a node stopped after its job had ended is no violation", () => {
    const { feed, scheduler } = openFeed();
    feed.auditor.demand({ at: 0, slots: 4, expiresAt: seconds(900) });
    feed.handle(eventsOf(1).created(1), scheduler);
    feed.handle(eventsOf(1).ready(300), scheduler);
    scheduler.submit(job("a", 0, 4, 50), 0);
    scheduler.advance(seconds(301));
    scheduler.advance(seconds(351));
    feed.handle(eventsOf(1).stopped(400), scheduler);
    feed.handle(eventsOf(1).gone(460), scheduler);
    const report = feed.auditor.report(seconds(500));
    expect(report).toMatchObject({ violations: [], nodesStopped: 1, busyNodesStopped: 0 });
    // From its acceptance at 1 s until it was gone at 460 s.
    expect(report.nodeHours).toBeCloseTo(459 / 3600, 10);
  });

  test("what happens to a host that no node stands for is not counted", () => {
    const { feed } = openFeed();
    feed.busy({ at: 1, hostname: "laptop", instanceId: "none" });
    feed.idle({ at: 2, hostname: "laptop", instanceId: "none" });
    expect(feed.auditor.report(3)).toMatchObject({ violations: [], nodesCreated: 0 });
  });
});
