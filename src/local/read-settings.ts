import { readFileSync } from "node:fs";
import type { ParseError } from "jsonc-parser";
import { parse, printParseErrorCode } from "jsonc-parser";
import { z } from "zod";
import { ConfigError, readConfig } from "../compose.ts";
import type { Problem } from "../domain/demand.ts";

type Config = ReturnType<typeof readConfig>;

/** The app settings in a local.settings.json, and what the app reads from them. */
export interface LocalSettings extends Pick<Config, "clusters" | "publicUrl" | "localClock"> {
  readonly values: Readonly<Record<string, string>>;
  /** The connection string of the app's storage. */
  readonly storage: string;
}

type SettingsRead =
  | { readonly kind: "settings"; readonly settings: LocalSettings }
  | { readonly kind: "problems"; readonly problems: readonly Problem[] };

/** The connection string of an emulator, which uses plain http. */
const EMULATOR = /^\s*UseDevelopmentStorage=true|(^|;)\s*DefaultEndpointsProtocol=http\s*;/i;
const EXPECTED = "an object with the app settings as texts in Values, as infra/local.settings.sample.json";

/** The storage that the app uses: an emulator of its own, or the storage in the file, which must be an emulator. */
type StorageUse = "own" | "named";

const OWN_STORAGE = "UseDevelopmentStorage=true";

/**
 * Reads the app settings of a local.settings.json (comments are allowed) and checks them as the app does. With storage of its own, the
 * storage in the file is ignored. Reports all problems at once. Never throws because of the file.
 */
export function readSettings(file: string, storage: StorageUse = "own"): SettingsRead {
  const read = readValues(file);
  if (read.kind === "problems") return read;
  const { values } = read;
  const problems: Problem[] = [];
  const named = storage === "own" ? OWN_STORAGE : values["AzureWebJobsStorage"];
  try {
    const { clusters, publicUrl, localClock } = readConfig({
      ...values,
      ...(named === undefined ? {} : { AzureWebJobsStorage: named }),
    });
    if (named === undefined || !EMULATOR.test(named))
      problems.push({
        path: "Values.AzureWebJobsStorage",
        found: "a storage account",
        expected:
          "UseDevelopmentStorage=true or the connection string of a storage emulator: two apps must not share an account",
      });
    if (clusters.length === 0)
      problems.push({
        path: "Values.AUTOSCALER_CLUSTERS",
        found: "an empty list",
        expected: "at least one cluster",
      });
    if (named === undefined || problems.length > 0) return { kind: "problems", problems };
    return {
      kind: "settings",
      settings: {
        values,
        storage: named,
        clusters,
        ...(publicUrl === undefined ? {} : { publicUrl }),
        ...(localClock === undefined ? {} : { localClock }),
      },
    };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const settings = error.problems.map((problem) => ({ ...problem, path: `Values.${problem.path}` }));
    return { kind: "problems", problems: [...settings, ...problems] };
  }
}

type ValuesRead =
  | { readonly kind: "values"; readonly values: Readonly<Record<string, string>> }
  | { readonly kind: "problems"; readonly problems: readonly Problem[] };

const fileSchema = z.object({ Values: z.record(z.string(), z.unknown()) });

function readValues(file: string): ValuesRead {
  const wrong = (problem: Problem): ValuesRead => ({ kind: "problems", problems: [problem] });
  let text: string;
  try {
    text = readFileSync(file, "utf8").replace(/^\uFEFF/, "");
  } catch (error) {
    return wrong({ path: "", found: failureText(error), expected: "a readable file" });
  }
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error !== undefined)
    return wrong({ path: "", found: `invalid JSON (${placeOf(text, error)})`, expected: EXPECTED });
  const parsed = fileSchema.safeParse(value);
  if (!parsed.success)
    return wrong({ path: "Values", found: "no object with this name", expected: EXPECTED });
  const all = Object.entries(parsed.data.Values);
  const problems = all.flatMap(([name, item]) =>
    typeof item === "string"
      ? []
      : [{ path: `Values.${name}`, found: "a value that is not text", expected: "text in quotes" }],
  );
  if (problems.length > 0) return { kind: "problems", problems };
  return {
    kind: "values",
    values: Object.fromEntries(
      all.flatMap(([name, item]) => (typeof item === "string" ? [[name, item]] : [])),
    ),
  };
}

/** A problem of the settings as text. Without a path it concerns the whole file. */
export function settingsProblemText({ path, found, expected }: Problem): string {
  return `${path === "" ? "" : `${path}: `}found ${found}, expected ${expected}`;
}

function failureText(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOENT") return "no such file";
  if (code === "EISDIR") return "a directory";
  return error instanceof Error ? error.message : String(error);
}

function placeOf(text: string, { offset, error }: ParseError): string {
  const before = text.slice(0, offset).split("\n");
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}: ${printParseErrorCode(error)}`;
}
