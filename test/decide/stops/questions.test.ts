import type { StopVerdict, StopCall } from "../../../src/decide/autostop/stop-survey.ts";
import { describe, expect, test } from "vitest";
import { judgeStops } from "../../../src/decide/autostop/judge-stops.ts";
import { foldQuestions, mayStopByReport, withQuestions } from "../../../src/decide/stops/questions.ts";
import { settle } from "../../../src/decide/intents/settle.ts";
import { arrayName, nodeId, requestId } from "../../../src/domain/ids.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import type { Question, Questions } from "../../../src/domain/questions.ts";
import type { Draining } from "../../../src/domain/ledger.ts";
import type { ClusterRecord } from "../../../src/domain/record.ts";
import type { Instant } from "../../../src/domain/units.ts";
import { afterQuestions, buildCall } from "../../support/build-call.ts";
import { at, buildLedger, buildNode, buildSnapshot, NOW, rememberNode } from "../../support/build-node.ts";
import { buildIntent, buildState, buildTarget, OURS } from "../../support/build-record.ts";
import { confirmStops } from "../../../src/decide/autostop/confirm-stops.ts";

const N1 = nodeId("n1");
const one = buildNode("n1");
const questionsOf = (question: Question): Questions => new Map([[N1, question]]);
const mark = (since: Instant): Draining => ({ since, by: "callback", plan: 6, attempts: 0 });

interface Around {
  readonly question?: Question;
  readonly isNeeded?: boolean;
  readonly record?: Partial<ClusterRecord>;
  readonly draining?: Draining;
  readonly now?: Instant;
}

/** What the node is told, and what is then known of its questions. */
function ask(call: Partial<StopCall>, { question, isNeeded, record, draining, now = NOW }: Around = {}) {
  const state = buildState({
    ...(isNeeded === true ? { sets: { standard: { demands: [buildTarget(1)] } } } : {}),
    ledger: buildLedger([rememberNode(one, draining === undefined ? {} : { draining })]),
    seen: buildSnapshot([one], { at: now }),
    ...(record === undefined ? {} : { record }),
  });
  const bodies = afterQuestions(state.bodies, question === undefined ? undefined : questionsOf(question));
  const asking = buildCall("n1", { arrivedAt: now, ...call });
  const decision = judgeStops(state.record, bodies, [asking], DEFAULT_POLICY, now);
  const [verdict] = decision.verdicts;
  return {
    verdict,
    after: decision.questions.get(N1),
    plans: decision.record.plan - state.record.plan,
    record: (more: Partial<ClusterRecord>): ClusterRecord => ({ ...decision.record, ...more }),
    confirm(later: Partial<StopCall>, newer: Question | undefined, moment: Instant): StopVerdict | undefined {
      const then = newer === undefined ? decision.questions : questionsOf(newer);
      return confirmStops(
        decision.record,
        afterQuestions(state.bodies, then),
        [{ node: N1, call: { ...asking, ...later } }],
        DEFAULT_POLICY,
        moment,
        OURS,
      ).verdicts.get(N1);
    },
  };
}

const closed = (why: string) => ({ kind: "cannot-tell", why, undrain: false });

describe("the newest question counts", () => {
  test("a stay holds the node's time; a question that is not newer gets no verdict, a newer one does", () => {
    const stay = ask({ asked: 100 }, { isNeeded: true });
    expect(stay.verdict).toMatchObject({ kind: "needed", undrain: true });
    expect(stay.after).toEqual({ asked: 100, askedAt: NOW, stayAt: NOW });
    const question = { asked: 100, askedAt: NOW, stayAt: NOW };
    for (const asked of [99, 100])
      expect(ask({ asked }, { question, now: at(20) }).verdict).toEqual(
        closed("a newer question of this node was answered"),
      );
    expect(ask({ asked: 101 }, { question, now: at(20) }).verdict?.kind).toBe("marked");
  });

  test("a node whose clock was ahead once is heard again after five minutes", () => {
    const question = { asked: 9e15, askedAt: NOW, stayAt: NOW };
    expect(ask({ asked: 100 }, { question, now: at(299) }).verdict?.kind).toBe("cannot-tell");
    expect(ask({ asked: 100 }, { question, now: at(300) }).verdict?.kind).toBe("marked");
  });

  test("a stop that CycleCloud refused lets its node open, and an older question begins none", () => {
    const asked = ask({ asked: 100 });
    const refused = settle(
      {
        record: asked.record({
          intents: [buildIntent("r-1", { effect: { kind: "terminate", nodes: [N1] } })],
        }),
        ledger: buildLedger([rememberNode(one, {})]),
        questions: questionsOf(asked.after ?? {}),
      },
      requestId("r-1"),
      { kind: "refused", message: "HTTP 403: no" },
      at(1),
    );
    const question = refused.questions?.get(N1) ?? {};
    expect(question).toEqual({ asked: 100, askedAt: NOW, stayAt: at(1) });
    expect(ask({ asked: 70 }, { question, now: at(2) }).verdict).toEqual(
      closed("a newer question of this node was answered"),
    );
    expect(ask({ asked: 130 }, { question, now: at(30) }).verdict?.kind).toBe("marked");
  });

  test("between mark and stop, a newer question was told to stay: the mark is gone, and no stop is committed", () => {
    const first = ask({ asked: 100 });
    expect(first.verdict?.kind).toBe("marked");
    const newer = { asked: 130, askedAt: at(1), stayAt: at(1) };
    expect(first.confirm({}, newer, at(2))).toEqual(
      closed("another question of this node was answered; ask again"),
    );
    expect(first.confirm({}, undefined, at(2))).toEqual({ kind: "granted", node: "n1" });
  });
});

describe("a question that has waited for 20 s begins nothing", () => {
  test("no mark, and no stay: the node has given up on it", () => {
    const late = ask({ arrivedAt: at(-20), asked: 100 });
    expect(late.verdict).toEqual(closed("the question waited too long here; ask again"));
    expect(late.after).toEqual({ askedAt: at(-20) });
    expect(ask({ arrivedAt: at(-19) }).verdict?.kind).toBe("marked");
  });

  test("no stop, though it was marked in time; and a stop in time is sent in time", () => {
    const first = ask({});
    expect(first.confirm({}, undefined, at(19))?.kind).toBe("granted");
    expect(first.confirm({}, undefined, at(20))?.kind).toBe("cannot-tell");
  });
});

describe("undrain", () => {
  test("a record that is 89 s old may not know of stops; one that is 90 s old does", () => {
    const young = { isNeeded: true, record: { epochAt: at(-89) } };
    expect(ask({}, young)).toMatchObject({ verdict: { kind: "needed", undrain: false }, after: {} });
    expect(ask({}, young).after?.stayAt).toBeUndefined();
    expect(ask({}, { ...young, record: { epochAt: at(-90) } }).verdict).toMatchObject({ undrain: true });
  });

  test("begin=no begins nothing: open, unless another question is being decided", () => {
    expect(ask({ begin: false })).toMatchObject({
      verdict: { kind: "cannot-tell", why: "no stop of this node is under way", undrain: true },
      after: { stayAt: NOW },
    });
    const marked = { question: { askedAt: at(-5), draining: mark(at(-5)) } };
    expect(ask({ begin: false }, marked).verdict).toEqual(closed("its stop is being decided; ask again"));
    const stale = { question: { askedAt: at(-60), draining: mark(at(-60)) } };
    expect(ask({ begin: false }, stale)).toMatchObject({ verdict: { undrain: true }, plans: 1 });
    expect(ask({ begin: false }, stale).after).not.toHaveProperty("draining");
  });

  test("another array's token: open, unless a stop may be under way", () => {
    const stranger = { array: arrayName("viz") };
    expect(ask(stranger).verdict).toEqual({ kind: "forbidden", undrain: true });
    const effect = { kind: "terminate", nodes: [N1] } as const;
    const open = { record: { intents: [buildIntent("r-1", { effect })] } };
    expect(ask(stranger, open).verdict).toEqual({ kind: "forbidden", undrain: false });
  });
});

describe("a stay in the record", () => {
  test("takes back a mark that a plan has made for idleness", () => {
    const { after, plans } = ask({}, { isNeeded: true, draining: { ...mark(at(-30)), by: "idle" } });
    expect([after, plans]).toEqual([{ askedAt: NOW, stayAt: NOW }, 1]);
    const ledger = buildLedger([rememberNode(one, { draining: { ...mark(at(-30)), by: "idle" } })]);
    const known = withQuestions(ledger, questionsOf(after ?? {})).get(N1);
    expect(known).not.toHaveProperty("draining");
    expect(known?.busyness).toEqual({ state: "unknown", since: NOW });
  });

  test("of a node without a clock and without a mark is written once in four minutes", () => {
    const question = { askedAt: at(-239), stayAt: at(-239) };
    expect(ask({}, { isNeeded: true, question }).after).toBe(question);
    expect(ask({ asked: 7 }, { isNeeded: true, question }).after).toEqual({
      asked: 7,
      askedAt: NOW,
      stayAt: NOW,
    });
    expect(ask({}, { isNeeded: true, question: { askedAt: at(-240), stayAt: at(-240) } }).after?.stayAt).toBe(
      NOW,
    );
  });

  test("an older mark does not come back from the ledger, a newer one counts", () => {
    const ledger = (since: Instant) => buildLedger([rememberNode(one, { draining: mark(since) })]);
    const stay = questionsOf({ askedAt: NOW, stayAt: NOW });
    expect(withQuestions(ledger(at(-1)), stay).get(N1)).not.toHaveProperty("draining");
    const newer = ledger(at(1));
    expect(withQuestions(newer, stay)).toBe(newer);
  });
});

test("a plan moves marks and stops to the ledger, and forgets what proves nothing after ten minutes", () => {
  const accepted = { ...mark(at(-9)), sentAt: at(-5) };
  const questions: Questions = new Map([
    [nodeId("stopped"), { draining: accepted }],
    [nodeId("asked"), { askedAt: at(-599), draining: mark(at(-9)) }],
    [nodeId("stayed"), { askedAt: at(-900), stayAt: at(-600) }],
  ]);
  expect([...foldQuestions(questions, NOW)]).toEqual([["asked", { askedAt: at(-599) }]]);
  const settled: Questions = new Map([[N1, { askedAt: at(-10) }]]);
  expect(foldQuestions(settled, NOW)).toBe(settled);
});

test.each([
  { name: "it has never asked", question: undefined, may: true },
  { name: "it asked 299 s ago", question: { askedAt: at(-299) }, may: false },
  { name: "it asked 300 s ago", question: { askedAt: at(-300) }, may: true },
  { name: "the report is older than its stay", question: { askedAt: at(-400), stayAt: at(-9) }, may: false },
  { name: "the report is newer than its stay", question: { askedAt: at(-400), stayAt: at(-11) }, may: true },
])("a report of 10 s ago may stop a node: $name: $may", ({ question, may }) => {
  expect(mayStopByReport(question, at(-10), NOW)).toBe(may);
});
