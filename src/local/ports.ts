import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Where the parts of a local system listen on 127.0.0.1. */
export interface Ports {
  readonly app: number;
  readonly simulator: number;
  readonly queue: number;
  readonly table: number;
}

/** Four consecutive ports, for users who want the same addresses each time. */
export function portsFrom(first: number): Ports {
  return { app: first, simulator: first + 1, queue: first + 2, table: first + 3 };
}

/** Whether all of these ports are free. If not, writes to standard error which are in use, and what was expected. */
export async function arePortsFree(ports: readonly number[], expected: string): Promise<boolean> {
  const used = await Promise.all(ports.map(async (port) => ((await isFree(port)) ? [] : [port])));
  const taken = used.flat();
  if (taken.length === 0) return true;
  process.stderr.write(`--port: found port ${taken.join(", ")} in use, expected ${expected}\n`);
  return false;
}

/** The same for {@link portsFrom}. */
export function areAllFree(ports: Ports): Promise<boolean> {
  return arePortsFree(Object.values(ports), `four free ports from ${ports.app} on`);
}

/** Below the range that operating systems use for outgoing connections: such a port stays free while a host is restarted. */
const PORTS = { first: 20_000, end: 32_000 };
const MOST_PORTS_TRIED = 50;

/** A port that was free a moment ago: nodes need the address before the host listens. */
export async function freePort(): Promise<number> {
  for (let tried = 0; tried < MOST_PORTS_TRIED; tried += 1) {
    const port = randomInt(PORTS.first, PORTS.end);
    if (await isFree(port)) return port;
  }
  throw new Error(`none of ${MOST_PORTS_TRIED} ports between ${PORTS.first} and ${PORTS.end} is free`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}
