import type { HttpResponseInit } from "@azure/functions";
import { PortError } from "../src/app/ports/port-error.ts";
import { ConfigError } from "../src/compose.ts";
import type { SettingShown } from "../src/wire/api/parts.ts";
import type { MoreOfProblem } from "./problem.ts";
import { problem } from "./problem.ts";

export function storageProblem(error: PortError, detail: string, more: MoreOfProblem = {}): HttpResponseInit {
  return problem(503, "Cannot tell now", detail, {
    ...more,
    retryAfterSeconds: error.kind === "newer-state" ? 30 : 10,
  });
}

export const SETTINGS = "The app settings have problems";

/** Names the settings and the values that they need, never their values: a function key gives no right to read settings. */
export function settingsProblem({ problems }: ConfigError): HttpResponseInit {
  const settings = problems.map(settingShown);
  return problem(503, SETTINGS, settings.map(({ setting }) => setting).join(", "), {
    settings,
    retryAfterSeconds: 60,
  });
}

function settingShown({ path, expected }: ConfigError["problems"][number]): SettingShown {
  return { setting: path, expected };
}
