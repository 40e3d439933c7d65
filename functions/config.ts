import type { HttpRequest, HttpResponseInit } from "@azure/functions";
import type { Site } from "../src/app/ports/site.ts";
import { problemShown } from "../src/app/describe/rejected-shown.ts";
import type { Composition } from "../src/compose.ts";
import type { ConfigurationShown } from "../src/wire/api/configuration.ts";
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
    const jsonBody: ConfigurationShown = {
      ...writePolicy(await policyOf(site.cluster)),
      unreadable: read.problems.map(problemShown),
      doubts: undefined,
    };
    return { status: 200, jsonBody };
  }
  const jsonBody: ConfigurationShown = {
    ...writePolicy(read.policy),
    unreadable: undefined,
    doubts: read.doubts.length === 0 ? undefined : read.doubts.map(problemShown),
  };
  return { status: 200, jsonBody };
}

async function putConfig(composed: Composition, site: Site, request: HttpRequest): Promise<HttpResponseInit> {
  return storeConfig(composed, site, request, await request.text());
}
