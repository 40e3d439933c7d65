import type { HttpRequest, HttpResponseInit } from "@azure/functions";
import type { Site } from "../src/app/ports/site.ts";
import type { Composition } from "../src/compose.ts";
import type { ConfigVersion } from "../src/domain/config-version.ts";
import { forCluster } from "./for-cluster.ts";
import { readHeld } from "./held-config.ts";
import { badRequest, problem } from "./problem.ts";
import { readPolicy } from "../src/wire/policy/policy.ts";
import { conflict, storeConfig } from "./store-config.ts";

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
