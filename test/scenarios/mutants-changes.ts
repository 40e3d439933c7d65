import type { Edit } from "../support/mutate.ts";
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
      { in: "memoryDocuments", from: "records?.nameConfiguration(cluster, documentDigest(text));", to: "" },
    ],
    shows: late,
  },
  {
    name: "a decision does not compare its configuration with the record's",
    edits: [
      {
        in: "loadInForce",
        from: "isSame ? held : await policyOf",
        to: "isSame || !isSame ? held : await policyOf",
      },
    ],
    shows: late,
  },
  {
    name: "a decision under another configuration is saved as after a renewal",
    edits: [{ in: "saveAgain", from: "if (!isUnder(made, run.policy)) return undefined;", to: "" }],
    shows: late,
  },
  {
    name: "a save does not copy the name of the configuration",
    edits: [
      {
        in: "memoryRecordStore",
        from: "changes.configuration ?? previous?.version.configuration",
        to: "changes.configuration",
      },
    ],
    shows: { test: "test/contract/configuration-named.test.ts" },
  },
  {
    name: "a save in rows does not copy the name of the configuration",
    edits: [
      {
        in: "TableRecords.save",
        from: "changes.configuration ?? previous?.version.configuration",
        to: "changes.configuration",
      },
    ],
    shows: { test: "test/contract/configuration-named.test.ts" },
  },
  {
    name: "a save whose answer was lost keeps the old name with the new ETag",
    edits: [
      { in: "writeRow", from: "beside: besideManifest(present.values)", to: "beside: besideManifest(row)" },
    ],
    shows: { test: "test/contract/configuration-named.test.ts" },
  },
  {
    name: "a change before there is a record is not named once there is one",
    edits: [{ in: "tableDocuments", from: "if (!isNamed) await", to: "if (isNamed) await" }],
    shows: { test: "test/contract/configuration-named.test.ts" },
  },
  {
    name: "a change begins no plan",
    edits: [{ in: "isCovered", from: "record.plannedUnder === configuration &&", to: "" }],
    shows: { number: "unplanned", bound: 0, seeds: 30 },
  },
  {
    name: "changes do not wait for a plan",
    edits: [
      {
        in: "waitForPlan",
        from: "if (!(await isFirst()) || onlyObserves(",
        to: "if (began > 0 || onlyObserves(",
      },
    ],
    shows: starving,
  },
  {
    name: "a plan that meets changes asks for no priority",
    edits: [
      {
        in: "needsPriority",
        from: "lostPriority(record, now) || grants >= DECIDED_AGAIN || configurations",
        to: "grants",
      },
    ],
    shows: starving,
  },
  {
    name: "a create that was taken over is sent again in an array that is observed",
    edits: [
      {
        in: "resendIntents",
        from: "if (!intent.effect.sets.every(({ bucket }) => maySteer(policy, bucket.array))) continue;",
        to: "",
      },
    ],
    shows: { number: "resent", bound: 0, seeds: 3 },
  },
  {
    name: "a document that cannot be read leaves the one before in force",
    edits: [
      {
        in: "policyFrom",
        from: "return observing(held ?? DEFAULT_POLICY);",
        to: "return held ?? observing(DEFAULT_POLICY);",
      },
    ],
    shows: { test: "test/compose.test.ts" },
  },
  {
    name: "the document is read once",
    edits: [
      { in: "policyReader", from: "now - held.at < POLICY_AGE_MS", to: "now - held.at < Number.MAX_VALUE" },
    ],
    shows: { test: "test/compose.test.ts" },
  },
  {
    name: "the mode of the app setting is not written at the beginning",
    edits: [
      {
        in: "policyReader",
        from: 'if (how === "with-mode")',
        to: 'if (how === "with-mode" && held === undefined)',
      },
    ],
    shows: { test: "test/compose.test.ts" },
  },
  {
    name: "a stop is granted under another configuration than its node was marked under",
    edits: [
      {
        in: "grantStops",
        from: "if (current.policy.document !== policy.document) return { result: undefined };",
        to: "",
      },
    ],
    shows: scene,
  },
  {
    name: "a change that only turns arrays to observe waits for a plan, too",
    edits: [
      { in: "waitForPlan", from: '()) || onlyObserves(await policyOf(cluster, "now"), next', to: "()" },
    ],
    shows: { number: "waited", bound: LONGEST_WAIT, seeds: 5, options: SLOW_PLANS },
  },
  {
    name: "a plan's stops are sent although their array only observes by then",
    edits: [
      {
        in: "withdrawContradicted",
        from: "return array !== undefined && !maySteer(policy, array);",
        to: "return false;",
      },
    ],
    shows: scene,
  },
  {
    name: "all stops of a plan are withdrawn where one of their arrays only observes by then",
    edits: [
      {
        in: "withdrawContradicted",
        from: "const nodes = new Set([...observed, ...contradicted]);",
        to: "const nodes = new Set([...(observed.length > 0 ? effect.nodes : []), ...contradicted]);",
      },
    ],
    shows: scene,
  },
  {
    name: "a trial writes the mode of the app setting",
    edits: [
      {
        in: "onTrial",
        from: "return ({ modeIsDefault: _said, ...policy }) => ({",
        to: "return (policy) => ({",
      },
    ],
    shows: scene,
  },
  {
    name: "a cluster that has been planned before gets the mode of the app setting",
    edits: [
      {
        in: "concludeObservation",
        from: "if (begun.isFirst && run.policy.modeIsDefault === true)",
        to: "if (run.policy.modeIsDefault === true)",
      },
    ],
    shows: scene,
  },
  {
    name: "no plan writes the mode",
    edits: [
      {
        in: "concludeObservation",
        from: "if (begun.isFirst && run.policy.modeIsDefault === true)",
        to: "if (!begun.isFirst && run.policy.modeIsDefault !== true)",
      },
    ],
    shows: scene,
  },
  {
    name: "no trouble says that the app setting decides on the mode",
    edits: [{ in: "describeTroubles", from: "...modeOfSetting(record, policy),", to: "" }],
    shows: troubles,
  },
  {
    name: "the trouble of the mode is there before the first plan",
    edits: [
      { in: "modeOfSetting", from: "modeIsDefault !== true || plan === 0", to: "modeIsDefault !== true" },
    ],
    shows: troubles,
  },
  {
    name: "the trouble of the mode is there where the configuration says one",
    edits: [{ in: "modeOfSetting", from: "modeIsDefault !== true || plan === 0", to: "plan === 0" }],
    shows: troubles,
  },
  {
    name: "a plan that got priority is decided at once",
    edits: [
      {
        in: "concluder",
        from: 'if (isLanding(record, now)) return { result: { kind: "plan-first" } };',
        to: "",
      },
    ],
    shows: { test: "test/app/reconcile/conclude-observation.test.ts" },
  },
  {
    name: "a plan that lost its priority gets no longer one",
    edits: [{ in: "letPlanFirst", from: "if (!lostPriority(record, now)) return", to: "return" }],
    shows: { ...starving, seeds: 100 },
  },
  {
    name: "a plan that lost the longer priority gets it again",
    edits: [
      {
        in: "lostPriority",
        from: "planBy !== undefined && planBy <= now && planSlow !== true;",
        to: "planBy !== undefined && planBy <= now;",
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
