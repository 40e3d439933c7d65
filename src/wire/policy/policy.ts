import type { Mode } from "../../domain/mode.ts";
import type { Policy } from "../../domain/policy.ts";
import { DEFAULT_CALL_BOUNDS, DEFAULT_POLICY } from "../../domain/policy.ts";
import { catalogueOf } from "../../domain/vm-size-data.ts";
import { doubtCaps, readCaps } from "./caps.ts";
import type { ConfigReport } from "../api/configuration.ts";
import { isIgnored, reportKeys, unknownConfigKey } from "./config-report.ts";
import { parseDocument } from "../json/check-size.ts";
import { readOneOf } from "../json/fields.ts";
import { readExclusive, readNamedArrays } from "./exclusive.ts";
import { readMode } from "./mode.ts";
import { doubtNames } from "./odd-names.ts";
import { doubtSenders, readSenders } from "./senders.ts";
import { doubtPrices, readPriceTable } from "./price-table.ts";
import type { Problem } from "../json/problem.ts";
import { problemAt } from "../json/problem.ts";
import type { Refusal } from "./refusals.ts";
import { refusalsOf } from "./refusals.ts";
import { readSizeTable } from "./vm-sizes.ts";
import { Problems } from "../json/problems.ts";
import { BOUNDS } from "../json/bounds.ts";
import {
  readArrays,
  readDefaults,
  readDurations,
  readGroups,
  readSchema,
  readSeconds,
} from "./policy-parts.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";
import type { Fields } from "../../domain/fields.ts";
import { isFields } from "../../domain/fields.ts";

export type PolicyRead =
  | {
      readonly kind: "policy";
      readonly policy: Policy;
      /** The effect of every key of the document. Values of ignored keys are not repeated, because some are secrets. */
      readonly report: ConfigReport;
      /** Values that count and are probably mistakes. */
      readonly doubts: readonly Problem[];
      /** Rules for new documents that this stored one breaks. Empty for a document at the door: there they are problems. */
      readonly refused: readonly Refusal[];
    }
  | { readonly kind: "problems"; readonly problems: readonly Problem[] };

export const OWN_KEYS = [
  "idleTimeout",
  "bootTimeout",
  "downTimeout",
  "failedTimeout",
  "deallocatedTimeout",
  "maxExpirationInterval",
  "inFlightGrace",
  "groupFillTimeout",
  "nodearrays",
  "exclusiveNodearrays",
  "named",
  "default_resources",
  "vmSizes",
  "preference",
  "among",
  "mixes",
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

/**
 * Reads a cluster's configuration document. An empty object is the default policy. Accepts the keys of scalelib's autoscale.json; `report`
 * says which of them count, as what, and why the others do not. `nodearrays` as a list of names is ours. As an object it is scalelib's, of
 * which only the placement groups count. Finds all problems at once, and never throws. Values of unknown keys are never repeated: they may
 * be passwords. `otherwise`: the mode if the document has none. `at`: rules that a later release added hold at the door only.
 */
export function readPolicy(
  input: string | object,
  otherwise: Mode = "act",
  at: "door" | "store" = "door",
): PolicyRead {
  const document =
    typeof input === "string" ? parseDocument(input) : { kind: "value" as const, value: input };
  if (document.kind === "problem") return { kind: "problems", problems: [document.problem] };
  const from = document.value;
  if (!isFields(from)) return { kind: "problems", problems: [problemAt("", from, "an object")] };
  const problems = new Problems();
  for (const key of Object.keys(from))
    if (!OWN.has(key) && !isIgnored(key)) problems.add(() => unknownConfigKey(key, OWN_KEYS));
  const policy: Policy = {
    ...DEFAULT_CALL_BOUNDS,
    snapshotIntervalSeconds: DEFAULT_POLICY.snapshotIntervalSeconds,
    ...readArrays(from, problems),
    ...readDefaults(from, problems),
    ...readGroups(from, problems),
    ...readTables(from, problems),
    ...readDurations(from, problems),
    preference:
      readOneOf(from, "preference", ["existing-first", "bucket-order"], problems) ??
      DEFAULT_POLICY.preference,
    among: readOneOf(from, "among", ["priority", "cheapest"], problems) ?? DEFAULT_POLICY.among,
    ...(readOneOf(from, "mixes", ["on", "off"], problems) === "off" ? { mixes: "off" as const } : {}),
    planHistorySeconds: readSeconds(from, "planHistory", 0, problems) ?? DEFAULT_POLICY.planHistorySeconds,
    ...readSchema(from, problems),
    ...readExclusive(from, problems),
    ...readNamedArrays(from, problems),
    ...readMode(from, otherwise, problems),
  };
  const refused = refusalsOf(from, policy);
  if (at === "door") addMissing(refused, problems);
  if (problems.count > 0) return { kind: "problems", problems: problems.all() };
  const report = reportKeys(from, policy);
  return { kind: "policy", policy, report, doubts: doubtsOf(from, policy), refused };
}

/** A place that has a problem already needs no second one. */
function addMissing(refused: readonly Refusal[], problems: Problems): void {
  const told = new Set(problems.all().map(({ path }) => path));
  for (const { problem } of refused) if (!told.has(problem.path)) problems.add(() => problem);
}

/** The keys whose values have readers of their own. */
function readTables(
  from: Fields,
  problems: Problems,
): Pick<Policy, "vmSizes" | "caps" | "senders" | "prices"> {
  const vmSizes = readPart(from, "vmSizes", problems, readSizeTable);
  const caps = readPart(from, "caps", problems, readCaps);
  const senders = readPart(from, "senders", problems, readSenders);
  const prices = readPart(from, "prices", problems, readPriceTable);
  return withoutAbsent({ vmSizes, caps, senders, prices });
}

function readPart<T>(
  from: Fields,
  key: string,
  problems: Problems,
  read: (value: unknown, path: string, problems: Problems) => T,
): T | undefined {
  return from[key] === undefined ? undefined : read(from[key], key, problems);
}

/** Values that count and are probably mistakes. */
function doubtsOf(from: Fields, { caps, prices, senders, vmSizes }: Policy): readonly Problem[] {
  const catalogue = catalogueOf(vmSizes === undefined ? {} : { vmSizes });
  return [
    ...(caps === undefined ? [] : doubtCaps(caps, "caps")),
    ...(senders === undefined ? [] : doubtSenders(senders, "senders")),
    ...(prices === undefined ? [] : doubtPrices(prices, "prices", catalogue)),
    ...doubtNames(from),
  ].slice(0, BOUNDS.problems);
}
