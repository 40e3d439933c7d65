import * as z from "zod";
import type { Problem, RejectedJob, RequestSetUpdate } from "../domain/demand.ts";
import type { ClusterName } from "../domain/ids.ts";
import { arrayName, machineType, setName } from "../domain/ids.ts";
import type { Mode } from "../domain/mode.ts";
import type { Policy } from "../domain/policy.ts";
import type { Instant } from "../domain/units.ts";
import { plusSeconds } from "../domain/units.ts";
import type { LimitChange, WhatIf } from "../domain/what-if.ts";
import { BOUNDS } from "./json/bounds.ts";
import { decodeMessage, MOST_OVER_HTTP } from "./json/decode.ts";
import { emptyRequestSet, readRequestSet } from "./message/demand-message.ts";
import { isName, NAME_EXPECTED } from "./json/name.ts";
import { readPolicy } from "./policy/policy.ts";
import type { Refusal } from "./policy/refusals.ts";
import { refuseSenders } from "./policy/refusals.ts";
import { writePolicy } from "./policy/write-policy.ts";
import { problemAt, problemShowing } from "./json/problem.ts";
import { addSchemaProblems } from "./json/schema-problems.ts";
import { Problems } from "./json/problems.ts";
import { limitSchema, whatIfSchema, keysAt } from "./message/what-if-schema.ts";
import { withoutAbsent } from "../domain/without-absent.ts";
import type { Fields } from "../domain/fields.ts";
import { isFields } from "../domain/fields.ts";

interface WhatIfContext {
  readonly cluster: ClusterName;
  /** The document in force. */
  readonly policy: Policy;
  /** AUTOSCALER_DEFAULT_MODE. Absent: `act`. */
  readonly defaultMode?: Mode;
  readonly now: Instant;
}

type WhatIfRead =
  | {
      readonly kind: "what-if";
      readonly whatIf: WhatIf;
      /** Jobs that could not be read and are left out, by set. */
      readonly rejectedJobs: readonly RejectedOfSet[];
    }
  | { readonly kind: "problems"; readonly problems: readonly Problem[]; readonly tooLarge?: true };

export interface RejectedOfSet {
  readonly requestSet: string;
  readonly jobs: readonly RejectedJob[];
}

/** Reads the body of a dry run. An empty one changes nothing. Reports all problems at once, each with its path. Never throws. */
export function readWhatIf(body: Uint8Array, context: WhatIfContext): WhatIfRead {
  const decoded = body.length === 0 ? NOTHING_CHANGED : decodeMessage(body, MOST_OVER_HTTP);
  if (decoded.kind === "problem") {
    const { problem, tooLarge } = decoded;
    return { kind: "problems", problems: [problem], ...withoutAbsent({ tooLarge }) };
  }
  const { value } = decoded;
  const parsed = whatIfSchema.safeParse(value);
  const fields = isFields(value) ? value : {};
  const problems = new Problems();
  if (!parsed.success) addSchemaProblems(problems, parsed.error, value, keysAt);
  const policy = readConfig(fields["config"], context, problems);
  const updates = readSets(fields["requestSets"], context, policy, problems);
  if (!parsed.success || problems.count > 0) {
    return { kind: "problems", problems: problems.all() };
  }
  const { limits = [], buckets = [] } = parsed.data;
  return {
    kind: "what-if",
    whatIf: {
      policy,
      updates,
      limits: limits.map(lowerLimit),
      buckets: buckets.map((bucket) => ({
        array: arrayName(bucket.nodearray),
        machineType: machineType(bucket.machineType),
        enabled: bucket.enabled,
      })),
    },
    rejectedJobs: updates
      .map(({ set, demand }) => ({ requestSet: set, jobs: demand?.rejectedJobs ?? [] }))
      .filter(({ jobs }) => jobs.length > 0),
  };
}

const NOTHING_CHANGED = { kind: "value", value: {} } as const;

function lowerLimit({ kind, name, unit, more, max }: z.infer<typeof limitSchema>): LimitChange {
  return { kind, name, unit, change: max === undefined ? { more: more ?? 0 } : { max } };
}

/** Keys that replace ours for the same setting, instead of being used beside it. */
const SAME: Readonly<Record<string, string>> = {
  idle_timeout: "idleTimeout",
  boot_timeout: "bootTimeout",
  enabled: "mode",
};

/** The configuration in force with these keys replaced. Read as a whole, so that contradictions are found. */
function readConfig(value: unknown, { policy, defaultMode }: WhatIfContext, problems: Problems): Policy {
  if (!isFields(value)) return policy;
  const tooMany = refuseSenders(value);
  if (tooMany.length > 0) {
    problems.addBelow("config", problemsOf(tooMany));
    return policy;
  }
  const document: Record<string, unknown> = { ...writePolicy(policy) };
  for (const [key, changed] of Object.entries(value)) {
    const ours = SAME[key];
    if (ours !== undefined) delete document[ours];
    if (key === "nodearrays" && isFields(changed)) delete document["placementGroups"];
    if (changed === null) delete document[key];
    else document[key] = changed;
  }
  const read = readPolicy(document, defaultMode, "store");
  if (read.kind === "problems") {
    problems.addBelow("config", read.problems);
    return policy;
  }
  // What is stored stays in force. What the dry run says comes through a door.
  const isChanged = ({ problem: { path } }: Refusal): boolean => Object.hasOwn(value, firstKey(path));
  problems.addBelow("config", problemsOf(read.refused.filter(isChanged)));
  return { ...read.policy, ...ofSettings(policy) };
}

const problemsOf = (refusals: readonly Refusal[]): readonly Problem[] =>
  refusals.map(({ problem }) => problem);

const firstKey = (path: string): string => path.slice(0, Math.max(0, path.search(/[.[]|$/)));

/** Settings of the server. They come from the app settings and are in no document. */
function ofSettings(policy: Policy) {
  const { callLimitSeconds, lagSeconds, parallelCreates, insecure, planSteps } = policy;
  return {
    callLimitSeconds,
    lagSeconds,
    parallelCreates,
    ...withoutAbsent({ insecure, planSteps }),
  };
}

/** Newer than every revision that a set may hold. */
const NEWEST = { value: Number.MAX_SAFE_INTEGER, tieBreak: "" };

function readSets(
  value: unknown,
  context: WhatIfContext,
  policy: Policy,
  problems: Problems,
): readonly RequestSetUpdate[] {
  if (!isFields(value)) return [];
  const jobs = Object.values(value).reduce<number>((sum, demand) => sum + jobsIn(demand), 0);
  if (jobs > BOUNDS.jobs) {
    const [found, expected] = [`${jobs} jobs in all sets`, `at most ${BOUNDS.jobs} jobs`];
    problems.add(() => ({ path: "requestSets", found, expected }));
    return [];
  }
  return Object.entries(value).flatMap(([name, demand]) => {
    if (!isName(name)) {
      problems.add(() => problemShowing("requestSets", name, NAME_EXPECTED));
      return [];
    }
    const path = `requestSets.${name}`;
    const update =
      demand === null ? emptied(name, context, policy) : readSet(name, demand, path, context, problems);
    return update === undefined ? [] : [{ ...update, revision: NEWEST }];
  });
}

const jobsIn = (demand: unknown): number =>
  isFields(demand) && Array.isArray(demand["jobs"]) ? demand["jobs"].length : 0;

function emptied(name: string, { cluster, now }: WhatIfContext, policy: Policy): RequestSetUpdate {
  return emptyRequestSet(cluster, setName(name), NEWEST, now, policy.maxExpirationSeconds);
}

/** A demand that stays in force however long reading takes: times are not part of the question. */
function readSet(
  name: string,
  demand: unknown,
  path: string,
  { cluster, now, policy }: WhatIfContext,
  problems: Problems,
): RequestSetUpdate | undefined {
  if (!isFields(demand)) {
    problems.add(() => problemAt(path, demand, "an object: what the set asks for, or null"));
    return undefined;
  }
  const message: Fields = { version: 1, ...demand };
  const read = readRequestSet(message, {
    cluster,
    set: setName(name),
    now,
    maxExpirationSeconds: policy.maxExpirationSeconds,
  });
  if (read.kind === "update") {
    return { ...read.update, expiresAt: plusSeconds(now, policy.maxExpirationSeconds) };
  }
  if (read.kind === "rejected") problems.addBelow(path, read.problems);
  return undefined;
}
