import type { ConfigReport, IgnoredKey, MemberOfAnswer, UsedKey } from "../api/configuration.ts";
import type { Policy } from "../../domain/policy.ts";
import type { ArrayTimeouts } from "../../domain/timeouts.ts";
import { unknownKey, type Problem } from "../json/problem.ts";
import { EVERY_OTHER, isBuiltIn } from "./timeouts.ts";
import type { Seconds } from "../../domain/units.ts";
import type { Fields } from "../../domain/fields.ts";
import { isFields } from "../../domain/fields.ts";

const DRIVER = "a setting of a driver of scalelib's: what sends the demand reads its own";
const TEST_AID = "scalelib uses it in tests only";

/** Keys of scalelib's autoscale.json (scalelib.md 18) and of its drivers that have no effect here, with the reason. */
const IGNORED: ReadonlyMap<string, string> = new Map([
  ["$schema", "kept for editors, which check the document by it"],
  ["cluster_name", "the app setting AUTOSCALER_CLUSTERS names the clusters"],
  ["url", "the app setting AUTOSCALER_CLUSTERS says where CycleCloud is"],
  ["username", "the app setting AUTOSCALER_CLUSTERS says who signs in to CycleCloud"],
  ["password", "a password comes from an app setting, which AUTOSCALER_CLUSTERS names"],
  ["verify_certificates", 'certificates are checked; "insecure" in AUTOSCALER_CLUSTERS changes that'],
  ["read_only", "mode is the key for that; true means observe"],
  ["lock_file", "plans are made one at a time without a file"],
  ["nodehistorydb", "the history of nodes is in the storage account"],
  ["disable_default_resources", "every node has scalelib's ten resources; default_resources redefines them"],
  ["assume_standalone_hostnames", "host names are those that CycleCloud reports"],
  ["valid_hostnames", DRIVER],
  ["output-columns", "columns of scalelib's own command line"],
  ["logging", "the functions host says what is logged: host.json"],
  ["include", "no other file is read: put what it says into this document"],
  ["cost", "prices is the key for that"],
  ["_mimic_on_prem", TEST_AID],
  ["_mock_bindings", TEST_AID],
  ["_node-overrides", "it does nothing in scalelib either"],
  ["pbspro", DRIVER],
  ["gridengine", DRIVER],
]);

/** Keys of scalelib's `nodearrays.NAME` that have no effect here. */
const IGNORED_OF_ARRAY: ReadonlyMap<string, string> = new Map([
  [
    "generated_placement_group_buffer",
    "not supported: a group is made when a job needs it, and bucket-order has two fresh ones of each VM size",
  ],
  ["max_placement_groups", "not supported: an array has as many groups as jobs need"],
]);

/** Keys by which users look for a minimum of nodes. */
const OF_A_MINIMUM = /^(min(imum|_|[A-Z]|$)|floor|warm|standby|initial)/;
const MINIMUM = "a minimum is a target, in a request set of its own that is renewed (docs/demand.md)";

/** The problem of a key that is not of a configuration. */
export function unknownConfigKey(key: string, known: readonly string[]): Problem {
  const problem = unknownKey("", key, known);
  return OF_A_MINIMUM.test(key) ? { ...problem, expected: `${problem.expected}; ${MINIMUM}` } : problem;
}

const OF_ANSWERS = "a part of our own answer, not of a configuration";
const UNKNOWN_OF_ARRAY = "scalelib knows no such key of a node array";
const SAYS_NOTHING = "it says nothing";

/** Members that our answers add to a document, so that a document can be read, changed and written back. */
const ANSWERS: ReadonlySet<string> = new Set(
  Object.keys({
    used: true,
    ignored: true,
    doubts: true,
    unknownNodearrays: true,
    underWay: true,
    losses: true,
    version: true,
    differences: true,
    more: true,
    notes: true,
    unreadable: true,
    observing: true,
  } satisfies Record<MemberOfAnswer, true>),
);

/** Keys that a document may have and that have no effect. */
export const IGNORED_KEYS: readonly string[] = [...IGNORED.keys(), ...ANSWERS];

/** Whether a key of a document is known although it has no effect. */
export function isIgnored(key: string): boolean {
  return IGNORED.has(key) || ANSWERS.has(key);
}

/** The effect of every key of a document that was read as this policy, in the document's order. */
export function reportKeys(from: Fields, policy: Policy): ConfigReport {
  const used: UsedKey[] = [];
  const ignored: IgnoredKey[] = [];
  for (const [key, value] of Object.entries(from)) {
    const why = ANSWERS.has(key) ? OF_ANSWERS : IGNORED.get(key);
    // Beside a mode that acts, a stored `read_only` changes nothing.
    if (key === "read_only" && value === true && policy.mode === "observe")
      used.push({ key, as: "mode: observe" });
    else if (why !== undefined) ignored.push({ key, why });
    else if (key === "nodearrays" && isFields(value)) reportArrays(value, used, ignored);
    else used.push(...reportUsed(key, value, policy));
  }
  return { used, ignored };
}

function reportUsed(key: string, value: unknown, policy: Policy): readonly UsedKey[] {
  switch (key) {
    case "idle_timeout":
      return reportTimeout(key, "idleTimeout", value, policy.idleTimeoutSeconds, policy.idleTimeouts);
    case "boot_timeout":
      return reportTimeout(key, "bootTimeout", value, policy.bootTimeoutSeconds, policy.bootTimeouts);
    default:
      return [{ key, as: key }];
  }
}

/** scalelib's timeout, member by member: some of them mean the built-in value. */
function reportTimeout(
  key: string,
  ours: string,
  value: unknown,
  seconds: Seconds,
  byArray: ArrayTimeouts | undefined,
): readonly UsedKey[] {
  if (!isFields(value) || Object.keys(value).length === 0) return [{ key, as: `${ours}: ${seconds} s` }];
  return Object.entries(value).map(([array, member]): UsedKey => {
    const counts = array === EVERY_OTHER ? seconds : (byArray?.get(array) ?? seconds);
    const why = isBuiltIn(member) ? ", the built-in value, as 0 and null mean that in scalelib's object" : "";
    return { key: `${key}.${array}`, as: `${ours}.${array}: ${counts} s${why}` };
  });
}

function whyIgnored(key: string): string {
  return IGNORED_OF_ARRAY.get(key) ?? (OF_A_MINIMUM.test(key) ? MINIMUM : UNKNOWN_OF_ARRAY);
}

function reportArrays(from: Fields, used: UsedKey[], ignored: IgnoredKey[]): void {
  const arrays = Object.entries(from);
  if (arrays.length === 0) ignored.push({ key: "nodearrays", why: SAYS_NOTHING });
  for (const [array, value] of arrays) {
    const at = `nodearrays.${array}`;
    const keys = isFields(value) ? Object.keys(value) : [];
    if (keys.length === 0) ignored.push({ key: at, why: SAYS_NOTHING });
    for (const key of keys) {
      if (key === "placement_groups") used.push({ key: `${at}.${key}`, as: `placementGroups.${array}` });
      else ignored.push({ key: `${at}.${key}`, why: whyIgnored(key) });
    }
  }
}
