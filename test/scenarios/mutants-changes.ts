import type { Edit } from "../support/product-copy.ts";
import { runInCopy } from "../support/product-copy.ts";
import type { ChangesOptions } from "./changes-stage.ts";

/** The product with one rule of docs/protocol.md (Configuration) left out. */
export interface Mutant {
  readonly name: string;
  readonly edits: readonly Edit[];
  /** What shows it: a number of a played scene that goes beyond its bound, or a test that fails. */
  readonly shows:
    | {
        readonly number: "late" | "unplanned" | "gap" | "resent" | "waited";
        readonly bound: number;
        readonly seeds: number;
        readonly options?: ChangesOptions & { readonly seconds?: number };
      }
    | { readonly test: string };
}

/** Plans that take 8 s. One is saved at least once a minute. */
export const SLOW_PLANS = { planSeconds: 8, seconds: 120 } as const;
export const LONGEST_GAP = 60;
/** A change that only turns arrays to observe never waits: this is what its calls take, in seconds. */
export const LONGEST_WAIT = 1;
const starving = { number: "gap", bound: LONGEST_GAP, seeds: 5, options: SLOW_PLANS } as const;
const scene = { test: "test/scenarios/configuration-changes.test.ts" } as const;
const troubles = { test: "test/app/describe/describe-state.test.ts" } as const;
const late = { number: "late", bound: 0, seeds: 60 } as const;

export const MUTANTS: readonly Mutant[] = [
  {
    name: "a change does not name its configuration in the record",
    edits: [
      {
        file: "src/adapters/memory/stores.ts",
        find: "records?.nameConfiguration(cluster, documentDigest(text));",
        put: "",
      },
    ],
    shows: late,
  },
  {
    name: "a decision does not compare its configuration with the record's",
    edits: [
      {
        file: "src/app/record/load-record.ts",
        find: "isSame ? held : await policyOf",
        put: "isSame || !isSame ? held : await policyOf",
      },
    ],
    shows: late,
  },
  {
    name: "a decision under another configuration is saved as after a renewal",
    edits: [
      {
        file: "src/app/reconcile/conclude-observation.ts",
        find: "  if (!isUnder(made, run.policy)) return undefined;\n",
        put: "",
      },
    ],
    shows: late,
  },
  {
    name: "a save does not copy the name of the configuration",
    edits: [
      {
        file: "src/adapters/memory/record-store.ts",
        find: "changes.configuration ?? previous?.version.configuration",
        put: "changes.configuration",
      },
    ],
    shows: { test: "test/contract/configuration-named.test.ts" },
  },
  {
    name: "a save in rows does not copy the name of the configuration",
    edits: [
      {
        file: "src/adapters/tables/record-store.ts",
        find: "changes.configuration ?? previous?.version.configuration",
        put: "changes.configuration",
      },
    ],
    shows: { test: "test/contract/configuration-named.test.ts" },
  },
  {
    name: "a save whose answer was lost keeps the old name with the new ETag",
    edits: [
      {
        file: "src/adapters/tables/manifest-row.ts",
        find: "beside: besideManifest(present.values)",
        put: "beside: besideManifest(row)",
      },
    ],
    shows: { test: "test/contract/configuration-named.test.ts" },
  },
  {
    name: "a change before there is a record is not named once there is one",
    edits: [
      {
        file: "src/adapters/tables/documents.ts",
        find: "      if (!isNamed) await",
        put: "      if (isNamed) await",
      },
    ],
    shows: { test: "test/contract/configuration-named.test.ts" },
  },
  {
    name: "a change begins no plan",
    edits: [
      {
        file: "src/decide/record/whose-turn.ts",
        find: "    record.plannedUnder === configuration &&\n",
        put: "",
      },
    ],
    shows: { number: "unplanned", bound: 0, seeds: 30 },
  },
  {
    name: "changes do not wait for a plan",
    edits: [
      {
        file: "src/app/record/commit.ts",
        find: "  if (!(await isFirst()) || onlyObserves(",
        put: "  if (began > 0 || onlyObserves(",
      },
    ],
    shows: starving,
  },
  {
    name: "a plan that meets changes asks for no priority",
    edits: [
      {
        file: "src/app/reconcile/conclude-observation.ts",
        find: "lostPriority(record, now) || grants >= DECIDED_AGAIN || configurations >= DECIDED_AGAIN;",
        put: "grants >= DECIDED_AGAIN;",
      },
    ],
    shows: starving,
  },
  {
    name: "a create that was taken over is sent again in an array that is observed",
    edits: [
      {
        file: "src/app/effects/effects.ts",
        find: "    if (!intent.effect.sets.every(({ bucket }) => maySteer(policy, bucket.array))) continue;\n",
        put: "",
      },
    ],
    shows: { number: "resent", bound: 0, seeds: 3 },
  },
  {
    name: "a document that cannot be read leaves the one before in force",
    edits: [
      {
        file: "src/compose/policy-reader.ts",
        find: "return observing(held ?? DEFAULT_POLICY);",
        put: "return held ?? observing(DEFAULT_POLICY);",
      },
    ],
    shows: { test: "test/compose.test.ts" },
  },
  {
    name: "the document is read once",
    edits: [
      {
        file: "src/compose/policy-reader.ts",
        find: "now - held.at < POLICY_AGE_MS",
        put: "now - held.at < Number.MAX_VALUE",
      },
    ],
    shows: { test: "test/compose.test.ts" },
  },
  {
    name: "the mode of the app setting is not written at the beginning",
    edits: [
      {
        file: "src/compose/policy-reader.ts",
        find: 'if (how === "with-mode")',
        put: 'if (how === "with-mode" && held === undefined)',
      },
    ],
    shows: { test: "test/compose.test.ts" },
  },
  {
    name: "a stop is granted under another configuration than its node was marked under",
    edits: [
      {
        file: "src/app/autostop/grant-stops.ts",
        find: "    if (current.policy.document !== policy.document) return { result: undefined };\n",
        put: "",
      },
    ],
    shows: scene,
  },
  {
    name: "a change that only turns arrays to observe waits for a plan, too",
    edits: [
      {
        file: "src/app/record/commit.ts",
        find: '  if (!(await isFirst()) || onlyObserves(await policyOf(cluster, "now"), next)) return;\n',
        put: "  if (!(await isFirst())) return;\n",
      },
    ],
    shows: { number: "waited", bound: LONGEST_WAIT, seeds: 5, options: SLOW_PLANS },
  },
  {
    name: "a plan's stops are sent although their array only observes by then",
    edits: [
      {
        file: "src/app/reconcile/reconcile-cluster.ts",
        find: "return array !== undefined && !maySteer(policy, array);",
        put: "return false;",
      },
    ],
    shows: scene,
  },
  {
    name: "all stops of a plan are withdrawn where one of their arrays only observes by then",
    edits: [
      {
        file: "src/app/reconcile/reconcile-cluster.ts",
        find: "const nodes = new Set([...observed, ...contradicted]);",
        put: "const nodes = new Set([...(observed.length > 0 ? effect.nodes : []), ...contradicted]);",
      },
    ],
    shows: scene,
  },
  {
    name: "a trial writes the mode of the app setting",
    edits: [
      {
        file: "src/compose/policy-reader.ts",
        find: "return ({ modeIsDefault: _said, ...policy }) => ({",
        put: "return (policy) => ({",
      },
    ],
    shows: scene,
  },
  {
    name: "a cluster that has been planned before gets the mode of the app setting",
    edits: [
      {
        file: "src/app/reconcile/reconcile-cluster.ts",
        find: "if (begun.isFirst && run.policy.modeIsDefault === true)",
        put: "if (run.policy.modeIsDefault === true)",
      },
    ],
    shows: scene,
  },
  {
    name: "no plan writes the mode",
    edits: [
      {
        file: "src/app/reconcile/reconcile-cluster.ts",
        find: "if (begun.isFirst && run.policy.modeIsDefault === true)",
        put: "if (!begun.isFirst && run.policy.modeIsDefault !== true)",
      },
    ],
    shows: scene,
  },
  {
    name: "no trouble says that the app setting decides on the mode",
    edits: [
      {
        file: "src/app/describe/describe-troubles.ts",
        find: "    ...modeOfSetting(record, policy),\n",
        put: "",
      },
    ],
    shows: troubles,
  },
  {
    name: "the trouble of the mode is there before the first plan",
    edits: [
      {
        file: "src/app/describe/describe-troubles.ts",
        find: "modeIsDefault !== true || plan === 0",
        put: "modeIsDefault !== true",
      },
    ],
    shows: troubles,
  },
  {
    name: "the trouble of the mode is there where the configuration says one",
    edits: [
      {
        file: "src/app/describe/describe-troubles.ts",
        find: "modeIsDefault !== true || plan === 0",
        put: "plan === 0",
      },
    ],
    shows: troubles,
  },
  {
    name: "a plan that got priority is decided at once",
    edits: [
      {
        file: "src/app/reconcile/conclude-observation.ts",
        find: '    if (isLanding(record, now)) return { result: { kind: "plan-first" } };\n',
        put: "",
      },
    ],
    shows: { test: "test/app/reconcile/conclude-observation.test.ts" },
  },
  {
    name: "a plan that lost its priority gets no longer one",
    edits: [
      {
        file: "src/decide/pace/observation-times.ts",
        find: "  if (!lostPriority(record, now)) return",
        put: "  return",
      },
    ],
    shows: { ...starving, seeds: 100 },
  },
  {
    name: "a plan that lost the longer priority gets it again",
    edits: [
      {
        file: "src/decide/pace/observation-times.ts",
        find: "planBy !== undefined && planBy <= now && planSlow !== true;",
        put: "planBy !== undefined && planBy <= now;",
      },
    ],
    shows: { test: "test/decide/pace/observation-times.test.ts" },
  },
];

/** Plays the scene of a mutant in a copy of the product. Returns the number that shows it. */
export async function playScene(
  edits: readonly Edit[],
  { number, bound, seeds, options = {} }: Extract<Mutant["shows"], { readonly number: string }>,
): Promise<number> {
  const args = [number, String(bound), String(seeds), JSON.stringify(options)];
  const folders = ["scenarios", "simulation", "support"];
  const { stdout } = await runInCopy(edits, folders, "test/scenarios/run-changes.ts", args);
  const { found }: { readonly found: Readonly<Record<string, number>> } = JSON.parse(stdout);
  return found[number] ?? 0;
}
