import { z } from "zod";
import type { Operation, Parameter } from "./operations.ts";
import type { SchemaName } from "./schemas.ts";
import { OPERATIONS } from "./operations.ts";
import { SCHEMAS } from "./schemas.ts";

type JsonObject = { readonly [key: string]: unknown };

/** The description of the HTTP API, OpenAPI 3.1. */
interface OpenApiDocument extends JsonObject {
  readonly openapi: "3.1.0";
  readonly paths: Readonly<Record<string, JsonObject>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonObject>> } & JsonObject;
}

/**
 * Makes the description from the schemas. `open` objects may have unknown members, because a later release may add some: this form is
 * published. `closed` objects may not: this form is used to test answers.
 */
export function describeApi(objects: "open" | "closed" = "open"): OpenApiDocument {
  const paths: Record<string, JsonObject> = {};
  for (const operation of OPERATIONS) {
    const path = `/api${operation.path}`;
    paths[path] = { ...paths[path], [operation.method]: describeOperation(operation) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Autoscaler for CycleCloud",
      version: "1",
      description: "Errors are application/problem+json (RFC 9457). 503 has Retry-After.",
    },
    paths,
    components: {
      schemas: describeSchemas(objects),
      securitySchemes: {
        functionKey: { type: "apiKey", in: "header", name: "x-functions-key" },
        functionKeyInQuery: { type: "apiKey", in: "query", name: "code" },
      },
    },
  };
}

function describeSchemas(objects: "open" | "closed"): Readonly<Record<string, JsonObject>> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(SCHEMAS)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, {
    uri: refTo,
    // Input may have more members than are known, output has none (zod's interpretation).
    io: objects === "open" ? "input" : "output",
    override: ({ jsonSchema }) => withoutNoise(jsonSchema),
  });
  return Object.fromEntries(
    Object.entries(schemas).map(([id, schema]) => {
      const { $schema: _dialect, $id: _address, ...rest } = schema;
      return [id, rest];
    }),
  );
}

/** Excludes whole numbers that JSON cannot represent exactly, and member names that are not text, without a message. */
function withoutNoise(schema: { minimum?: number; maximum?: number; propertyNames?: unknown }): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  delete schema.propertyNames;
}

const refTo = (id: string): string => `#/components/schemas/${id}`;

function describeOperation(operation: Operation): JsonObject {
  const { id, summary, role, path, query = [], headers = [], body, answers, rereadable } = operation;
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
  return {
    operationId: id,
    summary,
    security: role === "anyone" ? [] : [{ functionKey: [] }, { functionKeyInQuery: [] }],
    parameters: [
      ...inPath,
      ...query.map((parameter) => describeParameter("query", parameter)),
      ...[...headers, ...(rereadable === true ? REREADING : [])].map((parameter) =>
        describeParameter("header", parameter),
      ),
    ],
    ...(body === undefined
      ? {}
      : { requestBody: { content: { "application/json": { schema: { $ref: refTo(body) } } } } }),
    responses: Object.fromEntries([
      ...Object.entries(answers).map(([status, schema]) => [status, describeAnswer(Number(status), schema)]),
      ...(rereadable === true ? [["304", { description: "Nothing has changed but ages" }]] : []),
      ...(role === "anyone" ? [] : [["401", { description: `No key, or none of the role ${role}` }]]),
    ]),
  };
}

const REREADING: readonly Parameter[] = [
  {
    name: "if-none-match",
    description: "The ETag of an earlier answer: 304 if nothing but ages has changed since",
    type: "string",
  },
  {
    name: "cache-control",
    description: "max-age=5: an answer that another caller got within 5 seconds will do",
    type: "string",
  },
];

function describeParameter(
  place: "query" | "header",
  { name, description, required, type }: Parameter,
): JsonObject {
  return { name, in: place, description, required: required === true, schema: { type } };
}

const WORDS: Readonly<Record<number, string>> = {
  200: "OK",
  202: "Accepted: stored",
  400: "The request makes no sense",
  403: "Forbidden",
  404: "Unknown",
  409: "In conflict with what is there",
  412: "Another version is in force",
  413: "Too large",
  503: "Cannot tell now",
};

function describeAnswer(status: number, schemas: SchemaName | readonly SchemaName[]): JsonObject {
  const content = [schemas].flat().map((schema) => [mediaType(schema), { schema: { $ref: refTo(schema) } }]);
  return {
    description: WORDS[status] ?? "",
    ...(status === 503 ? { headers: { "retry-after": { schema: { type: "integer" } } } } : {}),
    content: Object.fromEntries(content),
  };
}

/** The name of the body of an answer. */
function mediaType(schema: SchemaName): string {
  return schema === "Problem" ? "application/problem+json" : "application/json";
}
