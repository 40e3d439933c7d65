import type { SimulatorOptions } from "../../src/simulator/options.ts";
import type { DemandMessage } from "../../src/wire/message/message.ts";
import { oneArray } from "./clusters.ts";

/** A scheduler that can only report "job X is queued" has one request set per job. */
export const SETS = 2000;
export const RENEW_SECONDS = 60;

/** 2,000 jobs of one core fill 32 nodes of 64. */
export function wideNodes(): SimulatorOptions {
  return {
    ...oneArray("demo", { machineTypes: ["Standard_F64"] }),
    machineTypes: { Standard_F64: { vcpuCount: 64, memory: 128, family: "standardFFamily" } },
    quotas: { regional: { westeurope: 64_000 }, family: { standardFFamily: 64_000 } },
  };
}

/** The demand of set number `index`. It is always the same, so sending it again is a renewal. */
export function jobSet(index: number, now: number): DemandMessage {
  return {
    version: 1,
    cluster: "demo",
    requestSet: `job-${index}`,
    revision: now,
    expirationInterval: 300,
    jobs: [{ name: `job-${index}`, constraints: [{ ncpus: 1 }], iterations: 1 }],
  };
}

/** A target of at least this many nodes: a new one each time. */
export function urgentTarget(count: number, now: number): DemandMessage {
  return {
    version: 1,
    cluster: "demo",
    requestSet: "urgent",
    revision: now,
    expirationInterval: 600,
    nodearrays: [{ Name: "execute", TargetCount: count }],
  };
}

/** How long each new target waited for the create that first reached it, in seconds. Undefined if none did. */
export function waitsForTargets(
  targets: readonly { readonly at: number; readonly count: number }[],
  creates: readonly { readonly at: number; readonly added: number }[],
): readonly (number | undefined)[] {
  return targets.map(({ at, count }) => {
    let sum = 0;
    for (const create of creates) {
      sum += create.added;
      if (sum >= count) return Math.max(0, create.at - at) / 1000;
    }
    return undefined;
  });
}
