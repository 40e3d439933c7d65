/** What was worked out before never changes a decision. How to replay a failure stands in runs.ts. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { judgeStops } from "../../src/decide/autostop/judge-stops.ts";
import { Recall } from "../../src/decide/need/recall.ts";
import { decide } from "../../src/decide/reconcile/reconcile.ts";
import type { Spare } from "../../src/decide/need/spare.ts";
import { DEFAULT_POLICY, observing } from "../../src/domain/policy.ts";
import { afterQuestions } from "../support/build-call.ts";
import { at, buildLedger, EXECUTE, rememberNode } from "../support/build-node.ts";
import { anyCluster, anyDemands, showCluster } from "../support/build-random-cluster.ts";
import { BUCKET, buildState, OURS } from "../support/build-record.ts";
import { runsOf, TIMEOUT } from "./runs.ts";
import type { Weighing, Recalls } from "../../src/decide/need/weigh.ts";
import { confirmStops } from "../../src/decide/autostop/confirm-stops.ts";
import type { premisesOf } from "../../src/decide/need/recall.ts";

type Premises = NonNullable<ReturnType<typeof premisesOf>>;

const POLICIES = [
  DEFAULT_POLICY,
  DEFAULT_POLICY,
  { ...DEFAULT_POLICY, nodearrays: [EXECUTE] },
  observing(DEFAULT_POLICY),
];
const pause = { bucket: BUCKET, until: at(100), seconds: 60, cause: "refused" as const, message: "no" };

interface Tally {
  asked: number;
  worked: number;
  /** How often what it knows was asked for, and was there. */
  known: number;
}

/** Counts how often it is asked, how often it has to work, and how often it knows. */
class Counted<T> extends Recall<T> {
  readonly #tally: Tally;

  constructor(tally: Tally) {
    super();
    this.#tally = tally;
  }

  override answer<Q extends object>(
    premises: Premises | undefined,
    question: Q,
    work: (question: Q) => T,
    isLasting?: (answer: T) => boolean,
  ): T {
    this.#tally.asked += 1;
    const counted = (asked: Q): T => {
      this.#tally.worked += 1;
      return work(asked);
    };
    return super.answer(premises, question, counted, isLasting);
  }

  override known(premises: Premises | undefined, question: object): T | undefined {
    const known = super.known(premises, question);
    if (known !== undefined) this.#tally.known += 1;
    return known;
  }
}

type Live = readonly (readonly [set: string, content: "a" | "b"])[];

/** What a cluster is like at some looks in a row. */
const anyMoment = fc.record({
  looks: fc.integer({ min: 1, max: 4 }),
  live: fc.constantFrom<Live>(
    [["s", "a"]],
    [["s", "a"]],
    [["s", "b"]],
    [
      ["s", "a"],
      ["t", "b"],
    ],
  ),
  without: fc.constantFrom(undefined, undefined, 0, 1),
  isResting: fc.constantFrom(false, false, false, true),
  policy: fc.constantFrom(...POLICIES),
  seconds: fc.constantFrom(10, 60, 300),
  asking: fc.constantFrom<readonly number[]>([0], [0, 1], [1, 2, 3]),
});

test(
  "decisions and answers are the same whether or not they are recalled",
  () => {
    const ofPlans: Tally = { asked: 0, worked: 0, known: 0 };
    const ofStops: Tally = { asked: 0, worked: 0, known: 0 };
    fc.assert(
      fc.property(
        anyCluster(8),
        anyDemands,
        anyDemands,
        fc.array(anyMoment, { minLength: 2, maxLength: 4 }),
        (cluster, a, b, moments) => {
          const plans = new Counted<Weighing>(ofPlans);
          const recalls: Recalls = { plans, virtual: new Recall(), stops: new Counted<Spare>(ofStops) };
          const contents = { a, b };
          let ledger = buildLedger(cluster.nodes.map((node) => rememberNode(node)));
          let plan: ReturnType<typeof decide>["plan"] | undefined;
          let now = 0;
          const looks = moments.flatMap((moment) => Array.from({ length: moment.looks }, () => moment));
          for (const { live, without, isResting, policy, seconds, asking } of looks) {
            now += seconds;
            const nodes = cluster.nodes.filter((_, i) => i !== without);
            const snapshot = { ...showCluster(cluster, nodes), at: at(now) };
            const sets = Object.fromEntries(
              live.map(([name, content]) => [
                name,
                { demands: contents[content], digest: content, sentAt: at(now) },
              ]),
            );
            const record = { backoffs: isResting ? [pause] : [], lastGoodLookAt: at(now - 30) };
            const state = buildState({ sets, record, ledger, seen: snapshot });
            const bodies = plan === undefined ? state.bodies : { ...state.bodies, plan };
            const observation = { snapshot, requestNodes: new Map() };
            const decided = (recall?: Recall<Weighing>) =>
              decide(state.record, bodies, observation, policy, at(now), OURS, recall);
            const fresh = decided();
            const known = decided(plans);
            expect(known).toEqual(fresh);
            const calls = asking.flatMap((i) => {
              const node = nodes[i];
              return node?.instanceId === undefined
                ? []
                : [
                    {
                      instance: node.instanceId,
                      array: node.array,
                      unhealthy: false,
                      begin: true,
                      arrivedAt: at(now),
                    },
                  ];
            });
            const decidedOn = { ...bodies, ledger: known.ledger };
            const answered = (recall?: Recalls) => {
              const judged = judgeStops(state.record, decidedOn, calls, policy, at(now), recall);
              const after = afterQuestions(decidedOn, judged.questions);
              const marked = judged.verdicts.flatMap((verdict, i) => {
                const call = calls[i];
                return verdict.kind === "marked" && call !== undefined ? [{ node: verdict.node, call }] : [];
              });
              const confirmed = confirmStops(judged.record, after, marked, policy, at(now + 1), OURS, recall);
              return { judged, confirmed };
            };
            expect(answered(recalls)).toEqual(answered());
            ({ ledger, plan } = known);
          }
        },
      ),
      runsOf(11, { usual: 20 }),
    );
    // What is never recalled cannot be recalled wrongly.
    for (const { asked, worked } of [ofPlans, ofStops]) expect(worked).toBeLessThan(0.9 * asked);
    expect(ofPlans.known).toBeGreaterThan(0.1 * ofStops.worked);
  },
  TIMEOUT,
);
