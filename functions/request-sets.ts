import type { HttpHandler, HttpRequest, HttpResponseInit } from "@azure/functions";
import { describeRequestSet } from "../src/app/describe/describe-request-set.ts";
import type { Site } from "../src/app/ports/site.ts";
import type { Composition } from "../src/compose.ts";
import type { SetName } from "../src/domain/ids.ts";
import { setName } from "../src/domain/ids.ts";
import { NAME_EXPECTED, isKeptName } from "../src/wire/json/name.ts";
import { problemShowing } from "../src/wire/json/problem.ts";
import { forCluster } from "./for-cluster.ts";
import { pageOf } from "./page.ts";
import { badRequest, problem } from "./problem.ts";
import { deleteRequestSet, putRequestSet } from "./write-request-set.ts";

async function getRequestSet(
  composed: Composition,
  site: Site,
  set: SetName,
  request: HttpRequest,
): Promise<HttpResponseInit> {
  const page = pageOf(request);
  if (page.kind === "problem") return badRequest([page.problem]);
  const described = await describeRequestSet(composed.app, site.cluster, set, page.start);
  if (described === undefined)
    return problem(404, "Unknown request set", `cluster "${site.cluster}" has no request set "${set}"`);
  return { status: 200, jsonBody: described };
}

type ForSet = (
  composed: Composition,
  site: Site,
  set: SetName,
  request: HttpRequest,
) => Promise<HttpResponseInit>;

function forSet(handle: ForSet): HttpHandler {
  return forCluster(async (composed, site, request) => {
    const name = request.params["set"];
    // An encoded slash arrives as %2F, which no name contains. Otherwise it could be taken for another set. A set that was stored with
    // another name can be read and emptied; the reader of messages refuses it to PUT.
    if (!isKeptName(name)) return badRequest([problemShowing("requestSet", name, NAME_EXPECTED)]);
    return handle(composed, site, setName(name), request);
  });
}

export const answerRequestSet = forSet(getRequestSet);

export const answerWriteRequestSet = forSet((composed, site, set, request) =>
  request.method === "PUT"
    ? putRequestSet(composed, site, set, request)
    : deleteRequestSet(composed, site, set),
);
