import { channel } from "node:diagnostics_channel";
import type { StorageCounts, StorageKind } from "../../../src/cli/cost/day-counts.ts";

/** Who asked: see DayCounts. `polling`: the local host's own polls and rows, which stand for nothing in Azure. */
export type Asker = "perStart" | "perApp" | "perCluster" | "byTrigger" | "polling";

/** Requests of this process to storage, seen in Node's HTTP client. */
export interface StorageMeter {
  /** Those that were answered. */
  counts(asker: Asker): StorageCounts;
  /** Those that were answered, of all askers. */
  total(): StorageCounts;
  /** Those that ended without an answer. Storage may have received them. */
  unanswered(): StorageCounts;
  close(): unknown;
}

interface ClientRequest {
  readonly method: string;
  readonly path: string;
  readonly host: string;
  getHeader(name: string): unknown;
}

/** Counts what this process asks of these two endpoints. */
export function measureStorage(endpoints: {
  readonly tableEndpoint: string;
  readonly queueEndpoint: string;
}): StorageMeter {
  const tables = new URL(endpoints.tableEndpoint).host;
  const queues = new URL(endpoints.queueEndpoint).host;
  const counts = new Map<Asker, Counter>();
  const total: Counter = new Map();
  const open: Counter = new Map();
  const recorded = (message: unknown): Recorded | undefined => {
    const { request } = message as { readonly request: ClientRequest };
    const host = String(request.getHeader("host"));
    if (host !== tables && host !== queues) return undefined;
    const path = decodeURIComponent(request.path);
    const kind = host === tables ? tableKind(request.method, path) : queueKind(request.method, path);
    return { kind, asker: host === tables ? askerOfTable(kind, path) : askerOfQueue(kind, path) };
  };
  const onStart = (message: unknown): void => {
    const request = recorded(message);
    if (request !== undefined) add(open, request.kind, 1);
  };
  const onAnswer = (message: unknown): void => {
    const request = recorded(message);
    if (request === undefined) return;
    const { kind, asker } = request;
    const ofAsker = counts.get(asker) ?? new Map<StorageKind, number>();
    counts.set(asker, ofAsker);
    add(ofAsker, kind, 1);
    add(total, kind, 1);
    add(open, kind, -1);
  };
  const started = channel("http.client.request.start");
  const answered = channel("http.client.response.finish");
  started.subscribe(onStart);
  answered.subscribe(onAnswer);
  return {
    counts: (asker) => Object.fromEntries(counts.get(asker) ?? []),
    total: () => Object.fromEntries(total),
    unanswered: () => Object.fromEntries([...open].filter(([, count]) => count > 0)),
    close() {
      started.unsubscribe(onStart);
      answered.unsubscribe(onAnswer);
    },
  };
}

type Counter = Map<StorageKind, number>;

interface Recorded {
  readonly kind: StorageKind;
  readonly asker: Asker;
}

function add(counter: Counter, kind: StorageKind, by: number): void {
  counter.set(kind, (counter.get(kind) ?? 0) + by);
}

function tableKind(method: string, path: string): StorageKind {
  if (path.includes("/$batch")) return "table transaction";
  if (method === "POST") return /\/Tables($|\?)/.test(path) ? "table create" : "table write";
  if (method === "GET") return path.includes("PartitionKey='") ? "table read" : "table list";
  return method === "DELETE" ? "table delete" : "table write";
}

/** The emulator's host keeps its leases and schedules in a table; Azure's keeps them in blobs. */
function askerOfTable(kind: StorageKind, path: string): Asker {
  if (path.includes("LocalFunctionsHost")) return "polling";
  if (kind === "table create") return "perStart";
  return path.includes("PartitionKey='triggers'") ? "perApp" : "perCluster";
}

function queueKind(method: string, path: string): StorageKind {
  if (!path.includes("/messages")) return method === "GET" ? "queue properties" : "queue create";
  if (method === "GET") return path.includes("peekonly=true") ? "queue peek" : "queue get";
  if (method === "POST") return "queue put";
  return method === "DELETE" ? "queue delete" : "queue update";
}

function askerOfQueue(kind: StorageKind, path: string): Asker {
  if (kind === "queue create") return "perStart";
  const isPoison = path.includes("/demand-poison/");
  if (kind === "queue get") return isPoison ? "perApp" : "polling";
  if (kind === "queue put" || kind === "queue peek" || kind === "queue properties") return "perCluster";
  return isPoison ? "perApp" : "byTrigger";
}
