import { readFileSync } from "node:fs";
import type { ParseError } from "jsonc-parser";
import { parse, printParseErrorCode } from "jsonc-parser";
import { z } from "zod";
import { ConfigError, readConfig } from "../compose.ts";
import type { Problem } from "../domain/demand.ts";

/** App settings that a local.settings.json holds, and the clusters that they name. */
export interface LocalSettings {
  readonly values: Readonly<Record<string, string>>;
  readonly clusters: ReturnType<typeof readConfig>["clusters"];
  readonly publicUrl?: string;
}

export type SettingsRead =
  | { readonly kind: "settings"; readonly settings: LocalSettings }
  | { readonly kind: "problems"; readonly problems: readonly Problem[] };

/** What the sample of the file has where a secret belongs. */
const UNFILLED = /put the password here|replace-by-32-random-characters/;
const EXPECTED = "an object with the app settings as texts in Values, as infra/local.settings.sample.json";

/**
 * Reads the app settings of a local.settings.json (comments are allowed) and checks them as the app does, with a storage emulator in
 * place of the storage account that they may name. All problems at once. Never throws for the file's sake.
 */
export function readSettings(file: string): SettingsRead {
  const read = readValues(file);
  if (read.kind === "problems") return read;
  const { values } = read;
  const problems: Problem[] = Object.entries(values)
    .filter(([, value]) => UNFILLED.test(value))
    .map(([name]) => ({
      path: `Values.${name}`,
      found: "the text of the sample",
      expected: "a secret of your own",
    }));
  try {
    const { clusters, publicUrl } = readConfig({
      ...values,
      AzureWebJobsStorage: "UseDevelopmentStorage=true",
    });
    if (clusters.length === 0)
      problems.push({
        path: "Values.AUTOSCALER_CLUSTERS",
        found: "an empty list",
        expected: "at least one cluster",
      });
    if (problems.length > 0) return { kind: "problems", problems };
    return {
      kind: "settings",
      settings: { values, clusters, ...(publicUrl === undefined ? {} : { publicUrl }) },
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
  const wrong = (found: string, path = "", expected = EXPECTED): ValuesRead => ({
    kind: "problems",
    problems: [{ path, found, expected }],
  });
  let text: string;
  try {
    text = readFileSync(file, "utf8").replace(/^\uFEFF/, "");
  } catch (error) {
    return wrong(failureText(error), "", "a readable file");
  }
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error !== undefined) return wrong(`no JSON (${placeOf(text, error)})`);
  const parsed = fileSchema.safeParse(value);
  if (!parsed.success) return wrong("nothing that can be read", "Values");
  const all = Object.entries(parsed.data.Values);
  const problems = all.flatMap(([name, item]) =>
    typeof item === "string"
      ? []
      : [{ path: `Values.${name}`, found: `a value that is no text`, expected: "text in quotes" }],
  );
  if (problems.length > 0) return { kind: "problems", problems };
  return {
    kind: "values",
    values: Object.fromEntries(
      all.flatMap(([name, item]) => (typeof item === "string" ? [[name, item]] : [])),
    ),
  };
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
