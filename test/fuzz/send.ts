import { gzipSync } from "node:zlib";
import { compose, ConfigError, readConfig } from "../../src/compose.ts";
import { writeText } from "./edges.ts";
import type { Fault, Input } from "./input.ts";
import { headOf, judgeProblems, memberOf } from "./judge.ts";
import { editRows } from "./rows.ts";
import { tamperBy } from "./tamper.ts";
import type { World } from "./world.ts";

/** What an input comes to for those who play it. */
export type Sent =
  | { readonly kind: "message"; readonly queue: "demand" | "demand-poison"; readonly text: string }
  | {
      readonly kind: "request";
      readonly method: string;
      readonly path: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly body?: Uint8Array<ArrayBuffer>;
    }
  /** Done: nothing is to be called for it but what follows every input. */
  | { readonly kind: "done"; readonly faults: readonly Fault[] };

/** A queue takes no more. */
const QUEUE_BYTES = 64 * 1024;

const BOUND_ROUTES: Readonly<Record<string, readonly string[]>> = {
  put: ["request-sets", "hostile"],
  plan: ["plan"],
  config: ["config"],
};

export async function prepareInput(world: World, input: Input, token: string): Promise<Sent> {
  const { door, document, how } = input;
  const bytes = () => pack(how, writeText(document, world.cluster), document);
  const toRoute = (method: string, ...rest: readonly string[]): Sent => ({
    kind: "request",
    method,
    path: `/clusters/${world.cluster}/${rest.join("/")}`,
    headers: {},
    body: bytes(),
  });
  switch (door) {
    case "message":
    case "poison":
      return messageOf(door, how, writeText(document, world.cluster), document);
    case "put":
    case "constraint":
      return toRoute("PUT", "request-sets", "hostile");
    case "plan":
      return toRoute("POST", "plan");
    case "config":
      return toRoute("PUT", "config");
    case "bound":
    case "long":
      if (how === "status") {
        world.tamper = tamperBy(how, document);
        return { kind: "done", faults: [] };
      }
      if (how === "message")
        return messageOf("message", "json", writeText(document, world.cluster), document);
      return toRoute(how === "plan" ? "POST" : "PUT", ...(BOUND_ROUTES[how] ?? []));
    case "request":
      return requestOf(document, world, token);
    case "settings":
      return { kind: "done", faults: trySettings(document) };
    case "cyclecloud":
      world.tamper = tamperBy(how, document);
      return { kind: "done", faults: [] };
    case "rows":
      await editRows(world, how, document);
      return { kind: "done", faults: [] };
  }
}

/** What is too long for a queue travels packed; what is still too long cannot be sent. */
function messageOf(door: "message" | "poison", how: string, text: string, document: unknown): Sent {
  const packed = pack(how, text, document);
  const plain = how === "gzip" ? packed.toString("base64") : packed.toString("utf8");
  const sent = Buffer.byteLength(plain) <= QUEUE_BYTES ? plain : gzipSync(text).toString("base64");
  if (sent.length > QUEUE_BYTES) return { kind: "done", faults: [] };
  return { kind: "message", queue: door === "message" ? "demand" : "demand-poison", text: sent };
}

function pack(how: string, json: string, document: unknown): Buffer<ArrayBuffer> {
  switch (how) {
    case "base64":
      return Buffer.from(Buffer.from(json).toString("base64"));
    case "gzip":
      return Buffer.from(gzipSync(json));
    case "text":
      return Buffer.from(String(document));
    case "cut":
      return Buffer.from(json.slice(0, Math.floor(json.length / 2)));
    case "mark":
      return Buffer.from(`\uFEFF${json}`);
    case "twice":
      return Buffer.from(json + json);
    default:
      return Buffer.from(json);
  }
}

/** What no client can send (a header with a line break) is left out, as a host never gets it. */
function requestOf(document: unknown, world: World, token: string): Sent {
  const place = (text: string) => text.replaceAll("@cluster", world.cluster).replaceAll("@token", token);
  const segments = memberOf(document, "path");
  const method = memberOf(document, "method");
  const body = memberOf(document, "body");
  const texts = (name: string): readonly (readonly [string, string])[] =>
    Object.entries(memberOf(document, name) ?? {}).map(([key, value]) => [key, place(String(value))]);
  const path = (Array.isArray(segments) ? segments : [])
    .map((segment: unknown) => encodeURIComponent(place(String(segment)).toWellFormed()))
    .join("/");
  const query = new URLSearchParams(
    texts("query").map(([key, value]): [string, string] => [key, value]),
  ).toString();
  return {
    kind: "request",
    method: typeof method === "string" ? method : "GET",
    path: `/${path}${query === "" ? "" : `?${query}`}`,
    headers: Object.fromEntries(texts("headers")),
    ...(typeof body === "string" ? { body: Buffer.from(body) } : {}),
  };
}

/** Settings are read, and everything is built from them; nothing is asked of a network. */
function trySettings(document: unknown): readonly Fault[] {
  const settings = Object.fromEntries(
    Object.entries(document ?? {}).map(([name, value]): [string, string] => [
      name,
      typeof value === "string" ? value : writeText(value, "prod"),
    ]),
  );
  try {
    compose(readConfig(settings), () => undefined);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError))
      return [{ kind: `settings throw (${headOf(error)})`, what: String(error) }];
    const flaws = judgeProblems(error.problems);
    return flaws.map((what) => ({ kind: "refusal (settings)", what }));
  }
}
