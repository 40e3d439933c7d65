import { z } from "zod";
import { isDisabled } from "./app-settings.ts";
import type { NullableText, RegisteredFunction, RpcHttp, RpcCookie } from "./core.ts";
import { opens, keyOf, type AuthLevel, type HostKeys } from "./host-keys.ts";
import type { BodyBound } from "./http-server.ts";
import { LARGEST_BODY } from "./http-server.ts";
import { invokeFunction } from "./invocation.ts";
import { triggerOf, type Runtime } from "./runtime.ts";

/** HTTP triggers: finds the function for a request, and converts request and answer for the worker (platform.md section 3, "HTTP"). */

export type HttpEndpoint = {
  readonly registered: RegisteredFunction;
  readonly route: Route;
  readonly methods: ReadonlySet<string>;
  readonly authLevel: AuthLevel;
};

const httpTrigger = z.object({
  route: z.string().optional(),
  methods: z.array(z.string().toUpperCase()).default(["GET", "POST"]),
  authLevel: z
    .string()
    .toLowerCase()
    .pipe(z.enum(["anonymous", "function", "admin"]))
    .default("function"),
});

/** The endpoints of all HTTP functions that are not disabled, in the order in which they are tried. Throws if a route is invalid. */
export function readEndpoints(runtime: Runtime): readonly HttpEndpoint[] {
  return [...runtime.registry.functions.values()]
    .filter(({ metadata }) => triggerOf(metadata).type === "httptrigger")
    .filter(({ metadata }) => !isDisabled(metadata.name, runtime.settings))
    .map((registered) => {
      const { name } = registered.metadata;
      const { route, methods, authLevel } = httpTrigger.parse(triggerOf(registered.metadata).binding);
      const template = `${runtime.hostSettings.routePrefix}/${route ?? name}`;
      return { registered, route: parseRoute(template), methods: new Set(methods), authLevel };
    })
    .sort((a, b) =>
      a.route.precedence < b.route.precedence ? -1 : a.route.precedence > b.route.precedence ? 1 : 0,
    );
}

/** Nodes and probes send no body, or a few words. */
const MOST_ANONYMOUS_BYTES = 4 * 1024;

/**
 * The longest body of a request: FUNCTIONS_REQUEST_BODY_SIZE_LIMIT, as on the platform; without a key 4 KiB, which the platform does not
 * know (docs/threat-model.md, Threats).
 */
export function bodyBound(runtime: Runtime, endpoints: readonly HttpEndpoint[]): BodyBound {
  const limit = runtime.settings["FUNCTIONS_REQUEST_BODY_SIZE_LIMIT"];
  const most = limit === undefined ? LARGEST_BODY : Number(limit);
  return (method, pathname) => {
    const endpoint = endpoints.find(
      ({ route, methods }) => methods.has(method) && route.match(pathname) !== undefined,
    );
    return endpoint?.authLevel === "anonymous" ? Math.min(most, MOST_ANONYMOUS_BYTES) : most;
  };
}

/** Answers a request. An unknown path and a wrong method both give 404, because the platform treats methods as part of the route. */
export async function answerRequest(
  runtime: Runtime,
  endpoints: readonly HttpEndpoint[],
  keys: HostKeys,
  request: Request,
): Promise<Response> {
  const { pathname } = new URL(request.url);
  for (const { registered, route, methods, authLevel } of endpoints) {
    const params = methods.has(request.method) ? route.match(pathname) : undefined;
    if (params === undefined) continue;
    if (!opens(keys, keyOf(request), authLevel, registered.metadata.name)) return emptyAnswer(401);
    const http = await toRpc(request, params);
    const outcome = await invokeFunction(runtime, registered, { http });
    if (outcome.kind === "failed") return emptyAnswer(500);
    return outcome.returnValue?.http === undefined ? emptyAnswer(204) : fromRpc(outcome.returnValue.http);
  }
  return emptyAnswer(404);
}

export const emptyAnswer = (status: number) => new Response(null, { status });

async function toRpc(request: Request, params: Readonly<Record<string, string>>): Promise<RpcHttp> {
  const bytes = new Uint8Array(await request.arrayBuffer());
  return {
    method: request.method,
    url: request.url,
    nullableHeaders: nullable(request.headers),
    nullableQuery: nullable(joinRepeated(new URL(request.url).searchParams)),
    nullableParams: nullable(Object.entries(params)),
    ...(bytes.length === 0 ? {} : { body: { bytes } }),
  };
}

/** The worker gets one value for each query name: `?a=1&a=2` becomes a = "1,2". Letter case does not distinguish names (nodejs-library issue 168). */
function joinRepeated(query: URLSearchParams): Iterable<readonly [string, string]> {
  const joined = new Map<string, [string, string]>();
  for (const [name, value] of query) {
    const known = joined.get(name.toLowerCase());
    joined.set(name.toLowerCase(), known === undefined ? [name, value] : [known[0], `${known[1]},${value}`]);
  }
  return joined.values();
}

function nullable(entries: Iterable<readonly [string, string]>): NullableText {
  return Object.fromEntries(Array.from(entries, ([name, value]) => [name, { value }]));
}

function fromRpc({ statusCode, headers, cookies, body }: RpcHttp): Response {
  const status = Number(statusCode ?? 200);
  const mayHaveBody = status !== 204 && status !== 205 && status !== 304;
  const bytes =
    mayHaveBody && body?.bytes !== undefined && body.bytes.length > 0 ? Buffer.from(body.bytes) : null;
  const answer = new Response(bytes, { status, headers: { ...headers } });
  for (const cookie of cookies ?? []) answer.headers.append("set-cookie", setCookie(cookie));
  return answer;
}

// The `Set-Cookie` header for a cookie in an app's answer (RFC 6265).

const sameSiteNames = { lax: "Lax", strict: "Strict", explicitNone: "None" };

function setCookie(cookie: RpcCookie): string {
  const parts = [`${cookie.name}=${encodeURIComponent(cookie.value)}`];
  if (cookie.domain !== undefined) parts.push(`Domain=${cookie.domain.value}`);
  if (cookie.path !== undefined) parts.push(`Path=${cookie.path.value}`);
  if (cookie.expires !== undefined) {
    parts.push(`Expires=${new Date(cookie.expires.value.seconds * 1000).toUTCString()}`);
  }
  if (cookie.maxAge !== undefined) parts.push(`Max-Age=${cookie.maxAge.value}`);
  if (cookie.secure?.value === true) parts.push("Secure");
  if (cookie.httpOnly?.value === true) parts.push("HttpOnly");
  if (cookie.sameSite !== "none") parts.push(`SameSite=${sameSiteNames[cookie.sameSite]}`);
  return parts.join("; ");
}

// Route templates of HTTP functions: literals, `{p}`, `{p:int}`, `{p?}`, `{*rest}` (platform.md section 3, "HTTP").

type Route = {
  /** The values of the template's parameters. Missing optional ones are left out. Undefined if the path does not match. */
  match(path: string): Readonly<Record<string, string>> | undefined;
  /** The order of routes that match the same path, compared as text: the lowest is used. Literal segments are before parameters. */
  readonly precedence: string;
};

type Segment =
  | { readonly kind: "literal"; readonly text: string }
  | {
      readonly kind: "parameter";
      readonly name: string;
      readonly accepts: RegExp | undefined;
      readonly optional: boolean;
    }
  | { readonly kind: "rest"; readonly name: string };

const constraints: ReadonlyMap<string, RegExp> = new Map([
  ["int", /^-?\d+$/],
  ["long", /^-?\d+$/],
  ["bool", /^(true|false)$/i],
  ["alpha", /^[a-z]*$/i],
  ["guid", /^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i],
]);

/** Parses a template such as `api/clusters/{cluster}/nodes/{index:int?}`. Throws if it uses a feature that the local host lacks. */
export function parseRoute(template: string): Route {
  const segments = template
    .split("/")
    .filter((text) => text !== "")
    .map((text) => parseSegment(text, template));
  const misplaced = segments.slice(0, -1).find((segment) => segment.kind === "rest" || isOptional(segment));
  if (misplaced !== undefined) throw new Error(`route "${template}": only the last segment may be optional`);
  return {
    precedence: segments.map(rank).join(""),
    match: (path) => matchSegments(segments, splitPath(path)),
  };
}

function parseSegment(text: string, template: string): Segment {
  if (!/[{}]/.test(text)) return { kind: "literal", text: text.toLowerCase() };
  const match = /^\{(\*{0,2})([A-Za-z_][\w-]*)(?::([a-z]+))?(\?)?\}$/.exec(text);
  const [, star, name, constraint, optional] = match ?? [];
  if (name === undefined) throw new Error(`route "${template}": "${text}" is not supported locally`);
  if (star !== "") return { kind: "rest", name };
  const accepts = constraint === undefined ? undefined : constraints.get(constraint);
  if (constraint !== undefined && accepts === undefined) {
    throw new Error(`route "${template}": constraint "${constraint}" is not supported locally`);
  }
  return { kind: "parameter", name, accepts, optional: optional !== undefined };
}

function matchSegments(
  segments: readonly Segment[],
  path: readonly string[],
): Readonly<Record<string, string>> | undefined {
  const values: Record<string, string> = {};
  for (const [i, segment] of segments.entries()) {
    const text = path[i];
    if (segment.kind === "rest") return { ...values, [segment.name]: path.slice(i).join("/") };
    if (text === undefined) return isOptional(segment) ? values : undefined;
    if (segment.kind === "literal") {
      if (text.toLowerCase() !== segment.text) return undefined;
    } else {
      if (segment.accepts?.test(text) === false) return undefined;
      values[segment.name] = text;
    }
  }
  return path.length > segments.length ? undefined : values;
}

/** Decoded segments of a URL's path. An encoded slash stays encoded, as in the platform's web server. */
function splitPath(path: string): readonly string[] {
  return path
    .split("/")
    .filter((text) => text !== "")
    .map((text) => {
      try {
        return decodeURIComponent(text.replace(/%2f/gi, "%252F"));
      } catch {
        return text;
      }
    });
}

const isOptional = (segment: Segment) => segment.kind === "parameter" && segment.optional;

function rank(segment: Segment): string {
  if (segment.kind === "literal") return "1";
  if (segment.kind === "rest") return "5";
  return segment.accepts === undefined ? "3" : "2";
}
