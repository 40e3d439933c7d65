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
import { forCluster } from "./for-cluster.ts";
import { badRequest, problem } from "./problem.ts";

export const answerConfig = forCluster(getConfig);

export const answerWriteConfig = forCluster(putConfig);

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
  const text = await request.text();
  const read = readPolicy(text, composed.defaultMode);
  if (read.kind === "problems") return badRequest(read.problems);
  const { documents } = composed.app.ports;
  const held = await documents.read(site.cluster);
  const written = await documents.write(site.cluster, JSON.stringify(storedPolicy(read.policy)), held?.etag);
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
  const { nodearrays = [], idleTimeouts, bootTimeouts, placementGroups } = policy;
  const named = [idleTimeouts, bootTimeouts, placementGroups].flatMap((one) => [...(one?.keys() ?? [])]);
  return [...new Set([...nodearrays, ...named])].filter((name) => !isKnown(name));
}
