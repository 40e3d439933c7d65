import type { HttpRequest, HttpResponseInit } from "@azure/functions";
import { loadWhole } from "../src/app/commit.ts";
import { describeLosses } from "../src/app/describe-losses.ts";
import type { Site } from "../src/app/ports.ts";
import type { Composition } from "../src/compose.ts";
import type { Bodies } from "../src/domain/bodies.ts";
import type { Policy } from "../src/domain/policy.ts";
import type { ClusterRecord } from "../src/domain/record.ts";
import { EVERY_OTHER } from "../src/wire/timeouts.ts";
import { readPolicy, storedPolicy, writePolicy } from "../src/wire/policy.ts";
import { firstBytes } from "../src/app/pages.ts";
import { isoTime } from "../src/domain/units.ts";
import { compareConfigs } from "../src/wire/config-diff.ts";
import { parseDocument } from "../src/wire/document.ts";
import { isFields } from "../src/wire/fields.ts";
import { callerOf } from "./caller.ts";
import { forCluster } from "./for-cluster.ts";
import { badRequest, problem } from "./problem.ts";

export const answerConfig = forCluster(getConfig);

export const answerWriteConfig = forCluster(putConfig);

export const answerConfigHistory = forCluster(getHistory);

export const answerRollbackConfig = forCluster(rollBack);

/** Every change with its difference, newest first. */
async function getHistory(composed: Composition, site: Site): Promise<HttpResponseInit> {
  const versions = await composed.app.ports.documents.versions(site.cluster);
  const shown = versions.map(({ text }) => documentOf(text));
  const changes = versions.map(({ number, at, who = "unknown", rollbackTo }, index) => {
    const isFirst = index === versions.length - 1;
    return {
      number,
      ...(at === undefined ? {} : { at: isoTime(at) }),
      who,
      ...(rollbackTo === undefined ? {} : { rollbackTo }),
      // What came before the oldest that is kept is not known, but before version 1 the defaults held.
      ...(isFirst && number > 1
        ? { differences: [], more: 0 }
        : compareConfigs(shown[index + 1] ?? documentOf("{}"), shown[index] ?? {})),
    };
  });
  return { status: 200, jsonBody: { cluster: site.cluster, changes: firstBytes(changes, MOST_BYTES) } };
}

/** An answer stays below 2 MiB. */
const MOST_BYTES = 1_500_000;

/** A stored document as GET shows it; one that cannot be read, as it is. */
function documentOf(text: string): object {
  const read = readPolicy(text);
  if (read.kind === "policy") return writePolicy(read.policy);
  const document = parseDocument(text);
  return document.kind === "value" && isFields(document.value) ? document.value : {};
}

/** Puts a recorded state in force again, as a change of its own. Without `to`: the one before the last change. */
async function rollBack(composed: Composition, site: Site, request: HttpRequest): Promise<HttpResponseInit> {
  const to = request.query.get("to");
  if (to !== null && !/^[1-9]\d{0,8}$/.test(to))
    return badRequest([
      { path: "to", found: JSON.stringify(to.slice(0, 40)), expected: "the number of a version" },
    ]);
  const versions = await composed.app.ports.documents.versions(site.cluster);
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
  return storeConfig(composed, site, request, wanted.text, wanted.number);
}

/** Read anew: the functions themselves may go on for 15 s by what they read before. What cannot be read shows what holds instead. */
async function getConfig(composed: Composition, site: Site): Promise<HttpResponseInit> {
  const { documents, policyOf } = composed.app.ports;
  const held = await documents.read(site.cluster);
  const read = readPolicy(held?.text ?? "{}", composed.defaultMode);
  if (read.kind === "problems") {
    const jsonBody = { ...writePolicy(await policyOf(site.cluster)), unreadable: read.problems };
    return { status: 200, jsonBody };
  }
  const doubts = read.doubts.length === 0 ? {} : { doubts: read.doubts };
  return { status: 200, jsonBody: { ...writePolicy(read.policy), ...doubts } };
}

async function putConfig(composed: Composition, site: Site, request: HttpRequest): Promise<HttpResponseInit> {
  return storeConfig(composed, site, request, await request.text());
}

/** Who made the change is known only if the platform signs callers in: it does not say which key a call came with (docs/configuration.md). */
async function storeConfig(
  composed: Composition,
  site: Site,
  { headers }: HttpRequest,
  text: string,
  rollbackTo?: number,
): Promise<HttpResponseInit> {
  const read = readPolicy(text, composed.defaultMode);
  if (read.kind === "problems") return badRequest(read.problems);
  const { clock, documents } = composed.app.ports;
  const who = callerOf(headers, composed.platformSignsIn === true);
  const held = await documents.read(site.cluster);
  const written = await documents.write(site.cluster, JSON.stringify(storedPolicy(read.policy)), held?.etag, {
    at: clock.now(),
    ...(who === undefined ? {} : { who }),
    ...(rollbackTo === undefined ? {} : { rollbackTo }),
  });
  if (written === "conflict")
    return problem(409, "Conflict", "the configuration was changed at the same time; read it and try again");
  if (written !== "saved") {
    const sizes = `${written.bytes} bytes compressed, at most ${written.limit} possible`;
    const advice = "leave out regions that the cluster does not have";
    return problem(413, "Too large", `the configuration takes ${sizes}: ${advice}`);
  }
  const { policy, report, doubts } = read;
  const { record, bodies } = await loadWhole(composed.app, site.cluster);
  const unknownNodearrays = namesNotInStatus(record, bodies, policy);
  const losses = describeLosses(record, bodies, policy, composed.app.ports.clock.now());
  return { status: 200, jsonBody: { ...writePolicy(policy), ...report, doubts, unknownNodearrays, losses } };
}

/** Arrays that the cluster does not have (yet): said, not refused, as a template may be imported later. */
function namesNotInStatus(record: ClusterRecord, bodies: Bodies, policy: Policy): readonly string[] {
  if (bodies.seen === undefined) return [];
  const arrays = [...bodies.seen.arrays, ...(record.dynamicArrays ?? [])];
  const known = new Set<string>([EVERY_OTHER, ...arrays.map(({ name }) => name)]);
  // A generated array is called after its own: "hpc:64", "hpc:16n".
  const isKnown = (name: string): boolean => known.has(name) || known.has(name.replace(/:\d+n?$/, ""));
  const {
    arrayModes,
    exclusiveArrays = [],
    nodearrays = [],
    idleTimeouts,
    bootTimeouts,
    placementGroups,
  } = policy;
  const named = [arrayModes, idleTimeouts, bootTimeouts, placementGroups].flatMap((one) => [
    ...(one?.keys() ?? []),
  ]);
  const exclusive = exclusiveArrays === true ? [] : exclusiveArrays;
  return [...new Set([...nodearrays, ...exclusive, ...named])].filter((name) => !isKnown(name));
}
