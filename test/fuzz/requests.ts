import type { Dice } from "../simulation/dice.ts";
import { edgeNumber, edgeText } from "./edges.ts";

/** A request whose path, query and headers are what is tried. */
export interface RequestParts {
  readonly method: string;
  /** Segments below /api, not yet encoded. */
  readonly path: readonly string[];
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

type Template = Pick<RequestParts, "method" | "path"> & {
  readonly query?: Readonly<Record<string, readonly [string, ...string[]]>>;
};

const CLUSTER = "@cluster";
const SET = ["clusters", CLUSTER, "request-sets", "hostile"];
const AUTOSTOP_QUERY: Template["query"] = {
  instance: ["vm-1", "0123"],
  asked: ["1767225600000"],
  begin: ["yes", "no"],
  reason: ["unhealthy"],
};

const TEMPLATES: readonly [Template, ...Template[]] = [
  { method: "GET", path: SET },
  { method: "DELETE", path: SET },
  { method: "PUT", path: SET },
  { method: "GET", path: ["clusters"] },
  { method: "GET", path: ["clusters", CLUSTER], query: { page: ["1"], after: ["x"] } },
  {
    method: "GET",
    path: ["clusters", CLUSTER, "explain"],
    query: { job: ["base-1", "nodearray:execute"], set: ["base"], plan: ["1"] },
  },
  { method: "GET", path: ["clusters", CLUSTER, "explain"], query: { node: ["execute-1"], plan: ["1"] } },
  {
    method: "GET",
    path: ["clusters", CLUSTER, "history"],
    query: { from: ["2026-01-01T00:00:00Z"], to: ["2026-01-02T00:00:00Z"], limit: ["10"] },
  },
  {
    method: "GET",
    path: ["clusters", CLUSTER, "history", "nodes"],
    query: { from: ["2026-01-01T00:00:00Z"], limit: ["10"], page: ["live-1"] },
  },
  { method: "POST", path: ["clusters", CLUSTER, "tick"] },
  { method: "POST", path: ["clusters", CLUSTER, "restored"] },
  { method: "POST", path: ["clusters", CLUSTER, "plan"] },
  { method: "GET", path: ["clusters", CLUSTER, "config"] },
  { method: "GET", path: ["autostop", CLUSTER, "one.AAAAAAAAAAAAAAAAAAAAAA"], query: AUTOSTOP_QUERY },
  { method: "POST", path: ["autostop", CLUSTER, "@token"], query: AUTOSTOP_QUERY },
  { method: "GET", path: ["health"] },
];

const TIMES = [
  "-271821-04-20T00:00:00Z",
  "+275760-09-13T00:00:00.000Z",
  "+275760-09-13T00:00:00.001Z",
  "1969-12-31",
  "2026-02-30",
  "0",
  "2026-01-31T12:00:00+99:99",
] as const;

const HEADERS: readonly (readonly [string, readonly [string, ...string[]]])[] = [
  ["content-type", ["", "text/plain", "application/json; charset=utf-16", "multipart/form-data", "x/y; q"]],
  ["content-encoding", ["gzip", "br", "identity", "gzip, gzip", "x"]],
  ["if-match", ["*", '"x"', "W/"]],
  ["accept", ["*/*", "text/html", "application/x-unknown"]],
  ["authorization", ["Basic AAAA", "Bearer x"]],
  ["x-forwarded-for", ["::1", "a".repeat(5000)]],
  ["cookie", ["a=b; __proto__=c"]],
];

/** A request of a route as it should be, with one to three of its parts replaced. */
export function anyRequest(dice: Dice): RequestParts {
  const template = dice.pick(TEMPLATES);
  const query = Object.fromEntries(
    Object.entries(template.query ?? {})
      .filter(() => dice.chance(0.6))
      .map(([name, values]): [string, string] => [name, dice.pick(values)]),
  );
  let request: RequestParts = { method: template.method, path: template.path, query, headers: {} };
  for (let left = dice.whole(0, 3); left > 0; left -= 1)
    request = dice.pick<() => RequestParts>([
      () => withSegment(dice, request),
      () => withParameter(dice, request, Object.keys(template.query ?? {})),
      () => withParameter(dice, request, Object.keys(template.query ?? {})),
      () => withHeader(dice, request),
      () => withBody(dice, request),
    ])();
  return request;
}

function withSegment(dice: Dice, request: RequestParts): RequestParts {
  const at = dice.whole(0, request.path.length - 1);
  return { ...request, path: request.path.with(at, edgeText(dice).slice(0, 2000)) };
}

function withParameter(dice: Dice, request: RequestParts, names: readonly string[]): RequestParts {
  const name =
    names.length === 0 || dice.chance(0.1)
      ? edgeText(dice).slice(0, 20)
      : names[dice.whole(0, names.length - 1)];
  const value = dice.pick<() => string>([
    () => edgeText(dice).slice(0, 3000),
    () => String(edgeNumber(dice)).replace("@@", ""),
    () => dice.pick(TIMES),
  ])();
  return { ...request, query: { ...request.query, [name ?? "x"]: value } };
}

function withHeader(dice: Dice, request: RequestParts): RequestParts {
  const [name, values] = HEADERS[dice.whole(0, HEADERS.length - 1)] ?? ["accept", ["*/*"]];
  return { ...request, headers: { ...request.headers, [name]: dice.pick(values) } };
}

function withBody(dice: Dice, request: RequestParts): RequestParts {
  if (request.method === "GET") return request;
  return { ...request, body: dice.pick(["", "{}", "null", "[]", "\0", '{"version":1,"jobs":[]}', "\ud800"]) };
}
