import { describe, expect, test } from "vitest";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import { renderReason } from "../../../src/domain/reason-text.ts";
import type { SenderRule } from "../../../src/domain/sender-rules.ts";
import { at, buildArray, buildBucket, buildNode, buildSnapshot, D8, NOW } from "../../support/build-node.ts";
import type { Pushed } from "../../support/push-message.ts";
import { countCreated, decideOn, push } from "../../support/push-message.ts";
import { SENDER_RULE } from "../../support/sender-rule.ts";
import type { Decision } from "../../../src/domain/decision.ts";
import { hostFacts, idleProofAt } from "../../../src/decide/senders/host-facts.ts";

/** Room for ten nodes of eight cores, none there. */
const empty = buildSnapshot([], {
  arrays: [buildArray("execute", { buckets: [buildBucket(D8, 8, { availableCount: 10, maxCount: 10 })] })],
});
/** The same with one node that is up, host ip-a. */
const oneNode = buildSnapshot([buildNode("a", { machineType: D8 })], {
  arrays: [buildArray("execute", { buckets: [buildBucket(D8, 8, { availableCount: 10, maxCount: 10 })] })],
});

const rules = (...all: readonly Partial<SenderRule>[]) => ({
  senders: all.map((rule) => ({ ...SENDER_RULE, ...rule })),
});
const job = (name: string, ncpus: number, more: object = {}) => ({ name, constraints: [{ ncpus }], ...more });

/** "set/demand placed of asked: why". */
const outcomes = ({ plan }: Decision): readonly string[] =>
  plan.demands.map(({ set, id, placed, asked, reasons }) =>
    [`${set}/${id} ${placed} of ${asked}`, ...reasons.map(renderReason)].join(": "),
  );

describe("what is said of a host", () => {
  const says = (more: object, sentAt = NOW) => ({
    jobs: [],
    schedulerNodes: [{ hostname: "ip-a", ...more }],
    sentAt,
  });
  const factOf = (sets: Readonly<Record<string, Pushed>>, policy = {}) => {
    const { record, bodies } = push(sets);
    const { senders } = { ...DEFAULT_POLICY, ...policy };
    return hostFacts(record, bodies, NOW, senders).get("ip-a");
  };

  test("a set's fresh word does not make another set's old word fresh: a job may have begun since", () => {
    const fact = factOf({ pbs: says({}, at(-200)), evil: says({}) });
    expect(fact === undefined ? undefined : idleProofAt(fact)).toBe(at(-200));
  });

  test.each([
    {
      name: "closed by one, nothing said by the other",
      pbs: {},
      evil: { state: "closed" },
      state: undefined,
    },
    {
      name: "nothing said by one, closed by the other",
      pbs: { state: "closed" },
      evil: {},
      state: undefined,
    },
    { name: "open to one", pbs: { state: "open" }, evil: { state: "closed" }, state: "open" },
    { name: "closed by both", pbs: { state: "closed" }, evil: { state: "closed" }, state: "closed" },
  ])("$name", ({ pbs, evil, state }) => {
    expect(factOf({ pbs: says(pbs), evil: says(evil) })?.state).toBe(state);
    expect(factOf({ evil: says(evil), pbs: says(pbs) })?.state).toBe(state);
  });

  test("from a set that may not report hosts a job counts, and nothing else", () => {
    const policy = rules({ requestSets: ["evil"], hosts: false });
    expect(factOf({ evil: says({ state: "closed" }) }, policy)).toBeUndefined();
    expect(factOf({ evil: says({ jobs: ["7"] }) }, policy)).toEqual({ jobs: ["7"] });
    expect(factOf({ pbs: says({ state: "open" }, at(-9)), evil: says({ state: "closed" }) }, policy)).toEqual(
      {
        jobs: [],
        by: ["pbs"],
        state: "open",
        reportedAt: at(-9),
      },
    );
    expect(factOf({ evil: says({ state: "closed" }) })).toMatchObject({ state: "closed" });
  });

  test.each([
    { name: "alone", others: {}, created: 1 },
    { name: "beside another report", others: { pbs: says({}) }, created: 0 },
    {
      name: "beside a job of another set there",
      others: { pbs: { jobs: [job("run", 1, { placed: [{ hostname: "ip-a", iterations: 1 }] })] } },
      created: 0,
    },
    {
      name: "beside another host's report",
      others: { pbs: { jobs: [], schedulerNodes: [{ hostname: "b" }] } },
      created: 1,
    },
  ])("what it has left counts $name: $created created", ({ others, created }) => {
    const evil = says({ available: { ncpus: 0 } });
    const state = push({ ...others, evil, standard: { jobs: [job("j", 4)] } });
    expect(countCreated(decideOn(state, oneNode))).toBe(created);
  });

  test("a host that CycleCloud does not know is each set's own, as that set reports it", () => {
    const rack = (ncpus: number) => [{ hostname: "rack7", resources: { ncpus }, available: { ncpus } }];
    const created = (pbs: number, evil: number) =>
      countCreated(
        decideOn(
          push({
            pbs: { jobs: [job("mine", 8)], schedulerNodes: rack(pbs) },
            evil: { jobs: [job("hog", 8)], schedulerNodes: rack(evil) },
          }),
          empty,
        ),
      );
    expect([created(64, 64), created(64, 0), created(0, 0)]).toEqual([0, 1, 2]);
  });

  test("nor does another set's running job take anything of such a host", () => {
    const running = job("hog", 60, { placed: [{ hostname: "rack7", iterations: 1 }] });
    const state = push({
      pbs: { jobs: [job("mine", 8)], schedulerNodes: [{ hostname: "rack7", resources: { ncpus: 64 } }] },
      evil: { jobs: [running] },
    });
    expect(outcomes(decideOn(state, empty))).toContain("pbs/mine 1 of 1");
    expect(countCreated(decideOn(state, empty))).toBe(0);
  });
});
