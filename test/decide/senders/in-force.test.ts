import { describe, expect, test } from "vitest";
import { renderReason } from "../../../src/domain/reason-text.ts";
import type { SenderRule } from "../../../src/domain/sender-rules.ts";
import { capsInForce } from "../../../src/decide/senders/caps-in-force.ts";
import { demandsInForce } from "../../../src/decide/senders/demands-in-force.ts";
import { at, buildArray, buildBucket, buildSnapshot, D8, NOW } from "../../support/build-node.ts";
import type { Pushed, State } from "../../support/push-message.ts";
import { countCreated, decideOn, push } from "../../support/push-message.ts";
import { SENDER_RULE } from "../../support/sender-rule.ts";
import type { Decision } from "../../../src/domain/decision.ts";

/** Room for ten nodes of eight cores, none there. */
const empty = buildSnapshot([], {
  arrays: [buildArray("execute", { buckets: [buildBucket(D8, 8, { availableCount: 10, maxCount: 10 })] })],
});
const rules = (...all: readonly Partial<SenderRule>[]) => ({
  senders: all.map((rule) => ({ ...SENDER_RULE, ...rule })),
});
const job = (name: string, ncpus: number, more: object = {}) => ({ name, constraints: [{ ncpus }], ...more });
const target = (TargetCount: number, more: object = {}) => ({ Name: "execute", TargetCount, ...more });

/** "set/demand placed of asked: why". */
const outcomes = ({ plan }: Decision): readonly string[] =>
  plan.demands.map(({ set, id, placed, asked, reasons }) =>
    [`${set}/${id} ${placed} of ${asked}`, ...reasons.map(renderReason)].join(": "),
  );

/** The state after a plan, and after these messages. */
function after(
  { record, ledger }: Decision,
  { bodies }: State,
  sets: Readonly<Record<string, Pushed>> = {},
): State {
  return push(sets, { record, bodies: { ...bodies, ledger } });
}

describe("demand that was stored before the configuration was changed", () => {
  const stored = push({
    evil: {
      nodearrays: [
        target(2, { Configuration: { site: 1 } }),
        target(1, { Name: "own", Dynamic: true, Extends: "execute" }),
      ],
      jobs: [job("j", 8)],
    },
    pbs: { jobs: [job("mine", 8)] },
  });

  test.each([
    { name: "is all planned without rules", rule: {}, created: 3 },
    { name: "counts for nothing where its set may not write", rule: { write: false }, created: 1 },
    {
      name: "has no dynamic array where its set may define none",
      rule: { dynamicArrays: false },
      created: 2,
    },
  ])("$name", ({ rule, created }) => {
    expect(countCreated(decideOn(stored, empty, { policy: rules({ requestSets: ["evil"], ...rule }) }))).toBe(
      created,
    );
  });

  test("what is refused is unmet, and says why", () => {
    const policy = rules({ requestSets: ["evil"], write: false });
    expect(outcomes(decideOn(stored, empty, { policy })).slice(1)).toEqual([
      'evil/nodearray:execute 0 of 2: the configuration (senders) does not let request set "evil" ask for anything',
      'evil/nodearray:own 0 of 1: the configuration (senders) does not let request set "evil" ask for anything',
      'evil/j 0 of 1: the configuration (senders) does not let request set "evil" ask for anything',
    ]);
  });

  test("an attribute that was allowed when the demand was stored makes no node, not even one without it", () => {
    const state = push({ pbs: { nodearrays: [target(2, { KeepAlive: true, CloudInit: "x" })] } });
    const decision = decideOn(state, empty);
    expect(decision.plan.creates).toEqual([]);
    expect(outcomes(decision)).toEqual([
      'pbs/nodearray:execute 0 of 2: the configuration (senders) does not let request set "pbs" set CloudInit, KeepAlive: allow it in senders[].attributes',
    ]);
    const allowed = decideOn(state, empty, { policy: rules({ attributes: ["CloudInit", "KeepAlive"] }) });
    expect(allowed.plan.creates).toMatchObject([
      { count: 2, attributes: { KeepAlive: true, CloudInit: "x" } },
    ]);
  });
});

test("Chef roles of stored demand make no node until its rule allows them", () => {
  const roles = { Configuration: { run_list: ["role[server]"] } };
  const state = push({ pbs: { nodearrays: [target(2, roles)] } });
  expect(outcomes(decideOn(state, empty))).toEqual([
    'pbs/nodearray:execute 0 of 2: the configuration (senders) does not let request set "pbs" set Configuration.run_list: allow it in senders[].attributes',
  ]);
  const policy = rules({ attributes: ["Configuration.run_list"] });
  expect(decideOn(state, empty, { policy }).plan.creates).toMatchObject([{ count: 2, attributes: roles }]);
});

describe("keys of Configuration that a rule narrows to a list", () => {
  const version = { Configuration: { application_version: 7 } };
  const refused =
    'the configuration (senders) does not let request set "pbs" set Configuration.application_version: allow it in senders[].attributes';
  const narrowed = (configuration: SenderRule["configuration"] & object) => ({
    policy: rules({ configuration }),
  });

  test("are unmet where they were stored before, and planned where the list has them", () => {
    const state = push({ pbs: { nodearrays: [target(2, version)] } });
    expect(outcomes(decideOn(state, empty, narrowed({ every: ["site"] })))).toEqual([
      `pbs/nodearray:execute 0 of 2: ${refused}`,
    ]);
    for (const configuration of [
      { every: ["application_version"] },
      { every: [], byArray: new Map([["execute", ["application_version"]]]) },
      { byArray: new Map([["hpc", []]]) },
      {},
    ])
      expect(outcomes(decideOn(state, empty, narrowed(configuration)))).toEqual([
        "pbs/nodearray:execute 2 of 2",
      ]);
  });

  test("hold for a dynamic array by way of arrays that only the record knows", () => {
    const first = push({
      base: { nodearrays: [target(1, { Name: "own", Dynamic: true, Extends: "execute" })], sentAt: at(-20) },
    });
    const noted = decideOn(first, empty, { now: at(-20) });
    const state = after(noted, first, {
      pbs: { nodearrays: [target(2, { Name: "more", Dynamic: true, Extends: "own", ...version })] },
    });
    expect(outcomes(decideOn(state, empty, narrowed({ byArray: new Map([["execute", []]]) })))).toEqual([
      "base/nodearray:own 1 of 1",
      `pbs/nodearray:more 0 of 2: ${refused}`,
    ]);
  });
});

describe("a dynamic node array", () => {
  const own = (count: number, more: object = {}) =>
    target(count, { Name: "own", Dynamic: true, Extends: "execute", ...more });
  const gold = { Configuration: { grade: "gold" } };
  const lead = { Configuration: { grade: "lead" } };
  const sentOf = ({ plan }: Decision) => plan.creates.map(({ attributes }) => attributes);

  test("belongs to the set that defined it first, whatever its name, and its own new definition counts", () => {
    const first = push({ zeta: { nodearrays: [own(1, gold)], sentAt: at(-20) } });
    const noted = decideOn(first, empty, { now: at(-20) });
    const both = after(noted, first, { alpha: { nodearrays: [own(1, lead)], sentAt: at(-10) } });
    expect(sentOf(decideOn(push({ zeta: { nodearrays: [own(3, lead)] } }, both), empty))).toEqual([lead]);
    const changed = push({ zeta: { nodearrays: [own(3, { Configuration: { grade: "tin" } })] } }, both);
    expect(sentOf(decideOn(changed, empty))).toEqual([{ Configuration: { grade: "tin" } }]);
  });

  test("goes to the other set once the first has left it out", () => {
    const state = push({ zeta: { nodearrays: [own(1, gold)], sentAt: at(-20) } });
    const noted = decideOn(state, empty, { now: at(-20) });
    const left = after(noted, state, { alpha: { nodearrays: [own(2, lead)] }, zeta: { nodearrays: [] } });
    const decision = decideOn(left, empty);
    expect(outcomes(decision)).toEqual(["alpha/nodearray:own 2 of 2"]);
    expect(decision.record.dynamicArrays).toMatchObject([{ by: "alpha" }]);
  });

  test("is of the set that the configuration names, whichever defined it first", () => {
    const first = push({ evil: { nodearrays: [own(0, gold)], sentAt: at(-20) } });
    const noted = decideOn(first, empty, { now: at(-20) });
    const both = after(noted, first, { pbs: { nodearrays: [own(2, lead)] } });
    expect(outcomes(decideOn(both, empty))[1]).toMatch(/^pbs\/nodearray:own 0 of 2/);
    const policy = rules({ requestSets: ["pbs"], dynamicArrays: ["own"] }, { requestSets: ["*"] });
    const decision = decideOn(both, empty, { policy });
    expect(outcomes(decision)).toEqual([
      "pbs/nodearray:own 2 of 2",
      'evil/nodearray:own 0 of 0: the configuration (senders) does not let request set "evil" define dynamic node arrays',
    ]);
    expect(sentOf(decision)).toEqual([lead]);
    expect(decision.record.dynamicArrays).toMatchObject([{ by: "pbs" }]);
  });

  test("that a set defined with an attribute is not created for others by its name once that is not allowed", () => {
    const rule = rules({ requestSets: ["zeta"], attributes: ["ImageName"] });
    const state = push({ zeta: { nodearrays: [own(1, { ImageName: "x" })], sentAt: at(-20) } });
    const noted = decideOn(state, empty, { now: at(-20), policy: rule });
    expect(countCreated(noted)).toBe(1);
    const others = after(noted, state, {
      zeta: { nodearrays: [] },
      alpha: {
        nodearrays: [target(3, { Name: "own" }), target(2, { Name: "more", Dynamic: true, Extends: "own" })],
      },
    });
    const refused =
      'the configuration (senders) does not let request set "zeta" set ImageName: allow it in senders[].attributes';
    expect(outcomes(decideOn(others, empty))).toEqual([
      `alpha/nodearray:own 0 of 3: ${refused}`,
      `alpha/nodearray:more 0 of 2: ${refused}`,
    ]);
    expect(outcomes(decideOn(others, empty, { policy: rule }))).toEqual([
      "alpha/nodearray:own 3 of 3",
      "alpha/nodearray:more 2 of 2",
    ]);
  });
});

describe("a pool", () => {
  const licence = (total: number, more: object = {}) => ({
    pools: [{ name: "licence-x", total, used: 0 }],
    ...more,
  });
  const needs = { jobs: [{ name: "j", iterations: 4, constraints: { ncpus: 1, pool: { "licence-x": 1 } } }] };
  const placed = (state: State, policy = {}) => outcomes(decideOn(state, empty, { policy }))[0];

  const named = push({ pbs: { ...licence(10), ...needs, sentAt: at(-20) } });
  const noted = decideOn(named, empty, { now: at(-20) });

  test("belongs to the set that named it first: another set's later revision takes nothing of it", () => {
    const evil = after(noted, named, {
      evil: licence(0, { revision: NOW + 299_000, expirationInterval: 86_400 }),
    });
    expect(placed(evil)).toBe("pbs/j 4 of 4");
    expect(placed(push({ pbs: { ...licence(3), ...needs } }, evil))).toMatch(
      /^pbs\/j 3 of 4: pool licence-x/,
    );
  });

  test("is the other set's once the first leaves it out or lapses", () => {
    const evil = after(noted, named, { evil: licence(2) });
    expect(placed(push({ pbs: needs }, evil))).toMatch(/^pbs\/j 2 of 4/);
    const lapsed = push(
      { slurm: { ...needs, sentAt: at(300) }, evil: licence(2, { sentAt: at(299) }) },
      evil,
    );
    expect(outcomes(decideOn(lapsed, empty, { now: at(301) }))).toEqual([
      expect.stringMatching(/^slurm\/j 2 of 4/),
    ]);
  });

  test("that two sets name at once is that of the message which came first", () => {
    const both = push({
      evil: licence(1, { sentAt: at(-5) }),
      pbs: { ...licence(10), ...needs, sentAt: at(-6) },
    });
    expect(placed(both)).toBe("pbs/j 4 of 4");
  });

  test("is kept for the set that the configuration names, also if another one has owned it until then", () => {
    const first = push({ evil: licence(0, { expirationInterval: 86_400, sentAt: at(-20) }) });
    const squatted = after(decideOn(first, empty, { now: at(-20) }), first, {
      pbs: { ...licence(10), ...needs },
    });
    expect(placed(squatted)).toMatch(/^pbs\/j 0 of 4/);
    const policy = rules({ requestSets: ["pbs"], pools: ["licence-*"] }, { requestSets: ["*"] });
    expect(placed(squatted, policy)).toBe("pbs/j 4 of 4");
    expect(decideOn(squatted, empty, { policy }).record.poolOwners).toMatchObject([{ set: "pbs" }]);
  });

  test("does not count from a set that may name none", () => {
    const policy = rules({ requestSets: ["evil"], pools: false });
    const both = push({ evil: licence(1, { sentAt: at(-9) }), pbs: { ...licence(10), ...needs } });
    expect(placed(both)).toMatch(/^pbs\/j 1 of 4/);
    expect(placed(both, policy)).toBe("pbs/j 4 of 4");
  });
});

describe("priorities and caps", () => {
  test("a priority above the rule's is lowered to it, and no other", () => {
    const hogs = { evil: { jobs: [job("hog", 8, { priority: 1e9, iterations: 100 })] } };
    const state = push({ ...hogs, pbs: { jobs: [job("mine", 8, { priority: 5, iterations: 4 })] } });
    expect(outcomes(decideOn(state, empty))[0]).toMatch(/^evil\/hog 10 of 100/);
    const policy = rules({ requestSets: ["evil"], maxPriority: 4 });
    expect(outcomes(decideOn(state, empty, { policy }))[0]).toBe("pbs/mine 4 of 4");
    expect(outcomes(decideOn(state, empty, { policy: rules({ maxPriority: 5 }) }))[1]).toMatch(
      /^pbs\/mine 0 of 4/,
    );
  });

  const capsOf = (names: readonly string[], caps: object, ...all: readonly Partial<SenderRule>[]) => {
    const { record, bodies } = push(Object.fromEntries(names.map((name) => [name, { jobs: [job("j", 1)] }])));
    const ceilings = new Map(Object.entries(caps).map(([name, nodes]) => [name, { nodes: Number(nodes) }]));
    const policy = { ...rules(...all), caps: { requestSets: ceilings, users: new Map() } };
    return capsInForce(policy, demandsInForce(record, bodies).read).map(
      ({ name, sets, max }) => `${name}${sets === undefined ? "" : ` for ${sets.join(" ")}`}: ${max}`,
    );
  };
  test.each([
    {
      name: "ten invented names share one cap",
      sets: ["e1", "e2"],
      caps: { "*": 3 },
      all: [],
      shared: ["* for e1 e2: 3"],
    },
    {
      name: "a set with a cap of its own has no part in it",
      sets: ["e1", "pbs"],
      caps: { pbs: 9, "*": 3 },
      all: [],
      shared: ["pbs: 9", "* for e1: 3"],
    },
    {
      name: "the sets of a rule share the rule's cap, those with a cap of their own too",
      sets: ["e1", "p1", "p2"],
      caps: { p1: 1, "*": 3 },
      all: [{ requestSets: ["p*"], caps: { nodes: 7 } }],
      shared: ["p1: 1", "* for e1: 3", "p* for p1 p2: 7"],
    },
    {
      name: "those of a rule without a cap share one among themselves",
      sets: ["e1", "p1", "p2"],
      caps: { "*": 3 },
      all: [{ requestSets: ["p1", "p2"] }],
      shared: ["* for e1: 3", "p1, p2 for p1 p2: 3"],
    },
  ])("$name", ({ sets, caps, all, shared }) => {
    expect(capsOf(sets, caps, ...all)).toEqual(shared);
  });

  test("ten sets with a cap of three nodes get three, and each says whose cap it is", () => {
    const names = Array.from({ length: 10 }, (_, i) => `evil-${i}`);
    const state = push(Object.fromEntries(names.map((name) => [name, { jobs: [job("j", 8)] }])));
    const caps = { requestSets: new Map([["*", { nodes: 3 }]]), users: new Map() };
    const decision = decideOn(state, empty, { policy: { caps } });
    expect(countCreated(decision)).toBe(3);
    expect(outcomes(decision)[3]).toBe(
      "evil-3/j 0 of 1: cap that the request sets * share: 3 of 3 nodes used, 1 more needed, 0 left",
    );
  });
});
