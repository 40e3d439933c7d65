import type { IncomingHttpHeaders } from "node:http";
import { createServer } from "node:http";
import { onTestFinished } from "vitest";
import { ALL_FUNCTIONS } from "../../src/client/index.ts";
import type { Terminal } from "../../src/cli/terminal.ts";
import type { CommandEnd } from "./run-command.ts";
import { runCommand } from "./run-command.ts";

/** An answer of the stage; a body that is text is sent as it is. */
export interface Answer {
  readonly status?: number;
  readonly body?: unknown;
}

/** What the app, or Azure, answers at a moment of the play; undefined: as a good one does. Seconds count from the beginning. */
export interface Play {
  /** Azure's front end and the host, before any function of the app. */
  readonly front?: (seconds: number) => Answer | undefined;
  /** The host's own list of functions. */
  readonly hostList?: Answer;
  readonly clusters?: (seconds: number) => Answer | undefined;
  readonly state?: (seconds: number) => Answer | undefined;
  readonly wake?: () => Answer | undefined;
  readonly tick?: (seconds: number) => Answer | undefined;
  /** The names that Azure lists, by the seconds and the number of syncs so far. */
  readonly listed?: (seconds: number, syncs: number) => Answer | readonly string[];
  readonly sync?: () => Answer;
  readonly signIn?: () => Promise<string>;
  /** Default: each minute. */
  readonly isTimerSilent?: true;
  /** Its last tick, before the play begins. */
  readonly timerStoppedAt?: string;
  /** Seconds until a wake message comes through; undefined: never. Default 10. */
  readonly queueSeconds?: number | undefined;
  /** Default: the command's own. */
  readonly version?: string | undefined;
  readonly clockAhead?: number;
}

export interface Stage {
  readonly url: string;
  /** "POST /api/clusters/demo/tick", in order. */
  readonly seen: readonly string[];
  /** Seconds that the command has waited. */
  readonly waited: () => number;
  readonly verify: (words?: readonly string[], terminal?: Partial<Terminal>) => Promise<CommandEnd>;
  readonly verifyWithoutKey: (words: readonly string[]) => Promise<CommandEnd>;
}

const ORIGIN = Date.UTC(2026, 10, 22, 12, 0, 30);
const KEY = "operator";
const HOST_KEY = "host-key-of-the-app";
const TOKEN = "token of the administrator";
export const RESOURCE_ID =
  "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/hpc/providers/Microsoft.Web/sites/scaler";
const LIST = `${RESOURCE_ID}/functions?api-version=2024-11-01`;
const KEYS = `${RESOURCE_ID}/host/default/listkeys?api-version=2024-11-01`;
const SYNC = `${RESOURCE_ID}/host/default/sync?api-version=2024-11-01`;

/** A fake app and a fake management API at one loopback address, on a clock that only the command's waiting moves. */
export async function openStage(play: Play): Promise<Stage> {
  let elapsed = 0;
  let syncs = 0;
  let wake: { readonly id: string; readonly due: number } | undefined;
  const seen: string[] = [];
  const seconds = () => elapsed / 1000;

  const answerClusters = (): Answer => {
    const now = ORIGIN + elapsed;
    const timerAt = Math.floor(now / 60_000) * 60_000;
    const version = "version" in play ? play.version : "1.2.3";
    const lastWake = wake !== undefined && seconds() >= wake.due ? { id: wake.id } : { id: "an older one" };
    return {
      body: {
        ...(version === undefined ? {} : { version }),
        time: new Date(now + (play.clockAhead ?? 0) * 1000).toISOString(),
        ...(play.isTimerSilent === true
          ? {}
          : { timerAt: play.timerStoppedAt ?? new Date(timerAt).toISOString() }),
        clusters: [{ cluster: "demo", health: { ok: true, notes: [], warnings: [] }, lastWake }],
      },
    };
  };
  const sendWake = (): Answer => {
    const delay = "queueSeconds" in play ? play.queueSeconds : 10;
    wake = { id: "wake-1", due: delay === undefined ? Number.POSITIVE_INFINITY : seconds() + delay };
    return { status: 202, body: { cluster: "demo", id: "wake-1" } };
  };
  const answerAzure = (request: string): Answer | undefined => {
    if (request === `POST ${SYNC}`) {
      syncs += 1;
      return play.sync?.() ?? { status: 204 };
    }
    if (request === `POST ${KEYS}`) return { body: { functionKeys: { default: HOST_KEY } } };
    if (request !== `GET ${LIST}`) return undefined;
    const listed = play.listed?.(seconds(), syncs) ?? ALL_FUNCTIONS;
    return isNames(listed) ? { body: { value: listed.map((name) => ({ name: `scaler/${name}` })) } } : listed;
  };
  const answerOf = (request: string, headers: IncomingHttpHeaders): Answer => {
    if (request.includes("/subscriptions/"))
      return headers.authorization === `Bearer ${TOKEN}`
        ? (answerAzure(request) ?? { status: 404 })
        : { status: 401 };
    const fronted = play.front?.(seconds());
    if (fronted !== undefined) return fronted;
    if (request === "GET /api/health") return { body: { ok: true } };
    if (request === "GET /admin/functions") return play.hostList ?? { status: 404 };
    const key = headers["x-functions-key"];
    if (key !== KEY && key !== HOST_KEY) return { status: 401 };
    switch (request) {
      case "GET /api/clusters":
        return play.clusters?.(seconds()) ?? answerClusters();
      case "GET /api/clusters/demo":
        return play.state?.(seconds()) ?? { body: {} };
      case "POST /api/clusters/demo/wake":
        return play.wake?.() ?? sendWake();
      case "POST /api/clusters/demo/tick":
        return play.tick?.(seconds()) ?? { body: { outcome: "planned", plan: 1 } };
      default:
        return { status: 404 };
    }
  };

  const server = createServer((request, response) => {
    request.resume();
    const asked = `${request.method ?? ""} ${request.url ?? ""}`;
    seen.push(asked);
    const { status = 200, body } = answerOf(asked, request.headers);
    const text = body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body);
    response.writeHead(status).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
  const run = (words: readonly string[], terminal: Partial<Terminal> = {}) =>
    runCommand(
      ["verify", "--url", url, "--management-url", url, ...words],
      {},
      {
        now: () => ORIGIN + elapsed,
        sleep: async (milliseconds) => {
          elapsed += milliseconds;
          return true;
        },
        signIn: play.signIn ?? (() => Promise.resolve(TOKEN)),
        environment: {},
        ...terminal,
      },
    );
  return {
    url,
    seen,
    waited: seconds,
    verify: (words = [], terminal) => run(["--key", KEY, ...words], terminal),
    verifyWithoutKey: (words) => run(words),
  };
}

function isNames(listed: Answer | readonly string[]): listed is readonly string[] {
  return Array.isArray(listed);
}

/** A refusal in the app's own words. */
export function problem(status: number, title: string, detail: string): Answer {
  return { status, body: { type: "about:blank", title, status, detail } };
}

/** The lines of one check: the first begins with its state and name. */
export function linesOf(out: string, check: string): string {
  const lines = out.split("\n");
  const first = lines.findIndex((line) => line.slice(16, 26).trim() === check);
  const rest = lines.slice(first + 1);
  const end = rest.findIndex((line) => !line.startsWith("     "));
  return [lines[first] ?? "", ...rest.slice(0, end)].map((line) => line.trim()).join(" ");
}
