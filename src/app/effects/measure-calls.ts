import type { MeasuredCall } from "../../decide/pace/calls.ts";
import type { Endpoint } from "../../domain/record.ts";
import { secondsBetween } from "../../domain/units.ts";
import type { CycleCloud } from "../ports/cyclecloud.ts";
import type { Site } from "../ports/ports.ts";
import { PortError } from "../ports/port-error.ts";
import type { App } from "../process/lanes.ts";

/** The same site with a timer around each call. */
export function measureCalls(app: App, site: Site): Site {
  const { cyclecloud } = site;
  const meter = app.lanes.memoryOf(site.cluster).calls;
  const measured = async <T>(endpoint: Endpoint, call: () => Promise<T>): Promise<T> => {
    const { clock } = app.ports;
    // On an accelerated clock this machine's own work must not count as CycleCloud's: one real second of each call is subtracted.
    const own = Math.max(0, (clock.speed ?? 1) - 1);
    const began = clock.now();
    const note = (failure: Pick<MeasuredCall, "failure" | "unanswered">): void => {
      const at = clock.now();
      meter.note({ endpoint, seconds: Math.max(0, secondsBetween(began, at) - own), at, ...failure });
    };
    try {
      const result = await call();
      note({});
      return result;
    } catch (error) {
      if (error instanceof PortError) {
        const isUnanswered = error.kind === "unreachable" && !error.notSent;
        note({ failure: error.message, ...(isUnanswered ? { unanswered: true } : {}) });
      }
      throw error;
    }
  };
  const timed: CycleCloud = {
    status: (...args) => measured("status", () => cyclecloud.status(...args)),
    nodesOfRequest: (...args) => measured("nodes", () => cyclecloud.nodesOfRequest(...args)),
    knowsRequest: (...args) => measured("operations", () => cyclecloud.knowsRequest(...args)),
    create: (...args) => measured("create", () => cyclecloud.create(...args)),
    start: (...args) => measured("start", () => cyclecloud.start(...args)),
    terminate: (...args) => measured("terminate", () => cyclecloud.terminate(...args)),
    // A stop, too: what is known of the one holds for the other.
    deallocate: (...args) => measured("terminate", () => cyclecloud.deallocate(...args)),
  };
  return { ...site, cyclecloud: timed };
}
