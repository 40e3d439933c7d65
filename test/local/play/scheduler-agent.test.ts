import { describe, expect, test } from "vitest";
import type { StopReply } from "../../../src/local/play/doors.ts";
import { SchedulerAgent } from "../../../src/local/play/scheduler-agent.ts";
import { SchedulerModel } from "../../../src/local/workload/scheduler-model.ts";
import type { WorkloadJob } from "../../../src/local/workload/workload-job.ts";
import type { DemandMessage } from "../../../src/wire/message/message.ts";
import { job, seconds } from "./bench.ts";

const OPTIONS = {
  cluster: "demo",
  requestSet: "batch",
  expirationSeconds: 300,
  renewSeconds: 120,
  pushApartSeconds: 15,
  idleSeconds: 300,
};

/** An autoscaler that notes what it is told and answers stop requests with the next answer of a list. */
function open(jobs: readonly WorkloadJob[], answers: readonly StopReply[] = []) {
  const scheduler = new SchedulerModel({ maxSlots: 8 });
  const pushed: DemandMessage[] = [];
  const told: { readonly at: number; readonly slots: number; readonly expiresAt: number }[] = [];
  const asked: string[] = [];
  const questions: string[] = [];
  const stateWhenAsked: (string | undefined)[] = [];
  const left = [...answers];
  const agent = new SchedulerAgent(
    scheduler,
    jobs,
    {
      push(message) {
        pushed.push(message);
        return Promise.resolve();
      },
      askStop(url, { instance, asked: at, begin = "yes" }) {
        asked.push(`${url} ${instance}`);
        questions.push(`${Number(at) / 1000} ${begin}`);
        stateWhenAsked.push(
          scheduler.demandMessage(0, { ...OPTIONS, expirationInterval: 1 }).schedulerNodes[0]?.state,
        );
        return Promise.resolve(left.shift() ?? { status: 503 });
      },
    },
    OPTIONS,
    0,
    (at, slots, expiresAt) => told.push({ at, slots, expiresAt }),
  );
  return { scheduler, agent, pushed, told, asked, questions, stateWhenAsked };
}

const host = (number: number, stopUrl?: string) => ({
  hostname: `h${number}`,
  instanceId: `i${number}`,
  cores: 4,
  ...(stopUrl === undefined ? {} : { stopUrl }),
});

describe("pushing demand", () => {
  test("says at once what there is, as one request set with a revision", async () => {
    const { agent, pushed, told } = open([job("a", 0, 3, 60)]);
    await agent.step(0);
    expect(pushed).toEqual([
      {
        version: 1,
        cluster: "demo",
        requestSet: "batch",
        revision: 0,
        expirationInterval: 300,
        jobs: [{ name: "a", constraints: [{ ncpus: 1 }], iterations: 3 }],
        schedulerNodes: [],
      },
    ]);
    expect(told).toEqual([{ at: 0, slots: 3, expiresAt: seconds(300) }]);
  });

  test("a change waits until 15 s after the last push; without one the set is renewed after 120 s", async () => {
    const { agent, told } = open([job("a", 0, 1, 1000), job("b", 5, 1, 1000)]);
    for (const at of [0, 5, 14.999, 15, 30, 134.999, 135]) await agent.step(seconds(at));
    expect(told.map(({ at, slots }) => [at / 1000, slots])).toEqual([
      [0, 1],
      [15, 2],
      [135, 2],
    ]);
  });

  test("a host that joined or left is news", async () => {
    const { agent, told } = open([]);
    await agent.step(0);
    agent.touch();
    await agent.step(seconds(20));
    expect(told.map(({ at }) => at)).toEqual([0, seconds(20)]);
  });

  test("jobs come at their time; one that is too wide is counted and left out", async () => {
    const { agent, scheduler } = open([job("a", 0, 1, 60), job("wide", 10, 9, 60), job("b", 20, 8, 60)]);
    await agent.step(seconds(10));
    expect(scheduler.statistics().submitted).toBe(1);
    expect(agent.tooWide).toBe(1);
    await agent.step(seconds(20));
    expect(scheduler.statistics().submitted).toBe(2);
  });

  test("it has finished when every job has come and ended", async () => {
    const { agent, scheduler } = open([job("a", 0, 4, 60), job("b", 100, 4, 60)]);
    scheduler.hostUp(host(1), 0);
    await agent.step(0);
    await agent.step(seconds(60));
    expect(agent.finished).toBe(false);
    await agent.step(seconds(100));
    expect(agent.finished).toBe(false);
    await agent.step(seconds(160));
    expect(agent.finished).toBe(true);
  });
});

describe("when there is next something to do", () => {
  test.each([
    { name: "the next job comes", at: 0, jobs: [job("a", 100, 1, 60)], hosts: 0, expected: 100 },
    { name: "a job ends", at: 0, jobs: [job("a", 0, 4, 7)], hosts: 1, expected: 7 },
    {
      name: "a push that had to wait is due",
      at: 3,
      jobs: [job("a", 0, 1, 600), job("b", 3, 1, 600)],
      hosts: 0,
      expected: 15,
    },
    { name: "the set is renewed", at: 0, jobs: [], hosts: 0, expected: 120 },
    { name: "an idle host asks to stop", at: 240, jobs: [], hosts: 1, expected: 300 },
  ])("$name", async ({ at, jobs, hosts, expected }) => {
    const { agent, scheduler } = open(jobs);
    for (let number = 1; number <= hosts; number += 1) scheduler.hostUp(host(number), 0);
    await agent.step(0);
    if (at > 0) await agent.step(seconds(at));
    expect(agent.nextEventAt(seconds(at))).toBe(seconds(expected));
  });

  test("never before now", async () => {
    const { agent } = open([]);
    await agent.step(0);
    expect(agent.nextEventAt(seconds(500))).toBe(seconds(500));
  });
});

describe("an idle host", () => {
  const url = "http://autoscaler/api/autostop/demo/token";

  test("is closed, asks once where its configuration says, and stays closed when it may go", async () => {
    const { agent, scheduler, asked, stateWhenAsked } = open([], [{ status: 200 }]);
    scheduler.hostUp(host(1, url), 0);
    await agent.step(seconds(299));
    expect(asked).toEqual([]);
    await agent.step(seconds(300));
    await agent.step(seconds(900));
    expect(asked).toEqual([`${url} i1`]);
    expect(stateWhenAsked).toEqual(["closed"]);
    expect(scheduler.statistics().freeSlots).toBe(0);
    expect(agent.refusals).toEqual({ granted: 1, refused: new Map() });
  });

  test("is opened again when it is to stay, and asks again after as long", async () => {
    const { agent, scheduler, asked } = open(
      [],
      [
        { status: 409, why: "needed by job-1 of batch" },
        { status: 409, why: "needed by job-2 of batch" },
        { status: 503 },
      ],
    );
    scheduler.hostUp(host(1, url), 0);
    await agent.step(seconds(300));
    expect(scheduler.statistics().freeSlots).toBe(4);
    await agent.step(seconds(599));
    expect(asked).toHaveLength(1);
    await agent.step(seconds(600));
    await agent.step(seconds(900));
    expect(asked).toHaveLength(3);
    // Reasons that differ only in who needs the node are one reason.
    expect(agent.refusals).toEqual({
      granted: 0,
      refused: new Map([
        ["409 needed by demand", 2],
        ["503", 1],
      ]),
    });
  });

  test("without a verdict stays closed, asks each 30 s, after a minute without beginning a stop, and is opened after 180 s", async () => {
    const { agent, scheduler, questions } = open([]);
    scheduler.hostUp(host(1, url), 0);
    for (let at = 300; at < 510; at += 15) {
      await agent.step(seconds(at));
      expect([at, scheduler.statistics().freeSlots]).toEqual([at, 0]);
    }
    expect(questions).toEqual(["300 yes", "330 yes", "360 no", "390 no", "420 no", "450 no", "480 no"]);
    await agent.step(seconds(510));
    expect(scheduler.statistics().freeSlots).toBe(4);
    expect(questions).toHaveLength(7);
  });

  test.each([
    { name: "503 that says so opens it", reply: { status: 503, undrain: true }, free: 4 },
    {
      name: "409 that says it is being stopped keeps it closed",
      reply: { status: 409, undrain: false },
      free: 0,
    },
    { name: "503 that does not say so keeps it closed", reply: { status: 503, undrain: false }, free: 0 },
  ])("obeys undrain before the status: $name", async ({ reply, free }) => {
    const { agent, scheduler } = open([], [reply]);
    scheduler.hostUp(host(1, url), 0);
    await agent.step(seconds(300));
    expect(scheduler.statistics().freeSlots).toBe(free);
    expect(agent.nextEventAt(seconds(301))).toBe(seconds(free === 0 ? 330 : 420));
  });

  test("does not ask when its configuration names no place to ask", async () => {
    const { agent, scheduler, asked } = open([]);
    scheduler.hostUp(host(1), 0);
    await agent.step(seconds(300));
    expect(asked).toEqual([]);
    expect(scheduler.statistics().freeSlots).toBe(4);
  });

  test("with a job on it is not idle", async () => {
    const { agent, scheduler, asked } = open([job("a", 0, 1, 1000)]);
    scheduler.hostUp(host(1, url), 0);
    await agent.step(0);
    await agent.step(seconds(900));
    expect(asked).toEqual([]);
  });
});

test("a host that is told to stay is open again, so there is something to do at once for the job that waited", async () => {
  const { agent, scheduler } = open([job("a", 301, 4, 60)], [{ status: 409 }]);
  scheduler.hostUp(host(1, "http://stop"), 0);
  const asking = agent.step(seconds(300));
  await agent.step(seconds(301));
  await asking;
  expect(scheduler.statistics()).toMatchObject({ waiting: 1, running: 0 });
  expect(agent.isDue(seconds(301.1))).toBe(true);
  await agent.step(seconds(301.1));
  expect(scheduler.statistics()).toMatchObject({ waiting: 0, running: 1 });
  expect(agent.isDue(seconds(301.2))).toBe(false);
});
