import type { Settings } from "./storage.ts";
import type { Problem } from "../domain/demand.ts";
import { kindOf } from "../wire/json/problem.ts";

/** The clock of a run on one machine: "milliseconds@speed". */
export function readLocalClock(settings: Settings, problems: Problem[]): LocalClock | undefined {
  const setting = settings["AUTOSCALER_LOCAL_CLOCK"];
  if (setting === undefined || setting === "") return undefined;
  const [origin, speed] = setting.split("@").map(Number);
  if (origin !== undefined && speed !== undefined && Number.isFinite(origin) && speed > 0)
    return { origin, speed };
  problems.push({
    path: "AUTOSCALER_LOCAL_CLOCK",
    found: kindOf(setting),
    expected: 'milliseconds@speed, as "1763636400000@60"',
  });
  return undefined;
}

/** The origin of a scaled clock in real milliseconds, and its speed. */
export interface LocalClock {
  readonly origin: number;
  readonly speed: number;
}

/**
 * `watch`: nothing is changed, whatever a configuration allows. `act`: changes are made. In both, only nodes that we created are stopped.
 */
export type Trial = "watch" | "act";

const TRIAL = "AUTOSCALER_LOCAL_TRIAL";

export function readTrial(settings: Settings, problems: Problem[]): Trial | undefined {
  const setting = settings[TRIAL];
  if (setting === undefined || setting === "") return undefined;
  if (setting === "watch" || setting === "act") return setting;
  problems.push({ path: TRIAL, found: kindOf(setting), expected: '"watch" or "act"' });
  return undefined;
}
