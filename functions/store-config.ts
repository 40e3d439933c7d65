import type { HttpRequest, HttpResponseInit } from "@azure/functions";
import { loadWhole } from "../src/app/record/load-record.ts";
import { waitForPlan } from "../src/app/record/commit-after-plan.ts";
import { describeLeft } from "../src/app/describe/describe-under-way.ts";
import { describeLosses } from "../src/app/describe/describe-losses.ts";
import { unknownNodearrays } from "../src/app/describe/unknown-nodearrays.ts";
import { problemShown } from "../src/app/describe/rejected-shown.ts";
import type { Site } from "../src/app/ports/site.ts";
import type { Composition } from "../src/compose.ts";
import type { ConfigurationWrittenShown } from "../src/wire/api/configuration.ts";
import { compareConfigs } from "../src/wire/policy/config-diff.ts";
import { keepMode, writeMode } from "../src/wire/policy/mode.ts";
import type { PolicyRead } from "../src/wire/policy/policy.ts";
import { storedPolicy, writePolicy } from "../src/wire/policy/write-policy.ts";
import { callerOf } from "./caller.ts";
import { documentOf, type HeldConfig } from "./held-config.ts";
import { problem } from "./problem.ts";
import { planUnderChange } from "./reconcile.ts";

/** A configuration that a door wants to store. */
export interface Wanted {
  readonly read: Extract<PolicyRead, { readonly kind: "policy" }>;
  readonly rollbackTo?: number;
}

/**
 * Stores a configuration in the place of the held one. A document that says no mode keeps the mode in force. "conflict": another change came
 * first. The caller is known only if the platform signs callers in. It never names the key of a call (docs/configuration.md, History).
 */
export async function storeConfig(
  composed: Composition,
  site: Site,
  { headers }: HttpRequest,
  held: HeldConfig,
  { read, rollbackTo }: Wanted,
): Promise<HttpResponseInit | "conflict"> {
  const policy = keepMode(read.policy, held.inForce);
  const { clock, documents } = composed.app.ports;
  const who = callerOf(headers, composed.platformSignsIn === true);
  const text = JSON.stringify(storedPolicy(policy));
  await waitForPlan(composed.app, site.cluster, policy);
  const written = await documents.write(site.cluster, text, held.etag, {
    at: clock.now(),
    ...(who === undefined ? {} : { who }),
    ...(rollbackTo === undefined ? {} : { rollbackTo }),
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
    used: report.used,
    ignored: report.ignored,
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
export const etagOf = (version: number): string => `"${version}"`;

/** 409: another change came first, and the caller has to look at it. */
export function conflict(): HttpResponseInit {
  return problem(409, "Conflict", "the configuration was changed at the same time; read it and try again");
}
