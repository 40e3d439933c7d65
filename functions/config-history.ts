import type { HttpResponseInit } from "@azure/functions";
import { firstBytes } from "../src/app/describe/pages.ts";
import type { Site } from "../src/app/ports/site.ts";
import type { Composition } from "../src/compose.ts";
import { isoTime } from "../src/domain/units.ts";
import type { ConfigurationChangeShown, ConfigurationHistoryShown } from "../src/wire/api/configuration.ts";
import { compareConfigs } from "../src/wire/policy/config-diff.ts";
import { forCluster } from "./for-cluster.ts";
import { documentOf } from "./held-config.ts";

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
        at: at === undefined ? undefined : isoTime(at),
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
    changes: firstBytes(changes, MOST_BYTES),
  };
  return { status: 200, jsonBody };
}

/** An answer stays below 2 MiB. */
const MOST_BYTES = 1_500_000;
