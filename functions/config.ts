import type { HttpRequest, HttpResponseInit } from "@azure/functions";
import type { Site } from "../src/app/ports/ports.ts";
import { problemShown } from "../src/app/describe/describe-queues.ts";
import type { Composition } from "../src/compose.ts";
import type {
  ConfigDifference,
  ConfigurationShown,
  ConfigurationWrittenShown,
  ConfigurationChangeShown,
  ConfigurationHistoryShown,
} from "../src/wire/api/configuration.ts";
import { compareConfigs, shownDifference } from "../src/wire/policy/config-diff.ts";
import type { ConfigPatch } from "../src/wire/policy/config-patch.ts";
import { clashesOf, patchDocument, readPatch } from "../src/wire/policy/config-patch.ts";
import type { PolicyRead } from "../src/wire/policy/policy.ts";
import { readPolicy } from "../src/wire/policy/policy.ts";
import { writePolicy, writeWithMode } from "../src/wire/policy/write-policy.ts";
import { forCluster, badRequest, problem } from "./answering.ts";
import { canonicalText } from "../src/domain/digest.ts";
import { problemText } from "../src/domain/shown.ts";
import type { ConfigVersion } from "../src/domain/config-version.ts";
import type { Policy } from "../src/domain/policy.ts";
import { DEFAULT_POLICY, observing } from "../src/domain/policy.ts";
import { parseDocument } from "../src/wire/json/check-size.ts";
import { loadWhole } from "../src/app/record/load-record.ts";
import { waitForPlan } from "../src/app/record/commit.ts";
import { describeLeft, describeLosses } from "../src/app/describe/describe-under-way.ts";
import { unknownNodearrays } from "../src/app/describe/describe-troubles.ts";
import { keepMode, writeMode } from "../src/wire/policy/mode.ts";
import { planUnderChange } from "./reconcile.ts";
import { firstBytes } from "../src/app/describe/pages.ts";
import { isoTime } from "../src/domain/units.ts";
import { withoutAbsent } from "../src/domain/without-absent.ts";
import type { Fields } from "../src/domain/fields.ts";
import { isFields } from "../src/domain/fields.ts";

export const answerConfig = forCluster(getConfig);

export const answerWriteConfig = forCluster((composed, site, request) =>
  request.method === "PATCH" ? patchConfig(composed, site, request) : putConfig(composed, site, request),
);

/**
 * Reads the stored document, not the copy in this process, which may be 15 s old. If the document cannot be read, shows the configuration in
 * force and its problems.
 */
async function getConfig(composed: Composition, site: Site): Promise<HttpResponseInit> {
  const { text, number } = await readHeld(composed, site);
  const headers = { etag: etagOf(number) };
  const read = readPolicy(text, composed.defaultMode, "store");
  if (read.kind === "problems") {
    const jsonBody: ConfigurationShown = {
      ...writePolicy(await composed.app.ports.policyOf(site.cluster)),
      version: number,
      unreadable: read.problems.map(problemShown),
      doubts: undefined,
    };
    return { status: 200, headers, jsonBody };
  }
  const jsonBody: ConfigurationShown = {
    ...writePolicy(read.policy),
    version: number,
    unreadable: undefined,
    doubts: read.doubts.length === 0 ? undefined : read.doubts.map(problemShown),
  };
  return { status: 200, headers, jsonBody };
}

/** Replaces the document, whatever others put there at the same time, unless the caller names the version that it has seen. */
export async function putConfig(
  composed: Composition,
  site: Site,
  request: HttpRequest,
): Promise<HttpResponseInit> {
  const read = readPolicy(await request.text(), composed.defaultMode);
  if (read.kind === "problems") return badRequest(read.problems);
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const held = await readHeld(composed, site);
    const refusal = refuseStale(composed, request.headers.get("if-match"), held);
    if (refusal !== undefined) return refusal;
    const stored = await storeConfig(composed, site, request, held, { read });
    if (stored !== "conflict") return stored;
  }
  return conflict();
}

/**
 * 412 if the caller has seen another configuration than the one in force, with what has changed since. Undefined: it may write. That the app
 * wrote the mode at the beginning is no change: it was in force before.
 */
function refuseStale(
  { defaultMode }: Composition,
  header: string | null,
  held: HeldConfig,
): HttpResponseInit | undefined {
  if (header === null || header.trim() === "*") return undefined;
  const seen = /^\s*(?:W\/)?"?(\d{1,9})"?\s*$/.exec(header)?.[1];
  if (seen === undefined)
    return badRequest([
      { path: "if-match", found: JSON.stringify(header.slice(0, 40)), expected: "the ETag of a GET" },
    ]);
  if (Number(seen) === held.number) return undefined;
  const before = seenText(held, Number(seen));
  const shown = (text: string) => {
    const read = readPolicy(text, defaultMode, "store");
    return read.kind === "policy" ? canonicalText(writeWithMode(read.policy)) : text;
  };
  if (before !== undefined && shown(before) === shown(held.text)) return undefined;
  const changes =
    before === undefined ? [] : compareConfigs(documentOf(before), documentOf(held.text)).differences;
  return problem(412, "Stale", staleText(Number(seen), held.number, changes));
}

/** The text of a version that a caller has seen. Version 0: the defaults. Undefined: it is not kept. */
function seenText({ versions }: HeldConfig, seen: number): string | undefined {
  return seen === 0 ? "{}" : versions.find(({ number }) => number === seen)?.text;
}

function staleText(seen: number, inForce: number, changes: readonly ConfigDifference[]): string {
  const listed = changes
    .slice(0, LISTED)
    .map(({ path, before = "nothing", after = "nothing" }) => `${path}: ${before} -> ${after}`);
  const what = changes.length > LISTED ? [...listed, `and ${changes.length - LISTED} more`] : listed;
  return `version ${seen} was seen, and version ${inForce} is in force${what.length === 0 ? "" : `: ${what.join("; ")}`}`;
}

/** Changes named in the text of an error. */
const LISTED = 5;

/**
 * Changes single keys (docs/decisions.md, "Single keys are changed by the server"). A change that others make at the same time to other
 * keys is merged; one of the same key is 409. Each try reads the document again. A try fails only when another change was stored.
 */
async function patchConfig(
  composed: Composition,
  site: Site,
  request: HttpRequest,
): Promise<HttpResponseInit> {
  const asked = readPatch(await request.text());
  if (asked.kind === "problems") return badRequest(asked.problems);
  const { patch } = asked;
  let seen: { readonly number: number; readonly text: string | undefined } | undefined;
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const held = await readHeld(composed, site);
    const number = patch.ifVersion ?? held.number;
    seen ??= { number, text: seenText(held, number) };
    const wanted = changed(composed, held, patch);
    if (wanted.kind === "problems") return badRequest(wanted.problems);
    const clash = isInForce(wanted, held) ? undefined : clashText(patch, seen, held);
    if (clash !== undefined) return problem(409, "Conflict", clash);
    const stored = await storeConfig(composed, site, request, held, wanted);
    if (stored !== "conflict") return stored;
  }
  return conflict();
}

/** Under constant changes by others. */
const MOST_TRIES = 20;

type Changed = (Wanted & { readonly kind: "wanted" }) | Extract<PolicyRead, { readonly kind: "problems" }>;

/** The document in force after a change. What a newer release refuses holds for new values only: what was stored before may stay. */
function changed({ defaultMode }: Composition, held: HeldConfig, patch: ConfigPatch): Changed {
  const patched = patchDocument(documentOf(held.text), patch, held.inForce.mode);
  if (patched.kind === "problems") return patched;
  const read = readPolicy(JSON.stringify(patched.document), defaultMode, "store");
  if (read.kind === "problems") return read;
  const before = readPolicy(held.text, defaultMode, "store");
  const known = new Set(
    before.kind === "policy" ? before.refused.map(({ problem }) => problemText(problem)) : [],
  );
  const refused = read.refused.filter(({ problem }) => !known.has(problemText(problem)));
  return refused.length === 0
    ? { kind: "wanted", read }
    : { kind: "problems", problems: refused.map(({ problem }) => problem) };
}

/** A change that was made before, as when it is sent again because its answer was lost. */
function isInForce({ read }: Wanted, { text }: HeldConfig): boolean {
  return JSON.stringify(documentOf(text)) === JSON.stringify(writePolicy(read.policy));
}

/** What others have changed of the same keys since the version that was seen. Undefined: nothing. */
function clashText(
  patch: ConfigPatch,
  seen: { readonly number: number; readonly text: string | undefined },
  held: HeldConfig,
): string | undefined {
  if (seen.text === undefined)
    return `${staleText(seen.number, held.number, [])}; what has changed since is not known`;
  const clashes = clashesOf(patch, documentOf(seen.text), documentOf(held.text));
  return clashes.length === 0 ? undefined : staleText(seen.number, held.number, clashes.map(shownDifference));
}

/** The stored document of a cluster, read before a change. */
interface HeldConfig {
  /** Absent: there is no document yet. */
  readonly etag?: string;
  readonly text: string;
  /** The number of its version. 0: there is no document yet. */
  readonly number: number;
  /** Newest first. */
  readonly versions: readonly ConfigVersion[];
  readonly inForce: Policy;
}

/**
 * Reads the document before its versions: if it changes in between, the write that follows finds another ETag, and nothing is lost. A
 * document that cannot be read is in force as observe.
 */
async function readHeld({ app, defaultMode }: Composition, { cluster }: Site): Promise<HeldConfig> {
  const { documents } = app.ports;
  const held = await documents.read(cluster);
  const versions = await documents.versions(cluster);
  const read = readPolicy(held?.text ?? "{}", defaultMode, "store");
  return {
    text: held?.text ?? "{}",
    ...withoutAbsent({ etag: held?.etag }),
    number: versions[0]?.number ?? 0,
    versions,
    inForce: read.kind === "policy" ? read.policy : observing(DEFAULT_POLICY),
  };
}

/** A stored document as GET shows it. A document that cannot be read is shown unchanged. */
function documentOf(text: string): Fields {
  const read = readPolicy(text, undefined, "store");
  if (read.kind === "policy") return { ...writePolicy(read.policy) };
  const document = parseDocument(text);
  return document.kind === "value" && isFields(document.value) ? document.value : {};
}

/** A configuration that a door wants to store. */
interface Wanted {
  readonly read: Extract<PolicyRead, { readonly kind: "policy" }>;
  readonly rollbackTo?: number;
}

/**
 * Stores a configuration in the place of the held one. A document that says no mode keeps the mode in force. "conflict": another change came
 * first. The caller is known only if the platform signs callers in. It never names the key of a call (docs/configuration.md, History).
 */
async function storeConfig(
  composed: Composition,
  site: Site,
  { headers }: HttpRequest,
  held: HeldConfig,
  { read, rollbackTo }: Wanted,
): Promise<HttpResponseInit | "conflict"> {
  const policy = keepMode(read.policy, held.inForce);
  const { clock, documents } = composed.app.ports;
  const who = callerOf(headers, composed.platformSignsIn === true);
  const text = JSON.stringify(writePolicy(policy));
  await waitForPlan(composed.app, site.cluster, policy);
  const written = await documents.write(site.cluster, text, held.etag, {
    at: clock.now(),
    ...withoutAbsent({ who, rollbackTo }),
  });
  if (written === "conflict") return "conflict";
  if (written !== "saved") {
    const sizes = `${written.bytes} bytes compressed, at most ${written.limit} possible`;
    const advice = "leave out regions that the cluster does not have";
    return problem(413, "Too large", `the configuration takes ${sizes}: ${advice}`);
  }
  await planUnderChange(composed, site.cluster);
  const { report, doubts } = read;
  const { record, bodies } = await loadWhole(composed.app, site.cluster);
  const version = held.etag !== undefined && held.text === text ? held.number : held.number + 1;
  const jsonBody: ConfigurationWrittenShown = {
    ...writePolicy(policy),
    version,
    ...compareConfigs(documentOf(held.text), writePolicy(policy)),
    notes: policy === read.policy || policy.modeIsDefault === true ? [] : [modeNote(policy)],
    ...report,
    doubts: doubts.map(problemShown),
    unknownNodearrays: unknownNodearrays(record, bodies, policy),
    underWay: describeLeft(record, bodies, policy, clock.now()),
    losses: describeLosses(record, bodies, policy, clock.now()),
  };
  return { status: 200, headers: { etag: etagOf(version) }, jsonBody };
}

const modeNote = (policy: Parameters<typeof writeMode>[0]): string =>
  `the document says no mode, so the one in force is kept: mode ${JSON.stringify(writeMode(policy))}`;

/** The version of a configuration as an HTTP header has it. */
const etagOf = (version: number): string => `"${version}"`;

/** 409: another change came first, and the caller has to look at it. */
function conflict(): HttpResponseInit {
  return problem(409, "Conflict", "the configuration was changed at the same time; read it and try again");
}

export const answerConfigHistory = forCluster(getHistory);

/** Every change with its difference, newest first. */
async function getHistory(composed: Composition, site: Site): Promise<HttpResponseInit> {
  const versions = await composed.app.ports.documents.versions(site.cluster);
  const shown = versions.map(({ text }) => documentOf(text));
  const changes = versions.map(
    ({ number, at, who = "unknown", rollbackTo }, index): ConfigurationChangeShown => {
      const isFirst = index === versions.length - 1;
      return {
        number,
        at: isoTime(at),
        who,
        rollbackTo,
        // Changes before the oldest one kept are unknown, but before version 1 the defaults held.
        ...(isFirst && number > 1
          ? { differences: [], more: 0 }
          : compareConfigs(shown[index + 1] ?? documentOf("{}"), shown[index] ?? {})),
      };
    },
  );
  const jsonBody: ConfigurationHistoryShown = {
    cluster: site.cluster,
    changes: firstBytes(changes),
  };
  return { status: 200, jsonBody };
}

export const answerRollbackConfig = forCluster(rollBack);

/** Writes an earlier version of the configuration as a new one. It keeps the mode in force if it says none. Without `to`: the version before the last change. Version 0: the defaults. */
async function rollBack(composed: Composition, site: Site, request: HttpRequest): Promise<HttpResponseInit> {
  const to = request.query.get("to");
  if (to !== null && !/^(0|[1-9]\d{0,8})$/.test(to))
    return badRequest([
      { path: "to", found: JSON.stringify(to.slice(0, 40)), expected: "the number of a version" },
    ]);
  const held = await readHeld(composed, site);
  const versions = withDefaults(held.versions);
  const wanted = to === null ? versions[1] : versions.find(({ number }) => number === Number(to));
  if (wanted === undefined) {
    const kept = versions.map(({ number }) => number);
    const range = kept.length === 0 ? "none is kept" : `kept are ${kept.at(-1)} to ${kept[0]}`;
    return problem(
      404,
      "Unknown version",
      `${to === null ? "there is no version before the last change" : `version ${to} is not kept`}; ${range}`,
    );
  }
  // It was in force before, so what a newer release refuses does not hold for it.
  const read = readPolicy(wanted.text, composed.defaultMode, "store");
  if (read.kind === "problems") return badRequest(read.problems);
  const stored = await storeConfig(composed, site, request, held, { read, rollbackTo: wanted.number });
  return stored === "conflict" ? conflict() : stored;
}

/** With the defaults as version 0, if they held before the oldest version that is kept. */
function withDefaults(versions: readonly ConfigVersion[]): readonly ConfigVersion[] {
  const oldest = versions.at(-1);
  // A version without a time was in force before changes were recorded. What held before that is not known.
  return oldest?.number === 1 && oldest.at !== undefined
    ? [...versions, { number: 0, text: "{}" }]
    : versions;
}

/** The longest name of a caller that is recorded, in characters. */
const MOST_CHARACTERS = 128;

/** The header that App Service authentication sets. */
const NAME_HEADER = "x-ms-client-principal-name";

/**
 * The name of the signed-in caller. Undefined if it is not known. If App Service authentication is on (`platformSignsIn`), the platform sets
 * the header and removes a sender's own. Otherwise any sender can set it, so it is not read.
 */
export function callerOf(headers: Pick<Headers, "get">, platformSignsIn: boolean): string | undefined {
  const given = headers.get(NAME_HEADER);
  if (!platformSignsIn || given === null) return undefined;
  const printable = given.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "").trim();
  const name = Array.from(printable).slice(0, MOST_CHARACTERS).join("");
  return name.length === 0 ? undefined : name;
}
