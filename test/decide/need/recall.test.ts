import { expect, test } from "vitest";
import { Recall, premisesOf } from "../../../src/decide/need/recall.ts";
import type { Supply } from "../../../src/decide/need/spare.ts";
import { arrayName } from "../../../src/domain/ids.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import type { Backoff, ClusterRecord } from "../../../src/domain/record.ts";
import {
  at,
  buildArray,
  buildBucket,
  buildLedger,
  buildNode,
  buildSnapshot,
  NOW,
  rememberNode,
} from "../../support/build-node.ts";
import type { SetScenario } from "../../support/build-record.ts";
import { BUCKET, buildState, buildTarget } from "../../support/build-record.ts";

interface Situation {
  readonly sets?: Readonly<Record<string, SetScenario>>;
  readonly supply?: Partial<Supply>;
}

const node = buildNode("n1");
const sets = { standard: { demands: [buildTarget(2)] } };
const pause: Backoff = { bucket: BUCKET, until: at(60), seconds: 60, cause: "refused", message: "no" };

const recordOf = ({ sets: asked = sets }: Situation): ClusterRecord => buildState({ sets: asked }).record;

/** Built again each time, so that equality never comes from being the same object. */
function supplyOf({ supply = {} }: Situation): Supply {
  return {
    snapshot: buildSnapshot([buildNode("n1")]),
    ledger: buildLedger([rememberNode(node)]),
    inFlight: [],
    pendingCreates: [],
    backoffs: [],
    policy: { ...DEFAULT_POLICY },
    pools: [],
    dynamics: new Map(),
    standings: new Map(),
    excluded: new Set(),
    now: NOW,
    ...supply,
  };
}

/** Number of times that an answer is computed if the question is asked in these situations in turn. */
function worksIn(situations: readonly Situation[], questions: readonly object[] = [{}]): number {
  const recall = new Recall<number>();
  let works = 0;
  for (const situation of situations)
    for (const question of questions)
      recall.answer(premisesOf(recordOf(situation), supplyOf(situation)), question, (asked) => {
        JSON.stringify(Object.values(asked));
        return (works += 1);
      });
  return works;
}

test.each<{ readonly name: string; readonly changed: Situation }>([
  { name: "nothing", changed: {} },
  { name: "the time", changed: { supply: { now: at(3600) } } },
  {
    name: "the observation's time",
    changed: { supply: { snapshot: { ...buildSnapshot([node]), at: at(60) } } },
  },
  {
    name: "when a node was needed last",
    changed: { supply: { ledger: buildLedger([rememberNode(node, { lastNeededAt: at(60) })]) } },
  },
  { name: "a renewal", changed: { sets: { standard: { demands: [buildTarget(2)], sentAt: at(60) } } } },
])("what changes nothing for a plan: $name", ({ changed }) => {
  expect(worksIn([{}, changed])).toBe(1);
});

const live = { demands: [buildTarget(2)] };
test.each<{ readonly name: string; readonly changed: Situation }>([
  { name: "another set with the same demand", changed: { sets: { other: live } } },
  { name: "another demand of the same set", changed: { sets: { standard: { ...live, digest: "other" } } } },
  { name: "a demand more", changed: { sets: { standard: live, other: live } } },
  { name: "a demand that has lapsed", changed: { sets: { standard: { ...live, live: false } } } },
  { name: "a node more", changed: { supply: { snapshot: buildSnapshot([node, buildNode("n2")]) } } },
  {
    name: "a node in another phase",
    changed: { supply: { snapshot: buildSnapshot([buildNode("n1", { phase: "failed" })]) } },
  },
  {
    name: "a bucket with more to be had",
    changed: {
      supply: {
        snapshot: buildSnapshot([node], {
          arrays: [buildArray("execute", { buckets: [{ ...buildBucket(), availableCount: 1 }] })],
        }),
      },
    },
  },
  {
    name: "a node that is remembered differently",
    changed: {
      supply: {
        ledger: buildLedger([
          rememberNode(node, { draining: { since: NOW, by: "idle", plan: 7, attempts: 0 } }),
        ]),
      },
    },
  },
  {
    name: "a node that is no longer remembered",
    changed: { supply: { ledger: new Map() } },
  },
  { name: "a bucket that rests", changed: { supply: { backoffs: [pause] } } },
  {
    name: "another configuration",
    changed: { supply: { policy: { ...DEFAULT_POLICY, among: "cheapest" } } },
  },
  { name: "a pool", changed: { supply: { pools: [{ name: "licence", total: 2, used: 1 }] } } },
  {
    name: "a dynamic array",
    changed: {
      supply: { dynamics: new Map([[arrayName("lab"), { name: arrayName("lab"), sets: [] }]]) },
    },
  },
])("what changes a plan: $name, and back again", ({ changed }) => {
  expect(worksIn([{}, changed, changed, {}])).toBe(3);
});

test("a pause that is over changes a plan, one that has long been over does not", () => {
  const paused = (seconds: number): Situation => ({ supply: { backoffs: [pause], now: at(seconds) } });
  expect(worksIn([paused(0), paused(59), paused(60), paused(900), {}])).toBe(2);
});

test.each<{ readonly name: string; readonly supply: Partial<Supply> }>([
  {
    name: "a create under way",
    supply: { pendingCreates: [{ bucket: BUCKET, count: 1, purpose: { kind: "array" } }] },
  },
  {
    name: "a group that is filled",
    supply: { groupFills: [{ bucket: BUCKET, key: "execute:2n", since: NOW }] },
  },
])("$name ages: nothing is recalled, and what was known before still is", ({ supply }) => {
  expect(worksIn([{}, { supply }, { supply }, {}])).toBe(3);
});

test("another question is another answer", () => {
  const questions = [{ askers: new Set(["n1"]) }, { askers: new Set(["n2"]) }];
  expect(worksIn([{}, {}], questions)).toBe(2);
});

test("of many questions the oldest are forgotten", () => {
  const questions = Array.from({ length: 20 }, (_, i) => ({ i }));
  expect(worksIn([{}], [...questions, ...questions.slice(4)])).toBe(20);
  expect(worksIn([{}], [...questions, ...questions.slice(0, 4)])).toBe(24);
});

test("what was not read of a question may have been anything", () => {
  const recall = new Recall<number>();
  let works = 0;
  const ask = (which: "a" | "b", a: number, b: number): void => {
    const question = { a, b };
    recall.answer(premisesOf(recordOf({}), supplyOf({})), question, (asked) => asked[which] + (works += 1));
  };
  ask("a", 1, 1);
  ask("a", 1, 2);
  expect(works).toBe(1);
  ask("b", 2, 2);
  expect(works).toBe(2);
  ask("a", 3, 2);
  expect(works).toBe(2);
  ask("a", 3, 3);
  expect(works).toBe(3);
});

test("an answer that rests on the time is given once", () => {
  const recall = new Recall<number>();
  let works = 0;
  const ask = (isLasting: boolean): number =>
    recall.answer(
      premisesOf(recordOf({}), supplyOf({})),
      {},
      () => (works += 1),
      () => isLasting,
    );
  expect([ask(false), ask(false), ask(true), ask(true)]).toEqual([1, 2, 3, 3]);
});

test("somebody else's answer is known for an equal question on equal premises, and asking for it forgets nothing", () => {
  const recall = new Recall<string>();
  const premises = () => premisesOf(recordOf({}), supplyOf({}));
  const busier = premisesOf(recordOf({}), supplyOf({ supply: { ledger: buildLedger([]) } }));
  const question = { a: 1, b: 1 };
  recall.answer(premises(), question, ({ a }) => `a is ${a}`);
  expect(recall.known(premises(), { a: 1, b: 2 })).toBe("a is 1");
  expect(recall.known(premises(), { a: 2, b: 1 })).toBeUndefined();
  expect(recall.known(busier, question)).toBeUndefined();
  expect(recall.known(undefined, question)).toBeUndefined();
  expect(recall.known(premises(), question)).toBe("a is 1");
});
