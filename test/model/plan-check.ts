import type { BucketKey } from "../../src/domain/bucket.ts";
import type { Plan } from "../../src/domain/plan.ts";
import type { ClusterRecord } from "../../src/domain/record.ts";
import type { Books } from "./books.ts";
import type { Creation, Outcome, Stock } from "./floors.ts";
import { linesOf } from "./floors.ts";
import type { Fill, GroupEnd } from "./group-memory.ts";
import { fillsAfter, fillsOf, linesOfFills, unsureKeys } from "./group-memory.ts";
import type { BookedNode } from "./node-book.ts";
import type { Memory } from "./names.ts";
import { follow, isVague, linesOfNames, memoriesOf, resumesOf } from "./names.ts";
import { placeOf } from "./node-book.ts";
import { settleWants } from "./orders.ts";
import type { Other } from "./otherwise.ts";
import { faultOf, isTold } from "./otherwise.ts";
import { POLICY } from "./rig.ts";
import type { TypeName } from "./shape.ts";
import { TYPES } from "./shape.ts";
import type { Want } from "./wants.ts";
import { wantsOf } from "./wants.ts";

/** Compares each plan of the app with the model's: what it stops, pauses and creates, what each demand gets, and the groups that lack nodes. */
export class PlanCheck {
  readonly #books: Books;
  #last: { readonly plan: Plan; readonly wasCompared: boolean } | undefined;

  constructor(books: Books) {
    this.#books = books;
  }

  /** The last plan. Undefined if there was none. */
  get last(): { readonly plan: Plan; readonly wasCompared: boolean } | undefined {
    return this.#last;
  }

  /** The app has committed a plan; `before` is the record that it was made on. */
  planned(plan: Plan, before: ClusterRecord | undefined, after: ClusterRecord): void {
    const { rig, sets, nodes, rest, unhealthy, misfortune, keyOfGroup, score } = this.#books;
    const { now } = rig;
    rest.plan(sets, now, after.restsUntil);
    sets.lapse(now);
    if (misfortune.lastLookWasEmpty) nodes.lookEmpty(now);
    else nodes.look(now);
    const isBlurred =
      misfortune.isBlurred(now) ||
      unhealthy.awaitsAnswers ||
      (before?.intents.length ?? 0) > 0 ||
      after.inFlight.length > 0;
    this.#last = { plan, wasCompared: !isBlurred };
    score.count(isBlurred ? "blurred" : "compared");
    const givenUp = nodes.all.filter((node) => this.#isGivenUp(node));
    for (const node of givenUp) nodes.trouble(placeOf(node.array, node.type));
    this.#noteGivenUpGroups(before, after);
    if (!isBlurred) this.#compare(plan, before, after, givenUp);
    for (const { purpose, bucket } of plan.creates) {
      if (purpose.kind === "group" && bucket.placementGroup !== undefined)
        keyOfGroup.set(bucket.placementGroup, purpose.key);
    }
  }

  #compare(
    plan: Plan,
    before: ClusterRecord | undefined,
    after: ClusterRecord,
    givenUp: readonly BookedNode[],
  ): void {
    const { shape, rig, sets, score } = this.#books;
    const { now } = rig;
    score.compare("stopped nodes", [...plan.terminates].toSorted(), givenUp.map(({ id }) => id).toSorted());
    this.#comparePauses(pausedAt(now, after));
    const fills = fillsOf(before);
    const paused = pausedAt(now, after).filter((bucket) => !isPausedByPlan(bucket, before, after, now));
    const wants = wantsOf(shape, sets.inForce(now));
    const { stock, isSure, memories } = this.#stockOf({ before, wants, paused, fills, givenUp });
    const outcome = settleWants(shape, wants, stock);
    if (outcome.tied || !isSure) return score.count("tied");
    this.#compareNames(plan, wants, stock, memories, after);
    const other: Other = {
      creations: plan.creates.map((effect) => this.#creationOf(effect)),
      placed: new Map(plan.demands.map((one) => [`${one.set}/${one.id}`, one.placed])),
    };
    if (!this.#compareCreates(other, wants, stock, outcome)) return;
    const got = plan.demands.map(({ set, id, placed, asked }) => `${set}/${id}: ${placed} of ${asked}`);
    const ours = wants.map((want) => {
      const has = outcome.placed.get(want);
      const told = isTold(want, wants, other, has) ? other.placed.get(want.by) : has;
      return `${want.by}: ${told} of ${want.count}`;
    });
    score.compare("demands", got.toSorted(), ours.toSorted());
    this.#compareFills(fills, outcome.groups, after);
  }

  /** A bucket may be paused only if something went wrong there. */
  #comparePauses(paused: readonly BucketKey[]): void {
    const { nodes, score } = this.#books;
    for (const { array, machineType } of paused) {
      const place = placeOf(array, machineType);
      if (!nodes.isTroubled(place)) score.differ(`${place} is paused, and nothing ever went wrong there`);
    }
  }

  /** The nodes that count, and what may be added. `isSure`: the model knows which unhealthy nodes the app leaves out. */
  #stockOf({ before, wants, paused, fills, givenUp }: Basis): {
    readonly stock: Stock;
    readonly isSure: boolean;
    readonly memories: Map<string, Memory>;
  } {
    const { rig, nodes, unhealthy, misfortune, keyOfGroup } = this.#books;
    const { now } = rig;
    const isInvalid: Stock["isInvalid"] = (array, type) => misfortune.isInvalid(placeOf(array, type));
    const isShut: Stock["isShut"] = (array, type, group) =>
      isInvalid(array, type) ||
      paused.some(
        (bucket) =>
          bucket.array === array &&
          bucket.machineType === type &&
          (bucket.placementGroup === undefined || bucket.placementGroup === group),
      );
    const replaced = this.#replaced(givenUp);
    const resumes = resumesOf(wants);
    const closed = unhealthy.closed(nodes.believed, replaced, resumes, now);
    const serves = (node: BookedNode): boolean =>
      node.phase !== "stopping" && !replaced.has(node) && !closed.nodes.has(node);
    const shownAs = (name: string) => {
      const alike = nodes.believed.filter((one) => one.name === name);
      const node = alike.find(serves) ?? alike[0];
      return { node, isUsable: node !== undefined && serves(node), gone: nodes.lastWith(name) };
    };
    const known = memoriesOf(before);
    const isSure =
      closed.isSure && ![...resumes.keys()].some((name) => isVague(known.get(name), shownAs(name)));
    const memories = follow(known, resumes, shownAs, now);
    const isBlocked = ([name, { over, earlier, refusedAt }]: readonly [string, Memory]): boolean =>
      [over, earlier, refusedAt].some((one) => one !== undefined) ||
      nodes.believed.some((node) => node.name === name && !serves(node));
    const usable = nodes.believed.filter(serves).map(({ id, name, array, type, group, phase }) => {
      const own = memories.get(name)?.earlier === id ? undefined : name;
      return { name: own, array, type, group, ready: phase === "ready" };
    });
    const patientSince = now - POLICY.groupFillTimeoutSeconds * 1000;
    const blocked = new Set([...memories].filter(isBlocked).map(([name]) => name));
    const there = { usable, holding: nodes.believed, keyOfGroup, blocked };
    return { stock: { ...there, isShut, isInvalid, fills, patientSince }, isSure, memories };
  }

  /** Names for which the plan has no room are refused. */
  #compareNames(
    { creates }: Plan,
    wants: readonly Want[],
    { usable, blocked }: Stock,
    memories: Map<string, Memory>,
    after: ClusterRecord,
  ): void {
    const { score } = this.#books;
    const there = new Set(usable.map(({ name }) => name));
    const made = new Set(creates.map(nameOf));
    let isRefused = false;
    for (const name of resumesOf(wants).keys()) {
      const memory = memories.get(name);
      if (memory === undefined || [there, made, blocked].some((names) => names.has(name))) continue;
      memories.set(name, { ...memory, over: "refused" });
      isRefused = true;
    }
    score.compare("names", linesOfNames(memoriesOf(after)), linesOfNames(memories));
    if (creates.some((one) => nameOf(one) !== undefined)) score.count("namesMade");
    if (isRefused) score.count("namesRefused");
    if ([...resumesOf(wants).keys()].some((name) => there.has(name))) score.count("namesThere");
  }

  /** Whether the app creates what the model creates. Where it does not, its plan may be just as right. */
  #compareCreates(other: Other, wants: readonly Want[], stock: Stock, outcome: Outcome): boolean {
    const { shape, score } = this.#books;
    const [made, expected] = [linesOf(other.creations), linesOf(outcome.creations)].map((lines) =>
      lines.join("; "),
    );
    if (made === expected) return true;
    const fault = faultOf(shape, wants, stock, other, outcome);
    score.count("otherwise");
    if (fault !== undefined)
      score.differ(`creates: the app has [${made}], the model has [${expected}]: ${fault}`);
    return false;
  }

  #compareFills(fills: ReadonlyMap<string, Fill>, groups: readonly GroupEnd[], after: ClusterRecord): void {
    const { rig, nodes, keyOfGroup, score } = this.#books;
    const unsure = unsureKeys(groups);
    const isSure = ([name]: readonly [string, Fill]): boolean => !unsure.has(keyOfGroup.get(name) ?? "");
    const hasNodes = (name: string): boolean => nodes.believed.some(({ group }) => group === name);
    const expected = fillsAfter(fills, groups, hasNodes, rig.now);
    score.compare(
      "groups that lack nodes",
      linesOfFills(new Map([...fillsOf(after)].filter(isSure))),
      linesOfFills(new Map([...expected].filter(isSure))),
    );
  }

  /** After a group is given up, no other group is tried there for a while. */
  #noteGivenUpGroups(before: ClusterRecord | undefined, { groupFills = [] }: ClusterRecord): void {
    const { rig, nodes } = this.#books;
    const { now } = rig;
    const fills = fillsOf(before);
    for (const { bucket, givenUpAt } of groupFills) {
      const since = fills.get(bucket.placementGroup ?? "")?.since ?? now;
      const isDue = now - since >= POLICY.groupFillTimeoutSeconds * 1000;
      if (givenUpAt === now && isDue) nodes.trouble(placeOf(bucket.array, bucket.machineType));
    }
  }

  #creationOf({ bucket, count, purpose }: Plan["creates"][number]): Creation {
    const { array, machineType, placementGroup } = bucket;
    const type: TypeName = TYPES.find((name) => name === machineType) ?? "Small";
    if (purpose.kind === "named") return { array, type, count, name: purpose.name };
    if (purpose.kind !== "group") return { array, type, count };
    // A group may be created again under its name once all its nodes are gone.
    const isKnown = this.#books.nodes.believed.some(
      ({ group }) => group !== undefined && group === placementGroup,
    );
    return { array, type, count, key: purpose.key, ...(isKnown ? { group: placementGroup } : {}) };
  }

  /**
   * Useless nodes that are replaced: at most a tenth of an array's nodes at a time, or 3 if that is more, first those that are listed. The
   * others count as present.
   */
  #replaced(givenUp: readonly BookedNode[]): ReadonlySet<BookedNode> {
    const { shape, nodes } = this.#books;
    const failed = nodes.believed.filter(
      (node) =>
        node.phase === "failed" ||
        // Vanished, and of no use if it is there after all.
        (node.phase === "gone" && (node.seen?.phase === "failed" || this.#isLate(node))),
    );
    const useless = new Set([...failed, ...givenUp]);
    return new Set(
      shape.arrays.flatMap(({ name }) => {
        const here = nodes.believed.filter(({ array }) => array === name);
        const [listed, lost] = [false, true].map((isLost) =>
          here.filter((node) => useless.has(node) && (node.phase === "gone") === isLost),
        );
        return [...(listed ?? []), ...(lost ?? [])].slice(0, Math.max(3, Math.floor(here.length / 10)));
      }),
    );
  }

  /** No observation showed it as Ready, and it has failed or taken too long. */
  #isGivenUp({ phase, seen }: BookedNode): boolean {
    if (phase === "coming") return this.#isLate({ seen });
    return phase === "failed" && seen?.wasReady === false && !this.#books.rest.inPlan;
  }

  /** No observation showed it as Ready within the boot timeout. */
  #isLate({ seen }: Pick<BookedNode, "seen">): boolean {
    if (seen === undefined || seen.wasReady) return false;
    return this.#books.rig.now - seen.firstAt >= POLICY.bootTimeoutSeconds * 1000;
  }
}

/** What a plan begins with. */
interface Basis {
  readonly before: ClusterRecord | undefined;
  readonly wants: readonly Want[];
  readonly paused: readonly BucketKey[];
  readonly fills: ReadonlyMap<string, Fill>;
  readonly givenUp: readonly BookedNode[];
}

const nameOf = ({ purpose }: Plan["creates"][number]): string | undefined =>
  purpose.kind === "named" ? purpose.name : undefined;

const pausedAt = (now: number, { backoffs }: ClusterRecord): readonly BucketKey[] =>
  backoffs.filter(({ until }) => until > now).map(({ bucket }) => bucket);

/** Whether the plan itself pauses a bucket, because it gives up a group there. That counts from the next plan on. */
function isPausedByPlan(
  bucket: BucketKey,
  before: ClusterRecord | undefined,
  { groupFills = [] }: ClusterRecord,
  now: number,
): boolean {
  const isHere = (other: BucketKey): boolean =>
    other.array === bucket.array && other.machineType === bucket.machineType;
  const wasPaused =
    before !== undefined &&
    pausedAt(now, before).some((other) => isHere(other) && other.placementGroup === bucket.placementGroup);
  return (
    !wasPaused &&
    bucket.placementGroup === undefined &&
    groupFills.some((fill) => fill.givenUpAt === now && isHere(fill.bucket))
  );
}
