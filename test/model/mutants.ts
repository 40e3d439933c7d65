import type { Edit, Ended } from "../support/product-copy.ts";
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
        file: "src/decide/place/targets.ts",
        find: "const reached = neededSoFar(draft, unit, scope);",
        put: "const reached = { ...neededSoFar(draft, unit, scope), have: 0, ready: 0 };",
      },
    ],
    sequences: 10,
  },
  {
    name: "a set never lapses",
    edits: [
      {
        file: "src/decide/record/lapse.ts",
        find: "entry.expiresAt > now) continue;",
        put: "entry.live) continue;",
      },
    ],
    sequences: 10,
  },
  {
    name: "an older revision is accepted",
    edits: [
      {
        file: "src/decide/record/accept.ts",
        find: "held !== undefined && order < 0",
        put: "order === -Infinity",
      },
    ],
    sequences: 10,
  },
  {
    name: "of two demands of one revision the later counts",
    edits: [
      {
        file: "src/decide/record/accept.ts",
        find: " || compareText(update.digest, held.digest)",
        put: " || 1",
      },
    ],
    sequences: 40,
  },
  {
    name: "a report that came before a demand outlives it",
    edits: [
      {
        file: "src/decide/record/accept.ts",
        find: "separateReports: withoutOlder(record.separateReports, update),",
        put: "",
      },
    ],
    sequences: 10,
  },
  {
    name: "a report that is older than the demand counts",
    edits: [
      {
        file: "src/decide/record/accept.ts",
        find: "compareRevisions(entry.revision, stated.revision) < 0",
        put: "stated.live === undefined",
      },
    ],
    sequences: 10,
  },
  {
    name: "pools alone are taken for an emptied set",
    edits: [
      {
        file: "src/decide/record/accept.ts",
        find: 'const field = part === "pools" ? "separatePools" : "separateReports";',
        put: 'const field = part === "pools" ? "sets" : "separateReports";',
      },
    ],
    sequences: 10,
  },
  {
    name: "a lapsed set forgets its revision at once",
    edits: [
      {
        file: "src/decide/record/lapse.ts",
        find: "plusSeconds(entry.expiresAt, keepRevisionSeconds + REVISION_LEEWAY_SECONDS) <= now",
        put: "entry.expiresAt <= now",
      },
    ],
    sequences: 10,
  },
  {
    name: "an emptied set, as DELETE makes it, keeps what it asked for",
    edits: [
      {
        file: "src/decide/record/accept.ts",
        find: "  const entry = withContent(entryOf(update, held, now), held);\n",
        put: "  const entry = held?.live === true && update.demand.demands.length === 0 ? { ...held, revision: update.revision, expiresAt: update.expiresAt } : withContent(entryOf(update, held, now), held);\n",
      },
    ],
    sequences: 20,
  },
  {
    name: "cores are rounded down",
    edits: [
      {
        file: "src/decide/place/targets.ts",
        find: "const wanted = Math.ceil((asked - reached.have) / each);",
        put: "const wanted = Math.floor((asked - reached.have) / each);",
      },
    ],
    sequences: 10,
  },
  {
    name: "the order of the sizes that a target names is not heeded",
    edits: [
      {
        file: "src/decide/bins/scope.ts",
        find: "offers.sort((a, b) => listed(a.bucket.machineType) - listed(b.bucket.machineType));",
        put: "offers.sort(() => 0);",
      },
    ],
    sequences: 20,
  },
  {
    name: "who takes any size goes before who takes few",
    edits: [
      {
        file: "src/decide/search/hardest-first.ts",
        find: "a.breadth - b.breadth",
        put: "b.breadth - a.breadth",
      },
    ],
    sequences: 200,
  },
  {
    name: "the groups of two sets add up",
    edits: [
      {
        file: "src/decide/place/groups.ts",
        find: "if (!mayHold(draft, asked.set, group)) return;",
        put: "if (!mayHold(draft, asked.set, group) || tally.counted.has(group.place.index)) return;",
      },
    ],
    sequences: 120,
  },
  {
    name: "a group may be made of less than its size",
    edits: [
      {
        file: "src/decide/place/groups.ts",
        find: "  if (!isWhole(group)) {\n",
        put: "  if (group.nodes === 0) {\n",
      },
    ],
    sequences: 50,
  },
  {
    name: "a group that lacks nodes is replaced at once",
    edits: [{ file: "src/decide/place/groups.ts", find: "if (!mayPass(refusal)) return;", put: "return;" }],
    sequences: 100,
  },
  {
    name: "a group that lacks nodes is waited for for ever",
    edits: [
      {
        file: "src/decide/place/groups.ts",
        find: "draft.now >= fillsUntil(draft, group)",
        put: "draft.now < 0",
      },
    ],
    sequences: 400,
  },
  {
    name: "a group's time to be filled begins anew with each plan",
    edits: [
      { file: "src/decide/place/group-report.ts", find: "since: before ?? now }", put: "since: now }" },
    ],
    sequences: 100,
  },
  {
    name: "what is unmet gets no second chance",
    edits: [
      {
        file: "src/decide/search/improve.ts",
        find: "of unmetFirst(best, entries)",
        put: "of unmetFirst(best, [])",
      },
    ],
    sequences: 100,
  },
  {
    name: "the array's own limit is not heeded",
    edits: [
      {
        file: "src/decide/world/ceilings.ts",
        find: '      ...this.#counted("nodearray", array.name, array.limit, usage.array, bucket),\n',
        put: "",
      },
    ],
    sequences: 60,
  },
  {
    name: "a node that is on its way stands in for one that asks to stop",
    edits: [
      {
        file: "src/decide/need/spare.ts",
        find: "amongReady(trials, planned, spare, plan)",
        put: "spare",
      },
    ],
    sequences: 450,
  },
  {
    name: "nodes that ask at once are judged each by itself",
    edits: [
      {
        file: "src/decide/need/spare.ts",
        find: "  const spare = notNeeded(candidates, last);\n",
        put: "  const spare = candidates;\n  if (last.needed.size >= 0) return { spare, plan: last };\n",
      },
    ],
    sequences: 10,
  },
  {
    name: "a lapse kills",
    edits: [
      {
        file: "src/decide/reconcile/judge-nodes.ts",
        find: '    if (action.kind === "terminate") terminates.push(nodeId);\n',
        put: '    if (action.kind === "terminate" || (record.sets.size > 0 && ![...record.sets.values()].some(({ live }) => live))) terminates.push(nodeId);\n',
      },
    ],
    sequences: 20,
  },
  {
    name: "a stop that was sent long ago is promised for ever",
    edits: [
      {
        file: "src/decide/autostop/stop-objections.ts",
        find: "if (isStopFresh(known, { ...view, at: view.seenAt ?? now })) return",
        put: "if (known.draining?.sentAt !== undefined) return",
      },
    ],
    sequences: 400,
  },
];

/** Plays sequences through a mutant, in a process of its own. `args` are those of main.ts. */
export function playMutant({ edits }: Mutant, args: readonly string[]): Promise<Ended> {
  return runInCopy(edits, ["model", "simulation", "support"], "test/model/main.ts", args);
}
