import { describe, expect, test } from "vitest";
import { allocate } from "../../../src/decide/search/allocate.ts";
import { propertiesOf } from "../../../src/decide/bins/empty-node-fit.ts";
import type { World } from "../../../src/domain/world.ts";
import { renderRemedy } from "../../../src/domain/remedy.ts";
import type { JobDemand, RankedDemand } from "../../../src/domain/demand.ts";
import { arrayName, placementGroup } from "../../../src/domain/ids.ts";
import { renderReason } from "../../../src/domain/reason-text.ts";
import { readConstraints } from "../../../src/wire/constraint/constraint.ts";
import {
  bucket,
  groups,
  job,
  limit,
  namedModes,
  now,
  offer,
  target,
  world,
} from "../../support/build-world.ts";
import { newNotes } from "../../../src/wire/json/problems.ts";

/** An unmet demand has a true reason, and a remedy or the statement that no raise of a limit helps, in every mode. */

const size = (at: string, cores: number, more = {}) =>
  offer(
    at,
    cores,
    { 0: 1 },
    { properties: () => propertiesOf(bucket(at)), maxPlacementGroupSize: 4, ...more },
  );
const small = (more: Partial<World> = {}): World =>
  world({
    buckets: [size("execute/D4", 4)],
    limits: [limit("cluster", "", "nodes", 0, 2)],
    pools: [{ name: "licence", total: 5, used: 2 }],
    ...more,
  });
const ask = (asks: unknown, more: Partial<JobDemand> = {}): RankedDemand =>
  job("j", { constraints: readConstraints(asks, "constraints", newNotes()), ...more });

interface Case {
  readonly name: string;
  readonly demand: RankedDemand;
  readonly world?: World;
  readonly placed: number;
  readonly reasons: readonly string[];
  readonly binding: string;
}

const NO = "no raise of a limit helps: ";

const CASES: readonly Case[] = [
  {
    name: "a limit",
    demand: ask([], { iterations: 5 }),
    placed: 2,
    reasons: ["cluster: 2 of 2 nodes used, 3 more needed, 0 left"],
    binding: "3 more nodes of the cluster would place all of it",
  },
  {
    name: "a hostname that does not exist",
    demand: ask({ "node.hostname": "h9" }),
    placed: 0,
    reasons: ["execute/D4: node.hostname is known only of a node that exists, so no new node is made for it"],
    binding: `${NO}execute/D4: node.hostname is known only of a node that exists, so no new node is made for it`,
  },
  {
    name: "never",
    demand: ask({ never: "closed" }),
    placed: 0,
    reasons: ["execute/D4: closed"],
    binding: `${NO}execute/D4: closed`,
  },
  {
    name: "an array that does not exist",
    demand: target("t", 1, { array: arrayName("none") }),
    placed: 0,
    reasons: ['node array "none" does not exist in the cluster (known: execute)'],
    binding: `${NO}node array "none" does not exist in the cluster (known: execute)`,
  },
  {
    name: "a pool",
    demand: ask({ pool: { licence: 1 } }, { iterations: 5 }),
    world: small({ limits: [limit("cluster", "", "nodes", 0, 9)] }),
    placed: 3,
    reasons: ["pool licence: 5 more needed, 3 left"],
    binding: "2 more of pool licence would place all of it",
  },
  {
    name: "a pool of an alternative",
    demand: ask([{ ncpus: 1 }, { or: [{ pool: { licence: 1 } }, { never: "no" }] }], { iterations: 4 }),
    placed: 3,
    reasons: ["pool licence: 5 of 5 used, 1 more needed, 0 left"],
    binding: `${NO}pool licence: 5 of 5 used, 1 more needed, 0 left`,
  },
  {
    name: "a limit, for a job that asks for a placement group",
    demand: ask({ "in-a-placement-group": true }, { iterations: 3 }),
    placed: 2,
    reasons: ["cluster: 2 of 2 nodes used, 1 more needed, 0 left"],
    binding: "1 more node of the cluster would place all of it",
  },
  {
    name: "more groups than an array with one of its own has",
    demand: groups("g", 2, 2),
    world: small({
      buckets: [size("execute/D4", 4, { pinnedGroup: placementGroup("own") })],
      limits: [limit("cluster", "", "nodes", 0, 1)],
    }),
    placed: 0,
    reasons: ["cluster: 0 of 1 nodes used, 2 more needed, 1 left"],
    binding: `${NO}execute/D4/own: the node array has no other placement group`,
  },
];

describe.each(namedModes)("$name", ({ mode }) => {
  test.each(CASES)("$name", ({ demand, world: given = small(), placed, reasons, binding }) => {
    const [outcome] = allocate(given, [demand], mode, now).outcomes;
    expect(outcome?.placed).toBe(placed);
    // Only the usual mode shows the total of a pool. Only bucket-order shows each placement group separately.
    expect(outcome?.reasons.map(renderReason).map(plain)).toEqual(expect.arrayContaining(reasons.map(plain)));
    expect(outcome?.reasons.length).toBeLessThanOrEqual(2);
    expect(outcome?.binding === undefined ? undefined : plain(renderRemedy(outcome.binding))).toBe(
      plain(binding),
    );
  });

  test("2 TiB on one node", () => {
    const [outcome] = allocate(small(), [ask({ mem: "memory::2t" })], mode, now).outcomes;
    const text = outcome?.binding === undefined ? "" : renderRemedy(outcome.binding);
    expect(text).toMatch(/^no raise of a limit helps: needs .* mem on one node; the largest offered is /);
  });

  test("equal jobs of a queue have the same answer; one that differs, or that comes after a change, has its own", () => {
    const three = readConstraints({ ncpus: 3 }, "constraints", newNotes());
    const one = readConstraints({ ncpus: 1 }, "constraints", newNotes());
    const slots = (id: string, iterations: number, constraints = three) =>
      job(id, { id, name: id, iterations, constraints });
    const jobs = [
      slots("fits", 2),
      slots("a", 2),
      slots("b", 2),
      slots("more", 5),
      slots("small", 1, one),
      slots("c", 2),
      slots("also small", 3, one),
      slots("too many", 2, one),
      slots("d", 2),
    ];
    const { outcomes } = allocate(small(), jobs, mode, now);
    const lack = (more: number) => `cluster: 2 of 2 nodes used, ${more} more needed, 0 left`;
    expect(
      outcomes.map(({ id, asked, placed, reasons }) => [id, asked, placed, ...reasons.map(renderReason)]),
    ).toEqual([
      ["fits", 2, 2],
      ["a", 2, 0, lack(2)],
      ["b", 2, 0, lack(2)],
      ["more", 5, 0, lack(5)],
      ["small", 1, 1],
      ["c", 2, 0, lack(2)],
      ["also small", 3, 1, lack(1)],
      ["too many", 2, 0, lack(1)],
      ["d", 2, 0, lack(2)],
    ]);
  });

  test("a gang that lacks one node", () => {
    const [outcome] = allocate(small(), [ask({ ncpus: 4 }, { nodeCount: 3 })], mode, now).outcomes;
    expect(outcome?.placed).toBe(0);
    expect(outcome?.binding).toEqual({
      kind: "raise",
      raises: [{ of: "limit", limit: { kind: "cluster", name: "", unit: "nodes" }, more: 1 }],
    });
  });
});

/** Without the numbers and buckets that only one of the modes shows. */
const plain = (text: string): string =>
  text
    .replace(/(pool licence: )\d of \d used, /, "$1")
    .replace(/ \(execute\/D4[^)]*\)$/, "")
    .replace(
      /^((no raise of a limit helps: )?)\d VM sizes? of execute|execute\/D4(\/[^:, ]*)?(, execute\/D4\/[^:, ]*)*/,
      "$1execute/D4",
    );
