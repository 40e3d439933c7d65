import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Where the parts of a local system listen on 127.0.0.1. */
export interface Ports {
  readonly app: number;
  readonly simulator: number;
  readonly queue: number;
  readonly table: number;
}

/** Four ports in a row, for those who want the same addresses each time. */
export function portsFrom(first: number): Ports {
  return { app: first, simulator: first + 1, queue: first + 2, table: first + 3 };
}

/** The ports of these that are in use. */
export async function portsInUse(ports: Ports): Promise<readonly number[]> {
  const taken = await Promise.all(
    Object.values(ports).map(async (port: number) => ((await isFree(port)) ? [] : [port])),
  );
  return taken.flat();
}

/** Below what operating systems give to connections that go out: such a port stays free while a host is started again. */
const PORTS = { first: 20_000, end: 32_000 };
const MOST_PORTS_TRIED = 50;

/** A port that was free a moment ago: nodes must be told the address before the host listens. */
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
