import type { HttpRequest, HttpResponseInit } from "@azure/functions";
import { loadWhole } from "../src/app/record/load-record.ts";
import { describeLosses } from "../src/app/describe/describe-losses.ts";
import { unknownNodearrays } from "../src/app/describe/unknown-nodearrays.ts";
import { problemShown } from "../src/app/describe/rejected-shown.ts";
import type { Site } from "../src/app/ports/site.ts";
import type { Composition } from "../src/compose.ts";
import type { ConfigurationWrittenShown } from "../src/wire/api/configuration.ts";
import { readPolicy } from "../src/wire/policy/policy.ts";
import { storedPolicy, writePolicy } from "../src/wire/policy/write-policy.ts";
import { callerOf } from "./caller.ts";
import { badRequest, problem } from "./problem.ts";

/** The caller is known only if the platform signs callers in. It never names the key of a call (docs/configuration.md, History). */
export async function storeConfig(
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
  const jsonBody: ConfigurationWrittenShown = {
    ...writePolicy(policy),
    used: report.used,
    ignored: report.ignored,
    doubts: doubts.map(problemShown),
    unknownNodearrays: unknownNodearrays(record, bodies, policy),
    losses: describeLosses(record, bodies, policy, clock.now()),
  };
  return { status: 200, jsonBody };
}
