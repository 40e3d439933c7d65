import { join } from "node:path";
import { z } from "zod";
import type { Child } from "../../../src/local/host/child-process.ts";
import { spawnChild } from "../../../src/local/host/child-process.ts";
import { optionsVariable } from "../../../src/local/host/spawn-host.ts";
import type { HostLine } from "./host-lines.ts";
import { readHostLine } from "./host-lines.ts";

/** A function host with an address of its own, which it keeps when it is killed and started again. */
export interface HostSlot {
  readonly url: string;
  /** Undefined: it does not run. */
  pid(): number | undefined;
  /** Starts it; resolves when it listens. */
  start(): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** Lets it end in order. */
  stop(): Promise<void>;
}

export interface HostSlotOptions {
  /** The folder whose host and function app run. */
  readonly checkout: string;
  readonly port: number;
  /** What the host gets, but for app and port (src/local/host/spawn-host.ts). */
  readonly settings: object;
  readonly onLine: (line: HostLine) => void;
}

/** A host that meets a storage fault while it starts ends; Azure would start it again, too. */
const STARTS = 5;

export function openHostSlot({ checkout, port, settings, onLine }: HostSlotOptions): HostSlot {
  let running: Child<unknown> | undefined;
  const options = JSON.stringify({ ...settings, app: join(checkout, "functions/main.ts"), port });
  const spawnOnce = () =>
    spawnChild({
      script: join(checkout, "src/local/host/main.ts"),
      args: [],
      env: { [optionsVariable]: options },
      readyLine: z.object({ url: z.string() }),
      onLine: (line) => onLine(readHostLine(line, Date.now(), port)),
    });
  const end = async (how: "kill" | "stop") => {
    const host = running;
    running = undefined;
    await host?.[how]();
  };
  return {
    url: `http://127.0.0.1:${port}`,
    pid: () => running?.pid,
    async start() {
      for (let left = STARTS; running === undefined; left -= 1) {
        running = await spawnOnce().catch((error: unknown) => {
          if (left === 1) throw error;
          return undefined;
        });
      }
    },
    kill: () => end("kill"),
    stop: () => end("stop"),
  };
}
