import { compile } from "json-schema-to-typescript";
import type { JSONSchema } from "json-schema-to-typescript";
import { z } from "zod";

const BANNER =
  "/** The types of the HTTP API's answers, made from functions/openapi.json by `npm run openapi`. Do not edit by hand. */";

const openApi = z.object({ components: z.object({ schemas: z.record(z.string(), z.looseObject({})) }) });

/** Schemas of requests. src/wire/message/message.ts has better types for these. */
const REQUESTS: ReadonlySet<string> = new Set([
  "RequestSet",
  "Nodearray",
  "Job",
  "SchedulerNode",
  "WhatIf",
  "ConfigurationRequest",
]);

/**
 * TypeScript for every answer of an OpenAPI 3.1 document, as the text of a module: one exported type for each schema, by its name.
 * An answer of a later release may have more members than its type knows.
 */
export async function describeAnswers(document: string): Promise<string> {
  const { components } = openApi.parse(JSON.parse(document.replaceAll("#/components/schemas/", "#/$defs/")));
  const answers = Object.entries(components.schemas).filter(([name]) => !REQUESTS.has(name));
  const root: JSONSchema = { type: "object", $defs: Object.fromEntries(answers) };
  const text = await compile(root, "Root", {
    additionalProperties: false,
    bannerComment: BANNER,
    format: false,
    unreachableDefinitions: true,
  });
  // The generator mentions the root at every type, which is not useful.
  return text
    .replaceAll(
      /^ \* This interface was referenced by `Root`'s JSON-Schema\n \* via the `definition` "\w+"\.\n/gm,
      "",
    )
    .replaceAll("/**\n */\n", "")
    .replace(/^export interface Root \{\s*\}\n/m, "");
}
