import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { describeApi } from "../../src/wire/api/document.ts";
import type { Operation } from "../../src/wire/api/operations.ts";
import { OPERATIONS } from "../../src/wire/api/operations.ts";

/** An answer as a caller got it. */
export interface CheckedAnswer {
  readonly status: number;
  readonly type: string | null;
  readonly body: unknown;
}

const ajv = new Ajv2020({ allErrors: true, strict: false, validateFormats: false });
ajv.addSchema(describeApi("closed"), "closed.json");
ajv.addSchema(describeApi(), "open.json");

/** The operation of the API that a request is for. Undefined if there is none. */
export function operationOf(method: string, path: string): Operation | undefined {
  const [pathname = ""] = path.split("?");
  return OPERATIONS.find(
    (operation) => operation.method === method.toLowerCase() && matches(operation.path, pathname),
  );
}

function matches(template: string, pathname: string): boolean {
  return new RegExp(`^/api${template.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(
    pathname,
  );
}

const mediaType = (schema: string) =>
  schema === "Problem" ? "application/problem+json" : "application/json";

/**
 * Everything in an answer that the API's description does not allow, in words. Members that it does not name count, too. Answers of the
 * host itself are not checked: 401 without a key, 404 for an unknown route, and 500.
 */
export function findUndescribed(method: string, path: string, answer: CheckedAnswer): readonly string[] {
  const operation = operationOf(method, path);
  const { status, type, body } = answer;
  if (operation === undefined || status === 401 || (status >= 500 && status !== 503)) return [];
  const schemas = [operation.answers[status] ?? []].flat();
  if (schemas.length === 0) return [`status ${status} is not described`];
  const schema = schemas.find((one) => type?.startsWith(mediaType(one)) === true);
  if (schema === undefined) return [`the type is ${type}, not ${schemas.map(mediaType).join(" or ")}`];
  return flawsOf(validatorOf(schema, "closed"), body);
}

/** The same for the body of an accepted request. A request of which jobs were rejected is not checked. */
export function findUndescribedRequest(
  method: string,
  path: string,
  body: unknown,
  answer: CheckedAnswer,
): readonly string[] {
  const schema = operationOf(method, path)?.body;
  if (schema === undefined || typeof body !== "object" || rejectsJobs(answer.body)) return [];
  return flawsOf(validatorOf(schema, "open"), body);
}

function rejectsJobs(body: unknown): boolean {
  if (typeof body !== "object" || body === null || !("rejectedJobs" in body)) return false;
  return Array.isArray(body.rejectedJobs) && body.rejectedJobs.length > 0;
}

function flawsOf(validate: ValidateFunction, value: unknown): readonly string[] {
  if (validate(value)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  );
}

/** The validator of one schema of the description. `closed` also rejects members that the schema does not name. */
export function validatorOf(schema: string, objects: "open" | "closed"): ValidateFunction {
  const validate = ajv.getSchema(`${objects}.json#/components/schemas/${schema}`);
  if (validate === undefined) throw new Error(`the description has no schema ${schema}`);
  return validate;
}
