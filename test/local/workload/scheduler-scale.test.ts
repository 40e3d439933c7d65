import * as fc from "fast-check";
import { expect, test } from "vitest";
import { generateLublinJobs } from "../../../src/local/workload/lublin.ts";
import { SchedulerModel } from "../../../src/local/workload/scheduler-model.ts";
import { processorMs } from "../../support/processor-time.ts";

const to = { cluster: "prod", requestSet: "standard", expirationInterval: 300 };

function schedulerOfSize(hosts: number, cores: number): SchedulerModel {
  const model = new SchedulerModel({ maxSlots: hosts * cores });
  for (let index = 0; index < hosts; index++)
    model.hostUp({ hostname: `host-${index}`, instanceId: `id-${index}`, cores }, 0);
  return model;
}

/** A workload that keeps 6,000 hosts busy and thousands of jobs waiting; a few jobs take most of the cluster. */
test("30,000 jobs on 6,000 hosts, the widest of 77,248 slots, take seconds", () => {
  const jobs = generateLublinJobs({ jobs: 30_000, seed: 1, processors: 256 }).map((job, index) => ({
    ...job,
    submitMs: index * 500,
    processors: index % 3000 === 0 ? 77_248 : job.processors * 16,
    runMs: Math.min(job.runMs, 3_600_000),
  }));
  const began = processorMs();
  const model = schedulerOfSize(6000, 16);
  let mostWaiting = 0;
  const answers = new Set<string>();
  for (const job of jobs) {
    for (let at = model.nextEventAt(); at !== undefined && at <= job.submitMs; at = model.nextEventAt())
      model.advance(at);
    answers.add(model.submit(job, job.submitMs).kind);
    model.advance(job.submitMs);
    mostWaiting = Math.max(mostWaiting, model.waitingJobs);
  }
  for (let at = model.nextEventAt(); at !== undefined; at = model.nextEventAt()) model.advance(at);
  const seconds = (processorMs() - began) / 1000;
  expect([...answers]).toEqual(["queued"]);
  expect(model.statistics()).toMatchObject({ completed: 30_000, waiting: 0, running: 0, freeSlots: 96_000 });
  expect(mostWaiting).toBeGreaterThan(2000);
  expect(seconds).toBeLessThan(10);
});

test("a demand message of 6,000 hosts and 3,000 jobs takes milliseconds", () => {
  const model = schedulerOfSize(6000, 16);
  for (let index = 0; index < 3000; index++)
    model.submit(
      { name: `j${index}`, submitMs: 0, processors: 64, runMs: 1e6 + index, walltimeMs: undefined },
      0,
    );
  model.advance(0);
  model.demandMessage(0, to);
  const began = processorMs();
  for (let index = 0; index < 20; index++) {
    model.advance(1e6 + index);
    expect(model.demandMessage(1e6 + index, to).jobs.length).toBe(2999 - index);
  }
  // Measured well below 1 ms each; the margin is for a busy machine.
  expect((processorMs() - began) / 20).toBeLessThan(10);
});

/** The rules that hold whatever happens: no core is used twice, no job is lost, everything ends once hosts suffice. */
test("any history of hosts and jobs keeps the books straight and lets every job complete", () => {
  const step = fc.record({
    what: fc.constantFrom("submit", "submit", "up", "gone", "close", "open", "wait"),
    amount: fc.integer({ min: 1, max: 8 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const model = new SchedulerModel({ maxSlots: 32, patienceMs: 20_000 });
      let now = 0;
      let submitted = 0;
      steps.forEach(({ what, amount }, index) => {
        const hostname = `h${amount}`;
        if (what === "submit") {
          const walltimeMs = amount % 2 === 0 ? 4000 : undefined;
          model.submit(
            { name: `j${index}`, submitMs: 0, processors: amount, runMs: amount * 1000, walltimeMs },
            now,
          );
          submitted += 1;
        }
        if (what === "up") model.hostUp({ hostname, instanceId: `${hostname}-${index}`, cores: 4 }, now);
        if (what === "gone") model.hostGone(hostname, now);
        if (what === "close") model.closeHost(hostname);
        if (what === "open") model.openHost(hostname);
        now += amount * 500;
        model.advance(now);
        expectConsistent(model, now);
      });
      for (const index of [1, 2, 3, 4, 5, 6, 7, 8]) {
        model.hostUp({ hostname: `h${index}`, instanceId: "last", cores: 4 }, now);
        model.openHost(`h${index}`);
      }
      model.advance(now);
      for (let at = model.nextEventAt(); at !== undefined; at = model.nextEventAt()) model.advance(at);
      expect(model.statistics()).toMatchObject({
        submitted,
        completed: submitted,
        waiting: 0,
        slotsAsked: 0,
      });
    }),
  );
});

function expectConsistent(model: SchedulerModel, now: number): void {
  const { jobs, schedulerNodes } = model.demandMessage(now, to);
  const used = new Map<string, number>();
  for (const { placed, iterations } of jobs) {
    if (placed === undefined) continue;
    expect(placed.reduce((sum, part) => sum + part.iterations, 0)).toBe(iterations);
    for (const part of placed) used.set(part.hostname, (used.get(part.hostname) ?? 0) + part.iterations);
  }
  for (const { hostname, resources, available } of schedulerNodes) {
    expect(available.ncpus).toBe(resources.ncpus - (used.get(hostname) ?? 0));
    expect(available.ncpus).toBeGreaterThanOrEqual(0);
    used.delete(hostname);
  }
  expect([...used.keys()]).toEqual([]);
  expect(jobs.reduce((sum, entry) => sum + entry.iterations, 0)).toBe(model.slotsAsked);
}
