import type { Edit } from "../support/mutate.ts";
import type { Ended } from "../support/product-copy.ts";
import { runInCopy } from "../support/product-copy.ts";

/** The product with one rule of targets and request sets left out: the model must find it. */
export interface Mutant {
  readonly name: string;
  readonly edits: readonly Edit[];
  /** Sequences to play: about five times as many as it took when this was written. */
  readonly sequences: number;
}

export const MUTANTS: readonly Mutant[] = [
  {
    name: "the targets of two sets add up",
    edits: [
      {
        in: "placeTarget",
        from: "const reached = neededSoFar(draft, unit, scope);",
        to: "const reached = { ...neededSoFar(draft, unit, scope), have: 0, ready: 0 };",
      },
    ],
    sequences: 10,
  },
  {
    name: "a set never lapses",
    edits: [{ in: "lapseSets", from: "entry.expiresAt > now) continue;", to: "entry.live) continue;" }],
    sequences: 10,
  },
  {
    name: "an older revision is accepted",
    edits: [{ in: "acceptWhole", from: "held !== undefined && order < 0", to: "order === -Infinity" }],
    sequences: 10,
  },
  {
    name: "of two demands of one revision the later counts",
    edits: [{ in: "compareDemands", from: "|| compareText(update.digest, held.digest)", to: "|| 1" }],
    sequences: 40,
  },
  {
    name: "a report that came before a demand outlives it",
    edits: [
      { in: "acceptWhole", from: "separateReports: withoutOlder(record.separateReports, update),", to: "" },
    ],
    sequences: 10,
  },
  {
    name: "a report that is older than the demand counts",
    edits: [
      {
        in: "joinSeparate",
        from: "compareRevisions(entry.revision, stated.revision) < 0",
        to: "stated.live === undefined",
      },
    ],
    sequences: 10,
  },
  {
    name: "pools alone are taken for an emptied set",
    edits: [
      {
        in: "joinSeparate",
        from: 'const field = part === "pools" ? "separatePools" : "',
        to: 'const field = part === "pools" ? "sets" : "',
      },
    ],
    sequences: 10,
  },
  {
    name: "a lapsed set forgets its revision at once",
    edits: [
      {
        in: "lapseSets",
        from: "plusSeconds(entry.expiresAt, keepRevisionSeconds + REVISION_LEEWAY_SECONDS)",
        to: "entry.expiresAt",
      },
    ],
    sequences: 10,
  },
  {
    name: "an emptied set, as DELETE makes it, keeps what it asked for",
    edits: [
      {
        in: "acceptWhole",
        from: "const entry = withContent(entryOf(update, held, now), held);",
        to: "const entry = held?.live === true && update.demand.demands.length === 0 ? { ...held, revision: update.revision, expiresAt: update.expiresAt } : withContent(entryOf(update, held, now), held);",
      },
    ],
    sequences: 20,
  },
  {
    name: "cores are rounded down",
    edits: [
      {
        in: "placeTarget",
        from: "const wanted = Math.ceil((asked - reached.have) / each);",
        to: "const wanted = Math.floor((asked - reached.have) / each);",
      },
    ],
    sequences: 10,
  },
  {
    name: "the order of the sizes that a target names is not heeded",
    edits: [
      {
        in: "scopeOf",
        from: "a, b) => listed(a.bucket.machineType) - listed(b.bucket.machineType)",
        to: ") => 0",
      },
    ],
    sequences: 20,
  },
  {
    name: "who takes any size goes before who takes few",
    edits: [{ in: "EqualEntries.inOrder", from: "a.breadth - b.breadth", to: "b.breadth - a.breadth" }],
    sequences: 200,
  },
  {
    name: "the groups of two sets add up",
    edits: [
      {
        in: "countGroup",
        from: "if (!mayHold(draft, asked.set, group)) return;",
        to: "if (!mayHold(draft, asked.set, group) || tally.counted.has(group.place.index)) return;",
      },
    ],
    sequences: 120,
  },
  {
    name: "a group may be made of less than its size",
    edits: [{ in: "countGroup", from: "if (!isWhole(group)) {", to: "if (group.nodes === 0) {" }],
    sequences: 50,
  },
  {
    name: "a group that lacks nodes is replaced at once",
    edits: [{ in: "countGroup", from: "if (!mayPass(refusal)) return;", to: "return;" }],
    sequences: 100,
  },
  {
    name: "a group that lacks nodes is waited for for ever",
    edits: [{ in: "countGroup", from: "draft.now >= fillsUntil(draft, group)", to: "draft.now < 0" }],
    sequences: 400,
  },
  {
    name: "a group's time to be filled begins anew with each plan",
    edits: [{ in: "stageOf", from: "since: before ?? now }", to: "since: now }" }],
    sequences: 100,
  },
  {
    name: "what is unmet gets no second chance",
    edits: [{ in: "giveChances", from: "of unmetFirst(best, entries)", to: "of unmetFirst(best, [])" }],
    sequences: 100,
  },
  {
    name: "the array's own limit is not heeded",
    edits: [
      {
        in: "Ceilings.shared",
        from: '...this.#counted("nodearray", array.name, array.limit, usage.array, bucket),',
        to: "",
      },
    ],
    sequences: 60,
  },
  {
    name: "a node that is on its way stands in for one that asks to stop",
    edits: [{ in: "findSpare", from: "amongReady(trials, planned, spare, plan)", to: "spare" }],
    sequences: 450,
  },
  {
    name: "nodes that ask at once are judged each by itself",
    edits: [
      {
        in: "spareIn",
        from: "const spare = notNeeded(candidates, last);",
        to: "const spare = candidates;\n  if (last.needed.size >= 0) return { spare, plan: last };",
      },
    ],
    sequences: 10,
  },
  {
    name: "a lapse kills",
    edits: [
      {
        in: "judgeNodes",
        from: 'if (action.kind === "terminate") terminates.push(nodeId);',
        to: 'if (action.kind === "terminate" || (on.record.sets.size > 0 && ![...on.record.sets.values()].some(({ live }) => live))) terminates.push(nodeId);',
      },
    ],
    sequences: 20,
  },
  {
    name: "a stop that was sent long ago is promised for ever",
    edits: [
      {
        in: "judgeStop",
        from: "if (isStopFresh(known, { ...view, at: view.seenAt ?? now }))",
        to: "if (known.draining?.sentAt !== undefined)",
      },
    ],
    sequences: 400,
  },
  {
    name: "a name that exists is made again",
    edits: [
      {
        in: "placeNamed",
        from: "const bin = named.of(bins, name);",
        to: "const bin = bins.budget.isSpent ? named.of(bins, name) : undefined;",
      },
    ],
    sequences: 10,
  },
  {
    name: "a name that two sets ask for is made for both",
    edits: [{ in: "placeNamed", from: "named.add(bins, name, bin);", to: "" }],
    sequences: 10,
  },
  {
    name: "the node of a name is not needed once it is up",
    edits: [{ in: "claimNamed", from: "|| isToCome(bins, bin)", to: "|| bins.isReady(bin)" }],
    sequences: 10,
  },
  {
    name: "nodes by name have no limits",
    edits: [{ in: "makeNames", from: "draft.capacity.room(offer, group)", to: "left.length" }],
    sequences: 20,
  },
  {
    name: "of names that are needed together some are made",
    edits: [{ in: "makeNames", from: "&& room < left.length) continue;", to: "&& room < 0) continue;" }],
    sequences: 110,
  },
  {
    name: "a name that was refused is asked for again with each plan",
    edits: [{ in: "followOne", from: "if (end !== undefined)", to: 'if (end?.state === "failed")' }],
    sequences: 10,
  },
  {
    name: "a name whose node failed is made again for the same resume",
    edits: [{ in: "followOne", from: "if (isIts && (", to: "if (now < 0 && isIts && (" }],
    sequences: 10,
  },
  {
    name: "a node that was up before the resume of its name is needed",
    edits: [{ in: "begin", from: "...(isEarlier ? { earlier: node.nodeId } : {})", to: "" }],
    sequences: 20,
  },
  {
    name: "targets and nodes by name add up",
    edits: [
      { in: "hardnessOf", from: "isNamed(entry) ? 0 : 9", to: "9" },
      { in: "byKind", from: "...targets.filter(isNamed),", to: "" },
      { in: "byKind", from: "...others];", to: "...targets];" },
    ],
    sequences: 140,
  },
];

/** Plays sequences through a mutant, in a process of its own. `args` are those of main.ts. */
export function playMutant({ edits }: Mutant, args: readonly string[]): Promise<Ended> {
  return runInCopy(edits, ["model", "simulation", "support"], "test/model/main.ts", args);
}
