import { expect, test } from "vitest";
import { judgeCreates } from "./judge-creates.ts";
import type { Question } from "./judge-stops.ts";
import { judgeStops } from "./judge-stops.ts";
import type { Work, WorkChange } from "./judge-work.ts";
import { judgeWork } from "./judge-work.ts";
import type { CycleCloudEvent } from "./simulator-process.ts";
import { spreadOf } from "./spread.ts";

const created = (at: number, nodeId: string): CycleCloudEvent => ({
  kind: "node-created",
  at,
  nodeId,
  array: "execute",
});
const ready = (at: number, nodeId: string): CycleCloudEvent => ({
  kind: "node-ready",
  at,
  nodeId,
  array: "execute",
  hostname: `host-${nodeId}`,
  instanceId: `vm-${nodeId}`,
  configuration: {},
});
const terminated = (at: number, nodeId: string): CycleCloudEvent => ({
  kind: "terminate-accepted",
  at,
  nodeId,
  array: "execute",
});
const accepted = (at: number, requestId: string, added: number): CycleCloudEvent => ({
  kind: "create-accepted",
  at,
  requestId,
  asked: added,
  added,
});
const asked = (nodeId: string, askedAt: number, answeredAt: number, status: number): Question => ({
  nodeId,
  askedAt,
  answeredAt,
  status,
});

const threeNodes = ["a", "b", "c"].flatMap((nodeId) => [created(100, nodeId), ready(110, nodeId)]);
const three = { count: 3, sentAt: 50, acknowledgedAt: 60 };
const one = { count: 1, sentAt: 200, acknowledgedAt: 210 };

test("two of three nodes ask and are stopped, one is needed: nothing is wrong", () => {
  const questions = [asked("a", 300, 320, 200), asked("b", 305, 330, 200), asked("c", 306, 331, 409)];
  const events = [...threeNodes, terminated(310, "a"), terminated(315, "b")];
  expect(judgeStops(events, questions, [three, one], 290)).toEqual({
    questions: 3,
    answered200: 2,
    terminated: 2,
    terminatedWithout200AtThatMoment: 0,
    answered200AndNotStopped: 0,
    terminatedAndNeverTold: 0,
    terminatedAfterStay: 0,
    terminatedUnasked: 0,
    stopsBelowDemand: 0,
    mostBeyondDemand: 0,
    leastMargin: 0,
    lowestReady: 1,
  });
});

test("a stop that leaves fewer nodes than were acknowledged before the node asked is seen", () => {
  const two = { count: 2, sentAt: 250, acknowledgedAt: 260 };
  const questions = [asked("a", 300, 320, 200), asked("b", 305, 330, 200)];
  const events = [...threeNodes, terminated(310, "a"), terminated(315, "b")];
  const judged = judgeStops(events, questions, [three, one, two], 290);
  expect(judged.stopsBelowDemand).toBe(1);
  expect(judged.leastMargin).toBe(-1);
});

test("demand that is acknowledged while a node asks does not make its stop wrong", () => {
  const back = { count: 3, sentAt: 305, acknowledgedAt: 309 };
  const events = [...threeNodes, terminated(310, "a")];
  const judged = judgeStops(events, [asked("a", 300, 320, 200)], [three, one, back], 290);
  expect(judged.stopsBelowDemand).toBe(0);
  // What was acknowledged at that very moment: shown, and no fault.
  expect(judged.leastMargin).toBe(-1);
});

test("a lower demand that was sent and never acknowledged may be in force: a stop that it allows is right", () => {
  const events = [...threeNodes, terminated(310, "a"), terminated(315, "b")];
  const questions = [asked("a", 300, 320, 200), asked("b", 305, 330, 200)];
  const lower = { count: 1, sentAt: 200 };
  expect(judgeStops(events, questions, [three, lower], 290).stopsBelowDemand).toBe(0);
  expect(judgeStops(events, questions, [three], 290).stopsBelowDemand).toBe(2);
});

test("once a later one is acknowledged, it allows none, and neither does what was in force before it", () => {
  const events = [...threeNodes, terminated(310, "a")];
  const questions = [asked("a", 300, 320, 200)];
  const low = { count: 1, sentAt: 50, acknowledgedAt: 60 };
  const givenUp = { count: 0, sentAt: 200 };
  const back = { count: 3, sentAt: 250, acknowledgedAt: 260 };
  expect(judgeStops(events, questions, [low, givenUp, back], 290).stopsBelowDemand).toBe(1);
  // It is acknowledged while the node asks: either may have been in force.
  const late = { ...back, acknowledgedAt: 305 };
  expect(judgeStops(events, questions, [low, givenUp, late], 290).stopsBelowDemand).toBe(0);
});

test("a higher demand that was given up explains no nodes once a later one is acknowledged", () => {
  const events = [created(100, "a"), created(400_000, "b"), created(400_001, "c")];
  const pushes = [
    { count: 1, sentAt: 50, acknowledgedAt: 60 },
    { count: 3, sentAt: 1000 },
    { count: 2, sentAt: 2000 },
    { count: 1, sentAt: 3000, acknowledgedAt: 4000 },
  ];
  expect(judgeStops(events, [], pushes, 0).mostBeyondDemand).toBe(2);
  expect(judgeStops(events, [], pushes.slice(0, 2), 0).mostBeyondDemand).toBe(0);
});

test("each lie to a node has a figure of its own", () => {
  const nodes = ["d", "e", "f", "g"].map((nodeId) => created(100, nodeId));
  const questions: readonly Question[] = [
    asked("a", 300, 320, 200),
    asked("b", 300, 320, 409),
    { nodeId: "c", askedAt: 300 },
    asked("c", 340, 350, 503),
    { ...asked("d", 300, 320, 503), undrain: true },
    { ...asked("e", 300, 320, 503), undrain: false },
    asked("e", 340, 350, 200),
  ];
  const stops = ["b", "c", "d", "e", "f"].map((nodeId) => terminated(330, nodeId));
  const none = { count: 0, sentAt: 200, acknowledgedAt: 210 };
  const judged = judgeStops(
    [...threeNodes, ...nodes, ...stops],
    questions,
    [{ ...three, count: 7 }, none],
    290,
  );
  expect(judged.answered200AndNotStopped).toBe(1); // a
  expect(judged.terminatedAfterStay).toBe(2); // b and d
  expect(judged.terminatedAndNeverTold).toBe(1); // c
  expect(judged.terminatedUnasked).toBe(1); // f
  expect(judged.terminatedWithout200AtThatMoment).toBe(4); // b, c, d and e
  expect(judged.stopsBelowDemand).toBe(0);
});

test("nodes beyond the highest demand of the last three minutes are counted", () => {
  const events = [created(100, "a"), created(250_000, "b"), created(250_001, "c")];
  const pushes = [
    { count: 5, sentAt: 50, acknowledgedAt: 60 },
    { count: 1, sentAt: 1000, acknowledgedAt: 2000 },
  ];
  expect(judgeStops(events, [], pushes, 0).mostBeyondDemand).toBe(2);
});

test("a request id that is accepted twice, and nodes before they were asked for, are counted", () => {
  const wanted = [
    { at: 100, nodes: 2 },
    { at: 200, nodes: 4 },
  ];
  const events = [
    accepted(110, "r1", 2),
    created(110, "a"),
    created(110, "b"),
    accepted(150, "r2", 1),
    created(150, "c"),
    accepted(210, "r1", 1),
    created(210, "d"),
  ];
  expect(judgeCreates(events, wanted)).toEqual({
    creates: 3,
    requestIdsAgain: 1,
    wanted: 4,
    created: 4,
    terminated: 0,
    mostBeyondDemand: 1,
    completeAt: 210,
  });
});

test("too few nodes are never complete", () => {
  const judged = judgeCreates([created(110, "a")], [{ at: 100, nodes: 2 }]);
  expect(judged.completeAt).toBeUndefined();
});

test("percentiles are values of the sample", () => {
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);
  expect(spreadOf(hundred)).toEqual({ count: 100, p50: 50, p90: 90, p99: 99, max: 100 });
  expect(spreadOf([7])).toEqual({ count: 1, p50: 7, p90: 7, p99: 7, max: 7 });
  expect(spreadOf([])).toBeUndefined();
});

const is = (at: number, nodeId: string, work: Work): WorkChange => ({ at, nodeId, work });

test.each<{
  readonly name: string;
  readonly changes: readonly WorkChange[];
  readonly wrong: Partial<ReturnType<typeof judgeWork>>;
}>([
  {
    name: "a closed node",
    changes: [is(110, "a", "busy"), is(200, "a", "open"), is(300, "a", "closed")],
    wrong: {},
  },
  {
    name: "a node that has opened after its question",
    changes: [is(300, "a", "closed"), is(480, "a", "open")],
    wrong: { stoppedOpen: 1 },
  },
  {
    name: "a node that has opened and got a job in the same moment",
    changes: [is(300, "a", "closed"), is(480, "a", "open"), is(480, "a", "busy")],
    wrong: { stoppedBusy: 1 },
  },
  {
    name: "a node that opens when its stop has begun",
    changes: [is(300, "a", "closed"), is(501, "a", "open"), is(501, "a", "busy")],
    wrong: { openedAfterStop: 1 },
  },
])("stopped at 500 and again at 600: $name", ({ changes, wrong }) => {
  const events = [created(100, "a"), ready(110, "a"), terminated(500, "a"), terminated(600, "a")];
  expect(judgeWork(events, changes)).toEqual({
    stopped: 1,
    stoppedOpen: 0,
    stoppedBusy: 0,
    openedAfterStop: 0,
    ...wrong,
  });
});

test("a create that CycleCloud held for longer than three minutes is no node too many, and the same twice is", () => {
  const pushes = [
    { count: 2, sentAt: 0, acknowledgedAt: 1 },
    { count: 1, sentAt: 20_000, acknowledgedAt: 20_001 },
  ];
  const events = [created(300_000, "a"), created(300_000, "b"), created(300_001, "c")];
  expect(judgeStops(events.slice(0, 2), [], pushes, 0).mostBeyondDemand).toBe(1);
  expect(judgeStops(events.slice(0, 2), [], pushes, 0, 140_000).mostBeyondDemand).toBe(0);
  expect(judgeStops(events, [], pushes, 0, 140_000).mostBeyondDemand).toBe(1);
});
