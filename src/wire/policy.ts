import type { ConfiguredGroups } from "../domain/configured-groups.ts";
import type { DefaultResource } from "../domain/default-resource.ts";
import { arrayName } from "../domain/ids.ts";
import type { Mode } from "../domain/mode.ts";
import { DEFAULT_CALL_BOUNDS, DEFAULT_POLICY, type Policy } from "../domain/policy.ts";
import { catalogueOf } from "../domain/vm-size-data.ts";
import { doubtCaps, readCaps, writeCaps } from "./caps.ts";
import { isIgnored, reportKeys, type ConfigReport } from "./config-report.ts";
import { readConfiguredGroups, readScalelibArrays } from "./configured-groups.ts";
import { readDefaultResources, writeDefaultResource } from "./default-resources.ts";
import { parseDocument } from "./document.ts";
import { isFields, readOneOf, type Fields } from "./fields.ts";
import { readExclusive, writeExclusive } from "./exclusive.ts";
import { readMode, storedMode, writeMode, type ModeDocument } from "./mode.ts";
import { isName, NAME_EXPECTED } from "./name.ts";
import { newNotes } from "./notes.ts";
import { doubtSenders, readSenders, writeSenders } from "./senders.ts";
import { doubtPrices, readPriceTable, writePriceTable } from "./price-table.ts";
import { type Problem, problemAt, problemShowing, unknownKey } from "./problem.ts";
import { readTimeout, writeTimeout, type TimeoutKey } from "./timeouts.ts";
import { readSizeTable, writeSizeTable } from "./vm-sizes.ts";
import { Problems } from "./problems.ts";
import { BOUNDS } from "./bounds.ts";

/** A cluster's configuration document, as written and as GET shows it. Durations in seconds. */
export interface PolicyDocument {
  /** Where editors find the JSON Schema of the document; kept as it is. */
  readonly $schema?: string;
  /** One number, or an object by node array: "default" and the arrays that have their own. */
  readonly idleTimeout: number | Readonly<Record<string, number>>;
  readonly bootTimeout: number | Readonly<Record<string, number>>;
  readonly maxExpirationInterval: number;
  readonly inFlightGrace: number;
  readonly groupFillTimeout: number;
  readonly nodearrays?: readonly string[];
  readonly default_resources?: readonly object[];
  readonly vmSizes?: object;
  readonly preference: Policy["preference"];
  readonly among: Policy["among"];
  readonly placementGroups?: object;
  readonly caps?: object;
  readonly senders?: readonly object[];
  readonly prices?: object;
  readonly planHistory: number;
  /** Node arrays that no other tool manages: `true` is all of them. */
  readonly exclusiveNodearrays?: true | readonly string[];
  /** One mode, or an object by node array, "default" for the others. Absent: the app setting AUTOSCALER_DEFAULT_MODE counts. */
  readonly mode?: ModeDocument;
}

export type PolicyRead =
  | {
      readonly kind: "policy";
      readonly policy: Policy;
      /** The effect of every key of the document. Values of ignored keys are not repeated, because some are secrets. */
      readonly report: ConfigReport;
      /** Values that count and are probably mistakes. */
      readonly doubts: readonly Problem[];
    }
  | { readonly kind: "problems"; readonly problems: readonly Problem[] };

export const OWN_KEYS = [
  "idleTimeout",
  "bootTimeout",
  "maxExpirationInterval",
  "inFlightGrace",
  "groupFillTimeout",
  "nodearrays",
  "exclusiveNodearrays",
  "default_resources",
  "vmSizes",
  "preference",
  "among",
  "placementGroups",
  "caps",
  "senders",
  "prices",
  "planHistory",
  "mode",
  "enabled",
  "idle_timeout",
  "boot_timeout",
] as const;

const OWN: ReadonlySet<string> = new Set(OWN_KEYS);

const IDLE_TIMEOUT: TimeoutKey = {
  ours: "idleTimeout",
  theirs: "idle_timeout",
  least: 0,
  builtIn: DEFAULT_POLICY.idleTimeoutSeconds,
};

/** Not 0: no node could ever boot. */
const BOOT_TIMEOUT: TimeoutKey = {
  ours: "bootTimeout",
  theirs: "boot_timeout",
  least: 1,
  builtIn: DEFAULT_POLICY.bootTimeoutSeconds,
};

/**
 * Reads a cluster's configuration document; an empty object is the default policy. Keys of scalelib's autoscale.json are accepted as
 * they are; `report` says which of them count, as what, and why the others do not. `nodearrays` as a list of names is ours, as an object it is scalelib's, of which the placement groups count. All problems at once; never throws. No value of a
 * key that is not ours is ever repeated: it may be a password. `otherwise`: the mode where the document says none.
 */
export function readPolicy(input: string | object, otherwise: Mode = "act"): PolicyRead {
  const document =
    typeof input === "string" ? parseDocument(input) : { kind: "value" as const, value: input };
  if (document.kind === "problem") return { kind: "problems", problems: [document.problem] };
  const from = document.value;
  if (!isFields(from)) return { kind: "problems", problems: [problemAt("", from, "an object")] };

  const problems = new Problems();
  for (const key of Object.keys(from))
    if (!OWN.has(key) && !isIgnored(key)) problems.add(() => unknownKey("", key, OWN_KEYS));
  const nodearrays = readArrays(from, problems);
  const defaultResources = readDefaults(from, problems);
  const placementGroups = readGroups(from, problems);
  const vmSizes = readPart(from, "vmSizes", problems, readSizeTable);
  const caps = readPart(from, "caps", problems, readCaps);
  const senders = readPart(from, "senders", problems, readSenders);
  const prices = readPart(from, "prices", problems, readPriceTable);
  const idle = readTimeout(from, IDLE_TIMEOUT, problems);
  const boot = readTimeout(from, BOOT_TIMEOUT, problems);
  const policy: Policy = {
    ...DEFAULT_CALL_BOUNDS,
    idleTimeoutSeconds: idle.seconds,
    bootTimeoutSeconds: boot.seconds,
    ...(idle.byArray === undefined ? {} : { idleTimeouts: idle.byArray }),
    ...(boot.byArray === undefined ? {} : { bootTimeouts: boot.byArray }),
    snapshotIntervalSeconds: DEFAULT_POLICY.snapshotIntervalSeconds,
    maxExpirationSeconds:
      readSeconds(from, "maxExpirationInterval", 1, problems) ?? DEFAULT_POLICY.maxExpirationSeconds,
    inFlightGraceSeconds:
      readSeconds(from, "inFlightGrace", 1, problems) ?? DEFAULT_POLICY.inFlightGraceSeconds,
    groupFillTimeoutSeconds:
      readSeconds(from, "groupFillTimeout", 0, problems) ?? DEFAULT_POLICY.groupFillTimeoutSeconds,
    ...(nodearrays === undefined ? {} : { nodearrays: nodearrays.map(arrayName) }),
    ...(defaultResources === undefined ? {} : { defaultResources }),
    ...(vmSizes === undefined ? {} : { vmSizes }),
    preference:
      readOneOf(from, "preference", ["existing-first", "bucket-order"], problems) ??
      DEFAULT_POLICY.preference,
    among: readOneOf(from, "among", ["priority", "cheapest"], problems) ?? DEFAULT_POLICY.among,
    ...(placementGroups === undefined ? {} : { placementGroups }),
    ...(caps === undefined ? {} : { caps }),
    ...(senders === undefined ? {} : { senders }),
    ...(prices === undefined ? {} : { prices }),
    planHistorySeconds: readSeconds(from, "planHistory", 0, problems) ?? DEFAULT_POLICY.planHistorySeconds,
    ...readSchema(from, problems),
    ...readExclusive(from, problems),
    ...readMode(from, otherwise, problems),
  };
  return problems.count > 0
    ? { kind: "problems", problems: problems.all() }
    : { kind: "policy", policy, report: reportKeys(from, policy), doubts: doubtsOf(policy) };
}

function readPart<T>(
  from: Fields,
  key: string,
  problems: Problems,
  read: (value: unknown, path: string, problems: Problems) => T,
): T | undefined {
  return from[key] === undefined ? undefined : read(from[key], key, problems);
}

function doubtsOf({ caps, prices, senders, vmSizes }: Policy): readonly Problem[] {
  const catalogue = catalogueOf(vmSizes === undefined ? {} : { vmSizes });
  return [
    ...(caps === undefined ? [] : doubtCaps(caps, "caps")),
    ...(senders === undefined ? [] : doubtSenders(senders, "senders")),
    ...(prices === undefined ? [] : doubtPrices(prices, "prices", catalogue)),
  ].slice(0, BOUNDS.problems);
}

/** The document for a policy. Reading it gives the same policy. */
export function writePolicy(policy: Policy): PolicyDocument {
  return {
    ...(policy.schema === undefined ? {} : { $schema: policy.schema }),
    idleTimeout: writeTimeout({
      seconds: policy.idleTimeoutSeconds,
      ...(policy.idleTimeouts === undefined ? {} : { byArray: policy.idleTimeouts }),
    }),
    bootTimeout: writeTimeout({
      seconds: policy.bootTimeoutSeconds,
      ...(policy.bootTimeouts === undefined ? {} : { byArray: policy.bootTimeouts }),
    }),
    maxExpirationInterval: policy.maxExpirationSeconds,
    inFlightGrace: policy.inFlightGraceSeconds,
    groupFillTimeout: policy.groupFillTimeoutSeconds,
    ...(policy.nodearrays === undefined ? {} : { nodearrays: policy.nodearrays }),
    ...(policy.defaultResources === undefined
      ? {}
      : { default_resources: policy.defaultResources.map(writeDefaultResource) }),
    ...(policy.vmSizes === undefined ? {} : { vmSizes: writeSizeTable(policy.vmSizes) }),
    preference: policy.preference,
    among: policy.among,
    ...(policy.placementGroups === undefined
      ? {}
      : { placementGroups: Object.fromEntries(policy.placementGroups) }),
    ...(policy.caps === undefined ? {} : { caps: writeCaps(policy.caps) }),
    ...(policy.senders === undefined ? {} : { senders: writeSenders(policy.senders) }),
    ...(policy.prices === undefined ? {} : { prices: writePriceTable(policy.prices) }),
    planHistory: policy.planHistorySeconds,
    ...writeExclusive(policy),
    ...writeMode(policy),
  };
}

/** The stored document: the content of {@link writePolicy}, in a form that the release before this one reads if possible. */
export function storedPolicy(policy: Policy): object {
  const { mode: _shown, ...rest } = writePolicy(policy);
  return { ...rest, ...storedMode(policy) };
}

/** Our key or scalelib's for the same, but not both. {@link writePolicy} writes ours, which fits our list of arrays. */
function readGroups(from: Fields, problems: Problems): ConfiguredGroups | undefined {
  const { nodearrays, placementGroups } = from;
  const theirs = isFields(nodearrays) ? readScalelibArrays(nodearrays, "nodearrays", problems) : undefined;
  if (placementGroups === undefined) return theirs;
  if (theirs !== undefined)
    problems.add(() =>
      problemAt("placementGroups", placementGroups, "either this key or nodearrays.*.placement_groups"),
    );
  return readConfiguredGroups(placementGroups, "placementGroups", problems);
}

/** Probable mistakes are errors here too: see {@link Notes}. */
function readDefaults(from: Fields, problems: Problems): readonly DefaultResource[] | undefined {
  const { default_resources: value } = from;
  if (value === undefined) return undefined;
  const notes = newNotes();
  const defaults = readDefaultResources(value, "default_resources", notes);
  problems.addAll(notes.problems);
  problems.addAll(notes.doubts);
  return defaults;
}

function readSeconds(from: Fields, key: string, least: number, problems: Problems): number | undefined {
  const value = from[key];
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isFinite(value) && value >= least) return value;
  problems.add(() => problemAt(key, value, `a number of seconds, ${least} or more`));
  return undefined;
}

function readSchema({ $schema }: Fields, problems: Problems): Pick<Policy, "schema"> {
  if ($schema === undefined) return {};
  if (typeof $schema === "string") return { schema: $schema };
  problems.add(() => problemAt("$schema", $schema, "the address of a JSON Schema as text"));
  return {};
}

function readArrays(from: Fields, problems: Problems): readonly string[] | undefined {
  const { nodearrays } = from;
  if (nodearrays === undefined || isFields(nodearrays)) return undefined;
  if (!Array.isArray(nodearrays)) {
    problems.add(() => problemAt("nodearrays", nodearrays, "a list of node array names"));
    return undefined;
  }
  const names: readonly unknown[] = nodearrays;
  names.forEach((name, index) => {
    if (!isName(name)) problems.add(() => problemShowing(`nodearrays[${index}]`, name, NAME_EXPECTED));
  });
  return names.filter(isName);
}
