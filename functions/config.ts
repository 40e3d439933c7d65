import type { HttpRequest, HttpResponseInit } from "@azure/functions";
import type { Site } from "../src/app/ports/site.ts";
import type { Composition } from "../src/compose.ts";
import { readPolicy } from "../src/wire/policy/policy.ts";
import { writePolicy } from "../src/wire/policy/write-policy.ts";
import { forCluster } from "./for-cluster.ts";
import { storeConfig } from "./store-config.ts";

export const answerConfig = forCluster(getConfig);

export const answerWriteConfig = forCluster(putConfig);

/**
 * Reads the stored document, not the copy in this process, which may be 15 s old. If the document cannot be read, shows the configuration in
 * force and its problems.
 */
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
