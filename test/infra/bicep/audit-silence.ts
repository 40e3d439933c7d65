import { REST_OBSERVATION_SECONDS } from "../../../src/decide/pace/next-tick.ts";
import type { Value } from "./value.ts";
import { at, textFrom } from "./value.ts";
import type { Played } from "./variants.ts";
import { ofType } from "./variants.ts";

/** An observation may take so long before its tick is logged: a tick that is waited for ends after 50 s (src/app/tick.ts). */
const LOOK_MINUTES = 1;
/** Logs are there five minutes later as a rule; twice that is allowed for. */
const INGESTION_MINUTES = 10;
/** A dead app is to be known this long after its last tick, by the log alert alone. */
const KNOWN_MINUTES = 50;

/** An idle cluster ticks every quarter of an hour: the log alert must not take the pause for silence, and must find silence soon. */
export function auditSilence(played: Played): readonly string[] {
  const rule = played["full"] && ofType(played["full"], "Microsoft.Insights/scheduledQueryRules")[0]?.body;
  const minutes = (path: string) => minutesOf(at(rule, `properties.${path}`));
  const query = textFrom(at(rule, "properties.criteria.allOf.0.query") ?? "");
  const [, window = "0"] = /^let ticks = .*TimeGenerated > ago\((\d+)m\)/m.exec(query) ?? [];
  const silent = Number(window);
  const needed = REST_OBSERVATION_SECONDS / 60 + LOOK_MINUTES + INGESTION_MINUTES;
  return [
    ...(silent > needed ? [] : [`ticks of ${silent} min: an idle cluster may be silent for ${needed} min`]),
    ...(silent + minutes("evaluationFrequency") + LOOK_MINUTES <= KNOWN_MINUTES
      ? []
      : [`ticks of ${silent} min: silence is known after ${KNOWN_MINUTES} min only`]),
    ...(minutes("overrideQueryTimeRange") >= silent ? [] : ["the query does not read the time it looks at"]),
  ];
}

/** Minutes of a duration such as PT15M or PT2H. */
function minutesOf(value: Value | undefined): number {
  const [, count = "0", unit] = /^PT(\d+)([HM])$/.exec(textFrom(value ?? "")) ?? [];
  return Number(count) * (unit === "H" ? 60 : 1);
}
