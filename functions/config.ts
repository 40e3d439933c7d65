import type { HttpRequest, HttpResponseInit } from "@azure/functions";
import type { Site } from "../src/app/ports/site.ts";
import { problemShown } from "../src/app/describe/rejected-shown.ts";
import type { Composition } from "../src/compose.ts";
import type { ConfigDifference, ConfigurationShown } from "../src/wire/api/configuration.ts";
import { compareConfigs, shownDifference } from "../src/wire/policy/config-diff.ts";
import type { ConfigPatch } from "../src/wire/policy/config-patch.ts";
import { clashesOf, patchDocument, readPatch } from "../src/wire/policy/config-patch.ts";
import type { PolicyRead } from "../src/wire/policy/policy.ts";
import { readPolicy } from "../src/wire/policy/policy.ts";
import { storedWithMode, writePolicy } from "../src/wire/policy/write-policy.ts";
import { forCluster } from "./for-cluster.ts";
import { documentOf, readHeld, type HeldConfig } from "./held-config.ts";
import { badRequest, problem } from "./problem.ts";
import { conflict, etagOf, storeConfig, type Wanted } from "./store-config.ts";
import { canonicalText } from "../src/domain/canonical.ts";
import { problemText } from "../src/domain/problem-text.ts";

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
async function putConfig(composed: Composition, site: Site, request: HttpRequest): Promise<HttpResponseInit> {
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
    return read.kind === "policy" ? canonicalText(storedWithMode(read.policy)) : text;
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
