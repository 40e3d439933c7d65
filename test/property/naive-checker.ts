import type { Allocation } from "../../src/domain/allocation.ts";
import type { Cap, World } from "../../src/domain/world.ts";
import type { RankedDemand } from "../../src/domain/demand.ts";
import type { Instant } from "../../src/domain/units.ts";
import { floorFaults } from "./naive-floors.ts";
import { jobFaults } from "./naive-jobs.ts";
import { namedFaults } from "./naive-named.ts";
import type { NaiveNode, Sheet } from "./naive-nodes.ts";
import { jobsOf, layOut, nameOf, outcomeOf } from "./naive-nodes.ts";
import { placeFaults } from "./naive-places.ts";
import { wasteFaults } from "./naive-waste.ts";

/**
 * Judges an allocation by counting, one thing at a time and with no regard to speed. Shares nothing with src/decide: it adds up what the
 * answer says and holds it against the world and the demands. Answers with sentences, one for each broken rule.
 */
export function findFaults(
  world: World,
  demands: readonly RankedDemand[],
  answer: Allocation,
  now: Instant,
): readonly string[] {
  const sheet = layOut(world, demands, answer);
  return [
    ...sheet.faults,
    ...outcomeFaults(sheet),
    ...unknownNodes(sheet),
    ...placeFaults(world, answer, now),
    ...jobFaults(sheet),
    ...floorFaults(sheet),
    ...namedFaults(sheet),
    ...capFaults(sheet),
    ...wasteFaults(sheet, now),
  ];
}

/** P2: placed + unmet = asked, in each demand's unit, with a reason for all that is unmet, and a remedy or what stands against it. */
function outcomeFaults(sheet: Sheet): readonly string[] {
  const faults: string[] = [];
  const { outcomes } = sheet.answer;
  if (outcomes.length !== sheet.demands.length) faults.push(`${outcomes.length} outcomes`);
  for (const ranked of sheet.demands) {
    const outcome = outcomeOf(sheet, ranked);
    const name = nameOf(ranked);
    if (outcome === undefined) {
      faults.push(`${name} has no outcome`);
      continue;
    }
    const { placed, pending, reasons } = outcome;
    const asked = askedBy(ranked.demand);
    if (outcome.asked !== asked) faults.push(`${name} asked ${asked}, not ${outcome.asked}`);
    if (!(placed >= 0 && placed <= asked)) faults.push(`${name}: ${placed} placed of ${asked}`);
    if (!(pending >= 0 && pending <= placed)) faults.push(`${name}: ${pending} pending of ${placed}`);
    if (placed < asked !== reasons.length > 0)
      faults.push(`${name}: ${placed} placed of ${asked} with ${reasons.length} reasons`);
    if (placed < asked && !isTold(outcome))
      faults.push(`${name}: nobody says what would place it, or what stands`);
  }
  return faults;
}

/** A remedy that says what, or what stands against it, which is no limit. */
function isTold({ reasons, binding }: Allocation["outcomes"][number]): boolean {
  if (reasons.some(({ code }) => code === "too-many-unmet")) return true;
  if (binding?.kind === "raise") return binding.raises.length > 0;
  return binding !== undefined && !(binding.kind === "no-raise" && binding.reason.code === "limit-reached");
}

function askedBy(demand: RankedDemand["demand"]): number {
  switch (demand.kind) {
    case "target":
      return demand.amount.count;
    case "groups":
      return demand.groups;
    case "job":
      return demand.iterations * (demand.nodeCount ?? 1);
  }
}

function unknownNodes({ world, answer }: Sheet): readonly string[] {
  const known = new Set(world.nodes.map(({ nodeId }) => nodeId));
  return [...answer.needed.keys()]
    .filter((id) => !known.has(id))
    .map((id) => `${id} is needed and not there`);
}

/** P3: no owner has more than the cap, unless it runs already, or is there and named by a target of the owner: then the cap may not stop it. */
function capFaults(sheet: Sheet): readonly string[] {
  return (sheet.world.caps ?? []).flatMap((cap) => {
    const owned = new Set(
      jobsOf(sheet.demands)
        .filter(({ set, demand }) => cap.name === (cap.kind === "user" ? demand.user : set))
        .map(nameOf),
    );
    const all = sheet.nodes.filter(({ jobs }) => jobs.some(({ by }) => owned.has(by)));
    const named = new Set(
      sheet.demands.flatMap(({ set, demand }) =>
        demand.kind === "target" && cap.kind === "request-set" && set === cap.name
          ? (demand.named?.names ?? [])
          : [],
      ),
    );
    const bound = all.filter(
      ({ jobs, origin, name = "" }) =>
        jobs.some((part) => owned.has(part.by) && part.bound) || (origin !== "planned" && named.has(name)),
    );
    const held = measure(cap, all);
    // What runs already stays; then nothing may come on top of it.
    const isForced = all.length === bound.length;
    const everything = isAlone(sheet, cap) ? measure(cap, sheet.nodes.filter(isNewlyNeeded)) : 0;
    return [
      ...(held > cap.max && !isForced
        ? [`${cap.kind} ${cap.name}: ${held} ${cap.unit} held of ${cap.max}`]
        : []),
      ...(everything > cap.max
        ? [`${cap.kind} ${cap.name}: ${everything} ${cap.unit} come of ${cap.max}`]
        : []),
    ];
  });
}

/** All that comes into being is for this set. */
function isAlone({ demands }: Sheet, { kind, name }: Cap): boolean {
  return kind === "request-set" && demands.every(({ set }) => set === name);
}

const isNewlyNeeded = ({ origin }: NaiveNode): boolean => origin === "planned";

const measure = ({ unit }: Cap, nodes: readonly NaiveNode[]): number =>
  nodes.reduce((total, { cores }) => total + (unit === "nodes" ? 1 : cores), 0);
