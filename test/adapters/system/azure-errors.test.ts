import { expect, test } from "vitest";
import { asPortCall } from "../../../src/adapters/system/azure-errors.ts";
import { PortError } from "../../../src/app/ports/port-error.ts";

const failing = (members: object) => Object.assign(new Error("first line\nthe whole answer"), members);

test.each([
  {
    name: "a table's error hides its code in the details",
    error: failing({ name: "RestError", statusCode: 400, details: { odataError: { code: "InvalidInput" } } }),
    expected: { kind: "unexpected", status: 400, message: "read row: InvalidInput: first line" },
  },
  {
    name: "a queue's error has it outside",
    error: failing({ name: "RestError", statusCode: 503, code: "ServerBusy" }),
    expected: { kind: "throttled", status: 503, message: "read row: ServerBusy: first line" },
  },
  {
    name: "no answer",
    error: failing({ name: "RestError", code: "REQUEST_SEND_ERROR" }),
    expected: { kind: "unreachable", status: undefined, message: "read row: REQUEST_SEND_ERROR: first line" },
  },
  {
    name: "our own time limit",
    error: failing({ name: "AbortError" }),
    expected: { kind: "unreachable", status: undefined, message: "read row: first line" },
  },
  {
    name: "no token for our identity",
    error: failing({ name: "CredentialUnavailableError" }),
    expected: { kind: "denied", status: undefined, message: "read row: first line" },
  },
  {
    name: "a mistake in the program",
    error: new TypeError("x is not a function"),
    expected: { kind: "unexpected", status: undefined, message: "read row: x is not a function" },
  },
  {
    name: "something that is no error",
    error: "text",
    expected: { kind: "unexpected", status: undefined, message: "read row: text" },
  },
])("$name", async ({ error, expected }) => {
  const failed: unknown = await asPortCall("read row", () => Promise.reject(error)).catch(
    (one: unknown) => one,
  );
  if (!(failed instanceof PortError)) throw new Error("no PortError");
  const { kind, status, message } = failed;
  expect({ kind, status, message }).toStrictEqual(expected);
});

test("a PortError passes as it is", async () => {
  const error = new PortError("denied", "outer", "no");
  await expect(asPortCall("inner", () => Promise.reject(error))).rejects.toBe(error);
});
