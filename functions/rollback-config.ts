import type { HttpRequest, HttpResponseInit } from "@azure/functions";
import type { Site } from "../src/app/ports/site.ts";
import type { Composition } from "../src/compose.ts";
import type { ConfigVersion } from "../src/domain/config-version.ts";
import { forCluster } from "./for-cluster.ts";
import { badRequest, problem } from "./problem.ts";
import { storeConfig } from "./store-config.ts";

export const answerRollbackConfig = forCluster(rollBack);

/** Writes an earlier version of the configuration as a new one. Without `to`: the version before the last change. Version 0: the defaults. */
async function rollBack(composed: Composition, site: Site, request: HttpRequest): Promise<HttpResponseInit> {
  const to = request.query.get("to");
  if (to !== null && !/^(0|[1-9]\d{0,8})$/.test(to))
    return badRequest([
      { path: "to", found: JSON.stringify(to.slice(0, 40)), expected: "the number of a version" },
    ]);
  const versions = withDefaults(await composed.app.ports.documents.versions(site.cluster));
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

/** With the defaults as version 0, if they held before the oldest version that is kept. */
function withDefaults(versions: readonly ConfigVersion[]): readonly ConfigVersion[] {
  const oldest = versions.at(-1);
  // A version without a time was in force before changes were recorded. What held before that is not known.
  return oldest?.number === 1 && oldest.at !== undefined
    ? [...versions, { number: 0, text: "{}" }]
    : versions;
}
