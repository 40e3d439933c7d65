import { arrayName } from "../../domain/ids.ts";
import type { Mode, ModeRules } from "../../domain/mode.ts";
import { MODES } from "../../domain/mode.ts";
import type { Policy } from "../../domain/policy.ts";
import type { PolicyDocument } from "../api/configuration.ts";
import { isKeptName, NAME_EXPECTED } from "../json/name.ts";
import { problemAt, problemShowing } from "../json/problem.ts";
import type { Problems } from "../json/problems.ts";
import { EVERY_OTHER } from "./timeouts.ts";
import type { Fields } from "../../domain/fields.ts";
import { isFields } from "../../domain/fields.ts";

const EXPECTED = `one of ${MODES.join(", ")}`;

/** The mode that a text names. Undefined if it names none. */
export function modeIn(value: unknown): Mode | undefined {
  return MODES.find((mode) => mode === value);
}

/**
 * Reads `mode`, or the older `enabled` (`false` is observe, `true` is act), or scalelib's `read_only` (`true` is observe). Several may be
 * present if they agree; refusals.ts refuses a `read_only` that does not. If the document gives no mode for the cluster,
 * `otherwise` counts.
 */
export function readMode(from: Fields, otherwise: Mode, problems: Problems): ModeRules {
  const { mode: value } = from;
  const enabled = readEnabled(from, problems);
  const byArray = new Map<string, Mode>();
  if (isFields(value)) readObject(value, byArray, problems);
  else if (value !== undefined) readOne(value, byArray, problems);
  const said = byArray.get(EVERY_OTHER);
  byArray.delete(EVERY_OTHER);
  const other = [said, ...byArray.values()].find((mode) => mode !== undefined && mode !== enabled);
  if (enabled !== undefined && other !== undefined)
    problems.add(() => problemAt("enabled", from["enabled"], "the key mode alone, which says otherwise"));
  const arrayModes = new Map([...byArray].map(([array, mode]) => [arrayName(array), mode]));
  const isReadOnly = from["read_only"] === true && ![...byArray.values()].includes("act");
  const mode = said ?? enabled ?? (isReadOnly ? "observe" : undefined);
  return mode === undefined ? { mode: otherwise, arrayModes, modeIsDefault: true } : { mode, arrayModes };
}

/**
 * A policy for a new document, with the mode that is in force where the document says none: a document that is put to change something else
 * does not switch the cluster.
 */
export function keepMode(policy: Policy, { mode, arrayModes, modeIsDefault }: ModeRules): Policy {
  const { modeIsDefault: isSilent, ...said } = policy;
  if (isSilent !== true) return policy;
  return {
    ...said,
    mode,
    arrayModes: said.arrayModes.size > 0 ? said.arrayModes : arrayModes,
    ...(modeIsDefault === true ? { modeIsDefault } : {}),
  };
}

function readEnabled({ enabled }: Fields, problems: Problems): Mode | undefined {
  if (enabled === undefined) return undefined;
  if (typeof enabled === "boolean") return enabled ? "act" : "observe";
  problems.add(() => problemAt("enabled", enabled, "true or false"));
  return undefined;
}

function readOne(value: unknown, into: Map<string, Mode>, problems: Problems): void {
  const mode = modeIn(value);
  if (mode !== undefined) into.set(EVERY_OTHER, mode);
  else if (typeof value === "string") problems.add(() => problemShowing("mode", value, EXPECTED));
  else
    problems.add(() =>
      problemAt("mode", value, `${EXPECTED}, or an object of them: default, and node arrays`),
    );
}

function readObject(from: Fields, into: Map<string, Mode>, problems: Problems): void {
  for (const [array, value] of Object.entries(from)) {
    const mode = modeIn(value);
    if (!isKeptName(array)) problems.add(() => problemShowing("mode", array, NAME_EXPECTED));
    else if (mode === undefined) problems.add(() => problemShowing(`mode.${array}`, value, EXPECTED));
    else into.set(array, mode);
  }
}

/**
 * `mode` as a document shows it: for the whole cluster, or by node array with "default" for arrays that it does not name. Undefined: the
 * configuration gives none, so the app setting counts.
 */
export function writeMode({ mode, arrayModes, modeIsDefault }: ModeRules): PolicyDocument["mode"] {
  const said = modeIsDefault === true ? {} : { [EVERY_OTHER]: mode };
  if (arrayModes.size > 0) return { ...said, ...Object.fromEntries(arrayModes) };
  return modeIsDefault === true ? undefined : mode;
}
