// Long: the schema of the registry and the readers of its parts, which share the schema's types.

import * as z from "zod";
import { clusterName, type ClusterName } from "../../domain/ids.ts";
import type { CallBounds } from "../../domain/policy.ts";
import {
  DEFAULT_CALL_BOUNDS,
  LONGEST_CALL_LIMIT_SECONDS,
  LONGEST_LAG_SECONDS,
  MOST_PARALLEL_CREATES,
} from "../../domain/policy.ts";
import { withoutSlashesAtEnd } from "../../domain/text.ts";
import { BOUNDS } from "../json/bounds.ts";
import { parseDocument } from "../json/check-size.ts";
import { nameSchema } from "../json/name.ts";
import { type Problem, problemAt, problemShowing } from "../json/problem.ts";
import { addSchemaProblems } from "../json/schema-problems.ts";
import { Problems } from "../json/problems.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";
import { isFields } from "../../domain/fields.ts";

/** One cluster of the registry and the CycleCloud that runs it (architecture.md, Configuration). Holds no secret. */
export interface RegistryCluster {
  readonly name: ClusterName;
  /** http or https, without a trailing slash. May have a path. */
  readonly url: string;
  readonly username?: string;
  readonly credential: RegistryCredential;
  /** Certificates to trust: PEM text, or the path of a file with it. */
  readonly ca?: string;
  /** True: certificates are not checked. */
  readonly insecure: boolean;
  /**
   * The speed limits of the server, and its limit of parallel requests. They are no keys of a document: a change while the app runs could
   * make two instances disagree about when a request can still arrive.
   */
  readonly bounds: CallBounds;
}

type RegistryCredential =
  /** The password is the value of the app setting of this name. */
  | { readonly kind: "password"; readonly setting: string }
  /**
   * Managed identity: the user-assigned one with this client id, else the system's own. `scope` is the scope of the token: it names the app
   * registration that CycleCloud uses (cyclecloud-wire.md B), which no address of CycleCloud reveals.
   */
  | { readonly kind: "identity"; readonly clientId?: string; readonly scope: string };

type RegistryRead =
  | { readonly kind: "registry"; readonly clusters: readonly RegistryCluster[] }
  | { readonly kind: "problems"; readonly problems: readonly Problem[] };

const TEXT = "text, not empty";
const SWITCH = "true or false";
const CALL_LIMIT = `seconds from 1 to ${LONGEST_CALL_LIMIT_SECONDS}`;
const LAG = `seconds from 0 to ${LONGEST_LAG_SECONDS}`;
const PARALLEL = `a whole number from 1 to ${MOST_PARALLEL_CREATES}`;
const text = z.string({ error: TEXT }).min(1, { error: TEXT });
const numberWithin = (least: number, most: number, error: string) =>
  z.number({ error }).min(least, { error }).max(most, { error });

const SCOPE = "the scope of tokens for CycleCloud, as api://CLIENT-ID/.default";
const identitySchema = z.strictObject({
  clientId: text.optional(),
  scope: z.string({ error: SCOPE }).min(1, { error: SCOPE }),
});

const clusterSchema = z.strictObject(
  {
    name: nameSchema,
    url: z.string({ error: "an http or https address" }),
    username: text.optional(),
    passwordSetting: text.optional(),
    identity: z.unknown().optional(),
    ca: text.optional(),
    insecure: z.boolean({ error: SWITCH }).default(false),
    callLimit: numberWithin(1, LONGEST_CALL_LIMIT_SECONDS, CALL_LIMIT).default(
      DEFAULT_CALL_BOUNDS.callLimitSeconds,
    ),
    lag: numberWithin(0, LONGEST_LAG_SECONDS, LAG).default(DEFAULT_CALL_BOUNDS.lagSeconds),
    parallelCreates: numberWithin(1, MOST_PARALLEL_CREATES, PARALLEL)
      .int({ error: PARALLEL })
      .default(DEFAULT_CALL_BOUNDS.parallelCreates),
  },
  { error: "an object with name, url, username and passwordSetting or identity" },
);

const CLUSTER_KEYS = Object.keys(clusterSchema.shape);
const IDENTITY_KEYS = Object.keys(identitySchema.shape);

/**
 * Reads the app setting AUTOSCALER_CLUSTERS, a JSON list of clusters. Reports all problems at once. Never throws. `mostProblems`: maximum
 * number described; the others are counted.
 */
export function readRegistry(setting: string, mostProblems: number = BOUNDS.problems): RegistryRead {
  const document = parseDocument(setting);
  if (document.kind === "problem") return { kind: "problems", problems: [document.problem] };
  if (!Array.isArray(document.value)) {
    return { kind: "problems", problems: [problemAt("", document.value, "a list of clusters")] };
  }
  const problems = new Problems(mostProblems);
  const clusters = document.value.flatMap(
    (item: unknown, index) => readCluster(item, `[${index}]`, problems) ?? [],
  );
  problems.addBelow("", repeatedNames(document.value));
  return problems.count > 0 ? { kind: "problems", problems: problems.all() } : { kind: "registry", clusters };
}

function readCluster(item: unknown, path: string, problems: Problems): RegistryCluster | undefined {
  const before = problems.count;
  const parsed = clusterSchema.safeParse(item);
  if (!parsed.success) {
    addSchemaProblems(
      problems.below(() => path),
      parsed.error,
      item,
      () => CLUSTER_KEYS,
    );
  }
  const fields = isFields(item) ? item : undefined;
  const url = typeof fields?.["url"] === "string" ? readUrl(fields["url"], path, problems) : undefined;
  const credential = fields === undefined ? undefined : readCredential(fields, path, problems);
  if (!parsed.success || url === undefined || credential === undefined || problems.count > before)
    return undefined;
  const { name, username, ca, insecure, callLimit, lag, parallelCreates } = parsed.data;
  return {
    name: clusterName(name),
    url,
    ...withoutAbsent({ username }),
    credential,
    ...withoutAbsent({ ca }),
    insecure,
    bounds: { callLimitSeconds: callLimit, lagSeconds: lag, parallelCreates },
  };
}

function readUrl(value: string, path: string, problems: Problems): string | undefined {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url !== undefined && (url.username !== "" || url.password !== "")) {
    // Not shown, because it contains a password.
    problems.add(() =>
      problemShowing(
        `${path}.url`,
        `${url.protocol}//...@${url.host}`,
        "an address without user and password",
      ),
    );
    return undefined;
  }
  const plain =
    url?.search === "" && url.hash === "" && (url.protocol === "http:" || url.protocol === "https:");
  if (url === undefined || !plain) {
    // A value with an @ may contain a password, and is not shown.
    const found = value.includes("@") ? "something with an @" : value;
    problems.add(() => problemShowing(`${path}.url`, found, "an http or https address, at most with a path"));
    return undefined;
  }
  return `${url.origin}${withoutSlashesAtEnd(url.pathname)}`;
}

function readCredential(
  item: Readonly<Record<string, unknown>>,
  path: string,
  problems: Problems,
): RegistryCredential | undefined {
  const { passwordSetting, identity, username } = item;
  if ((passwordSetting === undefined) === (identity === undefined)) {
    const found = passwordSetting === undefined ? "neither" : "both";
    problems.add(() => problemShowing(path, found, "exactly one of passwordSetting and identity"));
    return undefined;
  }
  if (identity !== undefined) return readIdentity(identity, `${path}.identity`, problems);
  if (username === undefined)
    problems.add(() => problemAt(`${path}.username`, username, "text, because passwordSetting is set"));
  return typeof passwordSetting === "string" ? { kind: "password", setting: passwordSetting } : undefined;
}

function readIdentity(value: unknown, path: string, problems: Problems): RegistryCredential | undefined {
  if (!isFields(value)) {
    problems.add(() => problemAt(path, value, `an object with scope, ${SCOPE}, and clientId (optional)`));
    return undefined;
  }
  const parsed = identitySchema.safeParse(value);
  if (!parsed.success) {
    addSchemaProblems(
      problems.below(() => path),
      parsed.error,
      value,
      () => IDENTITY_KEYS,
    );
    return undefined;
  }
  const { clientId, scope } = parsed.data;
  return {
    kind: "identity",
    ...withoutAbsent({ clientId }),
    scope,
  };
}

/** A name is an address: two clusters with one name could not be distinguished, even on different servers. */
function repeatedNames(items: readonly unknown[]): readonly Problem[] {
  const seen = new Set<unknown>();
  return items.flatMap((item, index) => {
    const name = isFields(item) ? item["name"] : undefined;
    if (name === undefined || seen.size !== seen.add(name).size) return [];
    return [problemShowing(`[${index}].name`, name, "a name that no other cluster of the list has")];
  });
}
