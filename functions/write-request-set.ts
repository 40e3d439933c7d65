import type { HttpRequest, HttpResponseInit } from "@azure/functions";
import type { Site } from "../src/app/ports/site.ts";
import type { Composition } from "../src/compose.ts";
import type { SetName } from "../src/domain/ids.ts";
import { LONGEST_EXPIRATION_SECONDS } from "../src/domain/policy.ts";
import { emptyRequestSet, readRequestSetInSlices } from "../src/wire/message/demand-message.ts";
import { MOST_OVER_HTTP } from "../src/wire/json/decode.ts";
import { acknowledge } from "./acknowledge.ts";
import { expired } from "./older-revision.ts";
import { badRequest, problem } from "./problem.ts";
import { answerWithBody, inTurns } from "./reading.ts";

export async function putRequestSet(
  composed: Composition,
  site: Site,
  set: SetName,
  request: Pick<HttpRequest, "arrayBuffer">,
): Promise<HttpResponseInit> {
  const body = new Uint8Array(await request.arrayBuffer());
  return answerWithBody(composed, body, MOST_OVER_HTTP, () => putBody(composed, site, set, body));
}

async function putBody(
  composed: Composition,
  site: Site,
  set: SetName,
  body: Uint8Array,
): Promise<HttpResponseInit> {
  const { clock, sites } = composed.app.ports;
  const read = await inTurns(
    readRequestSetInSlices(body, {
      cluster: site.cluster,
      set,
      now: clock.now(),
      maxExpirationSeconds: LONGEST_EXPIRATION_SECONDS,
      knownClusters: new Set(sites.keys()),
      senderTime: composed.senderTime,
    }),
  );
  if (read.kind === "rejected") {
    return read.tooLarge === true
      ? problem(413, "Too large", "a request set has at most 32 MiB of JSON, unpacked")
      : badRequest(read.problems);
  }
  if (read.kind === "stale") return expired(read.expiredAt);
  if (read.kind === "wake") return problem(400, "Bad request", "a request set was expected");
  return acknowledge(composed, site, read.update);
}

export async function deleteRequestSet(
  composed: Composition,
  site: Site,
  set: SetName,
): Promise<HttpResponseInit> {
  const { clock, policyOf } = composed.app.ports;
  const { maxExpirationSeconds } = await policyOf(site.cluster);
  const now = clock.now();
  return acknowledge(
    composed,
    site,
    emptyRequestSet(
      site.cluster,
      set,
      { value: composed.senderTime(now), tieBreak: "" },
      now,
      maxExpirationSeconds,
    ),
  );
}
